//! A multiplication and an addition where one instruction would do both.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, matters};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, SourcePage, Trial};
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::operands::Role;
use crate::sass::{ListedInstruction, Listing, Marks, Operation, Slot};
use crate::term::Term;
use crate::text::{count, percent};

/// The rule.
pub const RULE: Rule = Rule {
    name: "unfused-multiply-add",
    kind: Kind::Cause,
    summary: "separate multiply and add where one instruction would do",
    explanation: "\
A fused multiply-add takes the slot and the pipe time of one instruction. The compiler fuses a * \
b + c by itself unless -fmad=false or __fmul_rn and __fadd_rn forbid it, or the code keeps the \
two apart. The rule follows each product through the SASS and counts multiplications whose \
results only additions use. Drop the flag or write fmaf(a, b, c). The fused form rounds once \
instead of twice, so results change in the last bit, mostly for the better.",
    examples: &[Example {
        fault: "\
float product = __fmul_rn(conductance, voltage[i]);
current[i] = __fadd_rn(product, offset);",
        repair: "\
current[i] = fmaf(conductance, voltage[i], offset);",
        note: "\
One instruction instead of two; it rounds once instead of twice, so that the last bit may \
differ. Where -fmad=false is the reason, dropping the flag does the same for the whole file.",
    }],
    section: "InstructionStats",
    thresholds: &[MATTERS_LIMIT],
    needs: &[ISSUE_BUSY],
    source_page: SourcePage::Needed,
    trials: &[Trial::FusedMultiplyAdd],
    said_by_ncu: &[
        SaidByNcu::with("FPInstructions", &["fp64"], Acts::Units(&[Term::Fp64, Term::Issue])),
        SaidByNcu::any("FPInstructions", Acts::Units(&[Term::Fma, Term::Issue])).unless(&["fp64"]),
    ],
    explains: &["math-pipe-throttle", "fixed-latency-stalls", "issue-slots-underused"],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let mut pairs = 0.0;
    for index in products(removal.listing) {
        removal.remove(index, 1.0);
        pairs += removal.listing.executed(index);
    }
    if pairs <= 0.0 {
        return None;
    }
    let effect = removal.effect(launch);
    if !matters(launch, &effect) {
        return None;
    }
    let locations = removal.locations(launch, "separate multiplications");
    let total = removal.mix.total;
    Some(Draft {
        message: format!(
            "{} of {} executed warp instructions ({}) are multiplications whose result is only added to \
             something.",
            count(pairs),
            count(total),
            percent(pairs / total),
        ),
        evidence: vec![
            Evidence::new("multiplications that an addition could take in", pairs, "inst"),
            Evidence::new("smsp__inst_executed.sum", total, "inst"),
        ],
        hint: format!(
            "Fuse the multiplication and the addition at {}: drop -fmad=false, or write fmaf(a, b, \
             c) instead of __fadd_rn(__fmul_rn(a, b), c). It rounds once instead of twice, so the \
             last bit of the results may change.",
            place(&locations, "the hottest spot"),
        ),
        locations,
        effect,
    })
}

