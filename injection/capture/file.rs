//! The file of a capture, all integers little-endian.
//!
//! It begins with the eight bytes of [`MAGIC`]. Each record is a u32, its [`Tag`]; a u32, a number that goes with
//! it; a u64, the length of what follows; and that. It is written as `PID.capturing` and renamed to `PID.captured`
//! when it is whole. `PID.refused` has the sentence that says why a launch could not be captured.

use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicI32, Ordering};

use crate::output::Path;
use crate::sys;

/// How a file begins; the number is that of its format.
const MAGIC: &[u8; 8] = b"ADOCAP01";

/// What a record is.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Tag {
    /// 18 u32: grid x y z, block x y z, dynamic shared memory (bytes), 1 for a cooperative launch, the driver's
    /// version, and of the function: registers, static shared memory, the most dynamic shared memory, the preferred
    /// carve-out, cluster x y z, 1 where clusters of any size are allowed, the policy of cluster scheduling; then a
    /// u64: bytes of a thread's stack.
    Launch = 1,
    /// An attribute of the launch; its number is `CUlaunchAttributeID`'s. 64 bytes: its value.
    Attribute = 2,
    /// A parameter by its place; u64 offset, then its bytes.
    Parameter = 3,
    /// A module that has a kernel of this name, as machine code; the last ones were loaded last.
    Cubin = 4,
    /// A variable of the module; u64 address, u64 size, then its name.
    Global = 5,
    /// A stretch of memory by its number; u64 address, size, kind (`CUmemorytype`), 1 for managed memory, and how
    /// many pointers were followed to it.
    Range = 6,
    /// What a stretch held before the launch.
    Before = 7,
    /// What it holds after it.
    After = 8,
    /// u64: how many words of the memory point into it. The file is whole.
    End = 9,
}

/// The file, -1 before it is opened and once a write has failed.
pub struct File(AtomicI32);

impl File {
    pub const fn new() -> Self {
        Self(AtomicI32::new(-1))
    }

    pub fn open(&self) -> bool {
        let Some(file) = with_path(b".capturing", sys::create) else { return false };
        self.0.store(file, Ordering::Release);
        self.write(MAGIC)
    }

    /// Begins a record whose parts follow.
    pub fn head(&self, tag: Tag, number: u32, length: u64) -> bool {
        self.write(&(tag as u32).to_le_bytes())
            && self.write(&number.to_le_bytes())
            && self.write(&length.to_le_bytes())
    }

    /// Writes a whole record.
    pub fn record(&self, tag: Tag, number: u32, parts: &[&[u8]]) -> bool {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        self.head(tag, number, length as u64) && parts.iter().all(|part| self.write(part))
    }

    pub fn write(&self, bytes: &[u8]) -> bool {
        let file: c_int = self.0.load(Ordering::Acquire);
        file >= 0 && sys::write_all(file, bytes)
    }

    /// Gives the file its name.
    pub fn finish(&self) {
        let file = self.0.swap(-1, Ordering::AcqRel);
        if file >= 0 {
            sys::close_file(file);
        }
        with_path(b".capturing", |from| with_path(b".captured", |to| sys::move_file(from, to)));
    }
}

/// Leaves a sentence in place of a capture.
pub fn refuse(reason: &[u8]) {
    if let Some(file) = with_path(b".refused", sys::create) {
        sys::write_all(file, reason);
        sys::close_file(file);
    }
}

fn with_path<T: Default>(extension: &[u8], work: impl FnOnce(&CStr) -> T) -> T {
    let Some(folder) = sys::variable(crate::FOLDER) else { return T::default() };
    work(Path::new(folder, sys::process(), 0, extension).as_c())
}
