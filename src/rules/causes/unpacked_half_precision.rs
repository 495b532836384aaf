//! 16-bit arithmetic one value at a time.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, matters};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::flow::slice;
use crate::sass::{Family, Operation};
use crate::term::Term;
use crate::text::{count, percent};

/// Half of the instructions remain when each does two values.
const HALVED: f64 = 0.5;

/// Of the packed multiply-adds every other one is an `HFMA2.MMA` on the tensor pipe, which takes no
/// single halves.
const ON_TENSOR_PIPE: f64 = 0.5;

/// The rule.
pub const RULE: Rule = Rule {
    name: "unpacked-half-precision",
    kind: Kind::Cause,
    summary: "16-bit arithmetic one value at a time",
    explanation: "\
A 16-bit instruction works on both halves of 32-bit registers. Code written with single __half or \
__nv_bfloat16 values uses one half of each, so it is no faster than single precision, and each \
access moves two bytes per lane. The rule counts executed 16-bit instructions whose sources all \
name a single half. Process two neighbouring elements at a time as __half2 or __nv_bfloat162, \
with __hfma2, __hadd2, __hmul2: half the instructions, half the accesses, half the index \
arithmetic.",
    examples: &[Example {
        fault: "\
if (i < n)
    mixed[i] = __hfma(share, __hsub(left[i], right[i]), right[i]);",
        repair: "\
const __half2 *left2 = reinterpret_cast<const __half2 *>(left);
const __half2 *right2 = reinterpret_cast<const __half2 *>(right);
__half2 *mixed2 = reinterpret_cast<__half2 *>(mixed);
if (i < n / 2)
    mixed2[i] = __hfma2(__half2half2(share), __hsub2(left2[i], right2[i]),
                        right2[i]);",
        note: "\
Each thread takes two neighbours at once: half the instructions and half the accesses for the \
same results; n must be even.",
    }],
    section: "InstructionStats",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold {
            what: "constant: 16-bit instructions that remain",
            value: HALVED,
            unit: "share",
            source: "definition: each does two values",
        },
        Threshold {
            what: "constant: packed multiply-adds that the tensor pipe does",
            value: ON_TENSOR_PIPE,
            unit: "share",
            source: "derivation: two pipes do packed multiply-adds, and the compiler keeps both \
                     busy by taking turns; it put 51, 50, 50, and 44% there in the four recorded \
                     kernels that are packed (H200)",
        },
    ],
    needs: &[ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "math-pipe-throttle",
        "fixed-latency-stalls",
        "lg-throttle",
        "long-scoreboard-stalls",
        "issue-slots-underused",
    ],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let scalar = removal.mix.family(Family::HalfScalar);
    if scalar <= 0.0 {
        return None;
    }
    let listing = removal.listing;
    let is_scalar = |index: usize| listing.sass.entries[index].family == Family::HalfScalar;
    let beside = removal.beside(is_scalar);
    let work = slice::work(&listing);
    for (index, entry) in listing.entries() {
        // Two elements at a time halve the accesses to single ones and the arithmetic on indices.
        let halved = match entry.family {
            Family::HalfScalar => true,
            family if family.is_memory() => beside[index] && entry.width == 2,
            Family::Move => beside[index],
            _ => beside[index] && !work[index],
        };
        if halved {
            removal.remove(index, HALVED);
        }
        if is_scalar(index) && entry.operation == Some(Operation::Fused) {
            let packed = HALVED * f64::from(entry.turns) * listing.executed(index);
            removal.relieve(Term::Fma, ON_TENSOR_PIPE * packed);
        }
    }
    let effect = removal.effect(launch);
    if !matters(launch, &effect) {
        return None;
    }
    let weight = |index: usize| f64::from(u8::from(is_scalar(index))) * listing.executed(index);
    let locations = crate::evidence::removal::locations(
        launch,
        listing,
        weight,
        "unpacked 16-bit instructions",
    );
    let packed = removal.mix.family(Family::HalfPacked);
    Some(Draft {
        message: format!(
            "{} of {} executed 16-bit instructions ({}) use only one half of their registers.",
            count(scalar),
            count(scalar + packed),
            percent(scalar / (scalar + packed)),
        ),
        evidence: vec![
            Evidence::new("executed 16-bit instructions on single values", scalar, "inst"),
            Evidence::new("executed 16-bit instructions on pairs", packed, "inst"),
        ],
        hint: format!(
            "Let each thread take two neighbouring elements as __half2 (or __nv_bfloat162) at {} \
             and compute with __hfma2, __hadd2, __hmul2. The arrays must be aligned to 4 bytes, \
             and an odd element at the end needs separate code.",
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

    const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";

    #[test]
    fn single_values_count_from_a_twentieth_of_the_time() {
        let code = [
            ("LDG.E.U16 R0, desc[UR6][R4.64]", 10.0),
            ("HFMA2 R8, R8.H0_H0, R1.H0_H0, R0.H0_H0", 10.0),
            ("FFMA R6, R6, R6, R6", 40.0),
            ("STG.E.U16 desc[UR6][R4.64], R8", 10.0),
        ];
        // Half of 20 of 60 turns on the FMA pipe, and half of the rest go to the tensor pipe: a quarter,
        // which is a twentieth where the pipe is busy for a fifth of the time.
        let launch = sass(&[(ISSUE_BUSY, 20.0), (FMA, 20.1)], &code);
        let draft = assert_sides(&RULE, &launch, &[&[(FMA, 19.9)]]);
        assert!((draft.effect.share_of(Term::Fma) - 0.25).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::Lsu) - 0.5).abs() < 1e-12);
        assert_eq!(draft.locations[0].line, 2);
    }

    #[test]
    fn pairs_and_halves_that_are_only_stored_as_such_are_fine() {
        for code in [
            [("HFMA2 R8, R8, R1.H0_H0, R0", 10.0)],
            [("HADD2.F32 R8, -RZ, R1.H0_H0", 10.0)],
            [("HFMA2.MMA R22, -RZ, RZ, 0, 0", 10.0)],
        ] {
            let launch = sass(&[(ISSUE_BUSY, 90.0), (FMA, 90.0)], &code);
            assert_eq!(check(&RULE, &launch), None, "{code:?}");
        }
    }
}
