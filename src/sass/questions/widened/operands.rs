//! Where matrix instructions find their operands.

use std::collections::BTreeSet;

use crate::hardware::{GROUP_LANES, HALF_BYTES, REGISTER_BYTES};
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

/// True for a matrix instruction on floats of 32 bits.
pub(super) fn is_of_words(listing: &Listing, at: usize) -> bool {
    listing.text(at).contains(".TF32")
}

/// The operands of a matrix instruction on floats of 16 or 32 bits; `None` for others.
pub(super) fn operands(listing: &Listing, at: usize) -> Option<Operands> {
    let instruction = Instruction::parse(listing.text(at))?;
    if !matches!(instruction.base(), "HMMA" | "HGMMA") {
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
        let is_short = instruction.has("1688") && !instruction.has("TF32");
        let registers = if is_short { registers / 2 } else { registers };
        let is_in = |slot: Slot| (0..registers).any(|by| first.after(by) == Some(slot));
        let uses = sass.uses(at).iter().filter(|each| each.role == Role::Data && is_in(each.slot));
        in_registers[side] = uses.copied().collect();
    }
    Some(Operands { in_registers, from_memory })
}

/// Registers of A, at most: 16 rows of 16 halves, or of 8 words, over 32 lanes.
const A_REGISTERS: u16 = 4;
/// Registers of B, at most: 8 columns of 16 halves, or of 8 words.
const B_REGISTERS: u16 = 2;

/// How many products read the same part of B: as many as there are sums, where each product has registers of A of its own, and
/// so rows of its own.
pub(super) fn rows_of_b(listing: &Listing, products: &[usize]) -> f64 {
    let of = |operand: usize| {
        let name = move |&at: &usize| {
            let instruction = Instruction::parse(listing.text(at))?;
            instruction.operands.get(operand)?.slot().map(Slot::index)
        };
        products.iter().map(name).collect::<Option<BTreeSet<usize>>>()
    };
    match (of(1), of(0)) {
        (Some(a), Some(sums)) if a.len() == products.len() => sums.len() as f64,
        _ => 1.0,
    }
}

/// Bytes per lane, over all executions, of what a matrix instruction of a warp group reads from shared memory; of the operand
/// that all groups of a block may share, once for the block.
pub(super) fn group_bytes(listing: &Listing, at: usize, threads: f64) -> Option<f64> {
    let instruction = Instruction::parse(listing.text(at))?;
    let mut sides = instruction.modifiers().find(|each| each.contains('x'))?.split('x');
    let mut side = || sides.next()?.parse::<f64>().ok();
    let (rows, columns, depth) = (side()?, side()?, side()?);
    let from_memory = instruction.operands.get(1)?.text.starts_with("gdesc");
    let number = if is_of_words(listing, at) { REGISTER_BYTES } else { HALF_BYTES };
    let a = if from_memory { rows * depth * number } else { 0.0 };
    let b = columns * depth * number;
    let groups = (threads / GROUP_LANES).max(1.0);
    let needed = (a + b / groups).min(a / groups + b);
    Some(listing.executed(at) * needed / GROUP_LANES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn products_of_other_rows_read_the_same_part_of_b() {
        let rows = |a: &str| {
            let other = format!("HGMMA.64x64x8.F32.TF32 R56, {a}, gdesc[UR8], R56");
            let code = [("HGMMA.64x64x8.F32.TF32 R24, R8, gdesc[UR8], R24", 1.0), (&other, 1.0)];
            rows_of_b(&launch(&code).listing().unwrap(), &[0, 1])
        };
        assert!((rows("R12") - 2.0).abs() < 1e-12);
        assert!((rows("R8") - 1.0).abs() < 1e-12, "the same rows, other columns");
    }
}
