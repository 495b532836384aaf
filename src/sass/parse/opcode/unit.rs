//! The unit that an instruction keeps busy.

use super::Family::{self, self as F};
use crate::sass::parse::instruction::Instruction;
use crate::term::Term;

/// The term of the model whose unit an instruction keeps busy, besides the issue slot that each
/// takes; `None` where the model has no such unit.
///
/// Sources: the throughput table of the CUDA C++ programming guide (special functions and
/// conversions from and to 32 bits share 16 lanes), ncu's names of the pipes.
#[must_use]
#[expect(clippy::match_same_arms, reason = "one row a family")]
pub fn term(instruction: &Instruction, family: Family) -> Option<Term> {
    Some(match family {
        F::Load(_) | F::Store(_) | F::Atomic(_) | F::Reduction(_) | F::Shuffle => Term::Lsu,
        F::AsyncCopy if instruction.base() == "LDGSTS" => Term::Lsu,
        // The dummy loads that compilers put before barriers take a slot like any other.
        F::Nop if instruction.base() == "LDS" => Term::Lsu,
        // The compiler sends every other packed multiply-add, and constants, to the tensor pipe.
        _ if instruction.base() == "HFMA2" && instruction.has("MMA") => Term::Tensor,
        F::Fp32Fma | F::Fp32Mul | F::Fp32Add | F::HalfPacked | F::HalfScalar => Term::Fma,
        F::IntegerMultiply => Term::Fma,
        F::Fp64 => Term::Fp64,
        F::ConvertFp64 | F::SpecialFunction => Term::Xu,
        F::Convert if matches!(instruction.base(), "I2FP" | "I2IP" | "F2IP") => Term::Alu,
        F::Convert => Term::Xu,
        F::HalfConvert if instruction.base() != "F2FP" => Term::Fma,
        F::Fp32Other if instruction.base() == "FCHK" => Term::Xu,
        F::HalfConvert | F::Fp32Other => Term::Alu,
        F::Integer if matches!(instruction.base(), "POPC" | "FLO" | "BREV") => Term::Xu,
        F::Integer if instruction.base() == "VIADD" => Term::Fma,
        F::Integer => Term::Alu,
        F::Vote if instruction.base() == "VOTE" => Term::Alu,
        F::Move => match instruction.base() {
            "IMAD" | "HFMA2" => Term::Fma,
            "MOV" | "MOV32I" | "SEL" | "PRMT" | "PLOP3" | "CS2R" | "P2R" | "R2P" | "R2UR" => {
                Term::Alu
            }
            _ => return None,
        },
        F::Tensor => Term::Tensor,
        // `ULDC` goes another way.
        F::Constant if instruction.base() == "LDC" => Term::Constant,
        _ => return None,
    })
}

/// Turns of the FMA pipe that instructions take which have only a part of it, on some device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    /// 16-bit arithmetic.
    pub half: u8,
    /// 64-bit and upper integer products.
    pub wide: u8,
}

impl Turns {
    /// How many turns of its unit an instruction takes: one, except on the FMA pipe.
    #[must_use]
    pub fn of(self, instruction: &Instruction, family: Family) -> u8 {
        let is_half = matches!(
            instruction.base(),
            "HFMA2" | "HADD2" | "HMUL2" | "HFMA2_32I" | "HADD2_32I" | "HMUL2_32I"
        );
        match family {
            F::HalfPacked | F::HalfScalar if is_half => self.half,
            F::IntegerMultiply if instruction.has("WIDE") || instruction.has("HI") => self.wide,
            _ => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_gets_its_instructions() {
        for (text, expected) in [
            ("FFMA R0, R1, R2, R3", Some(Term::Fma)),
            ("IMAD.WIDE R2, R5, 0x4, R2", Some(Term::Fma)),
            ("IADD3 R0, R1, R2, RZ", Some(Term::Alu)),
            ("I2FP.F32.S32 R5, R4", Some(Term::Alu)),
            ("F2I.NTZ R4, R4", Some(Term::Xu)),
            ("POPC R7, UR4", Some(Term::Xu)),
            ("SHFL.DOWN PT, R3, R20, 0x10, 0x1f", Some(Term::Lsu)),
            ("DFMA R4, R4, 0.25, R2", Some(Term::Fp64)),
            ("BRA 0x10", None),
        ] {
            let parsed = Instruction::parse(text).unwrap();
            assert_eq!(term(&parsed, Family::of(&parsed)), expected, "{text}");
        }
    }

    #[test]
    fn turns_are_the_devices() {
        let turns = Turns { half: 3, wide: 5 };
        for (text, expected) in [
            ("HADD2 R8, R8, R5", 3),
            ("HFMA2 R8, R8.H0_H0, UR5.H0_H0, R9.H0_H0", 3),
            ("F2FP.F16.F32.PACK_AB R13, RZ, R13", 1),
            ("IMAD.WIDE R2, R5, 0x4, R2", 5),
            ("IMAD.HI.U32 R5, R5, R7, R4", 5),
            ("IMAD R5, R5, R7, R4", 1),
            ("FFMA R0, R1, R2, R3", 1),
        ] {
            let parsed = Instruction::parse(text).unwrap();
            assert_eq!(turns.of(&parsed, Family::of(&parsed)), expected, "{text}");
        }
    }
}
