//! The same data is fetched again and again through L1 or L2.

mod block_order;
mod removed;
mod repeated;
mod second_reading;
mod tile_order;

use std::cell::LazyCell;

use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, place};
use crate::evidence::products::one_matrix_product;
use crate::evidence::removal::{ADDRESSING, MATTERS_LIMIT};
use crate::evidence::threshold::{
    LATENCY, REGISTER_TILE, REGISTER_TILE_LIMIT, STALL_SHARE, STALL_SHARE_LIMIT,
};
use crate::evidence::{Draft, ModeledLaunch, Threshold, alike};
use crate::export::SourceRow;
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::SECTOR_BYTES;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::{Example, Kind, Rule, Trial};
use crate::sass::questions::matrix_loops::{operand_loads, staged};
use crate::sass::{Family, Listing, Space};
use crate::term::Term;
use crate::text::{bytes, count, percent};
use removed::{instructions, l2_hit_share, look_ups_of_loads, needed_by_loads, of_loads_in_l1};
use repeated::{Gathers, SharedLoads, by_data, cached_loads};

const SECTORS: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
const IDEAL: &str = "memory_l2_theoretical_sectors_global_ideal";
const READ: &str = "dram__bytes_read.sum";
const WRITTEN: &str = "dram__bytes_write.sum";

const SHARED: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
const LOADS: &str = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
const EXECUTED: &str = "smsp__inst_executed.sum";
const LONG: &str = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
const HIT_RATE: &str = "l1tex__t_sector_hit_rate.pct";
const L2_ALL: &str = "lts__t_sectors.sum";
const L2_ASKED: &str = "lts__t_sectors_srcunit_tex.sum";
const L2_MISSED: &str = "lts__t_sectors_srcunit_tex_lookup_miss.sum";

/// How often an average byte is asked for.
const REUSE: f64 = 1.5;

/// From when the hint begins with loads that all threads of a block do alike.
const MOSTLY_ALIKE: Threshold = Threshold {
    what: "share of the executed loads that ask for the same address in all threads of a block, for the hint to begin \
           with them, more than",
    value: 0.5,
    unit: "share",
    source: "definition: most of them",
};

/// How much of the repeated loads' cost a change really takes away.
const REACHED: Threshold = Threshold {
    what: "constant: what changes take away, of what goes if a register tile serves all repeated loads",
    value: 0.63,
    unit: "share",
    source: "measured: 45 changes that this rule asked for in other people's programs took away 0.63 of it in the median (quartiles 0.19 \
             and 1.48): tiles cost registers and threads, and are rarely as large",
};

/// The share of a unit's work from which the loads count as the cause of it.
const OWN_SHARE: f64 = 0.5;

/// The busy share of the units that serve a hit in L1, below which they have room.
const ROOM: f64 = 0.5;

/// The part of the repeated sectors from which L1 holds them.
const IN_L1: f64 = 0.5;

/// The share of loaded sectors at loaded addresses from which the reuse depends on the data.
const BY_DATA: f64 = 0.5;

