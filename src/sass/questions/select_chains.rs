//! Look-ups by comparison: chains of selections between constants, each by whether an index equals another constant. A copy of
//! a constant whose guard is such a comparison is a selection, too: the compiler makes them of small arrays of constants.

use std::collections::{BTreeMap, BTreeSet};

use crate::sass::Instruction;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::{Operand, OperandKind};
use crate::sass::parse::operands::Role;

/// A chain of selections that a table could stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectChain {
    /// The selections, the last one first.
    pub selects: Vec<usize>,
    /// The comparisons of the index with a constant.
    pub compares: BTreeSet<usize>,
}

/// A selection between a constant and a value, by the comparison of an index.
struct Select {
    /// The comparison.
    by: usize,
    /// What made the index.
    index: u32,
    /// What made the other value.
    from: Option<usize>,
}

/// The executed chains, each once by its last selection. One that goes on into another chain ends where it meets it: the shared
/// selections are counted once.
#[must_use]
pub fn select_chains(listing: &Listing) -> Vec<SelectChain> {
    let sass = listing.sass;
    let mut reaching = Reaching::new(sass);
    let mut selects: BTreeMap<usize, Select> = BTreeMap::new();
    for (at, _) in listing.entries() {
        if listing.executed(at) > 0.0
            && let Some(select) = select(listing, &mut reaching, at)
        {
            selects.insert(at, select);
        }
    }
    let goes_on: BTreeSet<usize> = selects.values().filter_map(|select| select.from).collect();
    let ends = selects.keys().filter(|at| !goes_on.contains(at));
    let mut taken = Marks::new(sass.entries.len());
    ends.map(|&end| {
        let mut chain = SelectChain { selects: Vec::new(), compares: BTreeSet::new() };
        let index = selects[&end].index;
        let mut next = Some(end);
        while let Some(at) = next {
            let of_index = selects.get(&at).filter(|select| select.index == index);
            let Some(select) = of_index.filter(|_| taken.insert(at)) else { break };
            chain.selects.push(at);
            chain.compares.insert(select.by);
            next = select.from;
        }
        chain
    })
    .collect()
}

/// The selection at a place, where it is one.
fn select(listing: &Listing, reaching: &mut Reaching, at: usize) -> Option<Select> {
    let sass = listing.sass;
    let text = listing.text(at);
    // Most instructions are none, and taking them apart takes time.
    if text.starts_with('@') && text.contains("MOV") {
        return guarded_copy(listing, reaching, at);
    }
    let instruction = text.contains("SEL").then(|| Instruction::parse(text))??;
    if !matches!(instruction.base(), "SEL" | "FSEL") {
        return None;
    }
    if !instruction.operands.iter().skip(1).any(is_constant) {
        return None;
    }
    let mut by = None;
    let mut from = None;
    for each in sass.uses(at) {
        let mut made_at = reaching.definitions(at, *each).map(|made_at| made_at as usize);
        let first = made_at.next();
        let only = first.filter(|_| made_at.len() == 0);
        if each.slot.is_general() { from = only } else { by = only }
    }
    let by = by?;
    let index = index(listing, reaching, by)?;
    Some(Select { by, index, from })
}

/// The selection that a guarded copy of a constant makes between it and what the register held.
fn guarded_copy(listing: &Listing, reaching: &mut Reaching, at: usize) -> Option<Select> {
    let instruction = Instruction::parse(listing.text(at))?;
    let copies =
        instruction.base() == "MOV" || instruction.base() == "IMAD" && instruction.has("MOV");
    if !copies || !instruction.operands.last().is_some_and(is_constant) {
        return None;
    }
    let of = |role: Role| listing.sass.uses(at).iter().find(|each| each.role == role).copied();
    let (guard, old) = (of(Role::Guard)?, of(Role::Old)?);
    let mut made_at = reaching.definitions(at, guard).map(|made_at| made_at as usize);
    let by = made_at.next().filter(|_| made_at.len() == 0)?;
    drop(made_at);
    // Every copy of the chain may have made it; the last one comes next.
    let from = reaching.definitions(at, old).map(|made_at| made_at as usize);
    let from = from.filter(|&made_at| made_at < at).max();
    let index = index(listing, reaching, by)?;
    Some(Select { by, index, from })
}

