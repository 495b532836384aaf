//! Whose end an access's guard stands for.

use super::is_of_block;
use super::trace::{Start, trace_from};
use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;

/// Whose end a bound is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The same of all blocks.
    OfAll,
    /// Each block's own, which it loads.
    OfBlock,
}

/// What makes the guard of an access.
pub(super) fn guard_of(listing: &Listing, reaching: &mut Reaching, access: usize) -> Start {
    let mut start = Start::of_role(listing, reaching, access, Role::Guard);
    unpack(listing, reaching, &mut start);
    start
}

/// Takes a comparison that was kept in a register as the comparison: compilers keep predicates so where they run out of them
/// (`P2R R27, PR, RZ, 0x1`, and later `ISETP.NE.AND P0, PT, R27, RZ, PT`).
fn unpack(listing: &Listing, reaching: &mut Reaching, start: &mut Start) {
    let mut only_maker = |at: u32, is_kept: &dyn Fn(&Use) -> bool| -> Option<u32> {
        let mut data = listing.sass.uses(at as usize).iter();
        let kept = data.find(|each| each.role == Role::Data && is_kept(each))?;
        let mut makers = reaching.definitions(at as usize, *kept);
        makers.next().filter(|_| makers.next().is_none())
    };
    for made_at in &mut start.made_at {
        let text = listing.text(*made_at as usize);
        let tests = text.contains("ISETP.NE") && text.contains("RZ");
        let kept_at = tests.then(|| only_maker(*made_at, &|each| each.slot.is_general())).flatten();
        let Some(kept_at) = kept_at else { continue };
        let kept = listing.text(kept_at as usize);
        let mask = kept.contains("P2R").then(|| kept.rsplit_once("0x")).flatten();
        let mask = mask.and_then(|(_, digits)| u32::from_str_radix(digits.trim(), 16).ok());
        let Some(mask) = mask.filter(|mask| mask.is_power_of_two()) else { continue };
        let slot = Slot::predicates().nth(mask.trailing_zeros() as usize);
        if let Some(compares) = only_maker(kept_at, &|each| Some(each.slot) == slot) {
            *made_at = compares;
        }
    }
}

/// Whose end a guard stands for that compares a thread's place by order: with a parameter and without the block's place, or with what
/// all threads of the block have loaded alike. `None` for any other guard, such as one by a bound that the compiler knows, like the
/// width of a tile's edge: that is the author's.
pub(super) fn end_of(listing: &Listing, reaching: &mut Reaching, start: &Start) -> Option<End> {
    let compares = |at: &u32| {
        let text = listing.text(*at as usize);
        text.contains("ISETP") && [".GE", ".GT", ".LT", ".LE"].iter().any(|by| text.contains(by))
    };
    if start.made_at.is_empty() || !start.made_at.iter().all(compares) {
        return None;
    }
    let is_parameter = |at: usize| listing.text(at).contains("c[0x0]");
    let mut is_of = |at: u32, is_bound: &dyn Fn(usize) -> bool| {
        let mut uses = listing.sass.uses(at as usize).iter();
        is_bound(at as usize)
            || uses.any(|each| {
                reaching.definitions(at as usize, *each).any(|by| is_bound(by as usize))
            })
    };
    let is_load = |at: usize| listing.sass.entries[at].family == Family::Load(Space::Global);
    let (of_all, of_block) = (
        start.made_at.iter().all(|&at| is_of(at, &is_parameter)),
        start.made_at.iter().all(|&at| is_of(at, &is_load)),
    );
    if of_all {
        let (origin, _) = trace_from(listing, reaching, start, |origin| origin.unknown);
        let is_alike = origin.block == [false; 3] && !origin.unknown && !origin.given;
        return (origin.is_of_lanes() && is_alike).then_some(End::OfAll);
    }
    if !of_block {
        return None;
    }
    let (origin, makers) = trace_from(listing, reaching, start, |_| false);
    let is_row = origin.is_of_lanes()
        && !origin.given
        && !makers.obscure
        && makers.loads.iter().all(|&load| is_of_block(listing, reaching, load));
    is_row.then_some(End::OfBlock)
}
