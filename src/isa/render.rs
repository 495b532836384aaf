//! The text of an instruction.

use half::{bf16, f16};

use super::architecture::Architecture;
use super::encoding::Encoding;
use super::number::{decimal, float, hexadecimal, mask};
use super::table::Rows;
use super::template::{Kind, Number, Piece, Template};

/// The guard: a predicate, and whether it is negated.
const GUARD: (u8, u8, u8) = (12, 3, 15);
/// Where bits say which operands stay in the operand cache, and the bit without which they say nothing.
const REUSE: u128 = 0xf << 122;
const NO_YIELD: u8 = 109;
/// The predicate that is always true.
const TRUE: u64 = 7;

/// What stands for an instruction that the table does not have.
pub const UNKNOWN: &str = "UNKNOWN";

/// The instructions of an architecture.
#[derive(Debug, Clone, Copy)]
pub struct Isa {
    rows: &'static Rows,
}

impl Isa {
    /// The instructions of an architecture; `None` where they are not known.
    #[must_use]
    pub fn of(architecture: Architecture) -> Option<Self> {
        Some(Self { rows: Rows::of(architecture)? })
    }

    /// Appends an instruction's text; branches name addresses, so its own is needed. False where the
    /// opcode is not known: then the text is [`UNKNOWN`] and the opcode.
    pub fn write(self, encoding: Encoding, address: u64, out: &mut String) -> bool {
        let row = self.rows.row(encoding.opcode());
        let (low, width, negated) = GUARD;
        let guard = encoding.bits(low, width);
        if guard != TRUE || encoding.bit(negated) {
            out.push_str(if encoding.bit(negated) { "@!" } else { "@" });
            let is_uniform = row.is_some_and(|row| row.uniform_guard);
            indexed(out, if is_uniform { "UP" } else { "P" }, guard, TRUE, "T");
            out.push(' ');
        }
        let Some(row) = row else {
            out.push_str(UNKNOWN);
            out.push(' ');
            hexadecimal(out, false, u64::from(encoding.opcode()));
            return false;
        };
        // Reuse shows only where the scheduler stays with the warp.
        let reuse = if encoding.bit(NO_YIELD) { 0 } else { REUSE };
        let instruction = Instruction { encoding: Encoding(encoding.0 & !reuse), address };
        instruction.template(&row.mnemonic, out);
        let mut separator = " ";
        for operand in &row.operands {
            let before = out.len();
            out.push_str(separator);
            let start = out.len();
            instruction.template(operand, out);
            if out.len() == start {
                out.truncate(before);
            } else {
                separator = ", ";
            }
        }
        out.truncate(out.trim_end().len());
        true
    }
}

/// An instruction at its address.
struct Instruction {
    encoding: Encoding,
    address: u64,
}

impl Instruction {
    fn template(&self, template: &Template, out: &mut String) {
        for piece in template {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Number(number) => self.number(number, out),
                Piece::Either(test, yes, no) => {
                    self.template(if test.holds(self.encoding) { yes } else { no }, out);
                }
                Piece::Choice(field, choices) => {
                    let choice = usize::try_from(field.of(self.encoding)).ok();
                    if let Some(template) = choice.and_then(|choice| choices.get(choice)) {
                        self.template(template, out);
                    }
                }
            }
        }
    }

    fn number(&self, number: &Number, out: &mut String) {
        let width = number.field.width();
        let ones = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
        let mut value = number.field.of(self.encoding);
        if number.inverted {
            value = ones - value;
        }
        let is_negative =
            number.signed && (1..64).contains(&width) && value >> (width - 1) & 1 == 1;
        let extended = if is_negative { value | !ones } else { value };
        let signed = extended.wrapping_shl(u32::from(number.shift)).cast_signed();
        match number.kind {
            Kind::Register => indexed(out, "R", value, ones, "Z"),
            Kind::UniformRegister => indexed(out, "UR", value, ones, "Z"),
            Kind::Predicate => indexed(out, "P", value, TRUE, "T"),
            Kind::UniformPredicate => indexed(out, "UP", value, TRUE, "T"),
            Kind::Barrier => indexed(out, "B", value, u64::MAX, ""),
            Kind::Hexadecimal if is_negative => hexadecimal(out, true, signed.unsigned_abs()),
            Kind::Hexadecimal => hexadecimal(out, false, signed.cast_unsigned()),
            Kind::Negated => hexadecimal(out, signed > 0, signed.unsigned_abs()),
            Kind::Target => {
                let next = self.address.wrapping_add(super::encoding::SIZE as u64).cast_signed();
                let target = next.wrapping_add(signed);
                hexadecimal(out, target < 0, target.unsigned_abs());
            }
            Kind::Decimal => {
                if signed < 0 {
                    out.push('-');
                }
                decimal(out, signed.unsigned_abs());
            }
            Kind::Mask => mask(out, value),
            Kind::Float => {
                let quiet = value >> 22 & 1 == 1;
                float(out, f64::from(f32::from_bits(value as u32)), quiet);
            }
            Kind::Double => float(out, f64::from_bits(value << 32), value >> 19 & 1 == 1),
            Kind::Half => {
                float(out, f16::from_bits(value as u16).to_f64(), value >> 9 & 1 == 1);
            }
            Kind::Bfloat => {
                float(out, bf16::from_bits(value as u16).to_f64(), value >> 6 & 1 == 1);
            }
        }
    }
}

