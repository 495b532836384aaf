//! Where results and notices go: results to stdout, everything else to stderr.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};

use super::no_commands::NoCommands;

use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::report::Style;
use crate::text::uri;

/// Output widths: what `COLUMNS` or the terminal says within these bounds, the default elsewhere.
const NARROWEST: usize = 40;
const WIDEST: usize = 240;
const PIPED: usize = 100;

/// The two streams of a command.
#[derive(Debug)]
pub(crate) struct Printer {
    /// How reports look on stdout.
    pub style: Style,
    quiet: bool,
}

impl Printer {
    /// Looks at the terminal and at what the environment says of it: `COLUMNS`, and for colours
    /// `NO_COLOR`, `FORCE_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE` and `TERM`.
    #[must_use]
    pub(crate) fn new(quiet: bool, verbose: bool) -> Self {
        let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
        let terminal = || {
            let size = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
            size.map(|(width, _)| usize::from(width.0))
        };
        let style = Style {
            width: columns.or_else(terminal).unwrap_or(PIPED).clamp(NARROWEST, WIDEST),
            colour: AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            // Even where the environment forces links, a pipe has none.
            link: (io::stdout().is_terminal() && supports_hyperlinks::supports_hyperlinks())
                .then_some(address),
            pictures: io::stdout().is_terminal(),
            verbose,
            explain_ranking: false,
            quiet,
        };
        Self { style, quiet }
    }

    /// The same, which also says why findings stand in their order where that is asked for.
    #[must_use]
    pub(crate) fn explaining(&self, ranking: bool) -> Self {
        Self { style: Style { explain_ranking: ranking, ..self.style }, quiet: self.quiet }
    }

    /// A progress line on stderr.
    #[must_use]
    pub(crate) fn progress(&self) -> Progress {
        Progress::new(self.quiet, self.style.verbose)
    }

    /// The options that have another adoprof print as this one does.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        let given = [("--quiet", self.quiet), ("--verbose", self.style.verbose)];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }

    /// True where the user asked for quiet: notices are not printed.
    #[must_use]
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints a notice to stderr, unless the user asked for quiet.
    pub(crate) fn notice(&self, text: &str) {
        if !self.quiet {
            eprintln!("adoprof: {}", crate::text::printable(text));
        }
    }

    /// Prints to stderr what went wrong with a part of the work while the rest goes on.
    #[expect(clippy::unused_self, reason = "everything that is printed goes through the printer")]
    pub(crate) fn warning(&self, text: &str) {
        eprintln!("adoprof: {}", crate::text::printable_lines(text));
    }

    /// Prints a result to stdout. A closed pipe (`| head`) is no failure.
    ///
    /// # Errors
    /// [`Error::Input`] where stdout can't be written, a full disk behind a redirection, say.
    pub(crate) fn result(
        &self,
        write: impl FnOnce(Style, &mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let mut out = NoCommands::new(io::BufWriter::new(io::stdout().lock()));
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
    pub(crate) fn text(&self, text: &str) -> Result<()> {
        self.result(|_, out| writeln!(out, "{}", text.trim_end()))
    }
}

/// The address of a source file that a report names, where it is here to be opened.
fn address(file: &str) -> Option<String> {
    let path = std::fs::canonicalize(file).ok()?;
    path.to_str().map(uri)
}

/// Lets `FORCE_COLOR` decide on colours, in clap's texts too, unless `NO_COLOR` forbids them: the other
/// variables are looked at where streams are written.
pub fn honour_force_color() {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let choice = std::env::var_os("FORCE_COLOR").and_then(|value| forced(&value));
    if let Some(choice) = choice.filter(|_| !forbidden) {
        choice.write_global();
    }
}

/// What a value of `FORCE_COLOR` asks for; an empty one asks for nothing.
fn forced(value: &OsStr) -> Option<ColorChoice> {
    match value.to_str() {
        Some("") => None,
        Some("0" | "false") => Some(ColorChoice::Never),
        _ => Some(ColorChoice::Always),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn force_color_says_yes_no_or_nothing() {
        for (value, choice) in [
            ("1", Some(ColorChoice::Always)),
            ("true", Some(ColorChoice::Always)),
            ("0", Some(ColorChoice::Never)),
            ("", None),
        ] {
            assert_eq!(forced(OsStr::new(value)), choice, "{value:?}");
        }
    }

    #[test]
    fn only_files_that_are_here_have_an_address() {
        let here = address("Cargo.toml").expect("the crate's own manifest");
        assert!(here.starts_with("file:///") && here.ends_with("/Cargo.toml"), "{here}");
        assert_eq!(address("kernels/none/there.cu"), None);
    }
}
