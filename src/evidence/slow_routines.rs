//! Runs of library routines that a fast form could replace.

mod loads_between;
mod powers;
mod quotients;
mod remainders;

use std::collections::{BTreeMap, HashMap};

use crate::evidence::removal::{Removal, locations};
use crate::evidence::{ModeledLaunch, Threshold};
use crate::finding::Location;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::library::Cost;
use crate::sass::parse::operands::Role;
use crate::sass::{Family, Listing, Marks, Routine};

/// The numbers by which a routine's parts are found, as the page on rules shows them.
pub(crate) const THRESHOLDS: &[Threshold] = &[
    BRANCH_WITHIN,
    LONGEST_PATH,
    loads_between::TOGETHER,
    powers::PRODUCTS,
    quotients::CORRECTED_WITHIN,
    remainders::PRODUCT_WITHIN,
];

const BRANCH_WITHIN: Threshold = Threshold {
    what: "instructions between the mark of a library routine and the branch around its slow path, at \
           most",
    value: 24.0,
    unit: "instruction",
    source: "measured on sm_90: 18 misses slow paths of recorded kernels, 48 takes branches of other code for \
             theirs",
};

const LONGEST_PATH: Threshold = Threshold {
    what: "instructions of a routine's slow path, at most",
    value: 160.0,
    unit: "instruction",
    source: "measured: the longest slow path, that of sine, takes 110 on sm_90",
};

/// Runs of library routines.
pub(crate) struct Runs {
    /// How often each routine's mark was executed.
    by_routine: BTreeMap<Routine, f64>,
    /// What each mark is of.
    marked: HashMap<usize, Routine>,
    /// How many an instruction saves as a mark, or 1 on a slow path, per execution.
    weights: HashMap<usize, f64>,
    /// Executed instructions of slow paths.
    pub slow_path: f64,
    /// The largest share of the waits for some load that goes because no slow path stands between it and
    /// others any more.
    pub loads_together: f64,
}

