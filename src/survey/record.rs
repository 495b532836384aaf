//! What a process did, as CUPTI recorded it. Times are CUPTI's, in ns; only their differences mean
//! something, within one process.

use std::collections::{BTreeMap, HashMap};

use super::callers::Callers;
use super::memory::Memory;
pub use super::memory::kind as memory;
use crate::rank::Rank;

/// From when to when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// When it began, ns.
    pub start: u64,
    /// When it ended, ns.
    pub end: u64,
}

impl Span {
    /// How long it took, ns.
    #[must_use]
    pub fn ns(&self) -> f64 {
        self.end.saturating_sub(self.start) as f64
    }
}

/// One process of the program.
#[derive(Debug, Clone, Default)]
pub struct Process {
    /// Its number.
    pub id: u32,
    /// The API version of the CUPTI that recorded it.
    pub cupti_version: u32,
    /// When it began to use CUDA, ns.
    pub start: u64,
    /// When it ended, ns; `None` where it did not end in an orderly way, so that its last second may be
    /// missing.
    pub end: Option<u64>,
    /// Records that CUPTI lost.
    pub dropped: u64,
    /// Kernels, copies, and fills of which the records have no times: they waited in their streams when the records ended.
    pub unfinished: u64,
    /// Its command line.
    pub command: Vec<String>,
    /// Kinds of launches; [`Kernel::shape`] points here.
    pub shapes: Vec<Shape>,
    /// Kernels in the order in which they were launched.
    pub kernels: Vec<Kernel>,
    /// Copies.
    pub copies: Vec<Copy>,
    /// Fills (`cudaMemset`).
    pub fills: Vec<Fill>,
    /// Calls of CUDA's functions, those that launch, copy, wait, allocate, load or build.
    pub calls: Vec<Call>,
    /// What the calls' functions are called; [`Call::function`] points here.
    pub functions: Vec<String>,
    /// Waits of the host, and of streams for events.
    pub waits: Vec<Wait>,
    /// What managed memory did.
    pub migrations: Vec<Migration>,
    /// Code compiled or loaded from the cache at run time.
    pub compilations: Vec<Compilation>,
    /// The words among the parameters of launches that may be addresses, by the launch's correlation.
    pub arguments: HashMap<u32, Vec<Argument>>,
    /// Who made its calls, of some of them.
    pub callers: Callers,
    /// How much memory it had allocated, over time.
    pub memory: Memory,
    /// Which rank of the program it is, where its launcher says so.
    pub rank: Option<Rank>,
    /// The devices by number.
    pub devices: BTreeMap<u32, Device>,
}

impl Process {
    /// All spans in which a device worked.
    pub fn device_spans(&self) -> impl Iterator<Item = Span> + '_ {
        let kernels = self.kernels.iter().map(|kernel| kernel.span);
        let copies = self.copies.iter().map(|copy| copy.span);
        kernels.chain(copies).chain(self.fills.iter().map(|fill| fill.span))
    }

    pub(super) fn device_spans_mut(&mut self) -> impl Iterator<Item = &mut Span> + '_ {
        let kernels = self.kernels.iter_mut().map(|kernel| &mut kernel.span);
        let copies = self.copies.iter_mut().map(|copy| &mut copy.span);
        kernels.chain(copies).chain(self.fills.iter_mut().map(|fill| &mut fill.span))
    }

    /// Keeps what the device did between the records' start and their end, of work that crosses one of them the part
    /// within.
    pub(super) fn clip(&mut self) {
        let (start, end) = (self.start, self.end.unwrap_or(u64::MAX));
        self.leave_out(|span| span.end < start || span.start > end);
        for span in self.device_spans_mut() {
            *span = Span { start: span.start.max(start), end: span.end.min(end) };
        }
    }

    /// Leaves out what the device did in such spans; how many pieces of work that are.
    pub(super) fn leave_out(&mut self, is_out: impl Fn(&Span) -> bool) -> u64 {
        let before = self.device_spans().count();
        self.kernels.retain(|kernel| !is_out(&kernel.span));
        self.copies.retain(|copy| !is_out(&copy.span));
        self.fills.retain(|fill| !is_out(&fill.span));
        (before - self.device_spans().count()) as u64
    }
}

