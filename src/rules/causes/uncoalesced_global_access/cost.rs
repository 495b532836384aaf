//! Who pays for the excess, and what goes with it.

use std::collections::BTreeMap;

use super::layout::{Apart, Gathers, is_wide};
use super::{FROM_L1, LEAST_EXCESS, READ, REQUESTS, SHARED, TAGS, WRITTEN};
use crate::device::Quantity;
use crate::evidence::{ModeledLaunch, local_memory, look_ups};
use crate::export::SourceRow;
use crate::hardware::{SECTOR_BYTES, SECTORS_PER_LINE};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::term::Term;
use crate::text::{count, percent};

/// What goes with the excess, and a sentence on who pays for it now.
pub(super) fn cost(
    launch: &ModeledLaunch,
    sectors: f64,
    ideal: f64,
    gathers: &Gathers,
) -> (Effect, String) {
    let of_gathers = |counter: &dyn Fn(&SourceRow) -> f64| -> f64 {
        let rows = launch.profile.instructions.iter().filter(|row| gathers.has(row));
        rows.map(counter).sum()
    };
    // No other order of the lanes makes a gather dense; but what one index leads to may lie side by side.
    let gathered = of_gathers(&|row| {
        row.counters.l2_sectors_global * gathers.apart(row).map_or(1.0, Apart::sectors_left)
    });
    let dense = (ideal - of_gathers(&|row| row.counters.l2_sectors_global_ideal)).max(0.0)
        + gathers.begin_within();
    let ideal = (dense + gathered).min(sectors).max(ideal);
    let mut removed = Vec::new();
    let mut payers = Vec::new();
    let mut tag_share = 0.0_f64;
    if let Some((share, tags, needed)) = l1_share(launch, ideal, gathers) {
        tag_share = (1.0 - needed / tags.max(1.0)).clamp(0.0, 1.0);
        removed.push((Term::L1Data, share));
        if share > 0.0 {
            payers.push(format!(
                "L1 looks up {} lines instead of {}, and the excess is {} of its data pipe's work",
                count(tags),
                count(needed),
                percent(share),
            ));
        }
    }
    // Excess that L1 serves from its own lines never reaches L2, nor DRAM behind it.
    let from_l1 = launch.get(FROM_L1);
    let local = local_share(launch);
    let l2_share =
        from_l1.map_or(1.0 - ideal / sectors, |seen| (1.0 - local - ideal / seen).max(0.0));
    if l2_share > 0.0 {
        // Sectors that cross between the halves of L2 go with those that L1 asks for.
        removed.push((Term::L2, l2_share));
        // DRAM moves excess at least where it moves more than all addresses need; what lies below
        // that may as well be data fetched once, its excess hits in L2.
        let moved = launch.get(READ).zip(launch.get(WRITTEN));
        // Scattered sectors come with a neighbour that nobody asked for, which goes with them.
        let at_most = |moved: f64| {
            let brings_more = from_l1.is_some_and(|seen| moved > SECTOR_BYTES * seen);
            if brings_more { 1.0 } else { l2_share }
        };
        let dram_share = moved
            .map(|(read, written)| read + written)
            .filter(|&moved| moved > 0.0)
            .map_or(l2_share, |moved| {
                (1.0 - SECTOR_BYTES * ideal / moved).clamp(0.0, at_most(moved))
            });
        removed.push((Term::Dram, dram_share));
    }
    // A dense request brings its sectors four at a time.
    let requests = launch.get(REQUESTS).filter(|&requests| requests > 0.0);
    let request_share = requests
        .map(|requests| 1.0 - local - (dense / SECTORS_PER_LINE + gathered) / requests)
        .map(|share| share.clamp(0.0, 1.0))
        .filter(|_| l2_share >= LEAST_EXCESS)
        .unwrap_or(l2_share);
    if request_share > 0.0 {
        removed.push((Term::L2Requests, request_share));
    }
    let l2_pays = l2_share >= LEAST_EXCESS;
    if l2_pays {
        payers.push(format!("{} of what L1 asks of L2 is excess", percent(l2_share)));
    }
    let payer = match (payers.is_empty(), l2_pays) {
        (true, _) if gathered > 0.0 => {
            "Another order of the threads would spare none of it.".to_owned()
        }
        (true, _) => "L1 holds the excess: it costs little.".to_owned(),
        (false, true) => format!("The cost: {}.", payers.join("; ")),
        (false, false) => format!("The cost is in L1, not L2: {}.", payers.join("; ")),
    };
    (
        Effect {
            removed,
            stalls: stalls(launch, request_share.max(tag_share), ideal, gathers),
            ..Effect::default()
        },
        payer,
    )
}

