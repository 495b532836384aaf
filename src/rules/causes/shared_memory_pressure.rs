//! The shared-memory pipe is the limit without conflicts.

use crate::evidence::modeled_launch::place;
use crate::evidence::opcodes::gains;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::export::SourceRow;
use crate::finding::Evidence;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::causes::shared_bank_conflicts;
use crate::rules::{Kind, Rule};
use crate::sass::Family;
use crate::term::Term;
use crate::text::{count, percent};

const BUSY: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed";
const ALL: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
const PARTS: [&str; 3] = [
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
];

/// Share of the time, percent, from which the shared-memory part of the pipe counts.
const LEAST_BUSY: f64 = 20.0;

/// The share of wavefronts that neither load nor store from which idle warps are named as the cause.
const OTHER: f64 = 0.5;

/// Stalls in front of shared memory, and at the barriers between its steps.
const STALLS: [StallReason; 3] =
    [StallReason::ShortScoreboard, StallReason::MioThrottle, StallReason::Barrier];

/// The rule.
pub const RULE: Rule = Rule {
    name: "shared-memory-pressure",
    kind: Kind::Cause,
    summary: "the shared-memory pipe is the limit without conflicts",
    explanation: "\
Every shared-memory instruction takes at least one wavefront of the L1 data pipe and one slot of \
the load/store unit, even where all lanes of its warp are predicated off. A tree reduction over a \
block (`if (id < w) s[id] += s[id + w]`) sends every warp through every step and so fills the \
pipe with accesses that move nothing: their wavefronts belong to neither loads nor stores nor \
shuffles. The rule fires where no other unit has more work than this pipe, or where the kernel \
would gain without these accesses, and where conflicts do not explain it. Let only warps with \
work take part, reduce within a warp by shuffles, keep partial results in registers, or move \
several values per access (float4).",
    section: "MemoryWorkloadAnalysis_Chart",
    thresholds: &[
        Threshold {
            what: "time that shared-memory wavefronts, conflicts aside, keep the pipe busy, at \
                   least",
            value: LEAST_BUSY,
            unit: "%",
            source: "ncu's HighPipeUtilization rule calls a pipe below 20% low; the time that a \
                     unit takes bounds the gain from relieving it, here at 1/0.8 = 1.25",
        },
        Threshold {
            what: "share of wavefronts that neither load nor store, from which idle warps are \
                   named as the cause",
            value: OTHER,
            unit: "",
            source: "definition: more than the rest",
        },
    ],
    needs: &[BUSY],
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
    let busy = launch.need(BUSY);
    let free_of_conflicts = || busy * (1.0 - conflict_share(launch));
    if !(busy >= LEAST_BUSY && free_of_conflicts() >= LEAST_BUSY) {
        return None;
    }
    let effect = effect(launch);
    if !(is_on_top(launch, &effect) || gains(launch, &effect)) {
        return None;
    }
    let locations = launch.profile.top_lines(3, "stalls for shared memory", |counters| {
        if counters.wavefronts_shared > 0.0 {
            STALLS.iter().map(|&reason| counters.stall_samples[reason as usize]).sum()
        } else {
            0.0
        }
    });
    let other = other_share(launch);
    let lsu = launch
        .model
        .utilization(Term::Lsu)
        .map_or_else(String::new, |share| format!(", the load/store unit {}", percent(share)));
    let idle = other.filter(|&(share, _)| share >= OTHER).map(|(share, wavefronts)| {
        format!(
            " {} of {} shared-memory wavefronts ({}) belong to neither loads nor stores: they come \
             from warps whose lanes are all predicated off.",
            count(wavefronts),
            count(launch.get(ALL).unwrap_or(0.0)),
            percent(share),
        )
    });
    let at_line = locations.first().map(|location| {
        format!(
            " Line {} has {} of the stalls for shared memory.",
            location.line,
            percent(location.share)
        )
    });
    let at = place(&locations, "the hottest spot");
    let hint = if idle.is_some() {
        format!(
            "Keep idle warps out of {at}: reduce within a warp by __shfl_down_sync, keep one \
             partial result per warp in shared memory, and let a single warp finish; each thread \
             can first sum several elements in a register."
        )
    } else {
        format!(
            "Access shared memory less often at {at}: let each thread keep a tile of results in \
             registers, move a float4 at a time, or exchange values within a warp by shuffles."
        )
    };
    Some(Draft {
        message: format!(
            "Shared-memory accesses keep the L1 data pipe busy {busy:.0}% of the time{lsu}, and \
             bank conflicts are not the reason.{}{}",
            idle.unwrap_or_default(),
            at_line.unwrap_or_default(),
        ),
        evidence: evidence(launch, busy, other),
        locations,
        hint,
        effect,
    })
}

