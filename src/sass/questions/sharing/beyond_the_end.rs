//! Elements of a tile that lie beyond the end of what it holds, such as of a row that is shorter.
//!
//! A load is switched off for them by a bound that is the same for all blocks, or that each block loads, and a constant takes the
//! place of what it would have brought. All that is computed with that constant is for nothing. Where blocks have bounds of their own,
//! a tile that an average block fills still has room to spare.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt};

use super::ends::{End, end_of, guard_of};
use super::is_of_block;
use super::trace::Start;
use crate::hardware::WARP_LANES;
use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// What is done for elements beyond the end.
#[derive(Debug, Clone, PartialEq)]
pub struct BeyondTheEnd {
    /// The loads with such a bound, in the listing's order.
    pub loads: Vec<usize>,
    /// The share of the lanes of all these loads, by how often each ran, that bring something (0 to 1).
    pub filled: f64,
    /// For each instruction, the share of its executions that only computes, loads or stores for elements beyond the end (0 to 1).
    /// Where all accesses have such bounds, threads that none of them leaves on are there for nothing else either.
    pub wasted: Vec<f64>,
    /// The tile that would do, where blocks load their bounds; `None` where one bound holds for all blocks.
    pub shorter: Option<Shorter>,
}

/// A tile for rows of different lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shorter {
    /// Elements that it has room for now.
    pub now: f64,
    /// Elements that blocks fill on average.
    pub filled: f64,
    /// Elements that it needs room for: the next power of two, and a warp's lanes at least.
    pub then: f64,
}

impl Shorter {
    fn of(now: f64, filled: f64) -> Option<Self> {
        let then = filled.max(WARP_LANES).log2().ceil().exp2();
        (then < now).then_some(Self { now, filled, then })
    }

    /// The share of the elements beyond the end that goes with the shorter tile.
    fn goes(self) -> f64 {
        (self.now - self.then) / (self.now - self.filled)
    }
}

/// The elements beyond the end of rows and tiles, in blocks of so many threads; `empty_turns` are the instructions of loops that go on
/// where there is nothing left for them. `None` where no load has a bound of its own that
/// switches lanes off in all blocks alike, or more of them than a shorter tile would.
#[must_use]
pub fn beyond_the_end(
    listing: &Listing,
    threads: f64,
    empty_turns: impl FnOnce() -> Vec<usize>,
) -> Option<BeyondTheEnd> {
    let mut reaching = Reaching::with_guards(listing.sass);
    let mut bounded = bounded(listing, &mut reaching);
    let shorter = bounded.shorten(listing, threads, empty_turns);
    let Bounded { loads, mut wasted, most, .. } = bounded;
    let all: f64 = loads.iter().map(|&at| listing.executed(at)).sum();
    if all <= 0.0 {
        return None;
    }
    let brought: f64 = loads.iter().map(|&at| (1.0 - wasted[at]) * listing.executed(at)).sum();
    let loaded = spread_to_users(listing, &mut reaching, most, &mut wasted);
    spread_to_makers(listing, &mut reaching, &loaded, &mut wasted);
    Some(BeyondTheEnd { loads, filled: brought / all, wasted, shorter })
}

/// The accesses that a bound switches off.
struct Bounded {
    loads: Vec<usize>,
    /// Of each access, the share of its lanes that are off.
    wasted: Vec<f64>,
    /// The accesses whose bound each block loads.
    of_block: Vec<usize>,
    /// The share of the lanes that the access with the most of them leaves on; 1 where any access of the lanes' own has no such bound.
    most: f64,
}

impl Bounded {
    /// Leaves of what is off by bounds that blocks load what a shorter tile spares, and says which: the one of the line with most
    /// room, of which all accesses of a line and loop are parts.
    fn shorten(
        &mut self,
        listing: &Listing,
        threads: f64,
        empty_turns: impl FnOnce() -> Vec<usize>,
    ) -> Option<Shorter> {
        let mut tiles: BTreeMap<(Option<u32>, Option<usize>), Vec<usize>> = BTreeMap::new();
        // A loop that goes on beyond the end is to stop there, and its tile may be as long as it is.
        let beyond = if self.of_block.is_empty() { Vec::new() } else { empty_turns() };
        for &at in &self.of_block {
            if beyond.contains(&at) {
                self.wasted[at] = 0.0;
                continue;
            }
            let place = (listing.row(at).line, listing.sass.flow.innermost(at));
            tiles.entry(place).or_default().push(at);
        }
        let mut longest: Option<Shorter> = None;
        for parts in tiles.values() {
            let executed = parts.iter().map(|&at| listing.executed(at));
            let most = executed.clone().fold(0.0, f64::max);
            let room = |at: usize| threads * listing.executed(at) / most;
            let now = parts.iter().map(|&at| room(at)).sum();
            let filled = parts.iter().map(|&at| room(at) * (1.0 - self.wasted[at])).sum();
            let shorter = Shorter::of(now, filled);
            let goes = shorter.map_or(0.0, Shorter::goes);
            for &at in parts {
                self.wasted[at] *= goes;
            }
            longest = longest.into_iter().chain(shorter).max_by(|a, b| a.now.total_cmp(&b.now));
        }
        // Threads of the shorter tile.
        self.most = longest.map_or(self.most, |tile| self.most.max(tile.then / threads).min(1.0));
        longest
    }
}

