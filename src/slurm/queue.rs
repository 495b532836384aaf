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
const PASSING: [&str; 16] = [
    "unable to contact slurm controller",
    "socket timed out",
    "connection refused",
    "zero bytes were transmitted",
    "connection reset",
    "transport endpoint is not connected",
    "unexpected missing socket",
    "message receive failure",
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

/// What is in the queue of a job.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Queue {
    /// Its tasks that wait or run.
    pub alive: BTreeSet<usize>,
    /// Something else of its name does: the step that puts results together.
    pub others: bool,
    /// Tasks that Slurm holds because they could not be started, with the number that Slurm gave each.
    pub held: Vec<(usize, String)>,
    /// Why all of the tasks wait, where they will not start without somebody's help.
    pub stuck: Option<String>,
}

/// Reasons that go by as other jobs end, and that of a task that runs.
const ORDINARY: [&str; 8] = [
    "None",
    "Resources",
    "Priority",
    "Dependency",
    "BeginTime",
    "Prolog",
    "JobArrayTaskLimit",
    "Cleaning",
];

/// What is in the queue of a job.
///
/// # Errors
/// As [`submit`].
pub(super) fn queued(job: &Job) -> Result<Answer<Queue>> {
    let mut command = Command::new("squeue");
    command.args(["--noheader", "--array", "--format=%K %k %i %r", "--name"]).arg(&job.name);
    answer(command, "squeue", read)
}

/// Reads squeue's lines: a task's number in its block, the block's first task, Slurm's number of it, and why it waits.
fn read(out: &str) -> Queue {
    let mut queue = Queue::default();
    let mut stuck = Vec::new();
    for line in out.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.splitn(4, ' ');
        let mut number = || words.next()?.parse::<usize>().ok();
        let (Some(task), Some(base)) = (number(), number()) else {
            queue.others = true;
            continue;
        };
        let (id, reason) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        queue.alive.insert(base + task);
        // "launch failed requeued held", and "JobHoldMaxRequeue" of one that failed so too often.
        if reason.contains("requeued held") || reason == "JobHoldMaxRequeue" {
            queue.held.push((base + task, id.to_owned()));
        }
        if !ORDINARY.contains(&reason) {
            stuck.push(reason);
        }
    }
    if stuck.len() == queue.alive.len() {
        queue.stuck = stuck.first().map(|reason| crate::text::printable(reason));
    }
    queue
}

/// Takes one task out of the queue, by the number that Slurm gave it.
///
/// # Errors
/// As [`submit`].
pub(super) fn cancel(id: &str) -> Result<Answer<()>> {
    let mut command = Command::new("scancel");
    command.arg(id);
    answer(command, "scancel", |_| ())
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
    fn the_queue_is_read_with_what_is_held_and_why_all_wait() {
        let queue = read(
            "4 500 12_4 Nodes required for job are DOWN, DRAINED\n 1 0 7_1 launch failed requeued held\n",
        );
        assert_eq!(queue.alive, BTreeSet::from([1, 504]));
        assert_eq!(queue.held, [(1, "7_1".to_owned())]);
        assert_eq!(queue.stuck.as_deref(), Some("Nodes required for job are DOWN, DRAINED"));
        assert!(!queue.others);
        // One that runs is enough; the step behind all tasks has no number.
        let queue = read("4 0 12_4 ReqNodeNotAvail\n5 0 12_5 None\nN/A (null) 13 Dependency\n");
        assert_eq!((queue.alive.len(), queue.stuck, queue.others), (2, None, true));
        assert_eq!(read("\n"), Queue::default());
    }

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
