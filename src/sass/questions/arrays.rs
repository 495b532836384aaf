//! A thread's local arrays: how large each is and how many elements it has, as far as the code tells.
//!
//! The stack pointer `R1` goes down by the frame's size at the start; an array's place in the frame is the
//! constant part of the addresses that hold its computed index.

mod begins;

use begins::Begins;

use crate::sass::code::listed_instruction::ListedInstruction;
use crate::sass::code::listing::Listing;
use crate::sass::parse::number::signed;
use crate::sass::parse::opcode::Family;
use crate::sass::{Instruction, Space};

/// A local array that is indexed at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    /// Where it begins in the thread's frame, in bytes.
    pub start: u64,
    /// Bytes from there to the next array or the frame's end: its size, at most.
    pub bytes: u64,
    /// The accesses with a computed address.
    pub accesses: Vec<usize>,
}

/// The arrays by their places; none where the frame's size is not known.
#[must_use]
pub fn find(listing: &Listing) -> Vec<Array> {
    let is_computed = |entry: &ListedInstruction| is_local(entry.family) && entry.computed_address;
    if !listing.sass.entries.iter().any(is_computed) {
        return Vec::new();
    }
    let count = listing.sass.entries.len();
    let with_bytes = |index: usize| Some((index, frame_bytes(listing.text(index))?));
    let Some((taken_at, frame)) = (0..count).find_map(with_bytes) else {
        return Vec::new();
    };
    let mut begins = Begins::new(listing, taken_at);
    let mut places: Vec<(u64, usize)> = listing
        .entries()
        .filter(|(_, entry)| is_computed(entry))
        .filter_map(|(index, _)| {
            let begins = begins.of(index).or_else(|| place(listing.text(index)));
            Some((begins?, index))
        })
        .filter(|&(at, _)| at < frame)
        .collect();
    places.sort_unstable();
    let mut arrays: Vec<Array> = Vec::new();
    let mut reached = 0;
    for (at, index) in places {
        // An unrolled loop has an access for each of its elements, one behind the other.
        match arrays.last_mut() {
            Some(array) if at <= reached => array.accesses.push(index),
            _ => arrays.push(Array { start: at, bytes: 0, accesses: vec![index] }),
        }
        reached = reached.max(at + u64::from(listing.sass.entries[index].width.max(1)));
    }
    let mut end = frame;
    for array in arrays.iter_mut().rev() {
        array.bytes = end - array.start;
        end = array.start;
    }
    arrays
}

/// How many elements of an access's width its array has.
#[must_use]
pub fn elements(listing: &Listing, array: &Array, access: usize) -> f64 {
    let width = f64::from(listing.sass.entries[access].width.max(1));
    (array.bytes as f64 / width).floor()
}

/// True for accesses to local memory.
#[must_use]
pub fn is_local(family: Family) -> bool {
    matches!(family, Family::Load(Space::Local) | Family::Store(Space::Local))
}

/// Bytes that an instruction takes off the stack pointer: `VIADD R1, R1, 0xffffffd0` takes 48.
fn frame_bytes(text: &str) -> Option<u64> {
    let instruction = text.contains("R1,").then(|| Instruction::parse(text))??;
    let at = |at: usize| instruction.operands.get(at).map(|operand| operand.text);
    if at(0) != Some("R1") || !instruction.operands.iter().skip(1).any(|each| each.text == "R1") {
        return None;
    }
    let added = instruction.operands.iter().skip(1).find_map(|operand| signed(operand.text))?;
    (added < 0).then_some(added.unsigned_abs())
}

/// The constant part of an access's address: 24 of `[R14+0x18]`, -4 of `[R14-0x4]`.
fn written_place(text: &str) -> Option<i64> {
    let (_, address) = text.split_once('[')?;
    let (address, _) = address.split_once(']')?;
    match address.find(['+', '-']).map(|at| address.split_at(at)) {
        None => Some(0),
        // The other part is a register of the warp's.
        Some((_, part)) if part.starts_with("+UR") => part[1..]
            .find(['+', '-'])
            .map_or(Some(0), |at| signed(part[1 + at..].trim_start_matches('+'))),
        Some((_, part)) => signed(part.trim_start_matches('+')),
    }
}

/// The constant part of an access's address that leads up the frame: 24 of `[R14+0x18]`.
pub(super) fn place(text: &str) -> Option<u64> {
    written_place(text).and_then(|place| u64::try_from(place).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn elements_of(lines: &[&str]) -> Vec<(usize, f64)> {
        let counted: Vec<(&str, f64)> = lines.iter().map(|line| (*line, 1.0)).collect();
        let code = launch(&counted);
        let listing = code.listing().unwrap();
        let mut found: Vec<(usize, f64)> = find(&listing)
            .iter()
            .flat_map(|array| array.accesses.iter().map(move |&at| (array, at)))
            .map(|(array, at)| (at, elements(&listing, array, at)))
            .collect();
        found.sort_by_key(|&(at, _)| at);
        found
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
    fn an_unrolled_loops_accesses_are_to_one_array() {
        // 64 bytes, four of which a turn clears.
        let bytes = elements_of(&[
            "VIADD R1, R1, 0xffffffc0",
            "STL.U8 [R19], RZ",
            "STL.U8 [R19+0x3], RZ",
            "STL.U8 [R19+0x2], RZ",
            "STL.U8 [R19+0x1], RZ",
            "LDL.U8 R24, [R27]",
        ]);
        assert_eq!(bytes, [(1, 64.0), (2, 64.0), (3, 64.0), (4, 64.0), (5, 64.0)]);
    }

    #[test]
    fn a_pointer_that_a_loop_moves_on_begins_at_its_arrays_start() {
        // 320 bytes of which the pointer walks the last 192, and an index the first 128.
        let found = elements_of(&[
            "IADD3 R1, R1, -0x140, RZ",
            "IADD3 R2, R1, 0x80, RZ",
            "LDL R4, [R2]",
            "LDL R5, [R2+0x4]",
            "VIADD R2, R2, 0x8",
            "LEA R7, R6, R1, 0x2",
            "LDL R8, [R7]",
            "@P0 BRA 0x120",
            "EXIT",
        ]);
        assert_eq!(found, [(2, 48.0), (3, 48.0), (6, 32.0)]);
    }

    #[test]
    fn a_warps_own_register_leads_to_the_frame() {
        // 64 bytes in two arrays of 32.
        let found = elements_of(&[
            "IADD3 R1, R1, -0x40, RZ",
            "R2UR UR4, R1",
            "UIADD3 UR5, UR4, 0x20, URZ",
            "STL [UR5], R3",
            "LEA R7, R6, R1, 0x2",
            "LDL R8, [R7]",
            "EXIT",
        ]);
        assert_eq!(found, [(3, 8.0), (5, 8.0)]);
    }

    #[test]
    fn an_address_is_written_with_its_sign_and_beside_a_warps_own_register() {
        let places = [
            "STL [R2], R3",
            "LDL R3, [R2+0x18]",
            "LDL R3, [R2-0x4]",
            "LDL R3, [R2+UR4+0x10]",
            "LDL R3, [R2+UR4]",
        ];
        let written = places.map(|text| written_place(text).unwrap());
        assert_eq!(written, [0, 24, -4, 16, 0]);
        assert_eq!(place("LDL R3, [R2-0x4]"), None);
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
