//! An array that is indexed at run time lives in local memory.

mod by_address;
mod found;
mod home;
mod words;

use crate::evidence::local_memory;
use crate::evidence::removal::{CYCLES, RATES};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, SourcePage, Trial};
use crate::term::Term;
use by_address::by_address;
use found::{Found, memory};
use home::{CHOSEN_BY_DATA, REGISTERS_HOLD, ROOM};

/// Instructions that spill registers: local accesses that are no array's.
pub const SPILLS: &str = "sass__inst_executed_register_spilling";
const EXECUTED: &str = "smsp__inst_executed.sum";
const LOADS: &str = "smsp__sass_inst_executed_op_local_ld.sum";
const STORES: &str = "smsp__sass_inst_executed_op_local_st.sum";
const SHARED: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
const TAGS: &str = "memory_l1_tag_requests_global";

const GLOBAL_ACCESSES: [&str; 2] = [
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
];

/// Accesses to the array of all executed instructions, percent.
const LEAST_ACCESSES_PERCENT: f64 = 1.25;

/// Elements of an array up to which its accesses become choices among registers: one for each element but
/// the last to load, one for each to store. An access to memory takes the load/store unit for as long as four
/// instructions take the schedulers; longer arrays are better off in shared memory or with an index that the
/// compiler knows.
const CHOSEN_AMONG: f64 = 4.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "local-memory-array",
    kind: Kind::Cause,
    summary: "an array indexed at run time lives in local memory",
    explanation: "\
Registers can't be indexed. An array inside a thread can live in registers only if every index is \
known at compile time; a single index that is not sends the whole array to local memory, and each \
access becomes a load or store through L1, in which each lane has its own copy of the array. \
Unlike accesses to spilled registers, these compute their addresses when the kernel runs. Unroll \
the loop that indexes the array, select among a few registers by comparisons, keep the array in \
shared memory with one column per thread, or pack a small one into the bits of an integer. \
Where the machine code tells the array's size, the rule offers only what can hold it; an array that \
fits neither a thread's registers nor, for all threads of a block, the SM's shared memory has no \
estimate, because only a smaller one would help. A table of constants is built by every thread anew \
if it is declared inside the kernel: declare it at file scope.",
    examples: &[Example {
        fault: "\
float last[16] = {}, sum = 0.0f;
for (int k = 0; k < steps; ++k) {
    float x = in[k * n + i];
    sum += x - last[k % 16];               // index known only at run time
    last[k % 16] = x;
    mean[k * n + i] = 0.0625f * sum;
}",
        repair: "\
float last[16] = {}, sum = 0.0f;
for (int first = 0; first < steps; first += 16)
    #pragma unroll
    for (int k = 0; k < 16; ++k) {        // 16 copies: every index known
        float x = in[(first + k) * n + i];
        sum += x - last[k];
        last[k] = x;
        mean[(first + k) * n + i] = 0.0625f * sum;
    }",
        note: "\
The unrolled inner loop knows every index when it is compiled, so that the ring of 16 values \
lives in registers; steps must be a multiple of 16.",
    }],
    section: "SourceCounters",
    thresholds: &[
        Threshold {
            what: "accesses to the array, share of all executed instructions, at least",
            value: LEAST_ACCESSES_PERCENT,
            unit: "%",
            source: "derivation: the load/store unit accepts one instruction while the schedulers \
                 issue four, so 1.25% of the instructions take 5% of its time, which is the noise \
                 of the counters",
        },
        Threshold {
            what: "bytes of an array per thread, for registers to be offered, at most",
            value: REGISTERS_HOLD,
            unit: "byte",
            source: "definition: a thread has at most 255 registers of 4 bytes",
        },
        Threshold {
            what: "constant: largest array of which comparisons choose an element that data decide on",
            value: CHOSEN_BY_DATA,
            unit: "element",
            source: "derivation: a choice among registers takes an instruction per element, and a load that hits L1 about \
                     33 cycles (Luo et al., Dissecting the NVIDIA Hopper Architecture, 2024)",
        },
        Threshold {
            what: "constant: largest array for which the estimate selects among registers instead",
            value: CHOSEN_AMONG,
            unit: "element",
            source: "derivation: a memory access takes the load/store unit as long as four \
                     instructions take the schedulers",
        },
    ],
    needs: &[EXECUTED],
    sharpened_by: &[
        Reads::only_where(local_memory::has_local, &[SPILLS, SHARED, TAGS]),
        ROOM[0],
        ROOM[1],
        local_memory::TO_L2,
        local_memory::BY_HIT_RATE,
        RATES,
        CYCLES,
        // Where the instructions don't tell.
        Reads::only_where(
            |launch| launch.listing().is_none(),
            &[LOADS, STORES, GLOBAL_ACCESSES[0], GLOBAL_ACCESSES[1]],
        ),
    ],
    source_page: SourcePage::NeededWithout(SPILLS),
    trials: &[Trial::Carveout(0)],
    said_by_ncu: &[
        // Local memory is laid out by thread: a partly used sector there means that there is local traffic.
        SaidByNcu::with("MemoryCacheAccessPattern", &["for local"], Acts::MEMORY),
        SaidByNcu::any(
            "LocalMemoryUsage",
            Acts::Units(&[Term::L1Data, Term::Lsu, Term::L2, Term::L2Requests, Term::Issue]),
        ),
    ],
    explains: &["lg-throttle", "long-scoreboard-stalls", "issue-slots-underused"],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let executed = launch.need(EXECUTED);
    let found = by_address(launch).or_else(|| by_counters(launch))?;
    let share = found.accesses / executed;
    let counts = 100.0 * share >= LEAST_ACCESSES_PERCENT;
    if !counts {
        return None;
    }
    Some(Draft {
        message: words::message(&found, executed),
        evidence: vec![
            Evidence::new("executed accesses to local arrays", found.accesses, "inst"),
            Evidence::new(EXECUTED, executed, "inst"),
        ],
        hint: words::hint(&found),
        locations: found.locations,
        effect: found.removal,
    })
}

