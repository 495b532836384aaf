//! Sums of products of two loaded values, as in a product of a matrix and a vector.

use crate::sass::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, OperandKind};
use crate::sass::parse::opcode::Family;

/// True where a loop adds up such products: it multiplies two values that it has just loaded, each perhaps converted, and
/// adds what comes of it to a third.
#[must_use]
pub fn has_any(listing: &Listing) -> bool {
    let mut reaching = Reaching::new(listing.sass);
    listing.entries().any(|(at, _)| {
        listing.executed(at) > 0.0
            && listing.sass.flow.innermost(at).is_some()
            && factors(listing, at).is_some_and(|factors| {
                factors.into_iter().all(|each| is_loaded(listing, &mut reaching, at, each))
            })
    })
}

/// The two factors of a multiply-add, where both are registers and not the same one.
fn factors(listing: &Listing, at: usize) -> Option<[Use; 2]> {
    let parsed = Instruction::parse(listing.text(at))?;
    if !matches!(parsed.base(), "FFMA" | "FFMA2" | "DFMA" | "HFMA2" | "IDP") {
        return None;
    }
    let factor = |place: usize| {
        let operand = parsed.operands.get(place)?;
        let slot = operand.slot().filter(|_| operand.kind == OperandKind::Register)?;
        listing.sass.uses(at).iter().copied().find(|each| each.slot == slot)
    };
    let both = [factor(1)?, factor(2)?];
    (both[0].slot != both[1].slot).then_some(both)
}

fn is_loaded(listing: &Listing, reaching: &mut Reaching, at: usize, each: Use) -> bool {
    let made: Vec<usize> = reaching.definitions(at, each).map(|by| by as usize).collect();
    made.into_iter().any(|by| match listing.sass.entries[by].family {
        Family::Load(Space::Global | Space::Generic | Space::Shared) => true,
        Family::Convert | Family::HalfConvert | Family::ConvertFp64 | Family::Move => {
            let sources: Vec<Use> = listing.sass.uses(by).to_vec();
            sources.into_iter().any(|source| {
                reaching.definitions(by, source).any(|at| {
                    let family = listing.sass.entries[at as usize].family;
                    matches!(family, Family::Load(Space::Global | Space::Generic | Space::Shared))
                })
            })
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(product: &str, between: &str) -> bool {
        let code = launch(&[
            ("LDG.E R4, desc[UR4][R2.64]", 10.0),
            ("LDG.E R5, desc[UR4][R6.64]", 10.0),
            (between, 10.0),
            (product, 10.0),
            ("ISETP.NE.AND P0, PT, R8, R9, PT", 10.0),
            ("@P0 BRA 0x100", 10.0),
            ("EXIT", 1.0),
        ]);
        has_any(&code.listing().unwrap())
    }

    #[test]
    fn both_factors_are_loaded() {
        assert!(of("FFMA R0, R4, R5, R0", "NOP"));
        assert!(of("FFMA R0, R10, R5, R0", "I2FP.F32.S32 R10, R4"), "converted");
        assert!(!of("FFMA R0, R4, c[0x3][0x10], R0", "NOP"), "a weight that is given");
        assert!(!of("FFMA R0, R4, R4, R0", "NOP"), "a square");
        assert!(!of("FFMA R0, R10, R5, R0", "FADD R10, R4, R5"), "a sum times a speed");
    }
}
