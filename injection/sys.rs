//! What is asked of the process's C library.

use core::ffi::{CStr, c_char, c_int, c_long, c_void};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, Ordering};

unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
    fn getpid() -> c_int;
    fn _exit(code: c_int) -> !;
    fn sched_yield() -> c_int;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn read(file: c_int, into: *mut c_void, length: usize) -> isize;
    fn write(file: c_int, from: *const c_void, length: usize) -> isize;
    fn close(file: c_int) -> c_int;
    fn unlink(path: *const c_char) -> c_int;
    fn access(path: *const c_char, mode: c_int) -> c_int;
    fn prctl(option: c_int, ...) -> c_int;
    fn usleep(microseconds: u32) -> c_int;
    fn sigfillset(signals: *mut Signals) -> c_int;
    fn rename(from: *const c_char, to: *const c_char) -> c_int;
    fn mmap(
        at: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: c_long,
    ) -> *mut c_void;
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(library: *mut c_void) -> c_int;
    fn readlink(path: *const c_char, into: *mut c_char, length: usize) -> isize;
    fn dl_iterate_phdr(
        look: extern "C" fn(*const LoadedFile, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn __cxa_atexit(
        function: extern "C" fn(*mut c_void),
        argument: *mut c_void,
        library: *mut c_void,
    ) -> c_int;
}

// Linux's values, the same on x86-64 and 64-bit Arm.
const O_WRONLY: c_int = 1;
const O_CREAT: c_int = 0o100;
const O_EXCL: c_int = 0o200;
const O_CLOEXEC: c_int = 0o2_000_000;
const PROT_READ_WRITE: c_int = 3;
const MAP_PRIVATE_ANONYMOUS: c_int = 0x22;
const PR_SET_NAME: c_int = 15;
const RTLD_NOW: c_int = 2;
const RTLD_NOLOAD: c_int = 4;

/// The value of a variable; `None` where it is unset or empty.
pub fn variable(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: the name ends with a zero; the value does too and stays as long as nobody changes the
    // variable, which is ours.
    let value = unsafe {
        let value = getenv(name.as_ptr());
        if value.is_null() {
            return None;
        }
        CStr::from_ptr(value)
    };
    Some(value.to_bytes()).filter(|value| !value.is_empty())
}

/// The value of a variable that is a whole number.
pub fn number(name: &CStr) -> Option<u64> {
    let digit = |digit: &u8| digit.is_ascii_digit().then(|| u64::from(digit - b'0'));
    variable(name)?
        .iter()
        .try_fold(0_u64, |sum, byte| Some(sum.wrapping_mul(10).wrapping_add(digit(byte)?)))
}

pub fn process() -> u32 {
    // SAFETY: takes nothing and can't fail.
    unsafe { getpid() as u32 }
}

/// Makes a new file, never one that exists.
pub fn create(path: &CStr) -> Option<c_int> {
    // SAFETY: the path ends with a zero; the mode is the third argument that O_CREAT asks for.
    let file =
        unsafe { open(path.as_ptr(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644 as c_int) };
    (file >= 0).then_some(file)
}

/// The beginning of a file.
pub fn read_file<'a>(path: &CStr, into: &'a mut [u8]) -> &'a [u8] {
    // SAFETY: the path ends with a zero; `read` writes at most the buffer's length into it.
    let length = unsafe {
        let file = open(path.as_ptr(), O_CLOEXEC);
        if file < 0 {
            return &[];
        }
        let length = read(file, into.as_mut_ptr().cast(), into.len());
        close(file);
        length
    };
    into.get(..usize::try_from(length).unwrap_or(0)).unwrap_or(&[])
}

/// Where a symbolic link leads; empty where that can't be read or is longer than the buffer.
pub fn read_link<'a>(path: &CStr, into: &'a mut [u8]) -> &'a [u8] {
    // SAFETY: the path ends with a zero; `readlink` writes at most the buffer's length into it.
    let length = unsafe { readlink(path.as_ptr(), into.as_mut_ptr().cast(), into.len()) };
    let length = usize::try_from(length).unwrap_or(0);
    if length < into.len() { into.get(..length).unwrap_or(&[]) } else { &[] }
}

