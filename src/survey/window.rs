//! A survey of some seconds of a running process, which was started with the library waiting inside.
//!
//! A request is a file in a folder of this user; the library takes it, writes its records where the request says, and
//! closes them when the time is over. `injection/window.rs` has the other side.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::run::{self, Surveyed};
use super::{Process, cupti, library};
use crate::error::{Error, Result};
use crate::ncu::watcher;
use crate::text::nearest::path_hint;

/// Where a process that waits looks for requests.
const VARIABLE: &str = "ADOPROF_SURVEY_WAIT";

/// The name of the library's thread, as in `injection/window.rs`.
const THREAD: &str = "adoprof-waits";

/// How long a process has to take a request: its library looks every 200 ms, and a process that the system has stopped
/// never does.
const TAKES_WITHIN: Duration = Duration::from_secs(5);

/// How long a process has for its last records once the time is over.
const CLOSES_WITHIN: Duration = Duration::from_secs(20);

/// How often files are looked at.
const LOOKS_EVERY: Duration = Duration::from_millis(50);

/// The variables with which a program starts that waits to be surveyed.
///
/// # Errors
/// [`Error::Usage`] where there is no such program; where the folder for requests can't be made or others may write to
/// it; those of [`library::deploy`].
pub fn environment(program: &Path) -> Result<Vec<(OsString, OsString)>> {
    if cupti::in_path(program).is_none() {
        let (path, meant) = (program.display(), path_hint(program));
        let text = format!("{path} does not exist or can't be run{meant}");
        return Err(Error::Usage(text));
    }
    let folder = requests()?;
    let library = library::deploy_once(&folder)?;
    let candidates = std::env::join_paths(cupti::candidates(program)).unwrap_or_default();
    Ok(vec![
        ("CUDA_INJECTION64_PATH".into(), library.into_os_string()),
        (VARIABLE.into(), folder.into_os_string()),
        ("ADOPROF_SURVEY_CUPTI".into(), candidates),
    ])
}

/// The folder for this user's requests.
fn requests() -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("adoprof-waiting-{}", user()));
    make(&folder)?;
    Ok(folder)
}

fn user() -> u32 {
    fs::metadata("/proc/self").map_or(0, |own| own.uid())
}

/// Makes a folder for requests where there is none. Nobody else may write there: a request names a folder to write to.
fn make(folder: &Path) -> Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(Error::io(folder, "make", &error));
        }
        _ => {}
    }
    let found = fs::symlink_metadata(folder).map_err(|error| Error::io(folder, "read", &error))?;
    if found.is_dir() && found.uid() == user() && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    let text = format!(
        "others may write to {}, so requests there can't be trusted: remove it, or set TMPDIR to another folder",
        folder.display()
    );
    Err(Error::Environment(text))
}

/// A process with the library waiting inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The process's number.
    id: u32,
    /// Where it looks for requests.
    folder: PathBuf,
}

impl Waiting {
    fn of(id: u32) -> Option<Self> {
        let process = Path::new("/proc").join(id.to_string());
        // The library looks where it lies itself. A process may have overwritten its variables in /proc by its title.
        let maps = fs::read(process.join("maps")).ok()?;
        let name = library::WAITING.as_bytes();
        let has_it = |line: &&[u8]| line.windows(name.len()).any(|window| window == name);
        let line = maps.split(|byte| *byte == b'\n').find(has_it)?;
        let path = line.get(line.iter().position(|byte| *byte == b'/')?..)?;
        let folder = Path::new(OsStr::from_bytes(path)).parent()?.to_owned();
        has_thread(&process).then_some(Self { id, folder })
    }

    fn request(&self) -> PathBuf {
        self.folder.join(format!("{}.request", self.id))
    }

    /// False once it has ended, even if its parent has not noticed yet.
    fn runs(&self) -> bool {
        state(self.id).is_some_and(|state| state != "Z" && state != "X")
    }

    /// Leaves the request, whole or not at all, unless there is one.
    fn ask(&self, length: Duration, records: &Path) -> Result<()> {
        // Something may have cleaned up since the process started.
        make(&self.folder)?;
        let mut text = format!("{} ", length.as_millis()).into_bytes();
        text.extend_from_slice(records.as_os_str().as_bytes());
        let fails = |error: &std::io::Error| Error::io(&self.folder, "write into", error);
        let mut staging =
            tempfile::NamedTempFile::new_in(&self.folder).map_err(|error| fails(&error))?;
        staging.write_all(&text).map_err(|error| fails(&error))?;
        match staging.persist_noclobber(self.request()) {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(Error::Environment(format!(
                    "process {} is about to be surveyed by another adoprof; try again when that one is done",
                    self.id
                )))
            }
            Err(error) => Err(fails(&error.error)),
        }
    }

    /// True once the records are complete, or never will be.
    fn is_done(&self, records: &Path) -> bool {
        let is_there = |kind| records.join(format!("{}.{kind}", self.id)).exists();
        is_there("survey") || is_there("reason") || !self.runs()
    }
}

/// True where one of the process's threads is the library's: a forked child has its parent's memory and none of its threads.
fn has_thread(process: &Path) -> bool {
    let threads = fs::read_dir(process.join("task")).into_iter().flatten().flatten();
    threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok())
        .any(|name| name.trim_end() == THREAD)
}

/// The process with this number if it waits, and its descendants that do.
#[must_use]
pub fn waiting(id: u32) -> Vec<Waiting> {
    family(id).into_iter().filter_map(Waiting::of).collect()
}

