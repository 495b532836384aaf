//! Warps without work that sweep through shared memory: a tree reduction in which every warp takes every
//! step.

use crate::evidence::removal::Removal;
use crate::evidence::shared_pipe::{
    ALL, IDLE_SWEEP, SharedPipe, WithoutAccess, executed_on, stalls_on, uses_shared_alone,
};
use crate::evidence::{ModeledLaunch, Threshold};
use crate::export::SourceRow;
use crate::hardware::WARP_LANES;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::sass::questions::bystanders::switched_off;
use crate::sass::questions::empty_turns::in_empty_turns;
use crate::sass::questions::shared_trees::shared_trees;
use crate::sass::questions::sharing::beyond_the_end::beyond_the_end;
use crate::sass::{Listing, Space};
use crate::term::Term;
use crate::text::{count, percent};

/// Threads of a block.
pub(super) const BLOCK: &str = "launch__block_size";

/// The accesses that belong to the sweep's loops.
pub(super) const FREQUENT: Threshold = Threshold {
    what: "constant: wavefronts of an access, relative to the access with the most, for it to belong to the idle \
           sweep, at least",
    value: 0.5,
    unit: "share",
    source: "derivation: a step of the sweep reads two values and writes one, each with as many \
             wavefronts as warps take the step",
};

/// What belongs to such a loop.
pub(super) const SAME_LOOP: Threshold = Threshold {
    what: "constant: difference in executions between instructions of the same loop, at most",
    value: 0.01,
    unit: "share",
    source: "derivation: a warp that leaves early makes a difference of one iteration, and a \
             warp's loop over a large array has hundreds",
};

/// What goes with the sweep, and what takes its place.
pub(super) fn effect(pipe: &SharedPipe) -> Effect {
    by_code(pipe).unwrap_or_else(|| by_lines(pipe))
}

/// By the trees' own instructions: they go with their barriers but one. Instead each warp combines its lanes by shuffles and
/// keeps one result, and one warp does the same with these. A shuffle is awaited about as long as a load of shared memory,
/// so of the waits for values those of the steps beyond the shuffles go. `None` without all of the machine code, or trees in it.
fn by_code(pipe: &SharedPipe) -> Option<Effect> {
    let launch = pipe.launch;
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    // A part of the code does not tell what belongs to a tree.
    if !listing.is_whole() {
        return None;
    }
    let trees = shared_trees(&listing);
    let warps = (launch.get(BLOCK)? / WARP_LANES).max(1.0);
    // Each shuffle halves the lanes whose values are still apart.
    let by_shuffles = WARP_LANES.log2();
    // One warp more of each block's.
    let shares = if warps > 1.0 { 1.0 + 1.0 / warps } else { 1.0 };
    let mut wavefronts = 0.0;
    for tree in &trees {
        let later = 1.0 - 1.0 / tree.steps;
        let sooner = (1.0 - by_shuffles * shares / tree.steps).max(0.0);
        for &at in &tree.accesses {
            removal.remove_but_latency(at, 1.0);
            removal.remove_latency(at, sooner);
            wavefronts += listing.executed(at);
        }
        tree.rest.iter().for_each(|&at| removal.remove(at, 1.0));
        tree.barriers.iter().for_each(|&at| removal.remove(at, later));
        // Waits at a barrier are sampled behind it.
        let all = tree.accesses.iter().chain(&tree.rest).chain(&tree.barriers);
        all.for_each(|&at| removal.remove_waits_for_others(at, later));
        let shuffles = by_shuffles * shares * tree.passes;
        let kept = shares * tree.passes;
        removal.add(Term::Lsu, shuffles + kept);
        removal.add(tree.combines_on.unwrap_or(Term::Alu), shuffles);
        wavefronts -= shuffles + kept;
    }
    let all = launch.get(ALL).filter(|&all| all > 0.0)?;
    if trees.is_empty() {
        return None;
    }
    let mut effect = removal.effect(launch);
    effect.removed.retain(|(term, _)| *term != Term::L1Data);
    let of_pipe = pipe.share_of_pipe().unwrap_or(1.0);
    effect.removed.push((Term::L1Data, of_pipe * (wavefronts / all).clamp(0.0, 1.0)));
    Some(effect)
}

/// Where the trees' instructions can't be told: the lines that work on shared memory alone and the loops around the most
/// frequent accesses, with their additions and comparisons, every stall on those lines, the barriers,
/// and what waits for shared memory anywhere.
fn by_lines(pipe: &SharedPipe) -> Effect {
    let mut removed = pipe.units();
    if let Some(share) = instruction_share(pipe) {
        removed.extend([Term::Issue, Term::Alu, Term::Fma].map(|term| (term, share)));
    }
    let on_shared = stalls_on(&pipe.launch.profile.lines);
    let stalls = StallReason::all().map(|reason| {
        let goes = match reason {
            StallReason::LongScoreboard | StallReason::LgThrottle => 0.0,
            StallReason::ShortScoreboard | StallReason::MioThrottle | StallReason::Barrier => 1.0,
            _ => on_shared[reason as usize],
        };
        (reason, goes)
    });
    Effect { removed, stalls: stalls.collect(), ..Effect::default() }
}

