//! Integer division and modulo, or the unpacking of small integers, take the instructions.

mod packed_fields;

use crate::evidence::alike::{self, ALIKE_LIMIT};
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{
    CYCLES, ISSUE_BUSY, MATTERS, MATTERS_LIMIT, RATES, Removal, matters,
};
use crate::evidence::slow_routines::Runs;
use crate::evidence::vectors::{Once, is_narrow};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::divisors::{Divisor, Divisors};
use crate::sass::{Marks, Routine};
use crate::term::Term;
use crate::text::{count, percent};

/// The rule.
pub const RULE: Rule = Rule {
    name: "integer-arithmetic-bound",
    kind: Kind::Cause,
    summary: "index arithmetic, division, or unpacking of integers is the limit",
    explanation: "\
A GPU has no instruction for integer division. For a constant divisor the compiler multiplies \
instead (2 or 3 instructions); for a divisor known only at run time, i / n and i % n become about \
17 instructions each, three of them on the slow conversion unit, and for 64-bit integers a call of \
about 75. The rule recognises the routines by the conversion that they begin with and counts how \
often they ran. Use a power of two and shifts, make the divisor a template parameter or a macro, \
multiply by a reciprocal that the host computes once, take quotient and remainder from one \
division, keep a running counter instead of dividing, or give the block a second dimension so that \
no index has to be split. 64-bit operands cost most: use 32 bits where the range allows. Quantized weights \
are another case: each field of a packed word is shifted down, masked and converted to a float, three instructions at \
half the rate of multiply-adds or less, where a mask that puts the field into the mantissa of 2^23 or 1024 and a \
subtraction do.",
    examples: &[Example {
        fault: "\
int i = blockIdx.x * blockDim.x + threadIdx.x;
int x = i % nx, y = i / nx % ny, z = i / nx / ny;    // four divisions",
        repair: "\
int x = blockIdx.x * blockDim.x + threadIdx.x;
int y = blockIdx.y, z = blockIdx.z;                  // none",
        note: "\
The grid has three dimensions, so that the hardware counts what the kernel had to divide; each \
row is rounded up to whole blocks.",
    }],
    section: "InstructionStats",
    thresholds: &[MATTERS_LIMIT, ALIKE_LIMIT],
    needs: &[ISSUE_BUSY],
    sharpened_by: &[RATES, CYCLES],
    source_page: SourcePage::Needed,
    said_by_ncu: &[SaidByNcu::with(
        "HighPipeUtilization",
        &["alu is the highest"],
        Acts::Units(&[Term::Alu]),
    )],
    explains: &[
        "math-pipe-throttle",
        "short-scoreboard-stalls",
        "mio-throttle",
        "fixed-latency-stalls",
        "instruction-cache-misses",
        "issue-slots-underused",
    ],
    in_triton: "\
pass divisors and sizes as tl.constexpr, and compute offsets in 32 bits where the tensor has \
fewer than 2^31 elements.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    divisions(launch).or_else(|| packed_fields::check(launch))
}

/// Divisions by values that only the run knows.
fn divisions(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let mut divisors = Divisors::new(listing);
    let (mut by_warp_size, mut by_others, mut worked_out) = (0.0, 0.0, 0.0);
    let runs = Runs::replace(&mut removal, |mark, routine| {
        // A quotient beyond the first has the divisor of the one whose reciprocal it uses.
        if !routine.is_integer() || routine == Routine::RepeatedDivision {
            return routine.is_integer();
        }
        let divisor = divisors.of(mark);
        let sum = match divisor {
            Divisor::Constant(WARP) => &mut by_warp_size,
            Divisor::Constant(_) | Divisor::Given => &mut by_others,
            Divisor::WorkedOut => &mut worked_out,
        };
        *sum += listing.executed(mark);
        divisor != Divisor::WorkedOut
    });
    let (routine, most) = runs.most()?;
    let effect = removal.effect(launch);
    if !matters(launch, &effect) {
        return None;
    }
    let locations = runs.locations(launch, &removal);
    let (total, saved) = (removal.mix.total, removal.instructions());
    let others = if worked_out > 0.0 {
        format!(
            " {} more divide by values that each iteration or thread works out; no constant and no reciprocal \
             can stand for those, and they are not counted.",
            count(worked_out)
        )
    } else {
        String::new()
    };
    Some(Draft {
        message: format!(
            "{} times, warps run the routine for {} by a value known only at run time; a multiplication or a shift \
             in its place would save {} of {} executed instructions ({}).{others}",
            count(most),
            routine.name(),
            count(saved),
            count(total),
            percent(saved / total),
        ),
        evidence: vec![
            Evidence::new(format!("runs of {}", routine.name()), most, "warp"),
            Evidence::new("instructions of divisions that would go", saved, "inst"),
            Evidence::new("smsp__inst_executed.sum", total, "inst"),
        ],
        hint: hint(routine, by_warp_size > by_others, &place(&locations, "the hottest spot"))
            + &alike::advice(launch)
            + &vectors(launch, &effect),
        locations,
        effect,
    })
}