impl Runs {
    /// Counts the routines that are picked, by their marks, and replaces them by their fast forms.
    pub(crate) fn replace(
        removal: &mut Removal,
        mut pick: impl FnMut(usize, Routine) -> bool,
    ) -> Self {
        let listing = removal.listing;
        let mut found = Self {
            by_routine: BTreeMap::new(),
            marked: HashMap::new(),
            weights: HashMap::new(),
            slow_path: 0.0,
            loads_together: 0.0,
        };
        // By line.
        let mut saved = vec![0.0; listing.sass.line_count()];
        let mut slow: Vec<usize> = Vec::new();
        let mut around_a_call: Vec<usize> = Vec::new();
        let mut reaching = Reaching::new(listing.sass);
        let whole = by_loop(listing, &[Routine::IntegerDivision, Routine::SignedDivision]);
        let quotients = by_loop(listing, &[Routine::RepeatedDivision]);
        let calls = listing.calls();
        let signed = !by_loop(listing, &[Routine::SignedDivision]).is_empty();
        for (index, entry) in listing.entries() {
            // Powers of doubles are counted where they are called.
            let mut picked = |it: &Routine| *it != Routine::DoublePower && pick(index, *it);
            let Some(mut routine) = entry.routine.filter(&mut picked) else { continue };
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
            if routine == Routine::DoubleDivision && is_given(listing, &mut reaching, index) {
                routine = Routine::RepeatedDoubleDivision;
            }
            if routine == Routine::DoubleSine {
                coefficients(listing, index).for_each(|at| removal.remove(at, 1.0));
            }
            *found.by_routine.entry(routine).or_default() += runs;
            found.marked.insert(index, routine);
            let mut now = routine.cost();
            if quotients::is_wanted(listing, index) {
                now = quotients::with_quotient(routine, now);
            }
            let then =
                if routine == Routine::Division && divisor_stays(listing, &mut reaching, index) {
                    MULTIPLICATION
                } else if routine == Routine::Remainder
                    && remainders::modulus_stays(listing, &mut reaching, index)
                {
                    remainders::KNOWN_MODULUS
                } else {
                    routine.fast_cost()
                };
            removal.replace(runs, now, then);
            let part = runs / listing.executed(index);
            found.weights.insert(index, part * (now.all - then.all));
            saved[entry.line()] += runs * (now.all - then.all);
            if routine == Routine::LongDivision {
                let theirs = calls.iter().filter(|(_, function)| function.contains(&index));
                for (call, function) in theirs {
                    removal.remove(*call, 1.0);
                    found.weights.insert(*call, 1.0);
                    function.clone().for_each(|at| removal.remove(at, 1.0));
                }
            } else {
                let path = slow_path(listing, index);
                if !path.is_empty() {
                    around_a_call.push(index);
                }
                slow.extend(path);
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
        for (load, share) in loads_between::kept_apart(listing, &around_a_call) {
            removal.remove_latency(load, share);
            found.loads_together = found.loads_together.max(share);
        }
        found
    }

    /// The routine that costs most, of two that cost the same always the same one, and how often it ran.
    #[must_use]
    pub(crate) fn most(&self) -> Option<(Routine, f64)> {
        let cost = |(routine, runs): (&Routine, &f64)| runs * routine.cost().all.max(1.0);
        let most = self.by_routine.iter().max_by(|a, b| cost(*a).total_cmp(&cost(*b)))?;
        Some((*most.0, *most.1))
    }

    /// True where such a routine ran.
    #[must_use]
    pub(crate) fn has(&self, routine: Routine) -> bool {
        self.by_routine.contains_key(&routine)
    }

    /// The routine whose fast form saves most at a place; `None` where none of them is there.
    #[must_use]
    pub(crate) fn most_at(
        &self,
        launch: &ModeledLaunch,
        listing: Listing,
        place: &Location,
    ) -> Option<Routine> {
        let mut saved: BTreeMap<Routine, f64> = BTreeMap::new();
        for (&index, &routine) in &self.marked {
            if launch.profile.is_at(listing.row(index), place) {
                let each = self.weights.get(&index).copied().unwrap_or(0.0);
                *saved.entry(routine).or_default() += each * listing.executed(index);
            }
        }
        let most = saved.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
        most.map(|(routine, _)| routine)
    }

    /// The lines that run them.
    #[must_use]
    pub(crate) fn locations(&self, launch: &ModeledLaunch, removal: &Removal) -> Vec<Location> {
        let listing = removal.listing;
        let weight = |index: usize| {
            self.weights.get(&index).map_or(0.0, |weight| weight * listing.executed(index))
        };
        locations(launch, listing, weight, "instructions saved")
    }
}

/// What a fast division by a value that stays the same in a loop takes there: its reciprocal is worked out
/// before.
const MULTIPLICATION: Cost = Cost { fma: 1.0, alu: 0.0, xu: 0.0, fp64: 0.0, all: 1.0 };

/// The loads of a double's sine from the table of coefficients, which lies behind the constants.
fn coefficients(listing: Listing, mark: usize) -> impl Iterator<Item = usize> {
    let end = (mark + LONGEST_PATH.whole()).min(listing.sass.entries.len());
    let line = listing.sass.entries[mark].line();
    let is_other = move |at: &usize| listing.sass.entries[*at].routine == Some(Routine::DoubleSine);
    let end = (mark + 1..end).find(is_other).unwrap_or(end);
    (mark + 1..end).filter(move |&at| {
        let entry = &listing.sass.entries[at];
        let is_wide = matches!(entry.family, Family::Load(_)) && entry.width == COEFFICIENTS_BYTES;
        is_wide && entry.line() == line && listing.text(at).contains(".CONSTANT")
    })
}

/// The width of the loads of coefficients: two doubles.
const COEFFICIENTS_BYTES: u8 = 16;

/// True where the divisor of a division of doubles is the same for all threads, made of the kernel's
/// parameters and constants alone, or is made before the loop.
fn is_given(listing: Listing, reaching: &mut Reaching, mark: usize) -> bool {
    let sass = listing.sass;
    let blocks = sass.flow.innermost(mark).map(|at| &sass.flow.loops[at].blocks);
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![mark];
    while let Some(at) = open.pop() {
        for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
            let definitions: Vec<u32> = reaching.definitions(at, *each).collect();
            for definition in definitions {
                let before = definition as usize;
                let outside =
                    blocks.is_some_and(|blocks| !blocks.contains(&sass.flow.block_of[before]));
                let family = sass.entries[before].family;
                if !outside && (family.is_memory() || family == Family::System) {
                    return false;
                }
                if !outside && seen.insert(before) {
                    open.push(before);
                }
            }
        }
    }
    true
}

/// True where the divisor of a division of floats in a loop, the last source of its mark, is constant or made
/// before the loop.
fn divisor_stays(listing: Listing, reaching: &mut Reaching, mark: usize) -> bool {
    let sass = listing.sass;
    let Some(around) = sass.flow.innermost(mark) else { return false };
    let data: Vec<Use> =
        sass.uses(mark).iter().filter(|each| each.role == Role::Data).copied().collect();
    // A constant is no use of a register.
    let Some(divisor) = data.get(1) else { return true };
    let blocks = &sass.flow.loops[around].blocks;
    !reaching
        .definitions(mark, *divisor)
        .any(|at| blocks.contains(&sass.flow.block_of[at as usize]))
}

/// True where a division is the short way of a 64-bit one: a branch before it has a call to it on its other way.
fn goes_around_a_call(listing: Listing, mark: usize) -> bool {
    let entries = &listing.sass.entries;
    let near = BRANCH_WITHIN.whole();
    (mark.saturating_sub(near)..mark).any(|at| {
        let to = entries[at].target().filter(|&to| entries[at].conditional && to > at);
        let other_way = to.map(|to| if to <= mark { at..to } else { to..to + near });
        let other_way =
            other_way.and_then(|way| entries.get(way.start..way.end.min(entries.len())));
        other_way.is_some_and(|way| way.iter().any(|entry| entry.callee().is_some()))
    })
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
    let end = (mark + BRANCH_WITHIN.whole()).min(listing.sass.entries.len());
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
    if around.len() > LONGEST_PATH.whole() || !around.clone().any(is_slow) {
        return Vec::new();
    }
    let callees = around.clone().filter_map(|index| listing.sass.entries[index].callee());
    let functions = callees.filter_map(|first| listing.function(first)).flatten();
    around.clone().chain(functions).collect()
}

/// The innermost loops in which some routine branches around a slow path. The compiler moves nothing across such a
/// branch, so that each result is worked out, and waited for, on its own.
pub(crate) fn loops_with_slow_paths(listing: Listing) -> Vec<usize> {
    let routines = listing
        .entries()
        .filter(|(at, entry)| entry.routine.is_some() && listing.executed(*at) > 0.0);
    let mut loops: Vec<usize> = routines
        .filter_map(|(at, _)| Some((at, listing.sass.flow.innermost(at)?)))
        .filter(|(at, _)| !slow_path(listing, *at).is_empty())
        .map(|(_, around)| around)
        .collect();
    loops.sort_unstable();
    loops.dedup();
    loops
}

/// A slow path between the loads of the loop, or of the code outside of loops, in which a thread stops: the
/// first one behind its stop, or the first at all.
pub(crate) fn between_loads(listing: Listing, stop: usize) -> Option<usize> {
    let around = listing.sass.flow.innermost(stop);
    let is_here = |at: usize| listing.sass.flow.innermost(at) == around;
    let paths: Vec<usize> = listing
        .entries()
        .filter(|(at, entry)| entry.routine.is_some() && is_here(*at))
        .map(|(at, _)| at)
        .filter(|&at| listing.executed(at) > 0.0 && !slow_path(listing, at).is_empty())
        .collect();
    if loads_between::kept_apart(listing, &paths).is_empty() {
        return None;
    }
    paths.iter().find(|&&path| path >= stop).or(paths.first()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::sass;
    use crate::model::Model;

    /// Instructions that go of ten divisions in a loop, whose divisor is made by the line before or in it.
    fn saved(before: &str, inside: &str) -> f64 {
        let launch = sass(
            &[],
            &[
                (before, 1.0),
                (inside, 10.0),
                ("FCHK P0, R0, R7", 10.0),
                ("@P1 BRA 0x110", 10.0),
                ("EXIT", 1.0),
            ],
        );
        let launch = ModeledLaunch { profile: &launch, model: &Model::new(&launch) };
        let mut removal = Removal::new(&launch).unwrap();
        Runs::replace(&mut removal, |_, routine| routine == Routine::Division);
        removal.instructions()
    }

    #[test]
    fn a_divisor_that_stays_leaves_a_multiplication() {
        // Ten times 10 − 1, against ten times 10 − 6.
        assert!((saved("MOV R7, R2", "MOV R8, R2") - 90.0).abs() < 1e-12);
        assert!((saved("MOV R8, R2", "MOV R7, R2") - 40.0).abs() < 1e-12);
    }

    #[test]
    fn of_routines_that_cost_the_same_it_is_always_the_same_one() {
        let launch = sass(&[], &[("NOP", 100.0)]);
        let launch = ModeledLaunch { profile: &launch, model: &Model::new(&launch) };
        let most = || {
            let mut runs = Runs::replace(&mut Removal::new(&launch).unwrap(), |_, _| true);
            // Ten instructions each.
            runs.by_routine = [(Routine::Division, 4.0), (Routine::Reciprocal, 4.0)].into();
            runs.most()
        };
        let first = most();
        assert!(first.is_some());
        for _ in 0..32 {
            assert_eq!(most(), first);
        }
    }
}
