//! Every thread compares all entries of a list with its own index.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::hardware::WARP_LANES;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::matches::matches;
use crate::term::Term;
use crate::text::{count, percent};

const EXECUTED: &str = "smsp__inst_executed.sum";

/// The rule.
pub const RULE: Rule = Rule {
    name: "matching-by-comparison",
    kind: Kind::Cause,
    summary: "every thread compares all entries of a list with its own index",
    explanation: "\
To count how often each token, bin, or neighbour occurs in a list, or to learn whether it is there at all, a thread for each of them can go \
through the whole list and compare. That takes as many comparisons as there are threads times entries. The other way round takes one step per \
entry: a thread for each entry marks or counts at the place that the entry names, with an atomic in shared memory where the counts fit there, \
and afterwards each thread looks at its own place. The same goes for sums of what belongs to each entry. The rule looks for loops that load \
entries which are the same for all lanes, compare them for equality with a value of each thread's own, and make nothing of the outcomes but \
counts and flags, or sums for which fewer than one lane per warp has something to add. The estimate lets the lanes of a warp take \
an entry each, with an atomic per entry; whole blocks can do more. Of sums it keeps the share of the lanes that add.",
    examples: &[Example {
        fault: "\
// a thread per species: how often was it seen?
int seen = 0;
for (int i = 0; i < sightings; i++)
    if (sighting[i] == species) seen++;   // sightings times species steps
count[species] = seen;",
        repair: "\
// a thread per sighting
__shared__ int seen[SPECIES];             // zero, then a barrier
for (int i = threadIdx.x; i < sightings; i += blockDim.x)
    atomicAdd(&seen[sighting[i]], 1);
__syncthreads();",
        note: "\
For a test of membership, a flag or a bit per place serves in place of a count; among winners chosen one after another, overwriting each \
winner's value does.",
    }],
    section: "InstructionStats",
    thresholds: &[MATTERS_LIMIT],
    needs: &[EXECUTED, ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "math-pipe-throttle",
        "fixed-latency-stalls",
        "mio-throttle",
        "lg-throttle",
        "long-scoreboard-stalls",
        "short-scoreboard-stalls",
    ],
    in_triton: "\
tl.histogram counts a block of values; tl.atomic_add(counts + value, 1) counts them in memory. Both take the place of \
(values[:, None] == bins[None, :]).",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let row = &launch.profile.row;
    let found = matches(&listing, row.block, row.grid);
    let executed_of = |places: &[usize]| places.iter().map(|&at| listing.executed(at)).sum::<f64>();
    let (mut compared, mut inside) = (0.0, 0.0);
    for each in &found {
        // Lanes share the entries of a list out, as far as it has as many. Where what belongs to an entry is added up, only
        // the lanes that find theirs have something to do.
        let shared_out = 1.0 / each.entries.clamp(1.0, WARP_LANES);
        let stays =
            each.matched.map_or(shared_out, |matched| matched.max(1.0 / each.entries.max(1.0)));
        each.inside.iter().for_each(|&at| removal.remove(at, 1.0 - stays));
        removal.add(Term::Lsu, executed_of(&each.compares) * stays);
        compared += executed_of(&each.compares);
        inside += executed_of(&each.inside);
    }
    let effect = removal.effect(launch);
    if compared <= 0.0 || !gains(launch, &effect) {
        return None;
    }
    let sums = found.iter().any(|each| each.matched.is_some());
    let is_compare = |at: usize| found.iter().any(|each| each.compares.binary_search(&at).is_ok());
    let weight = |at: usize| if is_compare(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "comparisons");
    let executed = launch.need(EXECUTED);
    let at = place(&locations, "the loop");
    Some(Draft {
        message: format!(
            "Each thread compares all entries of a list with its own index at {at}, and only {} those that are equal: {} \
             warp-wide comparisons, with what belongs to them {} of the executed instructions.",
            if sums { "adds up" } else { "counts or notes" },
            count(compared),
            percent(inside / executed),
        ),
        evidence: vec![
            Evidence::new("executed comparisons with a thread's own index", compared, "inst"),
            Evidence::new(EXECUTED, executed, "inst"),
        ],
        hint: hint(&at, sums),
        locations,
        effect,
    })
}

/// The change, for loops that add up values of entries or only count these.
fn hint(at: &str, sums: bool) -> String {
    if sums {
        return format!(
            "Invert the loop at {at}: let each thread take an entry and add what belongs to it at the place that the entry names (atomicAdd \
             on sums in shared memory where they fit, on global memory elsewhere), after these have been cleared. The order of the additions \
             is then open; where it must not be, sort the entries by their places and add up runs."
        );
    }
    format!(
        "Invert the loop at {at}: let each thread take an entry and mark or count it at the place that the entry names (atomicAdd on \
         counts in shared memory where they fit, on global memory elsewhere; a flag, where it only matters whether there is one), and then \
         look at its own place once."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};

    fn of(comparisons: f64) -> Option<Draft> {
        let code = [
            ("S2R R15, SR_TID.X", 10.0),
            ("LDC.64 R4, c[0x0][0x210]", 10.0),
            ("LDG.E R0, desc[UR6][R4.64]", comparisons),
            ("IADD3 R4, R4, 0x4, RZ", comparisons),
            ("ISETP.NE.AND P0, PT, R0, R15, PT", comparisons),
            ("@!P0 IADD3 R6, R6, 0x1, RZ", comparisons),
            ("ISETP.GE.AND P1, PT, R4, c[0x0][0x218], PT", comparisons),
            ("@!P1 BRA 0x120", comparisons),
            ("FADD R8, R8, R8", 3000.0),
            ("STG.E desc[UR6][R8.64], R6", 10.0),
            ("EXIT", 10.0),
        ];
        let executed = code.iter().map(|(_, executed)| executed).sum();
        let mut launch = sass(&[(EXECUTED, executed), (ISSUE_BUSY, 80.0)], &code);
        launch.row.block = [128, 1, 1];
        launch.row.grid = [4, 1, 1];
        check(&RULE, &launch)
    }

    #[test]
    fn a_loop_over_all_entries_counts_where_it_takes_time() {
        let draft = of(1000.0).unwrap();
        // The loop's six instructions go but for one part in 32, in which an atomic comes.
        let share = draft.effect.share_of(Term::Issue);
        let expected = (6.0 * 1000.0 * 31.0 / 32.0 - 1000.0 / 32.0) / 9040.0;
        assert!((share - expected).abs() < 1e-12, "{share} {expected}");
        assert!(draft.hint.contains("line 5"), "{}", draft.hint);
        assert!(of(20.0).is_none(), "a few among much else");
    }
}
