//! The command line of work on a cluster.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Where the work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// On a Slurm cluster: this machine can submit jobs, and has the present folder in common with the others.
    Slurm,
}

/// Where, and what a task asks of the cluster.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "On a cluster")]
pub struct OnArgs {
    /// Do the work there instead of here.
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub on: Option<Engine>,
    /// The partition.
    #[arg(long, value_name = "NAME", requires = "on")]
    pub slurm_partition: Option<String>,
    /// The account.
    #[arg(long, value_name = "NAME", requires = "on")]
    pub slurm_account: Option<String>,
    /// GPUs of each task.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub slurm_gpus: u32,
    /// One more argument for sbatch; may be given several times.
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true, requires = "on")]
    pub slurm_arg: Vec<String>,
    /// How often a task that is lost is queued again.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub slurm_retries: u32,
    /// The task that this is.
    #[arg(long, hide = true)]
    pub slurm_task: Option<usize>,
    /// Its job's folder.
    #[arg(long, hide = true)]
    pub slurm_folder: Option<PathBuf>,
}

impl OnArgs {
    /// True where the command is to be submitted: a task of it does the work.
    #[must_use]
    pub fn submits(&self) -> bool {
        self.on.is_some() && self.slurm_folder.is_none()
    }
}
