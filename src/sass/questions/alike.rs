//! Work that all threads of a block do alike: values in which neither the thread's index nor anything of its own takes
//! part.
//!
//! Such values are made of parameters, constants, the block's index, and memory at addresses that are alike. What
//! only counts loops and makes addresses does not count: each warp needs that for itself.

use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::slice;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;

/// The share of the executed instructions, 0 to 1, that is such arithmetic; 0 where the listing is only a part of the code.
#[must_use]
pub fn share(listing: &Listing) -> f64 {
    let total = listing.total();
    if total <= 0.0 {
        return 0.0;
    }
    arithmetic(listing).iter().map(|&at| listing.executed(at)).sum::<f64>() / total
}

/// The arithmetic on such values that ends up in what is stored or exchanged, ascending; none where the listing is only a part of
/// the code.
#[must_use]
pub fn arithmetic(listing: &Listing) -> Vec<usize> {
    if !listing.is_whole() {
        return Vec::new();
    }
    let (own, work) = (of_threads_own(listing), slice::work(listing));
    let alike = listing.entries().filter(|(at, entry)| {
        let is_arithmetic = matches!(
            entry.family,
            Family::Fp32Fma
                | Family::Fp32Mul
                | Family::Fp32Add
                | Family::Fp32Other
                | Family::Fp64
                | Family::SpecialFunction
                | Family::Convert
                | Family::ConvertFp64
                | Family::IntegerMultiply
                | Family::Integer
        );
        is_arithmetic && work[*at] && !own[*at]
    });
    alike.map(|(at, _)| at).collect()
}

/// The instructions whose result may differ from thread to thread of a block.
pub(super) fn of_threads_own(listing: &Listing) -> Marks {
    let sass = listing.sass;
    let mut own = Marks::of(sass.entries.len(), |at| is_own_in_itself(listing, at));
    let mut reaching = Reaching::new(sass);
    loop {
        let mut changed = false;
        for (at, entry) in listing.entries() {
            if !own[at] {
                let is_own = sass.uses(at).iter().any(|each| {
                    let mut made_at = reaching.definitions(at, *each);
                    // What nobody here writes is a function's argument.
                    made_at.len() == 0 && each.slot.is_general()
                        || made_at.any(|made_at| own[made_at as usize])
                });
                if is_own {
                    own.insert(at);
                    changed = true;
                }
            }
            if own[at]
                && let Exit::Branch(target) = entry.exit()
            {
                changed |= parts_ways(listing, at, target, &mut own);
            }
        }
        if !changed {
            return own;
        }
    }
}

/// True for what differs between threads whatever it reads.
pub(super) fn is_own_in_itself(listing: &Listing, at: usize) -> bool {
    match listing.sass.entries[at].family {
        Family::System => !listing.text(at).contains("SR_CTAID"),
        Family::Load(Space::Local)
        | Family::Atomic(_)
        | Family::Texture
        | Family::Shuffle
        | Family::Vote
        | Family::Other => true,
        _ => false,
    }
}

