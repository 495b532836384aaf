//! Sums in the form of products: one factor is a zero or a one that a comparison of indices chooses.
//!
//! A matrix of such factors is the same in every launch: its products only select what is added. It is made by selections
//! between the two numbers, and stays in registers or goes through shared memory.

use std::collections::BTreeSet;

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, Operand, OperandKind};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::lanes::addresses;

/// Products by zeros and ones.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenSums {
    /// The multiply-adds, ascending.
    pub products: Vec<usize>,
    /// The selections between zero and one, their stores to shared memory and the loads from there.
    pub factors: BTreeSet<usize>,
    /// The loads from shared memory of what is multiplied, and of nothing else.
    pub terms: BTreeSet<usize>,
    /// Sums: warp-wide.
    pub sums: f64,
    /// Terms of a sum, those that are multiplied by zero among them.
    pub length: f64,
}

/// The sums that a kernel takes by multiplying with zeros and ones; `None` without any. The blocks have this shape and number.
#[must_use]
pub fn chosen_sums(listing: &Listing, block: [u32; 3], grid: [u32; 3]) -> Option<ChosenSums> {
    let sass = listing.sass;
    let count = sass.entries.len();
    let mut reaching = Reaching::new(sass);
    let chosen =
        Marks::of(count, |at| listing.executed(at) > 0.0 && is_choice(listing, &mut reaching, at));
    if chosen.are_none() {
        return None;
    }
    let (stores, loads) = through_shared(listing, &mut reaching, &chosen, block, grid);
    let is_factor = Marks::of(count, |at| chosen[at] || loads.contains(&at));
    let mut products: Vec<usize> = Vec::new();
    let mut terms = BTreeSet::new();
    let mut factors = BTreeSet::new();
    for (at, entry) in listing.entries() {
        let multiplies = matches!(entry.family, Family::Fp32Fma)
            && listing.text(at).contains("FMA")
            && listing.executed(at) > 0.0;
        if !multiplies {
            continue;
        }
        let makers = factors_of(listing, &mut reaching, at);
        let all = |makers: &[usize]| !makers.is_empty() && makers.iter().all(|&by| is_factor[by]);
        let (factor, term) = match makers {
            [first, second] if all(&first) => (first, second),
            [first, second] if all(&second) => (second, first),
            _ => continue,
        };
        products.push(at);
        factors.extend(factor);
        let is_shared = |by: &usize| sass.entries[*by].family == Family::Load(Space::Shared);
        terms.extend(term.into_iter().filter(is_shared));
    }
    let is_product = Marks::of(count, |at| products.binary_search(&at).is_ok());
    let mut sums = 0.0;
    for &at in &products {
        sums += begun(listing, &mut reaching, at, &is_product);
    }
    if sums <= 0.0 {
        return None;
    }
    // What anything else reads has to be loaded still.
    for (at, _) in listing.entries().filter(|(at, _)| !is_product[*at]) {
        for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
            for by in reaching.definitions(at, *each) {
                let moves = sass.entries[at].family == Family::Move;
                if !moves {
                    terms.remove(&(by as usize));
                }
            }
        }
    }
    if factors.iter().any(|at| loads.contains(at)) {
        factors.extend(stores);
        factors.extend(chosen.iter());
    }
    let executed: f64 = products.iter().map(|&at| listing.executed(at)).sum();
    Some(ChosenSums { products, factors, terms, sums, length: executed / sums })
}

/// True for a selection between zero and one by comparisons of what the kernel does not load and no parameter says.
fn is_choice(listing: &Listing, reaching: &mut Reaching, at: usize) -> bool {
    let text = listing.text(at);
    // Most instructions are none, and taking them apart takes time.
    let Some(instruction) = text.contains("SEL").then(|| Instruction::parse(text)).flatten() else {
        return false;
    };
    let numbers: Vec<&Operand> = instruction
        .operands
        .iter()
        .skip(1)
        .filter(|operand| operand.kind != OperandKind::Predicate)
        .collect();
    let is_one = |operand: &&&Operand| ONES.contains(&operand.text);
    let is_zero = |operand: &&&Operand| matches!(operand.text, "RZ" | "0" | "-RZ");
    matches!(instruction.base(), "SEL" | "FSEL")
        && numbers.len() == 2
        && numbers.iter().filter(is_one).count() == 1
        && numbers.iter().filter(is_zero).count() == 1
        && is_of_indices(listing, reaching, at)
}

