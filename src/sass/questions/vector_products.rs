//! Rows that stream by and are multiplied by a vector that stays, as in attention of one query or a layer for one token.

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, Operand};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::matrix_loops::members;

/// A loop that multiplies what it loads by what it does not, and adds the products up over lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorProducts {
    /// All that the loop executes, ascending.
    pub inside: Vec<usize>,
    /// Its loads from global memory of numbers that are made wider before they are multiplied.
    pub loads: Vec<usize>,
    /// The multiplications.
    pub products: Vec<usize>,
}

/// Such loops. Numbers of 32 bits are left alone: a matrix product on tensor units would round them.
#[must_use]
pub fn vector_products(listing: &Listing) -> Vec<VectorProducts> {
    let loops = 0..listing.sass.flow.loops.len();
    loops.filter_map(|of| in_loop(listing, of)).collect()
}

fn in_loop(listing: &Listing, of: usize) -> Option<VectorProducts> {
    let sass = listing.sass;
    let entries = sass.entries.len();
    let inside = members(listing, of);
    let family = |at: usize| sass.entries[at].family;
    let is_load = |at: usize| matches!(family(at), Family::Load(Space::Global | Space::Generic));
    if !inside.iter().any(|&at| is_load(at)) || !inside.iter().any(|&at| is_exchange(family(at))) {
        return None;
    }
    let within = Marks::of(entries, |at| inside.binary_search(&at).is_ok());
    let mut reaching = Reaching::new(sass);
    let mut follows = |at: usize, each: &Use, of: &dyn Fn(usize) -> bool| {
        reaching.definitions(at, *each).any(|by| of(by as usize))
    };
    let data = |at: usize| sass.uses(at).iter().filter(|each| each.role == Role::Data);
    // What widens numbers, and nothing else, stands between a load and its product.
    let may_widen = Marks::of(entries, |at| within[at] && widens(listing, at));
    let mut widened = Marks::new(entries);
    widened.spread(&may_widen, |at, widened| {
        data(at).any(|each| follows(at, each, &|by| widened[by] || within[by] && is_load(by)))
    });
    let products: Vec<usize> = inside
        .iter()
        .copied()
        .filter(|&at| {
            let Some([one, other]) = factors(listing, at) else { return false };
            let mut is_row = |each: &Use| follows(at, each, &|by| widened[by]);
            let (one_is, other_is) = (is_row(&one), is_row(&other));
            let vector = if one_is { other } else { one };
            one_is != other_is && !follows(at, &vector, &|by| within[by])
        })
        .collect();
    let is_product = Marks::of(entries, |at| products.binary_search(&at).is_ok());
    // Products that something else is made of before lanes add up, such as a decay, are no part of a sum.
    let adds = Marks::of(entries, |at| within[at] && !added(listing, at).is_empty());
    let mut sums = is_product.clone();
    sums.spread(&adds, |at, sums| {
        added(listing, at).iter().any(|each| follows(at, each, &|by| sums[by]))
    });
    if products.is_empty() || !sums.iter().any(|at| is_exchange(family(at))) {
        return None;
    }
    let loads = inside.iter().copied().filter(|&at| is_load(at)).collect();
    Some(VectorProducts { inside, loads, products })
}

/// True for what brings a lane the value of another one.
fn is_exchange(family: Family) -> bool {
    family == Family::Shuffle
}

/// True for what makes a float of 32 bits of one of 16: a shift by a register's half for bf16, a conversion for halves.
fn widens(listing: &Listing, at: usize) -> bool {
    let text = listing.text(at);
    let Some(instruction) = Instruction::parse(text) else { return false };
    match instruction.base() {
        "SHF" | "IMAD" | "PRMT" | "LOP3" => {
            ["0x10,", "0x10000", "0x7632", "0xffff0000"].iter().any(|half| text.contains(half))
        }
        "HADD2" => instruction.has("F32"),
        "F2F" | "F2FP" => true,
        _ => false,
    }
}

/// What an instruction only adds up or hands to other lanes.
fn added(listing: &Listing, at: usize) -> Vec<Use> {
    let Some(instruction) = Instruction::parse(listing.text(at)) else { return Vec::new() };
    let uses = listing.sass.uses(at).iter().filter(|each| each.role == Role::Data).copied();
    match instruction.base() {
        "FADD" | "SHFL" => uses.collect(),
        "FFMA" => {
            let addend = instruction.operands.get(3).and_then(Operand::slot);
            uses.filter(|each| Some(each.slot) == addend).collect()
        }
        _ => Vec::new(),
    }
}

/// The two factors of a multiplication of floats, where both are in registers.
fn factors(listing: &Listing, at: usize) -> Option<[Use; 2]> {
    let instruction = Instruction::parse(listing.text(at))?;
    if !matches!(instruction.base(), "FMUL" | "FFMA") {
        return None;
    }
    let factor = |place: usize| {
        let slot = instruction.operands.get(place)?.slot()?;
        listing.sass.uses(at).iter().copied().find(|each| each.slot == slot)
    };
    Some([factor(1)?, factor(2)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(changes: &[(usize, &'static str)]) -> Vec<VectorProducts> {
        let mut code = vec![
            ("LDG.E R20, desc[UR4][R18.64]", 10.0), // the vector
            ("LDG.E R4, desc[UR4][R2.64]", 80.0),   // two numbers of a row
            ("IMAD.U32 R5, R4, 0x10000, RZ", 80.0),
            ("PRMT R6, R4, 0x7632, R6", 80.0),
            ("IMAD.U32 R6, R6, 0x10000, RZ", 80.0),
            ("FMUL R7, R20, R5", 80.0),
            ("FFMA R7, R21, R6, R7", 80.0),
            ("SHFL.BFLY PT, R8, R7, 0x10, 0x1f", 80.0),
            ("FADD R7, R7, R8", 80.0),
            ("@P0 BRA 0x110", 80.0),
            ("STG.E desc[UR4][R10.64], R7", 10.0),
            ("EXIT", 10.0),
        ];
        for &(at, text) in changes {
            code[at].0 = text;
        }
        vector_products(&launch(&code).listing().unwrap())
    }

    #[test]
    fn a_row_is_multiplied_by_a_vector_that_stays() {
        let found = of(&[]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].loads.clone(), found[0].products.clone()), (vec![1], vec![5, 6]));
    }

    #[test]
    fn squares_wide_numbers_and_sums_of_a_thread_are_none() {
        assert!(of(&[(5, "FMUL R7, R5, R5"), (6, "FFMA R7, R6, R6, R7")]).is_empty(), "squares");
        let wide = [(2, "MOV R5, R4"), (3, "NOP"), (4, "MOV R6, R4")];
        assert!(of(&wide).is_empty(), "floats of 32 bits");
        assert!(of(&[(7, "MOV R8, R7")]).is_empty(), "no other lane's");
        let decay = [(5, "FMUL R5, R20, R5"), (6, "FMUL R7, R5, R7")];
        assert!(of(&decay).is_empty(), "a state that the product only scales");
    }
}
