//! Tensor units that wait for each piece of their operands.

use crate::evidence::modeled_launch::place;
use crate::evidence::products::{WAITS, least, waits};
use crate::evidence::removal::{MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::threshold::LATENCY;
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::model::thresholds::TENSOR_FULL;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::matrix_loops::{StagedLoop, Way, staged, unrolled};
use crate::text::percent;

/// The rule.
pub const RULE: Rule = Rule {
    name: "pipeline-too-shallow",
    kind: Kind::Cause,
    summary: "a loop loads operands, waits for them, and multiplies them in turn",
    explanation: "\
While a block waits for the next piece of its operands, its tensor units have nothing to do, and \
while it multiplies, no copy is on its way. The rule looks for loops that bring operands to shared \
memory and multiply them by matrix instructions of a warp, and follows each copy around the loop to \
what waits for it: a store of what was loaded, a wait for all groups of asynchronous copies, or a \
barrier that counts the bytes of bulk copies. Where no matrix instruction stands in between, the \
time of both adds up. Copies into several stages of shared memory (cp.async with \
cp.async.wait_group N, or bulk copies with a barrier for each stage) that start two or three pieces \
ahead hide the copies behind the products. Each stage costs shared memory for one piece of both operands.",
    examples: &[Example {
        fault: "\
for (int k = 0; k < length; k += 32) {
    copy_async(tile, operands + k);       // both operands of this iteration
    __pipeline_commit();
    __pipeline_wait_prior(0);             // nothing is multiplied meanwhile
    __syncthreads();
    multiply(sum, tile);
    __syncthreads();
}",
        repair: "\
for (int s = 0; s < 3; ++s) fetch(tile[s], operands + 32 * s); // and commit
for (int k = 0, s = 0; k < length; k += 32, s = (s + 1) % 4) {
    __pipeline_wait_prior(2);             // two younger copies go on
    __syncthreads();
    fetch(tile[(s + 3) % 4], operands + k + 96);
    multiply(sum, tile[s]);
}",
        note: "\
Three pieces are on their way while a fourth is multiplied, and one barrier per iteration is enough; it \
takes four times the shared memory.",
    }],
    section: "WarpStateStats",
    thresholds: &[MATTERS_LIMIT, TENSOR_FULL],
    needs: &[LATENCY],
    source_page: SourcePage::Needed,
    explains: &[
        "long-scoreboard-stalls",
        "barrier-stalls",
        "short-scoreboard-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
num_stages=3 or 4, at the launch or in tl.range; a loop over tl.static_range is unrolled, and Triton starts no copies ahead in it.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let mut loops: Vec<StagedLoop> =
        staged(&listing).into_iter().filter(StagedLoop::is_in_turn).collect();
    let is_unrolled = loops.is_empty();
    if is_unrolled {
        loops.extend(unrolled(&listing));
    }
    let way = loops.first()?.way;
    for &store in loops.iter().flat_map(|each| &each.stores) {
        removal.remove(store, 1.0);
    }
    let mut effect = removal.effect(launch);
    let waits = waits(listing, &loops.iter().collect::<Vec<_>>());
    effect.stalls.retain(|(reason, _)| !WAITS.contains(reason));
    effect.stalls.extend(&waits);
    effect.least = least(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let all = launch.need(LATENCY);
    let cycles: f64 = waits
        .iter()
        .map(|&(reason, share)| share * launch.quote(&reason.ratio_metric()).unwrap_or(0.0))
        .sum();
    let is_copy = |index: usize| loops.iter().any(|each| each.copies.contains(&index));
    let weight = |index: usize| if is_copy(index) { listing.executed(index) } else { 0.0 };
    let locations = locations(launch, listing, weight, "copies of operands");
    Some(Draft {
        message: format!(
            "{} brings operands to shared memory, waits for them, and only then multiplies them: no matrix \
             instruction stands between {} and the wait for it. A warp spends {cycles:.1} of {all:.1} cycles \
             between two instructions ({}) in such waits.",
            if is_unrolled { "A loop that is unrolled as a whole" } else { "A loop" },
            match way {
                Way::Registers => "a load",
                Way::Async => "an asynchronous copy",
                Way::Bulk => "a bulk copy",
            },
            percent(cycles / all),
        ),
        evidence: vec![
            Evidence::new("cycles of waiting for operands", cycles, "cycle"),
            Evidence::new(LATENCY, all, "cycle"),
        ],
        hint: format!(
            "{} at {}: with three or four stages in shared memory, start each copy two or three iterations \
             before its products. A stage takes shared memory for one piece of both operands; if fewer blocks \
             then fit, make each block's tile larger.",
            match way {
                Way::Registers =>
                    "Replace load and store by asynchronous copies (cp.async, 16 bytes per lane)",
                Way::Async =>
                    "Leave the younger groups of copies in flight (cp.async.wait_group with 1 or 2 instead of \
                     0)",
                Way::Bulk => "Give each of several stages a barrier of its own and copy ahead",
            },
            place(&locations, "the loop with the products"),
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::metric::stall::StallReason;
    use crate::rules::testing::{assert_sides, check, sass};

    const TENSOR: &str = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
    const LONG: &str = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
    const MATH: &str =
        "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio";

    /// Asynchronous copies that are waited for with so many groups left on their way. Half of the samples
    /// of long scoreboard are at the wait, the other half elsewhere.
    fn copied(left: &str) -> Launch {
        let wait = format!("DEPBAR.LE SB0, {left}");
        let code = [
            ("LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64]", 10.0),
            ("LDGDEPBAR", 10.0),
            (wait.as_str(), 10.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 10.0),
            ("LDSM.16.M88.4 R8, [R21]", 10.0),
            ("HMMA.16816.F32 R12, R8, R10, R12", 10.0),
            ("@P0 BRA 0x100", 10.0),
            ("STG.E desc[UR4][R2.64], R12", 1.0),
            ("EXIT", 1.0),
        ];
        let metrics = [(LATENCY, 100.0), (LONG, 60.0), (MATH, 20.0), (TENSOR, 40.0)];
        let mut launch = sass(&metrics, &code);
        for index in [2, 7] {
            launch.instructions[index].counters.stall_samples
                [StallReason::LongScoreboard as usize] = 8.0;
        }
        launch
    }

    #[test]
    fn waits_between_the_products_go() {
        let quiet: &[(&str, f64)] = &[(TENSOR, 97.0)];
        let draft = assert_sides(&RULE, &copied("0x0"), &[quiet]);
        assert!((draft.effect.share_of_stall(StallReason::LongScoreboard) - 0.5).abs() < 1e-12);
        // Half of 60 cycles.
        assert!(draft.message.contains("30.0 of 100.0 cycles"), "{}", draft.message);
        assert_eq!(draft.locations[0].line, 1);
        assert!(draft.hint.contains("wait_group"), "{}", draft.hint);
    }

    #[test]
    fn copies_that_stay_on_their_way_are_left_alone() {
        assert_eq!(check(&RULE, &copied("0x2")), None);
    }

    #[test]
    fn a_loop_that_is_unrolled_waits_as_often() {
        let step = [
            ("LDG.E R4, desc[UR4][R2.64]", 10.0),
            ("STS [R20], R4", 10.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 10.0),
            ("HMMA.16816.F32 R12, R8, R10, R12", 10.0),
        ];
        let fires = |steps: usize| {
            let mut code = vec![step; steps].concat();
            code.push(("EXIT", 10.0));
            let mut launch = sass(&[(LATENCY, 100.0), (LONG, 60.0), (TENSOR, 30.0)], &code);
            for at in (1..4 * steps).step_by(4) {
                launch.instructions[at].counters.stall_samples
                    [StallReason::LongScoreboard as usize] = 9.0;
            }
            check(&RULE, &launch)
        };
        assert_eq!(fires(2), None, "the first step of a pipeline waits as well");
        let draft = fires(4).unwrap();
        assert!((draft.effect.share_of_stall(StallReason::LongScoreboard) - 0.75).abs() < 1e-12);
        assert!(draft.message.starts_with("A loop that is unrolled"), "{}", draft.message);
    }

    #[test]
    fn stores_of_loaded_pieces_go_with_their_waits() {
        let code = [
            ("LDG.E R4, desc[UR4][R2.64]", 10.0),
            ("STS [R20], R4", 10.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 10.0),
            ("LDSM.16.M88.4 R8, [R21]", 10.0),
            ("HMMA.16816.F32 R12, R8, R10, R12", 10.0),
            ("@P0 BRA 0x100", 10.0),
            ("EXIT", 1.0),
        ];
        let metrics = [(LATENCY, 100.0), (LONG, 60.0), (TENSOR, 30.0)];
        let mut launch = sass(&metrics, &code);
        let sleeping = StallReason::Sleeping as usize;
        for index in [1, 6] {
            launch.instructions[index].counters.stall_samples[sleeping] = 3.0;
        }
        launch.instructions[1].counters.stall_samples[StallReason::LongScoreboard as usize] = 9.0;
        let effect = check(&RULE, &launch).unwrap().effect;
        // Of 61 instructions the ten stores; of the naps those between the products, once.
        assert!((effect.share_of(crate::term::Term::Issue) - 10.0 / 61.0).abs() < 1e-12);
        assert!((effect.share_of_stall(StallReason::Sleeping) - 0.5).abs() < 1e-12);
        assert!((effect.share_of_stall(StallReason::LongScoreboard) - 1.0).abs() < 1e-12);
        // The products alone take 30%, at 75% of the pipe's peak.
        assert!((effect.least - 0.4).abs() < 1e-12, "{}", effect.least);
    }
}