/// What the wavefronts of idle warps show.
pub(super) fn seen(pipe: &SharedPipe, idle: WithoutAccess) -> String {
    format!(
        " {} of {} shared-memory wavefronts ({}) belong to neither loads nor stores: they come from \
         warps whose lanes are all predicated off.",
        count(idle.wavefronts),
        count(pipe.launch.get(ALL).unwrap_or(0.0)),
        percent(idle.share),
    )
}

/// The advice for the sweep at a place.
pub(super) fn hint(pipe: &SharedPipe, at: &str) -> String {
    if pipe.launch.profile.listing().is_some_and(|listing| are_global(&listing)) {
        return format!(
            "Give the lanes at {at} something to do: most of the accesses that are switched off go to global memory, \
             because a mask or a bound leaves a block few of its elements there. Choose the block's size by what it \
             handles at a time, or index all of the block's elements as one dimension, so that each lane has one."
        );
    }
    format!(
        "Keep idle warps out of {at}: reduce within a warp by __shfl_down_sync, keep one partial \
         result per warp in shared memory, and let a single warp finish; each thread can first sum \
         several elements in a register."
    )
}

/// True where more of the accesses with all lanes switched off go to global memory than to shared memory: each takes
/// a wavefront of the pipe that serves both.
fn are_global(listing: &Listing) -> bool {
    switched_off(listing, Space::Global) > switched_off(listing, Space::Shared)
}

/// True where what is switched off lies beyond the end of a row in every block, and most of it does: idle-threads names that, with
/// all that is computed for it.
pub(super) fn is_beyond_the_end(launch: &ModeledLaunch, listing: &Listing) -> bool {
    let threads = launch.get(BLOCK).unwrap_or(WARP_LANES);
    are_global(listing)
        && beyond_the_end(listing, threads, || in_empty_turns(listing))
            .is_some_and(|found| found.filled <= 1.0 - IDLE_SWEEP)
}

/// The share of executed instructions that make up the sweep.
fn instruction_share(pipe: &SharedPipe) -> Option<f64> {
    let (lines, instructions) = (&pipe.launch.profile.lines, &pipe.launch.profile.instructions);
    if instructions.is_empty() {
        return executed_on(lines, uses_shared_alone);
    }
    let swept: Vec<Option<u32>> =
        lines.iter().filter(|row| uses_shared_alone(row)).map(|row| row.line).collect();
    let loops = loop_counts(instructions);
    executed_on(instructions, |row| {
        let counters = &row.counters;
        let in_loop = loops.iter().any(|count| same_count(counters.inst_executed, *count));
        counters.l2_sectors_global == 0.0 && (in_loop || swept.contains(&row.line))
    })
}

/// How often the loops around the most frequent shared accesses ran: the executions of each access
/// that has at least half the wavefronts of the one with most. What executed as often as such an
/// access is taken for its loop: the barrier, the counter, the addresses and the jump.
fn loop_counts(instructions: &[SourceRow]) -> Vec<f64> {
    let wavefronts = |row: &&SourceRow| row.counters.wavefronts_shared;
    let most = instructions.iter().map(|row| wavefronts(&row)).fold(0.0, f64::max);
    instructions
        .iter()
        .filter(|row| most > 0.0 && wavefronts(row) >= FREQUENT.value * most)
        .map(|row| row.counters.inst_executed)
        .collect()
}

/// Equal, unless a warp leaves a loop early.
fn same_count(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME_LOOP.value * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::SourceCounters;

    #[test]
    fn accesses_with_half_of_the_most_wavefronts_tell_the_loops() {
        let row = |wavefronts_shared, inst_executed| SourceRow {
            counters: SourceCounters {
                inst_executed,
                wavefronts_shared,
                ..SourceCounters::default()
            },
            ..SourceRow::default()
        };
        let rows = [row(100.0, 10.0), row(50.0, 20.0), row(49.0, 30.0), row(0.0, 40.0)];
        let found: Vec<String> = loop_counts(&rows).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["10", "20"]);
        assert!(loop_counts(&[row(0.0, 10.0)]).is_empty(), "no shared memory");
    }

    #[test]
    fn masked_accesses_to_global_memory_are_told_from_a_sweep() {
        use crate::sass::code::listing::tests::launch;
        let mut masked = launch(&[
            ("@P0 STG.E desc[UR4][R2.64], R4", 100.0),
            ("@P1 LDS R4, [R6]", 100.0),
            ("EXIT", 100.0),
        ]);
        for (row, on) in masked.instructions.iter_mut().zip([10.0, 3200.0, 3200.0]) {
            row.counters.thread_inst_executed_pred_on = on;
        }
        assert!(are_global(&masked.listing().unwrap()));
        masked.instructions[1].counters.thread_inst_executed_pred_on = 5.0;
        assert!(!are_global(&masked.listing().unwrap()), "95 of 100 against 90");
        // All lanes of five warps are on, none of the others.
        masked.instructions[1].counters.thread_inst_executed_pred_on = 160.0;
        assert!(are_global(&masked.listing().unwrap()), "as far as the threads tell");
        masked.instructions[1].counters.wavefronts_shared = 5.0;
        assert!(!are_global(&masked.listing().unwrap()), "five wavefronts");
    }

    #[test]
    fn counts_within_a_hundredth_belong_to_one_loop() {
        assert!(same_count(99.0, 100.0) && same_count(101.0, 100.0));
        assert!(!same_count(98.95, 100.0) && !same_count(101.05, 100.0));
    }
}
