//! Loops in which each thread searches an ascending list by halving it, for where its own index belongs.
//!
//! What it looks for is made of the thread's and the block's index alone: neighbouring threads look for neighbouring numbers, and
//! find the same entry where entries are long.

use std::collections::BTreeSet;

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::alike::of_threads_own;
use crate::sass::questions::made_of_data::made_of_data;
use crate::sass::questions::matrix_loops::members;

/// A loop of such a search.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexSearch {
    /// What the loop executes, ascending.
    pub inside: Vec<usize>,
    /// Its loads of the list, ascending.
    pub loads: Vec<usize>,
    /// The entries that a warp looks at, on average.
    pub looks: f64,
}

/// The loops that search so.
#[must_use]
pub fn index_searches(listing: &Listing) -> Vec<IndexSearch> {
    let sass = listing.sass;
    let halves = |at: &usize| {
        listing.executed(*at) > 0.0
            && sass.flow.innermost(*at).is_some()
            && halves(sass.entries[*at].family, listing.text(*at))
    };
    let halvings = (0..sass.entries.len()).filter(halves);
    let loops: BTreeSet<usize> = halvings.filter_map(|at| sass.flow.innermost(at)).collect();
    let mut searches: Vec<IndexSearch> =
        loops.into_iter().filter_map(|of| IndexSearch::of_looks(listing, of)).collect();
    // Most kernels have no such loop, and need not be asked further.
    if !searches.is_empty() {
        let (own, of_data) = (of_threads_own(listing), made_of_data(listing));
        searches.retain(|search| search.is_for_index(listing, &own, &of_data));
    }
    searches
}

impl IndexSearch {
    /// A loop that only looks at values, halves numbers, and compares.
    fn of_looks(listing: &Listing, of: usize) -> Option<Self> {
        let sass = listing.sass;
        let mut inside = members(listing, of);
        inside.retain(|&at| listing.executed(at) > 0.0);
        let family = |at: usize| sass.entries[at].family;
        let is_load = |at: usize| family(at) == Family::Load(Space::Global);
        let searches = |&at: &usize| {
            is_load(at)
                || family(at) == Family::Constant
                || !family(at).is_memory() && !family(at).is_float()
        };
        if !inside.iter().all(searches) {
            return None;
        }
        let loads: Vec<usize> = inside.iter().copied().filter(|&at| is_load(at)).collect();
        let each = &sass.flow.loops[of];
        let entered = listing.executed(each.head) / turns(listing, each).max(1.0);
        let looked: f64 = loads.iter().map(|&at| listing.executed(at)).sum();
        let looks = looked / entered.max(f64::MIN_POSITIVE);
        (!loads.is_empty()).then_some(Self { inside, loads, looks })
    }

    /// True where the middle of what is left is looked at, and held against an index that stays.
    fn is_for_index(&self, listing: &Listing, own: &Marks, of_data: &Marks) -> bool {
        let sass = listing.sass;
        let family = |at: usize| sass.entries[at].family;
        let is_inside = |at: usize| self.inside.binary_search(&at).is_ok();
        let is_entry = |at: usize| self.loads.binary_search(&at).is_ok();
        let mut reaching = Reaching::new(sass);
        let mut makers = |at: usize, each: &Use| -> Vec<usize> {
            reaching.definitions(at, *each).map(|by| by as usize).collect()
        };
        let is_data = |by: usize| of_data[by] || family(by).is_memory();
        let is_index = |by: &[usize]| {
            !by.iter().any(|&by| is_inside(by) || is_data(by)) && by.iter().any(|&by| own[by])
        };
        let mut asks = |&at: &usize| {
            let sides = sass.uses(at).iter();
            let sides = sides.filter(|each| each.role == Role::Data && each.slot.is_general());
            let sides: Vec<Vec<usize>> = sides.map(|each| makers(at, each)).collect();
            listing.text(at).contains("ISETP")
                && sides.iter().any(|by| by.iter().any(|&by| is_entry(by)))
                && sides.iter().any(|by| is_index(by))
        };
        if !self.inside.iter().any(&mut asks) {
            return false;
        }
        let mut behind = Marks::new(sass.entries.len());
        let mut open = self.loads.clone();
        while let Some(at) = open.pop() {
            for each in sass.uses(at) {
                let made = makers(at, each).into_iter();
                let made = made.filter(|&by| is_inside(by) && !is_entry(by));
                open.extend(made.filter(|&by| behind.insert(by)));
            }
        }
        self.inside.iter().any(|&at| behind[at] && halves(family(at), listing.text(at)))
    }
}

/// True for what takes half of a number.
fn halves(family: Family, text: &str) -> bool {
    let is_shift = || text.contains("SHF.R") || text.contains("LEA.HI");
    matches!(family, Family::Integer | Family::Uniform)
        && is_shift()
        && text.contains(", 0x1")
        && text.split(", ").any(|operand| operand == "0x1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A search for what is in R0, with this look at the middle.
    fn of(index: &'static str, look: &'static str) -> Vec<IndexSearch> {
        let launch = launch(&[
            ("S2R R0, SR_TID.X", 8.0),
            (index, 8.0),
            ("IMAD.MOV.U32 R7, RZ, RZ, RZ", 8.0),
            ("MOV R6, 0x400", 8.0),
            ("IMAD.IADD R2, R7, 0x1, R6", 80.0), // 0x140
            ("SHF.R.S32.HI R9, RZ, 0x1, R2", 80.0),
            ("IMAD.WIDE R2, R9, 0x4, R4", 80.0),
            ("LDG.E R3, desc[UR6][R2.64]", 80.0),
            (look, 80.0),
            ("SEL R6, R6, R9, !P0", 80.0),
            ("@!P0 VIADD R7, R9, 0x1", 80.0),
            ("ISETP.GE.AND P0, PT, R7, R6, PT", 80.0),
            ("@!P0 BRA 0x140", 80.0),
            ("STG.E desc[UR6][R10.64], R7", 8.0),
            ("EXIT", 8.0),
        ]);
        index_searches(&launch.listing().unwrap())
    }

    const INDEX: &str = "IMAD R8, R1, 0x80, R0";

    #[test]
    fn a_search_for_the_threads_own_index_is_found() {
        let found = of(INDEX, "ISETP.GT.AND P0, PT, R3, R8, PT");
        let [search] = &found[..] else { panic!("{found:?}") };
        assert_eq!((search.loads.as_slice(), search.inside.len()), (&[7][..], 9));
        assert!((search.looks - 10.0).abs() < 1e-12, "{}", search.looks);
    }

    #[test]
    fn a_search_for_a_value_that_was_loaded_is_another() {
        assert!(of("LDG.E R8, desc[UR6][R12.64]", "ISETP.GT.AND P0, PT, R3, R8, PT").is_empty());
        let alike = of("MOV R8, 0x10", "ISETP.GT.AND P0, PT, R3, R8, PT");
        assert!(alike.is_empty(), "the same for all threads");
        assert!(of(INDEX, "ISETP.GT.AND P0, PT, R9, R8, PT").is_empty(), "no look at the list");
    }
}
