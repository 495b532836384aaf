//! The kernel was compiled without optimization.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, matters};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Cure, Example, Kind, Rule, SourcePage};
use crate::sass::Family;
use crate::sass::questions::self_moves::self_moves;
use crate::text::{count, percent};

/// Moves of a register to itself among all executed instructions, percent.
const LEAST_SELF_MOVES_PERCENT: f64 = 5.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "debug-build",
    kind: Kind::Cause,
    summary: "compiled without optimization (-G)",
    explanation: "\
With -G, or with -Xptxas -O0, the compiler translates statement by statement so that a debugger can show \
every variable: each value is copied after each step, loops are not unrolled, products and sums are not \
fused, and loads stay where they stand in the source. Such code moves registers to themselves, which \
optimized code hardly ever does, and that is how the rule knows it. All other findings are about code that \
nobody means to run: build with optimization first (-lineinfo keeps the line numbers that adoprof needs) \
and profile again. What is promised is the copies alone; optimization does more than that.",
    examples: &[Example {
        fault: "\
nvcc -G -arch=sm_90 -o app app.cu         // CMake: CMAKE_BUILD_TYPE=Debug
__global__ void scale(float *v, float gain) { v[threadIdx.x] *= gain; }",
        repair: "\
nvcc -O3 -lineinfo -arch=sm_90 -o app app.cu
__global__ void scale(float *v, float gain) { v[threadIdx.x] *= gain; }",
        note: "\
-lineinfo costs nothing at run time. In CMake, let -G stand in the flags of the debug configuration only.",
    }],
    section: "SourceCounters",
    thresholds: &[
        Threshold {
            what: "executed moves of a register to itself, share of all instructions, at least",
            value: LEAST_SELF_MOVES_PERCENT,
            unit: "%",
            source: "measured: of the code of a loop that reads, multiplies and adds 28% are such moves with -G \
                     and 23% with -O0 (CUDA 13.0, sm_90); none was executed in any recorded launch of the bench and \
                     65 kernels of public programs",
        },
        MATTERS_LIMIT,
    ],
    needs: &[ISSUE_BUSY],
    source_page: SourcePage::Needed,
    unrecorded: Some(
        "no kernel without optimization was profiled yet; its test has the compiler's code",
    ),
    cure: Cure::Rebuild,
    explains: &[
        "fixed-latency-stalls",
        "long-scoreboard-stalls",
        "short-scoreboard-stalls",
        "instruction-cache-misses",
        "constant-cache-misses",
        "issue-slots-underused",
    ],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let to_themselves = self_moves(&listing);
    let executed = |at: usize| listing.executed(at);
    let idle: f64 = to_themselves.iter().map(executed).sum();
    let total = removal.mix.total;
    if 100.0 * idle < LEAST_SELF_MOVES_PERCENT * total {
        return None;
    }
    for (at, entry) in listing.entries() {
        // Copies after each step: optimized code has a few of them, which unoptimized code has too.
        if entry.family == Family::Move {
            removal.remove(at, 1.0);
        }
    }
    let effect = removal.effect(launch);
    if !matters(launch, &effect) {
        return None;
    }
    let locations = removal.locations(launch, "copies");
    Some(Draft {
        message: format!(
            "{} of {} executed warp instructions ({}) move a register to itself: the kernel was compiled \
             without optimization (-G or -Xptxas -O0).",
            count(idle),
            count(total),
            percent(idle / total),
        ),
        evidence: vec![
            Evidence::new("executed moves of a register to itself", idle, "inst"),
            Evidence::new("smsp__inst_executed.sum", total, "inst"),
        ],
        hint: format!(
            "Compile without -G and with -lineinfo, which keeps {} in reports, and profile again before \
             anything else is changed.",
            place(&locations, "source lines"),
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};

    /// The loop of a sum of products, as nvcc 13.0 translates it for sm_90: with -G, and as it does otherwise.
    const DEBUG: &[(&str, f64)] = &[
        ("MOV R11, R11", 160.0),
        ("MOV R9, R9", 160.0),
        ("ISETP.LT.AND P0, PT, R11, 0x10, PT", 160.0),
        ("PLOP3.LUT P0, PT, P0, PT, PT, 0x8, 0x0", 160.0),
        ("@P0 BRA 0x180", 160.0),
        ("IMAD R8, R11, R7, RZ", 160.0),
        ("IADD3 R8, R4, R8, RZ", 160.0),
        ("MOV R8, R8", 160.0),
        ("SHF.R.S32.HI R14, RZ, 0x1f, R8", 160.0),
        ("MOV R15, R14", 160.0),
        ("MOV R14, R8", 160.0),
        ("MOV R15, R15", 160.0),
        ("LD.E R14, desc[UR4][R14.64]", 160.0),
        ("FMUL R14, R0, R14", 160.0),
        ("FADD R14, R9, R14", 160.0),
        ("MOV R14, R14", 160.0),
        ("IADD3 R8, R11, 0x1, RZ", 160.0),
        ("BRA 0x100", 160.0),
        ("EXIT", 10.0),
    ];
    const OPTIMIZED: &[(&str, f64)] = &[
        ("LDG.E R14, desc[UR4][R14.64]", 160.0),
        ("FFMA R9, R0, R14, R9", 160.0),
        ("MOV R4, R4", 9.0),
        ("ISETP.NE.AND P0, PT, R11, 0x10, PT", 160.0),
        ("@P0 BRA 0x100", 160.0),
        ("EXIT", 10.0),
    ];

    #[test]
    fn moves_of_registers_to_themselves_tell_a_debug_build() {
        let busy = [(ISSUE_BUSY, 50.0)];
        let draft = check(&RULE, &sass(&busy, DEBUG)).unwrap();
        assert!(draft.message.contains("800 of 2,890"), "{}", draft.message);
        // Seven copies of 18 instructions in each turn and a predicate turned round, and one instruction outside.
        let share = draft.effect.share_of(crate::term::Term::Issue);
        assert!((share - 1280.0 / 2890.0).abs() < 1e-12, "{share}");
        assert_eq!(check(&RULE, &sass(&busy, OPTIMIZED)), None, "a stray one");
    }

    #[test]
    fn a_twentieth_of_the_instructions_tells_a_debug_build() {
        let fires = |to_itself: f64| {
            let code = [
                ("MOV R4, R4", to_itself),
                ("MOV R5, R4", 400.0),
                ("FADD R6, R5, R6", 590.0 - to_itself),
                ("EXIT", 10.0),
            ];
            check(&RULE, &sass(&[(ISSUE_BUSY, 90.0)], &code)).is_some()
        };
        assert!(fires(50.0) && !fires(49.0), "of 1,000");
    }
}