/// The part of what L1 asks of L2 that is local memory's, of sectors and of requests alike (0 to 1): no order of
/// global accesses spares it.
fn local_share(launch: &ModeledLaunch) -> f64 {
    if !local_memory::has_local(launch.profile) {
        return 0.0;
    }
    let local = local_memory::beyond_l1(launch).map_or(0.0, |(stored, missed)| stored + missed);
    let seen = launch.get(FROM_L1).filter(|&seen| seen > 0.0);
    seen.map_or(0.0, |seen| (local / seen).min(1.0))
}

/// A load returns with its last sector, and the lines that it touches are asked for one after another,
/// so waits shrink with the look-ups in L1 and the requests that L2 no longer sees: those for loads with
/// excess, those for a place in the queue that such accesses fill, and those of dense loads that find L1
/// busy with the look-ups of others, through which all of them go in turn.
fn stalls(
    launch: &ModeledLaunch,
    goes: f64,
    ideal: f64,
    gathers: &Gathers,
) -> Vec<(StallReason, f64)> {
    if goes <= 0.0 {
        return Vec::new();
    }
    let excess =
        |row: &SourceRow| is_wide(row) && (!gathers.has(row) || gathers.apart(row).is_some());
    let waits = match launch.profile.listing() {
        Some(listing) => {
            let waits = listing.blame(StallReason::LongScoreboard);
            let all: f64 = waits.iter().map(|wait| wait.samples).sum();
            let theirs = waits.iter().filter(|wait| excess(wait.producer));
            let theirs: f64 = theirs.map(|wait| wait.samples).sum();
            if all > 0.0 { theirs / all } else { 0.0 }
        }
        None => launch.stall_on(StallReason::LongScoreboard, excess),
    };
    let queue = launch.model.utilization(Term::L1Data).unwrap_or(0.0);
    let beyond = beyond_idle_memory(launch, ideal, excess).unwrap_or(1.0);
    vec![
        (StallReason::LongScoreboard, goes.min(beyond) * waits + goes * (1.0 - waits) * queue),
        (StallReason::LgThrottle, goes),
        (StallReason::Drain, goes),
    ]
}

/// The share of the waits for the results of such loads that is longer than idle memory takes (0 to 1). Dense or not, a load whose
/// data come from DRAM takes as long as that; what is loaded again may come from L1. `None` where that is not known.
fn beyond_idle_memory(
    launch: &ModeledLaunch,
    ideal_sectors: f64,
    is_such: impl Fn(&SourceRow) -> bool,
) -> Option<f64> {
    let facts = launch.profile.device_facts();
    let (of_l1, of_dram) = (facts.get(Quantity::L1Latency)?, facts.get(Quantity::DramLatency)?);
    let read = launch.get(READ).unwrap_or(0.0);
    let from_dram = (read / (SECTOR_BYTES * ideal_sectors).max(1.0)).min(1.0);
    let idle = of_l1 + from_dram * (of_dram - of_l1).max(0.0);
    let listing = launch.profile.listing()?;
    let reason = StallReason::LongScoreboard;
    let all = listing.sass.counts.stall_samples(reason);
    let cycles_per_sample = launch.profile.stall(reason)? * listing.total() / all.max(1.0);
    let mut samples: BTreeMap<usize, f64> = BTreeMap::new();
    for charge in listing.charges(reason).iter().filter(|it| is_such(listing.row(it.producer))) {
        *samples.entry(charge.waiting).or_default() += charge.samples;
    }
    let (mut waited, mut kept) = (0.0, 0.0);
    for (at, samples) in samples {
        let cycles = samples * cycles_per_sample;
        waited += cycles;
        kept += cycles.min(idle * listing.executed(at));
    }
    (waited > 0.0).then(|| 1.0 - kept / waited)
}

/// The share of the L1 data pipe's wavefronts that dense addresses would not need, the tag look-ups
/// now, and those needed. The pipe takes a wavefront for every line that a request touches, and
/// every shared-memory wavefront.
fn l1_share(
    launch: &ModeledLaunch,
    ideal_sectors: f64,
    gathers: &Gathers,
) -> Option<(f64, f64, f64)> {
    let launch = launch.profile;
    let rows: &[SourceRow] =
        if launch.instructions.is_empty() { &launch.lines } else { &launch.instructions };
    let by_row: f64 = rows.iter().map(|row| row.counters.l1_tag_requests_global).sum();
    let (tags, needed) = if by_row > 0.0 {
        let needed = |row: &SourceRow| {
            if gathers.has(row) {
                let left = gathers.apart(row).map_or(1.0, Apart::look_ups_left);
                row.counters.l1_tag_requests_global * left
            } else {
                look_ups::needed(row)
            }
        };
        (by_row, rows.iter().map(needed).sum::<f64>())
    } else {
        let tags = launch.get(TAGS)?;
        (tags, (ideal_sectors / SECTORS_PER_LINE).min(tags))
    };
    let all = tags + launch.get(SHARED).unwrap_or(0.0);
    (all > 0.0).then(|| (((tags - needed) / all).clamp(0.0, 1.0), tags, needed))
}
