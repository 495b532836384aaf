//! A program to check, with its arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::{Error, Result};

/// A program with its arguments.
pub(super) struct Command {
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

impl Command {
    /// The program and its arguments of these words.
    ///
    /// # Errors
    /// [`Error::Usage`] where there are none.
    pub(super) fn of(words: &[OsString]) -> Result<Self> {
        let (program, args) = words
            .split_first()
            .ok_or_else(|| Error::Usage("there is no program to run".to_owned()))?;
        Ok(Self { program: PathBuf::from(program), args: args.to_vec() })
    }

    /// The command line for people.
    pub(super) fn text(&self) -> String {
        let words = std::iter::once(self.program.as_os_str())
            .chain(self.args.iter().map(OsString::as_os_str));
        shell_words::join(words.map(|word| word.to_string_lossy().into_owned()))
    }
}
