//! From a SASS address to the source line: the cubin's symbols and its `.debug_line`.

use std::collections::HashMap;

use gimli::{
    AttributeValue, DebugLine, DebugLineOffset, EndianSlice, LineInstruction, LineRow,
    LittleEndian, Reader,
};
use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget};

use super::messages::text;

/// Sections of a cubin all begin at 0; each gets addresses of its own, so many bits apart.
const SECTION_SHIFT: u32 = 40;
/// NVIDIA's own line opcode: the rows that follow are inlined at the row whose number in the
/// sequence, from 1, is its first operand; 0 ends that.
const INLINED_AT: gimli::DwLne = gimli::DwLne(0x90);
/// No code is inlined deeper than this; damaged tables could say so.
const DEEPEST_INLINING: usize = 32;
/// The longest path that a system takes, bytes.
const LONGEST_PATH: usize = 4096;

type Slice<'a> = EndianSlice<'a, LittleEndian>;
type Header<'a> = gimli::LineProgramHeader<Slice<'a>>;

/// A function's place in the cubin.
#[derive(Debug, Clone, Copy)]
struct Function {
    start: u64,
    size: u64,
}

/// A source line, and for inlined code the place it is called from, which always has a smaller
/// index.
#[derive(Debug, Clone, Copy)]
struct Place {
    file: usize,
    line: u32,
    caller: Option<usize>,
}

/// The line table of one cubin.
#[derive(Debug, Default)]
pub(super) struct LineTable {
    functions: HashMap<String, Function>,
    files: Vec<String>,
    places: Vec<Place>,
    /// Where each row begins, sorted, with the index of its place; `None` where no line is known,
    /// as after the end of a sequence.
    rows: Vec<(u64, Option<usize>)>,
}

/// Sorts rows by their addresses. The last one at an address counts, and any row beats the end of the sequence
/// before.
fn sort(rows: &mut [(u64, Option<usize>)]) {
    rows.sort_by_key(|(address, row)| (*address, row.is_some()));
}

fn section_start(index: object::SectionIndex) -> u64 {
    (index.0 as u64) << SECTION_SHIFT
}

impl LineTable {
    /// Reads a cubin. One that is damaged or has no line information gives an empty table: the
    /// counters are worth having without lines.
    #[must_use]
    pub(super) fn read(cubin: &[u8]) -> Self {
        let mut table = Self::default();
        let Ok(elf) = object::read::elf::ElfFile64::<object::Endianness>::parse(cubin) else {
            return table;
        };
        for symbol in elf.symbols() {
            if let (Some(section), Ok(name)) = (symbol.section_index(), symbol.name_bytes())
                && symbol.kind() == object::SymbolKind::Text
            {
                let start = section_start(section).wrapping_add(symbol.address());
                table.functions.insert(text(name), Function { start, size: symbol.size() });
            }
        }
        if let Some(section) = elf.section_by_name(".debug_line")
            && let Ok(data) = section.data()
        {
            let data = relocated(&elf, &section, data);
            let strings = |name| {
                let section = elf.section_by_name(name);
                section.and_then(|section| section.data().ok()).unwrap_or_default()
            };
            table.programs(&data, strings(".debug_str"), strings(".debug_line_str"));
        }
        sort(&mut table.rows);
        table
    }

    /// Files and lines of an instruction, `offset` bytes into a function: its own line first, then
    /// for inlined code the lines it is called from, inside out. Empty where no line is known.
    pub(super) fn locate(&self, function: &str, offset: u64) -> impl Iterator<Item = (&str, u32)> {
        let caller = |index: &usize| self.places.get(*index).and_then(|place| place.caller);
        std::iter::successors(self.innermost(function, offset), caller)
            .take(DEEPEST_INLINING)
            .filter_map(|index| {
                let place = self.places.get(index)?;
                Some((self.files.get(place.file)?.as_str(), place.line))
            })
    }

    fn innermost(&self, function: &str, offset: u64) -> Option<usize> {
        let function = self.functions.get(function)?;
        if offset >= function.size {
            return None;
        }
        let address = function.start.wrapping_add(offset);
        let after = self.rows.partition_point(|(start, _)| *start <= address);
        self.rows.get(after.checked_sub(1)?)?.1
    }

    /// All line programs of the section, as far as they can be read.
    fn programs(&mut self, data: &[u8], strings: &[u8], line_strings: &[u8]) {
        let section = DebugLine::new(data, LittleEndian);
        // Many entries may name one text: together they get no more than there is.
        let mut left = data.len() + strings.len() + line_strings.len();
        let mut offset = 0;
        while offset < data.len() {
            let Ok(program) = section.program(DebugLineOffset(offset), 8, None, None) else {
                break;
            };
            let header = program.header().clone();
            let length_size = usize::from(header.encoding().format.initial_length_size());
            self.program(program, &header, |file| {
                if left == 0 {
                    return String::new();
                }
                let path = path(&header, file, strings, line_strings);
                left = left.saturating_sub(path.len());
                path
            });
            offset = offset.saturating_add(length_size).saturating_add(header.unit_length());
        }
    }

