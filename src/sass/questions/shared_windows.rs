//! Windows in shared memory: what a thread reads around a place of its own, as a stencil does.
//!
//! All of a place's loads go by one base and differ by constants alone. Another result of the thread then moves every one of
//! them by the same distance, so that two results share only the values at which both windows overlap. Where loads go by
//! several bases, as in a product, one of them may stay where it is, and nothing is said.

use std::collections::{BTreeMap, HashSet};

use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, OperandKind};
use crate::sass::parse::number::without_offset;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::WINDOW_VALUES;

/// What a thread reads around a place of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The loads, ascending.
    pub loads: Vec<usize>,
    /// Bytes from the place to each value, ascending.
    offsets: Vec<i64>,
}

impl Window {
    /// The share of the reads that stays, 0 to 1, where a thread has so many results, side by side or in a square, along the
    /// distances at which most of their windows overlap.
    #[must_use]
    pub fn stays(&self, results: f64) -> f64 {
        // No more results than a register tile has, which the caller knows.
        let results = if results >= 1.0 { results.min(64.0) as i64 } else { 1 };
        let side = (results as f64).sqrt() as i64;
        let distances = self.distances();
        let of = |count: i64, others: &HashSet<i64>, by: i64| {
            let moved = |times: i64| others.iter().map(move |at| at + times * by);
            (0..count).flat_map(moved).collect::<HashSet<i64>>()
        };
        let one: HashSet<i64> = self.offsets.iter().copied().collect();
        let share = |values: usize, results: i64| {
            (values as f64 / (results as usize * one.len()).max(1) as f64).min(1.0)
        };
        let best = |count: i64| distances.iter().map(|&by| (of(count, &one, by).len(), by)).min();
        let in_a_row = best(results).map_or(1.0, |(values, _)| share(values, results));
        let square = best(side).and_then(|(_, along)| {
            let row = of(side, &one, along);
            let places: HashSet<i64> = (0..side).map(|times| times * along).collect();
            // No two results at one place.
            let wanted = usize::try_from(side * side).unwrap_or_default();
            let apart = |by: &&i64| of(side, &places, **by).len() == wanted;
            distances.iter().filter(apart).map(|&by| of(side, &row, by).len()).min()
        });
        let square = square.map_or(1.0, |values| share(values, side * side));
        in_a_row.min(square)
    }

    /// The distances at which most values lie from another one, each once: a window moved by one of them meets itself there.
    fn distances(&self) -> Vec<i64> {
        let mut pairs: BTreeMap<i64, usize> = BTreeMap::new();
        for (at, from) in self.offsets.iter().enumerate() {
            self.offsets[at + 1..].iter().for_each(|to| *pairs.entry(to - from).or_default() += 1);
        }
        let mut distances: Vec<(i64, usize)> = pairs.into_iter().collect();
        distances.sort_by_key(|&(_, met)| std::cmp::Reverse(met));
        // Along each of three axes, with their sums and differences, there are thirteen.
        distances.into_iter().take(16).map(|(by, _)| by).collect()
    }
}