/// Writes all of it; false where that fails, as on a full disk.
pub fn write_all(file: c_int, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: reads at most the slice's length from it.
        let written = unsafe { write(file, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(written).ok().and_then(|written| bytes.get(written..)) {
            Some(rest) if written > 0 => bytes = rest,
            _ => return false,
        }
    }
    true
}

pub fn close_file(file: c_int) {
    // SAFETY: the file is ours and nobody uses it any more.
    unsafe { close(file) };
}

/// True where something has this path.
pub fn exists(path: &CStr) -> bool {
    // SAFETY: the path ends with a zero; F_OK is 0.
    unsafe { access(path.as_ptr(), 0) == 0 }
}

/// Gives the present thread a name, of which the system keeps 15 bytes.
pub fn name_thread(name: &CStr) {
    // SAFETY: the option reads one text that ends with a zero.
    unsafe { prctl(PR_SET_NAME, name.as_ptr()) };
}

pub fn remove_file(path: &CStr) {
    // SAFETY: the path ends with a zero.
    unsafe { unlink(path.as_ptr()) };
}

/// Lets this thread sleep; less than a second.
pub fn sleep_ms(ms: u32) {
    // SAFETY: takes a number.
    unsafe { usleep(ms.saturating_mul(1000)) };
}

pub fn move_file(from: &CStr, to: &CStr) {
    // SAFETY: both paths end with a zero.
    unsafe { rename(from.as_ptr(), to.as_ptr()) };
}

/// Memory full of zeros, for as long as the process lives; aligned to a page.
pub fn memory(length: usize) -> Option<*mut u8> {
    // SAFETY: asks for fresh memory at no given place.
    let at =
        unsafe { mmap(ptr::null_mut(), length, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0) };
    // mmap's failure is -1.
    (at.addr() != usize::MAX).then_some(at.cast())
}

/// A library that was opened.
#[derive(Clone, Copy)]
pub struct Library(*mut c_void);

impl Library {
    pub fn open(path: &CStr) -> Option<Self> {
        // SAFETY: the path ends with a zero; what the library does when it is loaded is CUPTI's matter.
        let library = unsafe { dlopen(path.as_ptr(), RTLD_NOW) };
        (!library.is_null()).then_some(Self(library))
    }

    /// One that the process has loaded already.
    pub fn loaded(name: &CStr) -> Option<Self> {
        // SAFETY: as above; loads nothing.
        let library = unsafe { dlopen(name.as_ptr(), RTLD_NOW | RTLD_NOLOAD) };
        (!library.is_null()).then_some(Self(library))
    }

    pub fn function(self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the library is open and the name ends with a zero.
        let function = unsafe { dlsym(self.0, name.as_ptr()) };
        NonNull::new(function)
    }

    pub fn close(self) {
        // SAFETY: the library is open; nothing of it was kept.
        unsafe { dlclose(self.0) };
    }
}

/// A file of code that the process has loaded, as the loader describes it (`struct dl_phdr_info`).
#[repr(C)]
pub struct LoadedFile {
    /// What is added to the file's addresses.
    bias: usize,
    name: *const c_char,
    segments: *const Segment,
    segment_count: u16,
}

/// A part of a file that is loaded as a whole (`Elf64_Phdr`).
#[repr(C)]
struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    physical_address: u64,
    bytes_in_file: u64,
    bytes: u64,
    alignment: u64,
}

const PT_LOAD: u32 = 1;

impl LoadedFile {
    /// The file's name with a zero at its end: empty for the program itself, perhaps null.
    pub fn name(&self) -> *const c_char {
        self.name
    }

