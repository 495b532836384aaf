//! A page in the user's browser.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// What opens a file on each system.
const OPENERS: &[&str] =
    if cfg!(target_os = "macos") { &["open"] } else { &["xdg-open", "gio", "wslview"] };

/// Opens a file and does not wait for the browser.
///
/// # Errors
/// [`Error::Environment`] where nothing can open it.
pub(crate) fn open(path: &Path) -> Result<()> {
    let started = OPENERS.iter().any(|opener| {
        let mut command = Command::new(opener);
        if *opener == "gio" {
            command.arg("open");
        }
        let quiet =
            command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.spawn().is_ok()
    });
    if started {
        return Ok(());
    }
    Err(Error::Environment(format!(
        "no browser was found on this machine (none of {}); open {} yourself",
        OPENERS.join(", "),
        path.display()
    )))
}
