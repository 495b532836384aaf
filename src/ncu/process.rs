//! Running a command in a process group of its own, with an end to it.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use super::command::NcuCommand;
use super::{group, watcher};
use crate::error::{Error, Result};
use crate::interrupt;

/// How often the limits are looked at while nothing is printed.
const TICK: Duration = Duration::from_millis(50);

/// How long output may still come after ncu itself has ended: a program that left a child behind
/// keeps the pipe open for ever.
const LEFTOVER: Duration = Duration::from_millis(500);

/// The longest that runs may take: each of them, or all of them together.
#[derive(Debug, Clone, Copy)]
pub struct TimeLimit {
    length: Duration,
    /// When the first of all runs began; `None` where each run has the whole time.
    since: Option<Instant>,
}

impl From<Duration> for TimeLimit {
    /// Each run may take so long.
    fn from(length: Duration) -> Self {
        Self { length, since: None }
    }
}

impl TimeLimit {
    /// All runs from now on may take so long together.
    #[must_use]
    pub fn of_all(length: Duration) -> Self {
        Self { length, since: Some(Instant::now()) }
    }

    /// The same time once more, for reading what was collected.
    #[must_use]
    pub(crate) fn again(self) -> Self {
        self.length.into()
    }

    /// What is left for a run that begins now.
    #[must_use]
    pub fn left(self) -> Duration {
        self.since.map_or(self.length, |since| self.length.saturating_sub(since.elapsed()))
    }

    /// Why a run that began at this time has to end now, if it has to.
    fn exceeded(self, began: Instant, what: &str) -> Option<String> {
        // Less than this before a run is no other run.
        const BEFORE: Duration = Duration::from_secs(1);
        let since = self.since.unwrap_or(began);
        if since.elapsed() < self.length {
            return None;
        }
        let length = crate::text::duration(self.length.as_secs_f64() * 1e9);
        Some(if began.saturating_duration_since(since) < BEFORE {
            format!("{what} took longer than {length} and was stopped")
        } else {
            format!("{what} was stopped when it and the runs before it had taken {length} together")
        })
    }
}

/// When a run must end early.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    /// The longest that it may take.
    pub timeout: Option<TimeLimit>,
    /// Set by Ctrl-C's handler.
    pub interrupted: &'a AtomicBool,
    /// How long ncu may take at a limit to write what it has into its report; zero ends it at once.
    pub write_up: Duration,
}

impl Limits<'_> {
    /// The reason to stop now, if there is one.
    fn exceeded(&self, since: Instant, what: &str) -> Option<Error> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Some(Error::Interrupted(format!("interrupted: {what} was stopped")));
        }
        let reason = self.timeout?.exceeded(since, what)?;
        Some(Error::Interrupted(format!("{reason}; allow more with --timeout, or collect less")))
    }
}

/// What happens to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stderr {
    /// It comes in its place among the output.
    Merged,
    /// It is kept apart and returned at the end.
    Apart,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// Its standard error where that was kept apart.
    pub stderr: Vec<u8>,
    /// The limit at which it was asked to end, where it then ended by itself.
    pub stopped: Option<Error>,
}

/// That a bare name is no program.
pub(crate) fn not_in_path(program: &Path) -> String {
    let program = program.display();
    format!("there is no program {program} in PATH; if it is in this folder, write ./{program}")
}

/// Runs a command and hands its output on as it comes, in pieces of any size. At a limit the
/// command and everything that it started is ended before this returns; a command that ends by itself
/// within [`Limits::write_up`] is no error.
///
/// `what` names the work in messages.
///
/// # Errors
/// [`Error::Environment`] where the command can't be started, [`Error::Interrupted`] at a limit.
pub fn stream(
    command: &NcuCommand,
    stderr: Stderr,
    limits: Limits,
    what: &str,
    piece: impl FnMut(&[u8]),
) -> Result<Ended> {
    let fails = |error: &std::io::Error| {
        let program = command.program.display();
        let bare = command.program.components().count() == 1;
        Error::Environment(if bare && error.kind() == std::io::ErrorKind::NotFound {
            not_in_path(&command.program)
        } else {
            format!("{program} does not run: {error}")
        })
    };
    watcher::start();
    let marker = group::marker();
    let reader =
        Arc::new(expression(command, stderr, &marker).reader().map_err(|error| fails(&error))?);
    interrupt::end_with_us(reader.pids().first().copied());
    let ended = follow(&reader, limits, what, &marker, piece);
    interrupt::end_with_us(None);
    ended
}

