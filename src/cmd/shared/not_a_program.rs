//! A file behind `--` that is no program.

use std::ffi::OsString;
use std::path::Path;

use crate::error::{Error, Result};

/// Refuses a report or a source where a program is to be run, with the command that takes it.
///
/// # Errors
/// [`Error::Input`] for such a file.
pub(crate) fn refuse(program: &[OsString]) -> Result<()> {
    let Some(path) = program.first().map(Path::new) else { return Ok(()) };
    let word = path.to_string_lossy();
    let shown = shell_words::quote(&word);
    let what = match path.extension().and_then(|extension| extension.to_str()) {
        Some("ncu-rep") => {
            format!("is a report, not a program; read it with `adoprof analyze {shown}`")
        }
        Some("cu") => format!(
            "is a source, not a program; build it and name the program, or make a ladder of its kernels with \
             `adoprof init {shown}`"
        ),
        _ => return Ok(()),
    };
    Err(Error::input(path, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_and_sources_are_not_run() {
        let refused = |word: &str| refuse(&[OsString::from(word)]).err().map(|e| e.to_string());
        assert!(refused("a b.ncu-rep").unwrap().ends_with("`adoprof analyze 'a b.ncu-rep'`"));
        assert!(refused("k.cu").unwrap().contains("`adoprof init k.cu`"));
        assert_eq!((refused("./app"), refused("app.cu.exe")), (None, None));
        assert!(refuse(&[]).is_ok());
    }
}
