//! The parts of the report's messages that adoprof reads.
//!
//! Only the fields named here are decoded; all others are skipped, which keeps the host, the user,
//! the command line and the environment out of memory, and newer fields harmless. Integers of any
//! width are declared as `u64` and text as bytes, since both read the same on the wire: a number
//! that grew, or a source file that is not UTF-8, then costs nothing.

use super::wire::{Field, fields};

/// What stands before a block's payload.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct BlockHeader {
    /// Source entries in the payload; they come first.
    #[prost(uint64, tag = "1")]
    pub sources: u64,
    /// Kernel results in the payload; they come second.
    #[prost(uint64, tag = "2")]
    pub results: u64,
    /// A piece of the session's description, decoded only where it is needed.
    #[prost(bytes = "vec", optional, tag = "3")]
    pub session: Option<Vec<u8>>,
    /// Strings that this block adds to the table.
    #[prost(message, optional, tag = "4")]
    pub strings: Option<StringTable>,
    /// Bytes of the payload.
    #[prost(uint64, tag = "5")]
    pub payload_size: u64,
    /// The process that launched what the block holds.
    #[prost(message, optional, tag = "6")]
    pub process: Option<Process>,
    /// Results of ranges.
    #[prost(uint64, tag = "7")]
    pub range_results: u64,
    /// Results of command lists.
    #[prost(uint64, tag = "8")]
    pub cmdlist_results: u64,
    /// Results of graphs.
    #[prost(uint64, tag = "9")]
    pub graph_results: u64,
}

/// A process, by its number alone.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Process {
    /// The system's number.
    #[prost(uint64, tag = "1")]
    pub id: u64,
}

/// Whether ncu held the clocks while it profiled.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ClockStatus {
    /// How they were to be held; 0 for not at all.
    #[prost(uint64, tag = "1")]
    pub requested: u64,
}

/// Strings to which metrics refer by number.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StringTable {
    /// In the order of their numbers.
    #[prost(bytes = "vec", repeated, tag = "1")]
    pub strings: Vec<Vec<u8>>,
}

/// The file's header.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FileHeader {
    /// Version of the format.
    #[prost(uint64, tag = "1")]
    pub version: u64,
}

/// A piece of the session's description.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SessionDetails {
    /// The devices.
    #[prost(message, repeated, tag = "6")]
    pub devices: Vec<Device>,
    /// Versions of the tools.
    #[prost(message, repeated, tag = "8")]
    pub versions: Vec<Version>,
}

/// One device and its attributes.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Device {
    /// The device's number.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// The device's name.
    #[prost(bytes = "vec", tag = "2")]
    pub name: Vec<u8>,
    /// Name and value.
    #[prost(message, repeated, tag = "3")]
    pub attributes: Vec<Attribute>,
}

/// One attribute of a device.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Attribute {
    /// The attribute's name, as the metric's.
    #[prost(bytes = "vec", tag = "1")]
    pub name: Vec<u8>,
    /// Its value.
    #[prost(message, optional, tag = "2")]
    pub value: Option<Value>,
}

/// The version of one tool.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Version {
    /// The tool.
    #[prost(bytes = "vec", tag = "1")]
    pub provider: Vec<u8>,
    /// Its version.
    #[prost(bytes = "vec", tag = "2")]
    pub version: Vec<u8>,
}

/// One profiled kernel launch but its metrics, which `launch_metric` reads.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ProfileResult {
    /// The linker's name.
    #[prost(bytes = "vec", tag = "5")]
    pub mangled_name: Vec<u8>,
    /// The bare function name.
    #[prost(bytes = "vec", tag = "6")]
    pub function_name: Vec<u8>,
    /// The name with its parameter list.
    #[prost(bytes = "vec", tag = "7")]
    pub demangled_name: Vec<u8>,
    /// Blocks.
    #[prost(message, optional, tag = "10")]
    pub grid: Option<Size>,
    /// Threads per block.
    #[prost(message, optional, tag = "11")]
    pub block: Option<Size>,
    /// The module, by its key alone.
    #[prost(message, optional, tag = "15")]
    pub source: Option<SourceData>,
    /// The clocks.
    #[prost(message, optional, tag = "25")]
    pub clocks: Option<ClockStatus>,
    /// ncu's rule results, each decoded on its own: one odd rule must not cost the launch.
    #[prost(bytes = "vec", repeated, tag = "19")]
    pub rules: Vec<Vec<u8>>,
}

/// The clocks of a range's result.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RangeClocks {
    /// The clocks.
    #[prost(message, optional, tag = "12")]
    pub clocks: Option<ClockStatus>,
}

/// The clocks of a graph's or a command list's result.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GraphClocks {
    /// The clocks.
    #[prost(message, optional, tag = "13")]
    pub clocks: Option<ClockStatus>,
}

/// Extents in three dimensions.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Size {
    /// Along x.
    #[prost(uint64, tag = "1")]
    pub x: u64,
    /// Along y.
    #[prost(uint64, tag = "2")]
    pub y: u64,
    /// Along z.
    #[prost(uint64, tag = "3")]
    pub z: u64,
}

