//! Elements that each thread works on side by side in a loop whose turns need one another: fewer for each thread are more threads.
//!
//! Two results are of one element where something of the thread's own is part of both. What is the same in all threads of a block,
//! such as a constant or a price that every thread loads, ties no results together.

use std::collections::BTreeSet;

use foldhash::HashMap;

use crate::metric::stall::StallReason;
use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::alike::of_threads_own;
use crate::sass::questions::moved_down::is_rest;
use crate::sass::thresholds::{DEPENDENT_CYCLES, ENOUGH_SAMPLES, FEW_TURNS};

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
    /// for memory that follow one another now, and no other element's instructions fill the time until a result is there.
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
    let own = of_threads_own(listing);
    let (elements, are_stored) = elements(listing, &own, longest);
    if elements < FEW_TURNS.value {
        return None;
    }
    // Other loops that take as many elements each are divided with it.
    let others = flow.loops.iter().filter(|of| {
        let is_apart = !of.lies_in(longest) && !longest.lies_in(of);
        let is_outermost = !flow.loops.iter().any(|outer| *of != outer && of.lies_in(outer));
        is_apart && is_outermost && self::elements(listing, &own, of).0 >= elements
    });
    let left_of = |of: &Loop| {
        let waits = flow.places(of).map(|at| listing.samples(at, StallReason::LongScoreboard));
        let (waited, most) =
            waits.fold((0.0, 0.0_f64), |(sum, most), wait| (sum + wait, most.max(wait)));
        let issued: f64 =
            flow.places(of).map(|at| listing.samples(at, StallReason::Selected)).sum();
        let works = inside(of) - waited;
        most + (works.max(DEPENDENT_CYCLES.value * issued) / elements).min(works)
    };
    let divided = others.chain([longest]).map(|of| inside(of) - left_of(of));
    let left = 1.0 - divided.sum::<f64>() / all;
    Some(SideBySide { elements, back: flow.places(longest).last()?, are_stored, left })
}

/// Results that turns store, and that nothing is part of two of; of turns that store nothing, those that they hand on to what comes
/// behind the loop. True for those that are stored.
fn elements(listing: &Listing, own: &Marks, of: &Loop) -> (f64, bool) {
    let mut found = Elements::new(listing, own, of);
    let stored = found.stored();
    let handed_on = found.handed_on();
    found.follow_back(stored.iter().chain(&handed_on).copied().collect());
    found.join_behind();
    let stored = found.apart(&stored);
    if !stored.is_empty() {
        return (stored.len() as f64, true);
    }
    let flow = &listing.sass.flow;
    let is_waited_for =
        flow.places(of).any(|at| listing.samples(at, StallReason::LongScoreboard) > 0.0);
    let of_turns = if is_waited_for { found.apart_by_data(&handed_on) } else { 0 };
    if of_turns as f64 >= FEW_TURNS.value {
        return (of_turns as f64, false);
    }
    // What each turn loads is the same for all threads, if it loads anything: elements differ by what was loaded before the loop.
    let mut found = Elements::new(listing, own, of);
    found.from_before = true;
    let handed_on = found.handed_on();
    found.follow_back(handed_on.clone());
    found.join_behind();
    (found.apart_by_data(&handed_on) as f64, false)
}

/// A value: the instruction and the register that it is made in.
type Value = (usize, Slot);

/// What a loop's elements are made of.
struct Elements<'a, 'b> {
    listing: &'b Listing<'a>,
    /// What differs from thread to thread.
    own: &'b Marks,
    of: &'b Loop,
    /// True where what was loaded before the loop is part of an element as well.
    from_before: bool,
    reaching: Reaching<'a>,
    joined: Joined,
    /// Values of the loop that come from memory.
    loaded: BTreeSet<Value>,
}

impl<'a, 'b> Elements<'a, 'b> {
    fn new(listing: &'b Listing<'a>, own: &'b Marks, of: &'b Loop) -> Self {
        Self {
            listing,
            own,
            of,
            from_before: false,
            reaching: Reaching::with_guards(listing.sass),
            joined: Joined::default(),
            loaded: BTreeSet::new(),
        }
    }

