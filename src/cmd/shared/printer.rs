//! Where results and notices go: results to stdout, everything else to stderr.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::report::Style;

/// Output widths: a terminal's own within these bounds, the default elsewhere.
const NARROWEST: usize = 40;
const WIDEST: usize = 120;
const PIPED: usize = 100;

/// The two streams of a command.
#[derive(Debug)]
pub struct Printer {
    /// How reports look on stdout.
    pub style: Style,
    quiet: bool,
}

impl Printer {
    /// Looks at the terminal, at `NO_COLOR` and at `TERM`.
    #[must_use]
    pub fn new(quiet: bool, verbose: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let var_os = std::env::var_os::<&str>;
        let width = if terminal {
            terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
        } else {
            std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).unwrap_or(PIPED)
        };
        let style = Style {
            width: width.clamp(NARROWEST, WIDEST),
            colour: terminal && is_coloured(var_os("NO_COLOR"), var_os("TERM")),
            link: None,
            verbose,
            explain_ranking: false,
            quiet,
        };
        Self { style, quiet }
    }

    /// The same, which also says why findings stand in their order where that is asked for.
    #[must_use]
    pub fn explaining(&self, ranking: bool) -> Self {
        Self { style: Style { explain_ranking: ranking, ..self.style }, quiet: self.quiet }
    }

    /// A progress line on stderr.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress::new(self.quiet, self.style.verbose)
    }

    /// True where the user asked for quiet: notices are not printed.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints a notice to stderr, unless the user asked for quiet.
    pub fn notice(&self, text: &str) {
        if !self.quiet {
            eprintln!("adoprof: {}", crate::text::printable(text));
        }
    }

    /// Prints to stderr what went wrong with a part of the work while the rest goes on.
    #[expect(clippy::unused_self, reason = "everything that is printed goes through the printer")]
    pub fn warning(&self, text: &str) {
        eprintln!("adoprof: {}", crate::text::printable_lines(text));
    }

    /// Prints a result to stdout. A closed pipe (`| head`) is no failure.
    ///
    /// # Errors
    /// [`Error::Input`] where stdout can't be written, a full disk behind a redirection, say.
    pub fn result(
        &self,
        write: impl FnOnce(Style, &mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        match write(self.style, &mut out).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Error::io("standard output", "write", &error))
            }
            _ => Ok(()),
        }
    }

    /// Prints a text to stdout.
    ///
    /// # Errors
    /// As [`result`](Self::result).
    pub fn text(&self, text: &str) -> Result<()> {
        self.result(|_, out| writeln!(out, "{}", text.trim_end()))
    }
}

/// True where the user and the terminal let text be coloured: `NO_COLOR` is unset or empty, and `TERM`
/// names no terminal without colours.
fn is_coloured(no_color: Option<OsString>, term: Option<OsString>) -> bool {
    no_color.is_none_or(|value| value.is_empty()) && term.is_none_or(|name| name != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dumb_terminal_and_no_color_are_honoured() {
        let value = |text: &str| Some(OsString::from(text));
        assert!(is_coloured(None, value("xterm-256color")) && is_coloured(value(""), None));
        assert!(!is_coloured(value("1"), value("xterm")));
        assert!(!is_coloured(None, value("dumb")));
    }
}