/// A value; one field is set.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Value {
    /// Text.
    #[prost(bytes = "vec", optional, tag = "1")]
    pub text: Option<Vec<u8>>,
    /// A single-precision number.
    #[prost(float, optional, tag = "2")]
    pub float: Option<f32>,
    /// A double-precision number.
    #[prost(double, optional, tag = "3")]
    pub double: Option<f64>,
    /// A 32-bit count.
    #[prost(uint64, optional, tag = "4")]
    pub short: Option<u64>,
    /// A 64-bit count.
    #[prost(uint64, optional, tag = "5")]
    pub long: Option<u64>,
}

impl Value {
    /// Decodes a value; `None` where it is damaged. Of values there are tens of thousands in a launch, and
    /// this takes a third of the time of prost's way.
    #[must_use]
    pub(super) fn read(message: &[u8]) -> Option<Self> {
        let mut value = Self::default();
        for field in fields(message) {
            match field? {
                (1, Field::Message(text)) => value.text = Some(text.to_vec()),
                (2, Field::Four(bytes)) => value.float = Some(f32::from_le_bytes(bytes)),
                (3, Field::Eight(bytes)) => value.double = Some(f64::from_le_bytes(bytes)),
                (4, Field::Number(count)) => value.short = Some(count),
                (5, Field::Number(count)) => value.long = Some(count),
                (1..=5, _) => return None,
                _ => {}
            }
        }
        Some(value)
    }

    /// The whole number, for counts and addresses.
    #[must_use]
    pub(super) fn integer(&self) -> Option<u64> {
        self.long.or(self.short)
    }

    /// The number; `None` for text and for what is not finite (a ratio over nothing).
    #[must_use]
    pub(super) fn number(&self) -> Option<f64> {
        self.double
            .or_else(|| self.float.map(f64::from))
            .or_else(|| self.integer().map(|count| count as f64))
            .filter(|number| number.is_finite())
    }
}

/// A module: its cubin, its sources, and where its functions lay. A module can come in several
/// pieces with the same key.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SourceData {
    /// The module's key.
    #[prost(uint64, tag = "1")]
    pub key: u64,
    /// The cubin.
    #[prost(bytes = "vec", optional, tag = "4")]
    pub cubin: Option<Vec<u8>>,
    /// Imported source files.
    #[prost(message, optional, tag = "8")]
    pub files: Option<SourceFiles>,
    /// Addresses during the run.
    #[prost(message, optional, tag = "9")]
    pub relocation: Option<Relocation>,
}

/// Imported source files.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SourceFiles {
    /// The files.
    #[prost(message, repeated, tag = "1")]
    pub files: Vec<SourceFile>,
}

/// One imported source file.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SourceFile {
    /// Its path.
    #[prost(bytes = "vec", tag = "1")]
    pub name: Vec<u8>,
    /// Its text.
    #[prost(bytes = "vec", tag = "2")]
    pub content: Vec<u8>,
}

/// Where a module's functions lay during the run.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Relocation {
    /// The functions.
    #[prost(message, repeated, tag = "1")]
    pub functions: Vec<RelocatedFunction>,
}

/// One function's place.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RelocatedFunction {
    /// The linker's name.
    #[prost(bytes = "vec", tag = "1")]
    pub symbol: Vec<u8>,
    /// The address of its first instruction.
    #[prost(uint64, tag = "2")]
    pub address: u64,
}

/// What one of ncu's rules said; one that did not fire has no body.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RuleResult {
    /// The rule's identifier.
    #[prost(bytes = "vec", tag = "1")]
    pub identifier: Vec<u8>,
    /// What it said.
    #[prost(message, optional, tag = "3")]
    pub body: Option<RuleBody>,
    /// The section's identifier.
    #[prost(bytes = "vec", tag = "4")]
    pub section: Vec<u8>,
}

/// What a rule said.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RuleBody {
    /// In order.
    #[prost(message, repeated, tag = "1")]
    pub items: Vec<RuleItem>,
}

/// A message with its estimate, or a table or chart, of which nothing is read.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RuleItem {
    /// The message.
    #[prost(message, optional, tag = "1")]
    pub message: Option<RuleMessage>,
    /// The estimate.
    #[prost(message, optional, tag = "10")]
    pub speedup: Option<Speedup>,
}

/// A rule's message.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct RuleMessage {
    /// The text, with ncu's link markup.
    #[prost(bytes = "vec", tag = "1")]
    pub text: Vec<u8>,
    /// 0 none, 1 OK, 2 warning, 3 error, 4 optimization.
    #[prost(uint64, tag = "2")]
    pub kind: u64,
}

/// A rule's estimate.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Speedup {
    /// 0 unknown, 1 local, 2 global.
    #[prost(uint64, tag = "1")]
    pub scope: u64,
    /// Percent.
    #[prost(double, tag = "2")]
    pub percent: f64,
}

/// Text of the report, whatever its encoding.
#[must_use]
pub(super) fn text(bytes: &[u8]) -> String {
    // Nearly all of it is UTF-8: to check that is cheaper than to replace what is not.
    str::from_utf8(bytes)
        .map_or_else(|_| String::from_utf8_lossy(bytes).into_owned(), str::to_owned)
}
