//! Registers spill to local memory.

use crate::evidence::local_memory;
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::locations;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::{Evidence, Location};
use crate::frame::Reads;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, Trial};
use crate::sass::questions::saved_registers;
use crate::sass::{Family, Space};
use crate::term::Term;
use crate::text::{count, percent};

const SPILLS: &str = "sass__inst_executed_register_spilling";
const EXECUTED: &str = "smsp__inst_executed.sum";

const SHARED: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
const TAGS: &str = "memory_l1_tag_requests_global";
const LOCAL_ACCESSES: [&str; 2] = [
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
];
const GLOBAL_ACCESSES: [&str; 2] = [
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
];

/// Spill instructions of all executed ones, percent.
const LEAST_SPILLS_PERCENT: f64 = 1.25;

/// The part of the spills that functions must save for their callers, to be named for it.
const MOSTLY_SAVED: f64 = 0.5;

/// The rule.
pub const RULE: Rule = Rule {
    name: "register-spilling",
    kind: Kind::Cause,
    summary: "registers spill to local memory",
    explanation: "\
A thread that needs more registers than it may use keeps some values in local memory. Each use \
then costs a store or a load through L1 and, where L1 does not hold the values, through L2 and \
DRAM. Limits on registers (__launch_bounds__, maxrregcount), large unrolled bodies and many live \
values cause it. Functions that are called and not inlined cause it too: they save the registers that their \
caller may be using. As long as L1 holds the spilled values, the cost is small. Raise the limit, \
unroll less, shorten the lifetimes of values, or split the kernel.",
    examples: &[Example {
        fault: "\
// 2048 threads per SM leave 32 registers per thread: the 19 populations of
// a lattice cell, their moments and their addresses do not fit
__global__ void __launch_bounds__(1024, 2) collide(float *f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;",
        repair: "\
// 1024 threads per SM leave 64
__global__ void __launch_bounds__(256, 4) collide(float *f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;",
        note: "\
With twice the registers per thread nothing spills, at half the occupancy.",
    }],
    section: "SourceCounters",
    thresholds: &[
        Threshold {
            what: "spill instructions, share of all executed, at least",
            value: LEAST_SPILLS_PERCENT,
            unit: "%",
            source: "derivation: the load/store unit accepts one instruction while the schedulers \
                     issue four, so 1.25% of the instructions take 5% of its time, which is the noise \
                     of the counters",
        },
        Threshold {
            what: "share of them that called functions save for their callers, for the hint to be about calls, at \
                   least",
            value: MOSTLY_SAVED,
            unit: "share",
            source: "definition: as much as the rest",
        },
    ],
    needs: &[SPILLS, EXECUTED],
    sharpened_by: &[
        Reads::only_where(
            |launch| launch.get(SPILLS).is_some_and(|spills| spills > 0.0),
            &[
                LOCAL_ACCESSES[0],
                LOCAL_ACCESSES[1],
                GLOBAL_ACCESSES[0],
                GLOBAL_ACCESSES[1],
                SHARED,
                TAGS,
            ],
        ),
        local_memory::TO_L2,
        local_memory::BY_HIT_RATE,
    ],
    trials: &[Trial::AllRegisters, Trial::Carveout(0), Trial::Tunables],
    said_by_ncu: &[
        // Local memory is laid out by thread: a partly used sector there means that there is local traffic.
        SaidByNcu::with("MemoryCacheAccessPattern", &["for local"], Acts::MEMORY),
        SaidByNcu::any(
            "LocalMemoryUsage",
            Acts::Units(&[Term::L1Data, Term::Lsu, Term::L2, Term::L2Requests, Term::Issue]),
        ),
    ],
    explains: &["lg-throttle", "long-scoreboard-stalls", "issue-slots-underused"],
    in_triton: "\
double num_warps, or halve one side of the tile (BLOCK_M, BLOCK_N).",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let (counted, executed) = (launch.need(SPILLS), launch.need(EXECUTED));
    let saved = launch.profile.listing().map(|listing| (saved_registers::saved(&listing), listing));
    let of_calls = saved
        .as_ref()
        .map_or(0.0, |(saved, listing)| saved.iter().map(|&at| listing.executed(at)).sum::<f64>());
    // Whether a compiler notes these as spilled is its own affair.
    let spills = counted.max(of_calls);
    let share = spills / executed;
    let counts = 100.0 * share >= LEAST_SPILLS_PERCENT;
    if !counts {
        return None;
    }
    let evidence =
        vec![Evidence::new(SPILLS, counted, "inst"), Evidence::new(EXECUTED, executed, "inst")];
    let effect = effect(launch, spills, share);
    if let Some((saved, listing)) = saved.filter(|_| of_calls >= MOSTLY_SAVED * spills) {
        let weight =
            |at: usize| if saved.binary_search(&at).is_ok() { listing.executed(at) } else { 0.0 };
        let locations = locations(launch, listing, weight, "saved registers");
        return Some(around_calls(of_calls, executed, evidence, locations, effect));
    }
    let locations = launch.profile.top_places(3, "local sectors", |line| line.l2_sectors_local);
    let registers = launch
        .quote("launch__registers_per_thread")
        .map_or_else(String::new, |each| format!(" A thread has {} registers.", count(each)));
    Some(Draft {
        message: format!(
            "{} of {} executed instructions ({}) store registers to local memory or load them \
             back.{registers}",
            count(spills),
            count(executed),
            percent(share),
        ),
        evidence,
        hint: format!(
            "Allow each thread more registers (drop maxrregcount or the second argument of __launch_bounds__), \
             or use fewer at {}: unroll less, or recompute values instead of keeping them.",
            place(&locations, "the loop with the most live values"),
        ),
        locations,
        effect,
    })
}

/// What is said of registers that called functions save.
fn around_calls(
    saved: f64,
    executed: f64,
    mut evidence: Vec<Evidence>,
    locations: Vec<Location>,
    effect: Effect,
) -> Draft {
    evidence.push(Evidence::new(
        "executed accesses that save registers for a caller",
        saved,
        "inst",
    ));
    Draft {
        message: format!(
            "{} of {} executed instructions ({}) save registers in local memory at the beginning of a called function, \
             or bring them back at its end.",
            count(saved),
            count(executed),
            percent(saved / executed),
        ),
        evidence,
        hint: format!(
            "Let the compiler inline the function at {}: define it in the kernel's file or in a header \
             (__forceinline__), or link with -dlto. Functions of other files that are compiled with -dc can't be \
             inlined, and each call of one saves and restores the registers that its caller may be using.",
            place(&locations, "the hottest spot"),
        ),
        locations,
        effect,
    }
}

/// The instructions go from the schedulers, the load/store unit and L1's pipe (a wavefront for each request at least),
/// and local memory's part of the stalls with them.
fn effect(launch: &ModeledLaunch, spills: f64, share: f64) -> Effect {
    let sum = |names: [&str; 2]| names.iter().filter_map(|name| launch.get(name)).sum::<f64>();
    let (local, global) = (sum(LOCAL_ACCESSES), sum(GLOBAL_ACCESSES));
    let shared = launch.get(SHARED).unwrap_or(0.0);
    let tags = launch.get(TAGS).unwrap_or(global);
    let is_local =
        |family| matches!(family, Family::Load(Space::Local) | Family::Store(Space::Local));
    let instructions = launch.profile.mix().map_or(0.0, |mix| mix.sum(is_local));
    // Wide accesses are several requests each, so that instructions are held against instructions.
    let of_local = match (instructions > 0.0, local > 0.0) {
        (true, _) => (spills / instructions).min(1.0),
        (false, true) => (spills / local).min(1.0),
        (false, false) => 1.0,
    };
    let requests = if local > 0.0 { of_local * local } else { spills };
    let memory = requests + global + shared;
    // Of the waits for memory, and of those in front of their queue, requests have their part.
    let of_stalls = if local + global > 0.0 { (requests / (local + global)).min(1.0) } else { 0.0 };
    let mut removed = vec![(Term::Issue, share), (Term::Lsu, requests / memory)];
    removed.push((Term::L1Data, requests / (requests + tags + shared)));
    removed.extend(local_memory::l2(launch, of_local));
    Effect {
        removed,
        stalls: vec![
            (StallReason::LgThrottle, of_stalls),
            (StallReason::LongScoreboard, of_stalls),
        ],
        ..Effect::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, check, launch, sass};

    #[test]
    fn a_fraction_of_the_load_store_slots_counts() {
        let spilling = launch(&[(SPILLS, 12.5), (EXECUTED, 1000.0)]);
        assert_sides(&RULE, &spilling, &[&[(SPILLS, 12.4)], &[(SPILLS, 0.0), (EXECUTED, 0.0)]]);
    }

    #[test]
    fn wide_spills_are_several_requests_each() {
        let metrics = [
            (SPILLS, 10.0),
            (EXECUTED, 40.0),
            (LOCAL_ACCESSES[0], 20.0),
            (GLOBAL_ACCESSES[0], 20.0),
            ("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", 300.0),
            ("l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_miss.sum", 0.0),
            ("lts__t_sectors_srcunit_tex.sum", 400.0),
        ];
        let code = [
            ("LDL.64 R4, [R1]", 10.0),
            ("LDG.E R8, desc[UR4][R2.64]", 20.0),
            ("FADD R6, R4, R8", 10.0),
            ("EXIT", 10.0),
        ];
        let effect = check(&RULE, &sass(&metrics, &code)).map(|draft| draft.effect).unwrap();
        assert!((effect.share_of(Term::Lsu) - 0.5).abs() < 1e-12, "{effect:?}");
        assert!((effect.share_of(Term::L2) - 0.75).abs() < 1e-12, "all that is local is spilled");
        assert!((effect.share_of_stall(StallReason::LongScoreboard) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn local_requests_take_their_part_of_the_stalls() {
        let spilling = launch(&[
            (SPILLS, 100.0),
            (EXECUTED, 1000.0),
            ("l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", 100.0),
            ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 300.0),
        ]);
        let effect = check(&RULE, &spilling).map(|draft| draft.effect).unwrap();
        assert!((effect.share_of(Term::Lsu) - 0.25).abs() < 1e-12);
        assert!((effect.stalls[0].1 - 0.25).abs() < 1e-12);
    }
}
