//! Slurm's own commands.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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

/// Tasks of one array at most. A cluster limits the numbers in an array too, by default to 1,000, so they begin at 0 in
/// each block of so many tasks.
pub(super) const BLOCK: usize = 500;

/// A controller that does not answer for so long is away. sbatch itself waits for minutes where the queue is full.
const PATIENCE: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(20);

/// Queues some tasks of a job, all of one block.
///
/// # Errors
/// [`Error::Environment`] where sbatch refuses for good, or is not there.
pub(super) fn submit(job: &Job, cluster: &Cluster, tasks: &[usize]) -> Result<Answer<()>> {
    let mut command = sbatch(job, cluster);
    let base = tasks.first().map_or(0, |task| task / BLOCK * BLOCK);
    let numbers: Vec<usize> = tasks.iter().map(|task| task - base).collect();
    command.arg(format!("--array={}", written(&numbers))).arg(format!("--comment={base}"));
    command.arg("--requeue").arg("--ntasks=1");
    if cluster.gpus_per_task > 0 {
        command.arg(format!("--gpus-per-task={}", cluster.gpus_per_task));
    }
    // The last one counts where two contradict each other.
    command.args(&cluster.arguments);
    command.arg(job.file("task.sh")).arg(&job.folder).arg(base.to_string());
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
    command.args(["--noheader", "--array", "--format=%K %k", "--name"]).arg(&job.name);
    answer(command, "squeue", |out| {
        let (mut tasks, mut others) = (BTreeSet::new(), false);
        for line in out.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let number = |word: Option<&str>| word?.parse::<usize>().ok();
            let mut words = line.split_whitespace();
            match (number(words.next()), number(words.next())) {
                (Some(task), Some(base)) => drop(tasks.insert(base + task)),
                _ => others = true,
            }
        }
        (tasks, others)
    })
}

fn answer<T>(mut command: Command, name: &str, of: impl Fn(&str) -> T) -> Result<Answer<T>> {
    let fails = |error: &std::io::Error| {
        Error::Environment(format!(
            "{name} does not run: {error}; is this a machine of the cluster?"
        ))
    };
    command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| fails(&error))?;
    let start = Instant::now();
    while child.try_wait().map_err(|error| fails(&error))?.is_none() {
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(Answer::Later(format!(
                "{name} has no answer after {} s",
                PATIENCE.as_secs()
            )));
        }
        std::thread::sleep(TICK);
    }
    let output = child.wait_with_output().map_err(|error| fails(&error))?;
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