/// One as a number of 32 bits, and as its bits. Doubles, whose halves are selected apart, are not followed.
const ONES: [&str; 2] = ["1", "0x3f800000"];

/// True where a condition is made of the thread's indices, counters and constants alone.
fn is_of_indices(listing: &Listing, reaching: &mut Reaching, at: usize) -> bool {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![at];
    while let Some(at) = open.pop() {
        for each in sass.uses(at) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                let family = sass.entries[by].family;
                let text = listing.text(by);
                let is_index = match family {
                    Family::Integer | Family::IntegerMultiply | Family::Move | Family::Uniform => {
                        !text.contains("c[")
                    }
                    Family::System => text.contains("SR_TID") || text.contains("SR_LANEID"),
                    _ => false,
                };
                if !is_index {
                    return false;
                }
                if seen.insert(by) {
                    open.push(by);
                }
            }
        }
    }
    true
}

/// The stores to shared memory of nothing but such factors, and the loads of what they stored.
fn through_shared(
    listing: &Listing,
    reaching: &mut Reaching,
    chosen: &Marks,
    block: [u32; 3],
    grid: [u32; 3],
) -> (Vec<usize>, BTreeSet<usize>) {
    let sass = listing.sass;
    let of_family = |family| {
        let is =
            move |at: &usize| sass.entries[*at].family == family && listing.executed(*at) > 0.0;
        (0..sass.entries.len()).filter(is)
    };
    let mut of_factors = |at: usize| {
        let data: Vec<Use> =
            sass.uses(at).iter().filter(|each| each.role == Role::Data).copied().collect();
        let mut is_chosen = |each: &Use| {
            let mut makers = reaching.definitions(at, *each).map(|by| by as usize);
            makers.len() > 0 && makers.all(|by| chosen[by])
        };
        !data.is_empty() && data.iter().all(&mut is_chosen)
    };
    let stores: Vec<(usize, bool)> =
        of_family(Family::Store(Space::Shared)).map(|at| (at, of_factors(at))).collect();
    if !stores.iter().any(|(_, is_factor)| *is_factor) {
        return Default::default();
    }
    let first = |at: usize| {
        let of_lanes = addresses(listing, at, block, grid)?.bytes;
        of_lanes.into_iter().min()
    };
    // A warp's part of each array begins where its first lane stores: arrays follow each other. Shared memory may be used
    // again later.
    let mut begins: Vec<(Option<u32>, usize, bool)> =
        stores.iter().map(|&(at, is_factor)| (first(at), at, is_factor)).collect();
    begins.sort_unstable();
    let is_from_factors = |load: &usize| {
        let place = sass.flow.innermost(*load);
        let may_be_seen =
            |store: usize| store < *load || place.is_some() && sass.flow.innermost(store) == place;
        let mut before = None;
        for (begin, _, is_factor) in begins.iter().filter(|(_, store, _)| may_be_seen(*store)) {
            match (begin, first(*load)) {
                (Some(begin), Some(from)) if *begin <= from => before = Some(*is_factor),
                (Some(_), Some(_)) => {}
                _ => return false,
            }
        }
        before == Some(true)
    };
    let loads = of_family(Family::Load(Space::Shared)).filter(is_from_factors).collect();
    let stores = stores.into_iter().filter(|(_, is_factor)| *is_factor).map(|(at, _)| at);
    (stores.collect(), loads)
}