/// Marks what threads work out behind a branch that not all of them take: between the branch and its target, or in
/// the loop that it closes. True where anything was not marked before. Threads that leave the kernel there take
/// nothing with them.
fn parts_ways(listing: &Listing, branch: usize, target: usize, own: &mut Marks) -> bool {
    let sass = listing.sass;
    // Where threads meet again may stand in front of the end.
    let meets = |at: &usize| sass.entries[*at].family == Family::Control;
    let mut last = (target..sass.entries.len()).take_while(meets);
    if last.any(|at| sass.entries[at].exit() == Exit::End) {
        return false;
    }
    let between = if target > branch { branch + 1..target } else { target..branch };
    let mut changed = false;
    for at in between {
        let makes = !sass.defs(at).is_empty();
        changed |= makes && own.insert(at);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(code: &[(&str, f64)]) -> f64 {
        share(&launch(code).listing().unwrap())
    }

    /// A loop of two multiplications of R4, which this made, and what else is in it.
    fn powers(made: &str, beside: &str) -> f64 {
        of(&[
            ("S2R R0, SR_TID.X", 1.0),
            (made, 1.0),
            ("LDC.64 R2, c[0x0][0x210]", 1.0),
            ("FMUL R6, R4, R4", 40.0),
            (beside, 40.0),
            ("FMUL R4, R6, R4", 40.0),
            ("ISETP.NE.AND P0, PT, R8, R9, PT", 40.0),
            ("@P0 BRA 0x130", 40.0),
            ("IMAD.WIDE R2, R0, 0x4, R2", 1.0),
            ("STG.E desc[UR4][R2.64], R4", 1.0),
            ("EXIT", 1.0),
        ])
    }

    #[test]
    fn what_is_made_of_parameters_is_alike_and_what_is_made_of_the_index_is_not() {
        let counter = "IADD3 R8, R8, 0x1, RZ";
        // R8 and R9 are given from nowhere here, so that the loop may turn more often for some threads.
        assert!(powers("LDC R4, c[0x0][0x218]", counter) < 1e-12);
        let bounded = |made| {
            of(&[
                ("S2R R0, SR_TID.X", 1.0),
                (made, 1.0),
                ("LDC.64 R2, c[0x0][0x210]", 1.0),
                ("MOV R8, RZ", 1.0),
                ("FMUL R4, R4, R4", 40.0),
                ("IADD3 R8, R8, 0x1, RZ", 40.0),
                ("ISETP.NE.AND P0, PT, R8, 0x28, PT", 40.0),
                ("@P0 BRA 0x140", 40.0),
                ("IMAD.WIDE R2, R0, 0x4, R2", 1.0),
                ("STG.E desc[UR4][R2.64], R4", 1.0),
                ("EXIT", 1.0),
            ])
        };
        // 40 of 167: the counter is no work.
        assert!((bounded("LDC R4, c[0x0][0x218]") - 40.0 / 167.0).abs() < 1e-12);
        assert!((bounded("S2R R4, SR_CTAID.X") - 40.0 / 167.0).abs() < 1e-12);
        assert!(bounded("I2FP.F32.S32 R4, R0") < 1e-12);
        assert!(bounded("LDG.E R4, desc[UR4][R0.64]") < 1e-12, "by an address of its own");
    }

    #[test]
    fn behind_a_branch_of_its_own_a_threads_values_are_its_own() {
        let behind = |condition: &str| {
            of(&[
                ("S2R R0, SR_TID.X", 1.0),
                ("LDC R4, c[0x0][0x218]", 1.0),
                ("LDC.64 R2, c[0x0][0x210]", 1.0),
                (condition, 1.0),
                ("@P0 BRA 0x160", 1.0),
                ("FMUL R4, R4, R4", 94.0),
                ("STG.E desc[UR4][R2.64], R4", 1.0),
                ("EXIT", 1.0),
            ])
        };
        assert!(behind("ISETP.GE.AND P0, PT, R0, 0x10, PT") < 1e-12);
        assert!((behind("ISETP.GE.AND P0, PT, R4, 0x10, PT") - 0.94).abs() < 0.02);
    }

    #[test]
    fn threads_that_leave_take_nothing_with_them() {
        let leave = of(&[
            ("S2R R0, SR_TID.X", 1.0),
            ("ISETP.GE.AND P0, PT, R0, 0x10, PT", 1.0),
            ("LDC R4, c[0x0][0x218]", 1.0),
            ("LDC.64 R2, c[0x0][0x210]", 1.0),
            ("@P0 EXIT", 1.0),
            ("FMUL R4, R4, R4", 93.0),
            ("STG.E desc[UR4][R2.64], R4", 1.0),
            ("EXIT", 1.0),
        ]);
        assert!((leave - 0.93).abs() < 1e-12, "{leave}");
    }
}