fn bounded(listing: &Listing, reaching: &mut Reaching) -> Bounded {
    let entries = &listing.sass.entries;
    let mut found = Bounded {
        loads: Vec::new(),
        wasted: vec![0.0; entries.len()],
        of_block: Vec::new(),
        most: 0.0,
    };
    // Accesses go by few bounds.
    let mut known: HashMap<Start, Option<End>> = HashMap::new();
    for (at, entry) in listing.entries().filter(|(at, _)| listing.executed(*at) > 0.0) {
        let is_load = match entry.family {
            Family::Load(Space::Global) => true,
            Family::Store(Space::Global) => false,
            // Whatever else leaves something behind, or brings it.
            Family::Load(Space::Generic)
            | Family::Store(Space::Generic)
            | Family::Atomic(Space::Global | Space::Generic)
            | Family::Reduction(_)
            | Family::AsyncCopy
            | Family::Texture
            | Family::Other => {
                found.most = 1.0;
                continue;
            }
            _ => continue,
        };
        let start = guard_of(listing, reaching, at);
        let end = known.get(&start).copied().unwrap_or_else(|| {
            let end = end_of(listing, reaching, &start);
            known.insert(start, end);
            end
        });
        let on = if end.is_some() { on(listing, at) } else { 1.0 };
        found.wasted[at] = 1.0 - on;
        // What all threads of a block load alike needs only one of them.
        if end.is_some() || !(is_load && is_of_block(listing, reaching, at)) {
            found.most = found.most.max(on);
        }
        if end == Some(End::OfBlock) {
            found.of_block.push(at);
        }
        if end.is_some() && is_load {
            found.loads.push(at);
        }
    }
    found
}

/// What computes with a constant in the place of what was not loaded is for nothing. Of each value, the share of its lanes that is
/// made of anything loaded; none for what no load takes part in.
fn spread_to_users(
    listing: &Listing,
    reaching: &mut Reaching,
    most: f64,
    wasted: &mut [f64],
) -> Vec<Option<f64>> {
    let entries = &listing.sass.entries;
    let mut loaded: Vec<Option<f64>> = vec![None; entries.len()];
    let executed = |at: &usize| listing.executed(*at) > 0.0;
    // Twice, for what loops carry on.
    for at in (0..entries.len()).chain(0..entries.len()).filter(executed) {
        let family = entries[at].family;
        if matches!(
            family,
            Family::Load(_) | Family::Atomic(_) | Family::Texture | Family::AsyncCopy
        ) {
            loaded[at] = Some(1.0 - wasted[at]);
            continue;
        }
        let data = listing.sass.uses(at).iter().filter(|each| each.role == Role::Data);
        let of_uses: Vec<f64> = data
            .filter_map(|each| {
                let by = reaching.definitions(at, *each).map(|by| by as usize);
                by.filter_map(|by| loaded[by]).reduce(f64::max)
            })
            .collect();
        // A sum that takes one more zero in still has what it had.
        loaded[at] = of_uses.iter().copied().reduce(f64::max);
        if family != Family::Store(Space::Global) {
            wasted[at] = 1.0 - of_uses.iter().copied().fold(most, f64::min);
        }
    }
    loaded
}

/// What only makes bounds and addresses goes with what uses it.
fn spread_to_makers(
    listing: &Listing,
    reaching: &mut Reaching,
    loaded: &[Option<f64>],
    wasted: &mut [f64],
) {
    let entries = &listing.sass.entries;
    // The least share of what each result is used for.
    let mut used: Vec<Option<f64>> = vec![None; entries.len()];
    for at in (0..entries.len()).rev() {
        let is_made = loaded[at].is_none() && !entries[at].family.is_memory();
        if let Some(least) = used[at].filter(|_| is_made) {
            wasted[at] = wasted[at].max(least);
        }
        if listing.executed(at) <= 0.0 {
            continue;
        }
        for each in listing.sass.uses(at).iter().filter(|each| each.role != Role::Old) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                used[by] = Some(used[by].map_or(wasted[at], |least| least.min(wasted[at])));
            }
        }
    }
}