    /// Of such values those that nothing is part of two of, each by one that stands for it.
    fn apart(&mut self, values: &[Value]) -> BTreeSet<Value> {
        values.iter().map(|&value| self.joined.root(value)).collect()
    }

    /// How many of those have something from memory as a part.
    fn apart_by_data(&mut self, values: &[Value]) -> usize {
        let loaded: Vec<Value> = self.loaded.iter().copied().collect();
        self.apart(values).intersection(&self.apart(&loaded)).count()
    }

    /// True for what takes part in an element: made in the loop, or loaded before it where that counts.
    fn takes_part(&self, maker: usize) -> bool {
        let is_loaded = || matches!(self.listing.sass.entries[maker].family, Family::Load(_));
        self.own[maker]
            && (self.listing.sass.flow.is_in(self.of, maker) || self.from_before && is_loaded())
    }

    /// The values among an instruction's data that take part in an element, those of one register joined.
    fn made_inside(&mut self, at: usize) -> Vec<Value> {
        let mut values = Vec::new();
        for each in data(self.listing, at) {
            let makers = self.reaching.definitions(at, each).map(|maker| maker as usize);
            let mut makers: Vec<usize> = makers.collect();
            makers.retain(|&maker| self.takes_part(maker));
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
            listing.executed(at) > 0.0 && is_stored(family)
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
            // What lies side by side in memory is no part of one another.
            if is_stored(self.listing.sass.entries[at].family) {
                continue;
            }
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

/// True for what leaves results in memory.
const fn is_stored(family: Family) -> bool {
    matches!(family, Family::Store(Space::Global | Space::Generic))
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

    /// Two models of a thread, whose weights this loads, over a series that each turn loads from this address.
    fn models(weights: &'static str, series: &'static str) -> Option<SideBySide> {
        let mut launch = launch(&[
            ("S2R R0, SR_TID.X", 1.0),
            ("LDC.64 R2, c[0x0][0x210]", 1.0),
            ("IMAD.WIDE R12, R0, 0x8, R2", 1.0),
            (weights, 1.0),
            (series, 100.0), // 4
            ("FFMA R8, R8, R14, R4", 100.0),
            ("FFMA R9, R9, R15, R4", 100.0),
            ("@P0 BRA 0x140", 100.0),
            ("STG.E.64 desc[UR4][R10.64], R8", 1.0),
            ("EXIT", 1.0),
        ]);
        for (at, reason) in [(5, StallReason::Wait), (6, StallReason::Selected)] {
            launch.instructions[at].counters.stall_samples[reason as usize] = 500.0;
        }
        side_by_side(&launch.listing().unwrap())
    }

    #[test]
    fn elements_differ_by_what_was_loaded_before_the_loop() {
        let found = models("LDG.E.64 R14, desc[UR4][R12.64]", "LDG.E R4, desc[UR4][R2.64]");
        let found = found.unwrap();
        assert!((found.elements - 2.0).abs() < 1e-12 && !found.are_stored, "{found:?}");
        // Each of the 500 issues then takes four cycles, not two, and there are half as many.
        assert!((found.left - 1.0).abs() < 1e-12, "{found:?}");
        assert_eq!(models("MOV R14, R15", "LDG.E R4, desc[UR4][R2.64]"), None, "the same model");
        let own = models("LDG.E.64 R14, desc[UR4][R12.64]", "LDG.E R4, desc[UR4][R12.64+0x100]");
        assert_eq!(own, None, "two sums over a series of the thread's own");
    }

    #[test]
    fn rows_that_a_loop_hands_on_are_counted_where_nothing_puts_them_together() {
        let found = maxima("MUFU.RCP R8, R8").unwrap();
        assert!((found.elements - 2.0).abs() < 1e-12 && !found.are_stored, "{found:?}");
        assert_eq!(maxima("FADD R8, R8, R9"), None, "parts of one sum");
    }
}
