//! Locks in global memory, which threads take and release one after another.

use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::{Space, address};
use crate::sass::parse::instruction::{Instruction, Operand};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::swap::compare_and_swaps;

/// A lock, from the attempts to take it to its release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// The compare-and-swap that takes it.
    pub taken: usize,
    /// The instructions that try until it is taken, ascending.
    pub attempts: Vec<usize>,
    /// What releases it.
    pub released: usize,
    /// The executed instructions between, ascending.
    pub held: Vec<usize>,
}

/// The executed locks: a compare-and-swap of two constants in a loop, and behind it an exchange or a store that other
/// threads see, at the same address.
#[must_use]
pub fn locks(listing: &Listing) -> Vec<Lock> {
    let sass = listing.sass;
    let mut reaching = Reaching::new(sass);
    let found = compare_and_swaps(listing).into_iter().filter_map(|taken| {
        let around = &sass.flow.loops[sass.flow.innermost(taken)?];
        let address = address_at(listing, taken)?;
        let mut after = taken + 1..sass.entries.len();
        let released = after.find(|&at| releases(listing, at) && is_at(listing, at, address))?;
        if !swaps_constants(listing, &mut reaching, taken) {
            return None;
        }
        // One who does not get it tries again at once, or goes round what is done with it.
        let goes_round = sass.flow.is_in(around, released);
        let attempts: Vec<usize> =
            if goes_round { vec![taken] } else { sass.flow.places(around).collect() };
        let is_other = |&at: &usize| at != taken && sass.entries[at].family.is_memory();
        if attempts.iter().any(is_other) {
            return None;
        }
        let last = *attempts.last()?;
        let held = (last + 1..released).filter(|&at| listing.executed(at) > 0.0).collect();
        Some(Lock { taken, attempts, released, held })
    });
    found.collect()
}

/// True where a compare-and-swap puts one constant in the place of another. One that puts it in its own place only reads.
fn swaps_constants(listing: &Listing, reaching: &mut Reaching, swap: usize) -> bool {
    let Some(instruction) = Instruction::parse(listing.text(swap)) else { return false };
    let [.., expected, new] = &instruction.operands[..] else { return false };
    let mut constant = |operand: &Operand| constant(listing, reaching, swap, operand);
    match (constant(expected), constant(new)) {
        (Some(expected), Some(new)) => expected != new,
        _ => false,
    }
}

/// The constant that an operand always holds, as its maker writes it; `None` where it is worked out from another value.
fn constant(
    listing: &Listing,
    reaching: &mut Reaching,
    at: usize,
    operand: &Operand,
) -> Option<String> {
    let sass = listing.sass;
    let Some(slot) = operand.slot() else { return Some(operand.text.to_owned()) };
    let each = sass.uses(at).iter().find(|each| each.slot == slot && each.role == Role::Data)?;
    let makers: Vec<usize> = reaching.definitions(at, *each).map(|at| at as usize).collect();
    let mut found: Option<String> = None;
    for maker in makers {
        let takes_part = |each: &Use| each.role != Role::Old && !each.slot.is_predicate();
        let is_worked_out = sass.entries[maker].family.is_memory()
            || listing.text(maker).contains("SR_")
            || sass.uses(maker).iter().any(takes_part);
        let made = Instruction::parse(listing.text(maker)).filter(|_| !is_worked_out)?;
        let text = made.operands.last()?.text.to_owned();
        if found.as_ref().is_some_and(|found| *found != text) {
            return None;
        }
        found = Some(text);
    }
    found
}

/// True for what gives a word back to other threads.
fn releases(listing: &Listing, at: usize) -> bool {
    let text = listing.text(at);
    listing.executed(at) > 0.0
        && match listing.sass.entries[at].family {
            Family::Atomic(Space::Global | Space::Generic) => text.contains(".EXCH"),
            Family::Store(Space::Global | Space::Generic) => text.contains(".STRONG"),
            _ => false,
        }
}

fn is_at(listing: &Listing, at: usize, expected: (Slot, i64)) -> bool {
    address_at(listing, at) == Some(expected)
}

fn address_at(listing: &Listing, at: usize) -> Option<(Slot, i64)> {
    address(&Instruction::parse(listing.text(at))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(new: &str, release: &str) -> Vec<Lock> {
        let launch = launch(&[
            (new, 10.0),
            ("MOV R2, RZ", 12.0), // 0x110
            ("ATOMG.E.CAS.STRONG.GPU PT, R2, [R4+0x10], R2, R3", 12.0),
            ("ISETP.NE.AND P0, PT, R2, RZ, PT", 12.0),
            ("@P0 BRA 0x110", 12.0),
            ("MEMBAR.SC.GPU", 10.0),
            ("STG.E desc[UR4][R4.64], R9", 10.0),
            (release, 10.0),
            ("EXIT", 10.0),
        ]);
        locks(&launch.listing().unwrap())
    }

    #[test]
    fn a_lock_is_taken_by_a_swap_of_constants_and_given_back() {
        let one = "IMAD.MOV.U32 R3, RZ, RZ, 0x1";
        let exchange = "ATOMG.E.EXCH.STRONG.GPU PT, RZ, desc[UR4][R4.64+0x10], RZ";
        let found = of(one, exchange);
        assert_eq!((found.len(), found[0].taken, found[0].released), (1, 2, 7));
        assert_eq!((&found[0].attempts[..], &found[0].held[..]), (&[1, 2, 3, 4][..], &[5, 6][..]));
        assert_eq!(of(one, "STG.E.STRONG.GPU desc[UR4][R4.64+0x10], RZ").len(), 1);
        assert_eq!(of(one, "STG.E desc[UR4][R4.64+0x10], RZ"), [], "nobody need see it");
        assert_eq!(of(one, "STG.E.STRONG.GPU desc[UR4][R4.64], RZ"), [], "another word");
        assert_eq!(of("HFMA2.MMA R3, -RZ, RZ, 0, 5.9604644775390625e-08", exchange).len(), 1);
        assert_eq!(of("FADD R3, R8, R9", exchange), [], "a value that is worked out");
        assert_eq!(of("MOV R3, RZ", exchange), [], "which only reads");
    }

    #[test]
    fn one_who_does_not_get_it_may_go_round_the_section() {
        let launch = launch(&[
            ("MOV R3, 0x1", 10.0),
            ("MOV R2, RZ", 12.0), // 0x110
            ("ATOMG.E.CAS.STRONG.GPU PT, R2, [R4], R2, R3", 12.0),
            ("ISETP.NE.AND P0, PT, R2, RZ, PT", 12.0),
            ("@P0 BRA 0x170", 12.0),
            ("STG.E desc[UR4][R6.64], R9", 10.0),
            ("ATOMG.E.EXCH.STRONG.GPU PT, RZ, desc[UR4][R4.64], RZ", 10.0),
            ("@!P1 BRA 0x110", 12.0), // 0x170
            ("EXIT", 10.0),
        ]);
        let found = locks(&launch.listing().unwrap());
        assert_eq!((found.len(), &found[0].attempts[..], found[0].released), (1, &[2][..], 6));
        assert_eq!(found[0].held, [3, 4, 5]);
    }
}
