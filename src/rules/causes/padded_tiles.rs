//! Tiles that reach beyond the matrix.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::threshold::{NOISE, NOISE_SOURCE};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::Family;
use crate::sass::questions::matrix_loops::{StagedLoop, filled, staged};
use crate::term::Term;
use crate::text::percent;

/// The part of a tile that must be zeros.
const LEAST_ZEROS: f64 = NOISE / 100.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "padded-tiles",
    kind: Kind::Cause,
    summary: "tiles of operands reach beyond the matrix, and the products multiply zeros",
    explanation: "\
The tensor units want tiles of certain sizes, often powers of two, which matrices seldom have: of a head with 80 elements in a tile \
of 128, three eighths of each row are zeros, which are multiplied, kept in shared memory and rearranged like the others. The rule \
compares what copies of operands fetch with what they have room for, where a condition can switch their lanes off. \
Choose a tile that divides the matrix, or put it together from two (64 and 16), each with its own products. The estimate takes \
the same part of products, copies, and waits for both away as there are zeros.",
    examples: &[Example {
        fault: "\
// a head of 80 elements in a tile of 128
for (int d = 0; d < 128; d += 16)
    multiply(score, q_piece(d), k_piece(d));  // the last three are zeros",
        repair: "\
for (int d = 0; d < 80; d += 16)
    multiply(score, q_piece(d), k_piece(d));",
        note: "\
Three of eight products go, and so much shared memory that another block may fit.",
    }],
    section: "InstructionStats",
    thresholds: &[
        Threshold {
            what: "zeros, share of what copies of operands have room for, more than",
            value: LEAST_ZEROS,
            unit: "share",
            source: NOISE_SOURCE,
        },
        MATTERS_LIMIT,
    ],
    needs: &[ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "math-pipe-throttle",
        "short-scoreboard-stalls",
        "long-scoreboard-stalls",
        "fixed-latency-stalls",
        "barrier-stalls",
        "mio-throttle",
        "issue-slots-underused",
    ],
    in_triton: "\
tl.arange needs a power of two: split 80 into tl.arange(0, 64) and tl.arange(0, 16), with a tl.dot each.",
    unrecorded: Some("the pairs that show it are in Triton, whose recordings are not kept here"),
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let zeros = |each: &StagedLoop| {
        filled(&listing, each).map(|filled| 1.0 - filled).filter(|&zeros| zeros > LEAST_ZEROS)
    };
    let loops: Vec<(StagedLoop, f64)> = staged(&listing)
        .into_iter()
        .filter_map(|each| zeros(&each).map(|zeros| (each, zeros)))
        .collect();
    let most = loops.iter().map(|(_, zeros)| *zeros).reduce(f64::max)?;
    let is_of_products = |at: usize| {
        let family = listing.sass.entries[at].family;
        let text = listing.text(at);
        family == Family::Tensor || text.contains("WARPGROUP") || text.contains("DEPBAR")
    };
    let (mut products, mut theirs) = (0.0, 0.0);
    for (at, entry) in listing.entries() {
        if entry.family == Family::Tensor {
            products += listing.executed(at);
        }
    }
    for (each, zeros) in &loops {
        for &at in &each.inside {
            let feeds = each.copies.binary_search(&at).is_ok() || each.stores.contains(&at);
            if feeds || is_of_products(at) {
                removal.remove(at, *zeros);
            }
            if listing.sass.entries[at].family == Family::Tensor {
                theirs += zeros * listing.executed(at);
            }
        }
    }
    let mut effect = removal.effect(launch);
    if products > 0.0 {
        effect.removed.retain(|(term, _)| *term != Term::Tensor);
        effect.removed.push((Term::Tensor, theirs / products));
    }
    if !gains(launch, &effect) {
        return None;
    }
    let is_copy = |at: usize| loops.iter().any(|(each, _)| each.copies.contains(&at));
    let weight = |at: usize| if is_copy(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "copies of operands");
    let at = place(&locations, "the copies of operands");
    Some(Draft {
        message: format!(
            "The copies of operands at {at} fetch {} of what they have room for: the rest of the tiles lies beyond the \
             matrix, and its zeros are multiplied like the others.",
            percent(1.0 - most),
        ),
        evidence: vec![Evidence::new("zeros of the tiles", 100.0 * most, "%")],
        hint: format!(
            "Choose tiles at {at} whose sides divide the matrix, or put a side together from two tiles, each with products \
             of its own: {} of the products, of the copies and of their shared memory go.",
            percent(most),
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};

    #[test]
    fn zeros_beyond_the_matrix_are_named_and_full_tiles_are_not() {
        let of = |sectors: f64| {
            let code = [
                ("MOV R1, RZ", 10.0),
                ("LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64], P1", 200.0),
                ("LDSM.16.M88.4 R8, [R20]", 200.0),
                ("HMMA.16816.F32 R24, R8, R12, R24", 200.0),
                ("@P0 BRA 0x110", 200.0),
                ("EXIT", 10.0),
            ];
            let tensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
            let mut launch = sass(&[(ISSUE_BUSY, 40.0), (tensor, 70.0)], &code);
            launch.instructions[1].counters.thread_inst_executed_pred_on = 200.0 * 32.0;
            launch.instructions[1].counters.l2_sectors_global = 200.0 * sectors;
            check(&RULE, &launch)
        };
        let draft = of(10.0).unwrap();
        assert!((draft.effect.share_of(Term::Tensor) - 0.375).abs() < 1e-12);
        assert!(
            draft.message.contains("62%") || draft.message.contains("63%"),
            "{}",
            draft.message
        );
        assert!(of(16.0).is_none());
    }
}
