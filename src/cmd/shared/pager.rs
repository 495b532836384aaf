//! Long texts on a terminal go through a pager.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use crate::interrupt;

/// What shows a long text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pager {
    words: Vec<String>,
    /// Rows of the terminal.
    rows: usize,
}

/// What is started where the environment names nothing.
const DEFAULT: &str = "less";
/// Colours as they are, no pager for what fits, and the text stays on the screen afterwards.
const LESS: &str = "FRX";

impl Pager {
    /// The pager of `ADOPROF_PAGER`, else of `PAGER`, else less; `None` where stdout is no terminal, where it can't
    /// move its cursor, and where a variable is empty or names `cat`.
    pub(super) fn of_environment() -> Option<Self> {
        let is_terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
        let dumb = std::env::var_os("TERM").is_none_or(|name| name == "dumb");
        let (_, rows) = terminal_size::terminal_size().filter(|_| is_terminal && !dumb)?;
        let named = std::env::var_os("ADOPROF_PAGER").or_else(|| std::env::var_os("PAGER"));
        let words = words(named.as_deref())?;
        Some(Self { words, rows: usize::from(rows.0) })
    }

    /// Shows a text, in the pager where it is longer than the terminal; false where that does not start. A signal that
    /// ends both is [`io::ErrorKind::Interrupted`].
    pub(super) fn show(&self, text: &[u8]) -> io::Result<bool> {
        let lines = text.split(|byte| *byte == b'\n').count() - 1;
        if lines < self.rows {
            return Ok(false);
        }
        let Some((program, arguments)) = self.words.split_first() else { return Ok(false) };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", LESS);
        }
        let Ok(mut process) = command.spawn() else { return Ok(false) };
        // Ctrl-C is the pager's now: it takes it for "stop searching".
        let paused = interrupt::pause(process.id());
        let written = process.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(text));
        process.wait()?;
        match written {
            _ if paused.is_over() => Err(io::ErrorKind::Interrupted.into()),
            // Who has read enough closes the pager.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(true),
        }
    }
}

/// The words of a pager's command line; `None` where there is to be none.
fn words(named: Option<&OsStr>) -> Option<Vec<String>> {
    let named: OsString = named.map_or_else(|| DEFAULT.into(), OsStr::to_owned);
    let words = shell_words::split(named.to_str()?).ok()?;
    (!words.is_empty() && words != ["cat"]).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_name_a_pager_or_none() {
        let of = |text: &str| words(Some(OsStr::new(text)));
        assert_eq!(words(None).unwrap(), ["less"]);
        assert_eq!(of("less -S '+/a b'").unwrap(), ["less", "-S", "+/a b"]);
        assert_eq!((of(""), of("cat"), of("less '")), (None, None, None));
    }

    #[test]
    fn only_what_is_longer_than_the_terminal_is_paged() {
        let folder = tempfile::tempdir().unwrap();
        let seen = folder.path().join("seen");
        let script = format!("cat > {}", seen.display());
        let pager = Pager { words: vec!["sh".into(), "-c".into(), script], rows: 3 };
        assert!(!pager.show(b"1\n2\n").unwrap() && !seen.exists());
        assert!(pager.show(b"1\n2\n3\n").unwrap());
        assert_eq!(std::fs::read(&seen).unwrap(), b"1\n2\n3\n");
        // A signal that would end this process ends the pager first.
        let script = "sleep 0.3; kill -TERM $PPID; exec sleep 60";
        let stays = Pager { words: vec!["sh".into(), "-c".into(), script.into()], rows: 3 };
        let ended = stays.show(b"1\n2\n3\n").unwrap_err();
        assert_eq!(ended.kind(), io::ErrorKind::Interrupted);
        // One that closes at once, and one that is not there.
        let closes = Pager { words: vec!["true".into()], rows: 3 };
        assert!(closes.show(&b"line\n".repeat(100_000)).unwrap());
        let missing = Pager { words: vec!["/no/such/pager".into()], rows: 3 };
        assert!(!missing.show(b"1\n2\n3\n").unwrap());
    }
}