/// True where no unit does more other work than the pipe or the load/store unit does altogether: the
/// accesses' own instructions also fill issue slots and math pipes, and go with them.
fn is_on_top(launch: &ModeledLaunch, effect: &Effect) -> bool {
    let of_pipe = [Term::L1Data, Term::Lsu]
        .into_iter()
        .filter_map(|term| launch.model.utilization(term))
        .reduce(f64::max);
    let other = launch
        .model
        .by_share()
        .into_iter()
        .filter(|(term, _)| !matches!(term, Term::L1Data | Term::Lsu))
        .map(|(term, share)| share * (1.0 - effect.share_of(term)))
        .reduce(f64::max);
    match (of_pipe, other) {
        (Some(of_pipe), Some(other)) => of_pipe >= other,
        _ => true,
    }
}

fn evidence(launch: &ModeledLaunch, busy: f64, other: Option<(f64, f64)>) -> Vec<Evidence> {
    let mut evidence = vec![Evidence::new(BUSY, busy, "%")];
    if let (Some(all), Some((_, wavefronts))) = (launch.get(ALL), other) {
        evidence.push(Evidence::new(ALL, all, "wavefront"));
        evidence.push(Evidence::new("other_shared_wavefronts", wavefronts, "wavefront"));
    }
    evidence
}

/// The share of shared wavefronts that are bank conflicts or atomics in a queue, 0 where too few to
/// count: each is a fault of its own.
fn conflict_share(launch: &ModeledLaunch) -> f64 {
    let (all, ideal) = shared_bank_conflicts::wavefronts(launch);
    let conflicts = if all > 0.0 { 1.0 - ideal / all } else { 0.0 };
    let queued = launch
        .get(PARTS[2])
        .zip(launch.get("smsp__inst_executed_op_shared_atom.sum"))
        .zip(launch.get(ALL).filter(|&all| all > 0.0))
        .map_or(0.0, |((atomics, instructions), all)| (atomics - instructions).max(0.0) / all);
    let conflicts = if 100.0 * conflicts >= shared_bank_conflicts::LEAST_EXCESS {
        conflicts * (1.0 - queued)
    } else {
        0.0
    };
    (conflicts + queued).clamp(0.0, 1.0)
}

/// Wavefronts that are neither loads, stores, atomics nor shuffles: their share (0 to 1) and number. `None`
/// unless all were collected.
fn other_share(launch: &ModeledLaunch) -> Option<(f64, f64)> {
    let all = launch.get(ALL).filter(|&all| all > 0.0)?;
    // A shuffle between lanes takes a wavefront of the same pipe, and does work.
    let shuffles = launch.profile.mix().map_or(0.0, |mix| mix.family(Family::Shuffle));
    let known = launch.get(PARTS[0])?
        + launch.get(PARTS[1])?
        + launch.get(PARTS[2]).unwrap_or(0.0)
        + shuffles;
    let other = (all - known).max(0.0);
    Some((other / all, other))
}