    /// An address of the process as the file counts it; `None` where it lies elsewhere.
    pub fn address_in_file(&self, address: usize) -> Option<usize> {
        (0..usize::from(self.segment_count)).find_map(|number| {
            // SAFETY: the loader vouches for so many segments.
            let segment = unsafe { &*self.segments.add(number) };
            let in_file = address.wrapping_sub(self.bias);
            let from_start = (in_file as u64).wrapping_sub(segment.address);
            (segment.kind == PT_LOAD && from_start < segment.bytes).then_some(in_file)
        })
    }
}

/// Looks at each file of code that the process has loaded.
pub fn each_loaded_file<F: FnMut(&LoadedFile)>(mut look: F) {
    extern "C" fn one<F: FnMut(&LoadedFile)>(
        file: *const LoadedFile,
        _: usize,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader hands a description that is valid during the call, and the closure that was given to it.
        unsafe {
            if let (Some(file), Some(look)) = (file.as_ref(), data.cast::<F>().as_mut()) {
                look(file);
            }
        }
        0
    }
    // SAFETY: the closure outlives the call, which alone uses it.
    unsafe { dl_iterate_phdr(one::<F>, (&raw mut look).cast()) };
}

/// Calls a function when the process ends by `exit` or by returning from `main`.
pub fn at_exit(function: extern "C" fn(*mut c_void)) -> bool {
    // SAFETY: the function takes no notice of its argument; this library is never unloaded, so that it
    // need not be named.
    unsafe { __cxa_atexit(function, ptr::null_mut(), ptr::null_mut()) == 0 }
}

/// Ends the process at once, without what it has set up for its end.
pub fn leave() -> ! {
    // SAFETY: takes a number and does not return.
    unsafe { _exit(0) }
}

/// Stops this thread, never the process.
pub fn stop_forever(reason: &CStr) -> ! {
    loop {
        // The name stays in the library as long as anything can come here.
        core::hint::black_box(reason);
        // SAFETY: takes nothing.
        unsafe { sched_yield() };
    }
}

/// Lets one thread in at a time. It is held for as long as a few writes take.
pub struct Lock(AtomicBool);

impl Lock {
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    pub fn hold(&self) -> Held<'_> {
        while self.0.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            // SAFETY: takes nothing.
            unsafe { sched_yield() };
        }
        Held(self)
    }
}

pub struct Held<'a>(&'a Lock);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::Release);
    }
}

/// A set of signals: 128 bytes with glibc and with musl.
type Signals = [u64; 16];

/// `SIG_SETMASK` of Linux.
const SET_MASK: c_int = 2;

type SetMask = unsafe extern "C" fn(c_int, *const Signals, *mut Signals) -> c_int;
type Start = unsafe extern "C" fn(
    *mut usize,
    *const c_void,
    extern "C" fn(*mut c_void) -> *mut c_void,
    *mut c_void,
) -> c_int;

/// Starts a thread that no signal of the program's reaches; false where there are no threads. Both functions are looked
/// up, because older C libraries have them in a library of their own.
pub fn start_thread(function: extern "C" fn(*mut c_void) -> *mut c_void) -> bool {
    // What `RTLD_DEFAULT` means: wherever the program has them.
    let everywhere = Library(ptr::null_mut());
    let (Some(start), Some(set_mask)) =
        (everywhere.function(c"pthread_create"), everywhere.function(c"pthread_sigmask"))
    else {
        return false;
    };
    let (mut all, mut before, mut thread): (Signals, Signals, usize) = ([0; 16], [0; 16], 0);
    // SAFETY: both are the functions of these names, with the types of the standard; a thread inherits its mask, and
    // the present one gets its own back.
    unsafe {
        let (start, set_mask): (Start, SetMask) =
            (core::mem::transmute(start), core::mem::transmute(set_mask));
        sigfillset(&raw mut all);
        set_mask(SET_MASK, &raw const all, &raw mut before);
        let started = start(&raw mut thread, ptr::null(), function, ptr::null_mut()) == 0;
        set_mask(SET_MASK, &raw const before, ptr::null_mut());
        started
    }
}
