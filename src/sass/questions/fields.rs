//! Fields of packed integers that are made floats one at a time: shifted down, masked, converted.

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// What makes floats of fields.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// Conversions of what a mask leaves.
    pub masked: Vec<usize>,
    /// Conversions of a byte or a half of a register, which need no mask.
    pub pieces: Vec<usize>,
    /// Shifts that bring a field to the lowest bits for its mask, and do nothing else.
    pub shifts: Vec<usize>,
}

/// Finds the executed ones in loops; conversions that a division begins with are none.
#[must_use]
pub fn fields(listing: &Listing) -> Fields {
    let sass = listing.sass;
    let mut found = Fields::default();
    let mut reaching = Reaching::new(sass);
    let mut masks = Marks::new(sass.entries.len());
    for (index, entry) in listing.entries() {
        let is_conversion = entry.family == Family::Convert
            && entry.routine.is_none()
            && listing.text(index).contains("I2F")
            && listing.executed(index) > 0.0
            && sass.flow.innermost(index).is_some();
        if !is_conversion {
            continue;
        }
        if is_of_a_piece(listing.text(index)) {
            found.pieces.push(index);
            continue;
        }
        let Some(from) = maker(listing, &mut reaching, index) else { continue };
        if is_mask(listing.text(from)) {
            masks.insert(from);
            found.masked.push(index);
        }
    }
    if masks.are_none() {
        return found;
    }
    let mut shifts = Marks::new(sass.entries.len());
    for mask in masks.iter() {
        if let Some(shift) = maker(listing, &mut reaching, mask)
            && listing.text(shift).contains("SHF.R")
        {
            shifts.insert(shift);
        }
    }
    // A shift that another instruction needs as well stays.
    for index in (0..sass.entries.len()).filter(|&index| !masks[index]) {
        for each in sass.uses(index) {
            for made_at in reaching.definitions(index, *each) {
                shifts.remove(made_at as usize);
            }
        }
    }
    found.shifts.extend(shifts.iter());
    found
}

/// The only instruction that makes the first register an instruction reads.
fn maker(listing: &Listing, reaching: &mut Reaching, index: usize) -> Option<usize> {
    let mut data = listing.sass.uses(index).iter().filter(|each| each.role == Role::Data);
    let mut made_at = reaching.definitions(index, *data.next()?);
    let only = made_at.next()?;
    made_at.next().is_none().then_some(only as usize)
}

/// True for a conversion of a part of a register: `I2F.S8 R3, R7.B1`, `I2F.U16 R3, R7`.
fn is_of_a_piece(text: &str) -> bool {
    [".S8", ".U8", ".S16", ".U16"].iter().any(|width| text.contains(width))
}

/// Bits of a field, at most: those of a float's fraction, beside which a field can be put to become a float.
const FRACTION_BITS: u32 = 23;

/// True for a bitwise AND with a constant that leaves a field: `LOP3.LUT R7, R7, 0x7, RZ, 0xc0, !PT`. A wider one, such as that of a
/// sign, leaves a number.
fn is_mask(text: &str) -> bool {
    let mut numbers = text.split(", 0x").skip(1).map(|rest| {
        let digits = rest.split(',').next().unwrap_or_default();
        u32::from_str_radix(digits.trim(), 16).ok()
    });
    let (mask, table, more) = (numbers.next().flatten(), numbers.next().flatten(), numbers.next());
    let is_field = |mask: u32| mask > 0 && mask >> mask.trailing_zeros() < 1 << FRACTION_BITS;
    text.contains("LOP3.LUT") && table == Some(0xc0) && more.is_none() && mask.is_some_and(is_field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(code: &[&'static str]) -> Fields {
        let mut all = vec![("MOV R1, RZ", 1.0)];
        all.extend(code.iter().map(|text| (*text, 9.0)));
        all.extend([("@P0 BRA 0x110", 9.0), ("EXIT", 1.0)]);
        fields(&launch(&all).listing().unwrap())
    }

    #[test]
    fn a_field_is_shifted_masked_and_converted() {
        let shift = "SHF.R.U32.HI R7, RZ, 0x4, R21";
        let mask = "LOP3.LUT R8, R7, 0x7, RZ, 0xc0, !PT";
        let convert = "I2FP.F32.U32 R9, R8";
        let found = of(&[shift, mask, convert]);
        assert_eq!((found.masked, found.shifts), (vec![3], vec![1]));
        let found = of(&[shift, mask, convert, "IADD3 R10, R7, 0x1, RZ"]);
        assert_eq!(found.shifts, Vec::<usize>::new(), "something else needs it");
        assert_eq!(
            of(&[mask.replace("0xc0", "0x3c").leak(), convert]),
            Fields::default(),
            "no mask"
        );
        let sign = of(&[shift, mask.replace("0x7,", "0x7fffffff,").leak(), convert]);
        assert_eq!(sign, Fields::default(), "all but the sign is no field");
    }

    #[test]
    fn bytes_need_no_mask() {
        assert_eq!(of(&["I2F.S8 R9, R8.B1"]).pieces, [1]);
        assert_eq!(of(&["I2FP.F32.S32 R9, R8"]), Fields::default(), "a whole register");
    }
}
