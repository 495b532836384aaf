//! Loops that make turns for nothing.
//!
//! A loop with one end for all blocks, such as the longest row's, and a condition on each load by the length of the block's own
//! row, makes its last turns for nothing. The condition compares what the loop counts with a number that the whole block
//! shares. Where a condition stays the same from turn to turn, or goes by what was loaded, all turns are needed.
//!
//! A tile of rows and columns has another edge, which stays: its columns may end before the tile does. Lanes that this edge
//! switches off are off in all turns, and tell nothing of them. See `edges`.
//!
//! Or a loop asks in each turn whether there is anything to do, from its counter and the block's index, and branches around all
//! of its loads where there is not. What the whole block decides alike, it could have worked out before. Or a table says it. Or
//! each lane works only in a window around its own place. See `windows`. Or all is loaded, and what lies behind the end is thrown
//! away. See `zeroed`.

mod edges;
mod looked_up;
mod tested;
mod windows;
mod zeroed;

pub use edges::OF_A_TILE;
pub use looked_up::WITH_WORK;
pub use zeroed::BEHIND_THE_END;

use std::collections::BTreeSet;

use looked_up::looked_up_turns;
use tested::tested_turns;
use windows::window_turns;
use zeroed::zeroed_turns;

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::cycles::cycles;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::alike::of_threads_own;
use crate::sass::questions::matrix_loops::{StagedLoop, filled, members, staged};
use crate::sass::thresholds::EVERY_TURN;

/// A loop of which some turns load nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct EmptyTurns {
    /// Its instructions, each with the share of its executions that is in these turns (0 to 1).
    pub going: Vec<(usize, f64)>,
    /// Its loads, or accesses of a window, that are switched off or passed by, or that look up what to do.
    pub loads: Vec<usize>,
    /// Its turns, on average.
    pub turns: f64,
    /// The share of them that loads nothing (0 to 1).
    pub empty: f64,
    /// How it goes on.
    pub how: How,
}

/// How a turn comes to do nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Its loads are switched off.
    Masked,
    /// The same, in a tile that has an edge in all turns, too: at least so many turns are empty.
    MaskedTile,
    /// A branch passes its loads by.
    Tested,
    /// What it loads says so.
    LookedUp,
    /// It lies outside the window of a lane.
    Window,
    /// What it loads is multiplied by zero, or replaced. How many turns are such is not known.
    Zeroed,
}

/// The part of the last turn with data that is off on average.
pub const LAST_TURN: f64 = 0.5;

/// The innermost loops some of whose turns load nothing.
#[must_use]
pub fn empty_turns(listing: &Listing) -> Vec<EmptyTurns> {
    let sass = listing.sass;
    let accesses: Vec<usize> = (0..sass.entries.len())
        .filter(|&at| {
            let can_be_off = match sass.entries[at].family {
                Family::Load(Space::Global) => sass.entries[at].conditional,
                Family::AsyncCopy => condition(listing, at).next().is_some(),
                _ => false,
            };
            can_be_off && listing.executed(at) > 0.0
        })
        .collect();
    let found = masked_turns(listing, &accesses);
    if !found.is_empty() {
        return found;
    }
    let found = tested_turns(listing);
    if !found.is_empty() {
        return found;
    }
    let found = looked_up_turns(listing);
    if !found.is_empty() {
        return found;
    }
    let found = window_turns(listing);
    if found.is_empty() { zeroed_turns(listing) } else { found }
}

/// All instructions that are executed in such turns for nothing.
#[must_use]
pub fn in_empty_turns(listing: &Listing) -> Vec<usize> {
    empty_turns(listing).into_iter().flat_map(|of| of.going).map(|(at, _)| at).collect()
}

