//! A tile whose rows are worked out one after another, each from all before it.

use std::collections::BTreeSet;

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::rows_in_turn::rows_in_turn;
use crate::text::{count, count_of, percent};

const EXECUTED: &str = "smsp__inst_executed.sum";

/// Rows of a block that is still worked out row by row: those of a fragment of the tensor units.
const BLOCK_ROWS: f64 = 16.0;

/// Turns from which blocks are worth it.
const LEAST_TURNS: f64 = 2.0 * BLOCK_ROWS;

/// The rule.
pub const RULE: Rule = Rule {
    name: "rows-in-turn",
    kind: Kind::Cause,
    summary: "each iteration of a loop works out one row of a tile from all rows before it",
    explanation: "\
A triangular matrix is inverted, or a triangular system solved, row by row: each iteration multiplies the rows that are there by the next \
row's coefficients, adds the products up over the lanes and warps, and puts the sum into its place, before the next iteration can begin. \
Nearly all of an iteration is the exchange (shuffles, shared memory, barriers), and every row takes one. Blocked, the same work is \
mostly matrix products: the blocks on the diagonal, of 16 rows each, are worked out row by row, all of them side by side \
and each by one warp, and what lies below them follows from products of blocks, on the tensor units. Or the inverse of I + N, whose N is \
strictly triangular, is the product of I - N, I + N^2, I + N^4, …: six products and squares for 64 rows. The rule looks for a loop that selects a \
sum over lanes, by its counter and the row's index, into registers which the next iterations multiply. The estimate leaves as many \
iterations as a block has rows, as long as they are now, in which the products of blocks find room.",
    examples: &[Example {
        fault: "\
for (int i = 1; i < 64; ++i) {            // x: a column's rows per thread
    float sum = 0;
    for (int k = 0; k < 16; ++k)
        sum += a[i][row(k)] * x[k];
    sum = sum_of_block(sum);              // shuffles, barriers
    for (int k = 0; k < 16; ++k)
        x[k] = row(k) == i ? -sum : x[k];
}",
        repair: "\
invert_16(x11); invert_16(x22);           // side by side, a warp each
invert_16(x33); invert_16(x44);
x21 = -x22 * a21 * x11;                   // by tensor units
x32 = -x33 * a32 * x22;
x31 = -x33 * (a31 * x11 + a32 * x21);
…",
        note: "\
Sums are rounded in another order. On tensor units, floats in three TF32 products (3xTF32) keep nearly all of their bits.",
    }],
    section: "InstructionStats",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold {
            what: "constant: rows of a block, and iterations that remain",
            value: BLOCK_ROWS,
            unit: "row",
            source: "definition: rows of a fragment of the tensor units",
        },
        Threshold {
            what: "iterations of the loop, at least",
            value: LEAST_TURNS,
            unit: "iteration",
            source: "definition: two blocks",
        },
    ],
    needs: &[EXECUTED, ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "short-scoreboard-stalls",
        "long-scoreboard-stalls",
        "barrier-stalls",
        "fixed-latency-stalls",
        "mio-throttle",
        "issue-slots-underused",
    ],
    in_triton: "\
work the blocks of 16 rows on the diagonal out in one loop of 15 iterations, and the rest by tl.dot with input_precision=\"tf32x3\".",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let mut found = rows_in_turn(&listing);
    found.retain(|each| each.turns >= LEAST_TURNS);
    let main = found.iter().max_by(|a, b| a.turns.total_cmp(&b.turns))?;
    for each in &found {
        let gone = 1.0 - BLOCK_ROWS / each.turns;
        for &at in &each.inside {
            removal.remove(at, gone);
            removal.remove_waits_for_others(at, gone);
        }
    }
    let effect = removal.effect(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let places: BTreeSet<usize> =
        found.iter().flat_map(|each| each.places.iter().copied()).collect();
    let weight = |at: usize| if places.contains(&at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "rows put into their places");
    let inside = found.iter().flat_map(|each| &each.inside);
    let theirs: f64 = inside.map(|&at| listing.executed(at)).sum();
    let executed = launch.need(EXECUTED);
    let at = place(&locations, "the loop with the exchange");
    let with_barriers = match main.barriers {
        0 => String::new(),
        barriers => format!(" and {}", count_of(barriers as f64, "barrier")),
    };
    Some(Draft {
        message: format!(
            "Each of some {} iterations of the loop around {at} works out one row from all rows before it, by {}{with_barriers}, and \
             the next iteration waits for it: {} of the executed instructions.",
            count(main.turns.round()),
            count_of(main.exchanges.len() as f64, "exchange"),
            percent(theirs / executed),
        ),
        evidence: vec![
            Evidence::new("iterations of the loop", main.turns, "iteration"),
            Evidence::new("executed instructions of such loops", theirs, "inst"),
            Evidence::new(EXECUTED, executed, "inst"),
        ],
        hint: format!(
            "Work blocks of {BLOCK_ROWS:.0} rows out row by row at {at}, all blocks of the diagonal side by side and each by one warp, and \
             what lies below them by products of blocks on the tensor units."
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

    fn of(turns: f64) -> Option<Draft> {
        let all = 8.0 * turns;
        let code = [
            ("MOV R10, RZ", 8.0),
            ("LDG.E R5, desc[UR4][R2.64]", all), // 0x110
            ("FMUL R6, R4, R5", all),
            ("SHFL.BFLY PT, R7, R6, 0x1, 0x1f", all),
            ("FADD R6, R6, R7", all),
            ("ISETP.NE.AND P1, PT, R10, R9, PT", all),
            ("FSEL R4, R6, R4, !P1", all),
            ("IADD3 R10, R10, 0x1, RZ", all),
            ("ISETP.NE.AND P0, PT, R10, 0x28, PT", all),
            ("@P0 BRA 0x110", all),
            ("STG.E desc[UR4][R12.64], R4", 8.0),
            ("EXIT", 8.0),
        ];
        check(&RULE, &sass(&[(EXECUTED, 9.0 * all + 24.0), (ISSUE_BUSY, 60.0)], &code))
    }

    #[test]
    fn two_blocks_are_worth_it() {
        let draft = of(32.0).unwrap();
        assert!(draft.message.contains("some 32 iterations"), "{}", draft.message);
        let share = draft.effect.share_of(Term::Issue);
        assert!((share - 0.5 * 9.0 * 256.0 / (9.0 * 256.0 + 24.0)).abs() < 1e-12, "{share}");
        assert!(of(31.0).is_none());
    }
}
