//! A run of adoprof for a call: bounded in time and output, and ended where the call is cancelled.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::ncu::process::tie;

/// The most that is read of a run's output, bytes.
const MOST_OUTPUT: u64 = 128 << 20;
/// How often a run is looked at.
const PAUSE: Duration = Duration::from_millis(10);
/// What a run that is asked to end may take to end what it started, its profiler above all.
const GRACE: Duration = Duration::from_secs(15);
/// How long the rest of the output is waited for once a run has ended.
const REST: Duration = Duration::from_secs(5);

/// How a run ended.
#[derive(Debug)]
pub(super) struct Ran {
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: String,
    /// True for exit code 0.
    pub succeeded: bool,
}

/// Why a run has no result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The client took its call back.
    Cancelled,
    /// For this reason.
    For(String),
}

/// Runs a program in a folder.
///
/// # Errors
/// [`Ended`].
pub(super) fn run(
    program: &Path,
    words: &[String],
    folder: &Path,
    limit: Duration,
    cancelled: &AtomicBool,
) -> Result<Ran, Ended> {
    let mut command = Command::new(program);
    command.args(words).current_dir(folder).env("NO_COLOR", "1").env("COLUMNS", "100");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C of the client's terminal is the server's to notice.
    command.process_group(0);
    // A server that is killed can't look after it.
    tie(&mut command);
    let mut child = command
        .spawn()
        .map_err(|error| Ended::For(format!("adoprof could not be started: {error}")))?;
    let out = reader(child.stdout.take());
    let err = reader(child.stderr.take());
    let start = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => {}
            Err(error) => return Err(Ended::For(format!("the run was lost: {error}"))),
        }
        if cancelled.load(Ordering::SeqCst) {
            end(&mut child);
            return Err(Ended::Cancelled);
        }
        if start.elapsed() > limit {
            end(&mut child);
            return Err(Ended::For(format!(
                "it took more than {} s and was ended",
                limit.as_secs()
            )));
        }
        std::thread::sleep(PAUSE);
    };
    let rest = |of: Receiver<Vec<u8>>| of.recv_timeout(REST).unwrap_or_default();
    let (out, err) = (rest(out), rest(err));
    if out.len() as u64 > MOST_OUTPUT {
        return Err(Ended::For(format!("its result has more than {} MiB", MOST_OUTPUT >> 20)));
    }
    Ok(Ran { out, err: String::from_utf8_lossy(&err).into_owned(), succeeded: status.success() })
}

/// Reads a pipe to its end, in a thread of its own; what is beyond the bound is read and dropped.
fn reader(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (to, from) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.by_ref().take(MOST_OUTPUT + 1).read_to_end(&mut bytes);
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
        }
        let _ = to.send(bytes);
    });
    from
}

/// Asks a run to end, and ends it where it does not.
fn end(child: &mut Child) {
    if let Some(id) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process(id, Signal::TERM);
    }
    let start = Instant::now();
    while start.elapsed() < GRACE {
        if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            return;
        }
        std::thread::sleep(PAUSE);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn sh(script: &str, limit: Duration, cancelled: &AtomicBool) -> Result<Ran, Ended> {
        let words = ["-c".to_owned(), script.to_owned()];
        run(Path::new("/bin/sh"), &words, Path::new("/"), limit, cancelled)
    }

    #[test]
    fn output_and_outcome_come_back() {
        let ran = sh("echo out; echo err >&2; exit 3", GRACE, &AtomicBool::new(false)).unwrap();
        assert_eq!(
            (ran.out.as_slice(), ran.err.as_str(), ran.succeeded),
            (&b"out\n"[..], "err\n", false)
        );
    }

    #[test]
    fn a_run_ends_at_its_limit_and_when_it_is_cancelled() {
        let start = Instant::now();
        let ended =
            sh("exec sleep 60", Duration::from_millis(50), &AtomicBool::new(false)).unwrap_err();
        assert!(matches!(ended, Ended::For(why) if why.contains("more than 0 s")));
        let cancelled = Arc::new(AtomicBool::new(false));
        let later = cancelled.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            later.store(true, Ordering::SeqCst);
        });
        assert_eq!(sh("exec sleep 60", GRACE, &cancelled).unwrap_err(), Ended::Cancelled);
        assert!(start.elapsed() < GRACE, "{:?}", start.elapsed());
    }
}
