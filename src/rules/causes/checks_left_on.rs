//! Assertions that are compiled into a kernel whose speed counts.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::assertions::{STRINGS, assertions};
use crate::text::{count_of, percent};

const EXECUTED: &str = "smsp__inst_executed.sum";

/// The rule.
pub const RULE: Rule = Rule {
    name: "checks-left-on",
    kind: Kind::Cause,
    summary: "assertions are compiled in, and never fail",
    explanation: "\
Each assertion in a kernel costs its condition and a branch for every thread, whether it fails or not, and more: values have to \
stay in registers for it, and loads, loops and stores can't be moved across the call that reports a failure. In Triton each is \
followed by a barrier, and a condition on indices can make the kernel compute them twice, once as the condition wants them laid out over \
threads and once as the accesses do. The rule looks for branches into code that was never executed and calls a function with \
three constant strings (condition, file, function), or traps. The estimate takes the branches away, what makes their conditions and \
nothing else, and the barriers behind them where no other data goes through shared memory.",
    examples: &[Example {
        fault: "\
int from = index[i];
assert(from >= 0 && from < n);            // for each of a billion threads
y[i] = x[from];",
        repair: "\
nvcc -DNDEBUG -O3 -lineinfo …             // assert() becomes nothing
int from = index[i];
assert(from >= 0 && from < n);
y[i] = x[from];",
        note: "\
Builds for tests keep the checks. Where one has to stay, check what comes in once, in a kernel of its own or on the host, or outside \
the loop; compute-sanitizer finds accesses out of bounds without any.",
    }],
    section: "InstructionStats",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold {
            what: "constant strings that a function is called with, for the call to report an assertion, at least",
            value: STRINGS as f64,
            unit: "string",
            source: "definition: __assertfail(condition, file, line, function, size of a character)",
        },
    ],
    needs: &[EXECUTED, ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "fixed-latency-stalls",
        "math-pipe-throttle",
        "barrier-stalls",
        "long-scoreboard-stalls",
        "short-scoreboard-stalls",
        "instruction-cache-misses",
        "issue-slots-underused",
    ],
    in_triton: "\
launch without debug=True (and without TRITON_DEBUG=1), which compiles tl.device_assert and the checks of integer overflow away.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let found = assertions(&listing)?;
    for &at in found.checks.iter().chain(&found.for_checks).chain(&found.barriers) {
        removal.remove(at, 1.0);
    }
    let waits = found.barriers.iter().flat_map(|&barrier| listing.waits_of_barrier(barrier));
    waits.for_each(|at| removal.remove_waits_for_others(at, 1.0));
    let effect = removal.effect(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let is_check = |at: usize| found.checks.binary_search(&at).is_ok();
    let weight = |at: usize| if is_check(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "checks");
    let executed = launch.need(EXECUTED);
    let going = removal.instructions();
    let at = place(&locations, "the assertions");
    let barriers = match found.barriers.len() {
        0 => String::new(),
        barriers => format!(", followed by {}", count_of(barriers as f64, "barrier")),
    };
    Some(Draft {
        message: format!(
            "{} compiled in (at {at}){barriers}: {} of the executed instructions serve only their conditions, none of which \
             failed.",
            match found.checks.len() {
                1 => "An assertion is".to_owned(),
                checks => format!("{} are", count_of(checks as f64, "assertion")),
            },
            percent(going / executed),
        ),
        evidence: vec![
            Evidence::new("executed instructions for assertions alone", going, "inst"),
            Evidence::new("assertions in the code", found.checks.len() as f64, "assertion"),
            Evidence::new(EXECUTED, executed, "inst"),
        ],
        hint: format!(
            "Compile without the checks at {at} where speed counts (-DNDEBUG for assert) and keep them in builds for tests. Where one must \
             stay, check once: outside the loop, in a kernel of its own, or on the host."
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};
    use crate::term::Term;

    /// A check of this many instructions, beside so many others.
    fn of(conditions: usize, others: usize) -> Option<Draft> {
        let mut code = vec![("FADD R9, R9, R10", 100.0); others];
        code.extend(vec![("IMAD R5, R5, R6, R7", 100.0); conditions - 1]);
        let join = format!("@!P0 BRA {:#x}", 0x100 + 16 * (code.len() + 8));
        code.extend([
            ("ISETP.GE.AND P0, PT, R5, UR4, PT", 100.0),
            (join.as_str(), 100.0),
            ("MOV R14, 0x0", 0.0),
            ("ULDC.64 UR4, c[0x4][0x10]", 0.0),
            ("ULDC.64 UR6, c[0x4][0x8]", 0.0),
            ("LDC.64 R14, c[0x4][R14]", 0.0),
            ("ULDC.64 UR8, c[0x4][0x18]", 0.0),
            ("CALL.ABS.NOINC R14 0x0", 0.0),
            ("STG.E desc[UR8][R2.64], R9", 100.0),
            ("EXIT", 100.0),
        ]);
        let executed = 100.0 * (others + conditions + 3) as f64;
        check(&RULE, &sass(&[(EXECUTED, executed), (ISSUE_BUSY, 80.0)], &code))
    }

    #[test]
    fn assertions_are_named_where_they_cost_time() {
        let draft = of(4, 3).unwrap();
        assert!(draft.message.contains("An assertion is compiled in"), "{}", draft.message);
        // Its four instructions and the branch, of ten.
        let share = draft.effect.share_of(Term::Issue);
        assert!((share - 0.5).abs() < 1e-12, "{share}");
        assert!(of(1, 300).is_none(), "2 of 304");
    }
}
