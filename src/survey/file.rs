//! The files that the library writes. `injection/output.rs` has their format, which this follows.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

use super::callers::{Callers, Stacks};
use super::memory::{Change, Memory};
use super::record::{
    Argument, Call, Compilation, Copy, Device, Fill, Kernel, Migration, Place, Process, Shape,
    Span, Wait,
};
use crate::error::{Error, Result};
use crate::rank::Rank;

/// How a file begins; the number is that of its format.
const MAGIC: &[u8; 8] = b"ADOSRV01";

/// What a kernel is called whose name was lost.
const NAMELESS: &str = "(unknown)";

/// Reads what one process left.
///
/// # Errors
/// [`Error::Input`] where it can't be read or is none of these files. A file that breaks off is no error:
/// its process was killed.
pub fn read(path: &Path) -> Result<Process> {
    let file = File::open(path).map_err(|error| Error::io(path, "open", &error))?;
    parse(BufReader::with_capacity(1 << 18, file)).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => Error::input(path, error.to_string()),
        _ => Error::io(path, "read", &error),
    })
}

/// A process from the bytes of its file.
fn parse(mut input: impl Read) -> std::io::Result<Process> {
    let mut header = [0; 24];
    if !fill(&mut input, &mut header)? {
        let text = "the process ended before anything of it was recorded";
        return Err(std::io::Error::new(ErrorKind::InvalidData, text));
    }
    if &header[..8] != MAGIC {
        let text = "this is not a survey of this version of adoprof; run the survey again";
        return Err(std::io::Error::new(ErrorKind::InvalidData, text));
    }
    let mut fields = Fields(&header[8..]);
    let mut reader = Reader::default();
    reader.process.id = fields.u32();
    reader.process.cupti_version = fields.u32();
    reader.process.start = fields.u64();
    let mut head = [0; 4];
    let mut payload = Vec::new();
    while fill(&mut input, &mut head)? {
        let head = u32::from_le_bytes(head);
        payload.resize((head >> 8) as usize, 0);
        if !fill(&mut input, &mut payload)? {
            break;
        }
        reader.record(head as u8, &payload);
    }
    Ok(reader.finish())
}

/// Fills the whole buffer; false where the input ends before.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// A time that was not recorded, until all records are read.
const UNKNOWN: u64 = u64::MAX;

/// The fields of a record, one after another; those that a shorter record lacks are 0.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        if let Some((first, rest)) = self.0.split_at_checked(N) {
            bytes.copy_from_slice(first);
            self.0 = rest;
        } else {
            self.0 = &[];
        }
        bytes
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.take())
    }

    /// All that is left, two numbers each.
    fn pairs(&mut self) -> Vec<(u64, u64)> {
        let count = self.0.len() / 16;
        (0..count).map(|_| (self.u64(), self.u64())).collect()
    }

    fn three(&mut self) -> [u32; 3] {
        [self.u32(), self.u32(), self.u32()]
    }

    fn span(&mut self) -> Span {
        Span { start: self.u64(), end: self.u64() }
    }

    /// A time of the device's. CUPTI says 0 where it could not take it: of work that was under way when the records
    /// began, which is taken to start with them, and of work that goes on when they end ([`UNKNOWN`]). Work without
    /// either still waited in its stream when the records ended.
    fn device_span(&mut self, first: u64) -> Span {
        match self.span() {
            Span { start: 0, end: 0 } => Span { start: UNKNOWN, end: UNKNOWN },
            Span { start: 0, end } => Span { start: first, end: end.max(first) },
            Span { start, end: 0 } => Span { start, end: UNKNOWN },
            Span { start, end } => Span { start, end: end.max(start) },
        }
    }

    fn place(&mut self) -> Place {
        let (device, context, stream) = (self.u32(), self.u32(), self.u32());
        Place { device, context, stream, correlation: self.u32(), graph: self.u32() }
    }
}

