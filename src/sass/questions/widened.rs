//! Operands of matrix instructions that were made wider only to be multiplied: bytes for products of 16-bit floats, and
//! 16-bit floats for products of 32-bit ones.
//!
//! How many numbers a register holds does not stand in the code. But a number that becomes one of twice the width takes twice
//! the room, so where operands are made of loaded values alone and take at least twice their bytes, what was loaded is half
//! as wide, or less.

mod made;
mod operands;
mod through_shared;

use std::collections::{BTreeMap, BTreeSet};

use crate::hardware::REGISTER_BYTES;
use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;

use made::{Made, is_worked_out};
use operands::{is_of_words, operands};

/// Operands take so many times the bytes that are loaded for them, at least.
pub const WIDER: f64 = 2.0;

/// What numbers were before they were widened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Narrow {
    /// Integers of 8 bits, or fewer, as far as the conversions tell.
    Integers,
    /// Floats of 8 bits, or fewer, as a conversion from such says.
    Floats,
    /// Floats of 16 bits, of one operand or both; the other one is worked out.
    Halves,
}

/// The matrix instructions of a loop whose operands all come from narrower numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widened {
    /// The matrix instructions.
    pub products: Vec<usize>,
    /// What converts, ascending.
    pub conversions: Vec<usize>,
    /// The loads of what is converted, ascending.
    pub loads: Vec<usize>,
    /// The stores of what was converted to shared memory, where matrix instructions or their loads find it.
    pub stores: Vec<usize>,
    /// The loads of what was stored so.
    pub reads: Vec<usize>,
    /// What makes the operands that are in registers.
    pub last: Vec<usize>,
    /// True for matrix instructions of a warp group.
    pub by_groups: bool,
    /// What the operands were.
    pub were: Narrow,
    /// True where numbers are scaled before they are multiplied with each other.
    pub scaled: bool,
}

/// The loops, each by all matrix instructions of one width that stand in no smaller one, whose operands were narrower, in blocks
/// of so many threads.
#[must_use]
pub fn widened(listing: &Listing, threads: f64) -> Vec<Widened> {
    let sass = listing.sass;
    let mut loops: BTreeMap<(usize, bool), Vec<usize>> = BTreeMap::new();
    for (at, entry) in listing.entries() {
        if entry.family == Family::Tensor
            && listing.executed(at) > 0.0
            && let Some(of) = sass.flow.innermost(at)
        {
            loops.entry((of, is_of_words(listing, at))).or_default().push(at);
        }
    }
    let mut reaching = Reaching::new(sass);
    let found = loops
        .into_values()
        .filter_map(|products| in_loop(listing, &mut reaching, products, threads));
    found.collect()
}

/// Some matrix instructions of one loop; `None` where some operand is not known to come from narrower numbers.
fn in_loop(
    listing: &Listing,
    reaching: &mut Reaching,
    products: Vec<usize>,
    threads: f64,
) -> Option<Widened> {
    let sass = listing.sass;
    let mut sides: [Vec<(usize, Use)>; 2] = Default::default();
    let mut by_groups = false;
    let of_words = is_of_words(listing, products[0]);
    let mut worked_out = BTreeSet::new();
    for &at in &products {
        let operands = operands(listing, at)?;
        by_groups |= operands.from_memory;
        for (side, uses) in sides.iter_mut().zip(operands.in_registers) {
            let mut is_made_here = |each: &Use| is_worked_out(listing, reaching, at, *each);
            if of_words && !uses.is_empty() && uses.iter().all(&mut is_made_here) {
                worked_out.insert(at);
            } else {
                side.extend(uses.into_iter().map(|each| (at, each)));
            }
        }
    }
    let mut found = Widened {
        products,
        conversions: Vec::new(),
        loads: Vec::new(),
        stores: Vec::new(),
        reads: Vec::new(),
        last: Vec::new(),
        by_groups,
        were: if of_words { Narrow::Halves } else { Narrow::Integers },
        scaled: false,
    };
    for side in &sides {
        if side.is_empty() {
            continue;
        }
        let mut made = Made::of(listing, reaching, side)?;
        let is_shared = |at: &usize| sass.entries[*at].family == Family::Load(Space::Shared);
        if !made.as_they_are.iter().all(is_shared) {
            return None;
        }
        found.reads.append(&mut made.as_they_are);
        found.reads.sort_unstable();
        found.reads.dedup();
        if !made.last.is_empty() {
            found.add(&made)?;
            found.last.append(&mut made.last);
        }
    }
    if by_groups || !found.reads.is_empty() {
        found.add_shared(listing, reaching, &worked_out, threads)?;
    }
    for list in [&mut found.conversions, &mut found.loads, &mut found.last] {
        list.sort_unstable();
        list.dedup();
    }
    Some(found)
}

