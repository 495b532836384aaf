//! What an instruction defines and uses.

use crate::sass::parse::instruction::{Instruction, Operand, OperandKind};
use crate::sass::parse::number;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::register::Slot;

/// What a register is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// An operand of the work itself.
    Data,
    /// Part of an address, or of a descriptor.
    Address,
    /// The guard, or the condition of a branch.
    Guard,
    /// The old value of a destination that a guarded instruction may leave as it is.
    Old,
}

/// Appends what an instruction writes to `defs` and what it reads to `uses`. Widths follow the
/// opcode: `.64` and `.128` accesses, doubles, wide products and matrices take several registers.
pub fn collect(
    instruction: &Instruction,
    family: Family,
    defs: &mut Vec<Slot>,
    uses: &mut Vec<(Slot, Role)>,
) {
    let widths = Widths::of(instruction, family);
    let first_def = defs.len();
    let written = destinations(instruction, family);
    for (index, operand) in instruction.operands.iter().enumerate() {
        let is_register = matches!(operand.kind, OperandKind::Register | OperandKind::Predicate);
        if index < written && is_register {
            if operand.text == "PR" {
                defs.extend(packed(instruction));
            }
            span(operand.slot(), widths.destination, |slot| defs.push(slot));
            continue;
        }
        let role = match operand.kind {
            OperandKind::Memory | OperandKind::Constant => Role::Address,
            _ if family == Family::Control => Role::Guard,
            _ => Role::Data,
        };
        read(instruction, index, role, widths.source(index, written), uses);
    }
    if let Some(guard) = instruction.guard {
        uses.push((guard, Role::Guard));
        uses.extend(defs[first_def..].iter().map(|&slot| (slot, Role::Old)));
    }
}

fn read(
    instruction: &Instruction,
    index: usize,
    role: Role,
    width: u16,
    uses: &mut Vec<(Slot, Role)>,
) {
    let operand = &instruction.operands[index];
    if operand.text.trim_start_matches('!') == "PR" {
        uses.extend(packed(instruction).map(|slot| (slot, role)));
        return;
    }
    let mut add = |slot| uses.push((slot, role));
    if role != Role::Address {
        operand.slots().for_each(|(slot, _)| span(Some(slot), width, &mut add));
        return;
    }
    if operand.text.starts_with("gdesc[") {
        return matrix_descriptors(instruction, index, &mut add);
    }
    let is_wide = is_wide_address(instruction, index);
    for (slot, suffix) in operand.slots() {
        let pair = suffix == "64" || is_wide && suffix != "U32" && slot_is_whole(slot, operand);
        span(Some(slot), 1 + u16::from(pair), &mut add);
    }
}

/// The predicates that `PR` stands for: those of the mask behind it, or all (`P2R R17, PR, RZ, 0x10`).
fn packed(instruction: &Instruction) -> impl Iterator<Item = Slot> {
    let mask = instruction.operands.last().and_then(|operand| number::word(operand.text));
    let is_in = move |at: &usize| mask.is_none_or(|mask| mask >> at & 1 == 1);
    Slot::predicates().enumerate().filter(move |(at, _)| is_in(at)).map(|(_, slot)| slot)
}

/// False for a lane's own register where the operand marks it: `[R2.U32+UR4]` has 64 bits in `UR4` alone.
fn slot_is_whole(slot: Slot, operand: &Operand) -> bool {
    !slot.is_general() || !operand.text.contains(".64")
}

/// True where an operand is an address of 64 bits: of global memory, or of any. Shared and local ones have 32.
fn is_wide_address(instruction: &Instruction, index: usize) -> bool {
    let text = instruction.operands[index].text;
    let is_marked = |text: &str| [".64", ".U32", "desc["].iter().any(|mark| text.contains(mark));
    match instruction.base() {
        // One side is global and marked as such; ncu and nvdisasm print the two in different orders.
        "LDGSTS" => is_marked(text),
        // `.S.G`: to shared memory from global. What is copied to has its mbarrier's address behind it.
        "UBLKCP" => index == 0 || instruction.modifiers().nth(1) == Some("G"),
        // Before `desc` and `.64` only the opcode's `E` said so.
        _ => is_marked(text) || instruction.has("E"),
    }
}

/// The descriptors of a warp group's operands in shared memory, two registers each: A's and B's, or B's alone
/// where A is in registers, which leaves the first pair unused.
fn matrix_descriptors(instruction: &Instruction, index: usize, add: &mut impl FnMut(Slot)) {
    let Some(first) = instruction.operands[index].slot() else { return };
    let a_in_registers = index >= 2;
    span(first.after(if a_in_registers { 2 } else { 0 }), if a_in_registers { 2 } else { 4 }, add);
}