/// The shared-memory part of L1's data pipe and of the load/store unit goes, the instructions of the
/// lines that use shared memory, and the stalls in front of it.
fn effect(launch: &ModeledLaunch) -> Effect {
    let of_l1 = launch
        .get(ALL)
        .zip(launch.get("memory_l1_tag_requests_global"))
        .filter(|&(shared, tags)| shared + tags > 0.0)
        .map(|(shared, tags)| shared / (shared + tags));
    let of_pipe = of_l1.or_else(|| {
        let pipe = launch.model.utilization(Term::L1Data).filter(|&busy| busy > 0.0)?;
        Some((launch.need(BUSY) / 100.0 / pipe).min(1.0))
    });
    // Without conflicts an access is one wavefront, so the wavefronts are the unit's instructions.
    let of_lsu =
        launch.model.utilization(Term::Lsu).filter(|&busy| busy > 0.0).map(|busy| {
            (launch.need(BUSY) * (1.0 - conflict_share(launch)) / 100.0 / busy).min(1.0)
        });
    let mut removed = Vec::new();
    // Conflicts stay: they are another fault, and go with it.
    let needed = 1.0 - conflict_share(launch);
    removed.extend(of_pipe.map(|share| (Term::L1Data, share * needed)));
    removed.extend(of_lsu.map(|share| (Term::Lsu, share)));
    if let Some(share) = instruction_share(launch) {
        removed.push((Term::Issue, share));
        // A sweep's additions and comparisons go with it; an access alone does no arithmetic.
        if other_share(launch).is_some_and(|(share, _)| share >= OTHER) {
            removed.extend([Term::Alu, Term::Fma].map(|term| (term, share)));
        }
    }
    let sweeps = other_share(launch).is_some_and(|(share, _)| share >= OTHER);
    let stalls = StallReason::all().map(|reason| (reason, stall_share(launch, reason, sweeps)));
    let stalls = stalls.collect();
    Effect { removed, stalls, ..Effect::default() }
}

/// The share of a stall that goes with the accesses. Of a sweep that is every stall on its lines, its
/// barriers and what waits for shared memory anywhere. Elsewhere the work on what was loaded stays:
/// only the accesses' own stalls go, and what waits for them; the time model knows that warps at
/// barriers wait for warps that do.
fn stall_share(launch: &ModeledLaunch, reason: StallReason, sweeps: bool) -> f64 {
    let rows = if sweeps { &launch.profile.lines } else { &launch.profile.instructions };
    match reason {
        StallReason::LongScoreboard | StallReason::LgThrottle => 0.0,
        StallReason::ShortScoreboard | StallReason::MioThrottle => 1.0,
        StallReason::Barrier => f64::from(u8::from(sweeps)),
        _ => stall_on(rows, reason),
    }
}

/// The share of a stall's samples on rows that use shared memory; 0 without samples.
fn stall_on(rows: &[SourceRow], reason: StallReason) -> f64 {
    let samples = |row: &SourceRow| row.counters.stall_samples[reason as usize];
    let all: f64 = rows.iter().map(samples).sum();
    let theirs: f64 = rows.iter().filter(|row| uses_shared(row)).map(samples).sum();
    if all > 0.0 { theirs / all } else { 0.0 }
}

fn uses_shared(row: &SourceRow) -> bool {
    row.counters.wavefronts_shared > 0.0
}

/// The share of executed instructions that go with the accesses. Where idle warps fill the pipe,
/// that is the whole sweep: the lines that work on shared memory alone and the loops around the most
/// frequent accesses. Elsewhere the loop's arithmetic is the work itself, and only the accesses go.
fn instruction_share(launch: &ModeledLaunch) -> Option<f64> {
    let alone = |row: &SourceRow| uses_shared(row) && row.counters.l2_sectors_global == 0.0;
    let share = |rows: &[SourceRow], goes: &dyn Fn(&SourceRow) -> bool| {
        let all: f64 = rows.iter().map(|row| row.counters.inst_executed).sum();
        let going: f64 =
            rows.iter().filter(|row| goes(row)).map(|row| row.counters.inst_executed).sum();
        (all > 0.0).then(|| going / all)
    };
    let idle = other_share(launch).is_some_and(|(share, _)| share >= OTHER);
    let instructions = &launch.profile.instructions;
    match (idle, instructions.is_empty()) {
        (true, true) => share(&launch.profile.lines, &alone),
        (false, true) => None,
        (false, false) => share(instructions, &alone),
        (true, false) => {
            let lines: Vec<Option<u32>> =
                launch.profile.lines.iter().filter(|row| alone(row)).map(|row| row.line).collect();
            let loops = loop_counts(instructions);
            share(instructions, &|row| {
                let counters = &row.counters;
                let in_loop = loops.iter().any(|count| same_count(counters.inst_executed, *count));
                counters.l2_sectors_global == 0.0 && (in_loop || lines.contains(&row.line))
            })
        }
    }
}

