//! Where in the source something happens.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::evidence::ModeledLaunch;
use crate::export::csv::source::is_toolkit;
use crate::finding::{Location, Place, Weighted};
use crate::sass::Listing;
use crate::sass::thresholds::MOST_FOLLOWED;

/// The lines of instructions by weight, or the instructions where they have no lines, largest share first: at most
/// three, each with at least 5%.
pub(crate) fn locations(
    launch: &ModeledLaunch,
    listing: Listing,
    weight: impl Fn(usize) -> f64,
    share_of: &str,
) -> Vec<Location> {
    let mut lines = vec![0.0; listing.sass.line_count()];
    let mut total = 0.0;
    let routines = routines(listing);
    for (index, entry) in listing.entries() {
        let weight = weight(index).max(0.0);
        if weight <= 0.0 {
            continue;
        }
        total += weight;
        match routines.iter().find(|routine| routine.code.contains(&index)) {
            Some(Routine { calls, .. }) => {
                for &(line, share) in calls {
                    lines[line] += weight * share;
                }
            }
            None => lines[entry.line()] += weight,
        }
    }
    let mut placed: Vec<(&str, u32, f64)> = lines
        .into_iter()
        .enumerate()
        .filter_map(|(at, weight)| {
            let (file, line) = listing.line(at);
            let (file, line) = (file?, line?);
            Some((file, line, weight))
        })
        .collect();
    if placed.is_empty() {
        let weighted = listing.entries().map(|(index, _)| (listing.row(index), weight(index)));
        return launch.profile.top_instructions(3, share_of, weighted);
    }
    // What comes from CUDA's headers the user can't change.
    let mut own = placed.clone();
    own.retain(|&(file, _, weight)| weight > 0.0 && !is_toolkit(file));
    if !own.is_empty() {
        total = own.iter().map(|(_, _, weight)| weight).sum();
        placed = own;
    }
    placed.sort_by_key(|&(_, line, _)| line);
    let placed = placed
        .into_iter()
        .map(|(file, line, weight)| Weighted { place: Place::Line { file, line }, weight });
    Location::heaviest(placed, total, 3, share_of, |file, line| launch.profile.text_of(file, line))
}

/// A routine of the compiler's own, such as the slow path of a division.
struct Routine {
    code: RangeInclusive<usize>,
    /// The lines of the calls, each with its share of them.
    calls: Vec<(usize, f64)>,
}

/// The compiler's own routines. They have no lines, so that what stands in front of them, which is the end of the kernel, lends them
/// its line; it is the lines that call them which a reader can change.
fn routines(listing: Listing) -> Vec<Routine> {
    let sass = listing.sass;
    let line = |at: usize| sass.entries[at].line();
    let mut calls: BTreeMap<usize, (RangeInclusive<usize>, Vec<usize>)> = BTreeMap::new();
    for (call, code) in listing.calls() {
        calls.entry(*code.start()).or_insert_with(|| (code, Vec::new())).1.push(call);
    }
    let is_own = |code: &RangeInclusive<usize>| {
        let before = code.start().checked_sub(1).map(line);
        before.is_some_and(|before| code.clone().all(|at| line(at) == before))
    };
    // The compiler has a few of them; a listing with more is none of its making.
    if calls.len() > MOST_FOLLOWED.whole() {
        return Vec::new();
    }
    calls.retain(|_, (code, _)| is_own(code));
    let is_called_from_another = |at: usize| calls.values().any(|(code, _)| code.contains(&at));
    let found = calls.values().filter_map(|(code, callers)| {
        let callers = || callers.iter().filter(|&&at| !is_called_from_another(at));
        let all: f64 = callers().map(|&at| listing.executed(at)).sum();
        let share = |&at: &usize| (line(at), listing.executed(at) / all);
        (all > 0.0).then(|| Routine { code: code.clone(), calls: callers().map(share).collect() })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::rules::testing::sass;

    #[test]
    fn a_routine_counts_on_the_lines_that_call_it() {
        let of = |line_of_routine: u32| {
            let mut launch = sass(
                &[],
                &[
                    ("CALL.REL.NOINC 0x140", 30.0),
                    ("CALL.REL.NOINC 0x140", 10.0),
                    ("MOV R1, RZ", 40.0),
                    ("EXIT", 40.0),
                    ("DFMA R2, R4, R6, R8", 40.0), // 0x140
                    ("RET.REL.NODEC R14 0x120", 40.0),
                ],
            );
            // The test's listing has a line for each instruction.
            for at in [4, 5] {
                launch.instructions[at].line = Some(line_of_routine);
            }
            let model = Model::new(&launch);
            let case = ModeledLaunch { profile: &launch, model: &model };
            let listing = launch.listing().unwrap();
            let weight = |at: usize| f64::from(u8::from(at == 4)) * listing.executed(at);
            let found = locations(&case, listing, weight, "instructions");
            found.iter().map(|each| (each.line, each.share)).collect::<Vec<_>>()
        };
        assert_eq!(of(4), [(1, 0.75), (2, 0.25)], "the line of the kernel's end");
        assert_eq!(of(9), [(9, 1.0)], "a function of the user's, with lines of its own");
    }
}
