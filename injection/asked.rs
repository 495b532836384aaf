//! What CUPTI is asked for: records of all that happens for a survey, calls back at launches for a capture.

use core::ffi::{CStr, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use crate::cupti::{self, Buffers, Cupti, kind};
use crate::output::{Fields, Output, Tag};
use crate::{activity, arguments, callers, calls, capture, names, sys};

/// Kinds of records to leave out, as CUPTI's numbers separated by commas, [`callers::KIND`], and
/// [`arguments::KIND`]: for measuring what each costs.
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

/// Kinds of records beside kernels and calls. One that a version of CUPTI lacks is missed by nobody but its own
/// findings.
const KINDS: [u32; 7] = [
    kind::DEVICE,
    kind::MEMCPY,
    kind::MEMCPY2,
    kind::MEMSET,
    kind::SYNCHRONIZATION,
    kind::MEMORY,
    kind::JIT,
];

/// Opens a CUPTI that works here and asks it for records of all that the process does.
pub fn survey() -> Result<(), &'static [u8]> {
    let cupti = cupti::open(BUFFERS)?;
    let Some(output) = Output::get() else { return Err(b"no output") };
    output.header(cupti.version(), cupti.now_ns());
    for kind in KINDS {
        if !is_left_out(kind) {
            cupti.is_enabled(kind);
        }
    }
    enable_calls(cupti, kind::RUNTIME, calls::RUNTIME, cupti.enable_runtime);
    enable_calls(cupti, kind::DRIVER, calls::DRIVER, cupti.enable_driver);
    flush_every(cupti, FLUSH_EVERY_MS);
    watch(cupti, output);
    sys::at_exit(at_exit);
    Ok(())
}

/// What a window records: only what the device does. The program may be in the midst of a call, and CUPTI does not bear
/// that: where a window had records of calls, 4 of 14 PyTorch programs ended with SIGSEGV as it began, and where CUPTI was
/// detached at its end (`cuptiFinalize`), 2 of 4 with CUDA graphs failed (PyTorch 2.11, CUPTI 13.0, H200).
const OF_DEVICE: [u32; 4] = [kind::DEVICE, kind::MEMCPY, kind::MEMCPY2, kind::MEMSET];

static ENDS_IN_ORDER: AtomicBool = AtomicBool::new(false);

/// Asks for records of what the device does from now until [`window_ends`].
pub fn window_begins() -> Result<(), &'static [u8]> {
    names::forget();
    let cupti = cupti::open(BUFFERS)?;
    let Some(output) = Output::get() else { return Err(b"no output") };
    output.header(cupti.version(), cupti.now_ns());
    for kind in OF_DEVICE {
        cupti.is_enabled(kind);
    }
    flush_every(cupti, FLUSH_EVERY_MS);
    if !ENDS_IN_ORDER.swap(true, Ordering::AcqRel) {
        sys::at_exit(at_exit);
    }
    Ok(())
}

/// Has CUPTI record nothing any more, and closes the file.
pub fn window_ends() {
    let Some(cupti) = Cupti::get() else { return };
    for kind in OF_DEVICE.into_iter().chain([kind::CONCURRENT_KERNEL]) {
        cupti.disable(kind);
    }
    flush_every(cupti, 0);
    close();
}

