//! Loops whose whole work is the same in many blocks, and that leave nothing behind but a few registers of each thread.
//!
//! What differs from block to block follows from the block's index, or from what memory gives to this block alone. A quotient of the
//! index is the same in neighbouring blocks. All else (thread indices, arguments, loop counters, and what is loaded by these) is the
//! same in every block.

mod along;
mod places;
mod pointers;
mod quotients;

use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::register::Slot;
use crate::sass::questions::matrix_loops::members;
pub use along::{Alike, alike_along_grid};
use places::{Place, places};
use pointers::are_written;

/// A loop that several blocks go through alike.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatedLoop {
    /// Its executed instructions, ascending.
    pub members: Vec<usize>,
    /// The blocks that go through it alike, as far as the code tells, at least 1.
    pub blocks: f64,
    /// True where more may do so: the loop goes by a quotient of the block's index whose divisor the code does not tell, and asks
    /// for no place twice because it is in no other loop and has none in it.
    pub by_quotient: bool,
    /// True where it goes by a quotient of the block's index, which neighbouring blocks share.
    pub has_quotient: bool,
    /// How often warps come to it.
    pub comes: f64,
    /// The registers in which it leaves something that is used behind it, times that.
    pub values: f64,
}

/// The outermost such loops of a kernel with this grid, in blocks.
#[must_use]
pub fn same_for_blocks(listing: &Listing, grid: [u32; 3]) -> Vec<RepeatedLoop> {
    let flow = &listing.sass.flow;
    let are_several = grid.iter().any(|&extent| extent > 1);
    if !are_several || !listing.is_whole() {
        return Vec::new();
    }
    // Those around others first.
    let mut candidates: Vec<(usize, Vec<usize>)> =
        (0..flow.loops.len()).map(|of| (of, members(listing, of))).collect();
    candidates.retain(|(_, members)| are_pure(listing, members));
    candidates.sort_by_key(|(of, _)| std::cmp::Reverse(flow.loops[*of].blocks.len()));
    if candidates.is_empty() {
        return Vec::new();
    }
    let Some(places) = places(listing, grid) else { return Vec::new() };
    let mut found: Vec<(usize, RepeatedLoop)> = Vec::new();
    for (of, members) in candidates {
        let each = &flow.loops[of];
        if found.iter().any(|(outer, _)| each.lies_in(&flow.loops[*outer])) {
            continue;
        }
        let place = members.iter().fold(Place::default(), |all, &at| all.and(places[at]));
        let blocks = place.alike(grid);
        let by_quotient = place.by_unknown_quotient() && is_apart(&flow.loops, of);
        if place.unknown || blocks <= 1.0 && !by_quotient || writes_what_it_reads(listing, &members)
        {
            continue;
        }
        let comes = listing.executed(each.head) / turns(listing, each);
        let values = left_behind(listing, each, &members) as f64 * comes;
        if values > 0.0 {
            let has_quotient = place.has_quotient();
            found.push((
                of,
                RepeatedLoop { members, blocks, by_quotient, has_quotient, comes, values },
            ));
        }
    }
    found.into_iter().map(|(_, each)| each).collect()
}

/// True for a loop that is in no other and has none in it.
fn is_apart(loops: &[Loop], of: usize) -> bool {
    let is_other = |(at, other): (usize, &Loop)| {
        at != of
            && other.head != loops[of].head
            && (other.lies_in(&loops[of]) || loops[of].lies_in(other))
    };
    !loops.iter().enumerate().any(is_other)
}

/// True for work on registers, with loads of global memory that nothing says may change: nobody but the thread sees it.
fn are_pure(listing: &Listing, members: &[usize]) -> bool {
    let is_pure = |&at: &usize| {
        let family = listing.sass.entries[at].family;
        let text = listing.text(at);
        let is_call = || Instruction::base_of(text).is_some_and(|base| base.starts_with("CALL"));
        match family {
            Family::Load(Space::Global) => !text.contains("STRONG"),
            Family::Constant | Family::Shuffle | Family::Vote => true,
            Family::Control => !is_call(),
            Family::Other | Family::Tensor | Family::Barrier | Family::Fence => false,
            family => !family.is_memory(),
        }
    };
    !members.is_empty() && members.iter().all(is_pure)
}

/// True where the kernel may write what a loop loads, as far as the code tells.
fn writes_what_it_reads(listing: &Listing, members: &[usize]) -> bool {
    let is_load = |at: &usize| listing.sass.entries[*at].family == Family::Load(Space::Global);
    are_written(listing, &members.iter().copied().filter(is_load).collect::<Vec<_>>())
}

/// In how many registers a loop leaves something that is used elsewhere.
fn left_behind(listing: &Listing, of: &Loop, members: &[usize]) -> usize {
    let sass = listing.sass;
    let inside = Marks::of(sass.entries.len(), |at| sass.flow.is_in(of, at));
    let mut reaching = Reaching::new(sass);
    let mut made = [false; Slot::COUNT];
    for slot in members.iter().flat_map(|&at| sass.defs(at)) {
        made[slot.index()] = true;
    }
    let mut left = [false; Slot::COUNT];
    for (at, _) in listing.entries().filter(|(at, _)| !inside[*at] && listing.executed(*at) > 0.0) {
        for each in sass.uses(at) {
            let slot = each.slot.index();
            if made[slot] && !left[slot] {
                left[slot] = reaching.definitions(at, *each).any(|by| inside[by as usize]);
            }
        }
    }
    left.iter().filter(|&&is_left| is_left).count()
}

#[cfg(test)]
mod tests;
