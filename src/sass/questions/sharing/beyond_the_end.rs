//! Elements of a tile that lie beyond the end of what it holds, such as of a row that is shorter.
//!
//! A load is switched off for them by a bound that is the same for all blocks, and a constant takes the place of what it would
//! have brought. All that is computed with that constant is for nothing.

use foldhash::{HashMap, HashMapExt};

use super::trace::{Start, trace_from};
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
}

/// The elements beyond the end of rows and tiles; `None` where no load has a bound of its own that switches lanes off in all blocks
/// alike.
#[must_use]
pub fn beyond_the_end(listing: &Listing) -> Option<BeyondTheEnd> {
    let mut reaching = Reaching::with_guards(listing.sass);
    let Bounded { loads, mut wasted, most } = bounded(listing, &mut reaching);
    let all: f64 = loads.iter().map(|&at| listing.executed(at)).sum();
    if all <= 0.0 {
        return None;
    }
    let brought: f64 = loads.iter().map(|&at| (1.0 - wasted[at]) * listing.executed(at)).sum();
    let loaded = spread_to_users(listing, &mut reaching, most, &mut wasted);
    spread_to_makers(listing, &mut reaching, &loaded, &mut wasted);
    Some(BeyondTheEnd { loads, filled: brought / all, wasted })
}

/// The accesses that a bound switches off.
struct Bounded {
    loads: Vec<usize>,
    /// Of each access, the share of its lanes that are off.
    wasted: Vec<f64>,
    /// The share of the lanes that the access with the most of them leaves on; 1 where any access has no such bound.
    most: f64,
}

fn bounded(listing: &Listing, reaching: &mut Reaching) -> Bounded {
    let entries = &listing.sass.entries;
    let mut found = Bounded { loads: Vec::new(), wasted: vec![0.0; entries.len()], most: 0.0 };
    // Accesses go by few bounds.
    let mut known: HashMap<Start, bool> = HashMap::new();
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
        let start = Start::of_role(listing, reaching, at, Role::Guard);
        let is_off = known.get(&start).copied().unwrap_or_else(|| {
            let is_off = is_off_at_the_end(listing, reaching, &start);
            known.insert(start, is_off);
            is_off
        });
        let on = if is_off { on(listing, at) } else { 1.0 };
        found.wasted[at] = 1.0 - on;
        found.most = found.most.max(on);
        if is_off && is_load {
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

/// True for a guard that compares a thread's place with a parameter, by order, with neither the block's place nor
/// anything that was loaded. A bound that the compiler knows, such as the width of a tile's edge, is the author's.
fn is_off_at_the_end(listing: &Listing, reaching: &mut Reaching, start: &Start) -> bool {
    let compares = |at: &u32| {
        let text = listing.text(*at as usize);
        text.contains("ISETP") && [".GE", ".GT", ".LT", ".LE"].iter().any(|by| text.contains(by))
    };
    if start.made_at.is_empty() || !start.made_at.iter().all(compares) {
        return false;
    }
    let is_parameter = |at: usize| listing.text(at).contains("c[0x0]");
    let mut has_parameter = |at: &u32| {
        let mut uses = listing.sass.uses(*at as usize).iter();
        is_parameter(*at as usize)
            || uses.any(|each| {
                reaching.definitions(*at as usize, *each).any(|by| is_parameter(by as usize))
            })
    };
    if !start.made_at.iter().all(&mut has_parameter) {
        return false;
    }
    let (origin, _) = trace_from(listing, reaching, start, |origin| origin.unknown);
    origin.is_of_lanes() && origin.block == [false; 3] && !origin.unknown && !origin.given
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
        beyond_the_end(&launch.listing().unwrap())
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
    fn a_bound_that_the_block_or_a_value_decides_is_none_of_the_tile() {
        let loads = |bound| of([16.0, 0.0], bound).unwrap().loads;
        assert_eq!(loads(ALIKE), [6, 8]);
        assert_eq!(loads("ISETP.GE.AND P0, PT, R1, R9, PT"), [8], "the block");
        assert_eq!(loads("ISETP.NE.AND P0, PT, R0, RZ, PT"), [8], "one lane");
        assert_eq!(loads("ISETP.GE.AND P0, PT, R4, R9, PT"), [8], "a value");
        assert_eq!(loads("ISETP.GT.AND P0, PT, R0, 0x3, PT"), [8], "the width of an edge");
    }
}
