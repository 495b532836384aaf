//! Warps that leave without having touched any data: they step through the code in front of a guard, or
//! through all of it with their accesses switched off.
//!
//! A warp works where it loads, stores, or exchanges anything with a lane of its switched on. A number that
//! all threads of its block load alike is no work: it is where the guard's bound comes from. Nor is an exchange
//! to which it brings a constant. How many work is bounded by what such instructions leave behind: their executions, the threads that took part, the
//! lines or wavefronts that they touched.

use crate::hardware::WARP_LANES;
pub use crate::sass::code::bystanders::Bystanders;
use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;

use guards::Guards;

use super::neutral::{is_exchange, is_neutral};
use super::sharing::is_of_block;

mod guards;
pub mod searches;

/// The share of the launched warps that works where most of them do nothing, less than.
pub const AT_WORK: f64 = 0.5;

/// Finds them, once for a launch; `None` where at least [`AT_WORK`] of the warps works, or where the page does not
/// tell.
#[must_use]
pub fn find<'a>(listing: &Listing<'a>) -> Option<&'a Bystanders> {
    listing.facts.bystanders(|| find_less(listing, AT_WORK))
}

/// Finds them where less than a share of the warps works.
fn find_less(listing: &Listing, most_at_work: f64) -> Option<Bystanders> {
    let launched = listing.executed(0);
    let any_on = listing
        .entries()
        .any(|(at, _)| listing.row(at).counters.thread_inst_executed_pred_on > 0.0);
    if launched <= 0.0 || !any_on || !listing.is_whole() {
        return None;
    }
    let limit = most_at_work * launched;
    let turns = Turns::new(listing);
    let mut by_block: Vec<(u32, f64)> = Vec::new();
    let (found, exchange) = at_work_by_block(listing, limit);
    for (block, at_work) in found {
        let warps = turns.warps(listing, at_work, block);
        if warps >= limit {
            return None;
        }
        by_block.push((block, warps));
    }
    // Warps at a block that another one with accesses leads to are the same warps, as far as they can be.
    let mut at_work = 0.0;
    for (place, &(block, warps)) in by_block.iter().enumerate() {
        let known = reaches(listing, &by_block[..place], block);
        at_work += (warps - known).max(0.0);
        if at_work >= limit {
            return None;
        }
    }
    // A kernel without any access is none that leaves early.
    let part = at_work / launched;
    (part > 0.0 && !searches::searches(listing, limit)).then(|| {
        let of_executions = of_executions(listing, part);
        let guard = guard(listing, &of_executions);
        let lanes = lanes(listing, limit);
        Bystanders { share: 1.0 - part, of_executions, lanes, guard, exchange }
    })
}

/// Executions of each block's accesses by warps with a lane switched on, where it has any, and the first exchange
/// to which most warps bring a constant. Loads and exchanges that tell of no work are looked for where there would
/// be too much of it.
fn at_work_by_block(listing: &Listing, limit: f64) -> (Vec<(u32, f64)>, Option<usize>) {
    let sass = listing.sass;
    let mut reaching = Reaching::with_guards(sass);
    let has_tags = has_tags(listing);
    let at_work = |at: usize| at_work(listing, at, has_tags);
    let is_shuffle = |at: usize| sass.entries[at].family == Family::Shuffle;
    let (mut found, mut exchange) = (Vec::new(), None);
    for (number, block) in (0_u32..).zip(&sass.flow.blocks) {
        // Warps with one guard are the same, those with another may be others.
        let mut guarded: Vec<(&str, f64)> = Vec::new();
        let mut open: f64 = 0.0;
        for at in block.start..block.end {
            let family = sass.entries[at].family;
            if !touches(family) || listing.executed(at) <= 0.0 {
                continue;
            }
            let on = at_work(at);
            let is_load = family == Family::Load(Space::Global);
            if is_load && on >= limit && is_of_block(listing, &mut reaching, at) {
                continue;
            }
            if on >= limit && is_exchange(family) && is_neutral(listing, at, limit, at_work) {
                exchange = exchange.or(Some(at));
                continue;
            }
            // What its warps then tell one another, and read of it, comes from the few that loaded.
            let is_told = is_exchange(family) || family == Family::Load(Space::Shared);
            if on >= limit && is_told && exchange.is_some_and(is_shuffle) {
                continue;
            }
            let guard = listing.text(at).split_whitespace().next().unwrap_or_default();
            if !guard.starts_with('@') {
                open = open.max(on);
            } else if let Some((_, most)) = guarded.iter_mut().find(|(known, _)| *known == guard) {
                *most = most.max(on);
            } else {
                guarded.push((guard, on));
            }
        }
        // All of them are warps that came here.
        let on =
            open.max(guarded.iter().map(|(_, on)| on).sum()).min(listing.executed(block.start));
        if on > 0.0 {
            found.push((number, on));
        }
    }
    (found, exchange)
}

/// Executions of an instruction by warps with a lane switched on, at most: no more than threads took part, or
/// than lines or wavefronts were touched.
fn at_work(listing: &Listing, at: usize, has_tags: bool) -> f64 {
    let row = &listing.row(at).counters;
    let executed = listing.executed(at);
    let family = listing.sass.entries[at].family;
    let on =
        if touches(family) { executed.min(row.thread_inst_executed_pred_on) } else { executed };
    match family {
        Family::Load(Space::Global) | Family::Store(Space::Global) if has_tags => {
            on.min(row.l1_tag_requests_global)
        }
        Family::Load(Space::Shared) | Family::Store(Space::Shared)
            if row.wavefronts_shared > 0.0 =>
        {
            on.min(row.wavefronts_shared)
        }
        _ => on,
    }
}