/// A kind of launch before its name is known: names come in any order.
#[derive(PartialEq, Eq, Hash)]
struct NumberedShape {
    name: u64,
    grid: [u32; 3],
    block: [u32; 3],
    rest: [u32; 4],
}

#[derive(Default)]
struct Reader {
    process: Process,
    names: HashMap<u64, String>,
    shapes: HashMap<NumberedShape, u32>,
    functions: HashMap<u64, u32>,
    devices: Vec<(u64, u32, Device)>,
    variables: HashMap<String, String>,
    changes: Vec<Change>,
    stacks: Stacks,
}

impl Reader {
    fn record(&mut self, tag: u8, payload: &[u8]) {
        let mut fields = Fields(payload);
        let process = &mut self.process;
        match tag {
            1 => {
                let number = fields.u64();
                self.names.insert(number, String::from_utf8_lossy(fields.0).into_owned());
            }
            2 => self.kernel(&mut fields),
            3 => {
                let span = fields.device_span(process.start);
                let (bytes, place) = (fields.u64(), fields.place());
                let (direction, source, destination) = (fields.u8(), fields.u8(), fields.u8());
                let is_asynchronous = fields.u8() & 1 != 0;
                process.copies.push(Copy {
                    span,
                    place,
                    bytes,
                    direction,
                    source,
                    destination,
                    is_asynchronous,
                });
            }
            4 => {
                let (span, bytes) = (fields.device_span(process.start), fields.u64());
                process.fills.push(Fill { span, place: fields.place(), bytes });
            }
            5 => {
                let (span, name) = (fields.span(), fields.u64());
                let next = self.functions.len() as u32;
                let function = *self.functions.entry(name).or_insert(next);
                let is_driver = fields.u32() == 1;
                let (thread, correlation, result) = (fields.u32(), fields.u32(), fields.u32());
                process.calls.push(Call { span, function, is_driver, thread, correlation, result });
            }
            6 => {
                let (span, kind) = (fields.span(), fields.u32());
                let (context, stream, correlation) = (fields.u32(), fields.u32(), fields.u32());
                process.waits.push(Wait { span, kind, context, stream, correlation });
            }
            7 => {
                let (span, value, _address) = (fields.span(), fields.u64(), fields.u64());
                process.migrations.push(Migration { span, value, counter: fields.u32() });
            }
            8 => {
                let (span, _entry) = (fields.span(), fields.u32());
                process.compilations.push(Compilation { span, operation: fields.u32() });
            }
            9 => {
                let (name, number, multiprocessors) = (fields.u64(), fields.u32(), fields.u32());
                let capability = [fields.u32(), fields.u32()];
                let (name_later, uuid) = (String::new(), uuid(fields.take()));
                let memory_bytes = fields.u64();
                let memory_bytes_per_s = fields.u64().saturating_mul(1000);
                let device = Device {
                    name: name_later,
                    multiprocessors,
                    capability,
                    uuid,
                    memory_bytes,
                    memory_bytes_per_s,
                };
                self.devices.push((name, number, device));
            }
            10 => {
                let words = payload.split(|&byte| byte == 0).filter(|word| !word.is_empty());
                process.command =
                    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
            }
            11 => {
                process.end = Some(fields.u64());
                process.dropped = fields.u64();
            }
            12 => {
                let text = String::from_utf8_lossy(payload);
                if let Some((name, value)) = text.split_once('=') {
                    self.variables.insert(name.to_owned(), value.to_owned());
                }
            }
            13 => {
                let (time, address, bytes) = (fields.u64(), fields.u64(), fields.u64());
                let (device, operation, kind) = (fields.u32(), fields.u8(), fields.u8());
                self.changes.extend(Change::new(time, address, bytes, device, operation, kind));
            }
            14 => {
                let number = fields.u64();
                self.stacks.stack(number, fields.pairs());
            }
            15 => {
                let (correlation, calls) = (fields.u32(), fields.u32());
                self.stacks.caller(correlation, calls, fields.u64());
            }
            16 => self.stacks.executable(fields.u64()),
            17 => {
                let correlation = fields.u64() as u32;
                let words = fields.0.chunks_exact(16).filter_map(|word| word.try_into().ok());
                process.arguments.insert(correlation, words.map(argument).collect());
            }
            // A newer library than this reader can't be: both are in one binary.
            _ => {}
        }
    }