    /// One line program. gimli's own iterator would skip NVIDIA's opcode.
    fn program<'d>(
        &mut self,
        mut program: gimli::IncompleteLineProgram<Slice<'d>>,
        header: &Header<'d>,
        mut path: impl FnMut(u64) -> String,
    ) {
        let mut numbers: HashMap<u64, usize> = HashMap::new();
        let mut instructions = header.instructions();
        let mut row = LineRow::new(header);
        // The places of the sequence's rows so far, and the one that is being inlined at.
        let mut sequence: Vec<Option<usize>> = Vec::new();
        let mut caller = None;
        while let Ok(Some(instruction)) = instructions.next_instruction(header) {
            if let LineInstruction::UnknownExtended(INLINED_AT, mut operands) = instruction {
                let number = operands.read_uleb128().ok().and_then(|at| usize::try_from(at).ok());
                let index = number.and_then(|number| number.checked_sub(1));
                caller = index.and_then(|index| sequence.get(index).copied().flatten());
                continue;
            }
            match row.execute(instruction, &mut program) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(_) => break,
            }
            let line = row.line().filter(|_| !row.end_sequence());
            let place = line.and_then(|line| u32::try_from(line.get()).ok()).map(|line| {
                let file = *numbers.entry(row.file_index()).or_insert_with(|| {
                    self.files.push(path(row.file_index()));
                    self.files.len() - 1
                });
                self.places.push(Place { file, line, caller });
                self.places.len() - 1
            });
            self.rows.push((row.address(), place));
            sequence.push(place);
            if row.end_sequence() {
                sequence.clear();
                caller = None;
            }
            row.reset(header);
        }
    }
}

/// The section's bytes with each address operand replaced by the address of what it refers to.
fn relocated<'a>(
    elf: &object::read::elf::ElfFile64<'a, object::Endianness>,
    section: &impl ObjectSection<'a>,
    data: &[u8],
) -> Vec<u8> {
    let mut data = data.to_vec();
    for (offset, relocation) in section.relocations() {
        let target = match relocation.target() {
            RelocationTarget::Symbol(index) => elf.symbol_by_index(index).ok().and_then(|symbol| {
                Some(section_start(symbol.section_index()?).wrapping_add(symbol.address()))
            }),
            RelocationTarget::Section(index) => Some(section_start(index)),
            _ => None,
        };
        let end = offset.saturating_add(8);
        let place = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
        if let (Some(target), Some((offset, end))) = (target, place)
            && let Some(operand) = data.get_mut(offset..end)
        {
            let address = target.wrapping_add(relocation.addend().cast_unsigned());
            operand.copy_from_slice(&address.to_le_bytes());
        }
    }
    data
}

/// The path of a file of the line table: absolute, or as the compiler was given it.
fn path(header: &Header, index: u64, strings: &[u8], line_strings: &[u8]) -> String {
    let string = |value: AttributeValue<Slice>| match value {
        AttributeValue::String(name) => text(name.slice()),
        AttributeValue::DebugStrRef(at) => terminated(strings, at.0),
        AttributeValue::DebugLineStrRef(at) => terminated(line_strings, at.0),
        _ => String::new(),
    };
    let Some(file) = header.file(index) else { return String::new() };
    let name = string(file.path_name());
    let directory = file.directory(header).map(string).unwrap_or_default();
    if directory.is_empty() || name.starts_with(['/', '\\']) || name.get(1..2) == Some(":") {
        clean_path(&name)
    } else {
        clean_path(&format!("{directory}/{name}"))
    }
}

/// The string that begins at an offset and ends at a zero.
fn terminated(section: &[u8], offset: usize) -> String {
    let rest = section.get(offset..).unwrap_or_default();
    let rest = &rest[..rest.len().min(LONGEST_PATH)];
    text(rest.split(|&byte| byte == 0).next().unwrap_or_default())
}

/// The path without `.` and `name/..`, as ncu prints it.
#[must_use]
pub(super) fn clean_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for (index, part) in path.split('/').enumerate() {
        match part {
            "." => {}
            "" if index > 0 => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
impl LineTable {
    /// The table of a function `k` of 16-byte instructions, each with its files and lines inside out.
    pub(super) fn by_hand(instructions: &[&[(&str, u32)]]) -> Self {
        let mut table = Self::default();
        for (address, places) in (0_u64..).step_by(16).zip(instructions) {
            let mut caller = None;
            for &(file, line) in places.iter().rev() {
                table.places.push(Place { file: table.files.len(), line, caller });
                table.files.push(file.to_owned());
                caller = Some(table.places.len() - 1);
            }
            table.rows.push((address, caller));
        }
        let function = Function { start: 0, size: 16 * instructions.len() as u64 };
        table.functions.insert("k".to_owned(), function);
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_ends_with_its_last_instruction() {
        let table = LineTable::by_hand(&[&[("k.cu", 5)], &[("k.cu", 6)]]);
        let line = |offset| table.locate("k", offset).next().map(|(_, line)| line);
        assert_eq!([line(0), line(15), line(16), line(31)], [5, 5, 6, 6].map(Some));
        assert_eq!(line(32), None);
    }

    #[test]
    fn a_row_counts_and_not_the_end_of_a_sequence_at_its_address() {
        let mut rows = [(0x20, Some(1)), (0x10, Some(0)), (0x20, None), (0x20, Some(2))];
        sort(&mut rows);
        assert_eq!(rows, [(0x10, Some(0)), (0x20, None), (0x20, Some(1)), (0x20, Some(2))]);
    }

    #[test]
    fn inlined_code_is_followed_through_32_places() {
        let located = |deep: usize| {
            let places = vec![("k.cu", 5); deep];
            LineTable::by_hand(&[&places]).locate("k", 0).count()
        };
        assert_eq!((located(31), located(32), located(40)), (31, 32, 32));
    }

    #[test]
    fn a_path_has_4096_bytes_at_most() {
        assert_eq!(terminated(&[b'a'; 5000], 0).len(), 4096);
        assert_eq!(terminated(b"ab\0cd", 1), "b");
    }
}
