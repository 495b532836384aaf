//! One instruction of a listing, without its text.

use super::blocks::Exit;
use crate::sass::parse::access::width_bytes;
use crate::sass::parse::instruction::{Instruction, OperandKind};
use crate::sass::parse::library;
use crate::sass::parse::library::Routine;
use crate::sass::parse::opcode::{Family, Turns, term};
use crate::sass::parse::register::Slot;
use crate::term::Term;

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

/// One instruction, without its text: 32 bytes, whatever the listing's length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListedInstruction {
    /// Its place in the launch's `instructions`.
    pub(in crate::sass) row: u32,
    /// Its source line, as a place in [`crate::sass::Sass::lines`].
    pub(in crate::sass) line: u32,
    /// Where a branch or call goes, as a place in the listing; [`NOWHERE`] where that is not known.
    pub(in crate::sass) to: u32,
    /// The first of its definitions among those of all.
    pub(in crate::sass) defs: u32,
    /// The first of its uses among those of all.
    pub(in crate::sass) uses: u32,
    /// What kind of work it is.
    pub family: Family,
    /// The unit that it keeps busy besides the issue slot.
    pub term: Option<Term>,
    /// How many turns it takes of that unit.
    pub turns: u8,
    /// Bytes per lane, for memory accesses; 0 elsewhere.
    pub width: u8,
    /// The library routine that it is the mark of.
    pub routine: Option<Routine>,
    /// Multiplication, addition, or both in one.
    pub operation: Option<Operation>,
    /// True for accesses whose address holds a register other than the stack pointer.
    pub computed_address: bool,
    /// True where a guard may leave the destination as it is.
    pub conditional: bool,
    passes: Passes,
}

/// [`ListedInstruction::to`] of instructions that pass control on to the next or to nowhere that is known.
pub(in crate::sass) const NOWHERE: u32 = u32::MAX;

/// What an instruction does with control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passes {
    /// Goes on.
    On,
    /// Goes to a function, and on after it.
    Calls,
    /// Goes elsewhere.
    Jumps,
    /// Goes elsewhere where its condition holds.
    Branches,
    /// Goes on; the ways that part from here meet again elsewhere.
    Parts,
    /// Goes where a table says.
    Chooses,
    /// Ends.
    Ends,
    /// Ends where its condition holds.
    MayEnd,
}

impl ListedInstruction {
    /// The entry of an instruction in a row of the launch's and of a line, whose definitions and uses begin
    /// at these places. Where it goes is not known yet.
    pub(in crate::sass) fn new(
        instruction: &Instruction,
        (row, line): (usize, u32),
        (defs, uses): (usize, usize),
        turns: Turns,
    ) -> Self {
        let family = Family::of(instruction);
        Self {
            row: place(row),
            line,
            to: NOWHERE,
            defs: place(defs),
            uses: place(uses),
            family,
            term: term(instruction, family),
            turns: turns.of(instruction, family),
            width: width_bytes(instruction).unwrap_or(0),
            routine: library::mark(instruction),
            operation: operation(instruction),
            computed_address: computed_address(instruction),
            conditional: instruction.guard.is_some(),
            passes: passes(instruction),
        }
    }

    /// Its source line, as a place below [`crate::sass::Sass::line_count`].
    #[must_use]
    pub fn line(&self) -> usize {
        self.line as usize
    }

    /// True where it names another place, to which control may go.
    pub(in crate::sass) fn goes(&self) -> bool {
        matches!(self.passes, Passes::Calls | Passes::Jumps | Passes::Branches | Passes::Parts)
    }

    /// Where the ways meet again that part behind this instruction, as a place in the listing.
    pub(in crate::sass) fn meets(&self) -> Option<usize> {
        self.known_target().filter(|_| self.passes == Passes::Parts)
    }

    /// True for an indirect branch, which goes where a table says.
    pub(in crate::sass) fn chooses(&self) -> bool {
        self.passes == Passes::Chooses
    }

    /// Where a call goes, as a place in the listing.
    #[must_use]
    pub fn callee(&self) -> Option<usize> {
        self.known_target().filter(|_| self.passes == Passes::Calls)
    }

    /// Where a branch goes, as a place in the listing.
    #[must_use]
    pub fn target(&self) -> Option<usize> {
        self.known_target().filter(|_| matches!(self.passes, Passes::Jumps | Passes::Branches))
    }

    /// How it passes control on.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match (self.passes, self.known_target()) {
            (Passes::On | Passes::Calls | Passes::Parts, _) => Exit::Next,
            (Passes::Branches, Some(target)) => Exit::Branch(target),
            (Passes::Jumps, Some(target)) => Exit::Jump(target),
            (Passes::Branches | Passes::MayEnd, _) => Exit::MaybeEnd,
            (Passes::Jumps | Passes::Chooses | Passes::Ends, _) => Exit::End,
        }
    }

    fn known_target(&self) -> Option<usize> {
        (self.to != NOWHERE).then_some(self.to as usize)
    }
}

fn passes(instruction: &Instruction) -> Passes {
    let base = instruction.base();
    if base == "CALL" {
        return Passes::Calls;
    }
    if instruction.never {
        return Passes::On;
    }
    let conditional = || {
        instruction.guard.is_some()
            || instruction.operands.iter().any(|operand| {
                matches!(operand.kind, OperandKind::Predicate)
                    || operand.kind == OperandKind::Register && instruction.has("DIV")
            })
    };
    match base {
        "BRA" | "JMP" if conditional() => Passes::Branches,
        "BRA" | "JMP" => Passes::Jumps,
        "EXIT" | "RET" | "BRX" | "BRXU" | "JMX" | "JMXU" | "KILL" if conditional() => {
            Passes::MayEnd
        }
        "BRX" | "BRXU" | "JMX" | "JMXU" => Passes::Chooses,
        "EXIT" | "RET" | "KILL" => Passes::Ends,
        "BSSY" => Passes::Parts,
        _ => Passes::On,
    }
}

fn operation(instruction: &Instruction) -> Option<Operation> {
    let operation = match instruction.base() {
        "FMUL" | "FMUL2" | "DMUL" | "HMUL2" => Operation::Multiply,
        "FADD" | "FADD2" | "DADD" | "HADD2" => Operation::Add,
        "FFMA" | "FFMA2" | "DFMA" | "HFMA2" | "IDP" | "IDP4A" => Operation::Fused,
        _ => return None,
    };
    // Rounding modes and saturation other than the usual ask for an operation of their own.
    let is_usual = !["RM", "RP", "RZ", "SAT", "F32"].iter().any(|each| instruction.has(each));
    is_usual.then_some(operation)
}

fn computed_address(instruction: &Instruction) -> bool {
    instruction
        .operands
        .iter()
        .filter(|operand| matches!(operand.kind, OperandKind::Memory | OperandKind::Constant))
        .any(|operand| operand.slots().any(|(slot, _)| slot != Slot::STACK))
}

/// A place in a list, which no export is long enough to have too many of.
pub(in crate::sass) fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(NOWHERE)
}
