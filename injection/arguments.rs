//! What a launch is given: the words of its parameters that may be addresses in a device's memory, and which parameters they are.
//!
//! Launches that follow one another over the same memory could be one. Which parameters a kernel has the driver says from CUDA
//! 12.4 on; with an older one nothing is written.

use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::capture::driver::Driver;
use crate::capture::parameters::Launch;
use crate::output::{Output, Tag};

/// What leaves these records out, among the kinds of CUPTI's, of which it is none.
pub const KIND: u32 = 1001;

/// So many launches are looked at, the first ones: at most 8 MB.
const MOST_LAUNCHES: u32 = 16_384;

/// Words of a launch that are written, each behind where it stands: the number of its parameter, and its offset among the bytes
/// of all, 32 bits each.
const MOST_WORDS: usize = 32;

/// Addresses of a device's memory lie between these: above what 32 bits count, and within what a pointer can hold.
const LEAST_ADDRESS: u64 = 1 << 32;
const BEYOND_ADDRESSES: u64 = 1 << 57;

static LAUNCHES: AtomicU32 = AtomicU32::new(0);

/// True as long as launches are looked at.
pub fn is_wanted() -> bool {
    LAUNCHES.load(Ordering::Relaxed) < MOST_LAUNCHES
}

/// Writes a launch's words.
///
/// # Safety
/// `arguments` are those of the driver's function with this number, which is about to launch.
pub unsafe fn record(output: &Output, correlation: u32, number: u32, arguments: *const u8) {
    LAUNCHES.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the arguments are those of this function.
    let Some(launch) = (unsafe { Launch::of(number, arguments) }) else { return };
    let Some(driver) = Driver::kept() else { return };
    let Some((function, _)) = driver.function(launch.function) else { return };
    let mut words = [[0_u64; 2]; MOST_WORDS];
    let mut used = 0;
    // SAFETY: the launch is about to be made.
    unsafe {
        launch.each_parameter(driver, function, |number, offset, bytes| {
            for (word, within) in bytes.chunks_exact(8).zip((0_usize..).step_by(8)) {
                let word = word.try_into().map_or(0, u64::from_le_bytes);
                if !(LEAST_ADDRESS..BEYOND_ADDRESSES).contains(&word) {
                    continue;
                }
                if let Some(place) = words.get_mut(used) {
                    *place = [(number as u64) << 32 | (offset + within) as u64, word];
                    used += 1;
                }
            }
            used < MOST_WORDS
        });
    }
    let written = words.get(..used).unwrap_or(&[]);
    // SAFETY: integers are bytes, in the order in which this machine and the file have them.
    let bytes = unsafe {
        &*ptr::slice_from_raw_parts(written.as_ptr().cast::<u8>(), core::mem::size_of_val(written))
    };
    output.record(Tag::Arguments, &[&u64::from(correlation).to_le_bytes(), bytes]);
}
