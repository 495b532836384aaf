//! Atomics on global memory queue on few addresses.

mod per_block;
mod scattered;
mod slices;
mod split;
mod swaps;
mod waits;

use crate::evidence::atomic_traffic as traffic;
use crate::evidence::atomics::{self, share_of_stalls};
use crate::evidence::modeled_launch::{OCCUPANCY_LIMITS, place};
use crate::evidence::removal::gains;
use crate::evidence::threshold::{STALL_SHARE, STALL_SHARE_LIMIT};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::{Launch, Reads};
use crate::hardware::WARP_LANES;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::{Example, Kind, Rule};
use crate::sass::questions::sharing::{LanesApart, lanes_apart};
use crate::term::Term;
use crate::text::{count, percent};
use scattered::scattered;
use split::{Split, split};
use swaps::{MOST_OF_THEM, by_hardware, kept, share_of_l1, swaps, without_loops};

const ATOMS: &str = "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum";
const REDS: &str = "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum";
const HOT: &str = "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed";
const MEAN: &str = "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed";

const BLOCK: &str = "launch__block_size";
const GLOBAL_ACCESSES: [&str; 2] = [
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
];
/// The busiest slice's atomic unit, percent of the time, from which it counts.
const LEAST_BUSY: f64 = 20.0;

/// Sectors per instruction of lanes that don't share an address.
const SECTORS_APART: f64 = 2.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "global-atomic-contention",
    kind: Kind::Cause,
    summary: "atomics on global memory queue on few addresses",
    explanation: "\
Atomics on global memory execute in L2, in the slice that holds the address; those to the same \
address execute one after another. When many warps add to a few counters, one slice is busy while \
the others idle, and warps wait in its queue. The rule fires where the atomic unit of the busiest \
slice is busy for a good part of the time, or where warps mostly wait at atomic instructions. \
Combine values before adding: within a warp by __reduce_add_sync or shuffles, then within a block \
in shared memory, so that one atomic per block and address remains; or keep several copies of the \
counters and add them up at the end. The order of the additions changes, and with it the last \
digits of sums of floats, which vary from run to run with any atomics.",
    examples: &[Example {
        fault: "\
if (i < n)                                // every thread, one address
    atomicAdd(mass, density[i] * volume[i]);",
        repair: "\
float m = i < n ? density[i] * volume[i] : 0.0f;
for (int w = 16; w > 0; w /= 2)
    m += __shfl_down_sync(~0u, m, w);
if (threadIdx.x % 32 == 0)                // one atomic per warp
    atomicAdd(mass, m);",
        note: "\
Each warp adds up its 32 values first, so that one atomic reaches L2 instead of 32. Either way \
the order of the additions, and with it the last digits, varies from run to run.",
    }],
    section: "MemoryWorkloadAnalysis_Tables",
    thresholds: &[
        Threshold {
            what: "rate of the atomic unit of the busiest L2 slice, share of what these atomics can reach, at least",
            value: LEAST_BUSY,
            unit: "%",
            source: "derivation: the time that a unit takes bounds the gain from relieving it, here at 1/0.8 = 1.25",
        },
        STALL_SHARE_LIMIT,
        per_block::NEARLY_ALL,
        scattered::BEYOND_SHARED,
        Threshold {
            what: "sectors per atomic instruction, for each lane to count as adding to an address of its own where \
                   the address is computed from the thread's index, at least",
            value: SECTORS_APART,
            unit: "sector",
            source: "definition: one address lies in one sector",
        },
        Threshold {
            what: "share of the launch's atomics that loops of compare-and-swap make, for the finding to be about them, at least",
            value: MOST_OF_THEM,
            unit: "share",
            source: "definition: as much as all others",
        },
    ],
    needs: &[ATOMS, REDS],
    sharpened_by: &[
        Reads::only_where(has_atomics, &[HOT, BLOCK, swaps::L1_WAVEFRONTS, per_block::SMS]),
        Reads::only_where(has_atomics, &OCCUPANCY_LIMITS),
        Reads::only_where(has_atomics, &GLOBAL_ACCESSES),
        Reads::only_where(has_atomics, &traffic::ATOMIC_SECTORS),
        Reads::only_where(has_atomics, &traffic::STORED),
        Reads::only_where(has_atomics, &traffic::ALL),
    ],
    explains: &[
        "long-scoreboard-stalls",
        "lg-throttle",
        "store-drain-stalls",
        "memory-fence-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
combine within the program first (tl.sum, tl.max, tl.histogram), so that each program makes \
one tl.atomic_add per result.",
    check,
    ..Rule::DEFAULT
};

