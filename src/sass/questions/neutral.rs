//! Exchanges to which most warps bring a constant: warps that take part in a sum over their block without having
//! anything to add.
//!
//! A thread that finds nothing to load keeps the value with which its sum began, and brings that to the
//! shuffles and into shared memory. Such a value is made of constants alone; what else could be in it is made
//! or loaded by few warps.

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// True where all but the given number of warps bring nothing but constants to a shuffle or to shared memory;
/// `at_work` is how many executions of an instruction have a lane switched on that touches anything.
pub(super) fn is_neutral(
    listing: &Listing,
    exchange: usize,
    limit: f64,
    at_work: impl Fn(usize) -> f64,
) -> bool {
    let sass = listing.sass;
    if !is_exchange(sass.entries[exchange].family) {
        return false;
    }
    let mut reaching = Reaching::new(sass);
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![exchange];
    while let Some(at) = open.pop() {
        let family = sass.entries[at].family;
        let uses = sass.uses(at).iter().filter(|each| each.role == Role::Data);
        // Of a shuffle's operands the first is the value, the others choose the lane.
        let values = if family == Family::Shuffle { 1 } else { usize::MAX };
        for each in uses.take(values) {
            let definitions = reaching.definitions(at, *each);
            if definitions.len() == 0 {
                return false;
            }
            for definition in definitions.map(|definition| definition as usize) {
                let few = at_work(definition) < limit;
                if few || !seen.insert(definition) {
                    continue;
                }
                let by_address =
                    sass.uses(definition).iter().any(|each| each.role == Role::Address);
                if by_address || !passes_on(sass.entries[definition].family) {
                    return false;
                }
                open.push(definition);
            }
        }
    }
    true
}

/// True for instructions by which warps exchange values within their block.
pub(super) fn is_exchange(family: Family) -> bool {
    matches!(family, Family::Shuffle | Family::Store(Space::Shared))
}

/// True for instructions whose result is a constant where their operands are.
pub(super) fn passes_on(family: Family) -> bool {
    family.is_float()
        || matches!(
            family,
            Family::Move
                | Family::Constant
                | Family::Convert
                | Family::Integer
                | Family::IntegerMultiply
                | Family::Shuffle
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A block of 32 warps of which so many load; all add up over their lanes.
    fn sum(load: f64, start: &str) -> bool {
        let launch = launch(&[
            (start, 320.0),
            ("@P0 BRA 0x140", 320.0),
            ("LDG.E R4, desc[UR4][R2.64]", load),
            ("FADD R0, R0, R4", load),
            ("SHFL.DOWN P1, R5, R0, 0x1, 0x1f", 320.0),
            ("@P1 FADD R5, R5, R0", 320.0),
            ("SHFL.DOWN P1, R6, R5, 0x2, 0x1f", 320.0),
            ("EXIT", 320.0),
        ]);
        let listing = launch.listing().unwrap();
        is_neutral(&listing, 6, 160.0, |at| listing.executed(at))
    }

    #[test]
    fn what_few_warps_load_leaves_the_others_their_zero() {
        assert!(sum(10.0, "HFMA2.MMA R0, -RZ, RZ, 0, 0"));
        assert!(sum(10.0, "MOV R0, 0xff800000"), "where a maximum begins");
        assert!(!sum(200.0, "MOV R0, RZ"), "most load");
    }

    #[test]
    fn a_value_of_the_threads_own_is_none() {
        assert!(!sum(10.0, "S2R R0, SR_TID.X"));
        assert!(!sum(10.0, "LDS R0, [R9]"));
        assert!(!sum(10.0, "LDC R0, c[0x3][R9]"), "a table's entry");
        assert!(sum(10.0, "LDC R0, c[0x0][0x210]"), "one number for all");
        assert!(!sum(10.0, "FADD R0, R8, R8"), "a value that comes from elsewhere");
    }
}
