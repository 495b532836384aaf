//! Work and overhead: which instructions make the values that a kernel is about.

use super::listing::Listing;
use super::opcode::Family;
use super::operands::Role;
use super::reaching::Reaching;

/// For each instruction whether it is work, found once for a launch: it moves data, or a value that it makes ends up in what
/// is stored, exchanged between lanes or combined by an atomic. What only makes addresses, counts
/// loops and steers branches is overhead, and so is what moves registers about.
///
/// Arithmetic on floats is always work, also where it only decides a branch: nobody counts loops or
/// addresses with it.
#[must_use]
pub fn work<'a>(listing: &Listing<'a>) -> &'a [bool] {
    listing.facts.work(|| find(listing))
}

fn find(listing: &Listing) -> Box<[bool]> {
    let sass = listing.sass;
    let mut work = vec![false; sass.entries.len()];
    let mut reaching = Reaching::new(sass);
    let mut open: Vec<u32> = Vec::new();
    for (root, entry) in (0_u32..).zip(&sass.entries) {
        let is_root = entry.family.is_memory()
            || entry.family.is_float()
            || matches!(entry.family, Family::Shuffle | Family::Vote | Family::Fence)
            || entry.family == Family::Barrier;
        if is_root && !std::mem::replace(&mut work[root as usize], true) {
            open.push(root);
        }
        // Each root is followed at once, so that few are open at a time.
        while let Some(index) = open.pop() {
            let index = index as usize;
            // A guard of arithmetic chooses its value; one of an access or a branch only bounds it.
            let chooses = !sass.entries[index].family.is_memory();
            let follows = |role: Role| match role {
                Role::Data | Role::Old => true,
                Role::Guard => chooses,
                Role::Address => false,
            };
            for each in sass.uses(index).iter().filter(|each| follows(each.role)) {
                for definition in reaching.definitions(index, *each) {
                    if !std::mem::replace(&mut work[definition as usize], true) {
                        open.push(definition);
                    }
                }
            }
        }
    }
    work.into()
}

#[cfg(test)]
mod tests {
    use super::super::listing::tests::launch;
    use super::*;

    #[test]
    fn addresses_and_counters_are_overhead_and_what_is_stored_is_work() {
        let code = launch(&[
            ("IMAD.WIDE R2, R5, 0x4, R10", 1.0),          // address
            ("LDG.E R4, desc[UR4][R2.64]", 1.0),          // data
            ("LOP3.LUT R6, R4, 0x7, RZ, 0xc0, !PT", 1.0), // stored below
            ("IADD3 R5, R5, 0x1, RZ", 1.0),               // counter
            ("ISETP.NE.AND P0, PT, R5, R9, PT", 1.0),     // its test
            ("STG.E desc[UR4][R2.64], R6", 1.0),
            ("@P0 BRA 0x100", 1.0),
            ("EXIT", 1.0),
        ]);
        let work = work(&Listing::of(&code).unwrap());
        assert_eq!(work, [false, true, true, false, false, true, false, false]);
    }

    #[test]
    fn a_guard_that_chooses_a_value_is_work_and_one_that_bounds_an_access_is_not() {
        let code = launch(&[
            ("ISETP.NE.AND P0, PT, R5, R9, PT", 1.0),
            ("ISETP.NE.AND P1, PT, R5, R8, PT", 1.0),
            ("@P0 IADD3 R6, R6, 0x1, RZ", 1.0),
            ("@P1 STG.E desc[UR4][R2.64], R6", 1.0),
        ]);
        assert_eq!(work(&Listing::of(&code).unwrap()), [true, false, true, true]);
    }

    #[test]
    fn a_counter_that_is_stored_is_work() {
        let code = launch(&[
            ("IADD3 R5, R5, 0x1, RZ", 1.0),
            ("I2FP.F32.S32 R6, R5", 1.0),
            ("STG.E desc[UR4][R2.64], R6", 1.0),
            ("BRA 0x100", 1.0),
        ]);
        assert_eq!(work(&Listing::of(&code).unwrap()), [true, true, true, false]);
    }
}
