//! How far an instruction's result goes by the place of its block in the grid.

use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;

use super::quotients::{Quotients, axis};

/// Special registers that tell the blocks apart are none of these.
const ALIKE: [&str; 8] = [
    "SR_TID",
    "SR_LANEID",
    "SR_NTID",
    "SR_NCTAID",
    "SR_CgaSize",
    "SR_EQMASK",
    "SR_LTMASK",
    "SR_LEMASK",
];

/// What of the block's place in the grid takes part in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The index itself (x, y, z).
    pub own: [bool; 3],
    /// The binary logarithm of what the index is divided by in a quotient of it, 0 where the code does not tell it; [`NO_QUOTIENT`]
    /// where none takes part.
    quotient: [u8; 3],
    /// Something takes part that may be anything in each block.
    pub unknown: bool,
}

/// No quotient of the index takes part. Larger than any logarithm.
const NO_QUOTIENT: u8 = u8::MAX;

impl Default for Place {
    /// Nothing of it.
    fn default() -> Self {
        Self { own: [false; 3], quotient: [NO_QUOTIENT; 3], unknown: false }
    }
}

impl Place {
    const UNKNOWN: Self = Self { own: [false; 3], quotient: [NO_QUOTIENT; 3], unknown: true };

    /// What takes part in a value that is made of both.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            own: std::array::from_fn(|axis| self.own[axis] | other.own[axis]),
            // The smaller divisor tells more blocks apart.
            quotient: std::array::from_fn(|axis| self.quotient[axis].min(other.quotient[axis])),
            unknown: self.unknown | other.unknown,
        }
    }

    /// True where the index in this direction, or a quotient of it, takes part.
    pub(super) fn goes_by(self, axis: usize) -> bool {
        self.own[axis] || self.quotient[axis] != NO_QUOTIENT
    }

    /// How many blocks of this grid have the same value, at least.
    pub(super) fn alike(self, grid: [u32; 3]) -> f64 {
        let along = |axis: usize| {
            let extent = f64::from(grid[axis].max(1));
            match (self.own[axis], self.quotient[axis]) {
                (true, _) => 1.0,
                (false, NO_QUOTIENT) => extent,
                (false, bits) => f64::from(1_u32 << bits.min(31)).min(extent),
            }
        };
        (0..3).map(along).product()
    }

    /// True where a quotient takes part, and the index itself does not.
    pub(super) fn has_quotient(self) -> bool {
        (0..3).any(|axis| !self.own[axis] && self.quotient[axis] != NO_QUOTIENT)
    }

    /// True where a quotient takes part whose divisor is not known, and the index itself does not.
    pub(super) fn by_unknown_quotient(self) -> bool {
        (0..3).any(|axis| !self.own[axis] && self.quotient[axis] == 0)
    }
}

/// The places that take part in each instruction's result in a grid of this shape; `None` where something is called that the listing
/// does not have.
pub(super) fn places(listing: &Listing, grid: [u32; 3]) -> Option<Vec<Place>> {
    let sass = listing.sass;
    let mut reaching = Reaching::new(sass);
    let quotients = Quotients::of(listing, &mut reaching);
    let called = Called::of(listing)?;
    let mut places: Vec<Place> =
        listing.entries().map(|(at, _)| in_itself(listing, at, grid)).collect();
    let executed = Marks::of(sass.entries.len(), |at| listing.executed(at) > 0.0);
    // Each executed instruction, and where what made what it reads ends among all these.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut made: Vec<u32> = Vec::new();
    for at in executed.iter() {
        let place = &mut places[at];
        if let Some(axis) = quotients.axis_of(at).filter(|&axis| grid[axis] > 1) {
            let mut quotient = Place::default();
            quotient.quotient[axis] = quotients.bits_of(at);
            *place = place.and(quotient);
        }
        for each in sass.uses(at).iter().filter(|each| !quotients.leaves_out(at, each)) {
            let made_at = reaching.definitions(at, *each);
            // A function's argument is made by its callers.
            let is_argument =
                made_at.len() == 0 && each.slot.is_general() && each.role != Role::Old;
            place.unknown |= is_argument || called.may_give(at, each);
            made.extend(made_at);
        }
        ends.push((at, made.len()));
    }
    // What is there only grows, so that this ends.
    loop {
        let mut has_grown = false;
        let mut start = 0;
        for &(at, end) in &ends {
            let makers = &made[start..end];
            start = end;
            let place = makers.iter().fold(places[at], |place, &by| place.and(places[by as usize]));
            has_grown |= place != places[at];
            places[at] = place;
            if place != Place::default()
                && sass.entries[at].conditional
                && let Exit::Branch(target) = sass.entries[at].exit()
            {
                has_grown |= part_ways(listing, at, target, &mut places);
            }
        }
        if !has_grown {
            return Some(places);
        }
    }
}

