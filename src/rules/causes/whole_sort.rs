//! A whole row is sorted, of which the first few values are kept.

use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{ISSUE_BUSY, MATTERS_LIMIT, Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::sorts::{MOST_KEPT, sort_of_lanes};
use crate::text::{count, percent};

const EXECUTED: &str = "smsp__inst_executed.sum";

/// The rule.
pub const RULE: Rule = Rule {
    name: "whole-sort",
    kind: Kind::Cause,
    summary: "a whole row is sorted for its first few values",
    explanation: "\
A sorting network compares each of N values log2 N (log2 N + 1) / 2 times: 28 times in a row of 128. Where only the first k are \
wanted, runs need to grow to k values alone; from there on, the better half of two runs is put in order and the other half dropped, so that \
each doubling works on half as many values: 7 comparisons per value for the first 4 of 128. For two or three, as many maxima are cheaper still, each \
with its winner taken out before the next. Routers that choose experts, sampling, and nearest neighbours are often written with a whole \
sort. The rule looks for exchanges between lanes that go over each distance once more than over the next larger one, as sorting networks do \
and trees do not, and for stores of fewer bytes than were sorted. The estimate keeps as many comparisons as \
runs of the stored length need; all values of a thread count as of one row.",
    examples: &[Example {
        fault: "\
p = tl.sort(logits, 1, descending=True)   # 128 per row: 28 stages
tl.store(out + columns, p, mask=columns < 4)",
        repair: "\
for j in tl.static_range(4):              # four maxima
    best = tl.max(logits, 1)
    top = tl.where(slots == j, best[:, None], top)
    logits = tl.where(logits == best[:, None], -float('inf'), logits)",
        note: "\
Values that are equal leave together: pack each with its index, so that no two are. tl.topk drops halves as described above.",
    }],
    section: "InstructionStats",
    thresholds: &[
        MATTERS_LIMIT,
        Threshold {
            what: "bytes that are stored in all, of those that are sorted, at most",
            value: MOST_KEPT,
            unit: "share",
            source: "derivation: values and their places, of a quarter; where most is wanted, all must be sorted",
        },
    ],
    needs: &[EXECUTED, ISSUE_BUSY],
    source_page: SourcePage::Needed,
    explains: &[
        "math-pipe-throttle",
        "fixed-latency-stalls",
        "short-scoreboard-stalls",
        "mio-throttle",
        "issue-slots-underused",
    ],
    in_triton: "\
use tl.topk in place of tl.sort, or as many maxima as are wanted (tl.max), each with its winner taken out by tl.where before the next.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let sort = sort_of_lanes(&listing)?;
    let gone = 1.0 - sort.comparisons_for_kept() / sort.comparisons();
    sort.steps.iter().for_each(|&at| removal.remove(at, gone));
    let effect = removal.effect(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let weight = |at: usize| {
        if sort.loads.binary_search(&at).is_ok() { listing.executed(at) } else { 0.0 }
    };
    // Networks stand in libraries; the loads are the author's.
    let locations = locations(launch, listing, weight, "loads of what is sorted");
    let executed = launch.need(EXECUTED);
    let steps: f64 = sort.steps.iter().map(|&at| listing.executed(at)).sum();
    let at = place(&locations, "the row's load");
    Some(Draft {
        message: format!(
            "Lanes sort all that they have loaded at {at} but store only {} of it. The sort takes {} of the executed instructions.",
            percent(sort.kept),
            percent(steps / executed),
        ),
        evidence: vec![
            Evidence::new("executed instructions of the sort", steps, "inst"),
            Evidence::new("stored of what is sorted", 100.0 * sort.kept, "%"),
        ],
        hint: format!(
            "Select from what is loaded at {at} instead of sorting it: for two or three values, take as many maxima, each with its winner removed before the next; \
             for more, sort short runs of as many values as are wanted and go on with the better half of each pair of runs, {} comparisons \
             per value in place of {}.",
            count(sort.comparisons_for_kept().round()),
            count(sort.comparisons()),
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

    fn of(distances: &[&str], stored_by: f64) -> Option<Draft> {
        let mut code = vec![("LDG.E R4, desc[UR4][R2.64]".to_owned(), 100.0)];
        for far in distances {
            code.push((format!("SHFL.BFLY PT, R5, R4, {far}, 0x1f"), 100.0));
            code.push(("ISETP.GT.XOR P0, PT, R4, R5, P1".to_owned(), 100.0));
            code.push(("SEL R4, R5, R4, P0".to_owned(), 100.0));
        }
        code.push(("STG.E desc[UR4][R6.64], R4".to_owned(), 100.0));
        code.push(("EXIT".to_owned(), 100.0));
        let code: Vec<(&str, f64)> = code.iter().map(|(text, n)| (text.as_str(), *n)).collect();
        let metrics = [(EXECUTED, 100.0 * code.len() as f64), (ISSUE_BUSY, 80.0)];
        let mut launch = sass(&metrics, &code);
        launch.instructions[0].counters.thread_inst_executed_pred_on = 3200.0;
        let store = code.len() - 2;
        launch.instructions[store].counters.thread_inst_executed_pred_on = 100.0 * stored_by;
        check(&RULE, &launch)
    }

    const NETWORK: [&str; 15] = [
        "0x1", "0x2", "0x1", "0x4", "0x2", "0x1", "0x8", "0x4", "0x2", "0x1", "0x10", "0x8", "0x4",
        "0x2", "0x1",
    ];

    #[test]
    fn a_sort_of_which_a_quarter_is_stored_is_named() {
        let draft = of(&NETWORK, 8.0).unwrap();
        assert!(draft.message.contains("store only 25% of it"), "{}", draft.message);
        assert!(draft.hint.contains("11 comparisons per value in place of 15"), "{}", draft.hint);
        // 43 of 48 instructions lead from lane to lane, of which 4 in 15 go.
        let share = draft.effect.share_of(Term::Issue);
        assert!((share - 43.0 / 48.0 * 4.0 / 15.0).abs() < 1e-12, "{share}");
        assert!(of(&NETWORK, 32.0).is_none(), "all of it is stored");
        assert!(of(&["0x10", "0x8", "0x4", "0x2", "0x1"], 1.0).is_none(), "a tree");
    }
}
