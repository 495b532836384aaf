//! The loads of a thread around its longest wait for data.

use crate::evidence::threshold::LATENCY;
use crate::evidence::{ModeledLaunch, slow_routines};
use crate::hardware::{REGISTER_BYTES, SECTOR_BYTES};
use crate::metric::stall::StallReason;
use crate::sass::questions::chain;
use crate::sass::questions::matrix_loops::{StagedLoop, Way, staged};
use crate::sass::{Family, Listing, Space};

/// Cycles that a warp waits for data between two instructions.
pub(crate) const LONG: &str =
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";

/// Loads that a thread has in flight once the fault is away: two unrolled float4 or eight floats take
/// eight registers, which is what most kernels can spare. The waits are shared among them.
pub(crate) const IN_FLIGHT: f64 = 8.0;

/// The waves up to which a thread of a loop can have twice as many loads in flight as it has, if that is more.
pub(crate) const HALF_THE_ROOM: f64 = 0.5;

/// The same where the waits are in no loop: a thread that has one element must be given several.
pub(crate) const IN_FLIGHT_WITHOUT_LOOP: f64 = 4.0;

/// Turns that a loop copies further ahead, where it does so already: each takes another stage of shared memory.
pub(crate) const FURTHER_AHEAD: f64 = 1.0;

/// The loads of a thread around its longest wait for data, in words of four bytes.
pub(crate) struct Loads {
    /// On their way when it stops.
    pub now: f64,
    /// Which could be.
    pub then: f64,
    /// Where it stops.
    pub around: Around,
    /// What the next loads must stay behind.
    pub behind: Option<Behind>,
}

/// What keeps the compiler from issuing the next loads earlier, with its line in words; empty where it is not
/// known.
pub(crate) enum Behind {
    /// A store that could write where they read.
    Store(String),
    /// A routine that branches around a call.
    SlowPath(String),
}

/// Whether a thread's longest wait for data is in a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Around {
    /// The profile has no machine code.
    Unknown,
    NoLoop,
    Loop,
    /// In a loop that copies operands ahead already.
    Pipeline,
    /// In a row of statements that each load and store.
    Statements,
}

/// Loads of a thread that are on their way when it stops at the instruction with most waits for data,
/// which are those between it and the stop before it in its loop, and those that could be, in words. One and
/// [`IN_FLIGHT`] where the profile does not tell.
pub(crate) fn loads_in_flight(launch: &ModeledLaunch) -> Loads {
    let unknown = Loads { now: 1.0, then: IN_FLIGHT, around: Around::Unknown, behind: None };
    let Some(listing) = launch.profile.listing() else { return unknown };
    let waits = |index: usize| listing.samples(index, StallReason::LongScoreboard);
    let sampled = listing.sass.counts.sampled().map(|index| (index, waits(index)));
    let most = sampled.filter(|(_, waits)| *waits > 0.0).max_by(|a, b| a.1.total_cmp(&b.1));
    // Without such waits it is the end.
    let stop = most.map_or(listing.sass.entries.len() - 1, |(index, _)| index);
    let flow = &listing.sass.flow;
    let around = flow.innermost(stop);
    let head = around.map_or(0, |at| flow.loops[at].head).min(stop);
    let end = around.map_or(listing.sass.entries.len() - 1, |at| flow.loops[at].back);
    let kept = kept_behind_a_store(&listing, head, stop, end, around.is_some());
    let before = (head..stop).rev().take_while(|&index| waits(index) < A_STOP * waits(stop));
    let is_load = |index: &usize| {
        matches!(
            listing.sass.entries[*index].family,
            Family::Load(Space::Global | Space::Generic) | Family::Texture
        ) && listing.executed(*index) > 0.0
    };
    let now = before.filter(is_load).map(|at| words(&listing, at)).sum::<f64>();
    let now = if now > 0.0 { now } else { 1.0 };
    if let Some(ahead) = around.and_then(|_| turns_copied_ahead(&listing, stop)) {
        let now = ahead.max(1.0);
        return Loads { now, then: now + FURTHER_AHEAD, around: Around::Pipeline, behind: None };
    }
    let all_resident = launch.waves().is_some_and(|waves| waves <= 1.0);
    // Where all blocks run at once in half of the room, a thread may take twice the registers.
    let has_room = launch.waves().is_some_and(|waves| waves <= HALF_THE_ROOM);
    let (around, then) = match (around, &kept) {
        (Some(_), _) if has_room => (Around::Loop, IN_FLIGHT.max(2.0 * now)),
        (Some(_), _) => (Around::Loop, IN_FLIGHT),
        (None, Some(kept)) if now + kept.loads > IN_FLIGHT_WITHOUT_LOOP => {
            (Around::Statements, IN_FLIGHT.min(now + kept.loads))
        }
        // Threads that are all resident have all of their loads in flight: as many by fewer threads gain
        // nothing.
        (None, _) if all_resident => (Around::NoLoop, now),
        (None, _) => (Around::NoLoop, IN_FLIGHT_WITHOUT_LOOP),
    };
    let line = |at: usize| {
        let line = listing.row(at).line;
        line.map_or_else(String::new, |line| format!(" at line {line}"))
    };
    let store =
        kept.filter(|_| around != Around::NoLoop).map(|kept| Behind::Store(line(kept.store)));
    let behind = slow_routines::between_loads(listing, stop)
        .map(|path| Behind::SlowPath(line(path)))
        .or(store);
    Loads { now, then, around, behind }
}

