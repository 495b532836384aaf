//! Squared distances between the rows of one matrix and those of another: sums of squared differences.
//!
//! The sum of (x - y)² over the features of two rows is x² + y² - 2xy: two sums that each belong to one row, and an element of
//! the product of one matrix with the other one transposed. Each term is a difference of two loaded values and its square. A
//! variance or the distance from one given row is none: no side has rows there that meet several of the other's.

mod rows;
mod sums;

use crate::sass::code::listed_instruction::Operation;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::{Instruction, Operand, OperandKind};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::product::{Element, source};
use crate::sass::thresholds::FRAGMENT_BYTES;
use sums::Sums;

/// Distances of all rows of one matrix from all rows of another.
#[derive(Debug, Clone, PartialEq)]
pub struct SquaredDistances {
    /// The differences. Nothing but the squares reads them.
    pub differences: Marks,
    /// Their squares, most of them in multiply-adds.
    pub squares: Marks,
    /// What else adds up: additions, and exchanges between lanes.
    pub sums: Marks,
    /// What was loaded: [`Element::Half`] where all was widened from 16 bits, [`Element::Single`] elsewhere.
    pub element: Element,
    /// Terms of a distance: features.
    pub depth: f64,
    /// Distances: warp-wide.
    pub distances: f64,
}

/// The squared distances that a kernel of blocks of this shape takes; `None` where it takes none of as many features as a
/// matrix instruction sums over.
#[must_use]
pub fn squared_distances(listing: &Listing, block: [u32; 3]) -> Option<SquaredDistances> {
    let mut reaching = Reaching::new(listing.sass);
    let terms = terms(listing, &mut reaching);
    if terms.is_empty() {
        return None;
    }
    let sums = Sums::new(listing, &mut reaching, &terms);
    let results = rows::results(listing, &mut reaching, &terms, &sums, block);
    let is_half = |at: &usize| terms[*at].sides.iter().all(|side| side.widened);
    let are_half = results.iter().all(|result| result.terms.iter().all(is_half));
    let element = if are_half { Element::Half } else { Element::Single };
    let count = listing.sass.entries.len();
    let mut found = SquaredDistances {
        differences: Marks::new(count),
        squares: Marks::new(count),
        sums: Marks::new(count),
        element,
        depth: 0.0,
        distances: 0.0,
    };
    let mut executed = 0.0;
    let is_deep = |depth: f64| depth * element_bytes(element) >= FRAGMENT_BYTES.value;
    for result in results.iter().filter(|result| is_deep(result.depth)) {
        for term in result.terms.iter().map(|&at| &terms[at]) {
            found.squares.insert(term.square);
            if found.differences.insert(term.difference) {
                let differences = listing.executed(term.difference);
                executed += differences;
                found.distances += differences / result.depth;
            }
        }
        found.sums = sums.beside(result.sum, found.sums);
    }
    if found.squares.are_none() {
        return None;
    }
    found.depth = executed / found.distances;
    Some(found)
}

/// Bytes of a feature as a matrix instruction takes it. One of TF32 takes a register.
fn element_bytes(element: Element) -> f64 {
    if element == Element::Half { 2.0 } else { 4.0 }
}

/// A squared difference.
struct Term {
    square: usize,
    difference: usize,
    /// What the difference is taken of, and what is taken off.
    sides: [Side; 2],
}

/// A value that a difference is made of.
struct Side {
    /// The instruction that makes it, and the register.
    value: (usize, Slot),
    /// The load that it comes from.
    load: usize,
    /// Whether it was widened from 16 bits.
    widened: bool,
}

/// The squares of differences that nothing else reads, ascending.
fn terms(listing: &Listing, reaching: &mut Reaching) -> Vec<Term> {
    let sass = listing.sass;
    let executed = |at: &usize| listing.executed(*at) > 0.0;
    let all = (0..sass.entries.len()).filter(executed);
    let mut terms: Vec<Term> = all.filter_map(|at| term(listing, reaching, at)).collect();
    if terms.is_empty() {
        return terms;
    }
    let count = sass.entries.len();
    let mut differences = Marks::new(count);
    let mut squares = Marks::new(count);
    for term in &terms {
        differences.insert(term.difference);
        squares.insert(term.square);
    }
    let mut read_otherwise = Marks::new(count);
    for at in (0..count).filter(|&at| !squares[at]) {
        for each in sass.uses(at).iter().filter(|each| each.role != Role::Old) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                if differences[by] {
                    read_otherwise.insert(by);
                }
            }
        }
    }
    terms.retain(|term| !read_otherwise[term.difference]);
    terms
}

/// The term whose square an instruction takes.
fn term(listing: &Listing, reaching: &mut Reaching, at: usize) -> Option<Term> {
    let sass = listing.sass;
    let entry = &sass.entries[at];
    let multiplies = matches!(entry.operation, Some(Operation::Fused | Operation::Multiply));
    if !multiplies || !matches!(entry.family, Family::Fp32Fma | Family::Fp32Mul) {
        return None;
    }
    // Most multiplications are no squares, and taking them apart takes time.
    let mut factors = sass.uses(at).iter().filter(|each| each.role == Role::Data);
    let factor = *factors.next()?;
    if factors.next()?.slot != factor.slot {
        return None;
    }
    let parsed = Instruction::parse(listing.text(at))?;
    if register(parsed.operands.get(1)?)? != factor.slot
        || register(parsed.operands.get(2)?)? != factor.slot
    {
        return None;
    }
    let difference = {
        let mut made = reaching.definitions(at, factor).map(|by| by as usize);
        made.next().filter(|_| made.next().is_none())?
    };
    let [first, second] = difference_of(listing, difference)?;
    let first = side(listing, reaching, difference, first)?;
    let second = side(listing, reaching, difference, second)?;
    Some(Term { square: at, difference, sides: [first, second] })
}

/// What a difference is taken of, and what is taken off.
fn difference_of(listing: &Listing, at: usize) -> Option<[Slot; 2]> {
    let entry = &listing.sass.entries[at];
    if entry.operation != Some(Operation::Add) || entry.family != Family::Fp32Add {
        return None;
    }
    let parsed = Instruction::parse(listing.text(at))?;
    let [first, second] = [parsed.operands.get(1)?, parsed.operands.get(2)?];
    let [one, other] = [register(first)?, register(second)?];
    if [first, second].iter().any(|operand| operand.text.contains('|')) {
        return None;
    }
    match [first, second].map(|operand| operand.text.starts_with('-')) {
        [false, true] => Some([one, other]),
        [true, false] => Some([other, one]),
        _ => None,
    }
}

fn register(operand: &Operand) -> Option<Slot> {
    operand.slot().filter(|_| operand.kind == OperandKind::Register)
}

fn side(listing: &Listing, reaching: &mut Reaching, at: usize, slot: Slot) -> Option<Side> {
    let uses = listing.sass.uses(at).iter().copied();
    let each = uses.filter(|each| each.role == Role::Data).find(|each| each.slot == slot)?;
    let maker = reaching.definitions(at, each).next_back()? as usize;
    let (load, widened) = source(listing, reaching, at, each)?;
    Some(Side { value: (maker, slot), load, widened })
}

#[cfg(test)]
mod tests;
