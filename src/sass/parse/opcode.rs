//! Families of opcodes, and how the result of each is waited for.

mod unit;

use crate::metric::stall::StallReason;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, OperandKind};

pub use unit::{Turns, term};

/// What kind of work an instruction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// A load to registers.
    Load(Space),
    /// A store.
    Store(Space),
    /// An atomic that returns the old value.
    Atomic(Space),
    /// An atomic that returns nothing.
    Reduction(Space),
    /// A copy from global to shared memory past the registers.
    AsyncCopy,
    /// A texture or surface access.
    Texture,
    /// A load from a constant bank.
    Constant,
    /// A single-precision fused multiply-add.
    Fp32Fma,
    /// A single-precision multiplication.
    Fp32Mul,
    /// A single-precision addition.
    Fp32Add,
    /// Single-precision comparison, selection, minimum.
    Fp32Other,
    /// Double-precision arithmetic.
    Fp64,
    /// 16-bit arithmetic, two values at a time.
    HalfPacked,
    /// 16-bit arithmetic that uses one half of each source only.
    HalfScalar,
    /// Between 16 bits and 32 bits of float.
    HalfConvert,
    /// A conversion that involves no doubles: `I2F`, `F2I`, `FRND`, …
    Convert,
    /// A conversion from or to double.
    ConvertFp64,
    /// Reciprocal, root, sine, exponential, logarithm by table.
    SpecialFunction,
    /// Integer multiplication, fused with an addition or not.
    IntegerMultiply,
    /// Integer addition, shift, logic, comparison.
    Integer,
    /// Copies of registers and predicates, constants.
    Move,
    /// A matrix instruction.
    Tensor,
    /// An exchange between lanes.
    Shuffle,
    /// A vote, match or reduction over the lanes.
    Vote,
    /// A barrier of the block, or a wait for copies.
    Barrier,
    /// A memory fence and what belongs to it.
    Fence,
    /// A branch, call, return, or the bookkeeping of divergence.
    Control,
    /// Arithmetic on uniform registers, once for the warp.
    Uniform,
    /// A read of a special register.
    System,
    /// Nothing.
    Nop,
    /// An opcode that is not known here.
    Other,
}

/// How the hardware waits for an instruction's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Through a scoreboard of the L1TEX path: `long_scoreboard`.
    Long,
    /// Through a scoreboard of the MIO path or another variable latency: `short_scoreboard`.
    Short,
    /// A fixed number of cycles: `wait`.
    Fixed,
}

use Family as F;

