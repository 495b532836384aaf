//! Loads whose address comes from their own last result: a walk along pointers, or an automaton.
//!
//! Such loads can't be issued ahead, however far a loop is unrolled: the next address is known only
//! when the last value has arrived. The same holds where a turn's values decide by a condition where the next
//! turn loads: a search by halves, or the merging of two lists.

use foldhash::{HashMap, HashMapExt};

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::cycles::cycles;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::EVERY_TURN;

/// The loads from global memory that wait for themselves.
#[must_use]
pub fn chained(listing: &Listing) -> Marks {
    let entries = &listing.sass.entries;
    let mut reaching = Reaching::with_guards(listing.sass);
    let loads = Marks::of(entries.len(), |index| {
        matches!(entries[index].family, Family::Load(Space::Global | Space::Generic))
            && listing.executed(index) > 0.0
            && listing.sass.flow.innermost(index).is_some()
    });
    // Instructions that use what they made themselves a turn before.
    let turning = cycles(entries.len(), loads.iter(), |at, open| {
        for each in followed(listing, at) {
            open.extend(reaching.definitions(at, *each));
        }
    });
    // Nothing that is moved on can be among what makes an address where nothing leads back to itself.
    let any = !turning.are_none();
    // Per loop what is known to lead to nothing that is moved on by choice.
    let mut followed_up: HashMap<usize, Marks> = HashMap::new();
    Marks::of(entries.len(), |index| {
        loads[index]
            && (turning[index]
                || any && goes_by_choice(listing, &mut reaching, index, &turning, &mut followed_up))
    })
}

/// What is followed from an instruction: what it is made of, and of a load its address alone.
fn followed<'a>(listing: &Listing<'a>, at: usize) -> impl Iterator<Item = &'a Use> {
    let of_load = matches!(listing.sass.entries[at].family, Family::Load(_));
    let is_followed = move |role| role == Role::Address || role == Role::Data && !of_load;
    listing.sass.uses(at).iter().filter(move |each| is_followed(each.role))
}

/// True where a load's address is moved on in some turns of its loop and not in others.
fn goes_by_choice(
    listing: &Listing,
    reaching: &mut Reaching,
    load: usize,
    turning: &Marks,
    followed_up: &mut HashMap<usize, Marks>,
) -> bool {
    let sass = listing.sass;
    let Some(around) = sass.flow.innermost(load) else { return false };
    let seen = followed_up.entry(around).or_insert_with(|| Marks::new(sass.entries.len()));
    let around = &sass.flow.loops[around];
    let inside = |at: usize| sass.flow.is_in(around, at);
    let lanes = |at: usize| listing.row(at).counters.thread_inst_executed_pred_on;
    // Lanes that come to the branch back: others may have left the loop before.
    let turns = listing.row(around.back).counters.thread_inst_executed;
    let (mut open, mut found) = (vec![load], false);
    while let Some(at) = open.pop() {
        for each in followed(listing, at) {
            for before in reaching.definitions(at, *each).map(|before| before as usize) {
                if !inside(before) {
                    continue;
                }
                // What reaches the load from the turn before, and not in every turn: moved on from where it was,
                // and not worked out anew.
                found |= before >= at
                    && turning[before]
                    && lanes(before) > 0.0
                    && lanes(before) < EVERY_TURN.value * turns;
                if seen.insert(before) {
                    open.push(before);
                }
            }
        }
        if found {
            // What was seen so far leads to it, for other loads too.
            seen.clear();
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn a_walk_waits_for_itself_and_a_gather_does_not() {
        let walk = launch(&[
            ("IMAD.WIDE R4, R0, 0x4, R2", 9.0),
            ("LDG.E R0, desc[UR8][R4.64]", 9.0),
            ("ISETP.NE.AND P0, PT, R0, RZ, PT", 9.0),
            ("@P0 BRA 0x0", 9.0),
            ("EXIT", 1.0),
        ]);
        let found = chained(&walk.listing().unwrap());
        assert_eq!(found.iter().collect::<Vec<_>>(), [1]);
        let gather = launch(&[
            ("LDG.E R0, desc[UR8][R6.64]", 9.0),
            ("IMAD.WIDE R4, R0, 0x4, R2", 9.0),
            ("LDG.E R1, desc[UR8][R4.64]", 9.0),
            ("IADD3 R6, P1, R6, 0x4, RZ", 9.0),
            ("ISETP.NE.AND P0, PT, R6, R9, PT", 9.0),
            ("@P0 BRA 0x0", 9.0),
            ("EXIT", 1.0),
        ]);
        assert!(chained(&gather.listing().unwrap()).are_none());
    }

    #[test]
    fn a_load_that_its_last_value_switches_is_no_walk() {
        // What was loaded is an operand of the next load, and no part of its address.
        let switched = launch(&[
            ("LDG.E R0, desc[UR8][R6.64], P1", 9.0),
            ("ISETP.NE.AND P1, PT, R0, RZ, PT", 9.0),
            ("IADD3 R6, R6, 0x4, RZ", 9.0),
            ("ISETP.NE.AND P0, PT, R6, R9, PT", 9.0),
            ("@P0 BRA 0x0", 9.0),
            ("EXIT", 1.0),
        ]);
        assert!(chained(&switched.listing().unwrap()).are_none());
    }

    #[test]
    fn lists_that_are_merged_are_read_one_value_after_the_other() {
        // Each turn moves one of two places on.
        let merge = |lanes: f64| {
            let mut code = launch(&[
                ("LDG.E R0, desc[UR8][R2.64]", 9.0),
                ("FSETP.GT.AND P1, PT, R0, R7, PT", 9.0),
                ("@P1 IADD3 R2, R2, 0x4, RZ", 9.0),
                ("IADD3 R6, R6, 0x1, RZ", 9.0),
                ("ISETP.NE.AND P0, PT, R6, R9, PT", 9.0),
                ("@P0 BRA 0x0", 9.0),
                ("EXIT", 1.0),
            ]);
            for row in &mut code.instructions {
                row.counters.thread_inst_executed_pred_on = 9.0 * 32.0;
                row.counters.thread_inst_executed = 9.0 * 32.0;
            }
            code.instructions[2].counters.thread_inst_executed_pred_on = lanes;
            !chained(&code.listing().unwrap()).are_none()
        };
        assert!(merge(150.0));
        // Nine tenths of 288 lanes are 259.2.
        assert!(merge(259.0) && !merge(260.0));
        assert!(!merge(9.0 * 32.0), "moved on in every turn");
    }
}
