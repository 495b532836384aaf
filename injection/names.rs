//! Names, each written once: a record names it by a number that follows from its text.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicU64, Ordering};

use crate::output::{Output, Tag};

/// Longer names are cut; C++ makes names of tens of thousands of characters.
const LONGEST: usize = 32 * 1024;

/// Places for names that were written. Once it is full a name may be written again, which does no harm.
const PLACES: usize = 1 << 14;

static WRITTEN: [AtomicU64; PLACES] = [const { AtomicU64::new(0) }; PLACES];

/// The number of a name, which is written where it is new; 0 for none.
///
/// # Safety
/// `name` is null or ends with a zero.
pub unsafe fn number(output: &Output, name: *const c_char) -> u64 {
    if name.is_null() {
        return 0;
    }
    // SAFETY: not null, and the caller vouches for the zero.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let name = name.get(..LONGEST).unwrap_or(name);
    let number = hash(name);
    if is_new(number) {
        output.record(Tag::Name, &[&number.to_le_bytes(), name]);
    }
    number
}

/// FNV-1a of 64 bits; never 0.
fn hash(name: &[u8]) -> u64 {
    let hash = name.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.max(1)
}

/// True where nothing was written under the number; from then on something was.
pub fn is_new(number: u64) -> bool {
    let first = number as usize % PLACES;
    for step in 0..64 {
        let Some(place) = WRITTEN.get((first + step) % PLACES) else { return true };
        match place.compare_exchange(0, number, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return true,
            Err(there) if there == number => return false,
            Err(_) => {}
        }
    }
    true
}

/// Names are written again from now on, into another file.
pub fn forget() {
    for place in &WRITTEN {
        place.store(0, Ordering::Release);
    }
}