/// A word of a launch's parameters that may be an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// Which parameter it is of, counted from 0.
    pub parameter: u32,
    /// Where it stands among the bytes of all parameters.
    pub offset: u32,
    /// The word.
    pub word: u64,
}

/// All that launches of one kind have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// The kernel's name as the compiler spells it (mangled).
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Registers per thread.
    pub registers: u32,
    /// Static shared memory per block, bytes.
    pub static_shared: u32,
    /// Dynamic shared memory per block, bytes.
    pub dynamic_shared: u32,
    /// Local memory per thread, bytes.
    pub local: u32,
}

/// Where on a device something ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The device's number.
    pub device: u32,
    /// The context's number.
    pub context: u32,
    /// The stream's number.
    pub stream: u32,
    /// Ties what a device does to the [`Call`] that asked for it.
    pub correlation: u32,
    /// The graph that it belongs to; 0 for none.
    pub graph: u32,
}

/// A kernel that ran.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// When.
    pub span: Span,
    /// Where.
    pub place: Place,
    /// Index into [`Process::shapes`].
    pub shape: u32,
}

/// A copy.
#[derive(Debug, Clone, Copy)]
pub struct Copy {
    /// When.
    pub span: Span,
    /// Where.
    pub place: Place,
    /// How much, bytes.
    pub bytes: u64,
    /// From where to where, as CUPTI counts: 1 host to device, 2 device to host, 8 within a device, 10
    /// between devices.
    pub direction: u8,
    /// The [`memory`] that it reads.
    pub source: u8,
    /// The [`memory`] that it writes.
    pub destination: u8,
    /// True where the call did not wait for it.
    pub is_asynchronous: bool,
}

/// A fill.
#[derive(Debug, Clone, Copy)]
pub struct Fill {
    /// When.
    pub span: Span,
    /// Where.
    pub place: Place,
    /// How much, bytes.
    pub bytes: u64,
}

/// A call of one of CUDA's functions.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// From its beginning to its return, on the host.
    pub span: Span,
    /// Index into [`Process::functions`].
    pub function: u32,
    /// True for the driver's interface, false for the runtime's.
    pub is_driver: bool,
    /// The thread.
    pub thread: u32,
    /// Ties it to what the device did.
    pub correlation: u32,
    /// What it returned; 0 is success.
    pub result: u32,
}

/// A wait.
#[derive(Debug, Clone, Copy)]
pub struct Wait {
    /// When.
    pub span: Span,
    /// As CUPTI counts: 1 the host for an event, 2 a stream for an event, 3 the host for a stream, 4 the
    /// host for a context.
    pub kind: u32,
    /// The context's number.
    pub context: u32,
    /// The stream's number.
    pub stream: u32,
    /// Ties it to its [`Call`].
    pub correlation: u32,
}

/// Something that managed memory did.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// When.
    pub span: Span,
    /// Bytes moved, or faults.
    pub value: u64,
    /// As CUPTI counts: 1 bytes to the device, 2 bytes to the host, 3 faults of the CPU, 4 faults of the
    /// GPU.
    pub counter: u32,
}

/// Code that was compiled at run time.
#[derive(Debug, Clone, Copy)]
pub struct Compilation {
    /// When.
    pub span: Span,
    /// As CUPTI counts: 1 loaded from the cache, 2 stored there, 3 compiled.
    pub operation: u32,
}

/// A device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// How many multiprocessors it has.
    pub multiprocessors: u32,
    /// Compute capability, major and minor.
    pub capability: [u32; 2],
    /// Its UUID as NVIDIA's tools print it.
    pub uuid: Option<String>,
    /// Its memory, bytes; 0 where that was not recorded.
    pub memory_bytes: u64,
    /// What its memory moves at its peak, bytes per second; 0 where that was not recorded.
    pub memory_bytes_per_s: u64,
}
