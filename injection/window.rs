//! A survey of a part of the process's life, asked for while it runs.
//!
//! A thread looks for `PID.request` in the folder that [`WAITS`] names. The request has a number of ms and, behind a
//! space, the folder for the records. Until one comes, CUPTI is not even opened.

use core::ffi::{CStr, c_void};
use core::ptr;

use crate::output::{Output, Path};
use crate::{asked, sys};

/// Where requests come; without it, and without a survey, the library does nothing.
const WAITS: &CStr = c"ADOPROF_SURVEY_WAIT";

/// The name of the thread that waits. Children that the process forks have the library but not the thread.
const THREAD: &CStr = c"adoprof-waits";

/// How often the thread looks for a request.
const LOOKS_EVERY_MS: u32 = 200;

/// The longest request: a number and a path.
const LONGEST: usize = 4096;

/// Waits for requests, where they may come.
pub fn wait() {
    if sys::variable(WAITS).is_some() {
        // Without threads nothing waits, and a request stays where it is.
        sys::start_thread(wait_for_ever);
    }
}

extern "C" fn wait_for_ever(_: *mut c_void) -> *mut c_void {
    let Some(folder) = sys::variable(WAITS) else { return ptr::null_mut() };
    sys::name_thread(THREAD);
    let place = Path::new(folder, sys::process(), 0, b".request");
    loop {
        sys::sleep_ms(LOOKS_EVERY_MS);
        let mut text = [0; LONGEST];
        let text = sys::read_file(place.as_c(), &mut text);
        if text.is_empty() {
            continue;
        }
        // Its disappearance says that it was taken.
        sys::remove_file(place.as_c());
        if let Some((ms, folder)) = parts(text) {
            record(ms, folder);
        }
    }
}

/// The number of ms and the folder of a request.
fn parts(text: &[u8]) -> Option<(u32, &[u8])> {
    let space = text.iter().position(|&byte| byte == b' ')?;
    let (number, folder) = text.split_at_checked(space)?;
    let ms = number.iter().try_fold(0_u32, |sum, &digit| {
        digit.is_ascii_digit().then(|| sum.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')))
    })?;
    Some((ms, folder.get(1..)?))
}

fn record(ms: u32, folder: &[u8]) {
    let Some(output) = Output::open(folder) else { return };
    if let Err(reason) = asked::window_begins() {
        output.give_up(reason);
        return;
    }
    let mut left = ms;
    // Who asked removes the records when nobody waits for them any more.
    while left > 0 && output.is_there() {
        let piece = left.min(LOOKS_EVERY_MS);
        sys::sleep_ms(piece);
        left -= piece;
    }
    asked::window_ends();
}
