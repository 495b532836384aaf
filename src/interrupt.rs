//! Ctrl-C: noticed, so that what runs can be ended and what is written stays whole.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use crate::error::Error;

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(false)));

/// Starts to notice the signals that ask a program to end: Ctrl-C, a closed terminal, `kill`. A second one
/// ends the process at once.
pub fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    // `nohup` has a closed terminal ignored, and so it stays.
    for signal in
        [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|&signal| !is_ignored(signal))
    {
        // Registered first, it acts only once the flag below is already set.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, REQUESTED.clone());
        let _ = signal_hook::flag::register(signal, REQUESTED.clone());
    }
}

/// True where whoever started this process has it ignore the signal.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

/// True after Ctrl-C.
#[must_use]
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// The flag itself, for whoever polls it beside other things.
#[must_use]
pub fn flag() -> Arc<AtomicBool> {
    REQUESTED.clone()
}

/// What to fail with after Ctrl-C.
#[must_use]
pub fn error() -> Error {
    Error::Interrupted("interrupted; no half-written files were left".to_owned())
}