/// The rule.
pub const RULE: Rule = Rule {
    name: "missing-data-reuse",
    kind: Kind::Cause,
    summary: "the same data is fetched again and again",
    explanation: "\
Loads of data that neighbouring threads or other blocks have loaded before hit in L1 or L2. That \
spares DRAM, but not the load instructions, L1's pipe, L2's bandwidth or the latency. The rule \
compares the bytes that loads ask for with the bytes read from DRAM, which stand for the distinct \
data, and fires where the units that serve loads are the busiest or warps wait for data. Load a \
tile once and use it for several results: in registers first, since shared memory uses the same \
pipe as L1 hits. Let a block compute several outputs, or turn repeated matrix-vector products \
into one matrix product. In another form of the fault a loop reads rows that an earlier loop has read, so long ago \
that no cache still holds them: DRAM delivers them twice, and one pass, or a row kept on the SM, saves half \
of the bytes. Where a cache holds them still, threads that load again behind a barrier what they have had in registers wait for it \
again, and a part comes from DRAM all the same. In a matrix product on the tensor units, blocks that run at once and lie along one row of tiles share \
little of what they ask for: with W blocks at once, a square of tiles would need only 1/√W of that from DRAM. Likewise, \
blocks that load the same rows but are far apart in the grid's order fetch them from DRAM again each time.",
    examples: &[
        Example {
            fault: "\
float d = 0.0f;
for (int k = 0; k < dim; ++k) {           // two loads per difference
    float x = query[k * queries + q] - ref[k * refs + r];
    d = fmaf(x, x, d);
}
distance[q * refs + r] = d;",
            repair: "\
float d[4] = {};
for (int k = 0; k < dim; ++k) {           // five loads per four differences
    float y = ref[k * refs + r];
    for (int j = 0; j < 4; ++j) {
        float x = query[k * queries + q + j] - y;
        d[j] = fmaf(x, x, d[j]);
    }
}
for (int j = 0; j < 4; ++j) distance[(q + j) * refs + r] = d[j];",
            note: "\
A thread takes four queries: each reference value is loaded once and used four times from a \
register; the grid shrinks to a quarter.",
        },
        Example {
            fault: "\
float most = -FLT_MAX, sum = 0.0f;
for (int i = t; i < n; i += blockDim.x) most = fmaxf(most, row[i]);
most = block_max(most);
for (int i = t; i < n; i += blockDim.x) sum += expf(row[i] - most);",
            repair: "\
float most = -FLT_MAX, sum = 0.0f;
for (int i = t; i < n; i += blockDim.x) {
    float x = row[i], more = fmaxf(most, x);
    sum = sum * expf(most - more) + expf(x - more);
    most = more;
}",
            note: "\
Each thread rescales its sum when its maximum grows, so that a row is read once; the threads' pairs of maximum \
and sum are combined at the end in the same way.",
        },
    ],
    section: "MemoryWorkloadAnalysis_Tables",
    thresholds: &[
        Threshold {
            what: "bytes that loads ask for, divided by bytes read from DRAM, at least",
            value: REUSE,
            unit: "",
            source: "derivation: a tile with a halo of one element on each side asks for ((n + \
                     2)/n)² times its data, which is below 1.5 from n = 9 on and no fault",
        },
        Threshold {
            what: "share of the busiest unit's work that the fault causes (all global accesses \
                   where the unit belongs to L1; elsewhere the repeated loads and their \
                   addressing), at least",
            value: OWN_SHARE,
            unit: "share",
            source: "definition: more than half of the unit's work",
        },
        STALL_SHARE_LIMIT,
        Threshold {
            what: "share of the repeated sectors that must hit in L1 for them to cost nothing, as long as L1's \
                   pipe, the load/store unit and the issue slots have room, at least",
            value: IN_L1,
            unit: "share",
            source: "definition: as much as the rest",
        },
        Threshold {
            what: "time for which each of these three units may be busy to count as having room, less than",
            value: ROOM,
            unit: "share",
            source: "derivation: a request waits U/(2(1 - U)) of a turn in front of a unit that is \
                     busy a share U of the time (M/D/1), which is half a turn at 0.5",
        },
        REGISTER_TILE_LIMIT,
        ADDRESSING,
        MATTERS_LIMIT,
        Threshold {
            what: "loaded sectors whose addresses were themselves loaded, which rules out a tile, less than",
            value: BY_DATA,
            unit: "share",
            source: "definition: as much as the rest",
        },
        second_reading::AGAIN,
        MOSTLY_ALIKE,
        REACHED,
    ],
    needs: &[SECTORS, READ],
    sharpened_by: &[
        Reads::always(&[SHARED, LATENCY, LONG, HIT_RATE, L2_ALL, L2_ASKED, L2_MISSED, WRITTEN]),
        BLOCKS_AT_ONCE,
        tile_order::ATOMICS,
        // Where the instructions don't tell.
        Reads::only_where(|launch| launch.listing().is_none(), &[IDEAL, LOADS, EXECUTED]),
    ],
    explains: &["long-scoreboard-stalls", "lg-throttle", "issue-slots-underused"],
    trials: &[Trial::Carveout(0), Trial::LoadCaching("ca"), Trial::Tunables],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    repeated_loads(launch)
        .or_else(|| second_reading::check(launch))
        .or_else(|| tile_order::check(launch))
        .or_else(|| block_order::check(launch))
}

