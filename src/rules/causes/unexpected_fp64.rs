//! Double-precision work in a single-precision kernel.

use crate::device::Quantity;
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{CYCLES, ISSUE_BUSY, MATTERS_LIMIT, RATES, Removal, matters};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::frame::Launch;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::library::Cost;
use crate::sass::questions::doubles::{self, Strays};
use crate::sass::{Family, Marks};
use crate::term::Term;
use crate::text::{count, percent};

/// The rule.
pub const RULE: Rule = Rule {
    name: "unexpected-fp64",
    kind: Kind::Cause,
    summary: "double-precision work in a single-precision kernel",
    explanation: "\
In C++ a literal such as 0.5 is a double, and so is the result of sin or pow for a double: one of \
them turns a whole expression of floats to double, with a conversion on the way in and one on the \
way out. Doubles run at half the rate of floats on data-centre GPUs and at a 64th on others, and \
conversions run at an eighth on all. The rule counts executed double-precision instructions whose \
chains neither begin at a double in memory nor end in one, and which exchange values with floats, or round \
what is made of integers, as ceil(n / 16.0) does. In a \
profile without instructions it looks at the kernel's arguments instead: floats and no doubles. Write \
0.5f, sinf, powf; where a sum is kept in double for accuracy, leave it or use a compensated sum of floats.",
    examples: &[Example {
        fault: "\
float a = x[i];
y[i] = 0.5 * a * (1.0 + tanh(0.8 * a));   // doubles throughout",
        repair: "\
float a = x[i];
y[i] = 0.5f * a * (1.0f + tanhf(0.8f * a));",
        note: "\
The suffix f keeps the expression in single precision: no conversions, no instructions on the \
double-precision pipe, and a result good to about seven digits, which is what y holds anyway.",
    }],
    section: "InstructionStats",
    thresholds: &[MATTERS_LIMIT],
    needs: &[ISSUE_BUSY],
    sharpened_by: &[RATES, CYCLES],
    source_page: SourcePage::NeededUnless(takes_floats_alone),
    said_by_ncu: &[
        // A full pipe is a fault only where its work could be done by another one.
        SaidByNcu::with(
            "HighPipeUtilization",
            &["fp64 is the highest"],
            Acts::Units(&[Term::Fp64]),
        ),
        SaidByNcu::with("SOLFPRoofline", &["fp64"], Acts::Units(&[Term::Fp64])),
    ],
    explains: &[
        "math-pipe-throttle",
        "short-scoreboard-stalls",
        "mio-throttle",
        "fixed-latency-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
constants and arguments from Python are single precision; look for tl.float64 and for \
tensors of doubles.",
    check,
    ..Rule::DEFAULT
};

/// How busy the double-precision pipe is, percent.
const FP64_BUSY: &str = "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed";

/// True where the kernel's arguments are floats and none is a double, though the pipe for doubles was busy.
fn takes_floats_alone(launch: &Launch) -> bool {
    let name = &launch.row.kernel;
    let is_busy = launch.get(FP64_BUSY).is_some_and(|percent| percent > 0.0);
    is_busy && name.contains("float") && !name.contains("double")
}

/// What the kernel's arguments and the pipes tell of a launch whose instructions nobody collected.
fn by_arguments(launch: &ModeledLaunch) -> Option<Draft> {
    if !takes_floats_alone(launch.profile) {
        return None;
    }
    let busy = launch.get(FP64_BUSY)?;
    let facts = launch.profile.device_facts();
    let rates = facts.get(Quantity::Fp64Rate).zip(facts.get(Quantity::FmaRate));
    let (fp64_rate, fma_rate) = rates?;
    // The same number of operations on the FMA pipe.
    let added = vec![(Term::Fma, busy / 100.0 * fp64_rate / fma_rate)];
    let effect = Effect { added, ..Effect::on(Term::Fp64, 1.0) };
    matters(launch, &effect).then(|| Draft {
        message: format!(
            "Double-precision instructions keep their pipe busy {} of the time, although the kernel takes \
             floats and no doubles. On this device the pipe for floats does {} operations in the time of one.",
            percent(busy / 100.0),
            count(fma_rate / fp64_rate),
        ),
        evidence: vec![Evidence::new(FP64_BUSY, busy, "%")],
        hint: "Keep the kernel's arithmetic in single precision: write literals with an f (0.5f), call the f \
               forms (sinf, sqrtf, fabsf), and in Numba or CuPy make constants np.float32. Results are then \
               rounded to 24 bits at every step. `adoprof profile` and `ncu --set full` collect the instructions, \
               from which adoprof finds the lines."
            .to_owned(),
        locations: Vec::new(),
        effect,
    })
}

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let Some(mut removal) = Removal::new(launch) else { return by_arguments(launch) };
    let listing = removal.listing;
    let (mut doubles, mut conversions) = (0.0, 0.0);
    let Strays { among_floats, counts } = doubles::strays(&listing);
    let mut counting = 0.0;
    for index in counts.iter() {
        let executed = listing.executed(index);
        removal.remove(index, 1.0);
        removal.add(Term::Alu, executed);
        counting += executed;
    }
    for index in among_floats.iter() {
        let entry = &listing.sass.entries[index];
        let executed = listing.executed(index);
        removal.remove(index, 1.0);
        if entry.family == Family::Fp64 {
            doubles += executed;
            // Comparisons of floats run beside the FMA pipes.
            let is_test = entry.operation.is_none();
            removal.add(if is_test { Term::Alu } else { Term::Fma }, executed);
        } else {
            conversions += executed;
        }
    }
    if doubles + counting <= 0.0 {
        return None;
    }
    shorten_routines(&mut removal, &among_floats);
    let effect = removal.effect(launch);
    if !matters(launch, &effect) {
        return None;
    }
    let locations = removal.locations(launch, "double-precision instructions");
    let total = removal.mix.total;
    let of_counts = (counting > 0.0).then(|| {
        format!(
            "{} of {} executed warp instructions ({}) round a count up or down in double precision, or compare with \
             it, although it is made of integers.",
            count(counting),
            count(total),
            percent(counting / total),
        )
    });
    let of_floats = (doubles > 0.0).then(|| {
        format!(
            "{} of {} executed warp instructions ({}) compute in double precision and {} more \
             convert, although the values come from floats and go to floats.",
            count(doubles),
            count(total),
            percent(doubles / total),
            count(conversions),
        )
    });
    let mut evidence = vec![
        Evidence::new("executed double-precision instructions", doubles, "inst"),
        Evidence::new("executed conversions for them", conversions, "inst"),
        Evidence::new("smsp__inst_executed.sum", total, "inst"),
    ];
    if counting > 0.0 {
        evidence.push(Evidence::new(
            "executed instructions on counts as doubles",
            counting,
            "inst",
        ));
    }
    Some(Draft {
        message: of_floats.into_iter().chain(of_counts).collect::<Vec<_>>().join(" "),
        evidence,
        hint: if doubles >= counting {
            format!(
                "Keep {} in single precision: write literals with an f (0.5f) and call the f forms \
                 (sinf, sqrtf, fabsf). Results are then rounded to 24 bits at every step; where a sum \
                 is in double for accuracy, leave it or use a compensated sum.",
                place(&locations, "the expression that mixes floats with double literals"),
            )
        } else {
            format!(
                "Count in integers at {}: (n + 15) / 16 in place of ceil(n / 16.0), and compare integers with it.",
                place(&locations, "the expression that rounds a quotient up"),
            )
        },
        locations,
        effect,
    })
}