fn span(slot: Option<Slot>, width: u16, mut add: impl FnMut(Slot)) {
    let Some(first) = slot else { return };
    add(first);
    (1..width).filter_map(|by| first.after(by)).for_each(add);
}

/// How many leading operands an instruction writes.
#[must_use]
pub fn destinations(instruction: &Instruction, family: Family) -> usize {
    let kinds: &[Operand] = &instruction.operands;
    let is = |index: usize, kind| kinds.get(index).is_some_and(|operand| operand.kind == kind);
    match family {
        Family::Store(_)
        | Family::Reduction(_)
        | Family::AsyncCopy
        | Family::Control
        | Family::Fence
        | Family::Nop => return 0,
        Family::Barrier if !matches!(instruction.base(), "SYNCS" | "B2R") => return 0,
        _ => {}
    }
    match instruction.base() {
        // The second result is the negation, or the combination with the last operand.
        "ISETP" | "FSETP" | "DSETP" | "HSETP2" | "PSETP" | "PLOP3" | "UISETP" | "UPLOP3"
        | "UPSETP" | "UFSETP"
        // Two destinations of two registers each.
        | "TEX" | "TLD" | "TLD4" => return 2,
        "R2P" | "FCHK" => return 1,
        // Without a mask of the lanes, a vote's only result is a predicate.
        "VOTE" | "VOTEU" if is(0, OperandKind::Predicate) => return 1,
        _ => {}
    }
    let mut count = 0;
    while is(count, OperandKind::Predicate) {
        count += 1;
    }
    if !is(count, OperandKind::Register) {
        return count;
    }
    count += 1;
    // Carries out of an addition follow its result.
    let carries = match instruction.base() {
        "IADD3" | "UIADD3" => 2,
        "LEA" | "ULEA" | "IMAD" | "UIMAD" | "VOTE" | "VOTEU" | "MATCH" | "IADD" => 1,
        _ => 0,
    };
    for _ in 0..carries {
        count += usize::from(is(count, OperandKind::Predicate));
    }
    count
}

/// Registers that operands take.
struct Widths {
    destination: u16,
    /// Of all sources except those named below.
    sources: u16,
    /// Of the source at this place, counted from the first source.
    special: [Option<u16>; 3],
}

impl Widths {
    fn of(instruction: &Instruction, family: Family) -> Self {
        let both = |width| Self { destination: width, sources: width, special: [None; 3] };
        let split = |destination, sources| Self { destination, sources, special: [None; 3] };
        let has = |modifier| instruction.has(modifier);
        match family {
            Family::Fp64 | Family::Texture => both(2),
            Family::ConvertFp64 | Family::Convert => {
                let (destination, source) = conversion(instruction);
                split(destination, source)
            }
            Family::Tensor => tensor(instruction),
            Family::Load(_)
            | Family::Store(_)
            | Family::Atomic(_)
            | Family::Reduction(_)
            | Family::Constant => both(
                u16::from(crate::sass::parse::access::width_bytes(instruction).unwrap_or(4))
                    .div_ceil(4),
            ),
            Family::IntegerMultiply | Family::Uniform if has("WIDE") => {
                Self { destination: 2, sources: 1, special: [None, None, Some(2)] }
            }
            Family::IntegerMultiply if has("HI") => {
                Self { destination: 1, sources: 1, special: [None, None, Some(2)] }
            }
            _ if instruction.base() == "CS2R" => split(if has("32") { 1 } else { 2 }, 1),
            _ if has("64") || instruction.base().ends_with('2') && is_packed_fp32(instruction) => {
                both(2)
            }
            _ => both(1),
        }
    }

    fn source(&self, index: usize, written: usize) -> u16 {
        index
            .checked_sub(written)
            .and_then(|place| *self.special.get(place)?)
            .unwrap_or(self.sources)
    }
}

/// `FADD2`, `FMUL2`, `FFMA2` of Blackwell: two floats in a pair of registers.
fn is_packed_fp32(instruction: &Instruction) -> bool {
    matches!(instruction.base(), "FADD2" | "FMUL2" | "FFMA2")
}

