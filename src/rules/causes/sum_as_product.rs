//! Sums that are taken by multiplying with a matrix of zeros and ones.

use crate::evidence::local_memory::{self, BY_HIT_RATE, TO_L2};
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::flow::slice::addresses_only_of;
use crate::sass::questions::chosen_sums::{ChosenSums, chosen_sums};
use crate::sass::{Family, Listing, Marks, Space};
use crate::text::{count, count_of, percent};

const EXECUTED: &str = "smsp__inst_executed.sum";

/// Terms of a sum, at least.
const SHORTEST: f64 = 8.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "sum-as-product",
    kind: Kind::Cause,
    summary: "sums are taken by multiplying with a constant matrix of zeros and ones",
    explanation: "\
A running sum can be written as a product with a triangular matrix of ones, a sum per group as one with a matrix that says who is \
in which group. If the matrix is made by comparing indices and the product is one of ordinary multiply-adds, then each of n \
sums takes n of them, half of which multiply by zero, and the matrix takes shared memory, loads, and registers. A scan takes log2(n) \
additions for each sum, or a single one where a thread goes through the elements in order. On tensor cores such a product can \
pay off, in the precision that these have; it is not looked for there. The rule looks for \
multiply-adds of which one factor is a selection between 0 and 1 by indices, in a register or from shared memory. The estimate leaves \
log2(n) of n, takes the matrix away, and as much of the loads of the terms as a thread does not need for its own sums; and what is spilt \
beside them.",
    examples: &[Example {
        fault: "\
__shared__ float ones[64][64];            // ones[i][j] = j <= i
float sum = 0;
for (int j = 0; j < 64; j++)
    sum += ones[i][j] * x[j][column];     // 64 multiply-adds for each sum",
        repair: "\
float sum = 0;
for (int i = 0; i < 64; i++) {            // one addition for each sum
    sum += x[i][column];
    y[i][column] = sum;
}",
        note: "\
Where the sums run across lanes, a scan by __shfl_up_sync takes five additions in a warp. Sums come out rounded in another order.",
    }],
    section: "InstructionStats",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold {
            what: "terms of a sum that is taken by multiplying, at least",
            value: SHORTEST,
            unit: "term",
            source: "derivation: across lanes, a scan of eight terms takes three exchanges and three additions; a shorter sum \
                     is as fast by multiply-adds. The estimate counts the additions alone, as where a thread has several terms",
        },
        Threshold {
            what: "constant: bytes of a term",
            value: ELEMENT_BYTES,
            unit: "byte",
            source: "definition: a float; products of doubles are not looked for",
        },
    ],
    needs: &[EXECUTED, ISSUE_BUSY],
    sharpened_by: &[TO_L2, BY_HIT_RATE],
    source_page: SourcePage::Needed,
    explains: &[
        "math-pipe-throttle",
        "short-scoreboard-stalls",
        "long-scoreboard-stalls",
        "fixed-latency-stalls",
        "mio-throttle",
        "lg-throttle",
        "issue-slots-underused",
    ],
    in_triton: "\
tl.cumsum(x, axis=0) for a triangle, tl.cumsum(x, axis=0, reverse=True) for its mirror image, tl.sum for groups: a scan by registers \
and shuffles in place of tl.dot with a mask.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let row = &launch.profile.row;
    let found = chosen_sums(&listing, row.block, row.grid)?;
    if found.length < SHORTEST {
        return None;
    }
    let gone = 1.0 - found.length.log2() / found.length;
    found.products.iter().for_each(|&at| removal.remove(at, gone));
    found.factors.iter().for_each(|&at| removal.remove(at, 1.0));
    let count_of_entries = listing.sass.entries.len();
    let of_factors = Marks::of(count_of_entries, |at| found.factors.contains(&at));
    addresses_only_of(&listing, &of_factors).iter().for_each(|at| removal.remove(at, 1.0));
    let of_terms = not_own(&listing, &found);
    found.terms.iter().for_each(|&at| removal.remove(at, of_terms));
    let beside = removal.beside(|at| found.products.binary_search(&at).is_ok());
    let is_spill = |at: usize| {
        let entry = &listing.sass.entries[at];
        matches!(entry.family, Family::Load(Space::Local) | Family::Store(Space::Local))
            && !entry.computed_address
    };
    let spills: Vec<usize> = beside.iter().filter(|&at| is_spill(at)).collect();
    for &at in &spills {
        removal.remove(at, 1.0);
    }
    let mut effect = removal.effect(launch);
    let executed = |at: &usize| listing.executed(*at);
    let of_local = spills.iter().map(executed).sum::<f64>()
        / (0..count_of_entries).filter(|&at| is_spill(at)).map(|at| executed(&at)).sum::<f64>();
    if of_local > 0.0 {
        effect.removed.extend(local_memory::l2(launch, of_local));
    }
    if !gains(launch, &effect) {
        return None;
    }
    let is_product = |at: usize| found.products.binary_search(&at).is_ok();
    let weight = |at: usize| if is_product(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "products with zeros and ones");
    let at = place(&locations, "the products");
    let products: f64 = found.products.iter().map(executed).sum();
    let all = launch.need(EXECUTED);
    let with_spills = match spills.len() {
        0 => String::new(),
        several => format!(
            " Beside them, {} in the code spill registers.",
            count_of(several as f64, "instruction")
        ),
    };
    Some(Draft {
        message: format!(
            "{} warp-wide multiply-adds at {at}, {} of the executed instructions, multiply by zeros and ones that comparisons of \
             indices choose: sums of {} each, for which a scan takes {}.{with_spills}",
            count(products),
            percent(products / all),
            count_of(found.length.round(), "term"),
            count_of(found.length.log2().ceil(), "addition"),
        ),
        evidence: vec![
            Evidence::new("warp-wide multiply-adds with zeros and ones", products, "inst"),
            Evidence::new("terms of a sum", found.length, "term"),
            Evidence::new(EXECUTED, all, "inst"),
        ],
        hint: format!(
            "Add up at {at} in place of multiplying: a running sum in a register where a thread has the elements one after another, a scan by \
             __shfl_up_sync across lanes, or cub::BlockScan. The matrix of ones goes, with its shared memory and the registers that hold \
             it. Sums are then rounded in another order."
        ),
        locations,
        effect,
    })
}

