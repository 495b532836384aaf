//! Operands of matrix instructions that a loop converts or puts together.

use crate::evidence::modeled_launch::place;
use crate::evidence::products::{least, sectors_gone};
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::hardware::{REGISTER_BYTES, WIDEST_ACCESS_BYTES};
use crate::model::thresholds::TENSOR_FULL;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::Listing;
use crate::sass::questions::matrix_loops::{Conversions, conversions, staged};
use crate::term::Term;
use crate::text::{count, percent};

/// What remains of the bytes of floats that are kept as halves.
const HALF: f64 = 0.5;

/// The rule.
pub const RULE: Rule = Rule {
    name: "operands-converted-in-loop",
    kind: Kind::Cause,
    summary: "a loop rounds or transposes the operands of its matrix instructions itself",
    explanation: "\
A matrix instruction wants its operands rounded already, and pairs of them side by side. A loop that \
loads floats from shared memory and rounds them to halves does so once for each warp that multiplies \
them, and moves twice the bytes; a loop that loads halves one by one and puts pairs together, because \
the matrix lies the other way, takes two loads and a permutation for each register. The rule follows \
the operands of matrix instructions back to the loads of the same loop, and counts roundings from \
floats and permutations of loads narrower than a register on the way. Numbers that are widened \
(weights of 4 or 8 bits) and values that the loop itself works out need their conversions. Round an \
operand once, in a kernel before or while it is brought to shared memory; let ldmatrix.trans \
transpose.",
    examples: &[Example {
        fault: "\
// floats in shared memory: each warp rounds what it multiplies
for (int k = 0; k < 32; k += 16)
    for (int r = 0; r < 4; ++r) {
        const float2 two = *(const float2 *)&tile[row(r)][k + column(r)];
        a[r] = halves(two.x, two.y);      // cvt.rn.f16x2.f32
    }",
        repair: "\
// rounded once by the kernel that writes them
for (int k = 0; k < 32; k += 16)
    // ldmatrix.x4
    load_matrix(a, &half_tile[lane % 16][k + lane / 16 * 8]);",
        note: "\
One load takes the place of four loads and four conversions, and shared and global memory move half \
of the bytes; results are the same, since the values were rounded anyway.",
    }],
    section: "InstructionStats",
    thresholds: &[
        Threshold {
            what: "constant: share of the copied bytes that remains where floats are kept as halves",
            value: HALF,
            unit: "share",
            source: "definition: two bytes instead of four",
        },
        MATTERS_LIMIT,
        TENSOR_FULL,
    ],
    needs: &[ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "short-scoreboard-stalls",
        "mio-throttle",
        "fixed-latency-stalls",
        "math-pipe-throttle",
        "issue-slots-underused",
    ],
    in_triton: "\
store the tensor in the type that tl.dot multiplies, and leave .to(...) out of the loop.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let found = conversions(&listing)?;
    let executed = |list: &[usize]| list.iter().map(|&at| listing.executed(at)).sum::<f64>();
    let converted = executed(&found.conversions);
    for &at in &found.conversions {
        removal.remove(at, 1.0);
    }
    let (instructions, wavefronts) = loads_gone(listing, &found);
    for &at in &found.loads {
        removal.remove_but_l1(at, instructions);
        removal.remove_wavefronts(at, wavefronts);
    }
    let copies: Vec<usize> = staged(&listing).into_iter().flat_map(|each| each.copies).collect();
    let halved = |index: usize| if copies.contains(&index) { 1.0 - HALF } else { 0.0 };
    if found.rounds {
        for &at in &copies {
            removal.remove(at, halved(at));
        }
    }
    let mut effect = removal.effect(launch);
    if found.rounds {
        // A row's piece is one request, however long.
        effect.removed.push((Term::L2, sectors_gone(listing, halved)));
    }
    effect.least = least(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let is_conversion = |index: usize| found.conversions.contains(&index);
    let weight = |index: usize| if is_conversion(index) { listing.executed(index) } else { 0.0 };
    let locations = locations(launch, listing, weight, "conversions of operands");
    let at = place(&locations, "the loop with the products");
    let loads = executed(&found.loads);
    Some(Draft {
        message: format!(
            "{} instructions {} just before they are multiplied, and {} loads bring them: {} of all executed \
             instructions.",
            count(converted),
            if found.rounds {
                "round operands of matrix instructions from floats"
            } else {
                "put operands of matrix instructions together from narrower loads"
            },
            count(loads),
            percent((converted + loads) / removal.mix.total),
        ),
        evidence: vec![
            Evidence::new("executed conversions of operands", converted, "inst"),
            Evidence::new("executed loads of what is converted", loads, "inst"),
            Evidence::new("smsp__inst_executed.sum", removal.mix.total, "inst"),
        ],
        hint: if found.rounds {
            format!(
                "Store the operands that {at} rounds in the type in which they are multiplied: let the kernel \
                 that writes them round them, or round them on their way to shared memory, and load them with \
                 ldmatrix. The results stay the same, since each value is rounded as now."
            )
        } else {
            format!(
                "Load whole fragments at {at}: ldmatrix.trans transposes 8 x 8 halves on the way, or \
                 the operand can be stored the other way round. Its rows must begin at multiples of \
                 16 bytes."
            )
        },
        locations,
        effect,
    })
}

/// The shares of the loads' instructions and of their wavefronts that go where each register comes as it is
/// multiplied: 16 bytes a lane for each instruction, a wavefront for each register.
fn loads_gone(listing: Listing, found: &Conversions) -> (f64, f64) {
    let registers: f64 = found.last.iter().map(|&at| listing.executed(at)).sum();
    let loads: f64 = found.loads.iter().map(|&at| listing.executed(at)).sum();
    let wavefronts: f64 = found.loads.iter().map(|&at| listing.wavefronts(at)).sum();
    let gone = |then: f64, now: f64| if now > 0.0 { (1.0 - then / now).max(0.0) } else { 0.0 };
    (gone(registers * REGISTER_BYTES / WIDEST_ACCESS_BYTES, loads), gone(registers, wavefronts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, check, sass};

    const LSU: &str = "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed";
    const TENSOR: &str = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";

    fn of(code: &[&str]) -> Launch {
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 10.0)).collect();
        sass(&[(ISSUE_BUSY, 60.0), (LSU, 80.0), (TENSOR, 20.0)], &code)
    }

    #[test]
    fn floats_are_rounded_once_and_come_by_one_load() {
        let mut code = Vec::new();
        for load in
            ["LDS.64 R4, [R20]", "LDS.64 R6, [R21]", "LDS.64 R28, [R22]", "LDS.64 R30, [R23]"]
        {
            code.push(load);
        }
        code.extend([
            "F2FP.F16.F32.PACK_AB R8, R5, R4",
            "F2FP.F16.F32.PACK_AB R9, R7, R6",
            "F2FP.F16.F32.PACK_AB R10, R29, R28",
            "F2FP.F16.F32.PACK_AB R11, R31, R30",
            "HMMA.16816.F32 R24, R8, R12, R24",
            "@P0 BRA 0x100",
        ]);
        let mut launch = of(&code);
        for instruction in &mut launch.instructions[..4] {
            instruction.counters.wavefronts_shared = 20.0;
        }
        let draft = assert_sides(&RULE, &launch, &[&[(LSU, 10.0), (TENSOR, 90.0)]]);
        // One load of four, 40 wavefronts of 80; of ten instructions the four conversions and three loads.
        assert!((draft.effect.share_of(Term::Lsu) - 0.75).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::L1Data) - 0.5).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::Issue) - 0.7).abs() < 1e-12);
        assert!(draft.hint.contains("the kernel that writes them round them"), "{}", draft.hint);
        assert!(draft.message.contains("80% of all executed"), "{}", draft.message);
        // The products take 20%, at 75% of the pipe's peak.
        assert!((draft.effect.least - 0.2 / 0.75).abs() < 1e-12);
    }

    #[test]
    fn halves_put_together_are_a_transposition() {
        let code = [
            "LDS.U16 R4, [R20]",
            "LDS.U16 R5, [R20+0x110]",
            "PRMT R12, R4, 0x5410, R5",
            "HMMA.16816.F32 R24, R8, R12, R24",
            "@P0 BRA 0x100",
        ];
        let draft = check(&RULE, &of(&code)).unwrap();
        // A quarter of a load does what two did.
        assert!((draft.effect.share_of(Term::Lsu) - 0.875).abs() < 1e-12);
        assert!(draft.hint.contains("ldmatrix.trans"), "{}", draft.hint);
    }

    #[test]
    fn bytes_that_are_widened_and_values_of_the_loop_need_their_conversion() {
        let widened = ["LDS.U8 R4, [R20]", "I2F.U8 R5, R4", "F2FP.F16.F32.PACK_AB R12, RZ, R5"];
        let made = ["LDS R4, [R20]", "MUFU.EX2 R5, R4", "F2FP.F16.F32.PACK_AB R12, RZ, R5"];
        for code in [widened, made] {
            let rest = ["HMMA.16816.F32 R24, R8, R12, R24", "@P0 BRA 0x100"];
            assert_eq!(check(&RULE, &of(&[&code[..], &rest[..]].concat())), None, "{code:?}");
        }
    }

    #[test]
    fn copies_of_floats_become_half_as_long_and_others_stay() {
        let copy = "LDGSTS.E.BYPASS.128 [R22], desc[UR4][R2.64]";
        let rest = ["HMMA.16816.F32 R24, R8, R12, R24", "@P0 BRA 0x100"];
        let effect = |code: &[&str]| {
            let mut launch = of(&[&[copy], code, &rest[..]].concat());
            launch.instructions[0].counters.l2_sectors_global = 160.0;
            check(&RULE, &launch).unwrap().effect
        };
        // Four bytes per lane take the place of eight: of two loads three quarters, and half of the copy.
        let rounded =
            effect(&["LDS R4, [R20]", "LDS R5, [R21]", "F2FP.F16.F32.PACK_AB R8, R5, R4"]);
        assert!((rounded.share_of(Term::Lsu) - (0.875 * 2.0 + 0.5) / 3.0).abs() < 1e-12);
        assert!((rounded.share_of(Term::L2) - 0.5).abs() < 1e-12);
        let put = ["LDS.U16 R4, [R20]", "LDS.U16 R5, [R21]", "PRMT R12, R4, 0x5410, R5"];
        let together = effect(&put);
        assert!((together.share_of(Term::Lsu) - 0.875 * 2.0 / 3.0).abs() < 1e-12);
        assert!(together.share_of(Term::L2).abs() < 1e-12);
    }
}