/// A name with a number, or with what stands for the last one.
fn indexed(out: &mut String, name: &str, value: u64, last: u64, last_name: &str) {
    out.push_str(name);
    if value == last {
        out.push_str(last_name);
    } else {
        decimal(out, value);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(architecture: u8, low: u64, high: u64, address: u64) -> String {
        let mut out = String::new();
        let encoding = Encoding(u128::from(high) << 64 | u128::from(low));
        Isa::of(Architecture(architecture)).unwrap().write(encoding, address, &mut out);
        out
    }

    /// Instructions as listings show them everywhere, from the bits by hand.
    #[test]
    fn well_known_instructions_read_as_in_any_listing() {
        for (low, high, expected) in [
            (0x0000_0a00_0001_7a02, 0x000f_e400_0000_0f00, "MOV R1, c[0x0][0x28]"),
            (0x0000_0000_0000_7919, 0x000e_2200_0000_2100, "S2R R0, SR_TID.X"),
            (0x0000_0000_0300_7a24, 0x001f_ca00_078e_0200, "IMAD R0, R3, c[0x0][0x0], R0"),
            (
                0x0000_5e00_0000_7a0c,
                0x000f_da00_03f0_6270,
                "ISETP.GE.AND P0, PT, R0, c[0x0][0x178], PT",
            ),
            (0x0000_0000_0000_094d, 0x000f_ea00_0380_0000, "@P0 EXIT"),
            (0x0000_0000_0000_894d, 0x000f_ea00_0380_0000, "@!P0 EXIT"),
            (0x0000_0004_0202_7981, 0x000e_a200_0c1e_1900, "LDG.E R2, desc[UR4][R2.64]"),
            (0x0000_0005_0200_7986, 0x000f_e200_0c10_1904, "STG.E desc[UR4][R2.64], R5"),
            (0x0000_0003_0207_7223, 0x000f_e200_0000_0007, "FFMA R7, R2, R3, R7"),
            (0x0000_0000_0000_7b1d, 0x000f_ec00_0001_0000, "BAR.SYNC.DEFER_BLOCKING 0x0"),
            (0x0000_0000_0000_7918, 0x000f_c000_0000_0000, "NOP"),
            (0xffff_fffc_00fc_7947, 0x000f_c000_0383_ffff, "BRA 0x40"),
        ] {
            assert_eq!(text(90, low, high, 0x40), expected);
        }
    }

    #[test]
    fn an_operand_is_kept_only_where_the_scheduler_stays_with_the_warp() {
        // The lowest of the four highest control bits keeps the first operand; bit 109 is the 45th here.
        let kept = 0x040f_e200_0000_0007;
        assert_eq!(text(90, 0x0000_0003_0207_7223, kept, 0), "FFMA R7, R2.reuse, R3, R7");
        let turned = kept & !(1 << 45);
        assert_eq!(text(90, 0x0000_0003_0207_7223, turned, 0), "FFMA R7, R2, R3, R7");
    }

    #[test]
    fn a_branch_counts_from_the_next_instruction_as_its_architecture_places_the_offset() {
        // Ampere has the offset's bits in a row, Hopper the lowest eight of them lower down.
        assert_eq!(text(80, 0xffff_fff0_0000_7947, 0x000f_c000_0383_ffff, 0x40), "BRA 0x40");
        assert_eq!(text(90, 0xffff_fffc_00fc_7947, 0x000f_c000_0383_ffff, 0x1000), "BRA 0x1000");
    }

    #[test]
    fn numbers_read_as_their_template_says() {
        let written = |template: &str, bits: u128| {
            let mut out = String::new();
            let template = crate::isa::template::parse(template).unwrap();
            Instruction { encoding: Encoding(bits), address: 0 }.template(&template, &mut out);
            out
        };
        // 7 - 5 and 7 - 0.
        assert_eq!((written("<P!0.3>", 5), written("<P!0.3>", 0)), ("P2".into(), "PT".into()));
        assert_eq!(written("<D32.32>", 0x3ff8_0000 << 32), "1.5");
        // The highest bit of the fraction tells quiet from signalling.
        for (template, quiet, signalling) in [
            ("<F0.32>", 0x7fc0_0000, 0x7fa0_0000),
            ("<D0.32>", 0x7ff8_0000, 0x7ff4_0000),
            ("<H0.16>", 0x7e00, 0x7d00),
            ("<J0.16>", 0x7fc0, 0x7fa0),
        ] {
            assert_eq!(written(template, quiet), "+QNAN ", "{template}");
            assert_eq!(written(template, signalling), "+SNAN ", "{template}");
        }
    }

    #[test]
    fn an_unknown_opcode_keeps_its_place_and_its_guard() {
        let unknown =
            (0..0x1000).find(|&opcode| text(90, 0x7000 | opcode, 0, 0).starts_with(UNKNOWN));
        let opcode = unknown.unwrap();
        assert_eq!(text(90, 0x7000 | opcode, 0, 0), format!("UNKNOWN {opcode:#x}"));
        assert_eq!(text(90, 0x9000 | opcode, 0, 0), format!("@!P1 UNKNOWN {opcode:#x}"));
        assert!(Isa::of(Architecture(52)).is_none());
    }

    proptest! {
        #[test]
        fn no_bits_panic(bits: u128, address: u64) {
            for architecture in Architecture::KNOWN {
                if let Some(isa) = Isa::of(architecture) {
                    let mut out = String::new();
                    isa.write(Encoding(bits), address, &mut out);
                    prop_assert!(!out.is_empty());
                }
            }
        }
    }
}