impl Widened {
    /// Takes in what operands are made of; `None` where they are not wider than that.
    fn add(&mut self, made: &Made) -> Option<()> {
        if !self.is_wider(made) {
            return None;
        }
        self.conversions.extend(&made.conversions);
        self.loads.extend(made.loads.iter().map(|(at, _)| *at));
        if made.floats && self.were == Narrow::Integers {
            self.were = Narrow::Floats;
        }
        self.scaled |= made.scaled;
        Some(())
    }

    /// True for what takes at least twice the bytes that were loaded for it.
    fn is_wider(&self, made: &Made) -> bool {
        let wide = REGISTER_BYTES * made.last.len() as f64;
        // Halves are shifted to become words.
        let is_split = self.were == Narrow::Halves && made.additions > 0;
        (made.is_float || self.were == Narrow::Halves) && !is_split && wide >= WIDER * made.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    const THREADS: f64 = 128.0;
    const PRODUCT: &str = "HMMA.16816.F32 R24, R8, R12, R24";
    const BACK: &str = "@P0 BRA 0x100";

    /// What is found in a loop of these instructions, each executed as often.
    fn found(code: &[&str]) -> Option<Widened> {
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 8.0)).collect();
        widened(&launch(&code).listing().unwrap(), THREADS).pop()
    }

    /// Four registers of A and two of B, unpacked from loaded bytes.
    fn unpacked<'a>(a: &'a str, b: &'a str) -> Vec<&'a str> {
        let mut code = vec![a, b];
        code.extend([
            "F2FP.F16.E4M3.UNPACK_B R8, R4",
            "F2FP.F16.E4M3.UNPACK_B R9, R4.H1",
            "F2FP.F16.E4M3.UNPACK_B R10, R5",
            "F2FP.F16.E4M3.UNPACK_B R11, R5.H1",
            "F2FP.F16.E4M3.UNPACK_B R12, R6",
            "F2FP.F16.E4M3.UNPACK_B R13, R6.H1",
        ]);
        code.extend([PRODUCT, BACK]);
        code
    }

    #[test]
    fn both_operands_must_be_bytes() {
        let both = found(&unpacked("LDS.64 R4, [R20]", "LDS R6, [R21]")).unwrap();
        assert_eq!((both.loads, both.last.len(), both.were), (vec![0, 1], 6, Narrow::Floats));
        let mut weights = unpacked("LDS.64 R4, [R20]", "LDS.64 R12, [R21]");
        weights.drain(6..8);
        assert_eq!(found(&weights), None, "B as it was loaded");
        let rounded = [
            "LDS.128 R4, [R20]",
            "F2FP.F16.F32.PACK_AB R8, R5, R4",
            "F2FP.F16.F32.PACK_AB R12, R7, R6",
            "HMMA.1684.F32 R24, R8, R12, R24",
            BACK,
        ];
        assert_eq!(found(&rounded), None, "floats of 32 bits");
    }

    #[test]
    fn halves_are_widened_for_products_of_words_where_the_other_side_is_worked_out() {
        let code = |a: &'static str, b: &'static str| {
            found(&[
                "LDS R4, [R20]",
                "SHF.L.U32 R12, R4, 0x10, RZ",
                b,
                a,
                "HMMA.1688.F32.TF32 R24, R8, R12, R24",
                BACK,
            ])
        };
        let high = "LOP3.LUT R13, R4, 0xffff0000, RZ, 0xc0, !PT";
        let found_one = code("MUFU.EX2 R8, R16", high).unwrap();
        assert_eq!((found_one.were, found_one.loads), (Narrow::Halves, vec![0]));
        assert_eq!(code("LDS R8, [R21]", high), None, "floats of 32 bits as they were loaded");
        assert_eq!(
            code("MUFU.EX2 R8, R16", "LDS R13, [R22]"),
            None,
            "half of B is as it was loaded"
        );
    }

    #[test]
    fn scales_are_no_operands() {
        let code = |scale: &'static str| {
            found(&[
                "LDS.U16 R4, [R20]",
                "LDS.U16 R5, [R21]",
                scale,
                "F2FP.F16.F32.PACK_AB R6, R4",
                "F2FP.F16.F32.PACK_AB R7, R5",
                "HADD2.F32 R14, -RZ, R6.H0_H0",
                "HADD2.F32 R15, -RZ, R6.H1_H1",
                "FMUL R14, R16, R14",
                "FMUL R15, R16, R15",
                "F2FP.BF16.F32.PACK_AB R8, R15, R14",
                "MOV R12, R7",
                "HMMA.1688.F32.BF16 R24, R8, R12, R24",
                BACK,
            ])
        };
        let scaled = code("LDS R16, [R22]").unwrap();
        assert_eq!((scaled.loads, scaled.scaled, scaled.were), (vec![0, 1], true, Narrow::Floats));
        assert_eq!(code("MUFU.EX2 R16, R17"), None, "worked out");
    }

    #[test]
    fn integers_are_converted_by_permutations_and_a_subtraction() {
        let code = |subtract: &'static str| {
            found(&[
                "LDS.U16 R4, [R20]",
                "LDS.U16 R5, [R21]",
                "PRMT R6, R4, 0x4140, R30",
                "PRMT R7, R5, 0x4140, R30",
                "HADD2.BF16_V2 R8, R6, -R31",
                subtract,
                "HMMA.1688.F32.BF16 R24, R8, R12, R24",
                BACK,
            ])
        };
        // R30 and R31 hold constants that nothing here makes; A's second register holds nothing either.
        let integers = code("HADD2.BF16_V2 R12, R7, -R31").unwrap();
        assert_eq!((integers.conversions, integers.were), (vec![2, 3, 4, 5], Narrow::Integers));
        assert_eq!(code("HMUL2.BF16_V2 R12, R7, R31"), None, "scaled");
        assert_eq!(code("SHFL.BFLY PT, R12, R7, 0x1, 0x1f"), None, "from another lane");
        assert_eq!(code("HADD2.BF16_V2 R12, R7, R24"), None, "a sum");
    }

    /// A warp group whose A is converted in registers, and whose B is by stores to shared memory.
    fn group(product: &str, store: &str) -> Option<Widened> {
        let mut code = unpacked("LDS.64 R4, [R20]", "LDS.64 R6, [R21]");
        code.truncate(8);
        code.extend([
            "F2FP.F16.E4M3.UNPACK_B R14, R7",
            "F2FP.F16.E4M3.UNPACK_B R15, R7.H1",
            store,
            "BAR.SYNC.DEFER_BLOCKING 0x0",
            product,
            BACK,
        ]);
        found(&code)
    }

    #[test]
    fn what_a_group_reads_itself_was_stored_as_a_whole() {
        let product = "HGMMA.64x64x16.F32 R24, R8, gdesc[UR8], R24";
        // 64 columns of 16 halves: 2048 bytes, 16 for each of 128 lanes.
        let all = group(product, "STS.128 [R22], R12").unwrap();
        assert_eq!((all.stores.len(), all.by_groups), (1, true));
        let wider = "HGMMA.64x72x16.F32 R24, R8, gdesc[UR8], R24";
        assert_eq!(group(wider, "STS.128 [R22], R12"), None, "some columns come from elsewhere");
        let both = "HGMMA.64x64x16.F32 R24, gdesc[UR8], R24";
        assert_eq!(group(both, "STS.128 [R22], R12"), None, "no room for A");
        assert_eq!(group(product, "STS.128 [R22], R64"), None, "nothing that was converted");
    }

    #[test]
    fn what_stays_in_shared_memory_may_be_scaled_by_a_parameter() {
        let code = |scale: &str| {
            let code = [
                ("LDG.E.U16 R20, desc[UR4][R2.64]", 1.0), // A, stored once
                (scale, 1.0),
                ("SHF.L.U32 R21, R20, 0x10, RZ", 1.0),
                ("FMUL R21, R22, R21", 1.0),
                ("STS [R40], R21", 1.0),
                ("LDS R8, [R41]", 8.0),
                ("LDS R4, [R42]", 8.0),
                ("SHF.L.U32 R12, R4, 0x10, RZ", 8.0),
                ("LOP3.LUT R13, R4, 0xffff0000, RZ, 0xc0, !PT", 8.0),
                ("STS.64 [R43], R12", 8.0),
                ("STS.64 [R43+0x1000], R12", 8.0),
                ("HGMMA.64x64x8.F32.TF32 R24, R8, gdesc[UR8], R24", 8.0),
                ("@P0 BRA 0x150", 8.0),
                ("EXIT", 1.0),
            ];
            widened(&launch(&code).listing().unwrap(), THREADS).pop()
        };
        let found = code("LDC R22, c[0x0][0x238]").expect("a parameter");
        assert_eq!((found.reads, found.stores), (vec![5], vec![9, 10]));
        assert_eq!(code("LDC R22, c[0x3][R20]"), None, "a table that the numbers choose from");
        assert_eq!(code("MUFU.EX2 R22, R23"), None, "worked out");
    }

    #[test]
    fn operands_that_are_loaded_again_were_converted_where_copies_are_read_back() {
        let code = |copy: &'static str| {
            found(&[
                copy,
                "LDS R4, [R20]",
                "F2FP.F16.E4M3.UNPACK_B R16, R4",
                "F2FP.F16.E4M3.UNPACK_B R17, R4.H1",
                "STS.64 [R22], R16",
                "LDSM.16.M88.4 R8, [R23]",
                "LDSM.16.M88.2 R12, [R23+0x1000]",
                PRODUCT,
                BACK,
            ])
        };
        let all = code("LDGSTS.E [R21], desc[UR4][R2.64]").unwrap();
        assert_eq!((all.reads, all.stores), (vec![5, 6], vec![4]));
        assert_eq!(code("LDGSTS.E.64 [R21], desc[UR4][R2.64]"), None, "half is read as it is");
        assert_eq!(code("UBLKCP.S.G [UR14], [UR8], UR10"), None, "of unknown length");
    }
}
