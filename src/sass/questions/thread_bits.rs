//! Which bits of the thread's index the work goes by.
//!
//! Where a block has more threads than what it works on has elements, its index is cut down to fewer bits: several threads then
//! do the same work with the same result. Conditions may go by the other bits, so that only one of them stores.

use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::{Instruction, OperandKind};
use crate::sass::parse::operands::Role;

/// The bits of `threadIdx.x` that any value other than a condition is made of; `None` where the index is not read, or it
/// can't be told.
#[must_use]
pub fn bits_of_work(listing: &Listing) -> Option<u32> {
    let sass = listing.sass;
    let reads = |at: &usize| {
        let text = listing.text(*at);
        text.contains("SR_TID.X") && listing.executed(*at) > 0.0
    };
    let roots: Vec<usize> = (0..sass.entries.len()).filter(reads).collect();
    let others = (0..sass.entries.len()).any(|at| {
        let text = listing.text(at);
        ["SR_TID.Y", "SR_TID.Z", "SR_LANEID", "SR_VIRTID", "CREDUX", "SHFL", "VOTE", "MATCH"]
            .iter()
            .any(|name| text.contains(name))
    });
    if roots.is_empty() || others {
        return None;
    }
    let mut reaching = Reaching::new(sass);
    let mut bits = 0;
    for at in (0..sass.entries.len()).filter(|&at| listing.executed(at) > 0.0) {
        let data = sass.uses(at).iter().filter(|each| each.role != Role::Old);
        for each in data.filter(|each| each.slot.is_general()) {
            if reaching.definitions(at, *each).any(|by| roots.contains(&(by as usize))) {
                bits |= used(listing, at)?;
            }
        }
    }
    Some(bits)
}

/// The bits of the index that an instruction passes on; none for a comparison that makes a condition alone.
fn used(listing: &Listing, at: usize) -> Option<u32> {
    let instruction = Instruction::parse(listing.text(at))?;
    let makes_value = listing.sass.defs(at).iter().any(|slot| !slot.is_predicate());
    if !makes_value && listing.sass.defs(at).iter().any(|slot| slot.is_predicate()) {
        return Some(0);
    }
    if instruction.base() != "LOP3" {
        return Some(u32::MAX);
    }
    // An intersection with a constant: `LOP3.LUT R0, R14, 0x7f, RZ, 0xc0, !PT`.
    let numbers: Vec<u32> = instruction
        .operands
        .iter()
        .filter(|operand| operand.kind == OperandKind::Other)
        .filter_map(|operand| u32::from_str_radix(operand.text.trim_start_matches("0x"), 16).ok())
        .collect();
    match numbers[..] {
        [mask, 0xc0] => Some(mask),
        _ => Some(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(index: &str) -> Option<u32> {
        let launch = launch(&[
            ("S2R R14, SR_TID.X", 8.0),
            (index, 8.0),
            ("LOP3.LUT P0, RZ, R14, 0x80, RZ, 0xc0, !PT", 8.0),
            ("IMAD.WIDE R2, R0, 0x4, R4", 8.0),
            ("@!P0 STG.E desc[UR4][R2.64], R5", 8.0),
            ("EXIT", 8.0),
        ]);
        bits_of_work(&launch.listing().unwrap())
    }

    #[test]
    fn work_goes_by_the_bits_that_are_kept() {
        assert_eq!(of("LOP3.LUT R0, R14, 0x7f, RZ, 0xc0, !PT"), Some(0x7f));
        assert_eq!(of("IMAD.SHL.U32 R0, R14, 0x4, RZ"), Some(u32::MAX));
        assert_eq!(of("LOP3.LUT R0, R14, 0x7f, RZ, 0xfc, !PT"), Some(u32::MAX), "a union");
        assert_eq!(of("SHFL.BFLY PT, R0, R14, 0x1, 0x1f"), None, "lanes exchange what they have");
    }
}
