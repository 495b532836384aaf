//! A sweep on a cluster: each point is a task, and a last step puts their results together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cli::SweepArgs;
use crate::cmd::shared::on_cluster;
use crate::cmd::shared::printer::Printer;
use crate::error::{Error, ExitCode, Result};
use crate::ladder::{Ladder, Step};
use crate::slurm::{self, End};
use crate::sweep::{Identity, Journal, Point, PointResult, journal};

/// How long another process may hold the sweep's file: the step that puts results together takes less than a second.
const PATIENCE: Duration = Duration::from_secs(30);

type Place = (BTreeMap<String, u64>, Point);

/// Where a task keeps its point.
pub(super) fn part(folder: &Path, task: usize) -> PathBuf {
    folder.join(format!("part-{task}.jsonl"))
}

/// Runs all points that are not known on the cluster; what each came to, and what the sweep depends on.
///
/// # Errors
/// As [`slurm::run`]; [`Error::Environment`] where no task has left a result.
pub(super) fn run(
    args: &SweepArgs,
    (ladder, step): (&Ladder, &Step),
    (points, path): (&[Place], &Path),
    printer: &Printer,
) -> Result<(Identity, Vec<PointResult>)> {
    let level = args.profile.then(|| args.collect.name());
    let job = on_cluster::job()?;
    let goes_on = job.is_under_way();
    let commands = (0..points.len())
        .map(|task| on_cluster::command("sweep", &job.folder, Some(task)))
        .collect::<Result<_>>()?;
    let merge = on_cluster::command("sweep", &job.folder, None)?;
    let job = job.with(commands, Some(merge))?;
    if goes_on {
        printer.notice("an earlier run of this command left tasks, which go on");
    } else if !args.fresh {
        skip_known(&job.folder, (ladder, step), (points, path), level)?;
    }
    let progress = printer.progress();
    let ends = slurm::run(&job, &on_cluster::cluster(&args.on), &progress)?;
    drop(progress);
    let identity = gather(&job.folder, path)?.or(known_identity(path, ladder, step)?);
    let Some(identity) = identity else {
        let said = job.said(0);
        job.remove()?;
        return Err(Error::Environment(format!("no task left a result; the first said: {said}")));
    };
    let journal = open(path, &identity)?;
    let results = points
        .iter()
        .zip(ends)
        .enumerate()
        .map(|(task, ((size, point), end))| {
            let known = journal.newest(size, &point.tuning).cloned().unwrap_or_else(|| {
                let said = job.said(task);
                let error = match end {
                    End::Lost(times) => on_cluster::lost(times, &said),
                    End::Code(code) => {
                        format!("its task left no result and ended with code {code}: {said}")
                    }
                };
                let exit_code = Some(ExitCode::Environment as u8);
                let (size, tuning) = (size.clone(), point.tuning.clone());
                PointResult {
                    size,
                    tuning,
                    error: Some(error),
                    exit_code,
                    ..PointResult::default()
                }
            });
            PointResult { settings: point.settings.clone(), ..known }
        })
        .collect();
    job.remove()?;
    Ok((identity, results))
}

/// Tells the job that the points are over which the sweep's file has already.
fn skip_known(
    folder: &Path,
    (ladder, step): (&Ladder, &Step),
    (points, path): (&[Place], &Path),
    level: Option<&str>,
) -> Result<()> {
    let Some(identity) = known_identity(path, ladder, step)? else { return Ok(()) };
    let journal = open(path, &identity)?;
    for (task, (size, point)) in points.iter().enumerate() {
        if journal.find(size, &point.tuning, level).is_some() {
            let end = folder.join(format!("end-{task}"));
            std::fs::write(&end, "0\n").map_err(|error| Error::io(&end, "write", &error))?;
        }
    }
    Ok(())
}

/// What the sweep's file says of the same step: this machine may have no device of its own to ask.
fn known_identity(path: &Path, ladder: &Ladder, step: &Step) -> Result<Option<Identity>> {
    let source = ladder.fingerprint(step);
    journal::newest_identity(path, |known| {
        known.source == source
            && known.adoprof == env!("CARGO_PKG_VERSION")
            && (known.ladder.as_str(), known.step.as_str()) == (ladder.name(), step.name())
    })
}

/// Puts what the tasks have left into the sweep's file. Doing it twice changes nothing.
///
/// # Errors
/// [`Error::Input`] where a file can't be read or written.
pub(super) fn gather(folder: &Path, path: &Path) -> Result<Option<Identity>> {
    let entries = std::fs::read_dir(folder).map_err(|error| Error::io(folder, "read", &error))?;
    let is_part = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("part-") && name.ends_with(".jsonl")
    };
    let mut parts: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(is_part).collect();
    parts.sort();
    let mut identity = None;
    for part in &parts {
        let Some(of_part) = journal::newest_identity(part, |_| true)? else { continue };
        // Devices of several models: each is a sweep of its own, and the first one's is shown.
        let mut journal = open(path, &of_part)?;
        journal.add(part)?;
        identity.get_or_insert(of_part);
    }
    Ok(identity)
}

/// Opens the sweep's file, which the other step that puts results together may hold.
fn open(path: &Path, identity: &Identity) -> Result<Journal> {
    let start = Instant::now();
    loop {
        match Journal::open(path, identity.clone()) {
            Err(_) if start.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(100)),
            opened => return opened,
        }
    }
}