impl Family {
    /// The family of an instruction.
    #[must_use]
    pub fn of(instruction: &Instruction) -> Self {
        if instruction.never {
            return F::Nop;
        }
        let base = instruction.base();
        match base {
            "LDG" => F::Load(Space::Global),
            "LDL" => F::Load(Space::Local),
            "LDS" | "LDSM" => F::Load(Space::Shared),
            "LD" => F::Load(Space::Generic),
            "STG" => F::Store(Space::Global),
            "STL" => F::Store(Space::Local),
            "STS" | "STSM" | "STAS" => F::Store(Space::Shared),
            "ST" => F::Store(Space::Generic),
            "ATOMG" => F::Atomic(Space::Global),
            "ATOM" => F::Atomic(Space::Generic),
            "ATOMS" => F::Atomic(Space::Shared),
            "REDG" | "RED" => F::Reduction(Space::Global),
            "REDS" => F::Reduction(Space::Shared),
            "LDGSTS" | "UBLKCP" | "UTMALDG" | "UTMASTG" | "UTMAREDG" | "UBLKRED" => F::AsyncCopy,
            "TEX" | "TLD" | "TLD4" | "TXQ" | "TXD" | "TMML" | "SULD" | "SUST" | "SUATOM"
            | "SURED" => F::Texture,
            "LDC" | "ULDC" | "LDCU" => F::Constant,
            "FFMA" | "FFMA32I" | "FFMA2" => F::Fp32Fma,
            "FMUL" | "FMUL32I" | "FMUL2" => F::Fp32Mul,
            "FADD" | "FADD32I" | "FADD2" | "FSWZADD" => F::Fp32Add,
            "FSETP" | "FSET" | "FSEL" | "FMNMX" | "FMNMX3" | "FCHK" | "FCMP" => F::Fp32Other,
            "DADD" | "DMUL" | "DFMA" | "DSETP" | "DMNMX" | "DSET" => F::Fp64,
            "HFMA2" | "HADD2" | "HMUL2" | "HFMA2_32I" | "HADD2_32I" | "HMUL2_32I" => {
                half(instruction)
            }
            "HSETP2" | "HSET2" | "HMNMX2" | "VHMNMX" => F::HalfPacked,
            "F2FP" => F::HalfConvert,
            "F2F" | "I2F" | "F2I" | "FRND" if instruction.has("F64") => F::ConvertFp64,
            "F2F" | "I2F" | "F2I" | "FRND" | "I2FP" | "UI2F" | "UI2FP" | "UF2I" | "F2IP"
            | "I2I" | "I2IP" => F::Convert,
            "MUFU" => F::SpecialFunction,
            // A copy that runs on the FMA pipe, to spread the load.
            "IMAD" | "UIMAD" if instruction.has("MOV") => F::Move,
            "IMAD" | "IMUL" | "XMAD" | "IDP" | "IDP4A" => F::IntegerMultiply,
            "MOV" | "MOV32I" | "SEL" | "PRMT" | "CS2R" | "P2R" | "R2P" | "PLOP3" | "PSETP"
            | "BMOV" | "R2UR" | "MOVM" | "LEPC" => F::Move,
            "HMMA" | "IMMA" | "DMMA" | "BMMA" | "QMMA" | "OMMA" | "HGMMA" | "IGMMA" | "QGMMA"
            | "BGMMA" | "UTCHMMA" | "UTCQMMA" | "UTCIMMA" | "UTCOMMA" => F::Tensor,
            "SHFL" => F::Shuffle,
            "VOTE" | "VOTEU" | "MATCH" | "REDUX" | "CREDUX" | "ELECT" => F::Vote,
            "BAR" | "B2R" | "DEPBAR" | "LDGDEPBAR" | "SYNCS" | "ARRIVES" | "WARPGROUP"
            | "UCGABAR_ARV" | "UCGABAR_WAIT" | "UTMACMDFLUSH" => F::Barrier,
            "MEMBAR" | "ERRBAR" | "CGAERRBAR" | "CCTL" | "CCTLL" | "CCTLT" | "FENCE" => F::Fence,
            "BRA" | "BRX" | "BRXU" | "JMP" | "JMX" | "JMXU" | "EXIT" | "CALL" | "RET" | "BSSY"
            | "BSYNC" | "BREAK" | "BPT" | "KILL" | "RTT" | "WARPSYNC" | "ENDCOLLECTIVE"
            | "YIELD" | "NANOSLEEP" | "PREEXIT" | "ACQBULK" => F::Control,
            "S2R" | "S2UR" | "CS2UR" | "GETLMEMBASE" | "SETCTAID" => F::System,
            "NOP" => F::Nop,
            "IADD" | "IADD3" | "IADD32I" | "VIADD" | "VIADDMNMX" | "VIMNMX" | "VIMNMX3"
            | "IMNMX" | "IABS" | "ISETP" | "ISET" | "ICMP" | "ISCADD" | "LEA" | "LOP" | "LOP3"
            | "LOP32I" | "SHF" | "SHL" | "SHR" | "BFE" | "BFI" | "BMSK" | "SGXT" | "BREV"
            | "FLO" | "POPC" | "VABSDIFF" | "VABSDIFF4" | "VADD" => F::Integer,
            _ if base.starts_with('U') && base.len() > 2 => F::Uniform,
            _ => F::Other,
        }
    }

    /// True for arithmetic on floats, whatever their width.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(
            self,
            F::Fp32Fma
                | F::Fp32Mul
                | F::Fp32Add
                | F::Fp32Other
                | F::Fp64
                | F::HalfPacked
                | F::HalfScalar
                | F::HalfConvert
                | F::SpecialFunction
                | F::Tensor
        )
    }

    /// True for accesses to any memory but constants.
    #[must_use]
    pub fn is_memory(self) -> bool {
        matches!(
            self,
            F::Load(_) | F::Store(_) | F::Atomic(_) | F::Reduction(_) | F::AsyncCopy | F::Texture
        )
    }

    /// How its result is waited for. Doubles and conversions are counted as variable: consumer
    /// parts send them through a shared unit.
    #[must_use]
    pub fn class(self) -> Class {
        match self {
            F::Load(Space::Shared)
            | F::Store(Space::Shared)
            | F::Atomic(Space::Shared)
            | F::Reduction(Space::Shared)
            | F::Constant
            | F::Fp64
            | F::Convert
            | F::ConvertFp64
            | F::SpecialFunction
            | F::Shuffle
            | F::Vote
            | F::System
            | F::Barrier => Class::Short,
            F::Load(_)
            | F::Store(_)
            | F::Atomic(_)
            | F::Reduction(_)
            | F::AsyncCopy
            | F::Texture
            | F::Fence => Class::Long,
            _ => Class::Fixed,
        }
    }
}

