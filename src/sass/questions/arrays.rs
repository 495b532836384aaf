//! A thread's local arrays: how many elements each has, as far as the code tells.
//!
//! The stack pointer `R1` goes down by the frame's size at the start; an array's place in the frame is the
//! constant part of the addresses that hold its computed index.

use std::collections::BTreeSet;

use crate::sass::code::listing::Listing;
use crate::sass::parse::opcode::Family;
use crate::sass::{Instruction, Space};

/// The accesses with a computed address by their places, with how many elements of its width the array has;
/// none where the frame's size is not known.
#[must_use]
pub fn elements(listing: &Listing) -> Vec<(usize, f64)> {
    let count = listing.sass.entries.len();
    let Some(frame) = (0..count).find_map(|index| frame_bytes(listing.text(index))) else {
        return Vec::new();
    };
    let places: Vec<(usize, u64)> = listing
        .entries()
        .filter(|(_, entry)| {
            matches!(entry.family, Family::Load(Space::Local) | Family::Store(Space::Local))
                && entry.computed_address
        })
        .filter_map(|(index, _)| Some((index, place(listing.text(index))?)))
        .filter(|&(_, at)| at < frame)
        .collect();
    let starts: BTreeSet<u64> = places.iter().map(|&(_, at)| at).collect();
    let bytes = |start: u64| {
        let next = starts.range(start + 1..).next().copied().unwrap_or(frame);
        next.saturating_sub(start) as f64
    };
    places
        .into_iter()
        .map(|(index, start)| {
            let width = f64::from(listing.sass.entries[index].width.max(1));
            (index, (bytes(start) / width).floor())
        })
        .collect()
}

/// Bytes that an instruction takes off the stack pointer: `VIADD R1, R1, 0xffffffd0` takes 48.
fn frame_bytes(text: &str) -> Option<u64> {
    let instruction = Instruction::parse(text)?;
    let at = |at: usize| instruction.operands.get(at).map(|operand| operand.text);
    if at(0) != Some("R1") || !instruction.operands.iter().skip(1).any(|each| each.text == "R1") {
        return None;
    }
    instruction.operands.iter().skip(1).find_map(|operand| {
        if let Some(down) = operand.text.strip_prefix("-0x") {
            return u64::from_str_radix(down, 16).ok();
        }
        let up = u32::from_str_radix(operand.text.strip_prefix("0x")?, 16).ok()?;
        let down = u64::from(up.wrapping_neg());
        (up > i32::MAX as u32).then_some(down)
    })
}

/// The constant part of an access's address: 24 of `[R14+0x18]`.
fn place(text: &str) -> Option<u64> {
    let (_, address) = text.split_once('[')?;
    let (address, _) = address.split_once(']')?;
    match address.split_once("+0x") {
        Some((_, offset)) => u64::from_str_radix(offset, 16).ok(),
        None if address.contains('-') => None,
        None => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn elements_of(lines: &[&str]) -> Vec<(usize, f64)> {
        let counted: Vec<(&str, f64)> = lines.iter().map(|line| (*line, 1.0)).collect();
        let code = launch(&counted);
        elements(&code.listing().unwrap())
    }

    #[test]
    fn arrays_share_the_frame_by_their_places() {
        // 48 bytes: three floats each at 0, 12, 24 and 36.
        let three = elements_of(&[
            "VIADD R1, R1, 0xffffffd0",
            "STL [R1+0x8], RZ",
            "LDL R10, [R14]",
            "LDL R11, [R14+0xc]",
            "LDL R12, [R14+0x18]",
            "STL [R14+0x24], R12",
        ]);
        assert_eq!(three, [(2, 3.0), (3, 3.0), (4, 3.0), (5, 3.0)]);
        let halves = elements_of(&["IADD3 R1, PT, PT, R1, -0x20, RZ", "LDL.U16 R2, [R2]"]);
        assert_eq!(halves, [(1, 16.0)]);
    }

    #[test]
    fn without_a_frame_nothing_is_known() {
        assert_eq!(elements_of(&["LDL R2, [R2]", "IADD3 R1, R1, 0x8, RZ"]), []);
        assert_eq!(elements_of(&["LDL R2, [R2]", "IADD3 R2, R1, -0x8, RZ"]), []);
        let beyond = ["IADD3 R1, R1, -0x8, RZ", "LDL R2, [R2+0xffffffffffffffff]"];
        assert_eq!(elements_of(&beyond), [], "no place in the frame");
        let before = ["IADD3 R1, R1, -0x8, RZ", "LDL R2, [R2-0x4]"];
        assert_eq!(elements_of(&before), [], "the array begins elsewhere");
    }
}
