//! A process of our own that outlives this one where it is killed.
//!
//! The system can end a child with its parent, but not what that child started: ncu is often a script that
//! starts the real one, and SIGKILL leaves no time to look after it. So the first run starts a second
//! adoprof in a session of its own, which waits for the end of a pipe. Where that comes without a word,
//! it ends whatever carries the mark of this process's runs and removes the folders that they used.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::group;

/// The hidden subcommand that [`watch`] runs under.
pub const SUBCOMMAND: &str = "__watch";

/// The program to start; where nobody named one, a test's own program for one, nothing is watched.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
static WATCHER: Mutex<Option<Watcher>> = Mutex::new(None);

/// What is written into the pipe: a folder to remove, or that all is well.
const FOLDER: u8 = b'f';
const DISMISSED: u8 = b'd';

struct Watcher {
    process: Child,
    pipe: ChildStdin,
}

/// Has runs watched from now on, by this program.
pub fn enable(program: PathBuf) {
    let _ = PROGRAM.set(program);
}

/// Starts the watcher, unless it runs already. Without one, a run goes on as it would.
pub(super) fn start() {
    let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if watcher.is_none() {
        *watcher = spawn();
    }
}

/// Names a folder that the watcher removes where this process is killed.
pub fn remove_if_killed(folder: &Path) {
    start();
    let mut watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(watcher) = watcher.as_mut()
        && let Ok(folder) = std::path::absolute(folder)
    {
        let path = folder.as_os_str().as_bytes();
        let length = (path.len() as u64).to_le_bytes();
        let _ = watcher.pipe.write_all(&[&[FOLDER], &length[..], path].concat());
    }
}

/// Sends the watcher home: this process ends in an orderly way, and what its programs left running is
/// meant to run.
pub fn dismiss() {
    let watcher = WATCHER.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Watcher { mut process, mut pipe }) = watcher {
        let _ = pipe.write_all(&[DISMISSED]);
        drop(pipe);
        let _ = process.wait();
    }
}

#[expect(unsafe_code, reason = "the standard library can't start a session")]
fn spawn() -> Option<Watcher> {
    let mut command = Command::new(PROGRAM.get()?);
    command
        .args([SUBCOMMAND, &group::own_mark()])
        // Nobody waits for a stream that it holds, and no folder is kept from being removed.
        .current_dir("/")
        .env_remove(group::MARKER)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // SAFETY: between fork and exec only setsid(2) is called, which is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            libc::setsid();
            Ok(())
        });
    }
    let mut process = command.spawn().ok()?;
    let pipe = process.stdin.take()?;
    Some(Watcher { process, pipe })
}

/// What the watcher does: waits for the end of `input`, and where it ends without a word, ends the
/// processes with the mark and removes the folders that were named.
pub fn watch(mut input: impl Read, mark: &str) {
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut kind = [0];
    while input.read_exact(&mut kind).is_ok() {
        if kind == [DISMISSED] {
            return;
        }
        let mut length = [0; 8];
        if input.read_exact(&mut length).is_err() {
            break;
        }
        let mut path = Vec::new();
        let length = u64::from_le_bytes(length);
        if (&mut input).take(length).read_to_end(&mut path).is_err() || path.len() as u64 != length
        {
            break;
        }
        folders.push(PathBuf::from(OsStr::from_bytes(&path)));
    }
    group::end_marked(mark);
    for folder in folders {
        let _ = std::fs::remove_dir_all(folder);
    }
}
