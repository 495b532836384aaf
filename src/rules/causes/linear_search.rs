//! Threads go through offsets one by one to find where they belong.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::linear_searches::linear_searches;
use crate::text::count;

/// Values looked at by one warp, at least.
const LEAST_VALUES: f64 = 16.0;

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
order with a value that stays, count, and do nothing else. The estimate keeps the steps of a binary search.",
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
    let found: Vec<_> = searches.filter(|each| each.values >= LEAST_VALUES).collect();
    let longest = found.iter().max_by(|a, b| {
        let executed = |loads: &[usize]| loads.iter().map(|&at| listing.executed(at)).sum::<f64>();
        executed(&a.loads).total_cmp(&executed(&b.loads))
    })?;
    for each in &found {
        let gone = (1.0 - halvings(each.values) / each.values).max(0.0);
        each.inside.iter().for_each(|&at| removal.remove(at, gone));
    }
    let effect = removal.effect(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let is_load = |at: usize| found.iter().any(|each| each.loads.binary_search(&at).is_ok());
    let weight = |at: usize| if is_load(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "loads of the search");
    let at = place(&locations, "the loop");
    let halvings = halvings(longest.values);
    Some(Draft {
        message: format!(
            "The loop at {at} does nothing but look for the first value beyond another: it loads {} values for each warp, one after \
             another.",
            count(longest.values.round()),
        ),
        evidence: vec![
            Evidence::new("values that a warp looks at", longest.values, "value"),
            Evidence::new("steps of a binary search", halvings, "step"),
        ],
        hint: format!(
            "If the values ascend, as offsets do, halve the list in each step at {at}: about {} loads in place of {}. Or write down \
             once, in a kernel of its own or on the host, what each block or element has to find.",
            count(halvings),
            count(longest.values.round()),
        ),
        locations,
        effect,
    })
}

/// Steps of a binary search in a list through half of which a walk goes on average.
fn halvings(walked: f64) -> f64 {
    (2.0 * walked).log2().ceil()
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
}