fn has_atomics(launch: &Launch) -> bool {
    [ATOMS, REDS].iter().any(|name| launch.get(name).is_some_and(|requests| requests > 0.0))
}

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let requests = launch.need(ATOMS) + launch.need(REDS);
    if requests.is_nan() || requests <= 0.0 {
        return None;
    }
    let hot = launch.get(HOT).unwrap_or(0.0);
    // Of what these atomics can reach: on few addresses that is a third of the peak for floats.
    let reached = launch.model.utilization(Term::Atomic).map_or(hot, |share| 100.0 * share);
    let in_turn = launch.model.atomics_in_turn();
    let stalls = waits::stalls(launch);
    let waits = share_of_stalls(launch, atomics::is_global).max(launch.model.stall_share(&stalls));
    let split = split(launch);
    if hot.max(reached) < LEAST_BUSY && 100.0 * waits < STALL_SHARE && split.is_none() {
        return None;
    }
    let effect = match &split {
        Some(split) => Effect {
            removed: split.removed(launch, requests),
            stalls: stalls.iter().map(|&(reason, share)| (reason, split.goes() * share)).collect(),
            ..Effect::default()
        },
        None => effect(launch, requests, stalls),
    };
    if split.is_some() && !gains(launch, &effect) {
        return None;
    }
    let locations = atomics::locations(launch, atomics::is_global);
    let slices = slices::said(launch, hot, reached);
    Some(Draft {
        message: format!(
            "{} warp instructions are atomics on global memory, and {} of the stall cycles are \
             spent at them.{slices}{}{}",
            count(requests),
            percent(waits),
            if in_turn { slices::in_turn(reached) } else { String::new() },
            split.as_ref().map(Split::said).unwrap_or_default(),
        ),
        evidence: vec![
            Evidence::new(ATOMS, launch.need(ATOMS), "request"),
            Evidence::new(REDS, launch.need(REDS), "request"),
            Evidence::new(HOT, hot, "%"),
        ],
        hint: {
            let at = place(&locations, "the hottest spot");
            split.map_or_else(|| hint(launch, &at), |split| split.hint(&at))
        },
        locations,
        effect,
    })
}

/// The change: lanes with addresses of their own have nothing to combine with one another, and a loop of
/// compare-and-swap may be an atomic that the hardware has.
fn hint(launch: &ModeledLaunch, at: &str) -> String {
    let listing = launch.profile.listing();
    if let Some(swap) = swaps(launch).first() {
        let line = listing.and_then(|listing| listing.row(swap.at).line);
        let text = by_hardware(swap, line);
        return format!(
            "{text} If atomics still queue after that, combine values within the warp or block first."
        );
    }
    if let Some(text) = per_block::stays(launch).and_then(|_| per_block::hint(launch, at)) {
        return text;
    }
    if let Some(scattered) = scattered(launch) {
        return scattered::hint(at, &scattered);
    }
    let apart = listing.and_then(|listing| {
        let atomics = listing
            .entries()
            .map(|(at, _)| at)
            .filter(|&at| atomics::is_global(listing.row(at)) && listing.executed(at) > 0.0);
        let most = atomics.max_by(|&a, &b| listing.executed(a).total_cmp(&listing.executed(b)))?;
        let sectors = listing.row(most).counters.l2_sectors_global;
        let spread = sectors >= SECTORS_APART * listing.executed(most);
        lanes_apart(&listing, most).filter(|_| spread)
    });
    match apart {
        Some(LanesApart::ByThread) => {
            return format!(
                "At {at} each lane adds to an address of its own, so that a warp has nothing to combine: launch \
                 fewer threads, let each take several of the values that go to its address (a stride that is a \
                 multiple of the number of addresses), add them up in a register, and add once."
            );
        }
        Some(LanesApart::InLoadedRow) => {
            return format!(
                "At {at} each lane adds to an address of its own, in a row whose number is loaded, so that a warp has \
                 nothing to combine: gather instead of scattering. Give each row to one block, which loads all that \
                 goes there (from the index, inverted or sorted once), adds it up in registers, and stores it \
                 once."
            );
        }
        None => {}
    }
    format!(
        "Combine values before the atomic at {at}: reduce within the warp, then within the block in shared \
         memory, and add once per block and address."
    )
}

