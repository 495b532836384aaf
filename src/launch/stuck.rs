//! A kernel that was given up while it still runs.

use std::sync::atomic::{AtomicBool, Ordering};

/// True once a kernel was given up while it still ran. Giving its memory or its context back would
/// wait for it, so both are left to the end of the process.
static STUCK: AtomicBool = AtomicBool::new(false);

/// Remembers that a kernel is given up while it runs.
pub(super) fn give_up() {
    STUCK.store(true, Ordering::Relaxed);
}

/// True once a kernel was given up while it still ran.
#[must_use]
pub fn is_stuck() -> bool {
    STUCK.load(Ordering::Relaxed)
}

/// Ends the process with this code where a kernel that was given up still runs: the usual way out
/// closes the driver, which would wait for the kernel. Everything else must be done by then.
pub fn leave_if_stuck(code: i32) {
    if is_stuck() {
        // SAFETY: ends the process without running anything more of it.
        #[cfg(unix)]
        unsafe {
            libc::_exit(code);
        }
        #[cfg(not(unix))]
        std::process::abort();
    }
}
