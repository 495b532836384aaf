//! Blocks wait for one another.

use crate::evidence::linked_memory::PAST_L2;
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::WARP_LANES;
use crate::metric::stall::StallReason;
use crate::model::NVLINK_BYTES;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::spin_loops::{SpinLoop, spin_loops};
use crate::sass::{Family, Listing};
use crate::term::Term;
use crate::text::{count_of, percent};

const BLOCK: &str = "launch__block_size";
const READ: &str = "dram__bytes_read.sum";
const WRITTEN: &str = "dram__bytes_write.sum";

/// The share of the waits at the barrier behind the loop that is for the spinning, from which all of it is.
const FOR_SPINNERS: f64 = 0.5;

/// Launches that take the place of one.
const LAUNCHES: f64 = 3.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "blocks-in-turn",
    kind: Kind::Cause,
    summary: "blocks wait for one another, and warps spin on a flag meanwhile",
    explanation: "\
A block that needs what another one has computed can wait for it in a loop that reads a flag until the other block has set it. If each \
waits for the one before, as in a running total over a whole array, the blocks' work takes place one after another, and each step costs \
a round trip to L2, a fence, and whatever the block does between its wait and its own announcement. If all blocks wait for all others, \
the slowest one holds up the device, and the grid can be no larger than what runs at once. The rule looks for loops that only read \
one unchanging address and leave by what they read. Loops of compare-and-swap are locks and belong to global-atomic-contention; \
devices that wait for one another are left out, too. The estimate takes the loop's instructions and waits away, with the waits of the \
block's other warps for it; what warps do besides takes as long as now, DRAM delivers the data twice, and two more launches are paid \
for.",
    examples: &[Example {
        fault: "\
while (atomicAdd(&done[block - 1], 0) == 0) {}      // the block before
float before = total[block - 1];
float own = block_scan(x[i]);             // only now: load and add up
if (last) { total[block] = before + sum; announce(block); }",
        repair: "\
block_sums<<<blocks, 256>>>(x, sums);     // three launches,
scan_of_sums<<<1, 1024>>>(sums);          // nobody waits
block_scan<<<blocks, 256>>>(x, sums, y);",
        note: "\
The array is read twice. To read it once, let each block load and add up its own part first, announce the sum, and look back over the sums \
of many predecessors at a time (decoupled look-back, as in cub::DeviceScan). Where all blocks meet, end the launch there.",
    }],
    section: "WarpStateStats",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold {
            what: "warps of a block that spin while the others wait at the barrier behind, where the way into the loop \
                   is not counted",
            value: 1.0,
            unit: "warp",
            source: "definition: one thread reads the flag for its block",
        },
        Threshold {
            what: "share of the waits at the barrier behind the loop that spinning takes, from which the rest counts as \
                   well: the spinning warp's fence, and its reading of what was announced, at least",
            value: FOR_SPINNERS,
            unit: "share",
            source: "definition: as much as the rest",
        },
        Threshold {
            what: "constant: launches that take the place of one",
            value: LAUNCHES,
            unit: "launch",
            source: "definition: each block's part, what blocks need of one another, and the rest",
        },
    ],
    needs: &[ISSUE_BUSY, BLOCK],
    sharpened_by: &[PAST_L2, Reads::always(&[READ, WRITTEN])],
    source_page: SourcePage::Needed,
    explains: &[
        "barrier-stalls",
        "long-scoreboard-stalls",
        "short-scoreboard-stalls",
        "memory-fence-stalls",
        "fixed-latency-stalls",
        "instruction-cache-misses",
        "issue-slots-underused",
    ],
    in_triton: "\
load and reduce the program's own data before the while loop, or split the kernel in three: sums of programs, their scan, and the \
additions (tl.associative_scan and tl.cumsum work within a program).",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let spins = spin_loops(&listing);
    if spins.is_empty() {
        return None;
    }
    // What comes over a link may be another device's, which no change of this kernel makes faster.
    if NVLINK_BYTES.iter().any(|name| launch.get(name).is_some_and(|bytes| bytes > 0.0)) {
        return None;
    }
    let all: f64 = (0..listing.sass.entries.len()).map(|at| samples(&listing, at)).sum();
    let mut waiting = 0.0;
    for spin in &spins {
        let mut spinning = 0.0;
        for &at in &spin.inside {
            removal.remove(at, 1.0);
            removal.remove_waits_for_others(at, 1.0);
            spinning += samples(&listing, at);
        }
        for &(at, share) in &spin.behind {
            removal.remove_waits_at(at, share);
            removal.remove_waits_for_others(at, share);
            spinning += share * samples(&listing, at);
        }
        let met = |at: &usize| listing.samples(*at, StallReason::Barrier);
        let at_barrier: f64 = spin.met_at.iter().map(met).sum();
        let share = share_for(launch, &listing, spin, spinning, at_barrier);
        spin.met_at.iter().for_each(|&at| removal.remove_waits_for_others(at, share));
        waiting += spinning + share * at_barrier;
    }
    if waiting <= 0.0 {
        return None;
    }
    let waiting = (waiting / all).min(1.0);
    let mut effect = removal.effect(launch);
    let is_flag = |at: usize| spins.iter().any(|spin| spin.flags.contains(&at));
    let of_l2 = share(&listing, is_flag, |at| listing.row(at).counters.l2_sectors_global);
    let of_atomics = share(&listing, is_flag, |at| {
        let is_atomic =
            matches!(listing.sass.entries[at].family, Family::Atomic(_) | Family::Reduction(_));
        if is_atomic { listing.executed(at) } else { 0.0 }
    });
    effect.removed.extend(
        [(Term::L2, of_l2), (Term::L2Requests, of_l2), (Term::Atomic, of_atomics)]
            .into_iter()
            .filter(|(_, share)| *share > 0.0),
    );
    effect.added.push((Term::Dram, read_again(launch)));
    effect.least = 1.0 - waiting + (LAUNCHES - 1.0) * launch.model.launch_share();
    if !gains(launch, &effect) {
        return None;
    }
    let weight = |at: usize| if is_flag(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "reads of flags");
    let turns: f64 =
        spins.iter().flat_map(|spin| &spin.flags).map(|&at| listing.executed(at)).sum();
    // How often a loop turns differs from pass to pass: both numbers are from the same one.
    let executed = listing.total();
    let going = removal.instructions();
    let at = place(&locations, "the loop");
    Some(Draft {
        message: format!(
            "Blocks wait for one another: at {at}, warps read a flag in a loop ({}) until another block has set it. With those that wait \
             for them at barriers, they spend {} of all warps' time there; {} of the executed instructions only ask for the flag.",
            count_of(turns, "warp-wide read"),
            percent(waiting),
            percent(going / executed),
        ),
        evidence: vec![
            Evidence::new("reads of flags", turns, "inst"),
            Evidence::new("samples in loops that wait for another block", 100.0 * waiting, "%"),
            Evidence::new("executed instructions of these loops", going, "inst"),
            Evidence::new("executed instructions in all", executed, "inst"),
        ],
        hint: format!(
            "Don't let blocks wait at {at}: split the kernel into launches where one block needs another's results (for a running total: the \
             blocks' sums, a scan of these sums, the additions), which reads the data twice. To read the data once, let each block \
             load and reduce its own part and announce the result before it waits, and look back over many predecessors' \
             results at a time. Where all blocks wait for each other, end the launch instead."
        ),
        locations,
        effect,
    })
}

