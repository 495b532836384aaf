//! Where matrix instructions find their operands.

use crate::hardware::{GROUP_LANES, HALF_BYTES};
use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;

/// The operands of a matrix instruction.
pub(super) struct Operands {
    /// The registers of A and of B.
    pub(super) in_registers: [Vec<Use>; 2],
    /// True where it reads B, or both, from shared memory.
    pub(super) from_memory: bool,
}

/// The operands of a matrix instruction on floats of 16 bits; `None` for others.
pub(super) fn operands(listing: &Listing, at: usize) -> Option<Operands> {
    let instruction = Instruction::parse(listing.text(at))?;
    if !matches!(instruction.base(), "HMMA" | "HGMMA") || instruction.has("TF32") {
        return None;
    }
    let sass = listing.sass;
    let mut in_registers: [Vec<Use>; 2] = Default::default();
    let is_descriptor = |operand: usize| {
        instruction.operands.get(operand).is_some_and(|each| each.text.starts_with("gdesc"))
    };
    let from_memory = instruction.base() == "HGMMA";
    // D, A, B, C; or D, the descriptors of A and B, C; or D, A, that of B, C.
    for (side, operand) in [1, 2].into_iter().enumerate() {
        if from_memory && (is_descriptor(1) || operand == 2) {
            continue;
        }
        let first = instruction.operands.get(operand)?.slot()?;
        let registers = if operand == 1 { A_REGISTERS } else { B_REGISTERS };
        let registers = if instruction.has("1688") { registers / 2 } else { registers };
        let is_in = |slot: Slot| (0..registers).any(|by| first.after(by) == Some(slot));
        let uses = sass.uses(at).iter().filter(|each| each.role == Role::Data && is_in(each.slot));
        in_registers[side] = uses.copied().collect();
    }
    Some(Operands { in_registers, from_memory })
}

/// Registers of A, at most: 16 rows of 16 halves over 32 lanes.
const A_REGISTERS: u16 = 4;
/// Registers of B, at most: 8 columns of 16 halves.
const B_REGISTERS: u16 = 2;

/// Bytes per lane, over all executions, of what a matrix instruction of a warp group reads from shared memory; of the operand
/// that all groups of a block may share, once for the block.
pub(super) fn group_bytes(listing: &Listing, at: usize, threads: f64) -> Option<f64> {
    let instruction = Instruction::parse(listing.text(at))?;
    let mut sides = instruction.modifiers().find(|each| each.contains('x'))?.split('x');
    let mut side = || sides.next()?.parse::<f64>().ok();
    let (rows, columns, depth) = (side()?, side()?, side()?);
    let from_memory = instruction.operands.get(1)?.text.starts_with("gdesc");
    let a = if from_memory { rows * depth * HALF_BYTES } else { 0.0 };
    let b = columns * depth * HALF_BYTES;
    let groups = (threads / GROUP_LANES).max(1.0);
    let needed = (a + b / groups).min(a / groups + b);
    Some(listing.executed(at) * needed / GROUP_LANES)
}
