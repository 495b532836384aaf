//! Elements of a tile that lie beyond the end of what it holds, such as of a row that is shorter.
//!
//! A load is switched off for them by a bound that is the same for all blocks, and a constant takes the place of what it would
//! have brought. All that is computed with that constant is for nothing.

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
    let entries = &listing.sass.entries;
    let mut reaching = Reaching::with_guards(listing.sass);
    let is_global = |at: usize, is_load: bool| match entries[at].family {
        Family::Load(Space::Global) => is_load,
        Family::Store(Space::Global) => !is_load,
        _ => false,
    };
    let executed = |at: usize| listing.executed(at) > 0.0;
    let (mut loads, mut wasted) = (Vec::new(), vec![0.0; entries.len()]);
    // Of the lanes, the share that the access with the most of them leaves on.
    let mut most = 0.0_f64;
    for at in (0..entries.len()).filter(|&at| executed(at)) {
        let (is_load, is_store) = (is_global(at, true), is_global(at, false));
        if !(is_load || is_store) {
            continue;
        }
        if is_off_at_the_end(listing, &mut reaching, at) {
            wasted[at] = 1.0 - on(listing, at);
            most = most.max(on(listing, at));
            if is_load {
                loads.push(at);
            }
        } else {
            most = 1.0;
        }
    }
    let all: f64 = loads.iter().map(|&at| listing.executed(at)).sum();
    if all <= 0.0 {
        return None;
    }
    let brought: f64 = loads.iter().map(|&at| (1.0 - wasted[at]) * listing.executed(at)).sum();
    // Of which share of its lanes a value is made of anything that was loaded; none for what no load takes part in.
    let mut loaded: Vec<Option<f64>> = vec![None; entries.len()];
    let is_any_load = |family| {
        matches!(family, Family::Load(_) | Family::Atomic(_) | Family::Texture | Family::AsyncCopy)
    };
    // Twice, for what loops carry on.
    for at in (0..entries.len()).chain(0..entries.len()).filter(|&at| executed(at)) {
        let family = entries[at].family;
        if is_any_load(family) {
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
        let least = of_uses.iter().copied().fold(most, f64::min);
        if !is_global(at, false) {
            wasted[at] = 1.0 - least;
        }
    }
    spread_to_makers(listing, &mut reaching, &loaded, &mut wasted);
    Some(BeyondTheEnd { loads, filled: brought / all, wasted })
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

/// True where an access has a guard that compares a thread's place with a parameter, by order, with neither the block's place nor
/// anything that was loaded. A bound that the compiler knows, such as the width of a tile's edge, is the author's.
fn is_off_at_the_end(listing: &Listing, reaching: &mut Reaching, access: usize) -> bool {
    let start = Start::of_role(listing, reaching, access, Role::Guard);
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
    let (origin, _) = trace_from(listing, reaching, &start, |origin| origin.unknown);
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
