//! CUPTI: opened at run time, asked for records, and flushed when the process ends.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::activity::{self, kind};
use crate::calls;
use crate::capture;
use crate::output::{Fields, Output, Tag};
use crate::sys::{self, Library};

/// The one library to open, for users who know better.
const CHOSEN: &CStr = c"ADOPROF_CUPTI";

/// Libraries to try in turn, separated by colons; adoprof looks them up.
const CANDIDATES: &CStr = c"ADOPROF_SURVEY_CUPTI";

/// Kinds of records to leave out, as CUPTI's numbers separated by commas: for measuring what each costs.
const WITHOUT: &CStr = c"ADOPROF_SURVEY_WITHOUT";

/// Names that the loader may know, newest first.
const SONAMES: [&CStr; 3] = [c"libcupti.so.13", c"libcupti.so.12", c"libcupti.so.11.8"];

/// The API version of CUDA 11.8, the oldest whose records were looked at. From CUDA 13 on it is the
/// toolkit's version, such as 130000.
const OLDEST: u32 = 18;

/// How often CUPTI hands over what is complete, in ms: what a killed process loses at most.
const FLUSH_EVERY_MS: u32 = 1000;

type Requested = extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
type Completed = extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);
type Callback = extern "C" fn(*mut c_void, u32, u32, *const u32);

/// CUPTI's functions, each returning 0 for success.
pub struct Cupti {
    version: unsafe extern "C" fn(*mut u32) -> c_int,
    timestamp: unsafe extern "C" fn(*mut u64) -> c_int,
    register: unsafe extern "C" fn(Requested, Completed) -> c_int,
    enable: unsafe extern "C" fn(u32) -> c_int,
    flush: unsafe extern "C" fn(u32) -> c_int,
    dropped: unsafe extern "C" fn(*mut c_void, u32, *mut usize) -> c_int,
    pub next_record: unsafe extern "C" fn(*mut u8, usize, *mut *mut u8) -> c_int,
    pub callback_name: unsafe extern "C" fn(u32, u32, *mut *const c_char) -> c_int,
    subscribe: unsafe extern "C" fn(*mut *mut c_void, Callback, *mut c_void) -> c_int,
    enable_callback: unsafe extern "C" fn(u32, *mut c_void, u32, u32) -> c_int,
    configure_managed: unsafe extern "C" fn(*const [u32; 4], u32) -> c_int,
    /// From CUDA 11.1 on.
    flush_period: Option<unsafe extern "C" fn(u32) -> c_int>,
    /// From CUDA 12.6 or so on: records of single functions.
    enable_driver: Option<unsafe extern "C" fn(u32, u8) -> c_int>,
    enable_runtime: Option<unsafe extern "C" fn(u32, u8) -> c_int>,
}

static FUNCTIONS: AtomicPtr<Cupti> = AtomicPtr::new(ptr::null_mut());

impl Cupti {
    /// CUPTI, once it was opened.
    pub fn get() -> Option<&'static Self> {
        // SAFETY: null or what `start` put there, which stays for ever.
        unsafe { FUNCTIONS.load(Ordering::Acquire).as_ref() }
    }

    fn of(library: Library) -> Option<Self> {
        let function = |name: &CStr| library.function(name);
        // SAFETY: each is the function of that name in CUPTI's headers, which have kept its type since
        // CUDA 11; a pointer to it is as large as `*mut c_void`.
        unsafe {
            Some(Self {
                version: mem::transmute(function(c"cuptiGetVersion")?),
                timestamp: mem::transmute(function(c"cuptiGetTimestamp")?),
                register: mem::transmute(function(c"cuptiActivityRegisterCallbacks")?),
                enable: mem::transmute(function(c"cuptiActivityEnable")?),
                flush: mem::transmute(function(c"cuptiActivityFlushAll")?),
                dropped: mem::transmute(function(c"cuptiActivityGetNumDroppedRecords")?),
                next_record: mem::transmute(function(c"cuptiActivityGetNextRecord")?),
                callback_name: mem::transmute(function(c"cuptiGetCallbackName")?),
                subscribe: mem::transmute(function(c"cuptiSubscribe")?),
                enable_callback: mem::transmute(function(c"cuptiEnableCallback")?),
                configure_managed: mem::transmute(function(
                    c"cuptiActivityConfigureUnifiedMemoryCounter",
                )?),
                flush_period: mem::transmute(function(c"cuptiActivityFlushPeriod")),
                enable_driver: mem::transmute(function(c"cuptiActivityEnableDriverApi")),
                enable_runtime: mem::transmute(function(c"cuptiActivityEnableRuntimeApi")),
            })
        }
    }

    fn version(&self) -> u32 {
        let mut version = 0;
        // SAFETY: fills the place.
        unsafe { (self.version)(&raw mut version) };
        version
    }

    fn now_ns(&self) -> u64 {
        let mut now = 0;
        // SAFETY: fills the place.
        unsafe { (self.timestamp)(&raw mut now) };
        now
    }

    fn is_enabled(&self, kind: u32) -> bool {
        // SAFETY: takes a number.
        unsafe { (self.enable)(kind) == 0 }
    }
}

