//! Products of a matrix with its own transpose, of which both halves are computed.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::matrix_loops::{GroupTile, symmetric};
use crate::sass::questions::sharing::addresses_by_blocks;
use crate::sass::{Family, Listing};
use crate::term::Term;
use crate::text::count;

const BLOCK: &str = "launch__block_size";
const GRID: &str = "launch__grid_size";

/// The rule.
pub const RULE: Rule = Rule {
    name: "symmetric-product",
    kind: Kind::Cause,
    summary: "a matrix is multiplied by its own transpose, and both halves of the symmetric result are computed",
    explanation: "\
The product of a matrix with its own transpose is symmetric: covariances, Gram matrices, similarities of all with all, and the orthogonalization in \
optimizers such as Muon. Tiles below the diagonal are those above it, mirrored. A general product computes them all; blocks below the diagonal \
can leave at once, while each of the others stores its tile twice, the second time transposed, for nearly half of the products and of the traffic. The rule \
looks for loops of warp groups that copy both operands from places which are made of the same arguments, with neither transposed on the \
way. The estimate takes away all of the loop that blocks below the diagonal do, and leaves the stores.",
    examples: &[Example {
        fault: "\
int row = blockIdx.y * 128, column = blockIdx.x * 128;
multiply(sum, x + row * k, x + column * k);        // all tiles
store(c, row, column, sum);",
        repair: "\
if (row > column) return;
multiply(sum, x + row * k, x + column * k);        // the upper half
store(c, row, column, sum);
if (row < column) store_transposed(c, column, row, sum);",
        note: "\
Stage the mirrored tile in shared memory, so that both stores are dense. BLAS has it as syrk.",
    }],
    section: "InstructionStats",
    thresholds: &[MATTERS_LIMIT],
    needs: &[ISSUE_BUSY, BLOCK, GRID],
    source_page: SourcePage::Needed,
    explains: &[
        "math-pipe-throttle",
        "long-scoreboard-stalls",
        "barrier-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
return where pid_m > pid_n, and store the tile and, off the diagonal, its transpose: tl.store(c + n[:, None] * stride + m[None, :], \
tl.trans(acc)).",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let found = symmetric(&listing, launch.need(BLOCK));
    let tiles = found.iter().filter_map(|each| along_a_side(launch, &listing, each));
    let tiles = tiles.fold(f64::INFINITY, f64::min);
    if found.is_empty() || !tiles.is_finite() {
        return None;
    }
    // Of n x n tiles, n (n - 1) / 2 lie below the diagonal.
    let gone = 0.5 * (1.0 - 1.0 / tiles.max(1.0));
    let blocks = launch.need(GRID);
    let sectors = |at: usize| listing.row(at).counters.l2_sectors_global;
    let mut theirs = 0.0;
    for each in &found {
        each.inside.iter().for_each(|&at| removal.remove(at, gone));
        theirs += each.copies.iter().map(|&at| gone * sectors(at)).sum::<f64>();
    }
    let all: f64 = (0..listing.sass.entries.len()).map(sectors).sum();
    let mut effect = removal.effect(launch);
    if all > 0.0 {
        effect.removed.extend([Term::L2, Term::L2Requests].map(|term| (term, theirs / all)));
    }
    // The products of a warp group are not counted as the tensor pipe's.
    if effect.share_of(Term::Tensor) <= 0.0 {
        let executed = |at: usize| listing.executed(at);
        let theirs: f64 =
            found.iter().flat_map(|each| &each.products).map(|&at| executed(at)).sum();
        let products = listing.entries().filter(|(_, entry)| entry.family == Family::Tensor);
        let all: f64 = products.map(|(at, _)| executed(at)).sum();
        effect.removed.push((Term::Tensor, gone * theirs / all));
    }
    if !gains(launch, &effect) {
        return None;
    }
    let is_copy = |at: usize| found.iter().any(|each| each.copies.contains(&at));
    let weight = |at: usize| if is_copy(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "copies of both operands");
    let products = found.iter().flat_map(|each| &each.products);
    let products: f64 = products.map(|&at| listing.executed(at)).sum();
    let at = place(&locations, "the copies of both operands");
    Some(Draft {
        message: format!(
            "Both operands of {} matrix instructions are rows that are addressed from the same pointer, at {at}. If they are rows of one matrix, the \
             result is symmetric, and {} blocks compute all of it.",
            count(products),
            count(blocks),
        ),
        evidence: vec![
            Evidence::new("matrix instructions", products, "inst"),
            Evidence::new(GRID, blocks, "block"),
        ],
        hint: format!(
            "Let blocks below the diagonal return before {at}, and let each block above it store its tile a second time, transposed (through \
             shared memory, so that both stores are dense)."
        ),
        locations,
        effect,
    })
}

/// Tiles along a side of the result: blocks of the direction that one operand goes by, where the two go by different ones, or else
/// the root of those in the one direction that both go by. What both share beside that counts matrices. `None` where it is not
/// known what the operands go by.
fn along_a_side(launch: &ModeledLaunch, listing: &Listing, tile: &GroupTile) -> Option<f64> {
    let axes: Option<Vec<[bool; 3]>> =
        tile.copies.iter().map(|&at| addresses_by_blocks(listing, at)).collect();
    let axes = axes?;
    let grid = launch.profile.row.grid.map(f64::from);
    let goes_by = |axis: usize| axes.iter().any(|each| each[axis]);
    let all_go_by = |axis: usize| axes.iter().all(|each| each[axis]);
    let apart: Vec<f64> =
        (0..3).filter(|&axis| goes_by(axis) && !all_go_by(axis)).map(|axis| grid[axis]).collect();
    match apart[..] {
        [] => (0..3).find(|&axis| goes_by(axis)).map(|axis| grid[axis].sqrt()),
        _ => apart.into_iter().reduce(f64::min),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};

    fn of(second: &str, blocks: f64) -> Option<Draft> {
        let code = [
            ("ULDC.64 UR4, c[0x0][0x210]", 4.0),
            (second, 4.0),
            ("S2R R2, SR_TID.X", 4.0),
            ("S2R R1, SR_CTAID.Y", 4.0),
            ("S2R R3, SR_CTAID.X", 4.0),
            ("IMAD.WIDE.U32 R18, R1, 0x2, UR4", 4.0),
            ("IMAD.WIDE.U32 R20, R3, 0x2, UR6", 4.0),
            ("LDGSTS.E.BYPASS.128 [R2], desc[UR16][R18.64]", 40.0), // 0x170
            ("LDGSTS.E.BYPASS.128 [R2+0x800], desc[UR16][R20.64]", 40.0),
            ("HGMMA.64x64x16.F32 R24, gdesc[UR12], R24, gsb0", 40.0),
            ("WARPGROUP.DEPBAR.LE gsb0, 0x0", 40.0),
            ("@P0 BRA 0x170", 40.0),
            ("EXIT", 4.0),
        ];
        let tensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
        let metrics = [(ISSUE_BUSY, 10.0), (tensor, 80.0), (BLOCK, 128.0), (GRID, blocks * blocks)];
        let mut launch = sass(&metrics, &code);
        launch.row.grid = [blocks as u32, blocks as u32, 1];
        check(&RULE, &launch)
    }

    #[test]
    fn tiles_below_the_diagonal_go() {
        let draft = of("ULDC.64 UR6, c[0x0][0x210]", 4.0).unwrap();
        // Six of sixteen tiles.
        assert!((draft.effect.share_of(Term::Tensor) - 0.375).abs() < 1e-12);
        assert!(draft.message.contains("16 blocks"), "{}", draft.message);
        assert!(of("ULDC.64 UR6, c[0x0][0x210]", 1.0).is_none(), "one tile");
        assert!(of("ULDC.64 UR6, c[0x0][0x218]", 4.0).is_none(), "two matrices");
    }
}