/// The time that DRAM takes to deliver everything once more, as a share of the launch's: registers don't outlive a launch.
fn read_again(launch: &ModeledLaunch) -> f64 {
    let busy = launch.model.utilization(Term::Dram).unwrap_or(0.0);
    let (read, written) = (launch.get(READ).unwrap_or(0.0), launch.get(WRITTEN).unwrap_or(0.0));
    if read + written > 0.0 { busy * read / (read + written) } else { 0.0 }
}

/// All samples at an instruction, those in which it was issued included.
fn samples(listing: &Listing, at: usize) -> f64 {
    if listing.sass.counts.is_sampled(at) {
        listing.row(at).counters.stall_samples.iter().sum()
    } else {
        0.0
    }
}

/// The share of the waits at the barrier behind a loop that is for the warps in the loop: each other warp of the block waits there as
/// long as they spin, and then for what follows from the flag.
fn share_for(
    launch: &ModeledLaunch,
    listing: &Listing,
    spin: &SpinLoop,
    spinning: f64,
    at_barrier: f64,
) -> f64 {
    let Some(&barrier) = spin.met_at.first().filter(|_| at_barrier > 0.0) else { return 0.0 };
    let meeting = listing.executed(barrier);
    let warps_per_block = (launch.need(BLOCK) / WARP_LANES).ceil().max(1.0);
    let spinners = spin.warps.unwrap_or(meeting / warps_per_block);
    let others = if spinners > 0.0 { (meeting / spinners - 1.0).max(0.0) } else { 0.0 };
    let share = spinning * others / at_barrier;
    if share >= FOR_SPINNERS { 1.0 } else { share }
}

