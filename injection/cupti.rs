//! CUPTI: its functions, and which of the libraries at hand is opened.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::sys::{self, Library};

/// Kinds of activity records.
pub mod kind {
    pub const MEMCPY: u32 = 1;
    pub const MEMSET: u32 = 2;
    pub const DRIVER: u32 = 4;
    pub const RUNTIME: u32 = 5;
    pub const DEVICE: u32 = 8;
    /// Traces kernels that run side by side; the plain kernel kind would serialize them.
    pub const CONCURRENT_KERNEL: u32 = 10;
    /// Copies between devices.
    pub const MEMCPY2: u32 = 22;
    pub const UNIFIED_MEMORY_COUNTER: u32 = 25;
    pub const SYNCHRONIZATION: u32 = 38;
    /// Allocations and releases, a record each.
    pub const MEMORY: u32 = 49;
    pub const JIT: u32 = 52;
}

/// The one library to open, for users who know better.
const CHOSEN: &CStr = c"ADOPROF_CUPTI";

/// Libraries to try in turn, separated by colons; adoprof looks them up.
const CANDIDATES: &CStr = c"ADOPROF_SURVEY_CUPTI";

/// Names that the loader may know, newest first.
const SONAMES: [&CStr; 3] = [c"libcupti.so.13", c"libcupti.so.12", c"libcupti.so.11.8"];

/// The API version of CUDA 11.8, the oldest whose records were looked at. From CUDA 13 on it is the
/// toolkit's version, such as 130000.
const OLDEST: u32 = 18;

/// Asks for a buffer.
pub type Requested = extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
/// Gives a buffer back with records in it.
pub type Completed = extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);
/// Called before and after functions, and at events.
pub type Callback = extern "C" fn(*mut c_void, u32, u32, *const u32);

/// Who hands out the buffers that CUPTI fills, and takes them back.
#[derive(Clone, Copy)]
pub struct Buffers {
    pub requested: Requested,
    pub completed: Completed,
}

/// CUPTI's functions, each returning 0 for success.
pub struct Cupti {
    version: unsafe extern "C" fn(*mut u32) -> c_int,
    timestamp: unsafe extern "C" fn(*mut u64) -> c_int,
    register: unsafe extern "C" fn(Requested, Completed) -> c_int,
    enable: unsafe extern "C" fn(u32) -> c_int,
    disable: unsafe extern "C" fn(u32) -> c_int,
    pub flush: unsafe extern "C" fn(u32) -> c_int,
    pub dropped: unsafe extern "C" fn(*mut c_void, u32, *mut usize) -> c_int,
    pub next_record: unsafe extern "C" fn(*mut u8, usize, *mut *mut u8) -> c_int,
    pub callback_name: unsafe extern "C" fn(u32, u32, *mut *const c_char) -> c_int,
    pub subscribe: unsafe extern "C" fn(*mut *mut c_void, Callback, *mut c_void) -> c_int,
    pub enable_callback: unsafe extern "C" fn(u32, *mut c_void, u32, u32) -> c_int,
    pub configure_managed: unsafe extern "C" fn(*const [u32; 4], u32) -> c_int,
    /// From CUDA 11.1 on.
    pub flush_period: Option<unsafe extern "C" fn(u32) -> c_int>,
    /// From CUDA 12.6 or so on: records of single functions.
    pub enable_driver: Option<unsafe extern "C" fn(u32, u8) -> c_int>,
    pub enable_runtime: Option<unsafe extern "C" fn(u32, u8) -> c_int>,
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
                disable: mem::transmute(function(c"cuptiActivityDisable")?),
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

    pub fn version(&self) -> u32 {
        let mut version = 0;
        // SAFETY: fills the place.
        unsafe { (self.version)(&raw mut version) };
        version
    }

    pub fn now_ns(&self) -> u64 {
        let mut now = 0;
        // SAFETY: fills the place.
        unsafe { (self.timestamp)(&raw mut now) };
        now
    }

    pub fn is_enabled(&self, kind: u32) -> bool {
        // SAFETY: takes a number.
        unsafe { (self.enable)(kind) == 0 }
    }

    /// No more records of a kind, which need not have been enabled.
    pub fn disable(&self, kind: u32) {
        // SAFETY: takes a number.
        unsafe { (self.disable)(kind) };
    }
}

/// Keeps CUPTI's functions and has kernels recorded. Where that fails the library stays loaded, because it
/// may have threads by then.
fn take(cupti: Cupti, buffers: Buffers) -> Result<&'static Cupti, &'static [u8]> {
    // The functions must outlive this one: memory that is never given back.
    let Some(place) = sys::memory(mem::size_of::<Cupti>()) else { return Err(b"no memory") };
    let place = place.cast::<Cupti>();
    // SAFETY: fresh memory, large enough and aligned to a page.
    unsafe { place.write(cupti) };
    FUNCTIONS.store(place, Ordering::Release);
    let Some(cupti) = Cupti::get() else { return Err(b"no memory") };
    record_kernels(cupti, buffers)?;
    Ok(cupti)
}

fn record_kernels(cupti: &Cupti, buffers: Buffers) -> Result<(), &'static [u8]> {
    // SAFETY: both functions are of the types that CUPTI calls.
    if unsafe { (cupti.register)(buffers.requested, buffers.completed) } != 0 {
        return Err(b"CUPTI takes no buffers: does the program profile itself?");
    }
    if cupti.is_enabled(kind::CONCURRENT_KERNEL) {
        return Ok(());
    }
    Err(b"CUPTI records no kernels here: it does not suit the driver, or another profiler runs")
}

/// The first library that opens, is new enough, and records kernels into these buffers.
pub fn open(buffers: Buffers) -> Result<&'static Cupti, &'static [u8]> {
    // Open since an earlier window.
    if let Some(cupti) = Cupti::get() {
        record_kernels(cupti, buffers)?;
        return Ok(cupti);
    }
    let mut reason: &'static [u8] = b"CUPTI (libcupti.so) was not found";
    let mut accept = |library: Option<Library>| {
        let library = library?;
        match Cupti::of(library) {
            Some(cupti) if cupti.version() >= OLDEST => {
                return take(cupti, buffers).map_err(|why| reason = why).ok();
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