    fn kernel(&mut self, fields: &mut Fields<'_>) {
        let span = fields.device_span(self.process.start);
        let (name, place) = (fields.u64(), fields.place());
        let (grid, block) = (fields.three(), fields.three());
        let rest = [fields.u32(), fields.u32(), fields.u32(), fields.u32()];
        let next = self.shapes.len() as u32;
        let shape = *self.shapes.entry(NumberedShape { name, grid, block, rest }).or_insert(next);
        self.process.kernels.push(Kernel { span, place, shape });
    }

    fn finish(self) -> Process {
        let Self { mut process, names, shapes, functions, devices, variables, changes, stacks } =
            self;
        process.memory = Memory::new(changes);
        process.rank = Rank::of(|name| variables.get(name).cloned());
        let name_of = |number: u64| names.get(&number).map_or(NAMELESS, String::as_str).to_owned();
        process.callers = Callers::new(stacks, name_of);
        process.shapes = in_order(shapes, |shape| Shape {
            kernel: name_of(shape.name),
            grid: shape.grid,
            block: shape.block,
            registers: shape.rest[0],
            static_shared: shape.rest[1],
            dynamic_shared: shape.rest[2],
            local: shape.rest[3],
        });
        process.functions = in_order(functions, |name| plain_function(&name_of(name)));
        for (name, number, device) in devices {
            process.devices.insert(number, Device { name: name_of(name), ..device });
        }
        process.unfinished = process.leave_out(|span| span.start == UNKNOWN);
        let known = |span: Span| [span.start, span.end].into_iter().filter(|time| *time != UNKNOWN);
        let last = process.end.or_else(|| process.device_spans().flat_map(known).max());
        for span in process.device_spans_mut().filter(|span| span.end == UNKNOWN) {
            span.end = last.unwrap_or(span.start).max(span.start);
        }
        // Kernels of one graph share their correlation.
        process.kernels.sort_by_key(|kernel| (kernel.place.correlation, kernel.span.start));
        process.copies.sort_by_key(|copy| copy.span.start);
        process.calls.sort_by_key(|call| call.span.start);
        process.waits.sort_by_key(|wait| wait.span.start);
        process
    }
}

/// A device's UUID as NVIDIA's tools print it; `None` where the record had none.
fn uuid(bytes: [u8; 16]) -> Option<String> {
    (bytes != [0; 16]).then(|| crate::text::uuid(&bytes))
}

fn in_order<K, V>(numbered: HashMap<K, u32>, made: impl Fn(K) -> V) -> Vec<V> {
    let mut keys: Vec<(K, u32)> = numbered.into_iter().collect();
    keys.sort_by_key(|(_, number)| *number);
    keys.into_iter().map(|(key, _)| made(key)).collect()
}

/// A word of a launch's parameters, behind where it stands.
fn argument(bytes: [u8; 16]) -> Argument {
    let bytes = u128::from_le_bytes(bytes);
    let [offset, parameter, word] = [0, 32, 64].map(|by| (bytes >> by) as u64);
    Argument { parameter: parameter as u32, offset: offset as u32, word }
}

/// A function's name without what CUPTI appends: `cudaMalloc_v3020` is `cudaMalloc`, `cuMemcpyHtoD_v2_ptds`
/// is `cuMemcpyHtoD`.
fn plain_function(name: &str) -> String {
    let is_version = |part: &str| {
        let digits = part.strip_prefix('v').unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut name = name;
    while let Some((front, last)) = name.rsplit_once('_') {
        if !is_version(last) && last != "ptds" && last != "ptsz" {
            break;
        }
        name = front;
    }
    name.to_owned()
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
