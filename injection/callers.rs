//! Who calls the functions that a survey may blame: the return addresses on the stack of some of the calls.
//!
//! The C library unwinds the stack (`backtrace`); where there is none of that name, as in musl, callers stay unknown.
//! What this costs is bounded: of a function's calls ever fewer are looked at, a stack that was seen before is a number,
//! and no more than [`MOST_STACKS`] are written. In the tests' program, whose stacks are some ten frames deep, a call that
//! is looked at costs 3 to 5 µs, and a loop of a million calls 15 to 25 ms.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::names;
use crate::output::{Output, Tag};
use crate::sys::{self, Library};

/// What leaves callers out, among the kinds of CUPTI's records, of which it is none.
pub const KIND: u32 = 1000;

/// So many of a function's first calls are looked at, all of them.
const FIRST: u32 = 256;
/// Then every 16th, up to this one.
const MANY: u32 = 16_384;
const OF_MANY: u32 = 16;
/// Then every 256th.
const OF_MORE: u32 = 256;

/// Frames that are unwound: those of CUPTI and of the driver come first.
const UNWOUND: usize = 32;
/// Frames that are written.
const WRITTEN: usize = 16;
/// Stacks that are written: 1 MB.
const MOST_STACKS: u32 = 4096;

/// Files whose frames every call has and nobody looks for, by how their names begin.
const BETWEEN: [&[u8]; 4] = [b"libadoprof_survey", b"libcupti", b"libcuda.so", b"linux-vdso"];

type Backtrace = unsafe extern "C" fn(*mut usize, c_int) -> c_int;

static BACKTRACE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static STACKS: AtomicU32 = AtomicU32::new(0);
static EXECUTABLE: AtomicU64 = AtomicU64::new(0);

/// Looks the unwinder up, and says which file the process runs; false where there is no unwinder.
pub fn prepare(output: &Output) -> bool {
    let Some(function) =
        Library::loaded(c"libc.so.6").and_then(|library| library.function(c"backtrace"))
    else {
        return false;
    };
    BACKTRACE.store(function.as_ptr(), Ordering::Release);
    // The first call loads the unwinder, which is nothing to do in the midst of a call.
    unwind(&mut [0; UNWOUND]);
    // The buffer's last byte stays zero.
    let mut path = [0; 4096];
    let most = path.len() - 1;
    sys::read_link(c"/proc/self/exe", path.get_mut(..most).unwrap_or(&mut []));
    // SAFETY: the path ends with a zero.
    let number = unsafe { names::number(output, path.as_ptr().cast::<c_char>()) };
    EXECUTABLE.store(number, Ordering::Release);
    output.record(Tag::Executable, &[&number.to_le_bytes()]);
    true
}

/// For how many calls one stands, by how many came before it; `None` where it is not looked at.
pub fn stands_for(before: u32) -> Option<u32> {
    let calls = match before {
        0..FIRST => 1,
        FIRST..MANY => OF_MANY,
        _ => OF_MORE,
    };
    (before % calls == 0).then_some(calls)
}

/// Writes who made this call.
pub fn record(output: &Output, correlation: u32, calls: u32) {
    let mut addresses = [0; UNWOUND];
    let addresses = unwind(&mut addresses);
    if addresses.is_empty() {
        return;
    }
    // A file that takes the place of one that was unloaded may be taken for it, which is rare and misleads nobody for
    // long.
    let stack = addresses.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &address| {
        (hash ^ address as u64).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
    });
    let stack = stack.max(1);
    if names::is_new(stack) {
        if STACKS.fetch_add(1, Ordering::Relaxed) >= MOST_STACKS {
            STACKS.store(MOST_STACKS, Ordering::Relaxed);
            return;
        }
        write_stack(output, stack, addresses);
    }
    let mut fields = [0; 16];
    let bytes = correlation.to_le_bytes().into_iter().chain(calls.to_le_bytes());
    copy(&mut fields, bytes.chain(stack.to_le_bytes()));
    output.record(Tag::Caller, &[&fields]);
}

fn unwind(into: &mut [usize; UNWOUND]) -> &[usize] {
    let function = BACKTRACE.load(Ordering::Acquire);
    if function.is_null() {
        return &[];
    }
    // SAFETY: it is the function of that name, and fills at most so many places with addresses.
    let count = unsafe {
        let backtrace: Backtrace = mem::transmute(function);
        backtrace(into.as_mut_ptr(), UNWOUND as c_int)
    };
    into.get(..usize::try_from(count).unwrap_or(0)).unwrap_or(&[])
}

/// A frame: the name of its file and the address there; 0 for none.
type Frame = (u64, u64);

fn write_stack(output: &Output, number: u64, addresses: &[usize]) {
    let mut frames: [Frame; UNWOUND] = [(0, 0); UNWOUND];
    sys::each_loaded_file(|file| {
        let mut name = None;
        for (frame, &address) in frames.iter_mut().zip(addresses) {
            if let Some(in_file) = file.address_in_file(address) {
                // Names are looked at for files of the stack alone, of hundreds.
                *frame = (*name.get_or_insert_with(|| file_name(output, file)), in_file as u64);
            }
        }
    });
    let mut bytes = [0; 8 + 16 * WRITTEN];
    let written = frames.into_iter().filter(|(file, _)| *file != 0).take(WRITTEN);
    let fields = written.flat_map(|(file, address)| [file, address]);
    let length =
        copy(&mut bytes, core::iter::once(number).chain(fields).flat_map(u64::to_le_bytes));
    output.record(Tag::Stack, &[bytes.get(..length).unwrap_or(&[])]);
}

/// The number of a file's name; 0 for one whose frames are left out.
fn file_name(output: &Output, file: &sys::LoadedFile) -> u64 {
    if file.name().is_null() {
        return 0;
    }
    // SAFETY: not null; the loader's names end with a zero.
    let name = unsafe { CStr::from_ptr(file.name()) }.to_bytes();
    if name.is_empty() {
        return EXECUTABLE.load(Ordering::Acquire);
    }
    let last = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    if BETWEEN.iter().any(|begin| last.starts_with(begin)) {
        return 0;
    }
    // SAFETY: as above.
    unsafe { names::number(output, file.name()) }
}

/// Copies bytes as far as there is room; gives how many.
fn copy(into: &mut [u8], bytes: impl Iterator<Item = u8>) -> usize {
    into.iter_mut().zip(bytes).map(|(place, byte)| *place = byte).count()
}
