//! Matrix instructions whose operands serve too few of them.

mod of_groups;

use crate::evidence::fetched_again::{DRAM_BYTES, of_dram};
use crate::evidence::modeled_launch::{SMS, place};
use crate::evidence::products::{least, sectors_gone};
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::WARP_LANES;
use crate::model::thresholds::TENSOR_FULL;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::matrix_loops::{conversions, operand_loads};
use crate::term::Term;
use crate::text::{count, percent};

/// Bytes loaded over bytes multiplied where a warp makes a tile of 64 x 64.
const LARGE_TILE: f64 = 1.0 / 6.0;

/// The units that bring operands.
const FEEDING: [Term; 5] = [Term::L1Data, Term::Lsu, Term::L2, Term::L2Requests, Term::Issue];

/// The rule.
pub const RULE: Rule = Rule {
    name: "tile-too-small",
    kind: Kind::Cause,
    summary: "the tile of a warp is too small for the matrix unit: each operand serves too few products",
    explanation: "\
A fragment that a warp has loaded serves as many matrix instructions as its tile has fragments in \
the other direction: one or two in a tile of 16 x 16, four or eight in one of 64 x 64. Below that, \
shared memory, L1 and L2 take longer to bring the operands than the tensor pipe takes to multiply \
them. The rule sets the bytes that a loop loads for its matrix instructions against those that they \
multiply, and fires where a unit on the way is busier than the tensor pipe. If L2 does not hold the operands, DRAM \
is on the way as well: it delivers again what several blocks load. Instructions of warp groups read shared memory themselves: there \
the tile of a block tells how often each element that it copies is used. Let each warp compute a larger \
tile, with as many warps per block as before: the sums stay in registers.",
    examples: &[Example {
        fault: "\
// one 16 x 16 tile per warp: two fragments are loaded for each product
for (int k = 0; k < length; k += 16) {
    load_matrix_sync(a, rows + k, length);
    load_matrix_sync(b, columns + k, length);
    mma_sync(sum, a, b, sum);
}",
        repair: "\
// 4 x 4 such tiles per warp: eight fragments for 16 products
for (int k = 0; k < length; k += 16) {
    for (int i = 0; i < 4; ++i) {
        load_matrix_sync(a[i], rows + 16 * i * length + k, length);
        load_matrix_sync(b[i], columns + 16 * i * length + k, length);
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
}",
        note: "\
A quarter of the bytes is loaded for each product. The sums of 64 x 64 results take 128 registers \
of each thread, and a sixteenth of the warps remains.",
    }],
    section: "MemoryWorkloadAnalysis",
    thresholds: &[
        Threshold {
            what: "constant: bytes loaded for a matrix instruction, over those that it multiplies, in the \
                   largest tile of a warp",
            value: LARGE_TILE,
            unit: "share",
            source: "derivation: sums of 64 x 64 results take 128 of a thread's 255 registers, and \
                     each fragment of 16 rows or of 8 columns serves 8 or 4 instructions: (4/8 + 2/4) of \
                     6 registers' bytes",
        },
        of_groups::USES_ENOUGH,
        of_groups::USES,
        MATTERS_LIMIT,
        TENSOR_FULL,
    ],
    needs: &[ISSUE_BUSY],
    sharpened_by: &[DRAM_BYTES, Reads::always(&[SMS])],
    source_page: SourcePage::Needed,
    explains: &[
        "short-scoreboard-stalls",
        "mio-throttle",
        "long-scoreboard-stalls",
        "barrier-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
BLOCK_M and BLOCK_N of 128 (128 and 256 with num_warps=8 on Hopper): a warp's part is the tile over num_warps.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    of_warps(launch).or_else(|| of_groups::check(launch))
}

/// The share of the time that a unit is busy.
fn busy(launch: &ModeledLaunch, term: Term) -> f64 {
    launch.model.utilization(term).unwrap_or(0.0)
}

/// The busiest of the units that bring operands; DRAM is one where it delivers some of them again.
fn feeding(launch: &ModeledLaunch, again: f64) -> Option<Term> {
    let feeding = FEEDING.into_iter().chain((again > 0.0).then_some(Term::Dram));
    feeding.max_by(|a, b| busy(launch, *a).total_cmp(&busy(launch, *b)))
}

/// By what the warps of a block load for their own instructions.
fn of_warps(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let found = operand_loads(&listing)?;
    // Floats that are rounded to halves before they are multiplied are another fault.
    let rounded = conversions(&listing).filter(|each| each.rounds);
    let bytes = |index: usize| {
        let is_rounded = rounded.as_ref().is_some_and(|each| each.loads.contains(&index));
        let width =
            f64::from(listing.sass.entries[index].width) / if is_rounded { 2.0 } else { 1.0 };
        listing.executed(index) * WARP_LANES * width
    };
    let loaded: f64 = found.loads.iter().map(|&at| bytes(at)).sum();
    let multiplied: f64 = found
        .products
        .iter()
        .map(|&at| listing.executed(at) * WARP_LANES * found.operand_bytes(&listing, at))
        .sum();
    let products: f64 = found.products.iter().map(|&at| listing.executed(at)).sum();
    let share = loaded / multiplied;
    if !share.is_finite() || share <= LARGE_TILE {
        return None;
    }
    let gone = 1.0 - LARGE_TILE / share;
    for &index in found.inside.iter().filter(|index| !found.products.contains(index)) {
        removal.remove(index, gone);
    }
    let mut effect = removal.effect(launch);
    let inside = |index: usize| found.inside.binary_search(&index).is_ok();
    let sectors = sectors_gone(listing, |index| if inside(index) { gone } else { 0.0 });
    effect.removed.extend([(Term::L2, sectors), (Term::L2Requests, sectors)]);
    let again = of_dram(launch, sectors);
    effect.removed.push((Term::Dram, again));
    // Tiles larger in both directions.
    effect.removed.push((Term::BlockScheduler, 1.0 - (1.0 - gone).powi(2)));
    effect.least = least(launch);
    let feeding = feeding(launch, again)?;
    if busy(launch, feeding) <= busy(launch, Term::Tensor) || !gains(launch, &effect) {
        return None;
    }
    let is_load = |index: usize| found.loads.contains(&index);
    let weight = |index: usize| if is_load(index) { bytes(index) } else { 0.0 };
    let locations = locations(launch, listing, weight, "bytes of operands");
    Some(Draft {
        message: format!(
            "{} matrix instructions use each byte of the {} loaded for them only {:.1} times on average, where \
             a 64 x 64 tile per warp would use it 6 times: bringing operands keeps {} busy {} of the time, \
             multiplying them keeps the tensor pipe busy {}.",
            count(products),
            crate::text::bytes(loaded),
            1.0 / share,
            feeding.title(),
            percent(busy(launch, feeding)),
            percent(busy(launch, Term::Tensor)),
        ),
        evidence: vec![
            Evidence::new("bytes loaded as operands", loaded, "byte"),
            Evidence::new("bytes multiplied", multiplied, "byte"),
            Evidence::new("executed matrix instructions", products, "inst"),
        ],
        hint: format!(
            "Let each warp compute a larger tile at {}: with 64 x 64 results, {} fewer operand bytes are \
             loaded, and as many fewer are copied to shared memory. The sums take 128 registers of each thread \
             and fewer warps remain, so start copies several iterations ahead.",
            place(&locations, "the loop with the products"),
            percent(gone),
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::metric::stall::StallReason;
    use crate::rules::testing::{assert_sides, check, sass};

    const TENSOR: &str = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
    const L1: &str = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";

    /// A loop that loads two fragments of four matrices for so many matrix instructions.
    fn tile(products: usize) -> Launch {
        let mut code = vec![("LDSM.16.M88.4 R8, [R20]", 10.0), ("LDSM.16.M88.4 R12, [R21]", 10.0)];
        code.extend(vec![("HMMA.16816.F32 R24, R8, R12, R24", 10.0); products]);
        code.extend([("@P0 BRA 0x100", 10.0), ("EXIT", 1.0)]);
        let metrics = [(ISSUE_BUSY, 20.0), (L1, 80.0), (TENSOR, 30.0)];
        let mut launch = sass(&metrics, &code);
        for index in 0..2 {
            launch.instructions[index].counters.wavefronts_shared = 40.0;
        }
        launch
    }

    #[test]
    fn two_fragments_for_two_products_are_too_many() {
        // 1,024 bytes for 2 x 768: 2/3, of which 1/6 would do. L1 has nothing else to do.
        let dram = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
        let draft =
            assert_sides(&RULE, &tile(2), &[&[(TENSOR, 81.0)], &[(L1, 30.0)], &[(dram, 99.0)]]);
        assert!((draft.effect.share_of(Term::L1Data) - 0.75).abs() < 1e-12);
        // Of five instructions per turn and one exit the loads and the branch, but no product.
        assert!((draft.effect.share_of(Term::Issue) - 0.75 * 30.0 / 51.0).abs() < 1e-12);
        assert!(draft.effect.share_of(Term::Tensor).abs() < 1e-12);
        // Tiles that are four times larger in each direction: a sixteenth of the blocks.
        assert!((draft.effect.share_of(Term::BlockScheduler) - 0.9375).abs() < 1e-12);
        // The products take 30%, at 75% of the pipe's peak.
        assert!((draft.effect.least - 0.4).abs() < 1e-12);
        assert!(draft.message.contains("1.5 times"), "{}", draft.message);
        assert!(draft.hint.contains("75%"), "{}", draft.hint);
        assert_eq!(draft.locations.iter().map(|each| each.line).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_large_tile_is_left_alone() {
        assert_eq!(check(&RULE, &tile(8)), None, "1,024 bytes for 8 x 768 are 1/6");
    }

    #[test]
    fn where_the_products_take_longer_than_their_operands_tiles_are_large_enough() {
        let short = StallReason::ShortScoreboard;
        let mut launch = tile(2);
        launch.set(&short.ratio_metric(), Some(50.0));
        launch.instructions[2].counters.stall_samples[short as usize] = 9.0;
        let fires = |l1: f64| {
            let mut launch = launch.clone();
            launch.set(L1, Some(l1));
            check(&RULE, &launch).is_some()
        };
        assert!(fires(31.0) && !fires(30.0), "beside a tensor pipe that is busy for 30%");
    }

    #[test]
    fn copies_of_a_tile_go_with_its_operands() {
        let code = [
            ("LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64]", 10.0),
            ("LDSM.16.M88.4 R8, [R20]", 10.0),
            ("LDSM.16.M88.4 R12, [R21]", 10.0),
            ("HMMA.16816.F32 R24, R8, R12, R24", 10.0),
            ("HMMA.16816.F32 R24, R8, R12, R24", 10.0),
            ("@P0 BRA 0x100", 10.0),
            ("LDG.E R4, desc[UR4][R2.64]", 10.0),
            ("EXIT", 1.0),
        ];
        let mut launch = sass(&[(ISSUE_BUSY, 80.0), (TENSOR, 30.0)], &code);
        for index in [0, 6] {
            launch.instructions[index].counters.l2_sectors_global = 160.0;
        }
        let effect = check(&RULE, &launch).unwrap().effect;
        // Three quarters of the copies, which bring half of the sectors.
        assert!((effect.share_of(Term::L2) - 0.375).abs() < 1e-12, "{effect:?}");
        assert!((effect.share_of(Term::L2Requests) - 0.375).abs() < 1e-12);
    }

    #[test]
    fn dram_that_delivers_operands_again_is_no_roof() {
        let dram = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
        let code = [
            ("S2R R0, SR_CTAID.X", 10.0),
            ("LDC.64 R6, c[0x0][0x210]", 10.0),
            ("IMAD.WIDE R2, R0, 0x4, R6", 10.0),
            ("LDG.E.128 R8, desc[UR4][R2.64]", 10.0),
            ("HMMA.16816.F32 R24, R8, R12, R24", 10.0),
            ("@P0 BRA 0x130", 10.0),
            ("EXIT", 1.0),
        ];
        let found = |read: f64| {
            let read = [("dram__bytes_read.sum", read), ("dram__bytes_write.sum", 0.0)];
            let busy = [(ISSUE_BUSY, 5.0), (TENSOR, 5.0), (dram, 93.0)];
            let mut launch = sass(&[&busy[..], &read[..]].concat(), &code);
            launch.instructions[3].counters.l2_sectors_global = 1000.0;
            // Eight rows of blocks load the same: 4,000 of 32,000 bytes are needed.
            (launch.row.grid, launch.row.block) = ([4, 8, 1], [32, 1, 1]);
            crate::diagnose::diagnose(&launch).findings
        };
        let first = &found(32_000.0)[0];
        assert_eq!(first.rule, "tile-too-small");
        // 16 bytes per lane for 24 that are multiplied: 2/3, of which 1/6 would do, so that 3/4 go.
        assert!(first.message.contains("keeps DRAM busy"), "{}", first.message);
        // DRAM reaches 94.57% of its peak; what it does not take is waiting.
        let dram = 0.93 / 0.9457;
        let factor = first.estimate.unwrap().factor;
        assert!((factor - 1.0 / (0.25 * dram + 1.0 - dram)).abs() < 1e-9, "{factor}");
        assert_eq!(found(4_000.0)[0].rule, "at-memory-roof", "L2 holds what blocks share");
    }

    #[test]
    fn floats_that_are_rounded_count_as_what_is_multiplied() {
        let code = [
            ("LDS.64 R4, [R20]", 10.0),
            ("LDS.64 R6, [R21]", 10.0),
            ("F2FP.F16.F32.PACK_AB R8, R5, R4", 10.0),
            ("F2FP.F16.F32.PACK_AB R9, R7, R6", 10.0),
            ("HMMA.16816.F32 R24, R8, R12, R24", 10.0),
            ("@P0 BRA 0x100", 10.0),
            ("EXIT", 1.0),
        ];
        let message = check(&RULE, &sass(&[(ISSUE_BUSY, 80.0), (TENSOR, 30.0)], &code));
        let message = message.unwrap().message;
        // 16 bytes per lane, of which 8 would do, for 24.
        assert!(message.contains("3.0 times"), "{message}");
    }
}