/// The windows of a launch: for each innermost loop, and for the code outside of loops, its loads of shared memory, if they
/// all go by one base that does not change there, to several places, and nothing is stored between them.
#[must_use]
pub fn windows(listing: &Listing) -> Vec<Window> {
    let sass = listing.sass;
    let mut reaching = Reaching::with_guards(sass);
    let mut places: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    let mut stores: Vec<usize> = Vec::new();
    for (at, entry) in listing.entries().filter(|(at, _)| listing.executed(*at) > 0.0) {
        match entry.family {
            Family::Load(Space::Shared) => {
                places.entry(sass.flow.innermost(at)).or_default().push(at);
            }
            Family::Store(Space::Shared) | Family::Atomic(Space::Shared) => stores.push(at),
            _ => {}
        }
    }
    let of_place = |(place, loads): (Option<usize>, Vec<usize>)| {
        let (&first, &last) = (loads.first()?, loads.last()?);
        if loads.len() > WINDOW_VALUES.whole()
            || stores.iter().any(|&at| (first..last).contains(&at))
        {
            return None;
        }
        let is_inside = |at: usize| place.is_some() && sass.flow.innermost(at) == place;
        let mut offsets = Vec::new();
        let mut known: Option<(String, Vec<u32>)> = None;
        for &at in &loads {
            let instruction = Instruction::parse(listing.text(at))?;
            let is_memory = |kind| kind == OperandKind::Memory;
            let address = instruction.operands.iter().find(|operand| is_memory(operand.kind))?;
            let (registers, offset) = without_offset(address.text)?;
            let mut makers: Vec<u32> = Vec::new();
            for each in sass.uses(at).iter().filter(|each| each.role == Role::Address) {
                makers.extend(reaching.definitions(at, *each));
            }
            makers.sort_unstable();
            if makers.iter().any(|&maker| is_inside(maker as usize)) {
                return None;
            }
            let base = (registers.to_owned(), makers);
            if *known.get_or_insert_with(|| base.clone()) != base {
                return None;
            }
            // Each word of a wide load.
            let width = i64::from(sass.entries[at].width).max(1);
            offsets.extend((0..width).step_by(4).map(|word| offset + word));
        }
        offsets.sort_unstable();
        offsets.dedup();
        (offsets.len() > 1 && offsets.len() <= WINDOW_VALUES.whole())
            .then_some(Window { loads, offsets })
    };
    places.into_iter().filter_map(of_place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(code: &[&str]) -> Vec<Window> {
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 8.0)).collect();
        windows(&launch(&code).listing().unwrap())
    }

    #[test]
    fn results_share_what_their_windows_have_in_common() {
        let window = |offsets: &[i64]| Window { loads: Vec::new(), offsets: offsets.to_vec() };
        let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-12, "{value}");
        // Four results of three neighbours read six values, not twelve.
        near(window(&[0, 4, 8]).stays(4.0), 0.5);
        // A cross of five: a row of four reads 4 + 2 + 2 * 4 values of 20; a square of two by two reads 12.
        near(window(&[-100, -4, 0, 4, 100]).stays(4.0), 12.0 / 20.0);
        // A square of three by three, and four results in a square: 16 of 36; in a row 18.
        let square = [-104, -100, -96, -4, 0, 4, 96, 100, 104];
        near(window(&square).stays(4.0), 16.0 / 36.0);
        near(window(&square).stays(1.9), 1.0);
    }

    #[test]
    fn one_base_with_several_offsets_is_a_window() {
        let cross =
            ["STS [R0], R1", "BAR.SYNC 0x0", "LDS R2, [R0+0x4]", "LDS R3, [R0+-0x4]", "EXIT"];
        let found = of(&cross);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].loads.clone(), found[0].offsets.clone()), (vec![2, 3], vec![-4, 4]));
        let two_bases = ["LDS R2, [R0+0x4]", "LDS R3, [R1+0x8]", "EXIT"];
        assert!(of(&two_bases).is_empty(), "one of them may stay where it is");
        let handed_on = ["LDS R2, [R0]", "STS [R0], R2", "LDS R3, [R0+0x40]", "EXIT"];
        assert!(of(&handed_on).is_empty(), "a tree");
        let moved = ["LDS R2, [R0]", "IADD3 R0, R0, 0x4, RZ", "LDS R3, [R0+0x4]", "EXIT"];
        assert!(of(&moved).is_empty(), "another base");
    }

    #[test]
    fn a_base_that_moves_with_its_loop_is_no_window() {
        let code = [
            "LDS R2, [R0]",
            "LDS R3, [R0+0x4]",
            "FADD R4, R2, R3",
            "IADD3 R0, R0, 0x8, RZ",
            "@P0 BRA 0x100",
            "EXIT",
        ];
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 8.0)).collect();
        let launch = launch(&code);
        let listing = launch.listing().unwrap();
        assert!(listing.sass.flow.innermost(0).is_some());
        assert!(windows(&listing).is_empty());
    }
}