/// The nearest of the process's ancestors that waits: of a worker that it forked, which has none of its threads.
#[must_use]
pub fn waiting_parent(id: u32) -> Option<u32> {
    std::iter::successors(parent(id), |id| parent(*id)).find(|id| Waiting::of(*id).is_some())
}

/// A process and its descendants.
fn family(id: u32) -> Vec<u32> {
    let processes: Vec<(u32, u32)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|id| Some((id, parent(id)?)))
        .collect();
    let mut family = vec![id];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        let of_parent = processes.iter().filter(|(id, of)| *of == parent && !family.contains(id));
        let children: Vec<u32> = of_parent.map(|(id, _)| *id).collect();
        family.extend(children);
        next += 1;
    }
    family
}

fn parent(id: u32) -> Option<u32> {
    field(id, 1)?.parse().ok()
}

/// A letter, see proc(5).
fn state(id: u32) -> Option<String> {
    field(id, 0)
}

/// A field of the process's status behind its name.
fn field(id: u32, number: usize) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name may have any characters, brackets included.
    text.rsplit_once(')')?.1.split_whitespace().nth(number).map(str::to_owned)
}

/// Surveys the processes for this long from now on, all at the same time.
///
/// # Errors
/// [`Error::Environment`] where a process does not take its request or ends before it has a record, [`Error::Interrupted`] at Ctrl-C.
pub fn record(
    processes: &[Waiting],
    length: Duration,
    interrupted: &AtomicBool,
) -> Result<Surveyed> {
    let records = tempfile::Builder::new().prefix("adoprof-survey-").tempdir();
    let records =
        records.map_err(|error| Error::io(std::env::temp_dir(), "make a folder in", &error))?;
    watcher::remove_if_killed(records.path());
    let (processes, silent) = ask(processes, length, records.path(), interrupted)?;
    let is_done = || processes.iter().all(|process| process.is_done(records.path()));
    wait_until(is_done, length + CLOSES_WITHIN, interrupted)?;
    let mut surveyed = run::read(records.path())?;
    surveyed.survey.processes.iter_mut().for_each(Process::clip);
    if surveyed.failure.is_some() && !processes.iter().any(|process| process.runs()) {
        return Err(ended(&processes));
    }
    surveyed.survey.notices.extend(silent.iter().map(|id| {
        format!("process {id} did not answer and is left out: it is stopped, or is being surveyed by another adoprof")
    }));
    let start = surveyed.survey.processes.iter().map(|process| process.start).min();
    let end = surveyed.survey.processes.iter().filter_map(|process| process.end).max();
    surveyed.survey.wall_ns = match start.zip(end) {
        Some((start, end)) => end.saturating_sub(start) as f64,
        None => length.as_secs_f64() * 1e9,
    };
    Ok(surveyed)
}

/// What to do where all processes ended within the window.
fn ended(processes: &[&Waiting]) -> Error {
    let ids: Vec<String> = processes.iter().map(|process| process.id.to_string()).collect();
    let process = if ids.len() == 1 { "process" } else { "processes" };
    Error::Environment(format!(
        "{process} {} ended while surveyed and left no record of a kernel; survey it for a shorter time with --for, or its \
         whole run with `adoprof profile -- PROGRAM`",
        ids.join(", ")
    ))
}

/// Asks all of them and waits until they have taken it: those that did, and the numbers of the others.
fn ask<'a>(
    processes: &'a [Waiting],
    length: Duration,
    records: &Path,
    interrupted: &AtomicBool,
) -> Result<(Vec<&'a Waiting>, Vec<u32>)> {
    let mut asked: Vec<&Waiting> = Vec::new();
    let done = processes.iter().try_for_each(|process| {
        process.ask(length, records)?;
        asked.push(process);
        Ok(())
    });
    let is_taken = |process: &&Waiting| !process.request().exists();
    let done = done.and_then(|()| {
        wait_until(|| processes.iter().all(|process| is_taken(&process)), TAKES_WITHIN, interrupted)
    });
    let (taken, silent): (Vec<_>, Vec<_>) = asked.into_iter().partition(is_taken);
    for process in &silent {
        // What nobody took must not be taken later.
        let _ = fs::remove_file(process.request());
    }
    done?;
    let silent: Vec<u32> = silent.iter().map(|process| process.id).collect();
    match (taken.is_empty(), silent.first()) {
        (true, Some(id)) => Err(Error::Environment(format!(
            "process {id} does not answer: it is stopped, or is being surveyed by another adoprof"
        ))),
        _ => Ok((taken, silent)),
    }
}

/// Waits until something holds, at most so long.
fn wait_until(holds: impl Fn() -> bool, most: Duration, interrupted: &AtomicBool) -> Result<()> {
    let start = Instant::now();
    while !holds() && start.elapsed() < most {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted("interrupted".to_owned()));
        }
        std::thread::sleep(LOOKS_EVERY);
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_the_process_first_and_then_its_children() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let family = family(std::process::id());
        assert_eq!(family[0], std::process::id());
        assert!(family.contains(&child.id()) && !family.contains(&1), "{family:?}");
        assert_eq!(parent(child.id()), Some(std::process::id()));
        let waiting = Waiting { id: child.id(), folder: PathBuf::new() };
        assert!(waiting.runs());
        child.kill().unwrap();
        while waiting.runs() {
            std::thread::yield_now();
        }
        assert_eq!(state(child.id()).as_deref(), Some("Z"), "nobody has asked for its end yet");
        child.wait().unwrap();
        assert!(!waiting.runs());
    }

    #[test]
    fn a_process_without_the_library_does_not_wait() {
        assert_eq!(waiting(std::process::id()), []);
        assert_eq!(waiting(u32::MAX), []);
    }
}
