//! Slurm's own commands.

use std::collections::BTreeSet;
use std::process::Command;

use super::array::written;
use super::job::Job;
use crate::error::{Error, Result};

/// What a task asks of the cluster.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cluster {
    /// The partition; the cluster's own default without.
    pub partition: Option<String>,
    /// The account.
    pub account: Option<String>,
    /// GPUs of each task.
    pub gpus_per_task: u32,
    /// More arguments for sbatch.
    pub arguments: Vec<String>,
    /// How often a task that is lost is queued again.
    pub retries: u32,
}

/// What Slurm said to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer<T> {
    /// This.
    Said(T),
    /// Not now: the controller is away, or the queue is full.
    Later(String),
}

/// What sbatch and squeue print where the same request may succeed later.
const PASSING: [&str; 12] = [
    "unable to contact slurm controller",
    "socket timed out",
    "connection refused",
    "zero bytes were transmitted",
    "temporarily",
    "resource temporarily unavailable",
    "job violates accounting/qos policy",
    "maxsubmit",
    "maximum number of jobs",
    "too many",
    "slurm backup controller",
    "communication connection failure",
];

/// Queues some tasks of a job.
///
/// # Errors
/// [`Error::Environment`] where sbatch refuses for good, or is not there.
pub(super) fn submit(job: &Job, cluster: &Cluster, tasks: &[usize]) -> Result<Answer<()>> {
    let mut command = sbatch(job, cluster);
    command.arg(format!("--array={}", written(tasks)));
    command.arg("--requeue").arg("--ntasks=1");
    if cluster.gpus_per_task > 0 {
        command.arg(format!("--gpus-per-task={}", cluster.gpus_per_task));
    }
    // The last one counts where two contradict each other.
    command.args(&cluster.arguments);
    command.arg(job.file("task.sh")).arg(&job.folder);
    answer(command, "sbatch", |_| ())
}

/// Queues what puts the results together, behind all tasks.
///
/// # Errors
/// As [`submit`].
pub(super) fn submit_merge(job: &Job, cluster: &Cluster) -> Result<Answer<()>> {
    let mut command = sbatch(job, cluster);
    // After all jobs of this name and user.
    command.arg("--dependency=singleton").arg("--ntasks=1");
    command.args(&cluster.arguments).arg(job.file("merge.sh")).arg(&job.folder);
    answer(command, "sbatch", |_| ())
}

fn sbatch(job: &Job, cluster: &Cluster) -> Command {
    let mut command = Command::new("sbatch");
    command.arg("--parsable").arg(format!("--job-name={}", job.name));
    command.arg(format!("--output={}", job.file("slurm-%A_%a.log").display()));
    if let Some(partition) = &cluster.partition {
        command.arg(format!("--partition={partition}"));
    }
    if let Some(account) = &cluster.account {
        command.arg(format!("--account={account}"));
    }
    command
}

/// The tasks of a job that wait or run, and whether anything else of that name does.
///
/// # Errors
/// As [`submit`].
pub(super) fn queued(job: &Job) -> Result<Answer<(BTreeSet<usize>, bool)>> {
    let mut command = Command::new("squeue");
    command.args(["--noheader", "--array", "--format=%K", "--name"]).arg(&job.name);
    answer(command, "squeue", |out| {
        let (mut tasks, mut others) = (BTreeSet::new(), false);
        for line in out.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.parse() {
                Ok(task) => drop(tasks.insert(task)),
                Err(_) => others = true,
            }
        }
        (tasks, others)
    })
}

fn answer<T>(mut command: Command, name: &str, of: impl Fn(&str) -> T) -> Result<Answer<T>> {
    let output = command.env("LC_ALL", "C").output().map_err(|error| {
        Error::Environment(format!(
            "{name} does not run: {error}; is this a machine of the cluster?"
        ))
    })?;
    if output.status.success() {
        return Ok(Answer::Said(of(&String::from_utf8_lossy(&output.stdout))));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>();
    let said = crate::text::printable(&said.join("; "));
    if is_passing(&said) {
        return Ok(Answer::Later(said));
    }
    Err(Error::Environment(format!("{name} refused: {said}")))
}

fn is_passing(said: &str) -> bool {
    let said = said.to_lowercase();
    PASSING.iter().any(|words| said.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_told_from_what_will_not() {
        for said in [
            "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
            "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit)",
            "squeue: error: slurm_load_jobs error: Socket timed out on send/recv operation",
        ] {
            assert!(is_passing(said), "{said}");
        }
        for said in [
            "sbatch: error: Batch job submission failed: Invalid partition name specified",
            "sbatch: error: Batch job submission failed: Invalid generic resource (gres) specification",
            "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified",
        ] {
            assert!(!is_passing(said), "{said}");
        }
    }
}
