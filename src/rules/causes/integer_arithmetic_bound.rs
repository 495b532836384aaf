//! Integer division and modulo take the instructions.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, matters};
use crate::evidence::slow_routines::Runs;
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::term::Term;
use crate::text::{count, percent};

/// The rule.
pub const RULE: Rule = Rule {
    name: "integer-arithmetic-bound",
    kind: Kind::Cause,
    summary: "index arithmetic, division and modulo are the limit",
    explanation: "\
A GPU has no instruction for integer division. For a constant divisor the compiler multiplies \
instead (2 or 3 instructions); for a divisor known only at run time, i / n and i % n become about \
17 instructions each, three of them on the slow conversion unit, and for 64-bit integers a call of \
about 75. The rule recognises the routines by the conversion that they begin with and counts how \
often they ran. Use a power of two and shifts, make the divisor a template parameter or a macro, \
multiply by a reciprocal that the host computes once, take quotient and remainder from one \
division, keep a running counter instead of dividing, or give the block a second dimension so that \
no index has to be split. 64-bit operands cost most: use 32 bits where the range allows.",
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
    thresholds: &[MATTERS_LIMIT],
    needs: &[ISSUE_BUSY],
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
    let mut removal = Removal::new(launch)?;
    let runs = Runs::replace(&mut removal, crate::sass::Routine::is_integer);
    let (routine, most) = runs.most()?;
    let effect = removal.effect(launch);
    if !matters(launch, &effect) {
        return None;
    }
    let locations = runs.locations(launch, &removal);
    let (total, saved) = (removal.mix.total, removal.instructions());
    Some(Draft {
        message: format!(
            "{} times, warps run the routine for {} by a value known only at run time; a multiplication or a shift \
             in its place would save {} of {} executed instructions ({}).",
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
        hint: format!(
            "Avoid the division at {}: make the divisor a compile-time constant or a power of two, \
             or multiply by a reciprocal computed on the host; where an index is split into \
             coordinates, take them from blockIdx and threadIdx or keep running counters. Check \
             that the reciprocal rounds correctly over the range of the operands.",
            place(&locations, "the hottest spot"),
        ),
        locations,
        effect,
    })
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
}