/// Hands the output of a command on until it ends or is ended.
fn follow(
    reader: &Arc<duct::ReaderHandle>,
    limits: Limits,
    what: &str,
    marker: &str,
    mut piece: impl FnMut(&[u8]),
) -> Result<Ended> {
    let fails =
        |error: &std::io::Error| Error::Environment(format!("{what} can't be followed: {error}"));
    let since = Instant::now();
    let (sender, pieces) = sync_channel::<Vec<u8>>(64);
    let source = Arc::clone(reader);
    // The thread is left to itself where a stray process keeps the pipe open.
    std::thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(length) = (&*source).read(&mut buffer) {
            if length == 0 || sender.send(buffer[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    let mut ended_at = None;
    loop {
        if let Some(error) = limits.exceeded(since, what) {
            let deadline = Instant::now() + limits.write_up;
            let leaders = reader.pids();
            if !limits.write_up.is_zero() {
                group::ask(&leaders);
            }
            // The command may be a wrapper that ends before what it runs.
            while Instant::now() < deadline && group::is_alive(&leaders) {
                match pieces.recv_timeout(TICK) {
                    Ok(bytes) => piece(&bytes),
                    Err(RecvTimeoutError::Disconnected) => std::thread::sleep(TICK),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                let _ = reader.try_wait();
            }
            // The last words may still be on their way; a process that was left behind keeps the pipe open.
            let deadline = Instant::now() + LEFTOVER;
            while let Ok(bytes) =
                pieces.recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                piece(&bytes);
            }
            let ended = reader.try_wait().ok().flatten().filter(|_| !limits.write_up.is_zero());
            let ended = ended.map(|output| (output.status, output.stderr.clone()));
            group::end(&leaders, marker);
            return match ended {
                Some((status, stderr)) => Ok(Ended { status, stderr, stopped: Some(error) }),
                None => Err(error),
            };
        }
        match pieces.recv_timeout(TICK) {
            Ok(bytes) => piece(&bytes),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                if reader.try_wait().map_err(|error| fails(&error))?.is_some()
                    && ended_at.get_or_insert_with(Instant::now).elapsed() >= LEFTOVER
                {
                    break;
                }
            }
        }
    }
    // The output ended; the exit follows at once, unless the command closed its own pipe.
    loop {
        if let Some(output) = reader.try_wait().map_err(|error| fails(&error))? {
            let (status, stderr) = (output.status, output.stderr.clone());
            return Ok(Ended { status, stderr, stopped: None });
        }
        if let Some(error) = limits.exceeded(since, what) {
            group::end(&reader.pids(), marker);
            return Err(error);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Marks a command that is started without [`stream`], and has it end with this process: at a signal from the system,
/// or by the watcher where it does not heed that.
pub(crate) fn tie(command: &mut std::process::Command) {
    watcher::start();
    command.env(group::MARKER, group::marker());
    group::end_with_parent(command);
}

fn expression(command: &NcuCommand, stderr: Stderr, marker: &str) -> duct::Expression {
    // As a path duct would look for a bare name in the working folder; a shell looks in PATH.
    let mut expression = duct::cmd(command.program.as_os_str(), &command.args).unchecked();
    // Whatever the run starts inherits it, also what leaves its group and its parent.
    expression = expression.env(group::MARKER, marker);
    // duct lets what is set first win, a shell what is set last; the value means what it prints.
    for (name, value) in command.env.iter().rev() {
        expression = expression.env(name, value);
    }
    if let Some(cwd) = &command.cwd {
        expression = expression.dir(cwd);
    }
    // A process group that is not the terminal's may not read from it: it would stop for ever.
    if std::io::stdin().is_terminal() {
        expression = expression.stdin_null();
    }
    expression = match stderr {
        Stderr::Merged => expression.stderr_to_stdout(),
        Stderr::Apart => expression.stderr_capture(),
    };
    #[cfg(unix)]
    {
        expression = expression.before_spawn(|process| {
            std::os::unix::process::CommandExt::process_group(process, 0);
            group::end_with_parent(process);
            Ok(())
        });
    }
    expression
}