/// The picked instructions' share of a count over all.
fn share(listing: &Listing, pick: impl Fn(usize) -> bool, of: impl Fn(usize) -> f64) -> f64 {
    let (mut all, mut picked) = (0.0, 0.0);
    for at in 0..listing.sass.entries.len() {
        let here = of(at);
        all += here;
        picked += if pick(at) { here } else { 0.0 };
    }
    if all > 0.0 { picked / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::rules::testing::{check, sass};

    /// One warp of eight spins for `spun` samples; the others wait for it at the barrier for `met`; the rest takes 100.
    fn spinning(spun: f64, met: f64) -> Launch {
        let code = [
            ("IMAD.WIDE.U32 R4, R7, 0x4, R4", 8.0),
            ("LDG.E.STRONG.GPU R0, desc[UR6][R4.64]", 800.0),
            ("ISETP.NE.AND P0, PT, R0, RZ, PT", 800.0),
            ("@!P0 BRA 0x110", 800.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 64.0),
            ("LDS R5, [UR4]", 64.0),
            ("STG.E desc[UR6][R8.64], R5", 64.0),
            ("EXIT", 64.0),
        ];
        let metrics = [
            (ISSUE_BUSY, 5.0),
            (BLOCK, 256.0),
            ("smsp__average_warp_latency_per_inst_issued.ratio", 100.0),
        ];
        let mut launch = sass(&metrics, &code);
        let mut set = |at: usize, reason: StallReason, samples: f64| {
            let counters = &mut launch.instructions[at].counters;
            counters.stall_samples[reason as usize] = samples;
            counters.samples = samples;
        };
        set(2, StallReason::LongScoreboard, spun);
        set(5, StallReason::Barrier, met);
        set(7, StallReason::Drain, 100.0);
        for (reason, cycles) in [
            (StallReason::LongScoreboard, spun),
            (StallReason::Barrier, met),
            (StallReason::Drain, 100.0),
        ] {
            launch.set(&reason.ratio_metric(), Some(100.0 * cycles / (spun + met + 100.0)));
        }
        launch
    }

    #[test]
    fn warps_that_spin_and_those_that_wait_for_them_are_named() {
        let draft = check(&RULE, &spinning(100.0, 700.0)).unwrap();
        assert!(draft.message.contains("800 warp-wide reads"), "{}", draft.message);
        assert!(draft.message.contains("89%"), "{}", draft.message);
        // 800 of 900 samples.
        assert!((draft.effect.least - 1.0 / 9.0).abs() < 1e-12, "{}", draft.effect.least);
    }

    #[test]
    fn waits_at_the_barrier_beyond_the_spinning_are_for_something_else() {
        // One warp spins for 10, so that seven wait for 70 of the 700.
        let draft = check(&RULE, &spinning(10.0, 700.0)).unwrap();
        let waiting = 80.0 / 810.0;
        assert!((draft.effect.least - (1.0 - waiting)).abs() < 1e-12, "{}", draft.effect.least);
    }

    #[test]
    fn cheap_waits_and_other_devices_are_not() {
        assert_eq!(check(&RULE, &spinning(0.1, 0.7)), None);
        let mut linked = spinning(100.0, 700.0);
        linked.set(NVLINK_BYTES[0], Some(1e6));
        assert_eq!(check(&RULE, &linked), None);
    }
}
