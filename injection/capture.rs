//! One launch of a program copied to a file: the machine code, the parameters, the memory that they reach before and
//! after the launch.
//!
//! The process is told which launch by [`KERNEL`] and [`NTH`]. Once it is copied the process ends, unless
//! [`KEEP_RUNNING`] is set. Where it can't be copied, a sentence says why, and the program goes on.

pub mod driver;
mod file;
mod modules;
pub mod parameters;
mod reach;
mod symbols;

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_char, c_void};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::{calls, sys};
use driver::{Driver, Handle};
use file::{File, Tag};
use parameters::Launch;
use reach::{Range, Reach};

pub use file::refuse;

/// The kernel's name as the compiler spells it; without it nothing is captured.
const KERNEL: &CStr = c"ADOPROF_CAPTURE_KERNEL";
/// Which of its launches in a process, from 0.
const NTH: &CStr = c"ADOPROF_CAPTURE_NTH";
/// The most memory to copy, bytes.
const LIMIT: &CStr = c"ADOPROF_CAPTURE_LIMIT";
/// Set, the program goes on after the launch.
const KEEP_RUNNING: &CStr = c"ADOPROF_CAPTURE_KEEP_RUNNING";

/// CUPTI's number of the domain of resources.
pub const RESOURCE: u32 = 3;
/// Its number of a module that was loaded.
pub const MODULE_LOADED: u32 = 6;

/// CUPTI's numbers of `cuLaunchKernel`, `cuLaunchCooperativeKernel` and `cuLaunchKernelEx`, each with its `_ptsz`.
const PLAIN: [u32; 2] = [307, 442];
const COOPERATIVE: [u32; 2] = [477, 478];
const EXTENDED: [u32; 2] = [652, 653];
pub const LAUNCHES: [u32; 6] = [307, 442, 477, 478, 652, 653];

/// Bytes that are copied from the device at a time.
const PIECE: usize = 32 << 20;

/// Marks the launch between its beginning and its end.
const MARK: u64 = 0xad0b_40f0;

static SEEN: AtomicU64 = AtomicU64::new(0);
static CLAIMED: AtomicBool = AtomicBool::new(false);
static FILE: File = File::new();
static REACH: Reach = Reach::new();

/// What is kept from the launch's beginning to its end.
struct Kept(UnsafeCell<Option<(Driver, *mut u8)>>);

// SAFETY: only the thread that claimed the capture uses it.
unsafe impl Sync for Kept {}

static KEPT: Kept = Kept(UnsafeCell::new(None));

pub fn is_asked_for() -> bool {
    sys::variable(KERNEL).is_some()
}

/// CUPTI calls this when a module is loaded, and before and after every launch.
pub extern "C" fn called(_user: *mut c_void, domain: u32, number: u32, data: *const u32) {
    let Some(kernel) = sys::variable(KERNEL) else { return };
    if data.is_null() {
        return;
    }
    if domain == RESOURCE && number == MODULE_LOADED {
        // SAFETY: CUPTI's structure for resources, with a module's behind its third field.
        unsafe { modules::loaded(data, kernel) };
        return;
    }
    if domain != calls::DRIVER {
        return;
    }
    let call = Call(data.cast());
    // SAFETY: CUPTI's structure for function calls, of one of the functions above.
    unsafe {
        if call.is_after() {
            if call.is_marked() {
                after(call);
            }
        } else if call.is_of(kernel) && !CLAIMED.load(Ordering::Acquire) {
            before(call, number);
        }
    }
}

/// CUPTI's structure for a function call.
#[derive(Clone, Copy)]
struct Call(*const u8);

impl Call {
    /// # Safety
    /// Here and below: the structure is a call's, and its pointers are null or good.
    unsafe fn word(self, at: usize) -> *mut u8 {
        // SAFETY: the structure has a pointer there.
        unsafe { self.0.add(at).cast::<*mut u8>().read_unaligned() }
    }

