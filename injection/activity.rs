//! Buffers for CUPTI, and the fields that are read from its records.
//!
//! The offsets were taken with `offsetof` from the headers of CUPTI 11.8, 12.0, 12.4, 12.9, 13.0 and 13.5:
//! they are the same in all of them (`Kernel8` to `Kernel13`, `Memcpy5` to `Memcpy7`, `MemcpyPtoP4`,
//! `Memset4` and `5`, `API`, `Synchronization` and `2`, `UnifiedMemoryCounter2` and `3`, `Jit` and `2`,
//! `Device4` to `6`, `Memory2` to `4`), because records only grow at their end.

use core::ffi::{c_char, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::cupti::{Cupti, kind};
use crate::output::{Fields, Output, Tag};
use crate::{calls, names, sys};

/// The size of a buffer: about 5,000 kernels. CUPTI recommends 1 to 10 MiB.
const SIZE: usize = 1 << 20;

/// Buffers that came back and may serve again.
static FREE: [AtomicPtr<u8>; 16] = [const { AtomicPtr::new(ptr::null_mut()) }; 16];

/// CUPTI asks for a buffer.
pub extern "C" fn requested(buffer: *mut *mut u8, size: *mut usize, most_records: *mut usize) {
    let free = FREE
        .iter()
        .map(|place| place.swap(ptr::null_mut(), Ordering::AcqRel))
        .find(|place| !place.is_null());
    let given = free.or_else(|| sys::memory(SIZE));
    // SAFETY: CUPTI hands three places to fill. A null buffer of size 0 tells it to drop records.
    unsafe {
        *buffer = given.unwrap_or(ptr::null_mut());
        *size = if given.is_some() { SIZE } else { 0 };
        *most_records = 0;
    }
}

/// CUPTI gives a buffer back with records in it.
pub extern "C" fn completed(
    _context: *mut c_void,
    _stream: u32,
    buffer: *mut u8,
    _size: usize,
    valid: usize,
) {
    if buffer.is_null() {
        return;
    }
    if let (Some(output), Some(cupti)) = (Output::get(), Cupti::get()) {
        let mut record: *mut u8 = ptr::null_mut();
        // SAFETY: the buffer is one of ours with `valid` bytes of records; CUPTI moves `record` from one
        // to the next and fails behind the last.
        while unsafe { (cupti.next_record)(buffer, valid, &raw mut record) } == 0
            && !record.is_null()
        {
            // SAFETY: CUPTI vouches for a record there, of a kind that was enabled.
            unsafe { translate(output, cupti, Record(record)) };
        }
        // A program that is killed leaves what came so far.
        output.flush();
    }
    for place in &FREE {
        let empty = ptr::null_mut();
        if place.compare_exchange(empty, buffer, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return;
        }
    }
    // More than 16 buffers are free: this one's pages are the program's end's to give back. That many are
    // in flight only while the GPU is far ahead of CUPTI's own thread.
}

/// A record of CUPTI's.
#[derive(Clone, Copy)]
struct Record(*const u8);

impl Record {
    /// # Safety
    /// The record's kind has a field of this size there.
    unsafe fn u64(self, at: usize) -> u64 {
        // SAFETY: within the record, as the caller vouches.
        unsafe { self.0.add(at).cast::<u64>().read_unaligned() }
    }

    /// # Safety
    /// As [`Self::u64`].
    unsafe fn u32(self, at: usize) -> u32 {
        // SAFETY: as above.
        unsafe { self.0.add(at).cast::<u32>().read_unaligned() }
    }

    /// # Safety
    /// As [`Self::u64`].
    unsafe fn u16(self, at: usize) -> u16 {
        // SAFETY: as above.
        unsafe { self.0.add(at).cast::<u16>().read_unaligned() }
    }

    /// # Safety
    /// As [`Self::u64`].
    unsafe fn u8(self, at: usize) -> u8 {
        // SAFETY: as above.
        unsafe { *self.0.add(at) }
    }

    /// # Safety
    /// As [`Self::u64`].
    unsafe fn text(self, at: usize) -> *const c_char {
        // SAFETY: as above.
        unsafe { self.0.add(at).cast::<*const c_char>().read_unaligned() }
    }
}

/// Writes what the survey wants of a record.
///
/// # Safety
/// `record` is one that CUPTI gave.
unsafe fn translate(output: &Output, cupti: &Cupti, record: Record) {
    // SAFETY: the offsets are those of the record's kind in every version that `cupti::open` accepts.
    // Texts end with a zero or are null.
    unsafe {
        match record.u32(0) {
            kind::CONCURRENT_KERNEL => kernel(output, record),
            kind::MEMCPY => copy(output, record, record.u32(44), record.u32(72)),
            kind::MEMCPY2 => copy(output, record, record.u32(60), 0),
            kind::MEMSET => {
                let fields = span(record, 16).u64(record.u64(8));
                let fields = place(fields, record, 32).u32(record.u32(44)).u32(record.u32(72));
                output.record(Tag::Fill, &[fields.as_bytes()]);
            }
            kind @ (kind::DRIVER | kind::RUNTIME) => {
                let domain = if kind == kind::DRIVER { calls::DRIVER } else { calls::RUNTIME };
                let Some(name) = calls::wanted(cupti, domain, record.u32(4)) else { return };
                let fields = span(record, 8).u64(names::number(output, name)).u32(domain);
                let fields = fields.u32(record.u32(28)).u32(record.u32(32)).u32(record.u32(36));
                output.record(Tag::Call, &[fields.as_bytes()]);
            }
            kind::SYNCHRONIZATION => {
                let fields = span(record, 8).u32(record.u32(4)).u32(record.u32(28));
                let fields = fields.u32(record.u32(32)).u32(record.u32(24));
                output.record(Tag::Synchronization, &[fields.as_bytes()]);
            }
            kind::MEMORY => {
                let fields = Fields::new().u64(record.u64(32)).u64(record.u64(16));
                let fields = fields.u64(record.u64(24)).u32(record.u32(52));
                // Both are as wide as an int and have a few values only.
                let fields = fields.u8(record.u8(4)).u8(record.u8(8));
                output.record(Tag::Memory, &[fields.as_bytes()]);
            }
            kind::UNIFIED_MEMORY_COUNTER => {
                let fields = span(record, 16).u64(record.u64(8)).u64(record.u64(32));
                let fields = fields.u32(record.u32(4)).u32(record.u32(40)).u32(record.u32(44));
                output.record(Tag::Managed, &[fields.as_bytes()]);
            }
            kind::JIT => {
                let fields = span(record, 16).u32(record.u32(4)).u32(record.u32(8));
                output.record(Tag::Compilation, &[fields.u32(record.u32(12)).as_bytes()]);
            }
            kind::DEVICE => {
                let name = names::number(output, record.text(136));
                let fields = Fields::new().u64(name).u32(record.u32(112)).u32(record.u32(44));
                let fields = fields.u32(record.u32(104)).u32(record.u32(108));
                let fields = fields.u64(record.u64(120)).u64(record.u64(128)).u64(record.u64(16));
                let fields = fields.u64(record.u64(8));
                output.record(Tag::Device, &[fields.as_bytes()]);
            }
            _ => {}
        }
    }
}

/// Start and end, which follow one another.
///
/// # Safety
/// As [`Record::u64`].
unsafe fn span(record: Record, at: usize) -> Fields {
    // SAFETY: the caller vouches for both fields.
    unsafe { Fields::new().u64(record.u64(at)).u64(record.u64(at + 8)) }
}

/// Device, context and stream, which follow one another.
///
/// # Safety
/// As [`Record::u64`].
unsafe fn place(fields: Fields, record: Record, at: usize) -> Fields {
    // SAFETY: the caller vouches for the three fields.
    unsafe { fields.u32(record.u32(at)).u32(record.u32(at + 4)).u32(record.u32(at + 8)) }
}

/// # Safety
/// `record` is a kernel's.
unsafe fn kernel(output: &Output, record: Record) {
    // SAFETY: as in `translate`.
    unsafe {
        let fields = span(record, 16).u64(names::number(output, record.text(104)));
        let mut fields = place(fields, record, 40).u32(record.u32(92)).u32(record.u32(156));
        // Grid and block, three each.
        for at in [52, 56, 60, 64, 68, 72] {
            fields = fields.u32(record.u32(at));
        }
        let fields = fields.u32(u32::from(record.u16(6))).u32(record.u32(76));
        let fields = fields.u32(record.u32(80)).u32(record.u32(84));
        output.record(Tag::Kernel, &[fields.as_bytes()]);
    }
}

/// # Safety
/// `record` is a copy's.
unsafe fn copy(output: &Output, record: Record, correlation: u32, graph: u32) {
    // SAFETY: as in `translate`.
    unsafe {
        let fields = span(record, 16).u64(record.u64(8));
        let fields = place(fields, record, 32).u32(correlation).u32(graph);
        let fields = fields.u8(record.u8(4)).u8(record.u8(5)).u8(record.u8(6)).u8(record.u8(7));
        output.record(Tag::Copy, &[fields.as_bytes()]);
    }
}