/// What made the two factors of a multiply-add, copies followed.
fn factors_of(listing: &Listing, reaching: &mut Reaching, at: usize) -> [Vec<usize>; 2] {
    let instruction = Instruction::parse(listing.text(at));
    let slot = |place: usize| instruction.as_ref()?.operands.get(place)?.slot();
    [slot(1), slot(2)].map(|slot| {
        let uses = listing.sass.uses(at).iter().filter(|each| Some(each.slot) == slot);
        let mut makers = Vec::new();
        let mut open: Vec<(usize, Use)> = uses.take(1).map(|each| (at, *each)).collect();
        let mut seen = BTreeSet::new();
        while let Some((at, each)) = open.pop() {
            for by in reaching.definitions(at, each).map(|by| by as usize) {
                let copied = listing.sass.uses(by).iter().find(|each| each.role == Role::Data);
                let is_copy = listing.text(by).contains("MOV");
                match copied.filter(|_| is_copy) {
                    Some(copied) if seen.insert(by) => open.push((by, *copied)),
                    Some(_) => {}
                    None => makers.push(by),
                }
            }
        }
        makers
    })
}

/// How many sums begin with a product: what it adds to is none of the products.
fn begun(listing: &Listing, reaching: &mut Reaching, at: usize, products: &Marks) -> f64 {
    let parsed = Instruction::parse(listing.text(at));
    let added = parsed.as_ref().and_then(|parsed| parsed.operands.get(3)?.slot());
    let Some(each) = listing.sass.uses(at).iter().rev().find(|each| Some(each.slot) == added)
    else {
        // Nothing yet.
        return listing.executed(at);
    };
    let makers = reaching.definitions(at, *each).map(|by| by as usize);
    // What comes back from a spill goes on.
    let begins = |by: &usize| {
        !products[*by] && listing.sass.entries[*by].family != Family::Load(Space::Local)
    };
    let others: f64 = makers.filter(begins).map(|by| listing.executed(by)).sum();
    others.min(listing.executed(at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn found(choice: &str, compared: &str, stored: &str) -> Option<ChosenSums> {
        let launch = launch(&[
            ("S2R R0, SR_TID.X", 1.0),
            ("SHF.R.U32.HI R1, RZ, 0x3, R0", 1.0),
            ("LOP3.LUT R2, R0, 0x7, RZ, 0xc0, !PT", 1.0),
            (compared, 1.0),
            (choice, 1.0), // 4
            ("IMAD.SHL.U32 R5, R0, 0x4, RZ", 1.0),
            ("LDG.E R8, desc[UR4][R12.64]", 1.0),
            ("STS [R5+0x1000], R4", 1.0), // 7
            (stored, 1.0),
            ("LDS.64 R16, [R5+0x1000]", 1.0), // 9: factors
            ("LDS.64 R18, [R5]", 1.0),        // 10: terms
            ("FFMA R20, R16, R18, RZ", 1.0),
            ("FFMA R20, R17, R19, R20", 1.0),
            ("STG.E desc[UR4][R14.64], R20", 1.0),
            ("EXIT", 1.0),
        ]);
        chosen_sums(&launch.listing().unwrap(), [64, 1, 1], [1, 1, 1])
    }

    const CHOICE: &str = "SEL R4, RZ, 0x3f800000, !P0";
    const COMPARED: &str = "ISETP.GE.U32.AND P0, PT, R1, R2, PT";
    const STORED: &str = "STS [R5], R8";

    #[test]
    fn a_matrix_of_zeros_and_ones_is_followed_through_shared_memory() {
        let found = found(CHOICE, COMPARED, STORED).unwrap();
        assert_eq!(found.products, [11, 12]);
        assert_eq!(found.factors, BTreeSet::from([4, 7, 9]));
        assert_eq!(found.terms, BTreeSet::from([10]));
        assert!((found.sums - 1.0).abs() < 1e-12 && (found.length - 2.0).abs() < 1e-12);
    }

    #[test]
    fn other_factors_are_none() {
        let half = "SEL R4, RZ, 0x3f000000, !P0";
        assert!(found(half, COMPARED, STORED).is_none(), "a weight");
        let by_data = "FSETP.GE.AND P0, PT, R8, R2, PT";
        assert!(found(CHOICE, by_data, STORED).is_none(), "no index");
        let bound = "ISETP.GE.AND P0, PT, R1, c[0x0][0x220], PT";
        assert!(found(CHOICE, bound, STORED).is_none(), "the end of the data");
        let over = "STS [R5+0x1000], R8";
        assert!(found(CHOICE, COMPARED, over).is_none(), "something else lies there as well");
    }
}
