//! Turns in which a branch passes all loads by.

use std::collections::BTreeSet;

use super::{EmptyTurns, How};
use crate::sass::code::listing::Listing;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::questions::matrix_loops::members;

/// The loops in which a branch that the block takes as one passes all loads by.
pub(super) fn tested_turns(listing: &Listing) -> Vec<EmptyTurns> {
    let sass = listing.sass;
    let is_load = |at: usize| {
        let family = sass.entries[at].family;
        matches!(family, Family::Load(Space::Global | Space::Generic) | Family::AsyncCopy)
    };
    let executed = |at: usize| listing.executed(at);
    let rarely = |at: usize| {
        let around = sass.flow.innermost(at)?;
        let in_turns = executed(sass.flow.loops[around].head);
        (is_load(at) && executed(at) > 0.0 && executed(at) < in_turns).then_some(around)
    };
    let loops: BTreeSet<usize> = (0..sass.entries.len()).filter_map(rarely).collect();
    let found = loops.into_iter().filter_map(|of| {
        let each = &sass.flow.loops[of];
        let inside = members(listing, of);
        let loads: Vec<usize> = inside.iter().copied().filter(|&at| is_load(at)).collect();
        let needed = loads.iter().map(|&at| executed(at)).fold(0.0, f64::max);
        // Where warps wait for each other, all of them are there.
        let meets = |&at: &usize| sass.entries[at].family == Family::Barrier;
        let together = inside.iter().filter(|at| meets(at)).any(|&at| executed(at) <= needed);
        let empty = 1.0 - needed / executed(each.head);
        if !together || empty <= 0.0 {
            return None;
        }
        let share = |at: usize| (1.0 - needed / executed(at)).max(0.0);
        let going = inside.into_iter().map(|at| (at, share(at))).filter(|(_, share)| *share > 0.0);
        let going = going.collect();
        Some(EmptyTurns { going, loads, turns: turns(listing, each), empty, how: How::Tested })
    });
    found.collect()
}
