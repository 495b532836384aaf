//! Accurate maths functions or division where a fast form exists.

mod fast_form;
mod hint;
mod powers;

use crate::evidence::alike::{self, ALIKE_LIMIT};
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{CYCLES, ISSUE_BUSY, MATTERS_LIMIT, RATES, Removal, matters};
use crate::evidence::slow_routines::Runs;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, SourcePage, Trial};
use crate::sass::Routine;
use crate::sass::questions::alike::arithmetic;
use crate::term::Term;
use crate::text::{count, percent};
use hint::{MOST_OF_IT, hint, of_power, places};
use powers::PowerOfConstant;

/// The rule.
pub const RULE: Rule = Rule {
    name: "slow-math-functions",
    kind: Kind::Cause,
    summary: "accurate transcendental or division code where a fast form exists",
    explanation: "\
sinf, logf, powf, a division or a square root is not one instruction but a routine of 8 to 50: \
argument reduction, a polynomial, refinement, and a slow path for large or denormal arguments. \
The hardware has approximations that take 2 to 9 instructions and are good to about 21 bits \
within a limited range of arguments. The rule recognises the routines in the SASS by constants \
that only they use, counts how often they ran, slow paths included, and compares them with the \
fast forms. A slow path that is called also keeps loads apart that could be in flight together. Call __sinf, __expf, __powf or __fdividef where their accuracy is enough, compile \
with -use_fast_math, multiply by the reciprocal of a divisor that does not change, or tabulate. \
Results change in the last digits.",
    examples: &[Example {
        fault: "\
dose[i] = expf(-depth[i] / length);       // two routines per value",
        repair: "\
float per_length = 1.0f / length;         // the same for all
dose[i] = __expf(-depth[i] * per_length);",
        note: "\
The division becomes one multiplication by a value that the host can work out, and __expf takes \
a few instructions; the result differs in the last digits.",
    }],
    section: "InstructionStats",
    thresholds: &[
        MATTERS_LIMIT,
        ALIKE_LIMIT,
        Threshold {
            what: "constant: share of the saved instructions on the first line, for the hint to name that line alone, \
                   at least",
            value: MOST_OF_IT,
            unit: "share",
            source: "derivation: the estimate is for all lines, so a hint that names one line must name at least what \
                     leaves the gain within its range of about 1.3",
        },
    ],
    needs: &[ISSUE_BUSY],
    sharpened_by: &[RATES, CYCLES],
    source_page: SourcePage::Needed,
    trials: &[Trial::FastMath],
    said_by_ncu: &[SaidByNcu::with(
        "HighPipeUtilization",
        &["xu is the highest"],
        Acts::Units(&[Term::Xu]),
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
tl.exp and / are fast forms already, tl.log and tl.sin are not: libdevice has fast_logf, fast_sinf, fast_cosf, fast_powf and others, \
v * v replaces a power of two and tl.sqrt(x * x + y * y) libdevice.hypot, and a divisor that is a tl.constexpr needs no division.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let mut runs = Runs::replace(&mut removal, |_, routine| !routine.is_integer());
    runs.replace_powers(launch, &mut removal);
    let (routine, most) = runs.most()?;
    let locations = runs.locations(launch, &removal);
    let text = locations.first().map_or("", |location| location.text.as_str());
    let power = PowerOfConstant::on(text).filter(|_| routine.is_double());
    if power.is_some() {
        // The logarithm of the base, which is worked out anew each time.
        let listing = removal.listing;
        for at in arithmetic(&listing) {
            removal.remove(at, 1.0);
        }
    }
    let effect = removal.effect(launch);
    if !matters(launch, &effect) {
        return None;
    }
    let (total, saved) = (removal.mix.total, removal.instructions());
    let slow = if runs.slow_path > 0.0 {
        format!(
            " {} more belong to slow paths for large or denormal arguments.",
            count(runs.slow_path)
        )
    } else {
        String::new()
    };
    let between = if runs.loads_together > 0.0 {
        " The branches around their slow paths also serialise the loads between them: each load is awaited \
         before the next is issued."
    } else {
        ""
    };
    Some(Draft {
        message: format!(
            "The routine that warps run most often, {}, runs {} times, at {:.0} instructions each; \
             fast forms of all such routines would save {} of {} executed instructions ({}).{slow}{between}",
            routine.name(),
            count(most),
            routine.cost().all,
            count(saved),
            count(total),
            percent(saved / total),
        ),
        evidence: vec![
            Evidence::new(format!("runs of {}", routine.name()), most, "warp"),
            Evidence::new("instructions that fast forms save", saved, "inst"),
            Evidence::new("smsp__inst_executed.sum", total, "inst"),
        ],
        hint: if let Some(power) = power {
            of_power(&power, &place(&locations, "the hottest spot"))
        } else {
            let places = places(launch, &removal, &runs, routine, &locations);
            hint(&places, runs.has(Routine::SquareRoot)) + &alike::advice(launch)
        },
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::SourceCounters;
    use crate::rules::testing::{assert_sides, check, line, sass};
    use crate::term::Term;

    const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";

    /// Ten logarithms of 25 instructions among 1000; 13 FMA instructions each, of 650.
    fn logarithms() -> crate::frame::Launch {
        sass(
            &[(ISSUE_BUSY, 10.0), (FMA, 32.5)],
            &[
                ("FFMA R7, R6, R7, -0.16684235632419586182", 10.0),
                ("FFMA R7, R6, R7, R8", 640.0),
                ("IADD3 R1, R1, R2, RZ", 350.0),
            ],
        )
    }

    #[test]
    fn routines_count_from_a_twentieth_of_the_time() {
        // 10 x (13 - 3) of 650 FMA instructions are 15.4%: of 32.5% busy exactly a twentieth.
        let draft = assert_sides(&RULE, &logarithms(), &[&[(FMA, 32.4)]]);
        assert!((draft.effect.share_of(Term::Fma) - 100.0 / 650.0).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::Issue) - 0.2).abs() < 1e-12);
        assert_eq!(draft.locations[0].line, 1);
        assert!(draft.hint.contains("__logf"), "{}", draft.hint);
    }

    #[test]
    fn a_remainder_is_told_from_a_whole_part_by_its_slow_path() {
        let of = |slow_path: &'static str, modulus: &'static str| {
            let code = [
                ("MOV R7, R4", 10.0),
                ("FMUL R5, R6, R5", 100.0), // 0x110
                ("FRND.TRUNC R5, R5", 100.0),
                (modulus, 100.0),
                ("IADD3 R1, R1, R2, RZ", 2300.0),
                ("@P0 BRA 0x110", 100.0),
                ("EXIT", 10.0),
                (slow_path, 0.0),
            ];
            check(&RULE, &sass(&[(ISSUE_BUSY, 60.0)], &code))
        };
        let slow = "VIADD R6, R5, 0xf4800000";
        let draft = of(slow, "FFMA R10, -R1, R5, R0").unwrap();
        // 26 instructions less 9, a hundred times; by what does not change less 3.
        assert!((draft.effect.share_of(Term::Issue) - 1700.0 / 2720.0).abs() < 1e-12);
        assert!(draft.hint.contains("truncf") && draft.hint.contains("no flag"), "{}", draft.hint);
        let draft = of(slow, "FFMA R10, -R7, R5, R0").unwrap();
        assert!((draft.effect.share_of(Term::Issue) - 2300.0 / 2720.0).abs() < 1e-12);
        assert_eq!(of("VIADD R6, R5, 0x1", "FFMA R10, -R1, R5, R0"), None);
    }

    #[test]
    fn where_several_lines_share_the_gain_the_hint_asks_for_all() {
        let mut launch = logarithms();
        let again = launch.instructions[0].clone();
        launch.instructions.insert(2, again);
        let draft = check(&RULE, &launch).unwrap();
        assert!(draft.hint.starts_with("Use __logf at line 1 if"), "{}", draft.hint);
        let mut launch = launch.clone();
        launch.instructions[2].line = Some(7);
        let hint = check(&RULE, &launch).unwrap().hint;
        assert!(
            hint.starts_with("Use fast forms of all such routines, as __logf at line"),
            "{hint}"
        );
        assert!(hint.contains("where 50% of the instructions"), "{hint}");
    }

    #[test]
    fn each_line_is_named_with_its_own_routine() {
        // The logarithms take more instructions, and the cosines save more.
        let mut launch = sass(
            &[(ISSUE_BUSY, 60.0)],
            &[
                ("FFMA R7, R6, R7, -0.16684235632419586182", 10.0),
                ("FMUL R0, R2, 0.63661974668502807617", 9.0),
                ("IADD3 R1, R1, R2, RZ", 350.0),
            ],
        );
        launch.lines = vec![
            line(1, "a = log2f(b);", SourceCounters::default()),
            line(2, "c = cosf(d);", SourceCounters::default()),
        ];
        launch.lines.iter_mut().for_each(|row| row.file = launch.instructions[0].file.clone());
        let draft = check(&RULE, &launch).unwrap();
        assert!(draft.message.contains("most often, logf, log2f or log10f,"), "{}", draft.message);
        let hint = draft.hint;
        assert!(hint.contains("as __cosf at line 2, where 52%"), "{hint}");
        assert!(hint.contains("are saved, and __log2f at line 1, if"), "{hint}");
    }

    #[test]
    fn no_flag_is_named_for_a_function_that_always_rounds_correctly() {
        let mut launch = sass(
            &[(ISSUE_BUSY, 60.0)],
            &[("VIADD R0, R2, 0x1800000", 20.0), ("IADD3 R1, R1, R2, RZ", 350.0)],
        );
        let of = |launch: &mut crate::frame::Launch, text: &str| {
            launch.lines = vec![line(1, text, SourceCounters::default())];
            launch.lines[0].file.clone_from(&launch.instructions[0].file);
            check(&RULE, launch).unwrap().hint
        };
        let rounded = of(&mut launch, "y = __frcp_rn(t);");
        assert!(
            rounded.starts_with("Use __fdividef(1.0f, t) instead of __frcp_rn(t) at line 1 if")
        );
        assert!(!rounded.contains("-use_fast_math"), "{rounded}");
        assert!(of(&mut launch, "y = 1 / t;").contains("-use_fast_math does so everywhere"));
    }

    #[test]
    fn a_hypotenuse_is_a_plain_root_where_no_square_overflows() {
        let code = |mark| [(mark, 20.0), ("IADD3 R1, R1, R2, RZ", 350.0)];
        let of = |mark| check(&RULE, &sass(&[(ISSUE_BUSY, 90.0)], &code(mark))).unwrap().hint;
        let floats = of("IADD3 R0, -R5, 0x7e800000, RZ");
        let said = "Use sqrtf(x * x + y * y) in place of hypotf at line 1, wherever the squares";
        assert!(floats.starts_with(said), "{floats}");
        let doubles = of("IADD3 R9, -R6, 0x7fd00000, RZ");
        assert!(doubles.starts_with("Use sqrt(x * x + y * y) in place of hypot at"), "{doubles}");
    }

    #[test]
    fn where_alone_a_fast_form_does_stands_behind_the_line() {
        let code =
            [("FFMA R7, R6, R7, 0.14491446316242218018", 20.0), ("IADD3 R1, R1, R2, RZ", 350.0)];
        let hint = check(&RULE, &sass(&[(ISSUE_BUSY, 60.0)], &code)).unwrap().hint;
        let said = "Use __logf(1 + x) at line 1 wherever x is not small, if its accuracy is enough";
        assert!(hint.starts_with(said), "{hint}");
    }

    #[test]
    fn slow_paths_that_ran_count_whole() {
        let mut launch = sass(
            &[(ISSUE_BUSY, 60.0)],
            &[
                ("FCHK P0, R0, R7", 10.0),
                ("@!P0 BRA 0x130", 10.0),
                ("CALL.REL.NOINC 0x150", 10.0),
                ("STG.E desc[UR4][R20.64], R0", 10.0),
                ("EXIT", 10.0),
                ("FADD R0, R1, R2", 10.0),
                ("RET.REL.NODEC R2 0x100", 10.0),
            ],
        );
        let slow = check(&RULE, &launch.clone()).unwrap();
        assert!(slow.message.contains("30 more belong to slow paths"), "{}", slow.message);
        launch.instructions[2].counters.inst_executed = 0.0;
        launch.instructions[5].counters.inst_executed = 0.0;
        launch.instructions[6].counters.inst_executed = 0.0;
        let usual = check(&RULE, &launch).unwrap();
        assert!(!usual.message.contains("slow paths"), "{}", usual.message);
    }

    #[test]
    fn fast_forms_and_integer_division_are_not_meant() {
        let fast = sass(
            &[(ISSUE_BUSY, 90.0)],
            &[("FMUL.RZ R0, R0, 0.15915493667125701904", 10.0), ("I2F.U32.RP R6, UR6", 10.0)],
        );
        assert_eq!(check(&RULE, &fast), None);
    }
}
