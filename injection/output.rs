//! The file: a header and records, all integers little-endian.
//!
//! Header: the eight bytes of [`MAGIC`], the process's number and CUPTI's API version (u32 each), CUPTI's
//! time at the start (u64, ns). Each record begins with a u32: its [`Tag`] in the lowest byte, the length
//! of what follows in the others. Times are CUPTI's, in ns.
//!
//! It is written as `PID.part` and renamed to `PID.survey` when the process ends in an orderly way: a part
//! that stays tells of a process that did not, and is whole up to its last record but one. `PID.reason` has
//! the reason why there are no records.

use core::cell::UnsafeCell;
use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use crate::sys::{self, Lock};

/// How a file begins; the number is that of its format.
pub const MAGIC: &[u8; 8] = b"ADOSRV01";

/// What a record is.
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Tag {
    /// u64 number, then the text: a kernel's mangled name or a function's.
    Name = 1,
    /// u64 start, end, name; u32 device, context, stream, correlation, graph (0: none), grid x y z,
    /// block x y z, registers per thread, static and dynamic shared memory (bytes), local memory per
    /// thread (bytes).
    Kernel = 2,
    /// u64 start, end, bytes; u32 device, context, stream, correlation, graph; u8 direction, kind of
    /// memory of the source and of the destination, flags, all as CUPTI counts them.
    Copy = 3,
    /// u64 start, end, bytes; u32 device, context, stream, correlation, graph.
    Fill = 4,
    /// u64 start, end, name; u32 domain (1: driver, 2: runtime), thread, correlation, result.
    Call = 5,
    /// u64 start, end; u32 kind, context, stream, correlation.
    Synchronization = 6,
    /// u64 start, end, value, address; u32 counter, source, destination.
    Managed = 7,
    /// u64 start, end; u32 kind, operation, device.
    Compilation = 8,
    /// u64 name; u32 number, multiprocessors, compute capability major, minor; 16 bytes of its UUID; u64
    /// bytes of its memory, and what its memory moves at its peak, in kB/s.
    Device = 9,
    /// The words of the command line, each with a zero at its end.
    Command = 10,
    /// u64 time, records that CUPTI dropped; the process ended in an orderly way.
    End = 11,
    /// `NAME=VALUE` of a variable that may say which rank of several the process is.
    Rank = 12,
    /// u64 time, address, bytes; u32 device; u8 operation (1: allocated, 2: released), kind of memory, as
    /// CUPTI counts them.
    Memory = 13,
    /// u64 number; up to 16 frames, the innermost first, each u64 name of its file and u64 return address as the file
    /// counts addresses.
    Stack = 14,
    /// u32 correlation, calls for which it stands; u64 stack: who called a function.
    Caller = 15,
    /// u64 name of the file that the process runs.
    Executable = 16,
    /// u64 correlation; up to 16 words of a launch's parameters, u64 each, that may be addresses.
    Arguments = 17,
}

/// What `src/rank.rs` reads: the process's own environment, because a program may set it after its start.
const RANK_VARIABLES: [&CStr; 13] = [
    c"RANK",
    c"LOCAL_RANK",
    c"WORLD_SIZE",
    c"OMPI_COMM_WORLD_RANK",
    c"OMPI_COMM_WORLD_LOCAL_RANK",
    c"OMPI_COMM_WORLD_SIZE",
    c"PMIX_RANK",
    c"PMI_RANK",
    c"PMI_SIZE",
    c"MPI_LOCALRANKID",
    c"SLURM_PROCID",
    c"SLURM_LOCALID",
    c"SLURM_NTASKS",
];

/// A rank's number is no longer than this.
const LONGEST_NUMBER: usize = 20;
/// The longest name, the sign between, and the number.
const LONGEST_RANK: usize = 64;

const BUFFER: usize = 64 * 1024;
const LONGEST_PATH: usize = 4096;

struct State {
    buffer: [u8; BUFFER],
    used: usize,
    /// Where the file lies.
    folder: Path,
}

