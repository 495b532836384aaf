//! Tiles that a mask switches off whole.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::Family;
use crate::sass::questions::matrix_loops::{MaskedLoop, masked};
use crate::term::Term;
use crate::text::{count, percent};

/// The rule.
pub const RULE: Rule = Rule {
    name: "masked-tiles",
    kind: Kind::Cause,
    summary: "a loop multiplies tiles that its mask switches off whole",
    explanation: "\
Attention under a causal mask needs the keys up to a query's own position, and under a window only the last few. A \
loop over all tiles of keys loads and multiplies the others as well, and the mask then replaces every one of \
their scores by minus infinity: no counter shows that this work is for nothing. The rule looks for loops with matrix \
instructions whose results are replaced by a constant far below zero, by a comparison in which the block's index takes \
part, while the tiles that it loads do not begin with the block's rows, and either the number of iterations does not depend on \
the block or the mask has two edges. Let the loop begin and end where the block's rows \
need it; then only the tiles on the edge need the mask. The estimate takes half of the iterations away, as a causal mask over \
as many rows as columns does; a window leaves fewer.",
    examples: &[Example {
        fault: "\
for (int k = 0; k < keys; k += 64) {      // every tile of keys
    multiply(score, q, k_tile(k));
    if (k + column > row) score = -INFINITY;",
        repair: "\
int last = min(keys, (blockIdx.x + 1) * 64);
for (int k = 0; k < last; k += 64) {      // up to the block's last row
    multiply(score, q, k_tile(k));
    if (k + column > row) score = -INFINITY;",
        note: "\
Blocks with early rows end sooner, so start the longest ones first: let blockIdx.x count from the last rows down.",
    }],
    section: "InstructionStats",
    thresholds: &[MATTERS_LIMIT],
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
let the range of the loop over start_n begin and end by tl.program_id, in multiples of BLOCK_N, and mask only the tiles \
on the edge.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let loops: Vec<MaskedLoop> = masked(&listing);
    let products = |each: &MaskedLoop| -> f64 {
        let are_products = |&at: &usize| listing.sass.entries[at].family == Family::Tensor;
        each.inside.iter().copied().filter(are_products).map(|at| listing.executed(at)).sum()
    };
    let main = loops.iter().max_by(|a, b| products(a).total_cmp(&products(b)))?;
    let turns = Some(main.turns).filter(|turns| *turns > 1.0)?;
    // Of n tiles in a row, the block with row tile i needs the first i: (n + 1)/2 on average.
    let gone = |each: &MaskedLoop| 0.5 * (1.0 - 1.0 / each.turns);
    let (mut sectors, mut theirs) = (0.0, 0.0);
    for each in &loops {
        for &index in &each.inside {
            removal.remove(index, gone(each));
            theirs += gone(each) * listing.row(index).counters.l2_sectors_global;
        }
    }
    for (index, _) in listing.entries() {
        sectors += listing.row(index).counters.l2_sectors_global;
    }
    let mut effect = removal.effect(launch);
    if sectors > 0.0 {
        effect.removed.extend([Term::L2, Term::L2Requests].map(|term| (term, theirs / sectors)));
    }
    let multiplied = gone(main);
    // The products of a warp are counted as the tensor pipe's; those of a warp group are not.
    if effect.share_of(Term::Tensor) <= 0.0 {
        effect.removed.push((Term::Tensor, multiplied));
    }
    if !gains(launch, &effect) {
        return None;
    }
    let is_selection = |index: usize| loops.iter().any(|each| each.selections.contains(&index));
    let weight = |index: usize| if is_selection(index) { listing.executed(index) } else { 0.0 };
    let locations = locations(launch, listing, weight, "masked results");
    let selections: f64 = (0..listing.sass.entries.len()).map(weight).sum();
    let at = place(&locations, "the mask");
    let (seen, change) = if loops.iter().all(|each| each.ends_with_rows) {
        (
            format!(
                "begins at the same tile for every block and runs {} iterations on average",
                count(turns)
            ),
            "begin with the first tile that the window of the block's rows reaches",
        )
    } else {
        (
            format!("runs {} iterations for every block", count(turns)),
            "begin and end with the tiles that the block's own rows need",
        )
    };
    Some(Draft {
        message: format!(
            "The mask at {at} goes by the block's rows, but the loop around it {seen}: it loads and multiplies tiles of \
             which the mask keeps nothing, about half of all under a causal mask and more under a narrow window."
        ),
        evidence: vec![
            Evidence::new("iterations of the loop", turns, ""),
            Evidence::new("executed selections of the mask", selections, "inst"),
        ],
        hint: format!(
            "Let the loop around {at} {change} (from blockIdx), and apply the mask on the tiles at its edges only. The \
             estimate takes {} of the iterations away.",
            percent(multiplied),
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};

    fn attention(start: &'static str) -> Option<Draft> {
        let code = [
            ("S2R R3, SR_CTAID.X", 8.0),
            (start, 8.0),
            ("IMAD R5, R3, 0x40, RZ", 8.0),
            ("HMMA.16816.F32 R24, R8, R12, RZ", 160.0),
            ("ISETP.GE.AND P1, PT, R5, R2, PT", 160.0),
            ("FSEL R24, R24, -INF, P1", 160.0),
            ("IADD3 R2, R2, 0x40, RZ", 160.0),
            ("ISETP.GE.AND P0, PT, R2, c[0x0][0x210], PT", 160.0),
            ("@!P0 BRA 0x130", 160.0),
            ("EXIT", 8.0),
        ];
        let tensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
        check(&RULE, &sass(&[(ISSUE_BUSY, 60.0), (tensor, 40.0)], &code))
    }

    #[test]
    fn half_of_the_turns_of_a_loop_for_all_blocks_go() {
        let draft = attention("MOV R2, RZ").unwrap();
        // 20 turns, of which 10.5 are needed.
        assert!((draft.effect.share_of(Term::Tensor) - 0.475).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::Issue) - 0.475 * 960.0 / 992.0).abs() < 1e-12);
        assert!(
            draft.message.contains("line 6") && draft.message.contains("20 iterations"),
            "{}",
            draft.message
        );
        assert_eq!(attention("IMAD R2, R3, 0x40, RZ"), None, "it begins with the block's rows");
    }
}