/// Multiplications whose result only additions of the same kind use, each of which can take in one
/// product.
fn products(listing: Listing) -> Vec<usize> {
    let sass = listing.sass;
    let operation = |index: usize| sass.entries[index].operation;
    let is_addition = |entry: &ListedInstruction, each: &Use| {
        entry.operation == Some(Operation::Add) && each.role == Role::Data
    };
    let mut reaching = Reaching::new(sass);
    let mut products =
        Marks::of(sass.entries.len(), |index| operation(index) == Some(Operation::Multiply));
    if products.are_none() {
        return Vec::new();
    }
    // What no product is written to, no product is read from.
    let mut written = vec![false; Slot::COUNT];
    for slot in products.iter().flat_map(|product| sass.defs(product)) {
        written[slot.index()] = true;
    }
    let may_read = |each: &&Use| each.role != Role::Old && written[each.slot.index()];
    for (index, entry) in listing.entries() {
        for each in sass.uses(index).iter().filter(may_read) {
            for product in reaching.definitions(index, *each).map(|at| at as usize) {
                let of_kind = entry.term == sass.entries[product].term;
                if !(is_addition(entry, each) && of_kind) {
                    products.remove(product);
                }
            }
        }
    }
    if products.are_none() {
        return Vec::new();
    }
    // Each product with each addition that uses it: eight bytes a use, for an unrolled kernel has thousands.
    let mut users: Vec<(u32, u32)> = Vec::new();
    for (index, entry) in listing.entries() {
        for each in sass.uses(index).iter().filter(|each| is_addition(entry, each)) {
            let theirs = reaching.definitions(index, *each).filter(|at| products[*at as usize]);
            users.extend(theirs.map(|product| (product, index as u32)));
        }
    }
    drop(reaching);
    users.sort_unstable();
    users.shrink_to_fit();
    // How many additions a product has, and where they begin: products with few choose first.
    let mut candidates: Vec<(u32, u32)> = Vec::new();
    let mut start = 0;
    for additions in users.chunk_by(|a, b| a.0 == b.0) {
        candidates.push((additions.len() as u32, start));
        start += additions.len() as u32;
    }
    candidates.sort_unstable();
    let mut taken = Marks::new(sass.entries.len());
    let mut found = Vec::new();
    for (count, start) in candidates {
        let additions = &users[start as usize..(start + count) as usize];
        // A square's sum a * a + a * a names the product twice and still takes in one.
        if additions.iter().all(|&(_, addition)| !taken[addition as usize]) {
            for &(product, addition) in additions {
                taken.insert(addition as usize);
                if found.last() != Some(&(product as usize)) {
                    found.push(product as usize);
                }
            }
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, check, sass};
    use crate::term::Term;

    const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";

    #[test]
    fn products_that_only_an_addition_uses_count_from_a_twentieth_of_the_time() {
        let code = [
            ("FMUL R4, R0, R1", 10.0),
            ("FADD R2, R4, R2", 10.0),
            ("FFMA R6, R6, R6, R6", 80.0),
            ("STG.E desc[UR4][R20.64], R2", 10.0),
        ];
        // A tenth of the FMA instructions; half busy, that is a twentieth.
        let launch = sass(&[(ISSUE_BUSY, 20.0), (FMA, 50.0)], &code);
        let draft = assert_sides(&RULE, &launch, &[&[(FMA, 49.9)]]);
        assert!((draft.effect.share_of(Term::Fma) - 0.1).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::Issue) - 10.0 / 110.0).abs() < 1e-12);
        assert_eq!(draft.locations[0].line, 1);
    }

    #[test]
    fn products_that_are_needed_as_such_stay() {
        let busy = [(ISSUE_BUSY, 90.0), (FMA, 90.0)];
        let quiet = |code: &[&str]| {
            let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 10.0)).collect();
            assert_eq!(check(&RULE, &sass(&busy, &code)), None, "{code:?}");
        };
        quiet(&["FMUL R4, R0, R1", "FADD R2, R4, R2", "STG.E desc[UR4][R20.64], R4"]);
        quiet(&["FMUL R4, R0, R1", "FMUL R5, R4, R2", "STG.E desc[UR4][R20.64], R5"]);
        quiet(&["FMUL.RZ R4, R0, R1", "FADD R2, R4, R2"]);
        quiet(&["FMUL R4, R0, R1", "DADD R2, R4, R2"]);
    }

    #[test]
    fn an_addition_takes_in_one_product() {
        let code =
            [("FMUL R4, R0, R1", 10.0), ("FMUL R5, R2, R3", 10.0), ("FADD R6, R4, R5", 10.0)];
        let draft = check(&RULE, &sass(&[(ISSUE_BUSY, 90.0)], &code)).unwrap();
        assert!((draft.effect.share_of(Term::Issue) - 1.0 / 3.0).abs() < 1e-12);
    }
}
