//! An array that is indexed at run time lives in local memory.

use crate::evidence::local_memory;
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{RATES, Removal, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::{Evidence, Location};
use crate::frame::Reads;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, SourcePage, Trial};
use crate::sass::flow::slice;
use crate::sass::questions::arrays;
use crate::sass::{Family, Space};
use crate::term::Term;
use crate::text::{count, percent};

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
shared memory with one column per thread, or pack a small one into the bits of an integer.",
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
        local_memory::TO_L2,
        local_memory::BY_HIT_RATE,
        RATES,
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

/// The accesses and where they are.
struct Found {
    accesses: f64,
    locations: Vec<Location>,
    removal: Effect,
}

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let executed = launch.need(EXECUTED);
    let found = by_address(launch).or_else(|| by_counters(launch))?;
    let share = found.accesses / executed;
    let counts = 100.0 * share >= LEAST_ACCESSES_PERCENT;
    if !counts {
        return None;
    }
    let locations = found.locations;
    Some(Draft {
        message: format!(
            "{} of {} executed instructions ({}) access an array in local memory, because its \
             index is known only at run time.",
            count(found.accesses),
            count(executed),
            percent(share),
        ),
        evidence: vec![
            Evidence::new("executed accesses to local arrays", found.accesses, "inst"),
            Evidence::new(EXECUTED, executed, "inst"),
        ],
        hint: format!(
            "Make the index at {} known at compile time (fully unroll the loop around it, or select by \
             comparisons), or move the array to shared memory with the thread as the fastest index. That takes \
             4 bytes per thread and element, which may limit the resident blocks.",
            place(&locations, "the hottest spot"),
        ),
        locations,
        effect: found.removal,
    })
}

/// From the SASS: local accesses with a computed address, and with them the array's others, which
/// are all that spill no register.
fn by_address(launch: &ModeledLaunch) -> Option<Found> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let is_local = |index: usize| {
        matches!(
            listing.sass.entries[index].family,
            Family::Load(Space::Local) | Family::Store(Space::Local)
        )
    };
    let is_computed =
        |index: usize| is_local(index) && listing.sass.entries[index].computed_address;
    let sum = |pick: &dyn Fn(usize) -> bool| -> f64 {
        listing
            .entries()
            .map(|(at, _)| at)
            .filter(|&at| pick(at))
            .map(|at| listing.executed(at))
            .sum()
    };
    let (local, computed) = (sum(&is_local), sum(&is_computed));
    if local <= 0.0 {
        let (locations, removal) = (Vec::new(), Effect::default());
        return Some(Found { accesses: 0.0, locations, removal });
    }
    let fixed = local - computed;
    let spills = launch.get(SPILLS).unwrap_or(fixed);
    // The compiler knows the index of some accesses of the array, such as those that clear it.
    let of_fixed = if fixed > 0.0 { ((fixed - spills) / fixed).clamp(0.0, 1.0) } else { 0.0 };
    let of_fixed = if computed > 0.0 { of_fixed } else { 0.0 };
    for (index, _) in listing.entries() {
        if is_computed(index) {
            removal.remove_but_l1(index, 1.0);
        } else if is_local(index) {
            removal.remove_but_l1(index, of_fixed);
        }
    }
    // Few elements lie in registers, which are chosen among.
    let elements = if computed > 0.0 { arrays::elements(&listing) } else { Vec::new() };
    for (index, elements) in elements {
        if elements > 0.0 && elements <= CHOSEN_AMONG {
            let is_load = matches!(listing.sass.entries[index].family, Family::Load(_));
            let choices = if is_load { elements - 1.0 } else { elements };
            removal.add(Term::Alu, choices * listing.executed(index));
        }
    }
    // An index that the compiler knows takes no arithmetic.
    let beside = removal.beside(is_computed);
    let work = slice::work(&listing);
    for (index, _) in listing.entries() {
        if beside[index] && !work[index] && !is_local(index) {
            removal.remove_but_l1(index, 1.0);
        }
    }
    let weight = |at: usize| if is_computed(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "accesses to local arrays");
    let accesses = computed + of_fixed * fixed;
    let mut effect = removal.effect(launch);
    effect.removed.extend(memory(launch, accesses, accesses / local));
    Some(Found { accesses, locations, removal: effect })
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
        locations: launch.profile.top_lines(3, "local sectors", |line| line.l2_sectors_local),
        removal: Effect {
            removed,
            stalls: vec![(StallReason::LgThrottle, stalls), (StallReason::LongScoreboard, stalls)],
            ..Effect::default()
        },
    })
}

/// What goes from the L1 data pipe, a wavefront an access at least, and from L2, where `of_local` is
/// the part of all local accesses that goes (0 to 1).
fn memory(launch: &ModeledLaunch, accesses: f64, of_local: f64) -> Vec<(Term, f64)> {
    let others = launch.get(TAGS).unwrap_or(0.0) + launch.get(SHARED).unwrap_or(0.0);
    let mut removed = crate::evidence::local_memory::l2(launch, of_local);
    if accesses > 0.0 {
        removed.push((Term::L1Data, accesses / (accesses + others)));
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;
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
}