/// How often warps execute loads and stores of a space with all their lanes switched off, at least.
#[must_use]
pub fn switched_off(listing: &Listing, space: Space) -> f64 {
    let has_tags = has_tags(listing);
    let is_access = |family| family == Family::Load(space) || family == Family::Store(space);
    let accesses = listing.entries().filter(|(_, entry)| is_access(entry.family));
    accesses.map(|(at, _)| listing.executed(at) - at_work(listing, at, has_tags)).sum()
}

/// True where look-ups in L1 were counted.
fn has_tags(listing: &Listing) -> bool {
    listing.entries().any(|(at, _)| listing.row(at).counters.l1_tag_requests_global > 0.0)
}

/// The largest share of lanes that is on at any access of the warps that work, 0 to 1.
fn lanes(listing: &Listing, limit: f64) -> f64 {
    let has_tags = has_tags(listing);
    let accesses = listing.entries().filter(|(_, entry)| touches(entry.family));
    let theirs = accesses.filter_map(|(at, _)| {
        let on = at_work(listing, at, has_tags);
        let lanes = listing.row(at).counters.thread_inst_executed_pred_on;
        (on > 0.0 && on < limit).then(|| lanes / (on * WARP_LANES))
    });
    let most = theirs.fold(0.0, f64::max);
    if most > 0.0 { most.min(1.0) } else { 1.0 }
}

/// True for instructions by which a warp takes part in anything: it moves data, or exchanges it.
fn touches(family: Family) -> bool {
    match family {
        Family::Load(space) | Family::Store(space) => space != Space::Local,
        Family::Atomic(_)
        | Family::Reduction(_)
        | Family::AsyncCopy
        | Family::Texture
        | Family::Tensor
        | Family::Shuffle
        | Family::Other => true,
        _ => false,
    }
}

/// How often an average warp that enters a loop goes through it, by the loop's place.
struct Turns(Vec<f64>);

impl Turns {
    fn new(listing: &Listing) -> Self {
        let flow = &listing.sass.flow;
        Self(flow.loops.iter().map(|each| turns(listing, each)).collect())
    }

    /// Warps that make so many executions of a block, at most: the same at each turn of a loop around it, or others
    /// where its guard may change.
    fn warps(&self, listing: &Listing, executions: f64, block: u32) -> f64 {
        let flow = &listing.sass.flow;
        let accesses = || {
            let instructions = &flow.blocks[block as usize];
            (instructions.start..instructions.end)
                .filter(|&at| touches(listing.sass.entries[at].family))
        };
        let loops = flow.loops.iter().zip(&self.0);
        let around = loops.filter(|(each, _)| each.holds(block));
        let same_at_each_turn = |blocks: &[u32], head: usize| {
            let mut guards = Guards::new(listing, blocks);
            executions >= listing.executed(head) || !accesses().any(|at| guards.change(at))
        };
        let turns = around.filter(|(each, _)| same_at_each_turn(&each.blocks, each.head));
        executions / turns.map(|(_, turns)| turns).product::<f64>()
    }
}

/// The most warps of blocks from which control can come to a block.
fn reaches(listing: &Listing, known: &[(u32, f64)], block: u32) -> f64 {
    let flow = &listing.sass.flow;
    let mut seen = vec![false; flow.blocks.len()];
    let mut open = vec![block];
    let mut most = 0.0_f64;
    while let Some(at) = open.pop() {
        for &before in &flow.blocks[at as usize].before {
            if !std::mem::replace(&mut seen[before as usize], true) {
                open.push(before);
            }
        }
    }
    for &(at, warps) in known {
        if seen[at as usize] || at == block {
            most = most.max(warps);
        }
    }
    most
}

/// The share of each instruction's executions by warps that do nothing, where this part of all works.
/// Outside of loops those at work execute each instruction once at most; in a loop as often as all that
/// enter it do.
fn of_executions(listing: &Listing, at_work: f64) -> Vec<f64> {
    let flow = &listing.sass.flow;
    let launched = listing.executed(0);
    let mut theirs = vec![0.0; listing.sass.entries.len()];
    let outside = at_work * launched;
    // Larger loops first: what enters an inner one is known from the one around it.
    let mut order: Vec<usize> = (0..flow.loops.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(flow.loops[at].blocks.len()));
    let share = |executed: f64, of_workers: f64| {
        if executed > 0.0 { (1.0 - of_workers / executed).max(0.0) } else { 0.0 }
    };
    for (at, _) in listing.entries().filter(|(at, _)| flow.innermost(*at).is_none()) {
        theirs[at] = share(listing.executed(at), outside);
    }
    for at in order {
        let each = &flow.loops[at];
        let head = flow.block_of[each.head] as usize;
        let before = flow.blocks[head].before.iter().filter(|&&from| !each.holds(from));
        let idle_at_entry = before
            .map(|&from| theirs[flow.blocks[from as usize].end - 1])
            .reduce(f64::min)
            .unwrap_or(0.0);
        let of_workers = (1.0 - idle_at_entry) * listing.executed(each.head);
        for &block in &each.blocks {
            let instructions = flow.blocks[block as usize].start..flow.blocks[block as usize].end;
            for (at, theirs) in instructions.clone().zip(&mut theirs[instructions]) {
                *theirs = share(listing.executed(at), of_workers);
            }
        }
    }
    theirs
}

/// The conditional branch or exit behind which the largest part of the warps that do nothing is gone.
fn guard(listing: &Listing, theirs: &[f64]) -> Option<usize> {
    let gone = |at: usize| theirs[at] * listing.executed(at);
    let last = listing.sass.entries.len().saturating_sub(1);
    let parts = (0..last).filter(|&at| listing.sass.entries[at].conditional);
    parts
        .map(|at| (at, gone(at) - gone(at + 1)))
        .filter(|(_, parted)| *parted > 0.0)
        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests;
