//! The kernel was compiled without optimization.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::locations;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::model::Effect;
use crate::rules::{Cure, Example, Kind, Rule, SourcePage};
use crate::sass::questions::self_moves::self_moves;
use crate::text::{count, percent};

/// Counted for every launch: what the rule reads stands in the machine code.
const GRID: &str = "launch__grid_size";

/// Moves of a register to itself among all instructions, percent.
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
optimized code hardly ever does. The rule recognises a debug build by these moves, even where a profile has the \
machine code without counts. What optimization gains can't be read from such a profile: two tiled matrix products of a public program \
took 12 and 251 times as long with -G as without, although they multiplied as often; the copies account for far \
less than that. So the rule promises no factor. Its finding comes first, and as long as it is there, adoprof calls \
nothing at its limit. All other findings \
and their estimates describe the debug build: build with optimization (-lineinfo keeps the line numbers that \
adoprof needs) and profile again before you follow any of them.",
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
    thresholds: &[Threshold {
        what: "moves of a register to itself, share of all executed instructions (of all instructions where none \
               was counted), at least",
        value: LEAST_SELF_MOVES_PERCENT,
        unit: "%",
        source: "measured: in the code of a loop that reads, multiplies and adds, 28% of the instructions are such \
                 moves with -G \
                 and 23% with -O0 (CUDA 13.0, sm_90); none was executed in any recorded launch of the bench and \
                 65 kernels of public programs. In 224 public reports, kernels have either at most 1% or at \
                 least 14%, counted or not",
    }],
    needs: &[GRID],
    source_page: SourcePage::Needed,
    cure: Cure::Rebuild,
    promises: false,
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
    let listing = launch.profile.listing()?;
    let executed = listing.mix().total;
    // A profile without source counters has the code all the same.
    let counted = executed > 0.0;
    let weight = |at: usize| if counted { listing.executed(at) } else { 1.0 };
    let to_themselves = self_moves(&listing);
    let idle: f64 = to_themselves.iter().map(weight).sum();
    let total = if counted { executed } else { listing.sass.entries.len() as f64 };
    if idle <= 0.0 || 100.0 * idle < LEAST_SELF_MOVES_PERCENT * total {
        return None;
    }
    let is_one = |at: usize| if to_themselves[at] { weight(at) } else { 0.0 };
    let locations = locations(launch, listing, is_one, "moves of a register to itself");
    let (what, unit) = if counted {
        ("executed warp instructions", "executed moves of a register to itself")
    } else {
        ("instructions of the code", "moves of a register to itself in the code")
    };
    Some(Draft {
        message: format!(
            "{} of {} {what} ({}) move a register to itself: the kernel was compiled without optimization (-G or \
             -Xptxas -O0). What optimization gains can't be told from this profile, and all other findings and their \
             estimates describe the debug build.",
            count(idle),
            count(total),
            percent(idle / total),
        ),
        evidence: vec![Evidence::new(unit, idle, "inst"), Evidence::new(what, total, "inst")],
        hint: format!(
            "Compile without -G and with -lineinfo, which keeps {} in reports, and profile again before \
             anything else is changed.",
            place(&locations, "source lines"),
        ),
        locations,
        effect: Effect::default(),
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
        let draft = check(&RULE, &sass(&[(GRID, 1.0)], DEBUG)).unwrap();
        assert!(draft.message.contains("800 of 2,890 executed"), "{}", draft.message);
        assert_eq!(check(&RULE, &sass(&[(GRID, 1.0)], OPTIMIZED)), None, "a stray one");
    }

    #[test]
    fn the_code_alone_tells_it_where_nothing_was_counted() {
        let uncounted = |code: &[(&'static str, f64)]| {
            let code: Vec<(&str, f64)> = code.iter().map(|&(text, _)| (text, 0.0)).collect();
            check(&RULE, &sass(&[(GRID, 1.0)], &code))
        };
        // Five of the 19 instructions.
        let draft = uncounted(DEBUG).unwrap();
        assert!(
            draft.message.contains("5 of 19 instructions of the code (26%)"),
            "{}",
            draft.message
        );
        assert_eq!(uncounted(&OPTIMIZED[..2]), None);
    }

    #[test]
    fn a_debug_build_comes_first_and_is_at_no_limit() {
        let found = |code: &[(&str, f64)]| {
            let dram = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
            crate::diagnose::diagnose(&sass(&[(GRID, 1e5), (dram, 93.0)], code)).findings
        };
        let debug = found(DEBUG);
        assert_eq!(debug[0].rule, "debug-build");
        assert!(debug[0].estimate.is_none(), "what optimization gains is not known");
        assert!(debug.iter().all(|finding| finding.rule != "at-memory-roof"));
        assert_eq!(found(OPTIMIZED)[0].rule, "at-memory-roof");
    }
}