/// Has CUPTI hand over what is complete this often; 0 for never.
fn flush_every(cupti: &Cupti, ms: u32) {
    if let Some(period) = cupti.flush_period {
        // SAFETY: takes a number.
        unsafe { period(ms) };
    }
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

/// Watches functions. A process has one watcher only: where the program has one itself, what is lost
/// is the end of a context's records, managed memory, and callers.
fn watch(cupti: &Cupti, output: &Output) {
    let mut subscriber = ptr::null_mut();
    // SAFETY: fills the place; the callback is of CUPTI's type.
    if unsafe { (cupti.subscribe)(&raw mut subscriber, called, ptr::null_mut()) } != 0 {
        return;
    }
    let with_callers = !is_left_out(callers::KIND) && callers::prepare(output);
    for domain in [calls::DRIVER, calls::RUNTIME] {
        for number in 1..calls::MOST {
            let roles = roles(cupti, domain, number, with_callers);
            if let Some(place) = of_function(&ROLES, domain, number)
                && roles != 0
            {
                place.store(roles, Ordering::Relaxed);
                // SAFETY: the subscriber is ours, and the function has a name.
                unsafe { (cupti.enable_callback)(1, subscriber, domain, number) };
            }
        }
    }
}

/// What a function is watched for, as bits.
const END: u8 = 1;
const TAKES_MANAGED: u8 = 2;
const CALLER: u8 = 4;
const ARGUMENTS: u8 = 8;

/// Something about each function of both interfaces.
type PerFunction<T> = [[T; calls::MOST as usize]; 2];

/// What each function is watched for: names are compared once and not at each of a million calls.
static ROLES: PerFunction<AtomicU8> =
    [const { [const { AtomicU8::new(0) }; calls::MOST as usize] }; 2];

/// How often each function was called whose callers are recorded.
static COUNTS: PerFunction<AtomicU32> =
    [const { [const { AtomicU32::new(0) }; calls::MOST as usize] }; 2];

fn of_function<T>(table: &'static PerFunction<T>, domain: u32, number: u32) -> Option<&'static T> {
    table.get(domain.checked_sub(1)? as usize)?.get(number as usize)
}

fn roles(cupti: &Cupti, domain: u32, number: u32, with_callers: bool) -> u8 {
    let Some(name) = calls::name(cupti, domain, number) else { return 0 };
    // SAFETY: CUPTI's texts end with a zero and stay.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let role = |has: bool, bit: u8| if has { bit } else { 0 };
    let launches = domain == calls::DRIVER && capture::LAUNCHES.contains(&number);
    role(launches && !is_left_out(arguments::KIND), ARGUMENTS)
        | role(ENDS.iter().any(|end| name.starts_with(end)), END)
        | role(name.starts_with(MANAGED), TAKES_MANAGED)
        | role(with_callers && calls::is_work(name), CALLER)
}

/// Where in CUPTI's structure for function calls the call's correlation stands: 64 bytes in, in the headers of
/// CUPTI 11.8, 12.0, 12.4, 12.9, 13.0 and 13.5.
const CORRELATION: usize = 64;

/// Where the pointer to the function's own arguments stands, in all of them.
const OF_CALL: usize = 16;

/// CUPTI calls this before and after each watched function. `data` begins with the side: 0 before, 1 after.
extern "C" fn called(_user: *mut c_void, domain: u32, number: u32, data: *const u32) {
    if data.is_null() {
        return;
    }
    // SAFETY: not null, and the first field of CUPTI's structure for function calls.
    let is_after = unsafe { *data } == 1;
    let roles =
        of_function(&ROLES, domain, number).map_or(0, |place| place.load(Ordering::Relaxed));
    let is_flushed = roles & END != 0 && !is_after;
    let is_managed = roles & TAKES_MANAGED != 0 && is_after;
    let stands_for = if roles & CALLER != 0 && !is_after {
        of_function(&COUNTS, domain, number)
            .and_then(|count| callers::stands_for(count.fetch_add(1, Ordering::Relaxed)))
    } else {
        None
    };
    let with_arguments = roles & ARGUMENTS != 0 && !is_after && arguments::is_wanted();
    // Most of a million calls are done here.
    if !is_flushed && !is_managed && !with_arguments && stands_for.is_none() {
        return;
    }
    let (Some(output), Some(cupti)) = (Output::get(), Cupti::get()) else { return };
    // SAFETY: CUPTI vouches for the structure; the field is aligned in it.
    let correlation = unsafe { *data.byte_add(CORRELATION) };
    if let Some(calls) = stands_for {
        callers::record(output, correlation, calls);
    }
    if with_arguments {
        // SAFETY: a launch's, which has not been made yet; the arguments are those of this function.
        unsafe {
            let of_call = data.byte_add(OF_CALL).cast::<*const u8>().read_unaligned();
            arguments::record(output, correlation, number, of_call);
        }
    }
    if is_flushed {
        // SAFETY: takes a number: 0 does not wait for what still runs.
        unsafe { (cupti.flush)(0) };
    }
    if is_managed && !MANAGED_IS_WATCHED.swap(true, Ordering::AcqRel) {
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
}

extern "C" fn at_exit(_: *mut c_void) {
    close();
}

/// Writes what is left and closes the file.
fn close() {
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
