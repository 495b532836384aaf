//! Where results and notices go: results to stdout, everything else to stderr.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};

use super::locale;
use super::no_commands::NoCommands;
use super::pager::Pager;

use crate::error::{Error, Result};
use crate::interrupt;
use crate::progress::Progress;
use crate::report::{Format, Style};
use crate::text::{ascii, uri};

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
    pager: Option<Pager>,
}

impl Printer {
    /// Looks at the terminal and at what the environment says of it: `COLUMNS`; for colours `NO_COLOR`,
    /// `FORCE_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE` and `TERM`; for letters `LC_ALL`, `LC_CTYPE` and `LANG`.
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
            ascii: locale::has_ascii_alone(io::stdout().is_terminal()),
            verbose,
            explain_ranking: false,
            quiet,
        };
        Self { style, quiet, pager: None }
    }

    /// The same, which also says why findings stand in their order where that is asked for.
    #[must_use]
    pub(crate) fn explaining(&self, ranking: bool) -> Self {
        let pager = self.pager.clone();
        Self { style: Style { explain_ranking: ranking, ..self.style }, quiet: self.quiet, pager }
    }

    /// The same, which shows what is longer than the terminal in a pager where that is wanted.
    #[must_use]
    pub(crate) fn paging(self, is_wanted: bool) -> Self {
        Self { pager: is_wanted.then(Pager::of_environment).flatten(), ..self }
    }

    /// A progress line on stderr.
    #[must_use]
    pub(crate) fn progress(&self) -> Progress {
        Progress::new(self.quiet, self.style.verbose)
    }

    /// The options that have another adoprof print as this one does.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static str> {
        let forced = ColorChoice::global();
        let given = [
            ("--quiet", self.quiet),
            ("--verbose", self.style.verbose),
            ("--color=always", forced == ColorChoice::Always),
            ("--color=never", forced == ColorChoice::Never),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }

    /// The same, for work that is mostly done within a second.
    #[must_use]
    pub(crate) fn patient_progress(&self) -> Progress {
        Progress::patient(self.quiet, self.style.verbose)
    }

    /// True where the user asked for quiet: notices are not printed.
    #[must_use]
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints a notice to stderr, unless the user asked for quiet.
    pub(crate) fn notice(&self, text: &str) {
        if !self.quiet {
            eprintln!("adoprof: {}", self.letters(&crate::text::printable(text)));
        }
    }

    /// Prints to stderr what went wrong with a part of the work while the rest goes on.
    pub(crate) fn warning(&self, text: &str) {
        eprintln!("adoprof: {}", self.letters(&crate::text::printable_lines(text)));
    }

    /// The text in letters that the terminal has.
    fn letters<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.style.ascii { ascii::drawn(text) } else { text.into() }
    }

    /// Prints a result to stdout. A closed pipe (`| head`) is no failure.
    ///
    /// # Errors
    /// [`Error::Input`] where stdout can't be written, a full disk behind a redirection, say.
    pub(crate) fn result(
        &self,
        write: impl FnOnce(Style, &mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let written = match &self.pager {
            Some(pager) => {
                let mut text = Vec::new();
                write(self.style, &mut text).and_then(|()| {
                    if pager.show(&text)? { Ok(()) } else { plain(|out| out.write_all(&text)) }
                })
            }
            None => plain(|out| write(self.style, out)),
        };
        complete(written)
    }

    /// Prints bytes to stdout as they are.
    ///
    /// # Errors
    /// As [`result`](Self::result).
    #[expect(clippy::unused_self, reason = "everything that is printed goes through the printer")]
    pub(crate) fn bytes(&self, bytes: &[u8]) -> Result<()> {
        let mut out = io::stdout().lock();
        complete(out.write_all(bytes).and_then(|()| out.flush()))
    }

    /// True where stdout is a terminal.
    #[expect(clippy::unused_self, reason = "everything about the streams is asked of the printer")]
    pub(crate) fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Prints a result in a form, of which alone the lines may be commands to the CI that reads them.
    ///
    /// # Errors
    /// As [`result`](Self::result).
    pub(crate) fn report(
        &self,
        format: Format,
        write: impl FnOnce(Style, &mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        if !format.is_commands() {
            return self.result(write);
        }
        let mut out = io::BufWriter::new(io::stdout().lock());
        complete(write(self.style, &mut out).and_then(|()| out.flush()))
    }

    /// Prints a text to stdout.
    ///
    /// # Errors
    /// As [`result`](Self::result).
    pub(crate) fn text(&self, text: &str) -> Result<()> {
        let shown = self.letters(text.trim_end());
        self.result(|_, out| writeln!(out, "{shown}"))
    }
}

/// Writes to stdout.
fn plain(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = NoCommands::new(io::BufWriter::new(io::stdout().lock()));
    write(&mut out)?;
    out.flush()
}

/// What came of writing; a closed pipe is no failure.
fn complete(written: io::Result<()>) -> Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(interrupt::error()),
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io("standard output", "write", &error))
        }
        _ => Ok(()),
    }
}

/// The address of a source file that a report names, where it is here to be opened.
fn address(file: &str) -> Option<String> {
    let path = std::fs::canonicalize(file).ok()?;
    path.to_str().map(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_are_here_have_an_address() {
        let here = address("Cargo.toml").expect("the crate's own manifest");
        assert!(here.starts_with("file:///") && here.ends_with("/Cargo.toml"), "{here}");
        assert_eq!(address("kernels/none/there.cu"), None);
    }
}
