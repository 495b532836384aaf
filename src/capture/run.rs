//! The program run until the launch is copied.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::choose::Chosen;
use super::dump::Dump;
use super::folder;
use super::request::{Captured, Request};
use crate::error::{Error, Result};
use crate::ncu::watcher;
use crate::ncu::{Limits, last_lines};
use crate::survey::run::inject;
use crate::text;

/// Runs the program until its launch is copied, and writes the ladder.
///
/// # Errors
/// [`Error::Environment`] where the launch can't be captured, with the reason; those of a program that does not run;
/// [`Error::Input`] where the folder can't be written.
pub(crate) fn run(request: &Request, limits: Limits<'_>) -> Result<Captured> {
    let parent = request.output.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(parent).map_err(|error| Error::io(parent, "make", &error))?;
    // The copy is as large as the memory, so it goes where the user has asked for room.
    let scratch = tempfile::Builder::new().prefix(".adoprof-capture-").tempdir_in(parent);
    let scratch = scratch.map_err(|error| Error::io(parent, "make a folder in", &error))?;
    watcher::remove_if_killed(scratch.path());
    let absolute = scratch.path().canonicalize();
    let absolute = absolute.map_err(|error| Error::io(scratch.path(), "open", &error))?;
    let mut launches = request.chosen.iter().peekable();
    while let Some(chosen) = launches.next() {
        let dump = once(request, chosen, &absolute, limits)?;
        if launches.peek().is_none() || dump.changes()? {
            return folder::write(&dump, request, chosen, &absolute);
        }
        dump.remove()?;
    }
    Err(Error::Usage("no launch was chosen".to_owned()))
}

/// Runs the program until a launch is copied.
fn once(request: &Request, chosen: &Chosen, folder: &Path, limits: Limits<'_>) -> Result<Dump> {
    let mut variables: Vec<(&str, OsString)> = vec![
        ("ADOPROF_CAPTURE_KERNEL", chosen.kernel.clone().into()),
        ("ADOPROF_CAPTURE_NTH", chosen.number.to_string().into()),
        ("ADOPROF_CAPTURE_LIMIT", request.limit.to_string().into()),
    ];
    if request.keep_running {
        variables.push(("ADOPROF_CAPTURE_KEEP_RUNNING", "1".into()));
    }
    let (ended, output) = inject(&request.program, folder, &variables, limits, "the captured run")?;
    if let Some(path) = first(folder, "captured")? {
        return Dump::open(&path);
    }
    if let Some(path) = first(folder, "refused")? {
        let reason = std::fs::read_to_string(&path).unwrap_or_default();
        let reason = text::printable(reason.trim());
        return Err(Error::Environment(format!("the launch can't be captured: {reason}")));
    }
    let how = if ended.status.success() {
        "the program ended without making the launch again that its survey saw: does it do the same in every run?"
    } else {
        "the program failed before it made the launch"
    };
    Err(Error::Environment(match last_lines(&output).as_str() {
        "" => how.to_owned(),
        lines => format!("{how}; its last lines were:\n{lines}"),
    }))
}

/// The first file of a kind, by its name.
fn first(folder: &Path, kind: &str) -> Result<Option<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|error| Error::io(folder, "read", &error))?;
    let paths = entries.flatten().map(|entry| entry.path());
    Ok(paths.filter(|path| path.extension().is_some_and(|extension| extension == kind)).min())
}