/// The change: where most loads ask for the same in all threads, first what spares those.
fn hint(launch: &ModeledLaunch, at: &str) -> String {
    let share = alike::share_of_loads(launch);
    let for_several = format!(
        "for several results before loading it again: let a thread or block compute several outputs (register tile){}.",
        one_matrix_product(launch)
    );
    if share > MOSTLY_ALIKE.value {
        return format!(
            "Pass as arguments what all threads of a block load alike at {at} ({} of the loads), such as sizes and strides, or \
             declare it __constant__ if the host alone writes it and it takes 64 kB at most. Use each other value {for_several}",
            percent(share)
        );
    }
    format!("Use each value that {at} loads {for_several}{}", alike::advice_on_loads(launch))
}

/// The finding where caches deliver what was fetched before.
fn repeated_loads(launch: &ModeledLaunch) -> Option<Draft> {
    let (sectors, read) = (launch.need(SECTORS), launch.need(READ));
    // No more than this is asked for: the instructions need not be read where it is too little.
    if !(read > 0.0 && SECTOR_BYTES * sectors / read >= REUSE) {
        return None;
    }
    // Of matrix products the tile of a warp tells how often an operand serves, and the order of the tiles.
    let multiplies = |listing: Listing| {
        operand_loads(&listing).is_some() || !staged(&listing).is_empty() || unrolled(&listing)
    };
    if launch.profile.listing().is_some_and(multiplies) {
        return None;
    }
    // Excess sectors of strided lanes are another fault; only what addresses need counts.
    let needed = needed_by_loads(launch).or_else(|| launch.get(IDEAL));
    let needed = needed.map_or(sectors, |needed| needed.min(sectors));
    if SECTOR_BYTES * needed / read < REUSE {
        return None;
    }
    let gathers = Gathers::of(launch);
    let asked = SECTOR_BYTES * (needed - gathers.sectors).max(0.0);
    if asked / read < REUSE {
        return None;
    }
    let repeated = 1.0 - read / asked;
    let needed_tags = look_ups_of_loads(launch, asked / SECTOR_BYTES, &gathers);
    let shared = launch.get(SHARED).unwrap_or(0.0);
    // The stores' look-ups stay beside those of the loads.
    let tags = needed_tags / of_loads_in_l1(launch).max(f64::MIN_POSITIVE);
    let l1_share = needed_tags / (tags + shared);
    let kept_in_registers = repeated.min(1.0 - 1.0 / REGISTER_TILE);
    let shared_loads = LazyCell::new(|| SharedLoads::of(launch));
    let arithmetic =
        LazyCell::new(|| instructions(launch, kept_in_registers, shared_loads.as_ref(), &gathers));
    let wait = launch.stall(StallReason::LongScoreboard);
    let waits = launch.get(LATENCY).is_some_and(|all| 100.0 * wait / all >= STALL_SHARE);
    let on_top = match launch.model.busiest() {
        Some((Term::L1Data | Term::Lsu, _)) => l1_share >= OWN_SHARE,
        Some((Term::L2 | Term::L2Requests, _)) => true,
        // The loads' addresses and the pointers that they start from.
        Some((term, _)) => !waits && arithmetic.share_of(term) >= OWN_SHARE,
        None => false,
    };
    if !(on_top || waits) || hits_cost_nothing(launch, asked - read) {
        return None;
    }
    if shared_loads.is_none() && by_data(launch) {
        return None;
    }
    let locations = match &*shared_loads {
        Some(loads) => loads.locations(launch),
        None => cached_loads(launch, repeated),
    };
    let on_lines = |row: &SourceRow| locations.iter().any(|at| launch.profile.is_at(row, at));
    let waits_share = match &*shared_loads {
        // One in so many results still waits for a load.
        Some(loads) => loads.waits_share.min(kept_in_registers),
        // Without lines, the repeated loads have their share of the waits at most.
        None if locations.is_empty() => repeated,
        None => launch.stall_on(StallReason::LongScoreboard, on_lines).min(repeated),
    };
    let lsu_share = l1_share * kept_in_registers;
    let l2_hits = l2_hit_share(launch) * asked / (SECTOR_BYTES * needed);
    let loads = if gathers.sectors > 0.0 { "Loads other than gathers" } else { "Loads" };
    let at = place(&locations, "the kernel");
    // A thread that computes several outputs leaves fewer for other threads. Where starting blocks takes longest, that is
    // a fault of its own, and loads are not the reason for it.
    let longest = launch.model.busiest().map(|(term, _)| term);
    let fewer_blocks = if longest == Some(Term::BlockScheduler) { 0.0 } else { kept_in_registers };
    Some(Draft {
        message: format!(
            "{loads} need {}, {} times the {} that come from DRAM: {} of what they fetch through L1 or L2 was \
             fetched before.",
            bytes(asked),
            times(asked / read),
            bytes(read),
            percent(repeated),
        ),
        evidence: vec![
            Evidence::new(SECTORS, sectors, "sector"),
            Evidence::new(READ, read, "byte"),
        ],
        hint: hint(launch, &at),
        effect: Effect {
            removed: [
                (Term::Issue, arithmetic.share_of(Term::Issue)),
                (Term::Alu, arithmetic.share_of(Term::Alu)),
                (Term::Fma, arithmetic.share_of(Term::Fma)),
                (Term::Constant, arithmetic.share_of(Term::Constant)),
                (Term::L1Data, lsu_share),
                (Term::Lsu, lsu_share),
                (Term::L2, l2_hits),
                (Term::L2Requests, l2_hits),
                (Term::BlockScheduler, fewer_blocks),
            ]
            .map(|(term, share)| (term, REACHED.value * share))
            .to_vec(),
            stalls: vec![(StallReason::LongScoreboard, REACHED.value * waits_share)],
            ..Effect::default()
        },
        locations,
    })
}