/// What takes part in a result whatever the instruction reads.
fn in_itself(listing: &Listing, at: usize, grid: [u32; 3]) -> Place {
    let text = listing.text(at);
    match listing.sass.entries[at].family {
        Family::Load(Space::Global) => {
            Place { unknown: text.contains("STRONG"), ..Place::default() }
        }
        Family::Constant | Family::Shuffle | Family::Vote | Family::Tensor => Place::default(),
        // A read of a clock is a copy, too.
        _ if text.contains("SR_") => match axis(text) {
            Some(axis) => {
                let own = std::array::from_fn(|of| of == axis && grid[axis] > 1);
                Place { own, ..Place::default() }
            }
            None if ALIKE.iter().any(|name| text.contains(name)) => Place::default(),
            None => Place::UNKNOWN,
        },
        Family::Other => Place::UNKNOWN,
        family if family.is_memory() => Place::UNKNOWN,
        _ => Place::default(),
    }
}

/// Marks what is made behind a branch that not all blocks take: between the branch and its target, in the other way that ends
/// there, or in the loop that it closes. True where anything is new. Who leaves the kernel there takes nothing along.
fn part_ways(listing: &Listing, branch: usize, target: usize, places: &mut [Place]) -> bool {
    let sass = listing.sass;
    let meets = |at: &usize| sass.entries[*at].family == Family::Control;
    if (target..sass.entries.len()).take_while(meets).any(|at| sass.entries[at].exit() == Exit::End)
    {
        return false;
    }
    let between = if target > branch {
        let end = match sass.entries[target - 1].exit() {
            Exit::Jump(end) if end > target => end,
            _ => target,
        };
        branch + 1..end
    } else {
        target..branch
    };
    let place = places[branch];
    let mut has_grown = false;
    for at in between.filter(|&at| !sass.defs(at).is_empty()) {
        let both = places[at].and(place);
        has_grown |= both != places[at];
        places[at] = both;
    }
    has_grown
}

/// What called functions may change.
struct Called {
    calls: Vec<usize>,
    inside: Marks,
    /// By slot: those that some function writes.
    written: Vec<bool>,
}

impl Called {
    /// `None` where an executed call leads to where the listing has no function.
    fn of(listing: &Listing) -> Option<Self> {
        let sass = listing.sass;
        let known = listing.calls();
        let is_call = |at: &usize| {
            let base = Instruction::base_of(listing.text(*at));
            listing.executed(*at) > 0.0 && base.is_some_and(|base| base.starts_with("CALL"))
        };
        let calls: Vec<usize> = (0..sass.entries.len()).filter(is_call).collect();
        if calls.iter().any(|call| !known.iter().any(|(at, _)| at == call)) {
            return None;
        }
        let mut inside = Marks::new(sass.entries.len());
        let mut written = vec![false; Slot::COUNT];
        let are_called = known.iter().filter(|(at, _)| calls.contains(at));
        for at in are_called.flat_map(|(_, function)| function.clone()) {
            if inside.insert(at) {
                sass.defs(at).iter().for_each(|slot| written[slot.index()] = true);
            }
        }
        Some(Self { calls, inside, written })
    }

    /// True where a use may see what a function has written, which the flow of control does not tell.
    fn may_give(&self, at: usize, each: &Use) -> bool {
        if self.inside[at] || !self.written[each.slot.index()] {
            return false;
        }
        let is_between = |by: u32| self.calls.iter().any(|&call| by as usize <= call && call < at);
        each.definition.is_none_or(is_between)
    }
}