/// The one output of the process.
pub struct Output {
    /// -1 before it is opened, after it is closed, and once a write has failed.
    file: AtomicI32,
    /// The process that opened it: a fork's child has the same memory and must not write.
    process: AtomicU32,
    /// Tells files of processes with the same number apart.
    number: AtomicU32,
    lock: Lock,
    state: UnsafeCell<State>,
}

// SAFETY: the state is used only while the lock is held.
unsafe impl Sync for Output {}

static OUTPUT: Output = Output {
    file: AtomicI32::new(-1),
    process: AtomicU32::new(0),
    number: AtomicU32::new(0),
    lock: Lock::new(),
    state: UnsafeCell::new(State { buffer: [0; BUFFER], used: 0, folder: Path::EMPTY }),
};

/// A path that ends with a zero.
pub struct Path {
    bytes: [u8; LONGEST_PATH],
    length: usize,
}

impl Path {
    const EMPTY: Self = Self { bytes: [0; LONGEST_PATH], length: 0 };

    pub fn new(folder: &[u8], process: u32, number: u32, extension: &[u8]) -> Self {
        let mut path = Self::EMPTY;
        path.push(folder);
        path.push(b"/");
        path.push_number(process);
        if number > 0 {
            path.push(b"-");
            path.push_number(number);
        }
        path.push(extension);
        path
    }

    fn push(&mut self, bytes: &[u8]) {
        // The last byte stays zero; a path that is cut can't be opened, or is at worst a name of our own.
        for &byte in bytes {
            if self.length + 1 < LONGEST_PATH
                && let Some(place) = self.bytes.get_mut(self.length)
            {
                *place = byte;
                self.length += 1;
            }
        }
    }

    fn push_number(&mut self, number: u32) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        self.push(&[b'0' + (number % 10) as u8]);
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or(&[])
    }

    pub fn as_c(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }
}

