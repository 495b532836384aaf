//! Packed integers that become floats field by field.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{Removal, gains};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::sass::questions::fields::{Fields, fields};
use crate::term::Term;
use crate::text::{count, percent};

/// The finding; `None` where fewer instructions for the fields would give nothing.
///
/// A float of 2²³ holds an integer of up to 23 bits in its mantissa. So a field that is masked where it lies, together
/// with the exponent's bits, is a float already: one bitwise instruction and one subtraction on the FMA pipe do what a
/// shift, a mask and a conversion do, and the power of two of the field's place goes into the factor that scales it.
pub(super) fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let Fields { masked, pieces, shifts } = fields(&listing);
    let executed = |of: &[usize]| of.iter().map(|&at| listing.executed(at)).sum::<f64>();
    let (of_masks, of_pieces) = (executed(&masked), executed(&pieces));
    let conversions = of_masks + of_pieces;
    if conversions <= 0.0 {
        return None;
    }
    for &at in masked.iter().chain(&pieces).chain(&shifts) {
        removal.remove(at, 1.0);
    }
    removal.add(Term::Fma, conversions);
    // A byte comes into the mantissa by a permutation.
    removal.add(Term::Alu, of_pieces);
    let effect = removal.effect(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let locations = removal.locations(launch, "conversions of fields");
    let at = place(&locations, "the loop that unpacks");
    let total = removal.mix.total;
    let spent = conversions + of_masks + executed(&shifts);
    let how = if of_masks >= of_pieces {
        "mask each field where it lies and set the exponent of 2^23 in the same LOP3, (x & mask) | 0x4b000000, as a \
         float; subtract 2^23 in the next FMA, and let the scale take in the power of two of the field's place"
    } else {
        "bring each byte into the mantissa of 2^23 by one __byte_perm(x, 0x4b000000, …) (XOR 0x80808080 first where bytes \
         are signed) and subtract the constant in the next FMA"
    };
    Some(Draft {
        message: format!(
            "{} of {} executed warp instructions ({}) shift, mask and convert fields of packed integers, one after the \
             other: {} conversions to floats.",
            count(spent),
            count(total),
            percent(spent / total),
            count(conversions),
        ),
        evidence: vec![
            Evidence::new("executed conversions of fields", conversions, "inst"),
            Evidence::new("executed shifts for them", executed(&shifts), "inst"),
            Evidence::new("smsp__inst_executed.sum", total, "inst"),
        ],
        hint: format!(
            "Make floats of the fields at {at} without a conversion: {how}. For halves, two at a time: 0x64006400, which is \
             1024 twice. All values stay exact."
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::removal::ISSUE_BUSY;
    use crate::model::Model;
    use crate::rules::testing::sass;

    #[test]
    fn a_subtraction_comes_in_place_of_shift_and_conversion() {
        let code = [
            ("MOV R1, RZ", 1.0),
            ("SHF.R.U32.HI R7, RZ, 0x4, R21", 100.0),
            ("LOP3.LUT R8, R7, 0x7, RZ, 0xc0, !PT", 100.0),
            ("I2FP.F32.U32 R9, R8", 100.0),
            ("FFMA R10, R9, R11, R10", 100.0),
            ("@P0 BRA 0x110", 100.0),
            ("EXIT", 1.0),
        ];
        let of = |pipe: &'static str| {
            let name = format!("sm__pipe_{pipe}_cycles_active.avg.pct_of_peak_sustained_elapsed");
            let launch = sass(&[(ISSUE_BUSY, 40.0), (name.as_str(), 80.0)], &code);
            let model = Model::new(&launch);
            check(&ModeledLaunch { profile: &launch, model: &model })
        };
        let draft = of("alu").unwrap();
        // Of four on the ALU pipe, the branch among them, or of three, two go.
        assert!((draft.effect.share_of(Term::Alu) - 2.0 / 3.0).abs() < 0.01, "{:?}", draft.effect);
        assert!((draft.effect.share_of(Term::Issue) - 100.0 / 502.0).abs() < 1e-12);
        assert!(draft.message.starts_with("300 of 502"), "{}", draft.message);
        assert!(of("fma").is_none(), "the pipe for multiply-adds has more to do");
    }
}
