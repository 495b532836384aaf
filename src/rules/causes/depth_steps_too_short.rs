//! Products whose loop goes along the depth in steps too short for what each step costs.

use crate::evidence::modeled_launch::place;
use crate::evidence::products::least;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::hardware::{SECTOR_BYTES, SECTORS_PER_LINE};
use crate::model::thresholds::TENSOR_FULL;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::matrix_loops::{DepthStep, StagedLoop, depth_step, staged};
use crate::sass::{Family, Space};
use crate::term::Term;
use crate::text::{count, percent};

/// Bytes of an operand's row in a step that is long enough.
const LONG: f64 = SECTORS_PER_LINE * SECTOR_BYTES;

/// Those from which a step is left alone.
const SHORT: f64 = LONG / 2.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "depth-steps-too-short",
    kind: Kind::Cause,
    summary: "a product goes along the depth in short steps, and each costs its barriers and parts of lines",
    explanation: "\
A product's loop copies the next columns of one operand and the next rows of the other, waits for them, and multiplies. What a step \
costs beside its products and copies (barriers, waits for copies, addresses, the branch back) is the same for 16 elements as for 64, \
so that short steps pay it four times as often. A row's 16 halves are also a quarter of a cache line, and L2 is asked for each line \
four times. The rule looks for loops whose products go along the depth by less than half a line between two barriers. It takes away what \
steps of a whole line spare, with as many bytes copied. A stage then takes more shared memory, so that two or three stages do where there were more.",
    examples: &[Example {
        fault: "\
for (int k = 0; k < depth; k += 16) {      // a product between two barriers
    wait_for(stage(k));
    __syncthreads();
    fetch(stage(k + 64), k + 64);
    multiply(sum, stage(k));
}",
        repair: "\
for (int k = 0; k < depth; k += 64) {      // four of them
    wait_for(stage(k));
    __syncthreads();
    fetch(stage(k + 128), k + 128);
    for (int j = 0; j < 64; j += 16) multiply(sum, stage(k), j);
}",
        note: "\
A quarter of the barriers and of the look-ups in L2 that the rows of the first operand take; three stages of 64 \
need more shared memory than five of 16.",
    }],
    section: "WarpStateStats",
    thresholds: &[
        Threshold {
            what: "bytes of an operand's row that are multiplied between two barriers, less than",
            value: SHORT,
            unit: "byte",
            source: "definition: half a cache line",
        },
        Threshold {
            what: "constant: bytes of an operand's row in a step that is long enough",
            value: LONG,
            unit: "byte",
            source: "definition: a cache line, which is also the widest swizzle that instructions of warp groups read",
        },
        MATTERS_LIMIT,
        TENSOR_FULL,
    ],
    needs: &[ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "barrier-stalls",
        "long-scoreboard-stalls",
        "mio-throttle",
        "fixed-latency-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
BLOCK_K of 64 for 16-bit operands (128 for 8-bit ones), with num_stages=3.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let is_short = |step: &DepthStep| step.bytes < SHORT && goes(step) > 0.0;
    let loops: Vec<(StagedLoop, DepthStep)> = staged(&listing)
        .into_iter()
        .filter_map(|each| {
            let step = depth_step(&listing, &each).filter(is_short)?;
            Some((each, step))
        })
        .collect();
    let shortest = loops.iter().map(|(_, step)| step.bytes).reduce(f64::min)?;
    let stays = |at: usize, each: &StagedLoop| {
        let family = listing.sass.entries[at].family;
        let is_copy = each.copies.binary_search(&at).is_ok();
        let feeds = family == Family::Load(Space::Shared) || is_copy;
        family == Family::Tensor || feeds || each.stores.contains(&at)
    };
    let (mut requests, mut spared) = (0.0, 0.0);
    for (at, _) in listing.entries() {
        requests += listing.row(at).counters.l1_tag_requests_global;
    }
    for (each, step) in &loops {
        for &at in each.inside.iter().filter(|&&at| !stays(at, each)) {
            removal.remove(at, goes(step));
            if listing.is_block_barrier(at) {
                let waits = listing.waits_of_barrier(at);
                for at in waits.filter(|at| each.inside.binary_search(at).is_ok()) {
                    removal.remove_waits_for_others(at, goes(step));
                }
            }
        }
        for &at in &each.copies {
            let counters = &listing.row(at).counters;
            let lines = counters.l2_sectors_global_ideal / SECTORS_PER_LINE;
            let parts = counters.l1_tag_requests_global;
            spared += (parts - lines).clamp(0.0, parts * goes(step));
        }
    }
    let mut effect = removal.effect(launch);
    if requests > 0.0 {
        effect.removed.push((Term::L2Requests, spared / requests));
    }
    effect.least = least(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let is_copy = |at: usize| loops.iter().any(|(each, _)| each.copies.contains(&at));
    let weight = |at: usize| if is_copy(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "copies of operands");
    let steps: f64 = loops.iter().map(|(_, step)| step.turns).fold(0.0, f64::max);
    Some(Draft {
        message: format!(
            "A block goes along the depth of its product in about {} steps of {shortest:.0} bytes of each row, and each costs its \
             barriers, waits, and addresses anew.{}",
            count(steps),
            if spared > 0.0 {
                format!(
                    " Each line of an operand is asked for in pieces: {} of the requests to L2 would go.",
                    percent(spared / requests)
                )
            } else {
                String::new()
            },
        ),
        evidence: vec![
            Evidence::new("bytes of a row for each step", shortest, "byte"),
            Evidence::new("steps along the depth", steps, "step"),
        ],
        hint: format!(
            "Copy and multiply {LONG:.0} bytes of each row in a step at {} ({:.0} elements of 16 bits). If shared memory does not hold as \
             many stages of that length, keep two or three.",
            place(&locations, "the loop with the products"),
            LONG / 2.0,
        ),
        locations,
        effect,
    })
}

/// The share of the steps that goes where each is as long as a line: no more than the loop has.
fn goes(step: &DepthStep) -> f64 {
    1.0 - (step.bytes / LONG).max(1.0 / step.turns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::metric::stall::StallReason;
    use crate::rules::testing::{assert_sides, check, sass};

    const TENSOR: &str = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
    const REQUESTS: &str = "lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed";
    const BARRIER: &str = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio";

    /// A loop of eight turns with so many products between two barriers. Each of its two copies asks for 16 sectors per
    /// instruction, in 16 lines and in four.
    fn product(products: usize) -> Launch {
        let mut code = vec![
            ("MOV R20, R22", 10.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 80.0),
            ("LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64]", 80.0),
            ("LDGSTS.E.BYPASS.128 [R21], desc[UR4][R6.64]", 80.0),
        ];
        code.extend(vec![("HGMMA.64x128x16.F32 R24, gdesc[UR8].tnspB, R24, gsb0", 80.0); products]);
        code.extend([("@P0 BRA 0x110", 80.0), ("EXIT", 10.0)]);
        let metrics = [(ISSUE_BUSY, 40.0), (REQUESTS, 64.0), (TENSOR, 30.0), (BARRIER, 2.0)];
        let mut launch = sass(&metrics, &code);
        for (index, lines) in [(2, 16.0), (3, 4.0)] {
            let counters = &mut launch.instructions[index].counters;
            counters.l2_sectors_global_ideal = 80.0 * 16.0;
            counters.l1_tag_requests_global = 80.0 * lines;
        }
        launch.instructions[1].counters.stall_samples[StallReason::Barrier as usize] = 9.0;
        launch
    }

    #[test]
    fn steps_of_a_whole_line_take_a_quarter_of_the_barriers_and_requests() {
        let draft = assert_sides(&RULE, &product(1), &[&[(TENSOR, 75.0)]]);
        // Of 20 requests for each turn, 12 of the first copy's 16.
        assert!((draft.effect.share_of(Term::L2Requests) - 0.6).abs() < 1e-12);
        assert!((draft.effect.share_of_stall(StallReason::Barrier) - 0.75).abs() < 1e-12);
        // The barrier and the branch of the five instructions of a turn.
        let gone = 0.75 * 160.0 / 420.0;
        assert!((draft.effect.share_of(Term::Issue) - gone).abs() < 1e-12);
        assert!((draft.effect.least - 0.4).abs() < 1e-12, "30% at 75% of the pipe's peak");
        assert!(draft.message.contains("8 steps of 32 bytes"), "{}", draft.message);
        assert!(draft.message.contains("60% of the requests"), "{}", draft.message);
    }

    #[test]
    fn half_a_line_is_long_enough() {
        assert_eq!(check(&RULE, &product(2)), None);
    }
}
