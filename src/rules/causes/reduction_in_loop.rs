//! Lanes that are combined in each turn of a loop, although only the total is used.

use crate::evidence::language::is_of_triton;
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::reductions;
use crate::term::Term;
use crate::text::{count, count_of, percent};

const EXECUTED: &str = "smsp__inst_executed.sum";

/// What a lane executes beside the exponential that rescales its own sums.
const BESIDE_EXPONENTIAL: Threshold = Threshold {
    what: "constant: multiply-adds beside an exponential that rescales a lane's own sums",
    value: 3.0,
    unit: "instruction",
    source: "definition: how much the maximum has grown, that in powers of two, and the product with the sum",
};

/// A barrier, or shuffles that all lanes must reach, keep a compiler from merging turns; without them it does.
const MERGED_TURNS: Threshold = Threshold {
    what: "constant: turns that a compiler merges once no lane waits for another in them",
    value: 4.0,
    unit: "turn",
    source: "vendor: nvcc's usual factor for a loop whose number of turns it doesn't know; Triton merges none",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "reduction-in-loop",
    kind: Kind::Cause,
    summary: "each iteration of a loop combines the values of all lanes, though only the total is used",
    explanation: "\
A sum or a maximum over the lanes of a warp takes five shuffles, each followed by arithmetic that waits for it, and over the \
warps of a block also shared memory and barriers. A loop that does this in each iteration, only to add the result to a total, \
can leave it for the end: each lane keeps a total of its own, and the lanes are combined once. The rule looks for loops in \
which all that follows from a shuffle ends up in such totals: nothing of it is stored, decides a branch, or is combined with the \
lanes' own values. A running maximum that only rescales sums of exponentials (an online softmax) counts: each lane can keep its own maximum and \
sums below that, at the price of more exponentials. The estimate takes the instructions \
away that combine lanes, with their waits and the barriers that only they need, in all iterations but one. Sums of floats are \
then rounded in another order.",
    examples: &[Example {
        fault: "\
for (int i = lane; i < n; i += 32) {
    float part = x[i] * y[i];
    for (int step = 16; step > 0; step /= 2)
        part += __shfl_xor_sync(~0u, part, step);
    total += part;
}",
        repair: "\
for (int i = lane; i < n; i += 32)
    total += x[i] * y[i];                 // a total per lane
for (int step = 16; step > 0; step /= 2)
    total += __shfl_xor_sync(~0u, total, step);",
        note: "\
For the place of a maximum, let each lane keep its largest value and that value's index; of equal values, the lane must keep \
the one that the loop would have kept.",
    }],
    section: "InstructionStats",
    thresholds: &[MATTERS_LIMIT, BESIDE_EXPONENTIAL, MERGED_TURNS],
    needs: &[EXECUTED, ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "short-scoreboard-stalls",
        "barrier-stalls",
        "fixed-latency-stalls",
        "mio-throttle",
        "issue-slots-underused",
    ],
    in_triton: "\
keep a block of partial results in the loop (acc += x, or tl.maximum(acc, x), and tl.where for an index), and call tl.sum, \
tl.max or tl.argmax once after it.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let loops = reductions::in_loops(&listing);
    for each in &loops {
        // One turn's work remains, behind the loop.
        let gone = 1.0 - 1.0 / each.turns;
        each.combining.iter().chain(&each.barriers).for_each(|&at| removal.remove(at, gone));
        removal.add(Term::Xu, each.rescalings);
        removal.add(Term::Fma, BESIDE_EXPONENTIAL.value * each.rescalings);
        if !each.barriers.is_empty() && !is_of_triton(launch.profile) {
            let early = 1.0 - 1.0 / MERGED_TURNS.value.min(each.turns.max(1.0));
            each.loads.iter().for_each(|&at| removal.remove_latency(at, early));
        }
    }
    let effect = removal.effect(launch);
    let main = loops.iter().max_by(|a, b| {
        let executed = |each: &reductions::CombiningLoop| -> f64 {
            each.combining.iter().map(|&at| listing.executed(at)).sum()
        };
        executed(a).total_cmp(&executed(b))
    })?;
    if !gains(launch, &effect) {
        return None;
    }
    // Trees over lanes stand in libraries; what adds to the total is the author's.
    let adds = |at: usize| loops.iter().any(|each| each.adding.contains(&at));
    let weight = |at: usize| if adds(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "what adds to the total");
    let combining = removal.instructions();
    let executed = launch.need(EXECUTED);
    let with_barriers = match main.barriers.len() {
        0 => String::new(),
        barriers => format!(" and {}", count_of(barriers as f64, "barrier")),
    };
    let at = place(&locations, "the total");
    let hint = if main.rescalings > 0.0 {
        format!(
            "Let each lane keep a maximum of its own at {at}, and its own sums below that maximum. After the loop, take the largest \
             maximum of all lanes, scale each lane's sums to it, and add them up."
        )
    } else {
        format!(
            "Let each lane keep a total of its own at {at} (for the place of a maximum, its value and index), and combine \
             the lanes once, after the loop."
        )
    };
    Some(Draft {
        message: format!(
            "Each of some {} iterations of the loop around {} combines the values of all lanes, with {}{with_barriers}, only \
             to add the result to a total: {} of the executed instructions.",
            count(main.turns.round()),
            at,
            count_of(main.exchanges.len() as f64, "shuffle"),
            percent(combining / executed),
        ),
        evidence: vec![
            Evidence::new("executed instructions that combine lanes in loops", combining, "inst"),
            Evidence::new(EXECUTED, executed, "inst"),
        ],
        hint,
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, sass};

    fn of(last: &'static str) -> Option<Draft> {
        let code = [
            ("MOV R6, RZ", 8.0),
            ("LDG.E R4, desc[UR4][R2.64]", 160.0),
            ("SHFL.BFLY PT, R5, R4, 0x1, 0x1f", 160.0),
            ("FADD R5, R4, R5", 160.0),
            ("SHFL.BFLY PT, R7, R5, 0x2, 0x1f", 160.0),
            ("FADD R7, R5, R7", 160.0),
            (last, 160.0),
            ("IADD3 R2, R2, 0x80, RZ", 160.0),
            ("ISETP.GE.AND P0, PT, R2, R9, PT", 160.0),
            ("@!P0 BRA 0x110", 160.0),
            ("STG.E desc[UR4][R10.64], R6", 8.0),
            ("EXIT", 8.0),
        ];
        let executed = code.iter().map(|(_, executed)| executed).sum();
        check(&RULE, &sass(&[(EXECUTED, executed), (ISSUE_BUSY, 60.0)], &code))
    }

    #[test]
    fn a_total_of_totals_is_named_and_a_result_of_each_turn_is_not() {
        let draft = of("FADD R6, R6, R7").unwrap();
        assert!(draft.message.contains("20 iterations"), "{}", draft.message);
        assert!(draft.message.contains("2 shuffles"), "{}", draft.message);
        // 4 of 9 instructions of a turn, in 19 of 20 turns.
        let share = draft.effect.share_of(crate::term::Term::Issue);
        assert!((share - 4.0 * 152.0 / (9.0 * 160.0 + 24.0)).abs() < 1e-9, "{share}");
        assert!(of("STG.E desc[UR4][R12.64], R7").is_none());
    }
}
