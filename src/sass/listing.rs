//! A launch's instructions in address order, taken apart, with what each defines and uses.

use super::access::width_bytes;
use super::flow::{Exit, Flow};
use super::instruction::{Instruction, OperandKind};
use super::library::{self, Routine};
use super::opcode::{Family, term};
use super::operands::{Role, collect};
use super::register::Slot;
use crate::export::SourceRow;
use crate::frame::Launch;
use crate::model::Term;

/// Arithmetic that could be half of a fused multiply-add, or is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A multiplication of floats, rounded to nearest.
    Multiply,
    /// An addition of floats, rounded to nearest.
    Add,
    /// A fused multiply-add.
    Fused,
}

/// One instruction, without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its place in the launch's `instructions`.
    pub row: usize,
    /// What kind of work it is.
    pub family: Family,
    /// The unit that it keeps busy besides the issue slot.
    pub term: Option<Term>,
    /// Bytes a lane, for memory accesses; 0 elsewhere.
    pub width: u8,
    /// The library routine that it is the mark of.
    pub routine: Option<Routine>,
    /// Multiplication, addition, or both in one.
    pub operation: Option<Operation>,
    /// True for accesses whose address holds a register other than the stack pointer.
    pub computed_address: bool,
    /// True where a guard may leave the destination as it is.
    pub conditional: bool,
    /// Where a call goes, as a place in the listing.
    pub callee: Option<usize>,
    /// How it passes control on.
    pub exit: Exit,
    /// Where a branch goes, as a place in the listing.
    pub target: Option<usize>,
    defs: (u32, u32),
    uses: (u32, u32),
}

/// A use of a slot, and the definition in the same block that it sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// What is read.
    pub slot: Slot,
    /// What for.
    pub role: Role,
    /// The last earlier definition in the block; `None` where the value comes from outside.
    pub(super) local: Option<u32>,
}

/// A launch's SASS taken apart. Owns nothing of the launch; see [`Listing`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sass {
    /// The instructions in address order.
    pub entries: Vec<Entry>,
    /// Blocks and loops.
    pub flow: Flow,
    defs: Vec<Slot>,
    uses: Vec<Use>,
    /// For each block the last definition of each slot that it defines.
    last_defs: Vec<Vec<(Slot, u32)>>,
}

/// A launch's SASS together with the counts of its instructions.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// The instructions.
    pub sass: &'a Sass,
    rows: &'a [SourceRow],
}

impl<'a> Listing<'a> {
    /// The launch's listing; `None` where the export has no instructions or not their text (a report
    /// file holds machine code, not SASS).
    #[must_use]
    pub fn of(launch: &'a Launch) -> Option<Self> {
        let sass = launch.sass();
        (!sass.entries.is_empty()).then_some(Self { sass, rows: &launch.instructions })
    }

    /// The source row of an instruction by its place in the listing.
    #[must_use]
    pub fn row(&self, index: usize) -> &'a SourceRow {
        &self.rows[self.sass.entries[index].row]
    }

    /// The instruction's text.
    #[must_use]
    pub fn text(&self, index: usize) -> &'a str {
        &self.row(index).text
    }

    /// Warp instructions executed at this place, those with their guard off included.
    #[must_use]
    pub fn executed(&self, index: usize) -> f64 {
        self.row(index).counters.inst_executed
    }

    /// The instructions of a called function: from its first to its first return. `None` for a
    /// function without one.
    #[must_use]
    pub fn function(&self, first: usize) -> Option<std::ops::RangeInclusive<usize>> {
        let last = (first..self.sass.entries.len()).find(|&index| {
            let entry = &self.sass.entries[index];
            !entry.conditional && self.text(index).trim_start().starts_with("RET")
        })?;
        Some(first..=last)
    }

    /// The instructions with their places.
    pub fn entries(&self) -> impl Iterator<Item = (usize, &'a Entry)> + use<'a> {
        self.sass.entries.iter().enumerate()
    }

    /// Warp instructions executed in all.
    #[must_use]
    pub fn total(&self) -> f64 {
        (0..self.sass.entries.len()).map(|index| self.executed(index)).sum()
    }
}