/// What made the index that a comparison holds against a constant; `None` for any other comparison.
fn index(listing: &Listing, reaching: &mut Reaching, compare: usize) -> Option<u32> {
    let text = listing.text(compare);
    let is_equality = text.contains("ISETP.EQ") || text.contains("ISETP.NE");
    let instruction = Instruction::parse(text).filter(|_| is_equality)?;
    if !instruction.operands.iter().any(is_constant) {
        return None;
    }
    let mut general = listing.sass.uses(compare).iter().filter(|each| each.slot.is_general());
    let of = general.next()?;
    let mut made_at = reaching.definitions(compare, *of);
    made_at.next().filter(|_| made_at.len() == 0)
}

/// True for a number in the code, and for the register that is always zero.
fn is_constant(operand: &Operand) -> bool {
    let digits = operand.text.trim_start_matches('-');
    operand.text == "RZ"
        || operand.kind != OperandKind::Register
            && digits.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn lengths(compare: &'static str, last: &'static str) -> Vec<(usize, usize)> {
        let launch = launch(&[
            ("LOP3.LUT R2, R1, 0xf, RZ, 0xc0, !PT", 1.0),
            ("ISETP.NE.AND P0, PT, R2, 0x1, PT", 1.0),
            (compare, 1.0),
            ("ISETP.EQ.AND P2, PT, R2, RZ, PT", 1.0),
            ("FSEL R4, R9, -0.5, P0", 1.0),
            ("FSEL R5, R4, 0.25, P1", 1.0),
            (last, 1.0),
            ("EXIT", 1.0),
        ]);
        let chains = select_chains(&launch.listing().unwrap());
        chains.iter().map(|chain| (chain.selects.len(), chain.compares.len())).collect()
    }

    #[test]
    fn guarded_copies_of_constants_are_selections() {
        let launch = launch(&[
            ("LOP3.LUT R2, R1, 0xf, RZ, 0xc0, !PT", 1.0),
            ("ISETP.EQ.AND P0, PT, R2, RZ, PT", 1.0),
            ("ISETP.EQ.AND P1, PT, R2, 0x4, PT", 1.0),
            ("ISETP.EQ.AND P2, PT, R2, 0x8, PT", 1.0),
            ("@P0 IMAD.MOV.U32 R4, RZ, RZ, RZ", 1.0),
            ("@P1 MOV R4, 0x3f000000", 1.0),
            ("@P2 IMAD.MOV.U32 R4, RZ, RZ, 0x3f800000", 1.0),
            ("@P2 MOV R5, R9", 1.0),
            ("EXIT", 1.0),
        ]);
        let chains = select_chains(&launch.listing().unwrap());
        assert_eq!(chains.len(), 1, "another value is no constant");
        assert_eq!((chains[0].selects.clone(), chains[0].compares.len()), (vec![6, 5, 4], 3));
    }

    #[test]
    fn a_chain_goes_by_one_index_and_its_equality() {
        let equal = "ISETP.EQ.AND P1, PT, R2, 0x2, PT";
        assert_eq!(lengths(equal, "FSEL R6, R5, RZ, P2"), [(3, 3)]);
        assert_eq!(lengths(equal, "FSEL R6, R5, R7, P2"), [(2, 2)], "no constant");
        let less = "ISETP.LT.AND P1, PT, R2, 0x2, PT";
        assert_eq!(lengths(less, "FSEL R6, R5, RZ, P2"), [(1, 1), (1, 1)], "a range, not an entry");
        let other = "ISETP.EQ.AND P1, PT, R3, 0x2, PT";
        assert_eq!(lengths(other, "FSEL R6, R5, RZ, P2"), [(1, 1), (1, 1)], "R3 is nobody's");
    }
}