/// The loops whose loads a comparison of the counter switches off.
fn masked_turns(listing: &Listing, accesses: &[usize]) -> Vec<EmptyTurns> {
    let sass = listing.sass;
    let loops: BTreeSet<usize> =
        accesses.iter().filter_map(|&at| sass.flow.innermost(at)).collect();
    // Most kernels have none, and to know whose values are a thread's own takes time.
    if loops.is_empty() {
        return Vec::new();
    }
    let own = of_threads_own(listing);
    let staged = staged(listing);
    let found = loops.into_iter().filter_map(|of| {
        let inside = members(listing, of);
        let holds = |at: &usize| inside.binary_search(at).is_ok();
        let loads: Vec<usize> = accesses.iter().copied().filter(holds).collect();
        let mut around = Around::new(listing, &inside, &own);
        let masks = loads.iter().map(|&at| around.mask(at)).collect::<Option<Vec<Mask>>>()?;
        let edges = masks.iter().map(|mask| mask.edges.len()).max()?;
        let turns = turns(listing, &sass.flow.loops[of]);
        let (off, how) = match staged.iter().find(|each| each.inside == inside) {
            _ if edges > 0 => {
                let off = around.off_in_rows(&masks, &loads, edges)?;
                (off - 1.0 / turns, How::MaskedTile)
            }
            Some(copies) => (off_in_copies(listing, copies)?, How::Masked),
            // A load that runs ahead is off in the last turn.
            None => (off_in_loads(listing, &loads) - 1.0 / turns, How::Masked),
        };
        let empty = off - LAST_TURN / turns - behind_branches(listing, of, &inside);
        let going = inside.iter().map(|&at| (at, empty)).collect();
        (empty > 0.0).then_some(EmptyTurns { going, loads, turns, empty, how })
    });
    found.collect()
}

/// The largest share of a loop's turns, if not nearly all, in which a load that no guard switches off is executed, behind a branch,
/// 0 to 1; 0 without one. It may be the other side of the condition that switches the guarded ones off.
fn behind_branches(listing: &Listing, of: usize, inside: &[usize]) -> f64 {
    let sass = listing.sass;
    let turns = listing.executed(sass.flow.loops[of].back);
    let is_load = |at: usize| {
        let entry = &sass.entries[at];
        matches!(entry.family, Family::Load(Space::Global | Space::Generic)) && !entry.conditional
    };
    let shares = inside.iter().filter(|at| is_load(**at)).map(|&at| listing.executed(at) / turns);
    shares.filter(|&share| share < EVERY_TURN.value).fold(0.0, f64::max)
}

fn off_in_copies(listing: &Listing, of: &StagedLoop) -> Option<f64> {
    filled(listing, of).map(|filled| 1.0 - filled)
}

/// Of the lanes that come to some loads, those that the loads' guards switch off: lanes that a branch led past them are none.
fn off_in_loads(listing: &Listing, loads: &[usize]) -> f64 {
    let counters = |&at: &usize| &listing.row(at).counters;
    let come: f64 = loads.iter().map(|at| counters(at).thread_inst_executed).sum();
    let on: f64 = loads.iter().map(|at| counters(at).thread_inst_executed_pred_on).sum();
    if come > 0.0 { 1.0 - on / come } else { 0.0 }
}

/// The conditions of a load or copy: its guard, and a predicate among a copy's operands.
fn condition<'a>(listing: &Listing<'a>, at: usize) -> impl Iterator<Item = &'a Use> + use<'a> {
    let uses = listing.sass.uses(at).iter();
    uses.filter(|each| each.slot.is_predicate() && each.role != Role::Old)
}

/// The comparisons by which a load is on or off.
#[derive(Default)]
struct Mask {
    /// Those of the counter.
    by_turn: Vec<usize>,
    /// Those that stay the same in all turns: edges of a tile.
    edges: BTreeSet<usize>,
}

/// A loop, and what is asked of the conditions in it.
struct Around<'a, 'b> {
    listing: Listing<'a>,
    reaching: Reaching<'a>,
    inside: &'b [usize],
    /// What differs between the threads of a block.
    own: &'b Marks,
    /// What counts turns.
    counting: Marks,
}