impl Output {
    /// Makes the file of this process; `None` where that can't be done.
    pub fn open(folder: &[u8]) -> Option<&'static Self> {
        let output = &OUTPUT;
        let process = sys::process();
        output.process.store(process, Ordering::Relaxed);
        // A process number may have served before.
        for number in 0..100 {
            let path = Path::new(folder, process, number, b".part");
            if let Some(file) = sys::create(path.as_c()) {
                output.number.store(number, Ordering::Relaxed);
                output.keep_folder(folder);
                output.file.store(file, Ordering::Release);
                return Some(output);
            }
        }
        None
    }

    fn keep_folder(&self, folder: &[u8]) {
        let _held = self.lock.hold();
        // SAFETY: the lock is held, and no reference to the state leaves this function.
        let state = unsafe { &mut *self.state.get() };
        (state.used, state.folder.length) = (0, 0);
        state.folder.push(folder);
    }

    /// The output where this process may write.
    pub fn get() -> Option<&'static Self> {
        let ours = OUTPUT.process.load(Ordering::Relaxed) == sys::process();
        (ours && OUTPUT.file.load(Ordering::Acquire) >= 0).then_some(&OUTPUT)
    }

    pub fn header(&self, version: u32, start_ns: u64) {
        let mut header = [0; 24];
        let fields = MAGIC
            .iter()
            .copied()
            .chain(self.process.load(Ordering::Relaxed).to_le_bytes())
            .chain(version.to_le_bytes())
            .chain(start_ns.to_le_bytes());
        for (place, byte) in header.iter_mut().zip(fields) {
            *place = byte;
        }
        self.append(&[&header]);
        let mut words = [0; 4096];
        self.record(Tag::Command, &[sys::read_file(c"/proc/self/cmdline", &mut words)]);
        for name in RANK_VARIABLES {
            let Some(value) = sys::variable(name).filter(|value| value.len() <= LONGEST_NUMBER)
            else {
                continue;
            };
            let mut text = [0; LONGEST_RANK];
            let parts = name.to_bytes().iter().chain(b"=").chain(value);
            let length = text.iter_mut().zip(parts).map(|(place, &byte)| *place = byte).count();
            self.record(Tag::Rank, &[text.get(..length).unwrap_or(&[])]);
        }
    }

    /// Adds a record; its parts follow one another.
    pub fn record(&self, tag: Tag, parts: &[&[u8]]) {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let head = (tag as u32) | ((length as u32) << 8);
        let head = head.to_le_bytes();
        match *parts {
            [one] => self.append(&[&head, one]),
            [one, two] => self.append(&[&head, one, two]),
            _ => {}
        }
    }

    fn append(&self, parts: &[&[u8]]) {
        let _held = self.lock.hold();
        // SAFETY: the lock is held, and no reference to the state leaves this function.
        let state = unsafe { &mut *self.state.get() };
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length > BUFFER - state.used.min(BUFFER) {
            self.write(state);
        }
        for part in parts {
            for &byte in *part {
                if let Some(place) = state.buffer.get_mut(state.used) {
                    *place = byte;
                    state.used += 1;
                }
            }
        }
    }

    fn write(&self, state: &mut State) {
        let file = self.file.load(Ordering::Acquire);
        if file >= 0 && !sys::write_all(file, state.buffer.get(..state.used).unwrap_or(&[])) {
            // A full disk: what is there stays, and nothing more is tried.
            self.file.store(-1, Ordering::Release);
            sys::close_file(file);
        }
        state.used = 0;
    }

    /// Hands what was collected to the file.
    pub fn flush(&self) {
        let _held = self.lock.hold();
        // SAFETY: the lock is held, and no reference to the state leaves this function.
        self.write(unsafe { &mut *self.state.get() });
    }

    /// False once somebody has removed the file.
    pub fn is_there(&self) -> bool {
        let _held = self.lock.hold();
        // SAFETY: the lock is held, and no reference to the state leaves this function.
        let folder = unsafe { (*self.state.get()).folder.as_bytes() };
        sys::exists(self.path(folder, b".part").as_c())
    }

    /// Writes the rest and gives the file its name.
    pub fn finish(&self) {
        self.end(b".survey", None);
    }

    /// Leaves a line with the reason in place of records.
    pub fn give_up(&self, reason: &[u8]) {
        self.end(b".reason", Some(reason));
    }

    /// Closes the file, all under the lock: another thread's write must not reach a file that the program opens next.
    fn end(&self, extension: &[u8], reason: Option<&[u8]>) {
        let _held = self.lock.hold();
        // SAFETY: the lock is held, and no reference to the state leaves this function.
        let state = unsafe { &mut *self.state.get() };
        match reason {
            None => self.write(state),
            Some(reason) => {
                let file: c_int = self.file.load(Ordering::Acquire);
                if file >= 0 && sys::write_all(file, reason) {
                    sys::write_all(file, b"\n");
                }
            }
        }
        let file = self.file.swap(-1, Ordering::AcqRel);
        if file < 0 {
            return;
        }
        sys::close_file(file);
        let folder = state.folder.as_bytes();
        sys::move_file(self.path(folder, b".part").as_c(), self.path(folder, extension).as_c());
    }

    fn path(&self, folder: &[u8], extension: &[u8]) -> Path {
        let (process, number) =
            (self.process.load(Ordering::Relaxed), self.number.load(Ordering::Relaxed));
        Path::new(folder, process, number, extension)
    }
}

/// Fields of a record in a row.
pub struct Fields {
    bytes: [u8; 96],
    used: usize,
}

impl Fields {
    pub fn new() -> Self {
        Self { bytes: [0; 96], used: 0 }
    }

    pub fn u64(mut self, value: u64) -> Self {
        self.push(&value.to_le_bytes());
        self
    }

    pub fn u32(mut self, value: u32) -> Self {
        self.push(&value.to_le_bytes());
        self
    }

    pub fn u8(mut self, value: u8) -> Self {
        self.push(&[value]);
        self
    }

    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if let Some(place) = self.bytes.get_mut(self.used) {
                *place = byte;
                self.used += 1;
            }
        }
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.used).unwrap_or(&[])
    }
}
