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
use crate::sass::thresholds::{ENOUGH_SAMPLES, FEW_TURNS};

/// Elements of a loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SideBySide {
    /// How many each thread has.
    pub elements: f64,
    /// The loop's branch back.
    pub back: usize,
    /// The share of the time that is left once a thread has one of them: it waits once in a turn, for the longest of the waits
    /// for memory that follow one another now.
    pub left: f64,
}

/// Those of the loop that warps spend most of their time in. `None` where there are none, and where too few samples tell of the
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
    let inside = |of: &&Loop| flow.places(of).map(samples).sum::<f64>();
    let longest = flow.loops.iter().max_by(|a, b| inside(a).total_cmp(&inside(b)))?;
    let in_loop = inside(&longest);
    let elements = elements(listing, longest) as f64;
    if elements < FEW_TURNS.value {
        return None;
    }
    let waits = flow.places(longest).map(|at| listing.samples(at, StallReason::LongScoreboard));
    let (waited, most) =
        waits.fold((0.0, 0.0_f64), |(sum, most), wait| (sum + wait, most.max(wait)));
    let back = flow.places(longest).last()?;
    let left = (all - in_loop + most + (in_loop - waited) / elements) / all;
    Some(SideBySide { elements, back, left })
}

/// Results that turns store and that nothing made in the turns is part of two of.
fn elements(listing: &Listing, of: &Loop) -> usize {
    let (sass, flow) = (listing.sass, &listing.sass.flow);
    let mut reaching = Reaching::new(sass);
    let mut joined = Joined::default();
    let data = |at: usize| sass.uses(at).iter().filter(|each| each.role == Role::Data).copied();
    let made_inside = |reaching: &mut Reaching, at: usize, each: Use| -> Vec<usize> {
        let makers = reaching.definitions(at, each).map(|maker| maker as usize);
        makers.filter(|&maker| flow.is_in(of, maker)).collect()
    };
    let mut stored: Vec<(usize, Slot)> = Vec::new();
    let mut open: Vec<(usize, Slot)> = Vec::new();
    for at in flow.places(of).filter(|&at| listing.executed(at) > 0.0) {
        if matches!(sass.entries[at].family, Family::Store(Space::Global | Space::Generic)) {
            for each in data(at) {
                let makers = made_inside(&mut reaching, at, each);
                let Some(&first) = makers.first() else { continue };
                for &maker in &makers {
                    joined.join((first, each.slot), (maker, each.slot));
                }
                stored.push((first, each.slot));
                open.extend(makers.into_iter().map(|maker| (maker, each.slot)));
            }
        }
    }
    let mut seen = BTreeSet::new();
    while let Some(value) = open.pop() {
        let (at, _) = value;
        if !seen.insert(value) || sass.entries[at].family.is_memory() {
            continue;
        }
        for each in data(at) {
            for maker in made_inside(&mut reaching, at, each) {
                joined.join(value, (maker, each.slot));
                open.push((maker, each.slot));
            }
        }
    }
    let roots: BTreeSet<(usize, Slot)> =
        stored.into_iter().map(|value| joined.root(value)).collect();
    roots.len()
}

/// Values, each with the instruction and the register that it is made in, in sets that are joined.
#[derive(Default)]
struct Joined(HashMap<(usize, Slot), (usize, Slot)>);

impl Joined {
    fn root(&mut self, value: (usize, Slot)) -> (usize, Slot) {
        let mut root = value;
        while let Some(&above) = self.0.get(&root).filter(|above| **above != root) {
            // Every other one is skipped from now on, so that long ways stay cheap.
            let next = self.0.get(&above).copied().unwrap_or(above);
            self.0.insert(root, next);
            root = next;
        }
        root
    }

    fn join(&mut self, a: (usize, Slot), b: (usize, Slot)) {
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
}
