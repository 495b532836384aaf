//! A table in the form of comparisons: a value is selected by holding an index against one constant after another.

use std::collections::BTreeSet;

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{
    CYCLES, ISSUE_BUSY, MATTERS_LIMIT, RATES, Removal, gains, locations,
};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::select_chains::select_chains;
use crate::term::Term;
use crate::text::{count, count_of, percent};

const EXECUTED: &str = "smsp__inst_executed.sum";

/// Selections of a chain, at least.
const LEAST: usize = 4;

/// The rule.
pub const RULE: Rule = Rule {
    name: "select-chain",
    kind: Kind::Cause,
    summary: "a value is looked up by a chain of comparisons and selections",
    explanation: "\
A small table that is written as one condition after another (v = code == 1 ? a : v; v = code == 2 ? b : v; …, or tl.where in \
Triton) becomes a comparison and a selection per entry, all of which every lane executes for every value, on the ALU pipe. \
The compiler makes the same of a small array of constants that is indexed at run time. \
(Conditions within one another may become branches instead: see thread-divergence.) The same table in shared memory is \
one load, whatever its length, and lanes that look up different entries share a wavefront as long as the entries lie in different \
banks, as up to 32 words do. Decoding of 4-bit floats and of quantized weights is often written so. The rule looks for selections \
between a constant and the result of the one before (guarded copies of constants among them), each by whether the same index equals a constant. The estimate takes the \
comparisons and selections away and puts an address and a load from shared memory in their place.",
    examples: &[Example {
        fault: "\
float v = -1.0f;
v = code == 1 ? -0.7f : v;                // 15 comparisons,
v = code == 2 ? -0.5f : v;                // 15 selections
…",
        repair: "\
__shared__ float level[16];               // filled once per block
if (threadIdx.x < 16) level[threadIdx.x] = levels[threadIdx.x];
__syncthreads();
float v = level[code];                    // one load",
        note: "\
Where the entries follow a formula, such as the bits of a small float, a shift and an addition to the exponent take even \
less. Constant memory does not serve: it answers one address of a warp at a time.",
    }],
    section: "InstructionStats",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold {
            what: "selections of a chain, at least",
            value: LEAST as f64,
            unit: "selection",
            source: "derivation: an address, a load and the wait for it take about as long as three comparisons with their \
                     selections",
        },
    ],
    needs: &[EXECUTED, ISSUE_BUSY],
    sharpened_by: &[RATES, CYCLES],
    source_page: SourcePage::Needed,
    explains: &["math-pipe-throttle", "fixed-latency-stalls", "issue-slots-underused"],
    in_triton: "\
load from a table (tl.load(table + code), 16 entries stay in L1), or build the value from its bits.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let mut chains = select_chains(&listing);
    chains.retain(|chain| chain.selects.len() >= LEAST);
    let longest = chains.iter().map(|chain| chain.selects.len()).max()?;
    let mut runs = 0.0;
    for chain in &chains {
        let executed = listing.executed(chain.selects[0]);
        runs += executed;
        chain.selects.iter().chain(&chain.compares).for_each(|&at| removal.remove(at, 1.0));
        removal.add(Term::Alu, executed);
        removal.add(Term::Lsu, executed);
    }
    let effect = removal.effect(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let selects: BTreeSet<usize> =
        chains.iter().flat_map(|chain| chain.selects.iter().copied()).collect();
    let weight = |at: usize| if selects.contains(&at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "selections");
    let executed = launch.need(EXECUTED);
    let going = removal.instructions();
    let at = place(&locations, "the selections");
    Some(Draft {
        message: format!(
            "{} warp-wide look-ups at {at} go through chains of up to {}, each with a comparison of the same index. Loads from a \
             table would save {} of the executed instructions.",
            count(runs),
            count_of(longest as f64, "selection"),
            percent(going / executed),
        ),
        evidence: vec![
            Evidence::new("executed instructions beyond a load", going, "inst"),
            Evidence::new(EXECUTED, executed, "inst"),
        ],
        hint: format!(
            "Put the constants at {at} into a table in shared memory and load the entry by the index; or build the value from \
             the index's bits where the entries follow a formula. Constant memory would answer one entry at a time."
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};

    fn of(selects: usize) -> Option<Draft> {
        let code =
            [[("ISETP.NE.AND P0, PT, R2, 0x1, PT", 100.0), ("FSEL R4, R4, -0.5, P0", 100.0)]; 4];
        let mut code: Vec<(&str, f64)> = code[..selects].concat();
        code.insert(0, ("LOP3.LUT R2, R1, 0xf, RZ, 0xc0, !PT", 100.0));
        code.push(("EXIT", 100.0));
        let metrics = [(EXECUTED, 100.0 * code.len() as f64), (ISSUE_BUSY, 60.0)];
        check(&RULE, &sass(&metrics, &code))
    }

    #[test]
    fn a_chain_is_named_from_four_selections_on() {
        let draft = of(4).unwrap();
        assert!(draft.message.contains("up to 4 selections"), "{}", draft.message);
        // Eight go and two come, of ten.
        let share = draft.effect.share_of(Term::Issue);
        assert!((share - 0.6).abs() < 1e-12, "{share}");
        assert!(of(3).is_none());
    }
}