impl Class {
    /// The class whose results a stall waits for; `None` for stalls that wait for no result.
    #[must_use]
    pub fn of(reason: StallReason) -> Option<Self> {
        match reason {
            StallReason::LongScoreboard => Some(Self::Long),
            StallReason::ShortScoreboard => Some(Self::Short),
            StallReason::Wait => Some(Self::Fixed),
            _ => None,
        }
    }
}

/// The family of 16-bit arithmetic: by how many halves of its sources it looks at.
fn half(instruction: &Instruction) -> Family {
    if instruction.has("F32") {
        return F::HalfConvert;
    }
    let (mut any, mut both) = (false, false);
    for operand in instruction.operands.iter().skip(1) {
        // The constant zero has no halves.
        let counts = match operand.kind {
            OperandKind::Register => operand.slot().is_some(),
            OperandKind::Constant => true,
            _ => false,
        };
        if counts {
            any = true;
            both |= !operand.text.contains(".H0_H0") && !operand.text.contains(".H1_H1");
        }
    }
    // Multiplying zeros by zeros and adding two immediates only loads a constant.
    match (any, both) {
        (false, _) => F::Move,
        (true, true) => F::HalfPacked,
        (true, false) => F::HalfScalar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(text: &str) -> Family {
        Family::of(&Instruction::parse(text).unwrap())
    }

    #[test]
    fn opcodes_of_all_architectures_have_families() {
        for (text, expected) in [
            ("LDG.E.SYS R50, [R32.64+UR8]", F::Load(Space::Global)),
            ("@!PT LDS RZ, [RZ]", F::Nop),
            ("LDGSTS.E.BYPASS.128 [R21+0x1080], desc[UR10][R18.64], P0", F::AsyncCopy),
            ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR8][R6.64], R11", F::Reduction(Space::Global)),
            ("ATOMS.POPC.INC.32 RZ, [R10+UR7]", F::Atomic(Space::Shared)),
            ("F2F.F64.F32 R2, R4", F::ConvertFp64),
            ("I2F.F64.S64 R6, R8", F::ConvertFp64),
            ("I2F.U32.RP R6, UR6", F::Convert),
            ("MUFU.RCP R6, R6", F::SpecialFunction),
            ("IMAD.MOV.U32 R4, RZ, RZ, R0", F::Move),
            ("IMAD.HI.U32 R5, R5, R7, R4", F::IntegerMultiply),
            ("UIADD3 UR4, UR4, 0x1, URZ", F::Uniform),
            ("LDCU.64 UR4, c[0x0][0x358]", F::Constant),
            ("HMMA.16816.F32 R4, R12.reuse, R22, R4", F::Tensor),
            ("FADD2 R4, R4.F32x2.HI_LO, R6.F32x2.HI_LO", F::Fp32Add),
            ("CREDUX.MAX.S32 UR4, R8", F::Vote),
            ("FROBNICATE R1", F::Other),
        ] {
            assert_eq!(family(text), expected, "{text}");
        }
    }

    #[test]
    fn halves_are_packed_scalar_converted_or_constants() {
        for (text, expected) in [
            ("HFMA2 R8, R8.H0_H0, UR5.H0_H0, R9.H0_H0", F::HalfScalar),
            ("HFMA2 R12, R7.H0_H0, c[0x0] [0x168].H0_H0, R12.H0_H0", F::HalfScalar),
            ("HFMA2 R8, R8, UR5, R9", F::HalfPacked),
            ("HFMA2.BF16_V2 R8, R8, R5.H0_H0, R9", F::HalfPacked),
            ("HADD2.F32 R76, -RZ, R2.H0_H0", F::HalfConvert),
            ("HFMA2.MMA R22, -RZ, RZ, 0, 2.384185791015625e-07", F::Move),
            ("F2FP.F16.F32.PACK_AB R13, RZ, R13", F::HalfConvert),
        ] {
            assert_eq!(family(text), expected, "{text}");
        }
    }

    #[test]
    fn scoreboards_follow_the_path_of_the_data() {
        assert_eq!(family("LDL R0, [R1]").class(), Class::Long);
        assert_eq!(family("LDS R0, [R1]").class(), Class::Short);
        assert_eq!(family("FFMA R0, R1, R2, R3").class(), Class::Fixed);
        assert_eq!(Class::of(StallReason::LongScoreboard), Some(Class::Long));
        assert_eq!(Class::of(StallReason::Barrier), None);
    }
}
