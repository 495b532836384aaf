//! Atomics on shared memory queue on few addresses.

use crate::evidence::atomics;
use crate::evidence::atomics::share_of_stalls;
use crate::evidence::modeled_launch::place;
use crate::evidence::threshold::{STALL_SHARE, STALL_SHARE_LIMIT};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::{Reads, SHARED_ATOMICS};
use crate::hardware::WARP_LANES;
use crate::model::Effect;
use crate::rules::{Example, Kind, Rule};
use crate::term::Term;
use crate::text::{count, percent};

const PIPE: &str = "l1tex__data_pipe_lsu_wavefronts.sum";
const WAVEFRONTS: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum";

/// The excess wavefronts' share of the data pipe's work from which they count.
const LEAST_SHARE: f64 = 0.2;

/// The rule.
pub const RULE: Rule = Rule {
    name: "shared-atomic-contention",
    kind: Kind::Cause,
    summary: "atomics on shared memory queue on few addresses",
    explanation: "\
Lanes of a warp that update the same shared word are served one after another, each in a \
wavefront of its own. Adding floats has no such instruction: it is a loop of loads and \
compare-and-swaps, which every lane that loses the race repeats. The rule compares the wavefronts \
of shared atomics with one per instruction, and looks at how much of the time warps wait at them. \
Give each warp (or each of a few groups of lanes) its own copy of the counters and add the copies \
up at the end, combine equal keys within the warp first (__match_any_sync, __reduce_add_sync), or \
let each thread count in registers.",
    examples: &[Example {
        fault: "\
__shared__ unsigned count[64];            // zeroed
for (int i = first; i < n; i += stride)   // equal grades queue on one word
    atomicAdd(&count[grade[i]], 1u);
__syncthreads();
if (t < 64) atomicAdd(&total[t], count[t]);",
        repair: "\
__shared__ unsigned count[64][32];        // zeroed; one column per lane
for (int i = first; i < n; i += stride)
    atomicAdd(&count[grade[i]][t % 32], 1u);
__syncthreads();
if (t < 64) {
    unsigned sum = 0;
    for (int k = 0; k < 32; ++k) sum += count[t][(t + k) % 32];
    atomicAdd(&total[t], sum);
}",
        note: "\
Each lane counts in a column, and so in a bank, of its own, so that no two lanes of a warp meet; \
the counters take 8 KB instead of 256 bytes and are added up once per block.",
    }],
    section: "MemoryWorkloadAnalysis_Tables",
    thresholds: &[
        Threshold {
            what: "wavefronts of shared atomics beyond one per instruction, share of the L1 data \
                   pipe's work, at least",
            value: LEAST_SHARE,
            unit: "share",
            source: "derivation: the part of a unit's work that is removed bounds the gain, here \
                     at 1/0.8 = 1.25",
        },
        STALL_SHARE_LIMIT,
    ],
    needs: &[SHARED_ATOMICS, WAVEFRONTS],
    sharpened_by: &[Reads::only_where(
        |launch| launch.get(SHARED_ATOMICS).is_some_and(|atoms| atoms > 0.0),
        &[PIPE],
    )],
    explains: &[
        "short-scoreboard-stalls",
        "mio-throttle",
        "barrier-stalls",
        "fixed-latency-stalls",
        "issue-slots-underused",
    ],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let (atoms, wavefronts) = (launch.need(SHARED_ATOMICS), launch.need(WAVEFRONTS));
    if !(atoms > 0.0 && wavefronts > 0.0) {
        return None;
    }
    let excess = (wavefronts - atoms).max(0.0);
    let pipe = launch.get(PIPE).unwrap_or(wavefronts);
    let waits = share_of_stalls(launch, atomics::is_shared);
    if excess / pipe.max(wavefronts) < LEAST_SHARE && 100.0 * waits < STALL_SHARE {
        return None;
    }
    let locations = atomics::locations(launch, atomics::is_shared);
    let retries = atomics::retries(launch);
    // Lanes that add to one address try again one after another; if a warp adds up its own values first, one lane tries.
    let combined = 1.0 - (retries.tries / WARP_LANES).max(1.0) / retries.tries;
    let in_queue = 1.0 - atoms.min(wavefronts) / wavefronts;
    let tried = if retries.tries >= 2.0 {
        format!(" An average one is a compare-and-swap that is tried {:.0} times.", retries.tries)
    } else {
        String::new()
    };
    Some(Draft {
        message: format!(
            "{} atomic instructions on shared memory take {} wavefronts, {:.1} each where distinct addresses \
             would take 1; {} of the stall cycles are spent at them.{tried}",
            count(atoms),
            count(wavefronts),
            wavefronts / atoms,
            percent(waits),
        ),
        evidence: vec![
            Evidence::new(SHARED_ATOMICS, atoms, "inst"),
            Evidence::new(WAVEFRONTS, wavefronts, "wavefront"),
        ],
        hint: format!(
            "Spread the updates at {}: keep a copy of the counters per warp, or combine equal keys \
             within the warp before the atomic.",
            place(&locations, "the shared atomic that runs most often"),
        ),
        locations,
        effect: Effect {
            removed: vec![
                (Term::L1Data, excess / pipe.max(wavefronts)),
                (Term::Issue, retries.share),
            ],
            stalls: atomics::stalls_at(launch, atomics::is_shared, in_queue.max(combined)),
            ..Effect::default()
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, check, launch};

    const PIPE: &str = "l1tex__data_pipe_lsu_wavefronts.sum";

    #[test]
    fn many_wavefronts_an_atomic_count_where_they_fill_the_pipe() {
        let queue = launch(&[(SHARED_ATOMICS, 100.0), (WAVEFRONTS, 300.0), (PIPE, 1000.0)]);
        let draft = assert_sides(
            &RULE,
            &queue,
            &[&[(PIPE, 1001.0)], &[(WAVEFRONTS, 299.0)], &[(SHARED_ATOMICS, 0.0)]],
        );
        assert!((draft.effect.share_of(Term::L1Data) - 0.2).abs() < 1e-12);
        assert!(draft.message.contains("3.0 each"), "{}", draft.message);
    }

    #[test]
    fn waiting_at_shared_atomics_counts() {
        let mut waiting = launch(&[(SHARED_ATOMICS, 100.0), (WAVEFRONTS, 150.0), (PIPE, 1000.0)]);
        waiting.instructions = atomics::testing::listing("ATOMS.ADD RZ, [R4], R5", 30.0, 70.0);
        assert!(check(&RULE, &waiting).is_some());
        waiting.instructions = atomics::testing::listing("ATOMS.ADD RZ, [R4], R5", 29.0, 71.0);
        assert!(check(&RULE, &waiting).is_none());
    }
}