/// What vectors would give instead, where that is more than the divisions alone: neighbours have quotients in common.
fn vectors(launch: &ModeledLaunch, effect: &Effect) -> String {
    let gain = || {
        let listing = launch.profile.listing()?;
        let narrow = Marks::of(listing.sass.entries.len(), |index| is_narrow(listing, index));
        let once = Once::find(launch, &narrow)?;
        let gain = once.gain(launch).filter(|gain| 1.0 - 1.0 / gain >= MATTERS)?;
        let alone = launch.model.without(effect).map_or(1.0, |estimate| estimate.factor);
        (gain > alone).then_some(once.elements)
    };
    gain().map_or_else(String::new, |elements| {
        format!(
            " Or let each thread take {} neighbouring elements, in accesses of 16 bytes (such as float4): quotients and \
             coordinates are then worked out once for all of them, which may give more, if the innermost dimension is contiguous and \
             a multiple of {0}.",
            count(elements),
        )
    })
}

/// What `warpSize` is on every device.
const WARP: u64 = 32;

fn hint(routine: Routine, by_warp_size: bool, at: &str) -> String {
    if by_warp_size {
        return format!(
            "Divide by 32 at {at}, as a literal or a constexpr: the divisor there is warpSize, which is 32 on \
             every device but no compile-time constant in CUDA C++, so that the compiler divides as if it did \
             not know it. By a literal it shifts and masks; the same goes for a remainder."
        );
    }
    let repeated = matches!(routine, Routine::RepeatedDivision | Routine::RepeatedSignedDivision);
    if repeated {
        return format!(
            "Make the divisor at {at} a compile-time constant (a template parameter, a macro; warpSize is none) \
             or a power of two. The compiler has already replaced the division by a multiplication with a \
             reciprocal, and what remains are the corrections: of the rounding and, unless the operands are \
             unsigned, of the signs. Where an index is split into coordinates, take them from blockIdx and \
             threadIdx or keep running counters."
        );
    }
    format!(
        "Avoid the division at {at}: make the divisor a compile-time constant (a template parameter, a macro; \
         warpSize is none) or a power of two, or multiply by a reciprocal computed on the host; where an index is \
         split into coordinates, take them from blockIdx and threadIdx or keep running counters. Check that the \
         reciprocal rounds correctly over the range of the operands.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, check, sass};
    use crate::term::Term;

    const ALU: &str = "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed";

    #[test]
    fn divisions_count_from_a_twentieth_of_the_time() {
        // 10 x (7 - 1) of 600 ALU instructions are a tenth; half busy, that is a twentieth.
        let code = [("I2F.U32.RP R6, UR6", 10.0), ("IADD3 R1, R1, R2, RZ", 600.0), ("NOP", 2190.0)];
        let launch = sass(&[(ISSUE_BUSY, 20.0), (ALU, 50.0)], &code);
        let draft = assert_sides(&RULE, &launch, &[&[(ALU, 49.9)]]);
        assert!((draft.effect.share_of(Term::Alu) - 0.1).abs() < 1e-12);
        // 10 x (17 - 3) of 2800 instructions.
        assert!((draft.effect.share_of(Term::Issue) - 0.05).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::Xu) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn long_division_is_the_function_that_is_called() {
        let launch = sass(
            &[(ISSUE_BUSY, 40.0)],
            &[
                ("CALL.REL.NOINC 0x130", 10.0),
                ("STG.E desc[UR4][R20.64], R0", 10.0),
                ("EXIT", 10.0),
                ("I2F.U64.RP R10, UR4", 10.0),
                ("IADD3 R1, R1, R2, RZ", 10.0),
                ("RET.REL.NODEC R4 0x100", 10.0),
            ],
        );
        let draft = check(&RULE, &launch).unwrap();
        assert!((draft.effect.share_of(Term::Issue) - 40.0 / 60.0).abs() < 1e-12);
        assert!(draft.message.contains("64-bit"), "{}", draft.message);
    }

    #[test]
    fn the_short_way_of_a_long_division_stands_before_or_behind_its_call() {
        let said = |code: &[(&'static str, f64)]| {
            check(&RULE, &sass(&[(ISSUE_BUSY, 90.0)], code)).unwrap().message
        };
        let function = [("I2F.U64.RP R10, UR4", 0.0), ("RET.REL.NODEC R4 0x100", 0.0)];
        let mut behind = vec![("@!P0 BRA 0x1d0", 10.0), ("CALL.REL.NOINC 0x200", 0.0)];
        behind.extend([("MOV R8, RZ", 0.0); 11]);
        behind.extend([("I2F.U32.RP R5, UR6", 10.0), ("STG.E [R20.64], R0", 10.0), ("EXIT", 10.0)]);
        behind.extend(function);
        assert!(said(&behind).contains("64-bit"), "{}", said(&behind));
        let mut before = vec![
            ("@P0 BRA 0x140", 10.0),
            ("I2F.U32.RP R5, UR6", 10.0),
            ("IADD3 R1, R1, R2, RZ", 10.0),
            ("BRA 0x160", 10.0),
            ("MOV R8, RZ", 0.0), // 0x140
            ("CALL.REL.NOINC 0x180", 0.0),
            ("STG.E [R20.64], R0", 10.0), // 0x160
            ("EXIT", 10.0),
        ];
        before.extend(function);
        assert!(said(&before).contains("64-bit"), "{}", said(&before));
        before[5].0 = "MOV R9, RZ";
        assert!(said(&before).contains("32-bit"), "{}", said(&before));
    }

    #[test]
    fn a_constant_divisor_is_cheap() {
        let code = [("IMAD.HI.U32 R5, R5, R7, R4", 99.0), ("SHF.R.U32.HI R5, RZ, 0x4, R5", 99.0)];
        assert_eq!(check(&RULE, &sass(&[(ISSUE_BUSY, 90.0)], &code)), None);
    }

    #[test]
    fn further_quotients_by_the_same_divisor_are_divisions_too() {
        let code = [
            ("I2F.RP R6, R7", 10.0),
            ("IMAD.HI.U32 R9, R11, R9, R10", 10.0), // the reciprocal
            ("IMAD.HI.U32 R11, R9, R18, RZ", 10.0),
            ("IMAD.HI.U32 R12, R9, R19, RZ", 10.0),
            ("IMAD.HI.U32 R13, R9, R20, RZ", 10.0),
            ("IADD3 R1, R1, R2, RZ", 190.0),
        ];
        let launch = sass(&[(ISSUE_BUSY, 90.0)], &code);
        let draft = check(&RULE, &launch).unwrap();
        // One division, 17 for 3, and two quotients more, 8 for 3, each ten times: 240 of 240.
        let saved = 10.0 * (17.0 - 3.0) + 20.0 * (8.0 - 3.0);
        assert!((draft.effect.share_of(Term::Issue) - saved / 240.0).abs() < 1e-12);
    }
    /// A loop of a division by R4, with this in each turn.
    fn in_a_loop(mark: &str, turn: &str) -> Option<Draft> {
        let code = [
            ("LDC R4, c[0x0][0x218]", 1.0),
            ("IABS R11, R4", 10.0),
            (mark, 10.0),
            ("IMAD R9, R4, R8, R9", 10.0),
            (turn, 10.0),
            ("ISETP.NE.AND P0, PT, R9, R10, PT", 10.0),
            ("@P0 BRA 0x110", 10.0),
            ("EXIT", 1.0),
        ];
        check(&RULE, &sass(&[(ISSUE_BUSY, 90.0)], &code))
    }

    #[test]
    fn a_divisor_that_each_turn_works_out_is_named_for_what_it_is() {
        assert!(in_a_loop("I2F.RP R8, R11", "MOV R5, R9").is_some());
        assert_eq!(in_a_loop("I2F.RP R8, R11", "MOV R4, R9"), None, "Euclid's algorithm");
        let mut both = vec![("I2F.U32.RP R8, UR4", 30.0)];
        both.extend([
            ("I2F.U32.RP R8, R4", 10.0),
            ("IMAD R4, R4, R8, R9", 10.0),
            ("@P0 BRA 0x110", 10.0),
            ("EXIT", 1.0),
        ]);
        let draft = check(&RULE, &sass(&[(ISSUE_BUSY, 90.0)], &both)).unwrap();
        assert!(draft.message.starts_with("30 times"), "{}", draft.message);
        assert!(draft.message.contains(" 10 more divide by values"), "{}", draft.message);
        // 30 x (17 - 3) of 61 instructions would be more than all; the other ten count for nothing.
        assert!((draft.effect.share_of(Term::Xu) - 0.9).abs() < 0.11, "{:?}", draft.effect);
    }

    #[test]
    fn warp_size_is_named_where_the_code_divides_by_it() {
        let by_warp_size = in_a_loop("I2F.U32.RP R8, 0x20", "NOP").unwrap();
        assert!(by_warp_size.hint.starts_with("Divide by 32 at line 3"), "{}", by_warp_size.hint);
        let other = in_a_loop("I2F.RP R8, R11", "NOP").unwrap();
        assert!(other.hint.starts_with("Avoid the division"), "{}", other.hint);
    }
}