/// How often the loops around the most frequent shared accesses ran: the executions of each access
/// that has at least half the wavefronts of the one with most. What executed as often as such an
/// access is taken for its loop: the barrier, the counter, the addresses and the jump.
fn loop_counts(instructions: &[SourceRow]) -> Vec<f64> {
    let wavefronts = |row: &&SourceRow| row.counters.wavefronts_shared;
    let most = instructions.iter().map(|row| wavefronts(&row)).fold(0.0, f64::max);
    instructions
        .iter()
        .filter(|row| most > 0.0 && wavefronts(row) >= 0.5 * most)
        .map(|row| row.counters.inst_executed)
        .collect()
}

/// Equal but for a warp that leaves a loop early.
fn same_count(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.01 * b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::SourceCounters;
    use crate::rules::testing::{assert_sides, check, launch, line, samples};

    const L1: &str = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";

    #[test]
    fn a_busy_pipe_counts_where_no_other_unit_is_busier() {
        let busy = launch(&[(BUSY, 20.0), (L1, 40.0)]);
        let draft = assert_sides(
            &RULE,
            &busy,
            &[
                &[(BUSY, 19.9)],
                &[("sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed", 41.0)],
                // Half of the wavefronts are conflicts: the rest is 10%.
                &[("memory_l1_wavefronts_shared", 2.0), ("memory_l1_wavefronts_shared_ideal", 1.0)],
            ],
        );
        assert!((draft.effect.share_of(Term::L1Data) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn wavefronts_that_neither_load_nor_store_are_named() {
        let mut sweep = launch(&[(BUSY, 57.0), (ALL, 1000.0), (PARTS[0], 70.0), (PARTS[1], 70.0)]);
        let counters = SourceCounters {
            wavefronts_shared: 10.0,
            ..samples(&[(StallReason::ShortScoreboard, 8.0)])
        };
        sweep.lines = vec![
            line(42, "s[id] = v;", SourceCounters { wavefronts_shared: 10.0, ..samples(&[]) }),
            line(43, "if (id < w) s[id] += s[id+w];", counters),
        ];
        let draft = check(&RULE, &sweep).unwrap();
        assert!(
            draft.message.contains("860 of 1,000 shared-memory wavefronts (86%)"),
            "{}",
            draft.message
        );
        assert_eq!(draft.locations[0].line, 43);
        assert!(draft.hint.contains("line 43") && draft.hint.contains("__shfl_down_sync"));
    }

    #[test]
    fn dense_use_gets_another_hint() {
        let tile = launch(&[(BUSY, 57.0), (ALL, 1000.0), (PARTS[0], 900.0), (PARTS[1], 90.0)]);
        let draft = check(&RULE, &tile).unwrap();
        assert!(draft.hint.contains("registers"), "{}", draft.hint);
        assert!(!draft.message.contains("predicated"));
    }

    #[test]
    fn a_sweep_takes_its_barriers_along_and_dense_use_only_its_accesses_stalls() {
        let stalls = || samples(&[(StallReason::Wait, 4.0), (StallReason::Barrier, 4.0)]);
        let shared = || SourceCounters { wavefronts_shared: 10.0, ..stalls() };
        let effect = |loads: f64| {
            let metrics = [(BUSY, 57.0), (ALL, 1000.0), (PARTS[0], loads), (PARTS[1], 0.0)];
            let mut launch = launch(&metrics);
            // One line, whose access has a quarter of the waits of its four instructions.
            launch.lines = vec![line(43, "v += s[id];", shared())];
            launch.instructions = vec![
                line(43, "LDS R1, [R2]", shared()),
                line(43, "FADD R0, R0, R1", stalls()),
                line(43, "FADD R0, R0, R3", stalls()),
                line(43, "FADD R0, R0, R4", stalls()),
            ];
            check(&RULE, &launch).unwrap().effect
        };
        let (sweep, dense) = (effect(140.0), effect(900.0));
        let share = |effect: &Effect, reason| effect.share_of_stall(reason);
        assert!((share(&sweep, StallReason::Wait) - 1.0).abs() < 1e-12, "its whole line");
        assert!((share(&sweep, StallReason::Barrier) - 1.0).abs() < 1e-12);
        assert!((share(&dense, StallReason::Wait) - 0.25).abs() < 1e-12, "the access alone");
        assert!(share(&dense, StallReason::Barrier).abs() < 1e-12);
        for effect in [&sweep, &dense] {
            assert!((share(effect, StallReason::ShortScoreboard) - 1.0).abs() < 1e-12);
        }
    }
}