    unsafe fn is_after(self) -> bool {
        // SAFETY: the first field.
        unsafe { self.0.cast::<u32>().read_unaligned() == 1 }
    }

    unsafe fn is_of(self, kernel: &[u8]) -> bool {
        // SAFETY: a name ends with a zero.
        unsafe {
            let name = self.word(32).cast_const().cast::<c_char>();
            !name.is_null() && CStr::from_ptr(name).to_bytes() == kernel
        }
    }

    unsafe fn arguments(self) -> *const u8 {
        // SAFETY: the third field.
        unsafe { self.word(16) }
    }

    unsafe fn failed(self) -> bool {
        // SAFETY: a launch returns a number.
        unsafe {
            let result = self.word(24).cast::<i32>();
            !result.is_null() && result.read_unaligned() != 0
        }
    }

    unsafe fn mark(self) {
        // SAFETY: CUPTI gives a place for 64 bits.
        unsafe {
            let place = self.word(56).cast::<u64>();
            if !place.is_null() {
                place.write_unaligned(MARK);
            }
        }
    }

    unsafe fn is_marked(self) -> bool {
        // SAFETY: as above.
        unsafe {
            let place = self.word(56).cast::<u64>();
            !place.is_null() && place.read_unaligned() == MARK && CLAIMED.load(Ordering::Acquire)
        }
    }
}

/// # Safety
/// `call` is one of a launch.
unsafe fn before(call: Call, number: u32) {
    // SAFETY: the arguments are those of this function.
    let Some(launch) = (unsafe { Launch::of(number, call.arguments()) }) else { return };
    let Some(driver) = Driver::open() else {
        if !CLAIMED.swap(true, Ordering::AcqRel) {
            refuse(b"the driver does not say which parameters a kernel has: capture needs a driver of CUDA 12.4 or later");
        }
        return;
    };
    let is_per_thread = [PLAIN[1], COOPERATIVE[1], EXTENDED[1]].contains(&number);
    if driver.is_capturing(launch.stream, is_per_thread) {
        // It is not run, and the survey that counted launches did not see it.
        return;
    }
    if SEEN.fetch_add(1, Ordering::AcqRel) != sys::number(NTH).unwrap_or(0)
        || CLAIMED.swap(true, Ordering::AcqRel)
    {
        return;
    }
    // SAFETY: the launch is the call's.
    match unsafe { copy_before(&driver, &launch) } {
        // SAFETY: as above; only this thread comes here.
        Ok(buffer) => unsafe {
            *KEPT.0.get() = Some((driver, buffer));
            call.mark();
        },
        Err(reason) => refuse(reason),
    }
}

const NO_ROOM: &[u8] = b"the file could not be written: is the disk full?";
const NO_MEMORY: &[u8] = b"the process has no memory left to copy with";

/// # Safety
/// The launch is one that is about to be made.
unsafe fn copy_before(driver: &Driver, launch: &Launch) -> Result<*mut u8, &'static [u8]> {
    if !driver.synchronize() {
        return Err(b"the device could not be waited for: another stream is being captured into a graph, or an earlier kernel failed");
    }
    let Some((function, module)) = driver.function(launch.function) else {
        return Err(b"the driver does not say which module the kernel is of");
    };
    driver.load(function);
    let Some(buffer) = sys::memory(PIECE).filter(|_| REACH.prepare()) else {
        return Err(NO_MEMORY);
    };
    if !FILE.open() {
        return Err(NO_ROOM);
    }
    // SAFETY: the launch is about to be made, so that its arguments are good.
    let written = unsafe {
        launch.write(driver, function, &FILE)
            && launch.write_parameters(driver, function, &FILE, |word| REACH.root(driver, word))
    };
    if !written {
        return Err(NO_ROOM);
    }
    if !modules::write(&FILE) {
        return Err(b"the kernel's machine code was not seen when it was loaded");
    }
    variables(driver, module)?;
    let limit = sys::number(LIMIT).unwrap_or(u64::MAX);
    let mut total = 0_u64;
    let mut at = 0;
    while let Some(range) = REACH.get(at) {
        total = total.saturating_add(range.size);
        if range.kind != driver::HOST && total > limit {
            return Err(b"the launch reaches more memory than the limit; allow more with --limit");
        }
        // SAFETY: the buffer has room for a piece.
        unsafe { copy(driver, at as u32, range, Tag::Before, buffer)? };
        at += 1;
    }
    Ok(buffer)
}

