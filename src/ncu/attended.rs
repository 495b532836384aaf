//! A command that prints where this process prints, ended with it or when asked.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::group;
use crate::error::{Error, Result};
use crate::interrupt;

/// How often the caller is asked whether to go on.
const TICK: Duration = Duration::from_millis(100);
/// How long the command may take to leave by itself once it is asked to.
const LEAVING: Duration = Duration::from_secs(15);

/// Runs a command in a process group of its own until it ends by itself, or until `is_enough` says so: then it is
/// asked to end, and made to where it does not. `None` for a command that was ended.
///
/// # Errors
/// [`Error::Environment`] where it can't be started or followed.
pub fn attend(
    mut command: Command,
    mut is_enough: impl FnMut() -> bool,
) -> Result<Option<ExitStatus>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let fails =
        |error: &std::io::Error| Error::Environment(format!("{name} does not run: {error}"));
    command.stdin(Stdio::null()).process_group(0);
    group::end_with_parent(&mut command);
    let mut child = command.spawn().map_err(|error| fails(&error))?;
    let leader = [child.id()];
    interrupt::end_with_us(Some(child.id()));
    let ended = loop {
        match child.try_wait() {
            Ok(None) if is_enough() => {
                group::ask(&leader);
                let deadline = Instant::now() + LEAVING;
                while Instant::now() < deadline && matches!(child.try_wait(), Ok(None)) {
                    std::thread::sleep(TICK);
                }
                let _ = child.kill();
                break child.wait().map(|_| None);
            }
            Ok(None) => std::thread::sleep(TICK),
            Ok(Some(status)) => break Ok(Some(status)),
            Err(error) => break Err(error),
        }
    };
    interrupt::end_with_us(None);
    ended.map_err(|error| fails(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_command_ends_by_itself_or_is_asked_to() {
        let status = attend(shell("exit 7"), || false).unwrap();
        assert_eq!(status.and_then(|status| status.code()), Some(7));
        let start = Instant::now();
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join("left");
        // It may tidy up before it leaves.
        let script = format!("trap 'echo left > {}; exit 0' TERM; sleep 60 & wait", left.display());
        assert!(attend(shell(&script), || start.elapsed() > TICK * 3).unwrap().is_none());
        assert_eq!(std::fs::read_to_string(&left).unwrap(), "left\n");
        assert!(start.elapsed() < Duration::from_secs(10));
        assert!(attend(Command::new("/no/such/program"), || false).is_err());
    }
}
