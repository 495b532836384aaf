//! Elements that each thread works on side by side in a loop whose turns need one another: fewer for each thread are more threads.

use std::collections::BTreeSet;

use foldhash::HashMap;

use crate::metric::stall::StallReason;
use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::moved_down::is_rest;
use crate::sass::thresholds::{ENOUGH_SAMPLES, FEW_TURNS};

/// Elements of a loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SideBySide {
    /// How many each thread has.
    pub elements: f64,
    /// The loop's branch back.
    pub back: usize,
    /// True where its turns store them; elsewhere they are sums, or the like, that it hands on.
    pub are_stored: bool,
    /// The share of the time that is left once a thread has one of them: it waits once in a turn, for the longest of the waits
    /// for memory that follow one another now.
    pub left: f64,
}

/// Those of the loops that warps spend most of their time in. `None` where there are none, and where too few samples tell of the
/// waits.
#[must_use]
pub fn side_by_side(listing: &Listing) -> Option<SideBySide> {
    let flow = &listing.sass.flow;
    let samples =
        |at: usize| -> f64 { StallReason::all().map(|reason| listing.samples(at, reason)).sum() };
    let all: f64 = (0..listing.sass.entries.len()).map(samples).sum();
    if all < ENOUGH_SAMPLES.value || !listing.is_whole() {
        return None;
    }
    let inside = |of: &Loop| flow.places(of).map(samples).sum::<f64>();
    let longest = flow.loops.iter().max_by(|a, b| inside(a).total_cmp(&inside(b)))?;
    let (elements, are_stored) = elements(listing, longest);
    if elements < FEW_TURNS.value {
        return None;
    }
    // Other loops that take as many elements each are divided with it.
    let others = flow.loops.iter().filter(|of| {
        let is_apart = !of.lies_in(longest) && !longest.lies_in(of);
        let is_outermost = !flow.loops.iter().any(|outer| *of != outer && of.lies_in(outer));
        is_apart && is_outermost && self::elements(listing, of).0 >= elements
    });
    let left_of = |of: &Loop| {
        let waits = flow.places(of).map(|at| listing.samples(at, StallReason::LongScoreboard));
        let (waited, most) =
            waits.fold((0.0, 0.0_f64), |(sum, most), wait| (sum + wait, most.max(wait)));
        most + (inside(of) - waited) / elements
    };
    let divided = others.chain([longest]).map(|of| inside(of) - left_of(of));
    let left = 1.0 - divided.sum::<f64>() / all;
    Some(SideBySide { elements, back: flow.places(longest).last()?, are_stored, left })
}

/// Results that turns store, and that nothing is part of two of; of turns that store nothing, those that they hand on to what comes
/// behind the loop. True for those that are stored.
fn elements(listing: &Listing, of: &Loop) -> (f64, bool) {
    let flow = &listing.sass.flow;
    let mut found = Elements {
        listing,
        of,
        reaching: Reaching::with_guards(listing.sass),
        joined: Joined::default(),
        loaded: BTreeSet::new(),
    };
    let stored = found.stored();
    let handed_on = found.handed_on();
    found.follow_back(stored.iter().chain(&handed_on).copied().collect());
    found.join_behind();
    let of_data: BTreeSet<Value> =
        found.loaded.iter().map(|&load| found.joined.root(load)).collect();
    let roots = |values: Vec<Value>, joined: &mut Joined| -> BTreeSet<Value> {
        values.into_iter().map(|value| joined.root(value)).collect()
    };
    let stored = roots(stored, &mut found.joined);
    if !stored.is_empty() {
        return (stored.len() as f64, true);
    }
    let is_waited_for =
        flow.places(of).any(|at| listing.samples(at, StallReason::LongScoreboard) > 0.0);
    let handed_on = roots(handed_on, &mut found.joined);
    let elements = if is_waited_for { handed_on.intersection(&of_data).count() } else { 0 };
    (elements as f64, false)
}

/// A value: the instruction and the register that it is made in.
type Value = (usize, Slot);

/// What a loop's elements are made of.
struct Elements<'a, 'b> {
    listing: &'b Listing<'a>,
    of: &'b Loop,
    reaching: Reaching<'a>,
    joined: Joined,
    /// Values of the loop that come from memory.
    loaded: BTreeSet<Value>,
}

impl Elements<'_, '_> {
    /// The values among an instruction's data that are made in the loop, those of one register joined.
    fn made_inside(&mut self, at: usize) -> Vec<Value> {
        let flow = &self.listing.sass.flow;
        let mut values = Vec::new();
        for each in data(self.listing, at) {
            let makers = self.reaching.definitions(at, each).map(|maker| maker as usize);
            let makers: Vec<usize> = makers.filter(|&maker| flow.is_in(self.of, maker)).collect();
            for &maker in &makers {
                self.joined.join((makers[0], each.slot), (maker, each.slot));
            }
            values.extend(makers.into_iter().map(|maker| (maker, each.slot)));
        }
        values
    }

    /// What the turns store.
    fn stored(&mut self) -> Vec<Value> {
        let listing = self.listing;
        let stores = listing.sass.flow.places(self.of).filter(|&at| {
            let family = listing.sass.entries[at].family;
            listing.executed(at) > 0.0
                && matches!(family, Family::Store(Space::Global | Space::Generic))
        });
        stores.flat_map(|at| self.made_inside(at)).collect()
    }

    /// What instructions behind the loop use.
    fn handed_on(&mut self) -> Vec<Value> {
        self.behind().into_iter().flat_map(|at| self.made_inside(at)).collect()
    }