/// Without SASS: local accesses less those that spill registers.
fn by_counters(launch: &ModeledLaunch) -> Option<Found> {
    let accesses = (launch.get(LOADS)? + launch.get(STORES)? - launch.get(SPILLS)?).max(0.0);
    let global: f64 = GLOBAL_ACCESSES.iter().filter_map(|name| launch.get(name)).sum();
    let shared = launch.get(SHARED).unwrap_or(0.0);
    let requests = accesses + global + shared;
    let all = launch.get(LOADS)? + launch.get(STORES)?;
    let mut removed = memory(launch, accesses, if all > 0.0 { accesses / all } else { 0.0 });
    removed.push((Term::Issue, accesses / launch.need(EXECUTED)));
    let of = |all: f64| if all > 0.0 { (accesses / all).min(1.0) } else { 0.0 };
    removed.push((Term::Lsu, of(requests)));
    let stalls = of(accesses + global);
    Some(Found {
        accesses,
        locations: launch.profile.top_places(3, "local sectors", |line| line.l2_sectors_local),
        main: None,
        removal: Effect {
            removed,
            stalls: vec![(StallReason::LgThrottle, stalls), (StallReason::LongScoreboard, stalls)],
            ..Effect::default()
        },
    })
}

#[cfg(test)]
mod tests {
    use super::home::SHARED_OF_BLOCK;
    use super::*;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, check, launch, sass};

    #[test]
    fn computed_addresses_count_from_a_fraction_of_the_load_store_slots() {
        let code = [
            ("STL.128 [R1], RZ", 5.0),
            ("LDL R0, [R5]", 10.0),
            ("STL [R5], R0", 2.5),
            ("LDG.E R2, desc[UR4][R6.64]", 17.5),
        ];
        let array = sass(&[(EXECUTED, 1000.0), (TAGS, 52.5), (SPILLS, 0.0)], &code);
        let draft = assert_sides(&RULE, &array, &[&[(EXECUTED, 1401.0)]]);
        // 17.5 accesses, half of the load/store unit's 35, a quarter of 70 wavefronts.
        assert!((draft.effect.share_of(Term::Lsu) - 0.5).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::L1Data) - 0.25).abs() < 1e-12);
        assert_eq!(draft.locations[0].line, 2);
    }

    #[test]
    fn spills_are_another_fault() {
        let code = [("STL [R1+0x8], R0", 50.0), ("LDL R0, [R1+0x8]", 50.0)];
        let spilling = sass(&[(EXECUTED, 1000.0), (SPILLS, 100.0)], &code);
        assert_eq!(check(&RULE, &spilling), None);
        let unknown = sass(&[(EXECUTED, 1000.0)], &code);
        assert_eq!(check(&RULE, &unknown), None, "no counter of spills, no guess");
    }

    #[test]
    fn counters_tell_where_there_is_no_sass() {
        let counted = [(EXECUTED, 2000.0), (LOADS, 60.0), (STORES, 65.0), (SPILLS, 100.0)];
        let draft = assert_sides(&RULE, &launch(&counted), &[&[(SPILLS, 100.1)]]);
        assert!(draft.message.starts_with("25 of 2,000"), "{}", draft.message);
        let lacking = launch(&[(EXECUTED, 1000.0), (LOADS, 60.0), (STORES, 52.5)]);
        assert_eq!(check(&RULE, &lacking), None);
        assert_eq!(RULE.missing(&lacking), [crate::rules::SASS_PAGE]);
    }

    /// An array of so many bytes per thread, at which a loop reads and writes, in blocks of so many threads.
    fn sized(bytes: u32, threads: u32) -> Launch {
        let frame = format!("VIADD R1, R1, 0x{:x}", bytes.wrapping_neg());
        let code = [
            ("LDC R1, c[0x0][0x28]", 1.0),
            (frame.as_str(), 1.0),
            ("IMAD.IADD R5, R1, 0x1, R4", 100.0),
            ("LDL.U8 R0, [R5]", 100.0),
            ("STL.U8 [R5], R0", 100.0),
            ("@P0 BRA 0x120", 100.0),
            ("EXIT", 1.0),
        ];
        let mut launch = sass(&[(EXECUTED, 403.0), (SPILLS, 0.0)], &code);
        launch.row.compute_capability = Some((9, 0));
        launch.row.block = [threads, 1, 1];
        launch.set(SHARED_OF_BLOCK, Some(1024.0));
        launch.set("launch__occupancy_limit_warps", Some(f64::from(2048 / threads)));
        launch.set("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", Some(60.0));
        launch.set("l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_miss.sum", Some(40.0));
        launch.set("lts__t_sectors_srcunit_tex.sum", Some(200.0));
        launch
    }

    #[test]
    fn a_small_array_fits_registers_and_shared_memory() {
        let draft = check(&RULE, &sized(64, 256)).unwrap();
        assert!(draft.message.contains("an array of 64 bytes per thread"), "{}", draft.message);
        assert!(
            draft.hint.contains("line 4 known at compile time (fully unroll"),
            "{}",
            draft.hint
        );
        // 16 KiB and the system's KiB: 13 times in 228 KiB, where 8 blocks of 256 threads are full.
        assert!(draft.hint.contains("16.4 kB per block of 256 threads; 8 blocks fit on an SM, as"));
        assert!((draft.effect.share_of(Term::Lsu) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn shared_memory_is_offered_where_a_block_fits() {
        // 1000 bytes for each of 256 threads: 256 kB, where an SM has 233 kB.
        let registers = check(&RULE, &sized(1000, 256)).unwrap();
        assert!(registers.hint.contains("no room for the array"), "{}", registers.hint);
        assert!(registers.effect.share_of(Term::Lsu) > 0.99);
        // 1024 bytes are more than 255 registers; 65 KiB of 64 threads fit three times.
        let shared = check(&RULE, &sized(1024, 64)).unwrap();
        assert!(shared.hint.starts_with("Move the array at line 4 to shared"), "{}", shared.hint);
        assert!(shared.hint.contains("3 blocks fit on an SM instead of 32"), "{}", shared.hint);
        // Its accesses remain instructions, and a wavefront each; half of what L2 has to do is theirs.
        assert!(shared.effect.share_of(Term::Lsu) < 1e-12 && shared.effect.added.is_empty());
        assert!(shared.effect.share_of(Term::L1Data) < 1e-12);
        assert!((shared.effect.share_of(Term::L2) - 0.5).abs() < 1e-12);
        assert!((shared.effect.least - 1.0).abs() < 1e-12, "a tenth of the warps");
    }

    #[test]
    fn what_fits_nowhere_promises_nothing() {
        let large = check(&RULE, &sized(32_768, 256)).unwrap();
        assert_eq!(large.effect, Effect::default());
        assert!(large.hint.starts_with("Make the array at line 4 smaller:"), "{}", large.hint);
        assert!(!large.hint.contains("compile time"), "{}", large.hint);
        // On a device that is not known, shared memory may have room.
        let mut unknown = sized(32_768, 256);
        unknown.row.compute_capability = None;
        let unknown = check(&RULE, &unknown).unwrap();
        assert!(unknown.hint.starts_with("Move the array at line 4"), "{}", unknown.hint);
        assert!(unknown.effect.share_of(Term::Lsu) > 0.99);
    }

    #[test]
    fn a_table_that_every_thread_builds_is_to_be_built_once() {
        let table = |index: &str| {
            let address = format!("IMAD.IADD R5, R1, 0x1, {index}");
            let code = [
                ("LDC R1, c[0x0][0x28]", 10.0),
                ("VIADD R1, R1, 0xfffffff8", 10.0),
                ("S2R R8, SR_TID.X", 10.0),
                ("S2R R9, SR_CTAID.X", 10.0),
                ("MOV R0, 0x41", 10.0),
                ("STL.U8 [R1], R0", 10.0),
                ("STL.U8 [R1+0x1], RZ", 10.0),
                (address.as_str(), 10.0),
                ("LDL.U8 R5, [R5]", 10.0),
                ("EXIT", 10.0),
            ];
            check(&RULE, &sass(&[(EXECUTED, 100.0), (SPILLS, 0.0)], &code)).unwrap()
        };
        let own = table("R8");
        assert!(own.message.contains("constants, with 20 of these"), "{}", own.message);
        assert!(own.hint.starts_with("Don't build the table in every thread at line 6: declare"));
        assert!(own.hint.contains("Declare it as __constant__ only if"), "{}", own.hint);
        assert_eq!(own.locations.len(), 3, "where it is built and where it is read");
        assert!((own.effect.share_of(Term::Lsu) - 1.0).abs() < 1e-12);
        let alike = table("R9");
        assert!(alike.hint.contains("at file scope as static __constant__."), "{}", alike.hint);
    }
}
