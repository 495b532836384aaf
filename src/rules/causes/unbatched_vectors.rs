//! Blocks that each multiply the same rows by a vector of their own.

use crate::evidence::modeled_launch::{GRID, SMS, place};
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::hardware::SECTOR_BYTES;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::Family;
use crate::sass::questions::vector_products::vector_products;
use crate::term::Term;
use crate::text::{bytes, count};

const READ: &str = "dram__bytes_read.sum";

/// Rows of a fragment of a matrix instruction.
const FRAGMENT_ROWS: f64 = 16.0;

/// How often what comes from DRAM is loaded, at least: a quarter of a fragment's rows.
const LEAST: f64 = 4.0;

/// Multiply-adds of one matrix instruction for each row of its fragment: 8 columns, 16 deep.
const EACH_ROW: f64 = 128.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "unbatched-vectors",
    kind: Kind::Cause,
    summary: "blocks multiply the same rows by one vector each",
    explanation: "\
Attention of one query per head, or a layer for each of a few tokens, multiplies a matrix by a vector: every element is loaded, \
made wider, and multiplied once. Where several blocks do so with the same rows, such as the query heads that share \
one head of keys, together they multiply a matrix by a matrix: one block that takes all of their vectors loads each row once, and \
matrix instructions do the multiplications and the sums over lanes. The rule looks for loops that multiply what they load as \
16-bit floats by what stays in registers, add up over lanes by shuffles, and load several times what comes from DRAM. The estimate \
gives one block the vectors of as many as load the same, 16 at most, as long as each SM keeps a block.",
    examples: &[Example {
        fault: "\
// a block per query head; 8 heads read the same keys
int head = blockIdx.x, shared = head / 8;
for (int t = warp; t < tokens; t += WARPS)
    score[t] = warp_sum(dot(query[head], key[t][shared]));",
        repair: "\
// a block per head of keys, with its 8 queries as rows of a fragment
int shared = blockIdx.x;
for (int t = 16 * warp; t < tokens; t += 16 * WARPS)
    mma(scores, queries_of(shared), keys(t, shared));    // mma.sync",
        note: "\
Fragments have 16 rows; those that no query fills are zero, and cost nothing that counts. Fewer blocks are left, so a long row of keys may \
have to be divided among several.",
    }],
    section: "MemoryWorkloadAnalysis_Tables",
    thresholds: &[
        Threshold {
            what: "bytes that such a loop loads, divided by bytes read from DRAM, to the nearest whole number, at least",
            value: LEAST,
            unit: "",
            source: "definition: a quarter of a fragment's rows are filled, so that one matrix instruction still does the \
                     work of 16 multiply-adds of a warp",
        },
        Threshold {
            what: "constant: vectors that one block can take at a time, at most",
            value: FRAGMENT_ROWS,
            unit: "row",
            source: "definition: rows of a fragment of mma.sync.m16n8k16",
        },
        Threshold {
            what: "constant: multiply-adds of a matrix instruction for each row of its fragment",
            value: EACH_ROW,
            unit: "",
            source: "definition: 8 columns by 16 in mma.sync.m16n8k16",
        },
        MATTERS_LIMIT,
    ],
    needs: &[READ, GRID, SMS, ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "short-scoreboard-stalls",
        "long-scoreboard-stalls",
        "barrier-stalls",
        "mio-throttle",
        "fixed-latency-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
give a program the queries of all heads that share its keys, padded to 16 rows, and use tl.dot for both products.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    if removal.mix.family(Family::Tensor) > 0.0 {
        return None;
    }
    let read = launch.need(READ);
    let sectors = |at: usize| listing.row(at).counters.l2_sectors_global;
    let found = vector_products(&listing).into_iter().max_by(|a, b| {
        let loaded = |loads: &[usize]| loads.iter().map(|&at| sectors(at)).sum::<f64>();
        loaded(&a.loads).total_cmp(&loaded(&b.loads))
    })?;
    let loaded = SECTOR_BYTES * found.loads.iter().map(|&at| sectors(at)).sum::<f64>();
    let again = loaded / read;
    // Vectors are whole ones. What else is read from DRAM, or rows that L2 gave up in between, makes them seem fewer, and what it
    // still has of an earlier launch more.
    let vectors = again.round();
    // Each SM keeps a block.
    let together = vectors.min(FRAGMENT_ROWS).min(launch.need(GRID) / launch.need(SMS));
    if !(vectors >= LEAST && together >= LEAST) {
        return None;
    }
    let gone = 1.0 - 1.0 / together;
    // Exponentials are as many as there are results.
    let stays = |at: usize| listing.sass.entries[at].term == Some(Term::Xu);
    found.inside.iter().filter(|&&at| !stays(at)).for_each(|&at| removal.remove(at, gone));
    let on = |at: usize| listing.row(at).counters.thread_inst_executed_pred_on;
    let multiplied: f64 = found.products.iter().map(|&at| on(at)).sum();
    removal.add(Term::Tensor, multiplied / (EACH_ROW * together));
    let mut effect = removal.effect(launch);
    let all: f64 = listing.entries().map(|(at, _)| sectors(at)).sum();
    let of_l2 = if all > 0.0 { gone * loaded / (SECTOR_BYTES * all) } else { 0.0 };
    effect.removed.extend([Term::L2, Term::L2Requests].map(|term| (term, of_l2)));
    if !gains(launch, &effect) {
        return None;
    }
    let weight = |at: usize| if found.loads.binary_search(&at).is_ok() { sectors(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "bytes of the rows");
    let at = place(&locations, "the loop");
    Some(Draft {
        message: format!(
            "The loop around {at} multiplies rows of 16-bit floats by a vector that stays in registers, and adds the products up over \
             lanes. It loads {}, {} times the {} that come from DRAM: other blocks multiply the same rows by other vectors.",
            bytes(loaded),
            format_args!("{again:.1}"),
            bytes(read),
        ),
        evidence: vec![
            Evidence::new(READ, read, "byte"),
            Evidence::new("bytes that the loop loads", loaded, "byte"),
            Evidence::new("vectors for each block", together, "vector"),
        ],
        hint: format!(
            "Let one block take the vectors of all that load the same rows at {at}, {} of them, and multiply by matrix instructions \
             (mma.sync or wmma; fragments have 16 rows, padded with zeros): each row is then loaded once, and no shuffles add up. \
             Sums are rounded in another order.",
            count(together.round()),
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, check, sass};

    /// A loop that loads 32 sectors of 32 bytes each time, of which these bytes come from DRAM.
    fn decode(read: f64) -> Launch {
        let code = [
            ("LDG.E R20, desc[UR4][R18.64]", 10.0),
            ("LDG.E R4, desc[UR4][R2.64]", 80.0),
            ("IMAD.U32 R5, R4, 0x10000, RZ", 80.0),
            ("FMUL R7, R20, R5", 80.0),
            ("SHFL.BFLY PT, R8, R7, 0x10, 0x1f", 80.0),
            ("FADD R7, R7, R8", 80.0),
            ("@P0 BRA 0x110", 80.0),
            ("STG.E desc[UR4][R10.64], R7", 10.0),
            ("EXIT", 10.0),
        ];
        let metrics = [(READ, read), (GRID, 800.0), (SMS, 100.0), (ISSUE_BUSY, 60.0)];
        let mut launch = sass(&metrics, &code);
        launch.instructions[1].counters.l2_sectors_global = 80.0 * 32.0;
        launch
    }

    #[test]
    fn what_is_loaded_several_times_counts() {
        let loaded = 80.0 * 32.0 * 32.0;
        let draft = assert_sides(
            &RULE,
            &decode(loaded / 4.0),
            &[&[(READ, loaded / 3.4)], &[(GRID, 390.0)], &[(ISSUE_BUSY, 0.0)]],
        );
        // Three quarters of 480 of 510 instructions, less 80 warps of products as 2560 / 512 matrix instructions.
        let gone = draft.effect.share_of(Term::Issue);
        assert!((gone - (360.0 - 5.0) / 510.0).abs() < 1e-12, "{gone}");
        assert!(draft.hint.contains("4 of them"), "{}", draft.hint);
        let nearly = check(&RULE, &decode(loaded / 3.6)).unwrap();
        assert!(nearly.hint.contains("4 of them"), "whole vectors: {}", nearly.hint);
        // No more than the grid has for each SM, nor than a fragment has rows.
        let many = check(&RULE, &decode(loaded / 30.0)).unwrap();
        assert!(many.hint.contains("8 of them"), "{}", many.hint);
    }
}