/// The registers that a load fills: what limits the loads in flight is the registers that they take, and what fills the
/// memory's latency is the bytes, so that a float4 is as good as four floats. Of bytes that lie side by side over the lanes,
/// four would fill the register of one.
fn words(listing: &Listing, at: usize) -> f64 {
    let width = f64::from(listing.sass.entries[at].width);
    let counters = &listing.row(at).counters;
    let sectors =
        (counters.thread_inst_executed_pred_on * width / SECTOR_BYTES).max(counters.inst_executed);
    let side_by_side = counters.l2_sectors_global > 0.0 && counters.l2_sectors_global <= sectors;
    let words = width / REGISTER_BYTES;
    if side_by_side && words > 0.0 { words } else { words.max(1.0) }
}

impl Loads {
    /// The share of the waits, 0 to 1, that goes where all of them are on their way together.
    pub(crate) fn more_at_a_time(&self) -> f64 {
        (1.0 - self.now / self.then).max(0.0)
    }
}

/// The share of the waits for data, 0 to 1, that goes with loads that start earlier: of those for chains of loads half, of
/// the others what more loads at a time cover, or what copying ahead covers where that is more.
pub(crate) fn covered(launch: &ModeledLaunch, loads: &Loads, chained: f64) -> f64 {
    let ahead = if loads.around == Around::Loop { copied_ahead(launch) } else { 0.0 };
    chained * (1.0 - CHAINED_STAYS) + (1.0 - chained) * loads.more_at_a_time().max(ahead)
}

/// The share of the waits for data that goes where a loop asks for its next data before it works on what
/// it has: a wait of S cycles beside C other cycles becomes max(0, S − C). Of the waits at barriers those
/// for warps that wait for data go too and are no other cycles.
fn copied_ahead(launch: &ModeledLaunch) -> f64 {
    let (wait, all) = (launch.need(LONG), launch.need(LATENCY));
    let barrier = launch.stall(StallReason::Barrier);
    let other = (all - wait - barrier).max(0.0);
    let barrier_stays = barrier * other / (other + wait).max(f64::MIN_POSITIVE);
    if wait > 0.0 { ((other + barrier_stays) / wait).min(1.0) } else { 0.0 }
}

/// Of the waits for a chain of loads, the part that stays: unrolling does nothing for them, and a
/// thread that follows two chains side by side, which takes twice the registers, halves them.
pub(crate) const CHAINED_STAYS: f64 = 0.5;

/// How many turns ahead the loop around a wait copies the operands of its matrix instructions; `None` where it waits for
/// each copy before the next product, or brings operands through registers.
fn turns_copied_ahead(listing: &Listing, stop: usize) -> Option<f64> {
    let holds = |each: &StagedLoop| each.inside.binary_search(&stop).is_ok();
    let of = staged(listing).into_iter().find(holds)?;
    if of.way == Way::Registers || !of.in_turn.is_empty() {
        return None;
    }
    // What fills the pipeline stands beside the loop: in the loop around it, or outside all.
    let flow = &listing.sass.flow;
    let is_beside = |at: usize| {
        of.inside.binary_search(&at).is_err()
            && flow.innermost(at).is_none_or(|outer| flow.is_in(&flow.loops[outer], stop))
    };
    let is_copy = |at: usize| {
        listing.sass.entries[at].family == Family::AsyncCopy
            && listing.executed(at) > 0.0
            && !listing.text(at).contains("UTMASTG")
    };
    let fills = listing.entries().filter(|&(at, _)| is_copy(at) && is_beside(at)).count();
    let turn = of.copies.iter().filter(|&&at| is_copy(at)).count();
    (turn > 0).then(|| fills as f64 / turn as f64)
}

/// Loads that the compiler keeps behind a store because it could write where they read.
struct Kept {
    store: usize,
    /// In words, for each time that a thread comes to the stop.
    loads: f64,
}