/// Combined per block, one atomic stays of as many as the block has threads, or, where each block makes one already, of as many as
/// blocks become one: nearly all go, with their slots in the load/store unit, their part of L2 and of DRAM, and the waits for them.
fn effect(launch: &ModeledLaunch, requests: f64, stalls: Vec<(StallReason, f64)>) -> Effect {
    let threads = launch.get(BLOCK).unwrap_or(WARP_LANES).max(2.0);
    let swaps = swaps(launch);
    let once_per_block = per_block::stays(launch).filter(|_| swaps.is_empty());
    let per_block = once_per_block.or_else(|| Some(scattered(launch)?.stays));
    let combined = 1.0 - per_block.unwrap_or(1.0 / threads);
    let goes = swaps.first().map_or(combined, |swap| 1.0 - kept(launch, swap));
    let (of_l1, of_l2) = if swaps.is_empty() {
        (0.0, traffic::share_of_l2(launch))
    } else {
        (share_of_l1(launch, &swaps), traffic::share_of_l2_of_swaps(launch))
    };
    // What the hardware adds, nobody waits for, unless the old value is wanted.
    let is_sent = !swaps.is_empty() && !swaps.iter().any(|swap| swap.has_result);
    let waits = if is_sent { 1.0 } else { goes };
    let of_loop = without_loops(launch, &swaps, waits).unwrap_or_default();
    let mut stalls = stalls;
    for (reason, share) in atomics::stalls_at_fences(launch) {
        match stalls.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, of_atomics)) => *of_atomics = (*of_atomics + share).min(1.0),
            None => stalls.push((reason, share)),
        }
    }
    let global: f64 = GLOBAL_ACCESSES.iter().filter_map(|name| launch.get(name)).sum();
    Effect {
        removed: vec![
            (Term::Atomic, goes),
            (Term::L1Data, goes * of_l1),
            (Term::Dram, goes * traffic::share_of_dram(launch)),
            (Term::L2, goes * of_l2),
            (Term::L2Requests, goes * traffic::share_of_requests(launch)),
            (Term::Lsu, goes * requests / (requests + global)),
            (Term::BlockScheduler, once_per_block.map_or(0.0, |stays| 1.0 - stays)),
        ],
        stalls: stalls
            .into_iter()
            .map(|(reason, share)| (reason, (waits * share).max(of_loop.share_of_stall(reason))))
            .collect(),
        ..Effect::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, launch, sass};

    #[test]
    fn a_hot_slice_counts() {
        let hot = launch(&[(ATOMS, 0.0), (REDS, 1000.0), (HOT, 20.0), (MEAN, 1.0)]);
        let draft = assert_sides(&RULE, &hot, &[&[(HOT, 19.9)], &[(REDS, 0.0)]]);
        assert!(draft.message.contains("few addresses"), "{}", draft.message);
        // No block size: a warp's 32 atomics become one.
        assert!((draft.effect.share_of(Term::Atomic) - 31.0 / 32.0).abs() < 1e-12);
    }

    #[test]
    fn a_slice_counts_by_what_its_atomics_can_reach() {
        // On one address floats reach a third of the peak, so that 15% is 45% of it; integers reach 80%.
        let found = |text: &str| {
            let launch = sass(
                &[(ATOMS, 0.0), (REDS, 100.0), (HOT, 15.0), (MEAN, 0.2)],
                &[(text, 100.0), ("EXIT", 100.0)],
            );
            crate::rules::testing::check(&RULE, &launch)
        };
        let floats = found("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R5").unwrap();
        assert!(
            floats.message.contains("(45% of what such atomics can reach"),
            "{}",
            floats.message
        );
        assert!(found("REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R5").is_none());
    }

    #[test]
    fn waiting_at_atomics_counts_without_a_hot_slice() {
        let mut waiting = launch(&[(ATOMS, 1000.0), (REDS, 0.0)]);
        waiting.instructions =
            atomics::testing::listing("ATOMG.E.ADD.STRONG.GPU PT, R3, [R4.64], R5", 30.0, 70.0);
        assert!(crate::rules::testing::check(&RULE, &waiting).is_some());
        waiting.instructions =
            atomics::testing::listing("ATOMG.E.ADD.STRONG.GPU PT, R3, [R4.64], R5", 29.0, 71.0);
        assert!(crate::rules::testing::check(&RULE, &waiting).is_none());
    }

    #[test]
    fn ended_warps_wait_for_the_atomics_they_sent() {
        let fires = |stored: f64| {
            let mut ended = sass(
                &[
                    (ATOMS, 0.0),
                    (REDS, 100.0),
                    (traffic::ATOMIC_SECTORS[0], 3000.0),
                    (traffic::STORED[0], stored),
                ],
                &[("RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R5", 100.0), ("EXIT", 100.0)],
            );
            ended.set(&StallReason::Drain.ratio_metric(), Some(60.0));
            ended.set(&StallReason::Wait.ratio_metric(), Some(40.0));
            crate::rules::testing::check(&RULE, &ended).map(|draft| draft.effect)
        };
        // Half of what is stored: 30% of all stalls.
        let half = fires(3000.0).unwrap();
        assert!((half.share_of_stall(StallReason::Drain) - 0.5 * 31.0 / 32.0).abs() < 1e-12);
        assert!(fires(3010.0).is_none());
    }

    #[test]
    fn the_queue_is_full_of_what_l2_is_asked() {
        let fires = |all: f64| {
            let mut queued = launch(&[
                (ATOMS, 0.0),
                (REDS, 100.0),
                (traffic::ATOMIC_SECTORS[0], 3200.0),
                (traffic::L2_SECTORS, all),
            ]);
            queued.set(&StallReason::LgThrottle.ratio_metric(), Some(60.0));
            queued.set(&StallReason::Wait.ratio_metric(), Some(40.0));
            crate::rules::testing::check(&RULE, &queued).is_some()
        };
        assert!(fires(6400.0) && !fires(6410.0));
    }

    #[test]
    fn rows_whose_number_is_loaded_are_to_be_gathered() {
        let mut launch = sass(
            &[(ATOMS, 0.0), (REDS, 100.0), (HOT, 30.0)],
            &[
                ("S2R R0, SR_TID.X", 100.0),
                ("LDC.64 R2, c[0x0][0x210]", 100.0),
                ("LDC.64 R4, c[0x0][0x218]", 100.0),
                ("LDG.E R6, desc[UR4][R4.64]", 100.0),
                ("IMAD R7, R6, 0x400, R0", 100.0),
                ("IMAD.WIDE R8, R7, 0x4, R2", 100.0),
                ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R8.64], R5", 100.0),
                ("EXIT", 100.0),
            ],
        );
        launch.instructions[6].counters.l2_sectors_global = 400.0;
        let hint = crate::rules::testing::check(&RULE, &launch).unwrap().hint;
        assert!(hint.contains("gather instead of scattering"), "{hint}");
    }

    #[test]
    fn lanes_apart_are_told_from_two_sectors_per_atomic_on() {
        let hint = |sectors: f64| {
            let mut launch = sass(
                &[(ATOMS, 100.0), (REDS, 0.0), (HOT, 30.0)],
                &[
                    ("S2R R0, SR_TID.X", 100.0),
                    ("LDC.64 R2, c[0x0][0x210]", 100.0),
                    ("IMAD.WIDE R8, R0, 0x4, R2", 100.0),
                    ("ATOMG.E.ADD.STRONG.GPU PT, R3, desc[UR4][R8.64], R5", 100.0),
                    ("EXIT", 100.0),
                ],
            );
            launch.instructions[3].counters.l2_sectors_global = 100.0 * sectors;
            crate::rules::testing::check(&RULE, &launch).unwrap().hint
        };
        let (apart, together) = (hint(2.0), hint(1.99));
        assert!(apart.contains("each lane adds to an address of its own"), "{apart}");
        assert!(together.contains("Combine values before the atomic"), "{together}");
    }
}
