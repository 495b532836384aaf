//! Every thread searches an ascending list for where its own index belongs.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::hardware::WARP_LANES;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::index_searches::index_searches;
use crate::text::count;

/// The searches that are left.
const SEARCHES_LEFT: Threshold = Threshold {
    what: "constant: searches that are left, of those of a warp's lanes",
    value: 1.0 / WARP_LANES,
    unit: "share",
    source: "derivation: a warp that goes along an entry's elements needs none for them; one that does not begins where one \
             search has led",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "search-per-element",
    kind: Kind::Cause,
    summary: "every thread searches a list of offsets for its own index",
    explanation: "\
Where rows, strings, or segments of different lengths lie one behind the other, a grid with a thread per element leaves each thread to find \
out which row its element belongs to: by a binary search of the rows' offsets, one latency after another, before any work is done. \
Neighbouring threads mostly find the same row. With a warp or a block per row nobody searches, and the row's own values are loaded once; \
where rows are shorter than a warp, a block searches for its first and last element only, and its threads look among the few rows \
between. The rule looks for loops that halve, load, and compare what they have loaded with a number that is made of the thread's and the block's \
index alone. The estimate leaves one search per warp.",
    examples: &[Example {
        fault: "\
int lo = 0, hi = rows;                    // for each element
while (hi - lo > 1) {
    int mid = (lo + hi) / 2;
    if (offset[mid] <= element) lo = mid; else hi = mid;
}",
        repair: "\
int row = blockIdx.x * 8 + threadIdx.x / 32;      // a warp per row
for (int i = offset[row] + threadIdx.x % 32; i < offset[row + 1]; i += 32)
    out[i] = f(in[i], row);",
        note: "\
Rows that are much longer than others keep their warp busy longest: a block for each of these, or CUB's DeviceSegmentedReduce and \
DeviceMemcpy::Batched, which choose by length, spread them.",
    }],
    section: "SourceCounters",
    thresholds: &[SEARCHES_LEFT, MATTERS_LIMIT],
    needs: &[ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "long-scoreboard-stalls",
        "short-scoreboard-stalls",
        "fixed-latency-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
let each program take a row (or some rows), and loop over the row's elements in blocks.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let searches = index_searches(&listing);
    for at in searches.iter().flat_map(|each| &each.inside) {
        removal.remove(*at, 1.0 - SEARCHES_LEFT.value);
    }
    let effect = removal.effect(launch);
    if searches.is_empty() || !gains(launch, &effect) {
        return None;
    }
    let executed = |loads: &[usize]| loads.iter().map(|&at| listing.executed(at)).sum::<f64>();
    let most = searches.iter().max_by(|a, b| executed(&a.loads).total_cmp(&executed(&b.loads)))?;
    let is_load = |at: usize| searches.iter().any(|each| each.loads.binary_search(&at).is_ok());
    let weight = |at: usize| if is_load(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "loads of the search");
    let at = place(&locations, "the loop");
    Some(Draft {
        message: format!(
            "Every thread halves a list at {at} until it has found where its own index belongs: {} looks, each of which waits for the \
             one before. Neighbouring threads mostly find the same entry.",
            count(most.looks),
        ),
        evidence: vec![Evidence::new("entries that a warp looks at", most.looks, "entry")],
        hint: format!(
            "Give each entry of the list that is searched at {at} (a row, a string, a segment) to a warp or a block, whose lanes go along the \
             entry's elements: then nobody searches, and what belongs to the entry is loaded once. Where entries are shorter than a \
             warp, search once per block for its first element, and let its threads look among the few entries from there on."
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};
    use crate::term::Term;

    #[test]
    fn one_search_per_warp_is_left() {
        let of = |look: &'static str| {
            let code = [
                ("S2R R0, SR_TID.X", 8.0),
                ("MOV R6, 0x400", 8.0),
                ("IMAD.MOV.U32 R7, RZ, RZ, RZ", 8.0),
                ("IMAD.IADD R2, R7, 0x1, R6", 80.0), // 0x130
                ("SHF.R.S32.HI R9, RZ, 0x1, R2", 80.0),
                ("IMAD.WIDE R2, R9, 0x4, R4", 80.0),
                ("LDG.E R3, desc[UR6][R2.64]", 80.0),
                (look, 80.0),
                ("SEL R6, R6, R9, !P0", 80.0),
                ("@!P0 VIADD R7, R9, 0x1", 80.0),
                ("ISETP.GE.AND P0, PT, R7, R6, PT", 80.0),
                ("@!P0 BRA 0x130", 80.0),
                ("STG.E desc[UR6][R10.64], R7", 28.0),
                ("EXIT", 28.0),
            ];
            check(&RULE, &sass(&[(ISSUE_BUSY, 60.0)], &code))
        };
        let draft = of("ISETP.GT.AND P0, PT, R3, R0, PT").unwrap();
        let issued = draft.effect.share_of(Term::Issue);
        assert!((issued - 0.9 * 31.0 / 32.0).abs() < 1e-12, "720 of 800: {issued}");
        assert!(draft.message.contains("10 looks"), "{}", draft.message);
        assert_eq!(of("ISETP.GT.AND P0, PT, R9, R0, PT"), None);
    }
}