/// The store to global memory that loads stand behind, and the loads that it or those like it could write to:
/// those of memory that may change. In a loop they are the loads of the next turn, behind the first store after
/// the stop; elsewhere those that control comes to after a store. Where all loads come before all stores there
/// are none.
fn kept_behind_a_store(
    listing: &Listing,
    head: usize,
    stop: usize,
    end: usize,
    turns: bool,
) -> Option<Kept> {
    let family = |at: usize| listing.sass.entries[at].family;
    let is_store =
        |at: &usize| matches!(family(*at), Family::Store(Space::Global | Space::Generic));
    let may_change = |at: &usize| {
        matches!(family(*at), Family::Load(Space::Global | Space::Generic))
            && !listing.text(*at).contains(".CONSTANT")
    };
    let comes = listing.executed(stop).max(f64::MIN_POSITIVE);
    let times = |at: usize| words(listing, at) * (listing.executed(at) / comes).min(1.0);
    let (store, loads) = if turns {
        let mut round = (stop..=end).chain(head..stop).filter(|&at| listing.executed(at) > 0.0);
        (round.find(is_store)?, round.filter(may_change).map(times).sum())
    } else {
        let executed = || (head..=end).filter(|&at| listing.executed(at) > 0.0);
        let stores: Vec<usize> = executed().filter(is_store).collect();
        let behind = behind(listing, &stores);
        (*stores.first()?, executed().filter(|&at| behind(at)).filter(may_change).map(times).sum())
    };
    (loads > 0.0).then_some(Kept { store, loads })
}

/// Whether control comes to an instruction after one of these.
fn behind(listing: &Listing, first: &[usize]) -> impl Fn(usize) -> bool {
    let flow = &listing.sass.flow;
    // The earliest of them in each block, and the blocks that control comes to from its end.
    let mut earliest: Vec<Option<usize>> = vec![None; flow.blocks.len()];
    for &at in first.iter().rev() {
        earliest[flow.block_of[at] as usize] = Some(at);
    }
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); flow.blocks.len()];
    for (block, each) in flow.blocks.iter().enumerate() {
        each.before.iter().for_each(|&before| after[before as usize].push(block));
    }
    let mut comes = vec![false; flow.blocks.len()];
    let mut open: Vec<usize> = (0..comes.len()).filter(|&at| earliest[at].is_some()).collect();
    while let Some(block) = open.pop() {
        for &next in &after[block] {
            if !std::mem::replace(&mut comes[next], true) {
                open.push(next);
            }
        }
    }
    let block_of = &flow.block_of;
    move |at| {
        let block = block_of[at] as usize;
        comes[block] || earliest[block].is_some_and(|first| first < at)
    }
}

/// The part of the largest wait from which another instruction before it is a stop of its own.
pub(crate) const A_STOP: f64 = 0.25;

/// The share of the waits for data that is for loads whose address is their own last result.
pub(crate) fn chained_share(launch: &ModeledLaunch) -> f64 {
    let Some(listing) = launch.profile.listing() else { return 0.0 };
    let chained = chain::chained(&listing);
    if chained.are_none() {
        return 0.0;
    }
    let addresses: Vec<u64> =
        chained.iter().filter_map(|index| listing.row(index).address).collect();
    let waits = listing.blame(StallReason::LongScoreboard);
    let all: f64 = waits.iter().map(|wait| wait.samples).sum();
    let theirs = waits
        .iter()
        .filter(|wait| wait.producer.address.is_some_and(|address| addresses.contains(&address)));
    let theirs: f64 = theirs.map(|wait| wait.samples).sum();
    if all > 0.0 { theirs / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn ahead(wait: &'static str, fills: usize) -> Option<f64> {
        let copy = "LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64]";
        let mut code = vec![(copy, 1.0); fills];
        let head = format!("@P0 BRA {:#x}", 0x100 + 16 * fills);
        code.extend([
            (wait, 10.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 10.0),
            ("LDSM.16.M88.4 R8, [R21]", 10.0),
            ("HMMA.16816.F32 R12, R8, R10, R12", 10.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 10.0),
            (copy, 10.0),
            ("LDGDEPBAR", 10.0),
            (head.as_str(), 10.0),
            ("EXIT", 1.0),
        ]);
        turns_copied_ahead(&launch(&code).listing().unwrap(), fills)
    }

    #[test]
    fn copies_that_fill_a_pipeline_tell_how_far_ahead_they_run() {
        assert_eq!(ahead("DEPBAR.LE SB0, 0x1", 2), Some(2.0));
        assert_eq!(ahead("DEPBAR.LE SB0, 0x2", 3), Some(3.0));
        assert_eq!(ahead("DEPBAR.LE SB0, 0x0", 1), None, "waited for before the next product");
    }
}
