//! The table of encodings, as data.
//!
//! A line is `OPCODE ARCHITECTURES MNEMONIC ; OPERAND ; OPERAND …`: the lower twelve bits, the
//! architectures where they mean this (`75-90,120` counts along [`Architecture::KNOWN`]), and the
//! templates of the mnemonic with its modifiers and of each operand. An operand whose text comes out
//! empty is left out. `@U` before the mnemonic says that the guard is a uniform predicate.

use std::sync::{LazyLock, OnceLock};

use super::architecture::Architecture;
use super::template::{Template, parse};

/// The text of `instructions.table`, packed by `build/table.rs`: it is half a megabyte, and unpacked in a quarter of a
/// millisecond where machine code is read.
static TABLE: LazyLock<String> = LazyLock::new(|| {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/instructions.table.zst"));
    let text = zstd::decode_all(packed.as_slice()).unwrap_or_default();
    String::from_utf8(text).unwrap_or_default()
});

/// How many opcodes twelve bits tell apart.
const OPCODES: usize = 1 << 12;

/// What an opcode stands for.
#[derive(Debug)]
pub(super) struct Row {
    /// True where a uniform predicate guards the instruction.
    pub uniform_guard: bool,
    /// The mnemonic with its modifiers.
    pub mnemonic: Template<'static>,
    /// The operands.
    pub operands: Vec<Template<'static>>,
}

/// The rows of an architecture by opcode. A kernel uses a tenth of them, so each is looked for and read when it
/// is asked for first.
#[derive(Debug)]
pub(super) struct Rows {
    /// The architecture's place among the known ones.
    architecture: usize,
    rows: Vec<OnceLock<Option<Box<Row>>>>,
}

impl Rows {
    /// The rows of an architecture; `None` for one that the table does not have.
    #[must_use]
    pub(super) fn of(architecture: Architecture) -> Option<&'static Self> {
        static ROWS: [OnceLock<Rows>; Architecture::KNOWN.len()] =
            [const { OnceLock::new() }; Architecture::KNOWN.len()];
        let architecture = architecture.number()?;
        let rows = || std::iter::repeat_with(OnceLock::new).take(OPCODES).collect();
        Some(ROWS[architecture].get_or_init(|| Self { architecture, rows: rows() }))
    }

    /// The row of an opcode.
    #[must_use]
    pub(super) fn row(&self, opcode: u16) -> Option<&Row> {
        let row = self.rows.get(usize::from(opcode))?;
        row.get_or_init(|| Row::find(usize::from(opcode), self.architecture)).as_deref()
    }
}

impl Row {
    /// The row of an opcode for an architecture, by its place among the known ones.
    fn find(opcode: usize, architecture: usize) -> Option<Box<Self>> {
        let text = lines_of(opcode).find_map(|line| match opcode_of(line, architecture) {
            Some((found, text)) if found == opcode => Some(text),
            _ => None,
        });
        text.and_then(Self::read).map(Box::new)
    }

    /// Reads what stands behind the architectures; `None` where it is malformed, which a test excludes.
    fn read(text: &'static str) -> Option<Self> {
        let plain = text.strip_prefix("@U");
        let uniform_guard = plain.is_some();
        let mut templates = plain.unwrap_or(text).split(" ; ");
        let mnemonic = parse(templates.next()?)?;
        let operands = templates.map(parse).collect::<Option<_>>()?;
        Some(Self { uniform_guard, mnemonic, operands })
    }
}

/// The table's lines from an opcode's first to its last. They are sorted by opcode, so half of what is left
/// goes with each look.
fn lines_of(opcode: usize) -> impl Iterator<Item = &'static str> {
    let (mut table, number) =
        (TABLE.as_str(), |line: &str| usize::from_str_radix(line.get(..3)?, 16).ok());
    let mut start = 0;
    while !table.is_empty() {
        let half = (0..=table.len() / 2).rev().find(|&at| table.is_char_boundary(at)).unwrap_or(0);
        let begin = table[..half].rfind('\n').map_or(0, |at| at + 1);
        let end = table[half..].find('\n').map_or(table.len(), |at| half + at + 1);
        // The comments at the table's head have no number.
        if number(&table[begin..end]).is_none_or(|number| number < opcode) {
            start += end;
            table = &table[end..];
        } else {
            table = &table[..begin];
        }
    }
    TABLE[start..].lines().take_while(move |line| number(line) == Some(opcode))
}

/// The opcode of a line and what the line says of it; `None` where the architecture does not have it.
fn opcode_of(line: &'static str, architecture: usize) -> Option<(usize, &'static str)> {
    let (opcode, rest) = line.split_once(' ')?;
    let (architectures, text) = rest.split_once(' ')?;
    contains(architectures, architecture)?.then_some(())?;
    Some((usize::from_str_radix(opcode, 16).ok()?, text))
}

/// True where `75-90,120` names the architecture with this place among the known ones.
fn contains(ranges: &str, architecture: usize) -> Option<bool> {
    let place = |name: &str| Architecture(name.parse().ok()?).number();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if (place(first)?..=place(last)?).contains(&architecture) {
            return Some(true);
        }
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_well_formed_and_says_a_thing_once() {
        let mut seen = std::collections::BTreeSet::new();
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let mut known = 0;
            for architecture in 0..Architecture::KNOWN.len() {
                if let Some((opcode, text)) = opcode_of(line, architecture) {
                    known += 1;
                    assert!(opcode < OPCODES && Row::read(text).is_some(), "{line}");
                    assert!(seen.insert((architecture, opcode)), "twice: {line}");
                }
            }
            assert!(known > 0, "no architecture can read {line}");
        }
    }

    #[test]
    fn an_opcode_is_found_among_the_sorted_lines() {
        let lines = || TABLE.lines().filter(|line| !line.starts_with('#'));
        assert!(lines().is_sorted_by_key(|line| line.get(..3)));
        for opcode in 0..OPCODES {
            let opcode_in_hex = format!("{opcode:03x} ");
            let expected: Vec<_> =
                lines().filter(|line| line.starts_with(&opcode_in_hex)).collect();
            assert_eq!(lines_of(opcode).collect::<Vec<_>>(), expected, "{opcode_in_hex}");
        }
    }

    #[test]
    fn ranges_count_along_the_known_architectures() {
        let place = |name| Architecture(name).number().unwrap();
        assert_eq!(contains("75-90,120", place(89)), Some(true));
        assert_eq!(contains("75-90,120", place(100)), Some(false));
        assert_eq!(contains("75-90,120", place(120)), Some(true));
        assert_eq!(contains("75-x", place(120)), None);
    }
}
