//! One rule: what it checks, its thresholds, what it needs and explains.

use super::kind;
use super::layout::{WIDEST, capital, item, lines};
use super::numbers::{GIVEN, number};
use crate::evidence::Threshold;
use crate::outside;
use crate::rules::{self, Cure, Example, Kind, Rule, SourcePage};
use crate::text::layout::wrap;
use crate::user_rules::PREFIX;

/// One rule: what it checks, its thresholds with their source, what it needs and explains.
#[must_use]
pub(crate) fn one(rule: &Rule, width: usize) -> String {
    let width = width.min(WIDEST);
    let word = if rule.name.starts_with(PREFIX) { "yours" } else { kind(rule.kind) };
    let mut text = wrap(&format!("{} ({word})", rule.name), width);
    text.extend(wrap(rule.summary, width));
    text.push(String::new());
    text.extend(wrap(rule.explanation, width));
    text.extend(rule.examples.iter().flat_map(|one| example(one, width)));
    if !rule.in_triton.is_empty() {
        text.extend([String::new(), "the change in Triton".to_owned()]);
        text.extend(wrap(&capital(rule.in_triton), width));
    }
    let (given, limits): (Vec<&Threshold>, Vec<&Threshold>) =
        rule.thresholds.iter().partition(|threshold| threshold.what.starts_with(GIVEN));
    for (title, thresholds) in [("thresholds", limits), ("what the estimate assumes", given)] {
        if !thresholds.is_empty() {
            text.extend([String::new(), title.to_owned()]);
            text.extend(thresholds.into_iter().flat_map(|one| number(one, width)));
        }
    }
    if rule.kind != Kind::Roof && rule.promises {
        text.extend([String::new(), "how far its range reaches".to_owned()]);
        text.extend(wrap(&range(rule), width));
    }
    let mut needs: Vec<String> = rule.needs.iter().map(|&name| name.to_owned()).collect();
    if !matches!(rule.source_page, SourcePage::Optional) {
        needs.push(format!(
            "{}: the rule reads the instructions (an .ncu-rep has them; a CSV export has them in \
             its source page, if that was written with SASS)",
            rules::SASS_PAGE
        ));
    }
    let sharper = rule.sharpened_by.iter().flat_map(|reads| reads.metrics);
    let sharper = sharper.filter(|name| !rule.needs.contains(name));
    let mut sharper: Vec<String> = sharper.map(|&name| name.to_owned()).collect();
    sharper.sort();
    sharper.dedup();
    let explains: Vec<String> = rule.explains.iter().map(|&name| name.to_owned()).collect();
    for (title, items) in [
        ("what it needs", needs),
        ("what it also reads if collected", sharper),
        ("symptoms it explains", explains),
        (
            "what `adoprof step --try` tries",
            rule.trials.iter().map(|trial| trial.words()).collect(),
        ),
    ] {
        if !items.is_empty() {
            text.extend([String::new(), title.to_owned()]);
            text.extend(items.iter().flat_map(|name| item(name, width)));
        }
    }
    if let Some(why) = rule.unrecorded {
        text.push(String::new());
        text.extend(wrap(&format!("No recording has been made of this fault: {why}."), width));
    }
    if !rule.section.is_empty() {
        text.push(String::new());
        text.extend(wrap(
            &format!("where to look in Nsight Compute: section {}", rule.section),
            width,
        ));
    }
    lines(text)
}

/// Where the ends of a rule's ranges come from.
fn range(rule: &Rule) -> String {
    let own = match outside::judged_of(rule.name) {
        0 => "None of them was this rule's.".to_owned(),
        1 => "One of them was this rule's.".to_owned(),
        many => format!("{many} of them were this rule's."),
    };
    let of = "other people's programs";
    let [at_one, at_two, at_ten] = [1.0, 2.0, 10.0].map(outside::ratio);
    let from = format!(
        "Three in four findings that were judged at first sight of {of} gained within that ratio of what they promised: \
         {at_one:.2} where they promised little, {at_two:.2} at 2×, {at_ten:.2} at 10×. {own}"
    );
    if rule.cure == Cure::MoreWarps {
        format!(
            "From the estimate / ratio, or the model's lower bound if that is lower, to the model's \
             upper bound: more warps can hide all waiting, but no more. {from}"
        )
    } else {
        format!(
            "From the estimate / ratio to the estimate × ratio, and beyond where the model's bounds are wider. {from}"
        )
    }
}

/// An example: its code as it is, however wide, and what is to say of it.
fn example(example: &Example, width: usize) -> Vec<String> {
    let code = |code: &str| code.lines().map(|line| format!("    {line}")).collect::<Vec<_>>();
    let mut text = vec![String::new(), "the fault".to_owned()];
    text.extend(code(example.fault));
    text.extend([String::new(), "its repair".to_owned()]);
    text.extend(code(example.repair));
    if !example.note.is_empty() {
        text.push(String::new());
        text.extend(wrap(example.note, width));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::testing::flat;
    use crate::rules::RULES;

    #[test]
    fn an_explanation_has_all_that_the_record_has() {
        for rule in RULES {
            let all = flat(&one(rule, WIDEST));
            let sharper = rule.sharpened_by.iter().flat_map(|reads| reads.metrics);
            for name in rule.needs.iter().chain(sharper).chain(rule.explains) {
                assert!(all.contains(name), "{}: {name}", rule.name);
            }
            for threshold in rule.thresholds {
                let source = flat(threshold.source);
                assert!(all.contains(&source), "{}: {}", rule.name, threshold.what);
            }
        }
    }

    #[test]
    fn constants_stand_apart_from_limits() {
        let rule = rules::find("low-memory-parallelism").expect("a rule");
        let text = one(rule, WIDEST);
        let (limits, given) = text.split_once("what the estimate assumes").expect("both parts");
        assert!(limits.contains("thresholds") && !limits.contains("8 loads"), "{text}");
        assert!(given.contains("8 loads") && !given.contains(GIVEN), "{text}");
    }

    #[test]
    fn rules_that_read_instructions_say_so() {
        let says =
            |name: &str| one(rules::find(name).expect("a rule"), WIDEST).contains(rules::SASS_PAGE);
        assert!(says("unexpected-fp64") && says("narrow-global-access"));
        assert!(!says("grid-too-small") && !says("lg-throttle"));
    }
}