/// The share of the loads of terms that a thread makes for sums that are not its own: it needs as many elements as it has sums.
fn not_own(listing: &Listing, found: &ChosenSums) -> f64 {
    let bytes = |at: &usize| f64::from(listing.sass.entries[*at].width) * listing.executed(*at);
    let loaded: f64 = found.terms.iter().map(bytes).sum();
    if loaded > 0.0 { (1.0 - ELEMENT_BYTES * found.sums / loaded).clamp(0.0, 1.0) } else { 0.0 }
}

/// Bytes of a term.
const ELEMENT_BYTES: f64 = 4.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};
    use crate::term::Term;

    fn of(terms: usize) -> Option<Draft> {
        let mut code = vec![
            ("S2R R0, SR_TID.X", 100.0),
            ("SHF.R.U32.HI R1, RZ, 0x3, R0", 100.0),
            ("LOP3.LUT R2, R0, 0x7, RZ, 0xc0, !PT", 100.0),
            ("ISETP.GE.U32.AND P0, PT, R1, R2, PT", 100.0),
            ("SEL R4, RZ, 0x3f800000, !P0", 100.0),
            ("LDG.E R8, desc[UR4][R12.64]", 100.0),
            ("FFMA R20, R4, R8, RZ", 100.0),
        ];
        code.extend(vec![("FFMA R20, R4, R8, R20", 100.0); terms - 1]);
        code.extend([("STG.E desc[UR4][R14.64], R20", 100.0), ("EXIT", 100.0)]);
        let metrics = [(EXECUTED, 100.0 * code.len() as f64), (ISSUE_BUSY, 60.0)];
        check(&RULE, &sass(&metrics, &code))
    }

    #[test]
    fn sums_are_named_from_eight_terms_on() {
        let draft = of(8).unwrap();
        assert!(draft.message.contains("sums of 8 terms each"), "{}", draft.message);
        assert!(draft.message.contains("a scan takes 3 additions"), "{}", draft.message);
        let share = draft.effect.share_of(Term::Fma);
        assert!((share - 5.0 / 8.0).abs() < 1e-12, "{share}");
        assert!(of(7).is_none());
    }
}
