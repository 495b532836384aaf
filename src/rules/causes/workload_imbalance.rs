//! Some SMs work much longer than others.

use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, WAVES};
use crate::evidence::removal::{gains, locations};
use crate::evidence::rounds::behind_others;
use crate::evidence::stalls::WAITS_FOR_OTHERS;
use crate::evidence::threshold::{NOISE, NOISE_SOURCE};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::hardware::WARP_LANES;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, Trial};
use crate::sass::Marks;
use crate::sass::flow::turns::turns;
use crate::sass::questions::independence::{Shape, Shareable, What, shareable_of_warps};
use crate::sass::thresholds::{EVERY_TURN, FEW_TURNS};
use crate::text::{count, percent};

const AVERAGE: &str = "sm__cycles_active.avg";
const MOST: &str = "sm__cycles_active.max";

/// The rule.
pub const RULE: Rule = Rule {
    name: "workload-imbalance",
    kind: Kind::Cause,
    summary: "some SMs or blocks work much longer than others",
    explanation: "\
The launch ends when its last SM does. Where blocks have very different amounts of work, SMs that \
got short blocks wait for those that got long ones, and where blocks are equal but few, SMs that got one \
less wait for those that got one more. The rule compares the active cycles of the \
busiest SM with the average; it leaves grids below one wave, and partial last waves of equal \
blocks, to other rules. Where all blocks run at once, the launch takes as long as its longest warp: only what other threads \
could take over of its work is then counted. Split the long blocks, start them first, or let blocks fetch work from an \
atomic counter.",
    examples: &[Example {
        fault: "\
// one block per gene; a few genes have a hundred times the usual reads
int gene = blockIdx.x, end = first[gene + 1];
for (int r = first[gene] + threadIdx.x; r < end; r += blockDim.x)
    score[r] = match(read[r], gene);",
        repair: "\
// all blocks share all reads; gene_of[r] tells where a read belongs
int start = blockIdx.x * blockDim.x + threadIdx.x;
for (int r = start; r < reads; r += gridDim.x * blockDim.x)
    score[r] = match(read[r], gene_of[r]);",
        note: "\
Every block takes the same number of reads, so no SM waits for the block of the largest gene; it \
costs one more load per read.",
    }],
    section: "WorkloadDistribution",
    thresholds: &[Threshold {
        what: "time for which the average SM waits for the busiest, at least",
        value: NOISE,
        unit: "%",
        source: NOISE_SOURCE,
    }],
    needs: &[AVERAGE, MOST],
    sharpened_by: &[BLOCKS_AT_ONCE, WAVES, WAITS_FOR_OTHERS],
    trials: &[Trial::Tunables],
    said_by_ncu: &[
        // Which L2 slices and memory channels are busy follows from the addresses.
        SaidByNcu::any("WorkloadImbalance", Acts::Idle).unless(&["l2 slices", "dram"]),
    ],
    explains: &["issue-slots-underused", "barrier-stalls"],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let (average, most) = (launch.need(AVERAGE), launch.need(MOST));
    let gap = 1.0 - average / most;
    // An uneven last wave of equal blocks accounts for 1 - waves / whole waves of the gap.
    let (in_waves, tail) = launch.waves().map_or((true, 0.0), |waves| {
        // Below a wave every SM still has a block where there are enough of them.
        let enough = launch
            .get("launch__grid_size")
            .zip(launch.get("launch__sm_count"))
            .is_some_and(|(blocks, sms)| blocks >= sms);
        let tail = if waves >= 1.0 { 1.0 - waves / waves.ceil() } else { 0.0 };
        (waves >= 1.0 || enough, tail)
    });
    if !(100.0 * (gap - tail) >= NOISE && in_waves) {
        return None;
    }
    let work = work_of_longest(launch, most / average);
    let least = work.map_or(0.0, |work| longest_warps(launch, work, average / most));
    let effect = Effect { idle: gap, least, ..Effect::default() };
    if effect.least > 0.0 && !gains(launch, &effect) {
        return None;
    }
    let shares = uneven_shares(launch, gap);
    let of_threads = work.and_then(|work| loop_of_threads(launch, work));
    let why = shares.as_ref().map_or_else(String::new, |shares| format!(" {shares}"));
    Some(Draft {
        message: format!(
            "The busiest SM works for {} cycles, the average one for {}: the average SM waits {} \
             of that time for the last.{why}",
            count(most),
            count(average),
            percent(gap),
        ),
        evidence: vec![
            Evidence::new(MOST, most, "cycle"),
            Evidence::new(AVERAGE, average, "cycle"),
        ],
        locations: of_threads.map_or_else(Vec::new, |back| {
            launch.profile.listing().map_or_else(Vec::new, |listing| {
                locations(launch, listing, |at| f64::from(u8::from(at == back)), "launch")
            })
        }),
        hint: if shares.is_some() {
            "Launch several times as many, smaller blocks, so that one block more on an SM is a smaller share \
             of its time; or launch a multiple of the number of SMs."
        } else if of_threads.is_some() {
            "Some threads have far more iterations of this loop than others. Let the lanes of a warp, or a whole block, share the \
             iterations of one item and combine their results; where items differ much, sort them by their iterations and give the \
             longest to blocks, those between to warps, and the shortest to threads."
        } else {
            "Split the longest blocks or start them first, or let blocks take their next piece of \
             work from an atomic counter."
        }
        .to_owned(),
        effect,
    })
}

