//! Atomics that wait for fences which nobody needs.

use crate::evidence::atomic_traffic::{self, share_from_dram};
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::SECTORS_PER_LINE;
use crate::metric::stall::StallReason;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::Listing;
use crate::sass::questions::fences::{FencedAtomic, fenced_atomics};
use crate::term::Term;
use crate::text::{count, percent};

const MEMBAR: &str = "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio";

/// The rule.
pub const RULE: Rule = Rule {
    name: "fenced-atomics",
    kind: Kind::Cause,
    summary: "atomics that only add up have fences around them",
    explanation: "\
An atomic with acquire and release order (Triton's default for tl.atomic_add; cuda::atomic_ref's default, sequential consistency, is \
stronger still) also orders all other accesses of the thread: before it, a fence waits until everything that the warp wrote \
has reached L2; after it, the warp waits for the old value and drops the lines that L1 holds. Where atomics only \
add up and nobody reads other data because of them, that order is not needed: the kernel's end makes all results visible. With \
relaxed order the atomic is sent and forgotten, as CUDA's atomicAdd does. The rule looks for atomics on global \
memory whose result is thrown away, but behind which L1's lines are dropped.",
    examples: &[Example {
        fault: "\
cuda::atomic_ref<float, cuda::thread_scope_device> cell(mass[bin]);
cell.fetch_add(value);                    // sequentially consistent",
        repair: "\
cuda::atomic_ref<float, cuda::thread_scope_device> cell(mass[bin]);
cell.fetch_add(value, cuda::memory_order_relaxed);",
        note: "\
The sums are the same. Keep the order where a counter or flag tells other threads that data is ready: there a release before \
and an acquire where it is read are needed.",
    }],
    section: "WarpStateStats",
    thresholds: &[MATTERS_LIMIT],
    needs: &[MEMBAR],
    sharpened_by: &[
        Reads::always(&atomic_traffic::ATOMIC_SECTORS),
        Reads::always(&atomic_traffic::FROM_DRAM),
    ],
    source_page: SourcePage::Needed,
    explains: &["memory-fence-stalls", "long-scoreboard-stalls", "issue-slots-underused"],
    in_triton: "\
pass sem=\"relaxed\" to tl.atomic_add and its like; the default is \"acq_rel\".",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let found = fenced_atomics(&listing);
    found.iter().flat_map(|each| &each.fences).for_each(|&fence| removal.remove(fence, 1.0));
    let mut effect = removal.effect(launch);
    let stays = queueing(launch, &listing, &found);
    // A fence's wait is counted where the next instruction can't be issued; what drops L1's lines waits for the old value.
    for reason in [StallReason::Membar, StallReason::LongScoreboard] {
        let there = found.iter().flat_map(|each| each.fences.iter().copied().chain([each.atomic]));
        let goes: f64 = there.map(|at| listing.samples(at, reason)).sum();
        let all = listing.sass.counts.stall_samples(reason);
        if goes > 0.0 {
            effect.stalls.push((reason, (goes / all).min(1.0) * (1.0 - stays)));
        }
    }
    if found.is_empty() || !gains(launch, &effect) {
        return None;
    }
    let is_atomic = |at: usize| found.iter().any(|each| each.atomic == at);
    let weight = |at: usize| if is_atomic(at) { listing.executed(at) } else { 0.0 };
    let executed: f64 = found.iter().map(|each| listing.executed(each.atomic)).sum();
    let locations = locations(launch, listing, weight, "atomics between fences");
    let at = place(&locations, "the atomics");
    let waits = launch.model.stall_share(&effect.stalls);
    Some(Draft {
        message: format!(
            "{} warp instructions at {at} are atomics between fences, whose results are thrown away. A warp spends {} of its \
             waiting on the fences and on old values that nobody uses, and drops L1's lines after each.",
            count(executed),
            percent(waits),
        ),
        evidence: vec![
            Evidence::new("atomics between fences", executed, "inst"),
            Evidence::new(MEMBAR, launch.need(MEMBAR), "cycle"),
        ],
        hint: format!(
            "Give the atomics at {at} relaxed order, if nothing but their own result is read because of them: it is \
             complete when the kernel ends."
        ),
        locations,
        effect,
    })
}

