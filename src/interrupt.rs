//! Ctrl-C: noticed, so that what runs can be ended and what is written stays whole.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use crate::error::Error;

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(false)));

/// Starts to notice SIGINT and SIGTERM. A second one ends the process at once.
pub fn watch() {
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // Registered first, it acts only once the flag below is already set.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, REQUESTED.clone());
        let _ = signal_hook::flag::register(signal, REQUESTED.clone());
    }
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