    /// Executed instructions behind the loop.
    fn behind(&self) -> Vec<usize> {
        let flow = &self.listing.sass.flow;
        let behind = self.of.back..self.listing.sass.entries.len();
        behind.filter(|&at| !flow.is_in(self.of, at) && self.listing.executed(at) > 0.0).collect()
    }

    /// Joins each value with what it is made of, as far as it is made in the loop.
    fn follow_back(&mut self, mut open: Vec<Value>) {
        let mut seen = BTreeSet::new();
        while let Some(value) = open.pop() {
            let (at, _) = value;
            if !seen.insert(value) {
                continue;
            }
            if self.listing.sass.entries[at].family.is_memory() {
                self.loaded.insert(value);
                continue;
            }
            for made_of in self.made_inside(at) {
                self.joined.join(value, made_of);
                open.push(made_of);
            }
        }
    }

    /// Joins the loop's values that are put together behind it.
    fn join_behind(&mut self) {
        let mut carries: HashMap<usize, Value> = HashMap::default();
        for at in self.behind() {
            let mut parts = self.made_inside(at);
            for each in data(self.listing, at) {
                let makers = self.reaching.definitions(at, each);
                parts.extend(makers.filter_map(|maker| carries.get(&(maker as usize))));
            }
            for &part in &parts {
                self.joined.join(parts[0], part);
            }
            if let Some(&first) = parts.first()
                && !self.listing.sass.entries[at].family.is_memory()
            {
                carries.insert(at, first);
            }
        }
    }
}

/// What an instruction reads as data.
fn data<'a>(listing: &Listing<'a>, at: usize) -> impl Iterator<Item = Use> + use<'a> {
    let uses = listing.sass.uses(at).iter().filter(|each| each.role == Role::Data).copied();
    let listing = *listing;
    uses.filter(move |each| !is_rest(&listing, at, each))
}

/// Values, each with the instruction and the register that it is made in, in sets that are joined.
#[derive(Default)]
struct Joined(HashMap<Value, Value>);

impl Joined {
    fn root(&mut self, value: Value) -> Value {
        let mut root = value;
        while let Some(&above) = self.0.get(&root).filter(|above| **above != root) {
            // Every other one is skipped from now on, so that long ways stay cheap.
            let next = self.0.get(&above).copied().unwrap_or(above);
            self.0.insert(root, next);
            root = next;
        }
        root
    }

    fn join(&mut self, a: Value, b: Value) {
        let (a, b) = (self.root(a), self.root(b));
        self.0.insert(a.max(b), a.min(b));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A recurrence over rows, each thread with two columns; `last` makes the second one's result.
    fn recurrence(last: &'static str, samples: f64) -> Option<SideBySide> {
        let mut launch = launch(&[
            ("MOV R2, RZ", 1.0),
            ("LDG.E R4, desc[UR4][R6.64]", 100.0),
            ("FFMA R8, R8, R12, R4", 100.0),
            ("LDG.E R5, desc[UR4][R6.64+0x4]", 100.0),
            (last, 100.0), // 4
            ("STG.E.64 desc[UR4][R10.64], R8", 100.0),
            ("IADD3 R2, R2, 0x1, RZ", 100.0),
            ("@P0 BRA 0x110", 100.0),
            ("EXIT", 1.0),
        ]);
        let waits = [(0, 100.0), (2, samples), (4, 0.5 * samples)];
        for (at, waits) in waits {
            launch.instructions[at].counters.stall_samples[StallReason::LongScoreboard as usize] =
                waits;
        }
        launch.instructions[6].counters.stall_samples[StallReason::Wait as usize] = 100.0;
        side_by_side(&launch.listing().unwrap())
    }

    #[test]
    fn columns_that_need_nothing_of_one_another_are_counted() {
        let found = recurrence("FFMA R9, R9, R12, R5", 800.0).unwrap();
        assert!((found.elements - 2.0).abs() < 1e-12 && found.back == 7, "{found:?}");
        // 100 before the loop, the longer of the waits, and half of what is no wait.
        assert!((found.left - (100.0 + 800.0 + 50.0) / 1400.0).abs() < 1e-12, "{found:?}");
        assert_eq!(recurrence("FFMA R9, R8, R12, R5", 800.0), None, "one needs the other");
        assert_eq!(recurrence("FFMA R9, R9, R12, R5", 80.0), None, "few samples");
    }

    /// Maxima of two rows; `behind` is done with them behind the loop.
    fn maxima(behind: &'static str) -> Option<SideBySide> {
        let mut launch = launch(&[
            ("LDG.E R4, desc[UR4][R6.64]", 100.0),
            ("FMNMX R8, R8, R4, !PT", 100.0),
            ("LDG.E R5, desc[UR4][R6.64+0x4000]", 100.0),
            ("FMNMX R9, R9, R5, !PT", 100.0),
            ("@P0 BRA 0x100", 100.0), // 4
            (behind, 1.0),
            ("STG.E desc[UR4][R10.64], R8", 1.0),
            ("STG.E desc[UR4][R10.64+0x4], R9", 1.0),
            ("EXIT", 1.0),
        ]);
        launch.instructions[1].counters.stall_samples[StallReason::LongScoreboard as usize] =
            1000.0;
        side_by_side(&launch.listing().unwrap())
    }

    #[test]
    fn rows_that_a_loop_hands_on_are_counted_where_nothing_puts_them_together() {
        let found = maxima("MUFU.RCP R8, R8").unwrap();
        assert!((found.elements - 2.0).abs() < 1e-12 && !found.are_stored, "{found:?}");
        assert_eq!(maxima("FADD R8, R8, R9"), None, "parts of one sum");
    }
}
