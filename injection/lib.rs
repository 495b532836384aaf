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
//!
//! The process is told where to write and which CUPTI to open by variables, see [`folder`] and [`cupti`].
//! The file's format stands in [`output`].

#![no_std]

mod activity;
mod asked;
mod callers;
mod calls;
mod capture;
mod cupti;
mod names;
mod output;
mod sys;

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use output::Output;

/// Where the files go; without it the library does nothing.
const FOLDER: &core::ffi::CStr = c"ADOPROF_SURVEY_DIR";

static STARTED: AtomicBool = AtomicBool::new(false);

/// The driver calls this while it initializes, once per process and perhaps once more for another copy of
/// the driver.
#[unsafe(no_mangle)]
pub extern "C" fn InitializeInjection() -> c_int {
    if !STARTED.swap(true, Ordering::AcqRel)
        && let Some(folder) = sys::variable(FOLDER)
    {
        if capture::is_asked_for() {
            if let Err(reason) = asked::capture() {
                capture::refuse(reason);
            }
            return 1;
        }
        match Output::open(folder) {
            Some(output) => {
                if let Err(reason) = asked::survey() {
                    output.give_up(reason);
                }
            }
            // There is no place to say why.
            None => {}
        }
    }
    1
}

/// Nothing here panics; a build that could is found by a test that looks for this name in the library.
#[panic_handler]
fn adoprof_survey_panicked(_: &core::panic::PanicInfo) -> ! {
    sys::stop_forever(c"adoprof_survey_panicked")
}