impl Sass {
    /// Takes the instructions apart. Rows without text are left out.
    #[must_use]
    pub fn new(rows: &[SourceRow]) -> Self {
        let mut order: Vec<usize> =
            (0..rows.len()).filter(|&row| !rows[row].text.is_empty()).collect();
        order.sort_by_key(|&row| rows[row].address);
        let parsed: Vec<(usize, Instruction)> = order
            .into_iter()
            .filter_map(|row| Some((row, Instruction::parse(&rows[row].text)?)))
            .collect();
        let places = Places::new(&parsed, rows);
        let mut sass = Self::default();
        let mut exits = Vec::with_capacity(parsed.len());
        let (mut defs, mut uses) = (Vec::new(), Vec::new());
        for (row, instruction) in &parsed {
            let family = Family::of(instruction);
            let (defs_from, uses_from) = (length(&defs), length(&uses));
            if !instruction.never {
                collect(instruction, family, &mut defs, &mut uses);
            }
            let target = || instruction.target().and_then(|address| places.find(address));
            let is_call = instruction.base() == "CALL";
            let is_branch = matches!(instruction.base(), "BRA" | "JMP");
            sass.entries.push(Entry {
                row: *row,
                family,
                term: term(instruction, family),
                width: width_bytes(instruction).unwrap_or(0),
                routine: library::mark(instruction),
                operation: operation(instruction),
                computed_address: computed_address(instruction),
                conditional: instruction.guard.is_some(),
                exit: exit(instruction, target),
                callee: if is_call { target() } else { None },
                target: if is_branch { target() } else { None },
                defs: (defs_from, length(&defs)),
                uses: (uses_from, length(&uses)),
            });
            exits.extend(sass.entries.last().map(|entry| entry.exit));
        }
        sass.defs = defs;
        sass.uses = uses.into_iter().map(|(slot, role)| Use { slot, role, local: None }).collect();
        sass.flow = Flow::new(&exits);
        sass.link();
        sass
    }

    /// What an instruction writes.
    #[must_use]
    pub fn defs(&self, index: usize) -> &[Slot] {
        let (from, to) = self.entries[index].defs;
        &self.defs[from as usize..to as usize]
    }

    /// What an instruction reads.
    #[must_use]
    pub fn uses(&self, index: usize) -> &[Use] {
        let (from, to) = self.entries[index].uses;
        &self.uses[from as usize..to as usize]
    }

    /// The last definition of a slot in a block.
    pub(super) fn last_def(&self, block: u32, slot: Slot) -> Option<u32> {
        let defs = &self.last_defs[block as usize];
        let at = defs.binary_search_by_key(&slot, |&(slot, _)| slot).ok()?;
        Some(defs[at].1)
    }

    /// Connects uses with the definitions before them in their block.
    fn link(&mut self) {
        let mut last: Vec<Option<u32>> = vec![None; Slot::COUNT];
        for block in &self.flow.blocks {
            let mut touched = Vec::new();
            for index in block.start..block.end {
                let entry = &self.entries[index];
                for each in &mut self.uses[entry.uses.0 as usize..entry.uses.1 as usize] {
                    each.local = last[each.slot.index()];
                }
                for &slot in &self.defs[entry.defs.0 as usize..entry.defs.1 as usize] {
                    if last[slot.index()].is_none() {
                        touched.push(slot);
                    }
                    last[slot.index()] = u32::try_from(index).ok();
                }
            }
            touched.sort_unstable();
            let defs = touched.into_iter();
            let defs = defs.filter_map(|slot| Some((slot, last[slot.index()].take()?)));
            self.last_defs.push(defs.collect());
        }
    }
}

/// The addresses of the listing, ascending.
struct Places(Vec<u64>);

impl Places {
    fn new(parsed: &[(usize, Instruction)], rows: &[SourceRow]) -> Self {
        Self(parsed.iter().map(|(row, _)| rows[*row].address.unwrap_or_default()).collect())
    }

    /// Branch targets are absolute on the source page; some disassemblies count from the function.
    fn find(&self, target: u64) -> Option<usize> {
        let relative = || self.0.binary_search(&self.0.first()?.checked_add(target)?).ok();
        self.0.binary_search(&target).ok().or_else(relative)
    }
}

fn length<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