/// The share of an instruction's active lanes that its guard leaves on.
fn on(listing: &Listing, at: usize) -> f64 {
    let counters = &listing.row(at).counters;
    if counters.thread_inst_executed > 0.0 {
        (counters.thread_inst_executed_pred_on / counters.thread_inst_executed).clamp(0.0, 1.0)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// Two loads of a row and their sum of squares; `on` lanes of 32 bring something, and the bound is made by `bound`.
    fn of(on: [f64; 2], bound: &str) -> Option<BeyondTheEnd> {
        let mut launch = launch(&[
            ("S2R R0, SR_TID.X", 8.0),
            ("S2R R1, SR_CTAID.X", 8.0),
            ("LDC R9, c[0x0][0x218]", 8.0),
            (bound, 8.0),
            ("ISETP.GE.AND P1, PT, R0, R9, PT", 8.0), // 4: of the second load alone
            ("MOV R4, RZ", 8.0),
            ("@!P0 LDG.E R4, desc[UR4][R2.64]", 8.0), // 6
            ("MOV R5, RZ", 8.0),
            ("@!P1 LDG.E R5, desc[UR4][R2.64+0x80]", 8.0), // 8
            ("FMUL R6, R4, R4", 8.0),
            ("FFMA R6, R5, R5, R6", 8.0), // 10
            ("SHFL.BFLY PT, R7, R6, 0x10, 0x1f", 8.0),
            ("EXIT", 8.0),
        ]);
        for row in &mut launch.instructions {
            row.counters.thread_inst_executed = 8.0 * 32.0;
        }
        for (at, on) in [(6, on[0]), (8, on[1])] {
            launch.instructions[at].counters.thread_inst_executed_pred_on = 8.0 * on;
        }
        beyond_the_end(&launch.listing().unwrap(), 256.0, Vec::new)
    }

    const ALIKE: &str = "ISETP.GE.AND P0, PT, R0, R9, PT";

    #[test]
    fn what_is_computed_with_elements_beyond_the_end_is_for_nothing() {
        let found = of([16.0, 0.0], ALIKE).unwrap();
        assert_eq!(found.loads, [6, 8]);
        assert!((found.filled - 0.25).abs() < 1e-12);
        // The sum still has what came first, and half of the threads bring nothing to it.
        let of = [0, 3, 4, 6, 8, 9, 10, 11].map(|at| found.wasted[at]);
        for (found, expected) in of.into_iter().zip([0.5, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5]) {
            assert!((found - expected).abs() < 1e-12, "{of:?}");
        }
    }

    #[test]
    fn a_bound_that_each_block_loads_leaves_room_to_spare() {
        // Eight warps with a place for each element in two loads; so many of 32 lanes bring something.
        let of = |on: f64, end: &'static str| {
            let mut launch = launch(&[
                ("S2R R0, SR_TID.X", 8.0),
                ("S2R R1, SR_CTAID.X", 8.0),
                ("IMAD.WIDE R10, R1, 0x4, c[0x0][0x220]", 8.0),
                (end, 8.0),
                ("ISETP.GE.AND P0, PT, R0, R9, PT", 8.0),
                ("@!P0 LDG.E R4, desc[UR4][R2.64]", 8.0), // 5
                ("@!P0 LDG.E R5, desc[UR4][R2.64+0x400]", 8.0),
                ("FMUL R6, R4, R5", 8.0), // 7
                ("SHFL.BFLY PT, R7, R6, 0x10, 0x1f", 8.0),
            ]);
            for row in &mut launch.instructions {
                row.counters.thread_inst_executed = 8.0 * 32.0;
                row.line = Some(4);
            }
            for at in [5, 6] {
                launch.instructions[at].counters.thread_inst_executed_pred_on = 8.0 * on;
            }
            beyond_the_end(&launch.listing().unwrap(), 256.0, Vec::new)
        };
        let loaded = "LDG.E R9, desc[UR4][R10.64]";
        let found = of(5.0, loaded).unwrap();
        // 80 of 512, for which 128 do: of the 432 beyond the end 384 go.
        assert_eq!(found.shorter, Some(Shorter { now: 512.0, filled: 80.0, then: 128.0 }));
        assert!((found.wasted[7] - 384.0 / 512.0).abs() < 1e-12, "{}", found.wasted[7]);
        assert!(of(16.1, loaded).unwrap().shorter.is_none(), "more than half are filled");
        assert!(of(5.0, "IMAD R9, R1, 0x4, R12").is_none(), "by the block's place");
        assert!(of(5.0, "LDG.E R9, desc[UR4][R0.64]").is_none(), "each thread its own");
    }

    #[test]
    fn a_bound_that_the_block_or_a_value_decides_is_none_of_the_tile() {
        let loads = |bound| of([16.0, 0.0], bound).unwrap().loads;
        assert_eq!(loads(ALIKE), [6, 8]);
        assert_eq!(loads("ISETP.GE.AND P0, PT, R1, R9, PT"), [8], "the block");
        assert_eq!(loads("ISETP.NE.AND P0, PT, R0, RZ, PT"), [8], "one lane");
        assert_eq!(loads("ISETP.GE.AND P0, PT, R4, R9, PT"), [8], "a value");
        assert_eq!(loads("ISETP.GT.AND P0, PT, R0, 0x3, PT"), [8], "the width of an edge");
    }
}