/// Registers of a conversion's result and source. `F2F.F32.F64` names the result first; elsewhere
/// `F64` is the float's side, and `S64` or `U64` the integer's.
fn conversion(instruction: &Instruction) -> (u16, u16) {
    let size = |wide: bool| 1 + u16::from(wide);
    let float = instruction.has("F64");
    let integer = instruction.has("S64") || instruction.has("U64");
    match instruction.base() {
        "F2F" => {
            let mut sides =
                instruction.modifiers().filter(|each| each.starts_with('F') && *each != "FTZ");
            (size(sides.next() == Some("F64")), size(sides.next() == Some("F64")))
        }
        "I2F" => (size(float), size(integer)),
        "F2I" => (size(integer), size(float)),
        _ => (size(float), size(float)),
    }
}

/// Registers of a matrix instruction: sums in the destination and the third source, then A and B.
fn tensor(instruction: &Instruction) -> Widths {
    let shape = instruction.modifiers().find(|each| each.starts_with(|c: char| c.is_ascii_digit()));
    // Warp-group shapes are `64x128x16`: 64 rows over 128 lanes, so N/2 sums of 32 bits per lane.
    let columns = shape.and_then(|shape| shape.split('x').nth(1)?.parse::<u16>().ok());
    let half = if instruction.has("F16") && !instruction.has("F32") { 2 } else { 1 };
    let sums = columns.map_or(4 / half, |columns| (columns / 2 / half).max(1));
    // TF32 numbers take a register each, halves share one.
    let (a, b) = match shape {
        Some("1688") if instruction.has("TF32") => (4, 2),
        Some("1688" | "1684") => (2, 1),
        Some("8816" | "884") => (2, 2),
        _ => (4, 2),
    };
    Widths { destination: sums, sources: 1, special: [Some(a), Some(b), Some(sums)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of what is written, and of what is read.
    fn of(text: &str) -> (Vec<Slot>, Vec<Slot>) {
        let parsed = Instruction::parse(text).unwrap();
        let (mut defs, mut uses) = (Vec::new(), Vec::new());
        collect(&parsed, Family::of(&parsed), &mut defs, &mut uses);
        (defs, uses.into_iter().map(|(slot, _)| slot).collect())
    }

    fn slots(names: &str) -> Vec<Slot> {
        names.split_whitespace().map(|name| Slot::parse(name).unwrap()).collect()
    }

    #[test]
    fn definitions_and_uses_are_told_apart() {
        for (text, defs, uses) in [
            ("FFMA R0, R1, -R2.reuse, R3", "R0", "R1 R2 R3"),
            ("IADD3 R6, P3, P4, R23, 0x20, R16", "R6 P3 P4", "R23 R16"),
            ("IADD3.X R3, R11, UR7, RZ, P1, !PT", "R3", "R11 UR7 P1"),
            ("LOP3.LUT P1, R0, R0, 0x80000000, RZ, 0xc0, !PT", "P1 R0", "R0"),
            ("ISETP.GE.AND P0, PT, R6, UR4, PT", "P0", "R6 UR4"),
            ("SEL R18, R19, RZ, P2", "R18", "R19 P2"),
            ("P2R R17, PR, RZ, 0x14", "R17", "P2 P4"),
            ("R2P PR, R17, 0x5", "P0 P2", "R17"),
            ("P2R R17, PR, RZ, 0x7f", "R17", "P0 P1 P2 P3 P4 P5 P6"),
            ("SHFL.DOWN PT, R3, R20, 0x10, 0x1f", "R3", "R20"),
            ("FCHK P0, R27, R8", "P0", "R27 R8"),
            ("VOTEU.ANY UR4, UPT, PT", "UR4", ""),
            ("VOTEU.ANY UP0, P2", "UP0", "P2"),
            ("R2UR UR5, R2", "UR5", "R2"),
            ("MUFU.RCP R6, R6", "R6", "R6"),
            ("BRA.DIV UR4, 0x10", "", "UR4"),
            ("BRA !P2, 0x10", "", "P2"),
            ("RET.REL.NODEC R16, 0x7f7d237a0000", "", "R16"),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", "", ""),
            ("MUFU.RCP64H R3, R5", "R3", "R5"),
        ] {
            assert_eq!(of(text), (slots(defs), slots(uses)), "{text}");
        }
    }

    #[test]
    fn pairs_and_quads_are_whole() {
        for (text, defs, uses) in [
            ("LDG.E.128 R4, desc[UR4][R2.64+0x10]", "R4 R5 R6 R7", "UR4 UR5 R2 R3"),
            ("LDG.E.SYS R0, [R2]", "R0", "R2 R3"),
            ("STS.64 [R29+-0x800], R8", "", "R29 R8 R9"),
            ("DFMA R4, R4, 0.25, R2", "R4 R5", "R4 R5 R2 R3"),
            ("F2F.F64.F32 R12, R10", "R12 R13", "R10"),
            ("F2F.F32.F64 R12, R2", "R12", "R2 R3"),
            ("I2F.F64.S64 R6, R8", "R6 R7", "R8 R9"),
            ("F2I.U64.TRUNC R6, R8", "R6 R7", "R8"),
            ("IMAD.WIDE R2, R5, 0x4, R2", "R2 R3", "R5 R2 R3"),
            ("IMAD.HI.U32 R12, R9, R11, R8", "R12", "R9 R11 R8 R9"),
            ("CS2R R6, SRZ", "R6 R7", ""),
            (
                "HMMA.16816.F32 R4, R12, R18, R4",
                "R4 R5 R6 R7",
                "R12 R13 R14 R15 R18 R19 R4 R5 R6 R7",
            ),
            ("HMMA.1688.F32 R20, R40, R50, R20", "R20 R21 R22 R23", "R40 R41 R50 R20 R21 R22 R23"),
            (
                "HMMA.1688.F32.TF32 R20, R40, R50, R20",
                "R20 R21 R22 R23",
                "R40 R41 R42 R43 R50 R51 R20 R21 R22 R23",
            ),
            ("ATOMG.E.ADD.STRONG.GPU PT, R2, desc[UR8][R2.64], R5", "R2", "UR8 UR9 R2 R3 R5"),
            ("LDC R7, c[0x3][R7]", "R7", "R7"),
            ("LDS R4, [R10+UR7]", "R4", "R10 UR7"),
            ("LDS R4, [R10.X4+UR7+0x8]", "R4", "R10 UR7"),
            ("LDL.64 R4, [UR6+0x8]", "R4 R5", "UR6"),
            ("LDG.E.64 R4, [UR12]", "R4 R5", "UR12 UR13"),
            ("LDG.E.U8.SYS R7, [R60.64+UR4+0x20]", "R7", "R60 R61 UR4 UR5"),
            ("LDG.E.U8.SYS R8, [R7.U32+UR4]", "R8", "R7 UR4 UR5"),
            ("ST.E.64 [R6.64+UR6], R24", "", "R6 R7 UR6 UR7 R24 R25"),
            ("RED.E.ADD.STRONG.GPU [UR4+0x4], R33", "", "UR4 UR5 R33"),
        ] {
            assert_eq!(of(text), (slots(defs), slots(uses)), "{text}");
        }
    }

    #[test]
    fn of_a_copy_to_shared_memory_the_global_side_alone_is_wide() {
        for (text, uses) in [
            ("LDGSTS.E.LTC128B [R45], [R16.64], P1", "R45 R16 R17 P1"),
            (
                "LDGSTS.E.BYPASS.128 [R190+UR8+0x180], desc[UR10][R206.64]",
                "R190 UR8 UR10 UR11 R206 R207",
            ),
            // As ncu prints it.
            ("LDGSTS.E.64 desc[UR8][R2.64], [R39+0x4]", "UR8 UR9 R2 R3 R39"),
            ("LDGSTS.E [R43], [R14.64+UR4+0x80]", "R43 R14 R15 UR4 UR5"),
            ("LDGSTS.E [R43], [R14.U32+UR4]", "R43 R14 UR4 UR5"),
            // A destination and its mbarrier's address, a source, and how many bytes.
            ("UBLKCP.S.G [UR8], [UR10], UR12", "UR8 UR9 UR10 UR11 UR12"),
            ("UBLKCP.G.S [UR8], [UR10], UR12", "UR8 UR9 UR10 UR12"),
        ] {
            assert_eq!(of(text), (Vec::new(), slots(uses)), "{text}");
        }
    }

    #[test]
    fn matrices_in_shared_memory_have_two_registers_each() {
        let reads = |text| {
            let uses = of(text).1.into_iter().filter(|slot| slot.index() >= 256);
            uses.collect::<Vec<_>>()
        };
        let both = reads("HGMMA.64x64x16.F32 R24, gdesc[UR12].tnspB, R24");
        assert_eq!(both, slots("UR12 UR13 UR14 UR15"));
        let second = reads("HGMMA.64x128x16.F32 R24, R88, gdesc[UR16].tnspB, R24, gsb0");
        assert_eq!(second, slots("UR18 UR19"));
    }

    #[test]
    fn a_guarded_write_may_keep_the_old_value() {
        let (defs, uses) = of("@P0 IADD3 R5, R5, -UR6, RZ");
        assert_eq!((defs, uses), (slots("R5"), slots("R5 UR6 P0 R5")));
    }
}
