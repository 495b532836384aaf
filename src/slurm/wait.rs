//! Waiting until all tasks have ended, and queueing again what was lost.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::job::{End, Job};
use super::queue::{Answer, BLOCK, Cluster, cancel, queued, submit, submit_merge};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::progress::Progress;
use crate::text::count_of;

/// How often the queue is looked at: seldom enough for a controller with many users.
const LOOK: Duration = Duration::from_secs(2);
/// How often Ctrl-C is noticed.
const TICK: Duration = Duration::from_millis(100);
/// A task that ended may be seen in the queue before its file is seen on a shared file system, and the other way round:
/// it is lost only if this many looks in a row show neither.
const LOOKS: u32 = 2;

/// Runs a job's tasks until each has ended or was lost too often, in their order. What an earlier run of the same command
/// began goes on.
///
/// # Errors
/// [`Error::Interrupted`] after Ctrl-C: the tasks go on. [`Error::Environment`] where Slurm refuses.
pub(crate) fn run(job: &Job, cluster: &Cluster, progress: &Progress) -> Result<Vec<End>> {
    let mut waiting = Waiting::default();
    loop {
        let open: Vec<usize> =
            (0..job.count()).filter(|&task| !waiting.is_over(job, task)).collect();
        progress.stage(format!(
            "{} of {} ended",
            job.count() - open.len(),
            count_of(job.count() as f64, "task")
        ));
        match queued(job)? {
            Answer::Later(why) => waiting.say(&why, progress),
            Answer::Said(queue) if open.is_empty() && !queue.others => break,
            Answer::Said(queue) => {
                waiting.take_out_held(cluster, &queue.held, progress)?;
                if let Some(why) = &queue.stuck {
                    waiting.say(why, progress);
                }
                let alive = queue.alive;
                let absent: Vec<usize> = open
                    .iter()
                    .copied()
                    .filter(|task| !alive.contains(task) && !waiting.given_up.contains(task))
                    .collect();
                waiting.missed.retain(|task, _| absent.contains(task));
                waiting.queue(job, cluster, &absent, progress)?;
            }
        }
        if sleep_is_interrupted() {
            return Err(Error::Interrupted(format!(
                "interrupted: the tasks go on; the same command waits for them again, and `scancel --name={}` ends \
                 them",
                job.name
            )));
        }
    }
    let lost =
        |task| End::Lost(job.begun(task) + waiting.held.get(&task).map_or(0, BTreeSet::len) as u32);
    let end = |task| job.code(task).map_or_else(|| lost(task), End::Code);
    Ok((0..job.count()).map(end).collect())
}

/// What is known of the tasks from look to look.
#[derive(Debug, Default)]
struct Waiting {
    /// How many looks in a row a task was in no queue and had not ended.
    missed: BTreeMap<usize, u32>,
    /// The numbers under which Slurm held a task that it could not start.
    held: BTreeMap<usize, BTreeSet<String>>,
    /// Tasks that were lost too often.
    given_up: Vec<usize>,
    /// Tasks of one array at most; `None` where no cluster has refused so many.
    most: Option<usize>,
    /// True once the merge step is queued.
    merges: bool,
    /// What Slurm said last of why it does not answer.
    said: String,
}

impl Waiting {
    fn is_over(&self, job: &Job, task: usize) -> bool {
        self.given_up.contains(&task) || job.code(task).is_some()
    }

    /// Takes tasks out of the queue that Slurm will never start by itself, so that they are queued again; those that it
    /// held too often are given up.
    fn take_out_held(
        &mut self,
        cluster: &Cluster,
        held: &[(usize, String)],
        progress: &Progress,
    ) -> Result<()> {
        for (task, id) in held {
            if let Answer::Later(why) = cancel(id)? {
                self.say(&why, progress);
                continue;
            }
            let held = self.held.entry(*task).or_default();
            if !held.insert(id.clone()) {
                // It is on its way out.
                continue;
            }
            if held.len() as u32 > cluster.retries && !self.given_up.contains(task) {
                progress.note(&format!(
                    "adoprof: Slurm could not start task {task} {} times; it is given up",
                    held.len()
                ));
                self.given_up.push(*task);
            }
        }
        Ok(())
    }

    /// Queues tasks that are in no queue: those that never began at once, others once they are surely lost.
    fn queue(
        &mut self,
        job: &Job,
        cluster: &Cluster,
        absent: &[usize],
        progress: &Progress,
    ) -> Result<()> {
        let mut ready = Vec::new();
        for &task in absent {
            let begun = job.begun(task);
            let missed = self.missed.entry(task).or_default();
            *missed += 1;
            if begun > 0 && *missed <= LOOKS {
                continue;
            }
            if begun > cluster.retries {
                progress
                    .note(&format!("adoprof: task {task} was lost {begun} times; it is given up"));
                self.given_up.push(task);
                continue;
            }
            if begun > 0 {
                progress.note(&format!("adoprof: task {task} was lost and is queued again"));
            }
            ready.push(task);
        }
        let mut queued_any = false;
        while !ready.is_empty() {
            let block = |task: usize| task / BLOCK;
            let of_block = ready.iter().take_while(|&&task| block(task) == block(ready[0])).count();
            let most = self.most.unwrap_or(BLOCK).min(of_block);
            match submit(job, cluster, &ready[..most]) {
                Ok(Answer::Said(())) => {
                    for task in ready.drain(..most) {
                        self.missed.remove(&task);
                    }
                    queued_any = true;
                }
                Ok(Answer::Later(why)) => {
                    // The queue may have room for some.
                    self.most = Some((most / 2).max(1));
                    if most == 1 {
                        self.say(&why, progress);
                        break;
                    }
                }
                // Longer than the cluster lets an array be.
                Err(Error::Environment(why)) if most > 1 && why.contains("array") => {
                    self.most = Some(most / 2);
                }
                Err(error) => return Err(error),
            }
        }
        if queued_any && ready.is_empty() && job.merges() && !self.merges {
            self.merges = matches!(submit_merge(job, cluster)?, Answer::Said(()));
        }
        Ok(())
    }

    /// Says once why Slurm does not answer.
    fn say(&mut self, why: &str, progress: &Progress) {
        if self.said != why {
            progress.note(&format!("adoprof: waiting for Slurm, which says: {why}"));
            why.clone_into(&mut self.said);
        }
    }
}

fn sleep_is_interrupted() -> bool {
    let mut left = LOOK;
    while !left.is_zero() && !interrupt::requested() {
        std::thread::sleep(TICK);
        left = left.saturating_sub(TICK);
    }
    interrupt::requested()
}
