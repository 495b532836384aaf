//! Commands as tasks of a cluster.

use std::io::Write;
use std::path::Path;

use super::live_step::own_path;
use super::printer::Printer;
use crate::cli::OnArgs;
use crate::error::{Error, ExitCode, Result};
use crate::slurm::{self, Cluster, End, Job};

/// What the tasks ask of the cluster.
pub(crate) fn cluster(on: &OnArgs) -> Cluster {
    Cluster {
        partition: on.slurm_partition.clone(),
        account: on.slurm_account.clone(),
        gpus_per_task: on.slurm_gpus,
        arguments: on.slurm_arg.clone(),
        retries: on.slurm_retries,
    }
}

/// The job of this process's command line.
///
/// # Errors
/// As [`Job::of`].
pub(crate) fn job() -> Result<Job> {
    Job::of(&words()[1..])
}

/// This process's command line, as a task or, without one, as the step that puts results together.
///
/// # Errors
/// [`Error::Environment`] where adoprof does not know its own path.
pub(crate) fn command(subcommand: &str, folder: &Path, task: Option<usize>) -> Result<Vec<String>> {
    let mut words = words();
    words[0] = own_path()?.to_string_lossy().into_owned();
    let at = words.iter().position(|word| word == subcommand).unwrap_or(0) + 1;
    let mut own = vec!["--slurm-folder".to_owned(), folder.to_string_lossy().into_owned()];
    if let Some(task) = task {
        own.extend(["--slurm-task".to_owned(), task.to_string()]);
    }
    words.splice(at..at, own);
    Ok(words)
}

fn words() -> Vec<String> {
    let mut words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if words.is_empty() {
        words.push("adoprof".to_owned());
    }
    words
}

/// Runs this process's command as one task, and prints what it printed.
///
/// # Errors
/// As [`slurm::run`]; [`Error::Environment`] where the task was lost too often.
pub(crate) fn whole(subcommand: &str, on: &OnArgs, printer: &Printer) -> Result<ExitCode> {
    let job = job()?;
    if job.is_under_way() {
        printer.notice("an earlier run of this command left a task, which goes on");
    }
    let command = command(subcommand, &job.folder, Some(0))?;
    let job = job.with(vec![command], None)?;
    let progress = printer.progress();
    let ends = slurm::run(&job, &cluster(on), &progress)?;
    drop(progress);
    let said = job.said(0);
    let Some(End::Code(code)) = ends.first().copied() else {
        let times =
            ends.first().map_or(0, |end| if let End::Lost(times) = end { *times } else { 0 });
        job.remove()?;
        return Err(Error::Environment(lost(times, &said)));
    };
    let path = job.file("out-0");
    let out = std::fs::read(&path).map_err(|error| Error::io(&path, "read", &error))?;
    if !said.is_empty() {
        let _ = writeln!(std::io::stderr(), "{said}");
    }
    printer.bytes(&out)?;
    job.remove()?;
    exit_code(code).ok_or_else(|| Error::Environment(format!("the task ended with code {code}")))
}

/// Says of a task that it was lost.
pub(crate) fn lost(times: u32, said: &str) -> String {
    let last =
        said.lines().last().map(|line| format!("; it said last: {line}")).unwrap_or_default();
    format!(
        "its task was lost {times} times (killed, pre-empted, out of time, or refused by its node) and is given up{last}"
    )
}

fn exit_code(code: i32) -> Option<ExitCode> {
    use ExitCode::{Environment, Kernel, Regression, Success, Undecided, Usage};
    let all = [Success, Regression, Usage, Environment, Kernel, Undecided];
    all.into_iter().find(|known| *known as i32 == code)
}