impl<'a, 'b> Around<'a, 'b> {
    fn new(listing: &Listing<'a>, inside: &'b [usize], own: &'b Marks) -> Self {
        let sass = listing.sass;
        let mut reaching = Reaching::with_guards(sass);
        let compares = inside.iter().copied().filter(|&at| is_order(listing.text(at)));
        let is_load = |at: usize| sass.entries[at].family.is_memory();
        let counting = cycles(sass.entries.len(), compares, |at, open| {
            let data = sass.uses(at).iter().filter(|each| each.role == Role::Data);
            for each in data.filter(|_| !is_load(at)) {
                let made = reaching.definitions(at, *each);
                open.extend(made.filter(|by| inside.binary_search(&(*by as usize)).is_ok()));
            }
        });
        Self { listing: *listing, reaching, inside, own, counting }
    }

    /// The comparisons by which an access is on or off; `None` where these are anything but those of the counter with what the
    /// block shares and the edges of a tile, or none is of the counter.
    fn mask(&mut self, access: usize) -> Option<Mask> {
        let mut open: Vec<(usize, Use)> =
            condition(&self.listing, access).map(|each| (access, *each)).collect();
        let mut seen = BTreeSet::new();
        let mut mask = Mask::default();
        while let Some((at, each)) = open.pop() {
            let made: Vec<usize> = self.made_inside(at, each);
            // The same in all turns.
            if made.is_empty() {
                mask.edges.extend(self.edges(at, each)?);
                continue;
            }
            for by in made.into_iter().filter(|by| seen.insert(*by)) {
                if self.listing.sass.entries[by].family.is_memory() {
                    return None;
                }
                let compares = is_order(self.listing.text(by));
                if compares && !self.compares_counter(by) {
                    return None;
                }
                if compares {
                    mask.by_turn.push(by);
                }
                let uses = self.listing.sass.uses(by).iter().filter(|each| each.role != Role::Old);
                // Of a comparison what it is joined with.
                let goes_on = uses.filter(|each| !compares || each.slot.is_predicate());
                open.extend(goes_on.map(|each| (by, *each)));
            }
        }
        (!mask.by_turn.is_empty()).then_some(mask)
    }

    /// True where one side of a comparison counts turns and the other is the same for all of them and for the block.
    fn compares_counter(&mut self, at: usize) -> bool {
        let uses: Vec<Use> = self.listing.sass.uses(at).to_vec();
        let (mut counts, mut shared) = (false, true);
        for each in uses.iter().filter(|each| !each.slot.is_predicate()) {
            match self.counted(at, *each) {
                Some(true) => counts = true,
                Some(false) => {
                    let own = self.own;
                    shared &= self.reaching.definitions(at, *each).all(|by| !own[by as usize]);
                }
                None => return false,
            }
        }
        counts && shared
    }

    /// Whether a value counts turns; `None` where it is made of what the loop loads.
    fn counted(&mut self, at: usize, each: Use) -> Option<bool> {
        let mut open = self.made_inside(at, each);
        let mut seen: BTreeSet<usize> = open.iter().copied().collect();
        let mut counts = false;
        while let Some(by) = open.pop() {
            if self.listing.sass.entries[by].family.is_memory() {
                return None;
            }
            counts |= self.counting[by];
            let uses = self.listing.sass.uses(by).iter().filter(|each| each.role == Role::Data);
            for each in uses {
                let made = self.made_inside(by, *each);
                open.extend(made.into_iter().filter(|by| seen.insert(*by)));
            }
        }
        Some(counts)
    }

    fn made_inside(&mut self, at: usize, each: Use) -> Vec<usize> {
        let made = self.reaching.definitions(at, each).map(|by| by as usize);
        made.filter(|by| self.inside.binary_search(by).is_ok()).collect()
    }
}

/// True for a comparison by order, of whole numbers.
fn is_order(text: &str) -> bool {
    let parsed = text.contains("ISETP").then(|| Instruction::parse(text)).flatten();
    parsed.is_some_and(|instruction| {
        matches!(instruction.base(), "ISETP" | "UISETP") && instruction.compares_by_order()
    })
}

#[cfg(test)]
mod tests;