/// A library routine works to 53 bits with more terms and steps than to 24: where its doubles become floats, the
/// float's routine takes its place. Its doubles were counted one for one before.
fn shorten_routines(removal: &mut Removal, strays: &Marks) {
    let listing = removal.listing;
    let sass = listing.sass;
    let mut reaching = Reaching::new(sass);
    let mut serving = Marks::new(sass.entries.len());
    for index in strays.iter() {
        serving.insert(index);
        for each in sass.uses(index) {
            // The approximation that a division begins with is no arithmetic of doubles itself.
            for maker in reaching.definitions(index, *each) {
                serving.insert(maker as usize);
            }
        }
    }
    // By line: what stands beside the doubles in a routine, such as its test for special values, waits as well.
    let mut saved = vec![0.0; sass.line_count()];
    for (index, entry) in listing.entries().filter(|(index, _)| serving[*index]) {
        if let Some(routine) = entry.routine.filter(|routine| routine.is_double()) {
            let (doubles, floats) = (routine.cost(), routine.of_floats().cost());
            let as_floats = Cost { fma: doubles.fma + doubles.fp64, fp64: 0.0, ..doubles };
            removal.replace(listing.executed(index), as_floats, floats);
            saved[entry.line()] += listing.executed(index) * (doubles.all - floats.all);
        }
    }
    removal.remove_waits(&saved);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, check, sass};

    const FP64: &str = FP64_BUSY;
    const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";

    fn mixed() -> crate::frame::Launch {
        sass(
            &[(ISSUE_BUSY, 20.0), (FP64, 5.0), (FMA, 10.0)],
            &[
                ("LDG.E R0, desc[UR4][R20.64]", 10.0),
                ("F2F.F64.F32 R2, R0", 10.0),
                ("DFMA R4, R2, R8, 1", 10.0),
                ("F2F.F32.F64 R0, R4", 10.0),
                ("FFMA R0, R0, R0, R0", 20.0),
                ("STG.E desc[UR4][R20.64], R0", 10.0),
            ],
        )
    }

    #[test]
    fn doubles_among_floats_count_from_a_twentieth_of_the_time() {
        let launch = mixed();
        let draft = assert_sides(&RULE, &launch, &[&[(FP64, 4.9), (ISSUE_BUSY, 4.9)]]);
        assert_eq!(draft.locations[0].line, 2);
        // All doubles go; of 20 FMA instructions the 10 that come are half: 10% busy become 15%.
        assert!((draft.effect.share_of(Term::Fp64) - 1.0).abs() < 1e-12);
        assert!((draft.effect.added_to(Term::Fma) - 0.05).abs() < 1e-12);
        // 30 of 70 instructions go, 10 come.
        assert!((draft.effect.share_of(Term::Issue) - 20.0 / 70.0).abs() < 1e-12);
    }

    #[test]
    fn a_kernel_of_doubles_is_left_alone() {
        let mut launch = mixed();
        launch.instructions[0].text = "LDG.E.64 R2, desc[UR4][R20.64]".to_owned();
        launch.instructions[1].text = "NOP".to_owned();
        assert_eq!(check(&RULE, &launch), None);
        launch.instructions.clear();
        assert_eq!(check(&RULE, &launch.clone()), None, "no SASS, no guess");
        assert_eq!(RULE.missing(&launch), [crate::rules::SASS_PAGE]);
    }

    #[test]
    fn an_exponential_of_floats_is_shorter_than_one_of_doubles() {
        let saved = |mark: &str| {
            let mut code =
                vec![("LDG.E R0, desc[UR4][R20.64]", 10.0), ("F2F.F64.F32 R2, R0", 10.0)];
            code.push((mark, 10.0));
            code.extend([("DFMA R4, R4, R2, R8", 10.0); 14]);
            code.extend([("NOP", 10.0); 7]);
            code.push(("F2F.F32.F64 R0, R4", 10.0));
            code.push(("STG.E desc[UR4][R20.64], R0", 10.0));
            let launch = sass(&[(ISSUE_BUSY, 60.0), (FP64, 60.0)], &code);
            check(&RULE, &launch).unwrap().effect.share_of(Term::Issue)
        };
        // Of 26 instructions the two conversions go, and with the routine 14 of its 22.
        assert!((saved("DFMA R4, R2, R8, 1") - 2.0 / 26.0).abs() < 1e-12);
        assert!((saved("DFMA R4, R2, R8, 6.75539944105574400000e+15") - 16.0 / 26.0).abs() < 1e-12);
    }

    #[test]
    fn without_instructions_the_arguments_tell() {
        let mut launch = mixed();
        launch.instructions.clear();
        launch.set(FP64, Some(86.0));
        launch.row.compute_capability = Some((7, 5));
        "transform(Array<float, 2, C>, Array<float, 1, C>)".clone_into(&mut launch.row.kernel);
        let draft = assert_sides(&RULE, &launch, &[&[(FP64, 0.0)]]);
        assert!((draft.effect.share_of(Term::Fp64) - 1.0).abs() < 1e-12);
        // 2 doubles against 64 floats per cycle: a 32nd of the 86%.
        assert!((draft.effect.added_to(Term::Fma) - 0.86 / 32.0).abs() < 1e-12);
        assert!(draft.message.contains("does 32 operations"), "{}", draft.message);
        "transform(float*, double*)".clone_into(&mut launch.row.kernel);
        assert_eq!(check(&RULE, &launch), None);
        assert_eq!(RULE.missing(&launch), [crate::rules::SASS_PAGE]);
    }

    #[test]
    fn doubles_of_integers_that_only_decide_something_are_left_alone() {
        let mut launch = mixed();
        launch.instructions[1].text = "I2F.F64.U64 R2, R0".to_owned();
        launch.instructions[3].text = "DSETP.LT.AND P0, PT, R4, R8, PT".to_owned();
        assert_eq!(check(&RULE, &launch.clone()), None);
        launch.instructions[3].text = "F2F.F32.F64 R0, R4".to_owned();
        assert!(check(&RULE, &launch).is_some(), "they become floats");
    }
}
