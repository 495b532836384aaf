//! Divisions by a reciprocal worked out before, whose quotient is wanted and not only the remainder.

use crate::evidence::Threshold;
use crate::sass::parse::library::Cost;
use crate::sass::{Listing, Routine};

/// How far behind the product its corrections are looked for.
pub(super) const CORRECTED_WITHIN: Threshold = Threshold {
    what: "instructions from a division's high product to the corrections of its quotient, at most",
    value: 64.0,
    unit: "instruction",
    source: "measured on sm_90: among eight divisions side by side up to 36 are between them",
};

/// True where the quotient that a high product gives is corrected: counted up, up to twice.
pub(super) fn is_wanted(listing: Listing, mark: usize) -> bool {
    let is_repeated = listing.sass.entries[mark].routine == Some(Routine::RepeatedDivision);
    let product = listing.text(mark);
    let mut words = product.split_whitespace().skip_while(|word| word.starts_with('@'));
    let Some(quotient) = words.nth(1).filter(|_| is_repeated) else { return false };
    let end = (mark + CORRECTED_WITHIN.whole()).min(listing.sass.entries.len());
    let counted_up = [
        // The register's word has its comma.
        format!("VIADD {quotient} {quotient} 0x1"),
        format!("IADD3 {quotient} {quotient} 0x1, RZ"),
        format!("IADD3 {quotient} PT, PT, {quotient} 0x1, RZ"),
    ];
    (mark + 1..end).any(|at| {
        let text = listing.text(at).trim_end().trim_end_matches(';').trim_end();
        counted_up.iter().any(|addition| text.ends_with(addition.as_str()))
    })
}

/// What a division takes that also has its quotient: one correction more, and where the operands have signs,
/// whether they differ.
pub(super) fn with_quotient(routine: Routine, remainder: Cost) -> Cost {
    let more = match routine {
        Routine::RepeatedDivision => 1.0,
        Routine::RepeatedSignedDivision => 2.0,
        _ => 0.0,
    };
    Cost { alu: remainder.alu + more, all: remainder.all + more, ..remainder }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn a_quotient_is_counted_up_behind_its_product() {
        let wanted = |correction: &str, apart: usize| {
            let mut code = vec![("IMAD.HI.U32 R6, R4, R9, RZ", 1.0)];
            code.extend(vec![("NOP", 1.0); apart]);
            code.push((correction, 1.0));
            is_wanted(launch(&code).listing().unwrap(), 0)
        };
        assert!(wanted("@!P2 VIADD R6, R6, 0x1", 62));
        assert!(!wanted("@!P2 VIADD R6, R6, 0x1", 63), "too far behind");
        assert!(wanted("@P0 IADD3 R6, R6, 0x1, RZ", 0));
        assert!(wanted("@P0 IADD3 R6, PT, PT, R6, 0x1, RZ", 0));
        assert!(!wanted("@P0 IADD3 R6, R6, 0x10, RZ", 0), "another number");
        assert!(!wanted("@!P2 VIADD R16, R16, 0x1", 0), "another register");
    }

    #[test]
    fn a_signed_quotient_takes_two_instructions_more_than_the_remainder() {
        let more =
            |routine: Routine| with_quotient(routine, routine.cost()).all - routine.cost().all;
        assert!((more(Routine::RepeatedSignedDivision) - 2.0).abs() < 1e-12);
        assert!((more(Routine::RepeatedDivision) - 1.0).abs() < 1e-12);
        assert!(more(Routine::IntegerDivision).abs() < 1e-12);
    }
}
