//! Tiles that reach beyond the matrix.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::threshold::{NOISE, NOISE_SOURCE};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::Family;
use crate::sass::questions::matrix_loops::{StagedLoop, emptiest, filled, staged};
use crate::term::Term;
use crate::text::percent;

/// The part of a tile that must be zeros.
const LEAST_ZEROS: f64 = NOISE / 100.0;

/// The data of a tile that has any, at least.
const LEAST_OF_A_TILE: f64 = 0.5;

/// The rule.
pub const RULE: Rule = Rule {
    name: "padded-tiles",
    kind: Kind::Cause,
    summary: "tiles of operands reach beyond the matrix, and the products multiply zeros",
    explanation: "\
The tensor units want tiles of certain sizes, often powers of two, which matrices seldom have: of a head with 80 elements in a tile \
of 128, three eighths of each row are zeros, which are multiplied, kept in shared memory and rearranged like the others. The rule \
compares what copies of operands fetch with what they have room for, where a condition can switch their lanes off. \
Choose a tile that divides the matrix, or put it together from two (64 and 16), each with its own products. Where an operand has less \
than half of its room, whole tiles lie beyond the end, such as those of experts with few tokens: leave them out. The estimate takes \
the same part of products, copies, and waits for both away as there are zeros, and of all the loop does what empty tiles make up.",
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
        Threshold {
            what: "constant: data of a tile that has any, share of its room in the operand that has the least, on average, at least",
            value: LEAST_OF_A_TILE,
            unit: "share",
            source: "derivation: of less than half of the room a tile of half the size would have done, so that what is emptier are \
                     tiles without data",
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
tl.arange needs a power of two: split 80 into tl.arange(0, 64) and tl.arange(0, 16), with a tl.dot each; return at once \
from a program whose tile begins beyond the end.",
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
    // A tile that has data is half full at least, or it would be a smaller one: what is emptier than that is whole tiles.
    let empty = |each: &StagedLoop| {
        let data = emptiest(&listing, each).unwrap_or(1.0);
        (1.0 - data / LEAST_OF_A_TILE).max(0.0)
    };
    let whole = loops.iter().map(|(each, _)| empty(each)).fold(0.0, f64::max);
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
            let gone = if feeds || is_of_products(at) { *zeros } else { 0.0 };
            removal.remove(at, gone.max(empty(each)));
            if listing.sass.entries[at].family == Family::Tensor {
                theirs += zeros.max(empty(each)) * listing.executed(at);
            }
        }
    }
    let mut effect = removal.effect(launch);
    if products > 0.0 {
        effect.removed.retain(|(term, _)| *term != Term::Tensor);
        effect.removed.push((Term::Tensor, theirs / products));
    }
    // What is copied for empty tiles comes from L2.
    let sectors = |at: usize| listing.row(at).counters.l2_sectors_global;
    let all: f64 = listing.entries().map(|(at, _)| sectors(at)).sum();
    let copied = loops
        .iter()
        .map(|(each, _)| empty(each) * each.copies.iter().map(|&at| sectors(at)).sum::<f64>());
    let of_l2 = if all > 0.0 { copied.sum::<f64>() / all } else { 0.0 };
    effect.removed.extend([Term::L2, Term::L2Requests, Term::Dram].map(|term| (term, of_l2)));
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
        hint: if whole > LEAST_ZEROS {
            format!(
                "Leave before the loop where a tile begins beyond the end, as at least {} of them do, with the bound by which {at} switches \
                 copies off; or launch only the tiles that have data. What is left over of zeros goes with tiles whose sides divide the matrix.",
                percent(whole),
            )
        } else {
            format!(
                "Choose tiles at {at} whose sides divide the matrix, or put a side together from two tiles, each with products \
                 of its own: {} of the products, of the copies and of their shared memory go.",
                percent(most),
            )
        },
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

    #[test]
    fn an_operand_below_half_of_its_room_tells_of_empty_tiles() {
        let of = |sectors: f64| {
            let code = [
                ("MOV R1, RZ", 10.0),
                ("LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64], P1", 200.0),
                ("LDGSTS.E.BYPASS.128 [R22], desc[UR4][R4.64], P2", 200.0),
                ("LDSM.16.M88.4 R8, [R20]", 200.0),
                ("HMMA.16816.F32 R24, R8, R12, R24", 200.0),
                ("@P0 BRA 0x110", 200.0),
                ("EXIT", 10.0),
            ];
            let tensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
            let mut launch = sass(&[(ISSUE_BUSY, 40.0), (tensor, 70.0)], &code);
            for (at, sectors) in [(1, sectors), (2, 16.0)] {
                let counters = &mut launch.instructions[at].counters;
                counters.thread_inst_executed_pred_on = 200.0 * 32.0;
                counters.l2_sectors_global = 200.0 * sectors;
            }
            check(&RULE, &launch).unwrap()
        };
        // A quarter of one operand: half of the tiles are empty at least, and the other's copies go with them.
        let few = of(4.0);
        assert!((few.effect.share_of(Term::Tensor) - 0.5).abs() < 1e-12);
        assert!(few.hint.contains("at least 50% of them"), "{}", few.hint);
        // Half of it may be the half of each tile.
        let half = of(8.0);
        assert!((half.effect.share_of(Term::Tensor) - 0.25).abs() < 1e-12);
        assert!(half.hint.contains("divide the matrix"), "{}", half.hint);
    }
}