/// Opens a CUPTI that works here and asks it for records.
pub fn start() -> Result<(), &'static [u8]> {
    let cupti = open()?;
    let Some(output) = Output::get() else { return Err(b"no output") };
    output.header(cupti.version(), cupti.now_ns());
    for kind in
        [kind::DEVICE, kind::MEMCPY, kind::MEMCPY2, kind::MEMSET, kind::SYNCHRONIZATION, kind::JIT]
    {
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

/// Opens a CUPTI that works here and has it tell of modules and launches.
pub fn start_capture() -> Result<(), &'static [u8]> {
    let cupti = open()?;
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

/// Keeps CUPTI's functions and has kernels recorded. Where that fails the library stays loaded, because it
/// may have threads by then.
fn take(cupti: Cupti) -> Result<&'static Cupti, &'static [u8]> {
    // The functions must outlive this one: memory that is never given back.
    let Some(place) = sys::memory(mem::size_of::<Cupti>()) else { return Err(b"no memory") };
    let place = place.cast::<Cupti>();
    // SAFETY: fresh memory, large enough and aligned to a page.
    unsafe { place.write(cupti) };
    FUNCTIONS.store(place, Ordering::Release);
    let Some(cupti) = Cupti::get() else { return Err(b"no memory") };
    // SAFETY: both functions are of the types that CUPTI calls.
    if unsafe { (cupti.register)(activity::requested, activity::completed) } != 0 {
        return Err(b"CUPTI takes no buffers: does the program profile itself?");
    }
    if !cupti.is_enabled(kind::CONCURRENT_KERNEL) {
        return Err(
            b"CUPTI records no kernels here: it does not suit the driver, or another profiler runs",
        );
    }
    Ok(cupti)
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

/// The first library that opens, is new enough, and records kernels.
fn open() -> Result<&'static Cupti, &'static [u8]> {
    let mut reason: &'static [u8] = b"CUPTI (libcupti.so) was not found";
    let mut accept = |library: Option<Library>| {
        let library = library?;
        match Cupti::of(library) {
            Some(cupti) if cupti.version() >= OLDEST => {
                return take(cupti).map_err(|why| reason = why).ok();
            }
            _ => reason = b"CUPTI is older than CUDA 11.8",
        }
        library.close();
        None
    };
    if let Some(chosen) = sys::variable(CHOSEN) {
        let library = open_path(chosen);
        if library.is_none() {
            return Err(b"the library that ADOPROF_CUPTI names does not open");
        }
        return match accept(library) {
            Some(found) => Ok(found),
            None => Err(reason),
        };
    }
    // One that the program has loaded is the only one that sees everything.
    for name in SONAMES {
        if let Some(found) = accept(Library::loaded(name)) {
            return Ok(found);
        }
    }
    for path in sys::variable(CANDIDATES).unwrap_or(&[]).split(|&byte| byte == b':') {
        if let Some(found) = accept(open_path(path)) {
            return Ok(found);
        }
    }
    for name in SONAMES {
        if let Some(found) = accept(Library::open(name)) {
            return Ok(found);
        }
    }
    Err(reason)
}

fn open_path(path: &[u8]) -> Option<Library> {
    let mut with_zero = [0; 4096];
    if path.is_empty() || path.len() >= with_zero.len() {
        return None;
    }
    for (place, &byte) in with_zero.iter_mut().zip(path) {
        *place = byte;
    }
    Library::open(CStr::from_bytes_until_nul(&with_zero).ok()?)
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
