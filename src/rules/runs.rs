//! Runs of library routines that a fast form could replace.

use std::collections::HashMap;

use super::Case;
use super::opcodes::{Removal, locations};
use crate::finding::Location;
use crate::sass::{Family, Listing, Routine};

/// Runs of library routines.
pub struct Runs {
    /// How often each routine's mark was executed.
    by_routine: HashMap<Routine, f64>,
    /// How many an instruction saves as a mark, or 1 on a slow path, per execution.
    weights: HashMap<usize, f64>,
    /// Executed instructions of slow paths.
    pub slow_path: f64,
}

/// Instructions behind a mark within which the branch around its slow path stands.
const BRANCH_WITHIN: usize = 24;

impl Runs {
    /// Counts the routines that are picked and replaces them by their fast forms.
    pub fn replace(removal: &mut Removal, pick: impl Fn(Routine) -> bool) -> Self {
        let listing = removal.listing;
        let mut found =
            Self { by_routine: HashMap::new(), weights: HashMap::new(), slow_path: 0.0 };
        let mut saved: HashMap<(Option<&str>, Option<u32>), f64> = HashMap::new();
        let mut slow: Vec<usize> = Vec::new();
        let whole = by_loop(listing, &[Routine::IntegerDivision, Routine::SignedDivision]);
        let quotients = by_loop(listing, &[Routine::RepeatedDivision]);
        let signed = !by_loop(listing, &[Routine::SignedDivision]).is_empty();
        for (index, entry) in listing.entries() {
            let Some(mut routine) = entry.routine.filter(|routine| pick(*routine)) else {
                continue;
            };
            let mut runs = listing.executed(index);
            if routine == Routine::IntegerDivision && goes_around_a_call(listing, index) {
                routine = Routine::ShortLongDivision;
            }
            if routine == Routine::RepeatedDivision {
                // A whole division has a quotient too. Those beyond are the rest of one whose
                // reciprocal was worked out before: for another quotient, or before the loop.
                let around = listing.sass.flow.innermost(index);
                let own = whole.get(&around).copied().unwrap_or(0.0);
                let all = quotients.get(&around).copied().unwrap_or(0.0);
                if whole.is_empty() || own == 0.0 && around.is_none() || all <= own {
                    continue;
                }
                runs *= 1.0 - own / all;
                if signed {
                    routine = Routine::RepeatedSignedDivision;
                }
            }
            if runs <= 0.0 {
                continue;
            }
            *found.by_routine.entry(routine).or_default() += runs;
            let (now, then) = (routine.cost(), routine.fast_cost());
            removal.replace(runs, now, then);
            let part = runs / listing.executed(index);
            found.weights.insert(index, part * (now.all - then.all));
            let row = listing.row(index);
            *saved.entry((row.file.as_deref(), row.line)).or_default() +=
                runs * (now.all - then.all);
            if routine == Routine::LongDivision {
                for (call, range) in called(listing, index) {
                    removal.remove(call, 1.0);
                    found.weights.insert(call, 1.0);
                    range.for_each(|at| removal.remove(at, 1.0));
                }
            } else {
                slow.extend(slow_path(listing, index));
            }
        }
        slow.sort_unstable();
        slow.dedup();
        for index in slow {
            removal.remove(index, 1.0);
            found.weights.insert(index, 1.0);
            found.slow_path += listing.executed(index);
        }
        removal.remove_waits(&saved);
        found
    }

    /// The routine that costs most, and how often it ran.
    #[must_use]
    pub fn most(&self) -> Option<(Routine, f64)> {
        let cost = |(routine, runs): (&Routine, &f64)| runs * routine.cost().all.max(1.0);
        let most = self.by_routine.iter().max_by(|a, b| cost(*a).total_cmp(&cost(*b)))?;
        Some((*most.0, *most.1))
    }

    /// The lines that run them.
    #[must_use]
    pub fn locations(&self, case: &Case, removal: &Removal) -> Vec<Location> {
        let listing = removal.listing;
        let weight = |index: usize| {
            self.weights.get(&index).map_or(0.0, |weight| weight * listing.executed(index))
        };
        locations(case, listing, weight, "instructions saved")
    }
}

/// Instructions before the mark of a 32-bit division within which the call stands that a 64-bit one makes
/// where its operands need it: seven are between them on sm_90.
const CALL_WITHIN: usize = 10;

/// True where a division is the short way of a 64-bit one.
fn goes_around_a_call(listing: Listing, mark: usize) -> bool {
    (mark.saturating_sub(CALL_WITHIN)..mark)
        .any(|index| listing.sass.entries[index].callee().is_some())
}

/// How often routines' marks ran by the innermost loop, `None` for outside of loops; only where they did.
fn by_loop(listing: Listing, routines: &[Routine]) -> HashMap<Option<usize>, f64> {
    let mut runs = HashMap::new();
    for (index, entry) in listing.entries() {
        let executed = listing.executed(index);
        let picked = entry.routine.is_some_and(|routine| routines.contains(&routine));
        if picked && executed > 0.0 {
            *runs.entry(listing.sass.flow.innermost(index)).or_default() += executed;
        }
    }
    runs
}

/// The instructions that the usual path of a routine branches around, and the functions that they
/// call; empty where no such branch is near.
fn slow_path(listing: Listing, mark: usize) -> Vec<usize> {
    let end = (mark + BRANCH_WITHIN).min(listing.sass.entries.len());
    let around = (mark..end).find_map(|index| {
        let entry = &listing.sass.entries[index];
        let to = entry.target().filter(|&to| entry.conditional && to > index)?;
        Some(index + 1..to)
    });
    let Some(around) = around else { return Vec::new() };
    // Only slow paths call functions or convert whole doubles; other code may be branched around too.
    let is_slow = |index: usize| {
        let entry = &listing.sass.entries[index];
        entry.callee().is_some() || entry.family == Family::ConvertFp64
    };
    if around.len() > LONGEST_PATH || !around.clone().any(is_slow) {
        return Vec::new();
    }
    let callees = around.clone().filter_map(|index| listing.sass.entries[index].callee());
    let functions = callees.filter_map(|first| listing.function(first)).flatten();
    around.clone().chain(functions).collect()
}

/// More instructions than the longest slow path has: that of sine, 110 on sm_90.
const LONGEST_PATH: usize = 160;

/// The calls of the function that an instruction stands in, and the function.
fn called(listing: Listing, index: usize) -> Vec<(usize, std::ops::RangeInclusive<usize>)> {
    let calls = listing.entries().filter_map(|(call, entry)| Some((call, entry.callee()?)));
    calls
        .filter_map(|(call, first)| Some((call, listing.function(first)?)))
        .filter(|(_, range)| range.contains(&index))
        .collect()
}
