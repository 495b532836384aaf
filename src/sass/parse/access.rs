//! Memory accesses: which memory, and how many bytes each lane moves.

use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::number::without_offset;
use crate::sass::parse::register::Slot;

/// The memory that an access goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// Device memory through L1 and L2.
    Global,
    /// A thread's own stack, in device memory through L1.
    Local,
    /// The block's memory inside the SM, or its cluster's.
    Shared,
    /// Global, local or shared, told apart at run time by the address.
    Generic,
}

/// Bytes that each lane moves; `None` where the opcode does not say.
///
/// A load without a width moves 4 bytes. `LDSM` moves 4 bytes per lane and matrix.
#[must_use]
pub fn width_bytes(instruction: &Instruction) -> Option<u8> {
    let base = instruction.base();
    if base == "LDSM" || base == "STSM" {
        let matrices = instruction.modifiers().find_map(|modifier| match modifier {
            "4" => Some(4),
            "2" => Some(2),
            _ => None,
        });
        return Some(4 * matrices.unwrap_or(1));
    }
    if !is_memory(base) {
        return None;
    }
    let width = instruction.modifiers().find_map(|modifier| {
        Some(match modifier {
            "U8" | "S8" => 1,
            "U16" | "S16" => 2,
            "64" | "F64" | "U64" | "S64" => 8,
            "128" => 16,
            "256" => 32,
            _ => return None,
        })
    });
    Some(width.unwrap_or(4))
}

/// The one register that an access's address is made of, and the bytes that are added to it; `None` where more takes part, or
/// nothing but constants.
#[must_use]
pub fn address(instruction: &Instruction) -> Option<(Slot, i64)> {
    let operand = instruction.operands.iter().find(|each| each.text.contains('['))?;
    let (_, inside) = operand.text.rsplit_once('[')?;
    let (base, offset) = without_offset(inside)?;
    // A uniform descriptor stands in brackets of its own, and `.64` behind a pair of registers.
    let name = base.split('.').next()?;
    Some((Slot::parse(name).filter(|_| !base.contains('+'))?, offset))
}

/// True for opcodes that move data between registers and memory.
fn is_memory(base: &str) -> bool {
    matches!(
        base,
        "LDG"
            | "STG"
            | "LDL"
            | "STL"
            | "LDS"
            | "STS"
            | "LD"
            | "ST"
            | "LDC"
            | "ULDC"
            | "LDCU"
            | "ATOM"
            | "ATOMG"
            | "ATOMS"
            | "RED"
            | "REDG"
            | "REDS"
            | "LDGSTS"
            | "STAS"
    )
}

/// True for a load of a constant whose address has a register of the thread's own: those of parameters and of uniform tables
/// have none.
#[must_use]
pub fn is_indexed_constant(text: &str) -> bool {
    let address = text.split_once("c[").map_or("", |(_, address)| address);
    Instruction::base_of(text) == Some("LDC") && address.contains("[R") && !address.contains("[RZ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_constants_are_not_indexed() {
        assert!(is_indexed_constant("@P0 LDC.64 R4, c[0x3][R2+0x10]"));
        for text in [
            "LDC R1, c[0x0][0x37c]",
            "ULDC UR4, c[0x0][0x208]",
            "LDC R1, c[0x0][RZ]",
            "LDCU UR4, c[0x0][0x358]",
        ] {
            assert!(!is_indexed_constant(text), "{text}");
        }
    }

    #[test]
    fn an_address_is_a_register_and_an_offset() {
        let of = |text: &str| {
            let found = address(&Instruction::parse(text).unwrap());
            found.map(|(slot, offset)| (slot.index(), offset))
        };
        assert_eq!(of("LDG.E.S8 R6, desc[UR4][R2.64+0x3]"), Some((2, 3)));
        assert_eq!(of("ATOMG.E.CAS.STRONG.GPU PT, R2, [R4+-0x10], R2, R3"), Some((4, -16)));
        assert_eq!(of("STG.E desc[UR4][R8.64], R9"), Some((8, 0)));
        assert_eq!(of("LDG.E R6, desc[UR4][R2.64+UR8+0x1]"), None, "two registers");
        assert_eq!(of("LDS R6, [0x10]"), None, "none");
        assert_eq!(of("LDG.E R6, [R2+--0x8000000000000000]"), None, "no number");
    }

    #[test]
    fn widths_stand_in_the_opcode() {
        for (text, bytes) in [
            ("LDG.E R0, desc[UR4][R2.64]", Some(4)),
            ("LDG.E.U8 R0, desc[UR4][R2.64]", Some(1)),
            ("LDG.E.U16 R0, [R2.64]", Some(2)),
            ("LDG.E.NA.128.CONSTANT R8, desc[UR8][R40.64]", Some(16)),
            ("STS.64 [R29+-0x800], R8", Some(8)),
            ("ATOMG.E.ADD.F64.RN.STRONG.GPU PT, R2, desc[UR8][R2.64], R4", Some(8)),
            ("LDSM.16.M88.4 R4, [R8]", Some(16)),
            ("LDSM.16.M88 R4, [R8]", Some(4)),
            ("DADD R2, R4, R6", None),
            ("IADD3 R2, R4, R6, RZ", None),
        ] {
            let parsed = Instruction::parse(text).unwrap();
            assert_eq!(width_bytes(&parsed), bytes, "{text}");
        }
    }
}