/// The part of the waits, 0 to 1, that stays: a warp that waits for its atomics waits for the slowest of their lines, and those
/// that DRAM brings queue in front of it for as much of the time as it is busy. That work is the same in any order, and
/// whatever is asked for next queues behind it.
fn queueing(launch: &ModeledLaunch, listing: &Listing, found: &[FencedAtomic]) -> f64 {
    let of =
        |count: &dyn Fn(usize) -> f64| found.iter().map(|each| count(each.atomic)).sum::<f64>();
    let executed = of(&|at| listing.executed(at));
    let sectors = of(&|at| listing.row(at).counters.l2_sectors_global);
    if executed <= 0.0 {
        return 0.0;
    }
    let lines = (sectors / executed / SECTORS_PER_LINE).max(1.0);
    let any_from_dram = 1.0 - (1.0 - share_from_dram(launch)).powf(lines);
    launch.model.utilization(Term::Dram).unwrap_or(0.0) * any_from_dram
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::threshold::LATENCY;
    use crate::rules::testing::{assert_sides, check, sass};

    fn fenced(result: &'static str) -> crate::frame::Launch {
        let code = [
            ("STG.E desc[UR8][R2.64], R0", 100.0),
            ("MEMBAR.ALL.GPU", 100.0),
            ("ERRBAR", 100.0),
            (result, 100.0),
            ("CCTL.IVALL", 100.0),
            ("FADD R1, R1, R2", 100.0),
            ("EXIT", 100.0),
        ];
        let dram = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
        let mut launch = sass(&[(MEMBAR, 30.0), (LATENCY, 100.0), (dram, 50.0)], &code);
        launch.set(&StallReason::LongScoreboard.ratio_metric(), Some(40.0));
        launch.set(&StallReason::Wait.ratio_metric(), Some(30.0));
        let samples = |launch: &mut crate::frame::Launch, at: usize, reason, count| {
            launch.instructions[at].counters.stall_samples[reason as usize] = count;
        };
        samples(&mut launch, 2, StallReason::Membar, 30.0);
        samples(&mut launch, 4, StallReason::LongScoreboard, 40.0);
        samples(&mut launch, 5, StallReason::Wait, 30.0);
        launch
    }

    #[test]
    fn waits_for_fences_and_unused_values_go() {
        let thrown_away = "ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU PT, RZ, desc[UR8][R8.64], R4";
        let draft = assert_sides(&RULE, &fenced(thrown_away), &[]);
        assert!((draft.effect.share_of_stall(StallReason::Membar) - 1.0).abs() < 1e-12);
        assert!((draft.effect.share_of_stall(StallReason::LongScoreboard) - 1.0).abs() < 1e-12);
        assert!(draft.message.contains("line 4"), "{}", draft.message);
        // DRAM brings a quarter of the sectors: for as much of the time as it is busy they queue in front of it.
        let mut missing = fenced(thrown_away);
        missing.set("dram__bytes_read.sum", Some(3200.0));
        missing.set("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", Some(0.0));
        missing.set(atomic_traffic::ATOMIC_SECTORS[1], Some(400.0));
        let draft = check(&RULE, &missing).unwrap();
        let dram = crate::model::Model::new(&missing).utilization(Term::Dram).unwrap();
        let goes = draft.effect.share_of_stall(StallReason::Membar);
        assert!((goes - (1.0 - 0.25 * dram)).abs() < 1e-12, "{goes}");
        let ticket = "ATOMG.E.ADD.STRONG.GPU PT, R3, desc[UR8][R8.64], R4";
        assert!(check(&RULE, &fenced(ticket)).is_none());
    }
}
