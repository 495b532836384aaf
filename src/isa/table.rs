//! The table of encodings, as data.
//!
//! A line is `OPCODE ARCHITECTURES MNEMONIC ; OPERAND ; OPERAND …`: the lower twelve bits, the
//! architectures where they mean this (`75-90,120` counts along [`Architecture::KNOWN`]), and the
//! templates of the mnemonic with its modifiers and of each operand. An operand whose text comes out
//! empty is left out. `@U` before the mnemonic says that the guard is a uniform predicate.

use std::sync::OnceLock;

use super::architecture::Architecture;
use super::template::{Template, parse};

const TABLE: &str = include_str!("instructions.table");

/// How many opcodes twelve bits tell apart.
const OPCODES: usize = 1 << 12;

/// What an opcode stands for.
#[derive(Debug)]
pub struct Row {
    /// True where a uniform predicate guards the instruction.
    pub uniform_guard: bool,
    /// The mnemonic with its modifiers.
    pub mnemonic: Template<'static>,
    /// The operands.
    pub operands: Vec<Template<'static>>,
}

/// The rows of an architecture by opcode.
#[derive(Debug)]
pub struct Rows(Vec<Option<Row>>);

impl Rows {
    /// The rows of an architecture, read once; `None` for one that the table does not have.
    #[must_use]
    pub fn of(architecture: Architecture) -> Option<&'static Self> {
        static ROWS: [OnceLock<Rows>; Architecture::KNOWN.len()] =
            [const { OnceLock::new() }; Architecture::KNOWN.len()];
        let number = architecture.number()?;
        Some(ROWS[number].get_or_init(|| Self::read(number)))
    }

    fn read(architecture: usize) -> Self {
        let mut rows: Vec<Option<Row>> = std::iter::repeat_with(|| None).take(OPCODES).collect();
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            if let Some((opcode, row)) = row(line, architecture)
                && let Some(place) = rows.get_mut(opcode)
            {
                *place = Some(row);
            }
        }
        Self(rows)
    }

    /// The row of an opcode.
    #[must_use]
    pub fn row(&self, opcode: u16) -> Option<&Row> {
        self.0.get(usize::from(opcode))?.as_ref()
    }
}

/// Opcode and row of a line; `None` where the architecture does not have it.
fn row(line: &'static str, architecture: usize) -> Option<(usize, Row)> {
    let (opcode, rest) = line.split_once(' ')?;
    let (architectures, rest) = rest.split_once(' ')?;
    if !contains(architectures, architecture)? {
        return None;
    }
    let plain = rest.strip_prefix("@U");
    let uniform_guard = plain.is_some();
    let mut templates = plain.unwrap_or(rest).split(" ; ");
    let mnemonic = parse(templates.next()?)?;
    let operands = templates.map(parse).collect::<Option<_>>()?;
    Some((usize::from_str_radix(opcode, 16).ok()?, Row { uniform_guard, mnemonic, operands }))
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
                if let Some((opcode, _)) = row(line, architecture) {
                    known += 1;
                    assert!(opcode < OPCODES, "{line}");
                    assert!(seen.insert((architecture, opcode)), "twice: {line}");
                }
            }
            assert!(known > 0, "no architecture can read {line}");
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
