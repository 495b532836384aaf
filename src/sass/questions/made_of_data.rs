//! Values made of what the kernel reads: no compiler can know them.

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// The instructions in whose operands or guard, over any number of steps, a value from memory takes part. Loads count by
/// their addresses only; constants and parameters are no data.
#[must_use]
pub fn made_of_data(listing: &Listing) -> Marks {
    let sass = listing.sass;
    let mut made = Marks::new(sass.entries.len());
    let mut reaching = Reaching::new(sass);
    let all = Marks::of(sass.entries.len(), |_| true);
    made.spread(&all, |at, made| {
        let mut uses = sass.uses(at).iter().filter(|each| each.role != Role::Old);
        uses.any(|each| {
            let mut by = reaching.definitions(at, *each).map(|by| by as usize);
            by.any(|by| reads(listing, by) || made[by])
        })
    });
    made
}

/// True where data take part in the address of one of these accesses.
#[must_use]
pub fn is_at_data(listing: &Listing, accesses: &[usize]) -> bool {
    let made = made_of_data(listing);
    let mut reaching = Reaching::new(listing.sass);
    let mut is_at = |at: usize| {
        let mut uses = listing.sass.uses(at).iter().filter(|each| each.role == Role::Address);
        uses.any(|each| {
            let mut by = reaching.definitions(at, *each).map(|by| by as usize);
            by.any(|by| reads(listing, by) || made[by])
        })
    };
    accesses.iter().any(|&at| is_at(at))
}

/// True for what reads memory.
fn reads(listing: &Listing, at: usize) -> bool {
    matches!(
        listing.sass.entries[at].family,
        Family::Load(Space::Global | Space::Generic | Space::Shared | Space::Local)
            | Family::Atomic(_)
            | Family::Texture
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn what_is_compared_with_a_loaded_value_is_made_of_data_and_a_counter_is_not() {
        let code = launch(&[
            ("IADD3 R5, R5, 0x1, RZ", 1.0), // counts turns
            ("LEA R2, R5, R1, 0x2", 1.0),   // address
            ("LDL R4, [R2]", 1.0),
            ("ISETP.NE.AND P1, PT, R4, R8, PT", 1.0), // a condition on data
            ("@P1 IADD3 R6, R6, 0x1, RZ", 1.0),
            ("ISETP.NE.AND P0, PT, R5, R9, PT", 1.0),
            ("@P0 BRA 0x100", 1.0),
            ("EXIT", 1.0),
        ]);
        let made = made_of_data(&code.listing().unwrap());
        assert_eq!(made.iter().collect::<Vec<_>>(), [3, 4]);
    }
}
