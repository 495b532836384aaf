//! What CUPTI is asked for: records of all that happens for a survey, calls back at launches for a capture.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::cupti::{self, Buffers, Cupti, kind};
use crate::output::{Fields, Output, Tag};
use crate::{activity, calls, capture, sys};

/// Kinds of records to leave out, as CUPTI's numbers separated by commas: for measuring what each costs.
const WITHOUT: &CStr = c"ADOPROF_SURVEY_WITHOUT";

/// How often CUPTI hands over what is complete, in ms: what a killed process loses at most.
const FLUSH_EVERY_MS: u32 = 1000;

const BUFFERS: Buffers = Buffers { requested: activity::requested, completed: activity::completed };

/// Opens a CUPTI that works here and has it tell of modules and launches.
pub fn capture() -> Result<(), &'static [u8]> {
    let cupti = cupti::open(BUFFERS)?;
    let mut subscriber = ptr::null_mut();
    // SAFETY: fills the place; the callback is of CUPTI's type.
    if unsafe { (cupti.subscribe)(&raw mut subscriber, capture::called, ptr::null_mut()) } != 0 {
        return Err(b"CUPTI has a subscriber already: the program profiles itself");
    }
    let enable = |domain, number| {
        // SAFETY: takes numbers and the subscriber that CUPTI just gave.
        unsafe { (cupti.enable_callback)(1, subscriber, domain, number) == 0 }
    };
    if !enable(capture::RESOURCE, capture::MODULE_LOADED) {
        return Err(b"CUPTI does not tell of modules here");
    }
    for number in capture::LAUNCHES {
        enable(calls::DRIVER, number);
    }
    Ok(())
}

/// Opens a CUPTI that works here and asks it for records.
pub fn survey() -> Result<(), &'static [u8]> {
    let cupti = cupti::open(BUFFERS)?;
    let Some(output) = Output::get() else { return Err(b"no output") };
    output.header(cupti.version(), cupti.now_ns());
    for kind in [
        kind::DEVICE,
        kind::MEMCPY,
        kind::MEMCPY2,
        kind::MEMSET,
        kind::SYNCHRONIZATION,
        kind::MEMORY,
        kind::JIT,
    ] {
        if !is_left_out(kind) {
            // One that this version lacks is missed by nobody but its own findings.
            cupti.is_enabled(kind);
        }
    }
    enable_calls(cupti, kind::RUNTIME, calls::RUNTIME, cupti.enable_runtime);
    enable_calls(cupti, kind::DRIVER, calls::DRIVER, cupti.enable_driver);
    if let Some(period) = cupti.flush_period {
        // SAFETY: takes a number.
        unsafe { period(FLUSH_EVERY_MS) };
    }
    watch(cupti);
    sys::at_exit(at_exit);
    Ok(())
}

/// Records of the functions that matter; of all where this CUPTI can't choose.
fn enable_calls(
    cupti: &Cupti,
    kind: u32,
    domain: u32,
    single: Option<unsafe extern "C" fn(u32, u8) -> c_int>,
) {
    if is_left_out(kind) {
        return;
    }
    let Some(single) = single else {
        cupti.is_enabled(kind);
        return;
    };
    for number in 1..calls::MOST {
        if calls::wanted(cupti, domain, number).is_some() {
            // SAFETY: takes numbers, and this one has a name.
            unsafe { single(number, 1) };
        }
    }
}

fn is_left_out(kind: u32) -> bool {
    let number = |text: &[u8]| {
        text.iter().fold(0_u32, |sum, &digit| {
            sum.wrapping_mul(10).wrapping_add(u32::from(digit.wrapping_sub(b'0')))
        })
    };
    sys::variable(WITHOUT)
        .unwrap_or(&[])
        .split(|&byte| byte == b',')
        .any(|text| number(text) == kind)
}

/// Functions before which everything must be flushed, because a context ends with its records.
const ENDS: [&[u8]; 3] = [b"cudaDeviceReset", b"cuDevicePrimaryCtxReset", b"cuCtxDestroy"];

/// The function behind all managed memory. Its counters cost something in every kernel, so that they are
/// switched on only where there is some.
const MANAGED: &[u8] = b"cuMemAllocManaged";

static MANAGED_IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// Watches a few functions. A process has one watcher only: where the program has one itself, what is lost
/// is the end of a context's records and managed memory.
fn watch(cupti: &Cupti) {
    let mut subscriber = ptr::null_mut();
    // SAFETY: fills the place; the callback is of CUPTI's type.
    if unsafe { (cupti.subscribe)(&raw mut subscriber, called, ptr::null_mut()) } != 0 {
        return;
    }
    for domain in [calls::DRIVER, calls::RUNTIME] {
        for number in 1..calls::MOST {
            if watched(cupti, domain, number).is_some() {
                // SAFETY: the subscriber is ours, and the function has a name.
                unsafe { (cupti.enable_callback)(1, subscriber, domain, number) };
            }
        }
    }
}

enum Watched {
    End,
    Managed,
}

fn watched(cupti: &Cupti, domain: u32, number: u32) -> Option<Watched> {
    let name = calls::name(cupti, domain, number)?;
    // SAFETY: CUPTI's texts end with a zero and stay.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    if name.starts_with(MANAGED) {
        return Some(Watched::Managed);
    }
    ENDS.iter().any(|end| name.starts_with(end)).then_some(Watched::End)
}

/// CUPTI calls this before and after each watched function. `data` begins with the side: 0 before, 1 after.
extern "C" fn called(_user: *mut c_void, domain: u32, number: u32, data: *const u32) {
    let Some(cupti) = Cupti::get() else { return };
    if data.is_null() || Output::get().is_none() {
        return;
    }
    // SAFETY: not null, and the first field of CUPTI's structure for function calls.
    let is_after = unsafe { *data } == 1;
    match watched(cupti, domain, number) {
        // SAFETY: takes a number: 0 does not wait for what still runs.
        Some(Watched::End) if !is_after => drop(unsafe { (cupti.flush)(0) }),
        Some(Watched::Managed) if is_after && !MANAGED_IS_WATCHED.swap(true, Ordering::AcqRel) => {
            if is_left_out(kind::UNIFIED_MEMORY_COUNTER) {
                return;
            }
            // All devices (2), each counter: bytes to the device, to the host, faults of CPU and GPU.
            let counters = [1, 2, 3, 4].map(|counter| [2, counter, 0, 1]);
            // SAFETY: four structures of four u32 each, as CUPTI declares them.
            if unsafe { (cupti.configure_managed)(counters.as_ptr(), 4) } == 0 {
                cupti.is_enabled(kind::UNIFIED_MEMORY_COUNTER);
            }
        }
        _ => {}
    }
}

/// Writes what is left and closes the file.
extern "C" fn at_exit(_: *mut c_void) {
    // Not in a fork's child: CUPTI's state there is a copy of the parent's.
    let (Some(output), Some(cupti)) = (Output::get(), Cupti::get()) else { return };
    let mut dropped = 0;
    // SAFETY: 1 asks for everything, complete or not; the place is filled.
    unsafe {
        (cupti.flush)(1);
        (cupti.dropped)(ptr::null_mut(), 0, &raw mut dropped);
    }
    let fields = Fields::new().u64(cupti.now_ns()).u64(dropped as u64);
    output.record(Tag::End, &[fields.as_bytes()]);
    output.finish();
}
