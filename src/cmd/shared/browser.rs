//! A page in the user's browser.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// What opens a file on each system.
const OPENERS: &[&str] =
    if cfg!(target_os = "macos") { &["open"] } else { &["xdg-open", "gio", "wslview"] };

/// How long an opener may take to find that nothing on this system opens pages.
const PATIENCE: Duration = Duration::from_secs(1);

/// True where an opener ends with a failure before the patience does; one that still runs has a browser to wait for.
fn fails_at_once(child: &mut Child) -> bool {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        match child.try_wait() {
            Ok(Some(status)) => return !status.success(),
            Ok(None) => std::thread::sleep(Duration::from_millis(10)),
            Err(_) => return false,
        }
    }
    false
}

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
        quiet.spawn().is_ok_and(|mut child| !fails_at_once(&mut child))
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
