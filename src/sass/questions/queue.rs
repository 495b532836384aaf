//! Loops whose turns are fetched from a queue: an atomic hands out the number of the next piece of work.

use crate::sass::code::blocks::{Exit, Loop};
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::ADDRESS_STEPS;

/// The atomic by which a loop's turns fetch their number, which decides whether there is another turn:
/// it adds to a counter whose address is the same in every turn. The number may come to the block's
/// other threads by way of shared memory or a shuffle.
pub(super) fn fetch(listing: &Listing, reaching: &mut Reaching, of: &Loop) -> Option<usize> {
    let sass = listing.sass;
    let blocks = of.blocks.iter().map(|&block| &sass.flow.blocks[block as usize]);
    let places = || sass.flow.places(of);
    let counters: Vec<usize> = places()
        .filter(|&at| listing.executed(at) > 0.0 && adds(listing, at))
        .filter(|&at| is_the_same_in_every_turn(listing, reaching, of, at))
        .collect();
    if counters.is_empty() {
        return None;
    }
    let contains = |at: usize| sass.flow.is_in(of, at);
    let leaves = |at: usize| match sass.entries[at].exit() {
        Exit::Branch(target) => {
            !contains(target) || !contains((at + 1).min(sass.entries.len() - 1))
        }
        Exit::MaybeEnd => true,
        Exit::Next | Exit::Jump(_) | Exit::End => false,
    };
    let mut seen = Marks::new(sass.entries.len());
    let mut open: Vec<usize> = blocks.map(|block| block.end - 1).filter(|&at| leaves(at)).collect();
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        if counters.contains(&at) {
            return Some(at);
        }
        for each in sass.uses(at).iter().filter(|each| each.role != Role::Address) {
            open.extend(
                reaching.definitions(at, *each).map(|at| at as usize).filter(|&at| contains(at)),
            );
        }
        if sass.entries[at].family == Family::Load(Space::Shared) {
            let stored = |at: &usize| sass.entries[*at].family == Family::Store(Space::Shared);
            open.extend(places().filter(stored));
        }
    }
    None
}

/// True for an atomic in global memory that adds. That its old value is used, the way to it shows.
fn adds(listing: &Listing, at: usize) -> bool {
    let sass = listing.sass;
    matches!(sass.entries[at].family, Family::Atomic(Space::Global | Space::Generic))
        && Instruction::parse(listing.text(at))
            .is_some_and(|each| each.has("ADD") || each.has("INC"))
}

/// True where an access's address is worked out from nothing that changes from turn to turn.
fn is_the_same_in_every_turn(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
    access: usize,
) -> bool {
    let sass = listing.sass;
    let contains = |at: usize| sass.flow.is_in(of, at);
    let addresses = sass.uses(access).iter().filter(|each| each.role == Role::Address);
    let mut open: Vec<(usize, f64)> = addresses
        .flat_map(|each| reaching.definitions(access, *each).collect::<Vec<_>>())
        .map(|at| (at as usize, ADDRESS_STEPS.value))
        .collect();
    while let Some((at, steps)) = open.pop() {
        if !contains(at) {
            continue;
        }
        // A value that is worked out from itself never ends.
        if steps <= 0.0 || matches!(sass.entries[at].family, Family::Load(_)) {
            return false;
        }
        for each in sass.uses(at) {
            open.extend(reaching.definitions(at, *each).map(|at| (at as usize, steps - 1.0)));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::sass::code::listing::tests::launch;
    use crate::sass::questions::independence::{Shape, What, shareable};

    /// What can be shared out of a loop of 40 turns that keeps a product, which ties turns together, and has
    /// this in it; its head is at 0x110.
    fn what(body: &[&str]) -> What {
        let mut code = vec![("MOV R0, 0x1", 10.0)];
        code.extend(body.iter().map(|text| (*text, 400.0)));
        code.extend([
            ("FMUL R0, R0, R5", 400.0),
            ("ISETP.LT.AND P0, PT, R2, R9, PT", 400.0),
            ("@P0 BRA 0x110", 400.0),
            ("STG.E desc[UR4][R6.64], R0", 10.0),
            ("EXIT", 10.0),
        ]);
        shareable(&launch(&code).listing().unwrap(), Shape::default()).unwrap().what
    }

    #[test]
    fn a_counter_that_decides_on_the_next_turn_hands_out_work() {
        let fetch = "ATOMG.E.ADD.STRONG.GPU PT, R2, desc[UR4][R10.64], R3";
        assert_eq!(what(&[fetch]), What::Queue(1));
        let told = [
            "ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R10.64], R3",
            "STS [R7], R4",
            "LDS R2, [R7]",
        ];
        assert_eq!(what(&told), What::Queue(1), "by way of shared memory");
        let read_anew = ["LDC.64 R10, c[0x0][0x228]", fetch];
        assert_eq!(what(&read_anew), What::Queue(2), "the counter's address is a parameter");
    }

    #[test]
    fn other_atomics_hand_out_nothing() {
        let place = "ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R10.64], R3";
        assert_eq!(what(&[place, "IADD3 R2, R2, 0x1, RZ"]), What::Nothing, "a place to write to");
        let moved =
            ["IADD3 R10, R10, 0x4, RZ", "ATOMG.E.ADD.STRONG.GPU PT, R2, desc[UR4][R10.64], R3"];
        assert_eq!(what(&moved), What::Nothing, "a flag of each turn");
        let exchanged = "ATOMG.E.EXCH.STRONG.GPU PT, R2, desc[UR4][R10.64], R3";
        assert_eq!(what(&[exchanged]), What::Nothing, "a lock");
    }

    #[test]
    fn a_counters_address_is_made_in_three_steps_at_most() {
        let steps = |count: usize| {
            let mut body = vec!["LEA R12, R20, R21, 0x2"; 1];
            body.extend(vec!["IADD3 R12, R12, R22, RZ"; count - 2]);
            body.push("IADD3 R10, R12, R23, RZ");
            body.push("ATOMG.E.ADD.STRONG.GPU PT, R2, desc[UR4][R10.64], R3");
            what(&body)
        };
        assert_eq!((steps(3), steps(4)), (What::Queue(4), What::Nothing));
    }
}