/// What could be shared out of the warps that work so many times as long as the average one, where all blocks run at once.
fn work_of_longest(launch: &ModeledLaunch, times: f64) -> Option<Shareable> {
    let at_once = launch.waves().is_some_and(|waves| waves <= 1.0);
    let listing = launch.profile.listing().filter(|_| at_once)?;
    let row = &launch.profile.row;
    shareable_of_warps(&listing, Shape::new(row.block, row.grid, row.compute_capability), times)
}

/// The share of the time that the longest warps take whatever SM they are on: what of their work others could not take over,
/// without its turns behind other warps. They work longer because they turn more often in loops: of what is in no loop they
/// have as much as the average warp, which takes `average` of their time.
fn longest_warps(launch: &ModeledLaunch, work: Shareable, average: f64) -> f64 {
    let straight = if work.share > 0.0 { straight(launch).min(1.0 - work.share) } else { 0.0 };
    let outside = 1.0 - work.share - straight * (1.0 - average);
    outside * (1.0 - behind_others(launch).unwrap_or(0.0))
}

/// The share of the executed instructions, 0 to 1, that are in no loop, or in one that turns once as a rule: all warps have as much
/// of these.
fn straight(launch: &ModeledLaunch) -> f64 {
    let Some(listing) = launch.profile.listing() else { return 0.0 };
    let flow = &listing.sass.flow;
    let turn_once: Vec<bool> =
        flow.loops.iter().map(|each| turns(&listing, each) < FEW_TURNS.value).collect();
    let mut called = Marks::new(listing.sass.entries.len());
    for (_, function) in listing.calls() {
        if !called[*function.start()] {
            function.for_each(|at| _ = called.insert(at));
        }
    }
    let is_straight =
        |at: &usize| !called[*at] && flow.innermost(*at).is_none_or(|around| turn_once[around]);
    let places = listing.entries().map(|(at, _)| at).filter(is_straight);
    places.map(|at| listing.executed(at)).sum::<f64>() / listing.total().max(f64::MIN_POSITIVE)
}

/// The branch back of the loop that could be shared out, where lanes leave it one after another: each thread has an item of its own.
fn loop_of_threads(launch: &ModeledLaunch, work: Shareable) -> Option<usize> {
    let (What::Turns(back) | What::Strided(back)) = work.what else { return None };
    let counters = launch.profile.listing()?.row(back).counters;
    let of_block = launch.profile.row.block.iter().map(|&size| f64::from(size)).product::<f64>();
    let there = WARP_LANES.min(of_block.max(1.0));
    let lanes = counters.thread_inst_executed / (counters.inst_executed * there);
    (lanes < EVERY_TURN.value).then_some(back)
}

/// Where equal blocks explain the gap: some SMs get one block more than others. The gap of equal blocks may
/// differ from the measured one by what two passes differ by.
fn uneven_shares(launch: &ModeledLaunch, gap: f64) -> Option<String> {
    let (blocks, sms) = (launch.get("launch__grid_size")?, launch.get("launch__sm_count")?);
    let each = blocks / sms;
    let of_equal_blocks = 1.0 - each / each.ceil();
    let explains = each > 1.0 && 100.0 * (gap - of_equal_blocks).abs() < NOISE;
    explains.then(|| {
        format!(
            "{} equal blocks on {} SMs are {} on some and {} on others, which makes {}.",
            count(blocks),
            count(sms),
            count(each.floor()),
            count(each.ceil()),
            percent(of_equal_blocks),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, launch};

    #[test]
    fn a_long_sm_counts_beyond_the_tail() {
        let uneven = launch(&[(AVERAGE, 60.0), (MOST, 100.0)]);
        let waves = "launch__waves_per_multiprocessor";
        let draft = assert_sides(
            &RULE,
            &uneven,
            // 1.2 waves leave 40% of two waves idle: that is the tail's.
            &[&[(AVERAGE, 95.1)], &[(waves, 0.9)], &[(waves, 1.2)]],
        );
        assert!((draft.effect.idle - 0.4).abs() < 1e-12);
    }

    #[test]
    fn equal_blocks_that_do_not_divide_by_the_sms_are_said() {
        let grid = "launch__grid_size";
        let mut uneven = launch(&[(AVERAGE, 77.0), (MOST, 100.0), (grid, 400.0)]);
        uneven.set("launch__sm_count", Some(132.0));
        let draft = crate::rules::testing::check(&RULE, &uneven).unwrap();
        // 400 / 132 = 3.03 of 4 blocks: 24%.
        assert!(draft.message.contains("3 on some and 4 on others"), "{}", draft.message);
        assert!(draft.hint.contains("smaller blocks"), "{}", draft.hint);
        uneven.set(AVERAGE, Some(60.0));
        let draft = crate::rules::testing::check(&RULE, &uneven).unwrap();
        assert!(draft.hint.contains("longest blocks"), "40% is more than equal blocks make");
    }
}
