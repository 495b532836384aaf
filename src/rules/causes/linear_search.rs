//! Threads go through offsets one by one to find where they belong.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::linear_scans::{Asks, LinearScan, linear_scans};
use crate::sass::questions::linear_searches::{LinearSearch, linear_searches};
use crate::text::count;

/// Values looked at by one warp, at least.
const LEAST_VALUES: f64 = 16.0;

/// Instructions of a step of halving, for each that a scan has per entry.
const STEP: Threshold = Threshold {
    what: "instructions of a step of a binary search, for each of those with which a scan looks at an entry",
    value: 3.0,
    unit: "times",
    source: "derivation: two to find the middle, two for its address, a load, a comparison, two choices, and what counts steps, \
             against a comparison, a choice, and a part of a load that several comparisons share",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "linear-search",
    kind: Kind::Cause,
    summary: "threads look through ascending values one by one",
    explanation: "\
A thread that only knows its own index often has to find the sequence, the row, or the bin that it belongs to, in a list of ascending \
offsets. Walking along the list, it waits for each value before it can go on: on average half of the list, one latency after another. \
Halving the list in each step finds the place among a thousand offsets in ten loads; a kernel that writes each element's \
place once, or a grid with an index for the sequence, leaves no search at all. The rule looks for loops that load, compare by \
order with a value that stays, count, and do nothing else. They may end at the first value beyond, or go through the whole list to \
count the entries up to a value of each lane's own, or to keep the last of them, as loops in Triton do; or they keep the entry that is \
nearest to such a value. The estimate keeps the \
steps of a binary search.",
    examples: &[Example {
        fault: "\
// which of a thousand packed sequences has this token?
int s = 0;
while (offset[s + 1] <= token) ++s;       // 500 loads, one after another",
        repair: "\
int s = 0, end = sequences;
while (end - s > 1) {                     // ten loads
    int middle = (s + end) / 2;
    if (offset[middle] <= token) s = middle; else end = middle;
}",
        note: "\
Both need offsets in ascending order, as the first loop takes for granted, too. The lanes of a warp search alike where they have \
neighbouring tokens, so that their loads stay together.",
    }],
    section: "SourceCounters",
    thresholds: &[
        Threshold {
            what: "values that a warp looks at, on average, at least",
            value: LEAST_VALUES,
            unit: "value",
            source: "derivation: among 16 values, halving takes 5 looks at the most, each with three times the instructions",
        },
        STEP,
        MATTERS_LIMIT,
    ],
    needs: &[ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "long-scoreboard-stalls",
        "short-scoreboard-stalls",
        "fixed-latency-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
halve the range in a loop of a fixed number of steps, or pass a list with the sequence of each program.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let searches = linear_searches(&listing).into_iter();
    let walks: Vec<_> = searches.filter(|each| each.values >= LEAST_VALUES).collect();
    let is_walk = |at: usize| walks.iter().any(|each| each.inside.binary_search(&at).is_ok());
    let scans: Vec<_> = linear_scans(&listing)
        .into_iter()
        .filter(|each| each.entries >= LEAST_VALUES && !is_walk(each.inside[0]))
        .collect();
    for each in &walks {
        let gone = (1.0 - halvings(each.values) / each.values).max(0.0);
        each.inside.iter().for_each(|&at| removal.remove(at, gone));
    }
    for each in &scans {
        shorten(&mut removal, each);
    }
    let effect = removal.effect(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let executed = |loads: &[usize]| loads.iter().map(|&at| listing.executed(at)).sum::<f64>();
    let walk = walks.iter().max_by(|a, b| executed(&a.loads).total_cmp(&executed(&b.loads)));
    let scan = scans.iter().max_by(|a, b| executed(&a.loads).total_cmp(&executed(&b.loads)));
    let is_load = |at: usize| {
        let mut loads = walks.iter().map(|each| &each.loads);
        loads.any(|loads| loads.binary_search(&at).is_ok())
            || scans.iter().any(|each| each.loads.binary_search(&at).is_ok())
    };
    let weight = |at: usize| if is_load(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "loads of the search");
    let at = place(&locations, "the loop");
    let (message, hint, values, steps) = match (walk, scan) {
        (Some(walk), Some(scan)) if executed(&walk.loads) < executed(&scan.loads) => {
            of_scan(scan, &at)
        }
        (Some(walk), _) => of_walk(walk, &at),
        (None, scan) => of_scan(scan?, &at),
    };
    Some(Draft {
        message,
        evidence: vec![
            Evidence::new("values that a warp looks at", values, "value"),
            Evidence::new("steps of a binary search", steps, "step"),
        ],
        hint,
        locations,
        effect,
    })
}

/// Leaves of a scan what a binary search in place of each of its comparisons takes.
fn shorten(removal: &mut Removal, scan: &LinearScan) {
    let steps = halvings_of_all(scan.entries) / scan.entries;
    let goes = |stays: f64| (1.0 - stays).max(0.0);
    for &at in &scan.inside {
        if scan.loads.binary_search(&at).is_ok() {
            // Each value looks up its own; those of a turn were awaited together, and each step awaits the one before.
            removal.remove_but_latency(at, goes(steps * scan.searches));
            removal.remove_wavefronts(at, goes(steps * scan.searches));
            removal.remove_latency(at, goes(steps * scan.in_a_turn));
        } else {
            removal.remove(at, goes(steps * STEP.value));
        }
    }
}

/// What is said of a loop that ends at the first value beyond another, how many it looks at, and the steps of a search.
fn of_walk(walk: &LinearSearch, at: &str) -> (String, String, f64, f64) {
    let (values, steps) = (walk.values, halvings(walk.values));
    let message = format!(
        "The loop at {at} does nothing but look for the first value beyond another: it loads {} values for each warp, one after \
         another.",
        count(values.round()),
    );
    let hint = format!(
        "If the values ascend, as offsets do, halve the list in each step at {at}: about {} loads in place of {}. Or write down \
         once, in a kernel of its own or on the host, what each block or element has to find.",
        count(steps),
        count(values.round()),
    );
    (message, hint, values, steps)
}

/// The same of a loop that goes through the whole list.
fn of_scan(scan: &LinearScan, at: &str) -> (String, String, f64, f64) {
    let (entries, steps) = (scan.entries, halvings_of_all(scan.entries));
    if scan.asks == Asks::Nearest {
        return of_nearest(entries, steps, at);
    }
    let message = format!(
        "The loop at {at} holds each lane's own value against all {} entries of a list, and only counts the entries on one side of it \
         or keeps the last of them.",
        count(entries.round()),
    );
    let hint = format!(
        "If the entries ascend, as offsets do, halve the list in each step at {at}: {} steps in place of {} comparisons. Entries in \
         another order can be sorted once, where a number is all that is asked for. Without a search: count the entries that begin \
         at each place (a histogram), and let a prefix sum over the places give each its number.",
        count(steps),
        count(entries.round()),
    );
    (message, hint, entries, steps)
}

/// The same of a loop that looks for the nearest entry.
fn of_nearest(entries: f64, steps: f64, at: &str) -> (String, String, f64, f64) {
    let message = format!(
        "The loop at {at} takes the distance of each lane's own value from all {} entries of a list, only to keep the nearest.",
        count(entries.round()),
    );
    let hint = format!(
        "If the entries ascend, as the values of a code do, halve the list in each step at {at} and compare the two neighbours of the \
         place at the end: {} steps in place of {} distances. Entries in another order can be sorted once, with their numbers beside \
         them. Where the entries follow a formula, its inverse gives the number without a list.",
        count(steps),
        count(entries.round()),
    );
    (message, hint, entries, steps)
}

/// Steps of a binary search in a list through half of which a walk goes on average.
fn halvings(walked: f64) -> f64 {
    (2.0 * walked).log2().ceil()
}

/// Steps of a binary search that tells apart all places in a list, before the first entry and after each.
fn halvings_of_all(entries: f64) -> f64 {
    (entries + 1.0).log2().ceil()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, check, sass};
    use crate::term::Term;

    fn search(values: f64) -> Launch {
        let times = 10.0 * values;
        let code = [
            ("S2R R15, SR_CTAID.X", 10.0),
            ("IMAD.WIDE R4, R6, 0x4, R10", times),
            ("LDG.E R0, desc[UR6][R4.64+0x4]", times),
            ("IADD3 R6, R6, 0x1, RZ", times),
            ("ISETP.GT.AND P0, PT, R0, R15, PT", times),
            ("@!P0 BRA 0x110", times),
            ("STG.E desc[UR6][R8.64], R6", 10.0),
            ("EXIT", 10.0),
        ];
        sass(&[(ISSUE_BUSY, 60.0)], &code)
    }

    #[test]
    fn a_walk_along_many_values_counts() {
        let draft = assert_sides(&RULE, &search(512.0), &[&[(ISSUE_BUSY, 0.0)]]);
        // Ten of 512 steps stay: 2,510 of 25,630 instructions less 10 / 512.
        let gone = draft.effect.share_of(Term::Issue);
        assert!((gone - (1.0 - 10.0 / 512.0) * 25_600.0 / 25_630.0).abs() < 1e-12, "{gone}");
        assert!(draft.hint.contains("about 10 loads in place of 512"), "{}", draft.hint);
        assert!(draft.hint.contains("line 3"), "{}", draft.hint);
        assert!(check(&RULE, &search(16.0)).is_some());
        assert!(check(&RULE, &search(15.9)).is_none(), "few values");
    }
    /// A scan of a list by a kernel that does other things as well.
    fn scan(entries: f64) -> Launch {
        let times = 10.0 * entries;
        let code = [
            ("S2R R15, SR_TID.X", 10.0),
            ("LDC.64 R4, c[0x0][0x210]", 10.0),
            ("LDG.E R0, desc[UR6][R4.64]", times),
            ("IADD3 R4, R4, 0x4, RZ", times),
            ("ISETP.GE.AND P0, PT, R15, R0, PT", times),
            ("@P0 IADD3 R6, R6, 0x1, RZ", times),
            ("ISETP.GE.AND P1, PT, R4, c[0x0][0x218], PT", times),
            ("@!P1 BRA 0x120", times),
            ("STG.E desc[UR6][R8.64], R6", 10.0),
            ("EXIT", 10.0),
        ];
        sass(&[(ISSUE_BUSY, 60.0)], &code)
    }

    #[test]
    fn a_scan_of_a_whole_list_keeps_the_steps_of_a_search() {
        let draft = assert_sides(&RULE, &scan(1000.0), &[&[(ISSUE_BUSY, 0.0)]]);
        // Of 1,000 turns with six instructions, ten loads stay and thirty of each other.
        let gone = draft.effect.share_of(Term::Issue);
        assert!((gone - (9900.0 + 5.0 * 9700.0) / 60_040.0).abs() < 1e-12, "{gone}");
        assert!(draft.hint.contains("10 steps in place of 1,000"), "{}", draft.hint);
        assert!(check(&RULE, &scan(15.0)).is_none(), "few entries");
    }
}
