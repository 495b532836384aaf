//! The library that the CUDA driver loads into a surveyed program (`CUDA_INJECTION64_PATH`): it asks
//! CUPTI for activity records and writes the fields that the survey reads into one file per process.
//!
//! It is a guest. On any failure it leaves one line with the reason and does nothing more; it never ends,
//! serializes or prints anything, and keeps at most a few MiB.
//!
//! It has no standard library and is linked against nothing: the few functions of the C library that it
//! calls are those of the process, whatever its version or kind. `build/injection.rs` compiles it for the
//! target of adoprof itself.
//!
//! Asked for one launch instead (see [`capture`]), it copies that launch with the memory that it reaches to a file.
//! Asked to wait (see [`window`]), it does nothing until it is told to survey some seconds of a running process.
//!
//! The process is told where to write and which CUPTI to open by variables, see [`folder`] and [`cupti`].
//! The file's format stands in [`output`].

#![no_std]

mod activity;
mod arguments;
mod asked;
mod callers;
mod calls;
mod capture;
mod cupti;
mod names;
mod output;
mod sys;
mod window;

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use output::Output;

/// Where the files go; without it the library waits to be asked, see [`window`].
const FOLDER: &core::ffi::CStr = c"ADOPROF_SURVEY_DIR";

static STARTED: AtomicBool = AtomicBool::new(false);

/// The driver calls this while it initializes, once per process and perhaps once more for another copy of
/// the driver.
#[unsafe(no_mangle)]
pub extern "C" fn InitializeInjection() -> c_int {
    if STARTED.swap(true, Ordering::AcqRel) {
        return 1;
    }
    match sys::variable(FOLDER) {
        Some(_) if capture::is_asked_for() => {
            if let Err(reason) = asked::capture() {
                capture::refuse(reason);
            }
        }
        // Where there is no output, there is no place to say why.
        Some(folder) => {
            if let Some(output) = Output::open(folder)
                && let Err(reason) = asked::survey()
            {
                output.give_up(reason);
            }
        }
        None => window::wait(),
    }
    1
}

/// Nothing here panics; a build that could is found by a test that looks for this name in the library.
#[panic_handler]
fn adoprof_survey_panicked(_: &core::panic::PanicInfo) -> ! {
    sys::stop_forever(c"adoprof_survey_panicked")
}
