//! Ctrl-C: noticed, so that what runs can be ended and what is written stays whole.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};

use crate::error::Error;

/// What a shell says of a program that Ctrl-C ended.
const CTRL_C: i32 = 130;

/// The process group that runs now; 0 where none does.
static RUNNING: AtomicI32 = AtomicI32::new(0);

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| Arc::new(AtomicBool::new(false)));

/// The process of another program of this terminal that takes Ctrl-C for itself; 0 where there is none.
static PAUSED_FOR: AtomicI32 = AtomicI32::new(0);

/// True once that one was asked to end.
static ENDED: AtomicBool = AtomicBool::new(false);

/// The signals that have a handler, a bit for each.
static HANDLED: AtomicU32 = AtomicU32::new(0);

/// As long as this lives, Ctrl-C does nothing here.
#[derive(Debug)]
pub(crate) struct Pause(());

impl Pause {
    /// True where the other program was asked to end, and this one with it.
    pub(crate) fn is_over(&self) -> bool {
        let Self(()) = self;
        ENDED.load(Ordering::SeqCst)
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        PAUSED_FOR.store(0, Ordering::SeqCst);
    }
}

/// Leaves Ctrl-C to another program of this terminal. What ends a program otherwise is passed on to that one, which has
/// the terminal to restore; once it has ended, so does this one.
pub(crate) fn pause(process: u32) -> Pause {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    ENDED.store(false, Ordering::SeqCst);
    PAUSED_FOR.store(i32::try_from(process).unwrap_or_default(), Ordering::SeqCst);
    // A command that only reads has no handlers yet. It needs none afterwards: showing its result is the last that
    // it does.
    listen(SIGINT);
    for signal in [SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)) {
        listen(signal);
    }
    Pause(())
}

/// Starts to notice the signals that ask a program to end: Ctrl-C, a closed terminal, `kill`. A second one
/// ends the process at once.
pub fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    // `nohup` has a closed terminal ignored, and so it stays.
    for signal in
        [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|&signal| !is_ignored(signal))
    {
        listen(signal);
    }
}

#[expect(unsafe_code, reason = "what runs must be ended within the handler of a second signal")]
fn listen(signal: i32) {
    if HANDLED.fetch_or(1 << signal, Ordering::SeqCst) >> signal & 1 == 1 {
        return;
    }
    let requested = REQUESTED.clone();
    let act = move || {
        let other = PAUSED_FOR.load(Ordering::SeqCst);
        if other > 0 {
            if signal != libc::SIGINT && signal != libc::SIGQUIT {
                let again = ENDED.swap(true, Ordering::SeqCst);
                // SAFETY: kill(2) takes integers and is async-signal-safe.
                unsafe { libc::kill(other, if again { libc::SIGKILL } else { libc::SIGTERM }) };
            }
            return;
        }
        if requested.swap(true, Ordering::SeqCst) {
            let group = RUNNING.load(Ordering::SeqCst);
            // SAFETY: kill(2) and _exit(2) take integers and are async-signal-safe.
            unsafe {
                if group > 1 {
                    libc::kill(-group, libc::SIGKILL);
                }
                libc::_exit(CTRL_C);
            }
        }
    };
    // SAFETY: the action touches nothing but atomics, and calls what is async-signal-safe.
    let _ = unsafe { signal_hook::low_level::register(signal, act) };
}

/// Names the process group that a second signal ends together with this process; `None` when it is gone.
pub fn end_with_us(leader: Option<u32>) {
    let group = leader.and_then(|pid| i32::try_from(pid).ok()).unwrap_or_default();
    RUNNING.store(group, Ordering::SeqCst);
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
