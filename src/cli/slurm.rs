//! The command line of work on a cluster.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The heading of these options in the help. Each names it: as a heading for what follows, it would also stand above
/// the options of whatever is flattened behind these.
const HEADING: &str = "On a cluster";

/// Where the work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// On a Slurm cluster: this machine must be able to submit jobs and share the present folder with the nodes.
    Slurm,
}

/// Where, and what a task asks of the cluster.
#[derive(Debug, Clone, Default, Args)]
pub struct OnArgs {
    /// Run the work there instead of on this machine.
    #[arg(long, value_enum, value_name = "ENGINE", help_heading = HEADING)]
    pub on: Option<Engine>,
    /// The partition that tasks run in.
    #[arg(long, value_name = "NAME", requires = "on", help_heading = HEADING)]
    pub slurm_partition: Option<String>,
    /// The account that tasks are charged to.
    #[arg(long, value_name = "NAME", requires = "on", help_heading = HEADING)]
    pub slurm_account: Option<String>,
    /// GPUs of each task.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = HEADING)]
    pub slurm_gpus: u32,
    /// One more argument for sbatch; may be given several times.
    #[arg(
        long,
        value_name = "ARGUMENT",
        allow_hyphen_values = true,
        requires = "on",
        help_heading = HEADING
    )]
    pub slurm_arg: Vec<String>,
    /// How often a task that was killed, pre-empted, or out of time is queued again.
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = HEADING)]
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
