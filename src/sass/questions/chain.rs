//! Loads whose address comes from their own last result: a walk along pointers, or an automaton.
//!
//! Such loads can't be issued ahead, however far a loop is unrolled: the next address is known only
//! when the last value has arrived.

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// The loads from global memory that wait for themselves.
#[must_use]
pub fn chained(listing: &Listing) -> Marks {
    let entries = &listing.sass.entries;
    let mut reaching = Reaching::with_guards(listing.sass);
    Marks::of(entries.len(), |index| {
        matches!(entries[index].family, Family::Load(Space::Global | Space::Generic))
            && listing.executed(index) > 0.0
            && listing.sass.flow.innermost(index).is_some()
            && reaches_itself(listing, &mut reaching, index)
    })
}

fn reaches_itself(listing: &Listing, reaching: &mut Reaching, load: usize) -> bool {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![load];
    while let Some(at) = open.pop() {
        let of_load = matches!(sass.entries[at].family, Family::Load(_));
        let followed = |role| match role {
            Role::Address => true,
            Role::Data => !of_load,
            Role::Guard | Role::Old => false,
        };
        for each in sass.uses(at).iter().filter(|each| followed(each.role)) {
            for definition in reaching.definitions(at, *each) {
                let definition = definition as usize;
                if definition == load {
                    return true;
                }
                if seen.insert(definition) {
                    open.push(definition);
                }
            }
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
}
