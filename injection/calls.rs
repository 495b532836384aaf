//! Which of CUDA's functions are worth a record: those that launch, copy, wait, allocate, load or build.
//! A program may ask a million times for the current device or the last error; that says nothing.

use core::ffi::{CStr, c_char};
use core::ptr;

use crate::cupti::Cupti;

/// CUPTI's numbers of the two interfaces.
pub const DRIVER: u32 = 1;
pub const RUNTIME: u32 = 2;

/// Functions per interface, with room: there were 823 and 518 in CUDA 13.5.
pub const MOST: u32 = 1536;

/// Parts of the names of functions that are recorded and whose callers are.
const WORK: [&[u8]; 7] =
    [b"Launch", b"Synchronize", b"Memcpy", b"Memset", b"Malloc", b"Alloc", b"Free"];

/// Parts of the names of functions that are recorded alone: they prepare the process.
const PREPARATION: [&[u8]; 5] = [
    b"ModuleLoad",
    b"LibraryLoad",
    b"Link",
    b"CtxCreate",
    b"PrimaryCtxRetain",
];

/// Parts of the names of functions that are not, though they have one of those.
const BUT: [&[u8]; 3] = [b"GetAttribute", b"Node", b"HostFunc"];

/// The name of a function that is recorded.
pub fn wanted(cupti: &Cupti, domain: u32, number: u32) -> Option<*const c_char> {
    let name = name(cupti, domain, number)?;
    // SAFETY: CUPTI's texts end with a zero and stay.
    let text = unsafe { CStr::from_ptr(name) }.to_bytes();
    let has = |part: &&[u8]| contains(text, part);
    let is_recorded = PREPARATION.iter().any(has) && !BUT.iter().any(has) || is_work(text);
    is_recorded.then_some(name)
}

/// True for a function that launches, copies, waits, or allocates.
pub fn is_work(name: &[u8]) -> bool {
    let has = |part: &&[u8]| contains(name, part);
    WORK.iter().any(has) && !BUT.iter().any(has)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len().max(1)).any(|window| window == part)
}

/// The function's name as CUPTI has it, such as `cudaMalloc_v3020`.
pub fn name(cupti: &Cupti, domain: u32, number: u32) -> Option<*const c_char> {
    let mut name: *const c_char = ptr::null();
    // SAFETY: fills the place with a text of CUPTI's own or fails.
    let result = unsafe { (cupti.callback_name)(domain, number, &raw mut name) };
    (result == 0 && !name.is_null()).then_some(name)
}