fn exit(instruction: &Instruction, target: impl Fn() -> Option<usize>) -> Exit {
    let conditional = instruction.guard.is_some()
        || instruction.operands.iter().any(|operand| {
            matches!(operand.kind, OperandKind::Predicate)
                || operand.kind == OperandKind::Register && instruction.has("DIV")
        });
    match instruction.base() {
        _ if instruction.never => Exit::Next,
        "BRA" | "JMP" => match (target(), conditional) {
            (Some(target), true) => Exit::Branch(target),
            (Some(target), false) => Exit::Jump(target),
            (None, true) => Exit::MaybeEnd,
            (None, false) => Exit::End,
        },
        "EXIT" | "RET" | "BRX" | "BRXU" | "JMX" | "JMXU" | "KILL" => {
            if conditional {
                Exit::MaybeEnd
            } else {
                Exit::End
            }
        }
        _ => Exit::Next,
    }
}

/// Rounding modes and saturation other than the usual ask for an operation of their own.
fn operation(instruction: &Instruction) -> Option<Operation> {
    if ["RM", "RP", "RZ", "SAT", "F32"].iter().any(|each| instruction.has(each)) {
        return None;
    }
    Some(match instruction.base() {
        "FMUL" | "FMUL2" | "DMUL" | "HMUL2" => Operation::Multiply,
        "FADD" | "FADD2" | "DADD" | "HADD2" => Operation::Add,
        "FFMA" | "FFMA2" | "DFMA" | "HFMA2" | "IDP" | "IDP4A" => Operation::Fused,
        _ => return None,
    })
}

fn computed_address(instruction: &Instruction) -> bool {
    instruction
        .operands
        .iter()
        .filter(|operand| matches!(operand.kind, OperandKind::Memory | OperandKind::Constant))
        .any(|operand| operand.slots().any(|(slot, _)| slot != Slot::STACK))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::export::SourceCounters;

    /// A launch with these instructions, 16 bytes apart from address 0x100, each executed so often.
    pub fn launch(code: &[(&str, f64)]) -> Launch {
        let mut launch = Launch::default();
        launch.instructions = (0_u64..)
            .zip(code)
            .map(|(index, (text, executed))| SourceRow {
                file: Some("k.cu".to_owned()),
                line: u32::try_from(index + 1).ok(),
                address: Some(0x100 + 16 * index),
                text: (*text).to_owned(),
                counters: SourceCounters { inst_executed: *executed, ..SourceCounters::default() },
                ..SourceRow::default()
            })
            .collect();
        launch
    }

    #[test]
    fn rows_are_taken_in_address_order() {
        let mut scattered = launch(&[("MOV R0, R1", 1.0), ("", 1.0), ("EXIT", 1.0)]);
        scattered.instructions.reverse();
        let listing = Listing::of(&scattered).unwrap();
        assert_eq!(listing.sass.entries.len(), 2, "a row without text is left out");
        assert_eq!((listing.text(0), listing.text(1)), ("MOV R0, R1", "EXIT"));
        assert!((listing.total() - 2.0).abs() < f64::EPSILON);
        assert!(Listing::of(&launch(&[("", 1.0)])).is_none());
    }

    #[test]
    fn branches_find_their_targets_absolute_or_from_the_start() {
        for target in ["0x110", "0x10"] {
            let branch = format!("@P0 BRA {target}");
            let code = launch(&[("NOP", 1.0), ("NOP", 9.0), (&branch, 9.0), ("EXIT", 1.0)]);
            let listing = Listing::of(&code).unwrap();
            assert_eq!(listing.sass.flow.loops.len(), 1, "{target}");
            assert_eq!(listing.sass.flow.loops[0].head, 1, "{target}");
        }
    }

    #[test]
    fn uses_see_the_last_definition_in_their_block() {
        let code = launch(&[("MOV R0, 0x1", 1.0), ("MOV R0, 0x2", 1.0), ("FADD R1, R0, R2", 1.0)]);
        let sass = Listing::of(&code).unwrap().sass;
        let seen: Vec<Option<u32>> = sass.uses(2).iter().map(|each| each.local).collect();
        assert_eq!(seen, [Some(1), None]);
    }

    #[test]
    fn an_address_is_computed_where_it_holds_more_than_the_stack_pointer() {
        let code = launch(&[
            ("STL [R1+0x1c], R28", 1.0),
            ("LDL R0, [R5]", 1.0),
            ("LDC R7, c[0x3][R7]", 1.0),
            ("LDC R1, c[0x0][0x28]", 1.0),
        ]);
        let computed = Listing::of(&code).unwrap().sass.entries.clone();
        let computed: Vec<bool> = computed.iter().map(|entry| entry.computed_address).collect();
        assert_eq!(computed, [false, true, true, false]);
    }
}