/// True where most of the repeated bytes hit in L1 and all that serves a hit has room: broadcasts to
/// warps that run side by side, and lines that neighbours have just fetched.
fn hits_cost_nothing(launch: &ModeledLaunch, repeated_bytes: f64) -> bool {
    let Some(rate) = launch.get(HIT_RATE) else { return false };
    let hits = SECTOR_BYTES * launch.need(SECTORS) * rate / 100.0;
    let busy = |term: &Term| launch.model.utilization(*term).is_some_and(|busy| busy >= ROOM);
    hits >= IN_L1 * repeated_bytes && ![Term::L1Data, Term::Lsu, Term::Issue].iter().any(busy)
}

/// True for a matrix product whose loop is unrolled: matrix instructions outside of loops, with copies of their operands to shared
/// memory beside them.
fn unrolled(listing: &Listing) -> bool {
    let outside = |families: &[Family]| {
        listing.entries().any(|(at, entry)| {
            let is_there = families.contains(&entry.family) && listing.executed(at) > 0.0;
            is_there && listing.sass.flow.innermost(at).is_none()
        })
    };
    outside(&[Family::Tensor]) && outside(&[Family::AsyncCopy, Family::Store(Space::Shared)])
}

/// A ratio with a decimal where that tells something: `3.2`, `16,657`.
fn times(ratio: f64) -> String {
    if ratio < 100.0 { format!("{ratio:.1}") } else { count(ratio) }
}

#[cfg(test)]
mod tests;