/// Writes the module's variables, which are reached as parameters are.
fn variables(driver: &Driver, module: Handle) -> Result<(), &'static [u8]> {
    let mut is_written = true;
    modules::each_variable(|name| {
        let Some((address, size)) = driver.global(module, name) else { return };
        let range =
            Range { start: address, size: size as u64, kind: 2, is_managed: false, level: 0 };
        let is_known =
            (0..REACH.count()).any(|at| REACH.get(at).is_some_and(|other| other.start == address));
        if is_known || !REACH.add(range) {
            return;
        }
        let fields = [address.to_le_bytes(), (size as u64).to_le_bytes()];
        let [address, size] = &fields;
        is_written &= FILE.record(Tag::Global, 0, &[address, size, name.to_bytes()]);
    });
    if is_written { Ok(()) } else { Err(NO_ROOM) }
}

/// Copies a stretch to the file, and follows what it points to where the launch is yet to come.
///
/// # Safety
/// `buffer` has room for a piece.
unsafe fn copy(
    driver: &Driver,
    number: u32,
    range: Range,
    tag: Tag,
    buffer: *mut u8,
) -> Result<(), &'static [u8]> {
    let is_before = matches!(tag, Tag::Before);
    if is_before {
        let fields = [
            range.start,
            range.size,
            u64::from(range.kind),
            u64::from(range.is_managed),
            u64::from(range.level),
        ];
        let [start, size, kind, managed, level] = &fields.map(u64::to_le_bytes);
        if !FILE.record(Tag::Range, number, &[start, size, kind, managed, level]) {
            return Err(NO_ROOM);
        }
    }
    // The host's own memory is named and not copied.
    if range.kind == driver::HOST {
        return Ok(());
    }
    if !FILE.head(tag, number, range.size) {
        return Err(NO_ROOM);
    }
    let mut done = 0;
    while done < range.size {
        let length = (range.size - done).min(PIECE as u64) as usize;
        // SAFETY: the buffer has room for a piece, and the piece is read before it is looked at.
        let piece = unsafe {
            if !driver.read(range.start + done, buffer, length) {
                return Err(b"memory that the launch reaches could not be read");
            }
            if is_before {
                REACH.scan(driver, buffer.cast(), length / 8, range.level);
            }
            &*ptr::slice_from_raw_parts(buffer, length)
        };
        if !FILE.write(piece) {
            return Err(NO_ROOM);
        }
        done += length as u64;
    }
    Ok(())
}

/// # Safety
/// `call` is the marked one.
unsafe fn after(call: Call) {
    // SAFETY: only the thread that marked the call comes here, once.
    let Some((driver, buffer)) = (unsafe { (*KEPT.0.get()).take() }) else { return };
    // SAFETY: as above.
    if unsafe { call.failed() } {
        return refuse(b"the program's launch was refused by the driver");
    }
    if !driver.synchronize() {
        return refuse(b"the kernel failed in the program, or waits for work that comes after it");
    }
    let mut at = 0;
    while let Some(range) = REACH.get(at) {
        // SAFETY: the buffer has room for a piece.
        if let Err(reason) = unsafe { copy(&driver, at as u32, range, Tag::After, buffer) } {
            return refuse(reason);
        }
        at += 1;
    }
    if !FILE.record(Tag::End, 0, &[&REACH.inner().to_le_bytes()]) {
        return refuse(NO_ROOM);
    }
    FILE.finish();
    if sys::variable(KEEP_RUNNING).is_none() {
        sys::leave();
    }
}
