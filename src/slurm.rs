//! Work on a Slurm cluster: commands become the tasks of a job array, and all that matters about them lies in files that
//! every machine sees.
//!
//! A task's end is a file with its exit code. What Slurm says decides nothing but whether to wait: a task that is in no
//! queue and has no such file is lost, and is queued again. So it does not matter who dies: a task, its node, the
//! controller, or the adoprof that waits.

mod array;
mod job;
mod queue;
mod script;
mod wait;

pub(crate) use job::{End, Job};
pub(crate) use queue::Cluster;
pub(crate) use wait::run;
