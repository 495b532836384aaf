//! The rules, explained from their own records.

use crate::around;
use crate::evidence::{Threshold, slow_routines};
use crate::outside::{self, Spread};
use crate::rules::{self, Cure, Example, Kind, RULES, Rule, SourcePage};
use crate::text::layout::wrap;
use crate::text::percent;
use crate::{diagnose, model, sass};

/// Columns that explanations take at most: they are read like a manual page.
const WIDEST: usize = 80;

/// How a rule's record marks a number that is no limit: a constant that its estimate builds on.
const GIVEN: &str = "given: ";

/// What [`numbers`] are asked for by.
pub(crate) const NUMBERS: &str = "numbers";

/// The numbers that decide and belong to no rule, by what they decide.
const SHARED: [(&str, &[Threshold]); 5] = [
    ("the order of the findings", diagnose::thresholds::THRESHOLDS),
    ("the time model", model::thresholds::THRESHOLDS),
    ("how far ranges reach", outside::thresholds::THRESHOLDS),
    ("how machine code is read", sass::thresholds::THRESHOLDS),
    ("how library routines are found", slow_routines::THRESHOLDS),
];

/// The numbers that decide and belong to no rule, each with its source.
#[must_use]
pub(crate) fn numbers(width: usize) -> String {
    let width = width.min(WIDEST);
    let mut text = wrap(
        "Thresholds and constants that belong to no single rule. `adoprof explain RULE` shows a rule's own; a \
         device's stand in its file.",
        width,
    );
    for (title, thresholds) in SHARED {
        text.extend([String::new(), title.to_owned()]);
        text.extend(thresholds.iter().flat_map(|one| number(one, width)));
    }
    lines(text)
}

/// A table of all rules: name, kind, the fault. What does not fit into the width goes on below.
#[must_use]
pub(crate) fn list(width: usize) -> String {
    let added = rules::added().iter().map(|(rule, _)| *rule);
    let names =
        RULES.iter().copied().chain(added).map(|rule| rule.name.len()).max().unwrap_or(0) + 2;
    let lead = names + "symptom".len() + 2;
    // Beside the names where half a line is left for the faults, below them otherwise.
    let is_beside = lead + lead / 2 <= width;
    let hang = if is_beside { lead } else { 4 };
    let mut text = Vec::new();
    let mut row = |name: &str, kind: &str, fault: &str| {
        let below = if is_beside { fault.to_owned() } else { format!("{kind}: {fault}") };
        let mut below = wrap(&below, width.saturating_sub(hang)).into_iter();
        if is_beside {
            let first = below.next().unwrap_or_default();
            text.push(format!("{name:names$}{kind:9}{first}"));
        } else {
            text.push(name.to_owned());
        }
        text.extend(below.map(|line| format!("{:hang$}{line}", "")));
    };
    row("rule", "kind", "the fault");
    for rule in RULES {
        row(rule.name, kind(rule.kind), rule.summary);
    }
    for rule in around::RULES {
        row(rule.name, "program", rule.summary);
    }
    for (rule, _) in rules::added() {
        row(rule.name, "yours", rule.summary);
    }
    text.push(String::new());
    text.extend(wrap(
        "`adoprof explain RULE` explains one; `adoprof explain numbers` lists the thresholds that belong to \
         no single rule.",
        width.min(WIDEST),
    ));
    lines(text)
}

/// A rule about programs: what it checks, and what to change.
#[must_use]
pub(crate) fn around(name: &str, width: usize) -> Option<String> {
    let rule = around::find(name)?;
    let width = width.min(WIDEST);
    let mut text = wrap(&format!("{} (of a program, from its survey)", rule.name), width);
    text.extend(wrap(rule.summary, width));
    for paragraph in [rule.checks.to_owned(), format!("{}.", rule.hint)] {
        text.push(String::new());
        text.extend(wrap(&paragraph, width));
    }
    Some(lines(text))
}

/// One rule: what it checks, its thresholds with their source, what it needs and explains.
#[must_use]
pub(crate) fn one(rule: &Rule, width: usize) -> String {
    let width = width.min(WIDEST);
    let mut text = wrap(&format!("{} ({})", rule.name, kind(rule.kind)), width);
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
    if matches!(rule.source_page, SourcePage::Needed | SourcePage::NeededWithout(_)) {
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
    let Spread { ratio, changes } = outside::spread(rule.name);
    let own = match changes {
        0 => "None of them was made for this rule.".to_owned(),
        1 => "One of them was made for this rule.".to_owned(),
        many => format!("{many} of them were made for this rule."),
    };
    let from = format!(
        "Two in three changes to other people's programs gained within a factor of {ratio:.2} of the \
         estimate. {own}"
    );
    if rule.cure == Cure::MoreWarps {
        format!(
            "From the estimate / {ratio:.2}, or the model's lower bound if that is lower, to the model's \
             upper bound: more warps can hide all waiting, but no more. {from}"
        )
    } else {
        format!(
            "From the estimate / {ratio:.2} to the estimate × {ratio:.2}, and beyond where the model's \
             bounds are wider. {from}"
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

/// A number with what it is of, and below it where it comes from.
fn number(threshold: &Threshold, width: usize) -> Vec<String> {
    let what = threshold.what.strip_prefix(GIVEN).unwrap_or(threshold.what);
    let mut lines = item(&format!("{what}: {}", value(threshold)), width);
    let source = wrap(threshold.source, width.saturating_sub(6));
    lines.extend(source.iter().map(|line| format!("      {line}")));
    lines
}

/// The value with its unit, in the plural where it is one that is counted and there are several.
fn value(threshold: &Threshold) -> String {
    let value = threshold.value;
    match threshold.unit {
        "" => format!("{value}"),
        "%" => format!("{value}%"),
        "share" => percent(value),
        // Symbols, rates and what is a plural already stay as they are.
        unit @ ("ns" | "block/SM" | "percentage points") => format!("{value} {unit}"),
        unit if (value - 1.0).abs() < f64::EPSILON => format!("{value} {unit}"),
        unit => format!("{value} {unit}s"),
    }
}

/// All rules as the page `docs/rules.md`, which a test writes.
#[cfg(test)]
fn page() -> String {
    let mut page = vec![
        "# Rules\n".to_owned(),
        "Each rule checks a launch for one fault. `adoprof explain RULE` shows the same, with the metrics \
         that the rule reads. This page is generated: `ADOPROF_BLESS=1 cargo test pages` writes it anew."
            .to_owned(),
    ];
    for (title, kind, about) in [
        ("Causes", Kind::Cause, "Faults that can be removed."),
        (
            "Symptoms",
            Kind::Symptom,
            "What a fault shows up as. A symptom is listed under the cause that explains it, and on its \
             own where no cause does.",
        ),
        (
            "Roofs",
            Kind::Roof,
            "The kernel works at a limit of the hardware, and no fault inflates its work there.",
        ),
    ] {
        page.push(format!("\n## {title}\n\n{about}"));
        page.extend(RULES.iter().filter(|rule| rule.kind == kind).map(|rule| entry(rule)));
    }
    page.push(
        "\n## Numbers of no single rule\n\nThresholds and constants that belong to no single rule; a device's \
         stand in its file (`devices/`). `adoprof explain numbers` prints the same."
            .to_owned(),
    );
    let tables = SHARED
        .map(|(title, thresholds)| format!("\n### {}\n\n{}", capital(title), table(thresholds)));
    page.extend(tables);
    lines(page)
}

/// A rule's part of the page.
#[cfg(test)]
fn entry(rule: &Rule) -> String {
    format!("\n### `{}`\n\n{}\n\n{}", rule.name, help(rule), table(rule.thresholds))
}

/// Thresholds with their sources, in Markdown.
#[cfg(test)]
fn table(thresholds: &[Threshold]) -> String {
    let row = |threshold: &Threshold| {
        let cells = [threshold.what, &value(threshold), threshold.source];
        format!("| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
    };
    let rows: Vec<String> = thresholds.iter().map(row).collect();
    format!("| threshold | value | source |\n|---|---|---|\n{}", rows.join("\n"))
}

/// What a rule checks and an example, in Markdown.
#[must_use]
pub(crate) fn help(rule: &Rule) -> String {
    let mut parts = vec![format!("{}.", capital(rule.summary)), rule.explanation.to_owned()];
    for Example { fault, repair, note } in rule.examples {
        parts.push(format!("The fault:\n\n```cuda\n{fault}\n```"));
        parts.push(format!("Its repair:\n\n```cuda\n{repair}\n```"));
        parts.push((*note).to_owned());
    }
    if !rule.in_triton.is_empty() {
        parts.push(format!("In Triton: {}", rule.in_triton));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// The text with its first letter large.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The name of the rule that was probably meant.
#[must_use]
pub(crate) fn suggestion(name: &str) -> Option<&'static str> {
    let added = rules::added().iter().map(|(rule, _)| rule.name);
    crate::text::nearest(name, RULES.iter().map(|rule| rule.name).chain(added))
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Cause => "cause",
        Kind::Symptom => "symptom",
        Kind::Roof => "roof",
    }
}

fn item(text: &str, width: usize) -> Vec<String> {
    let mut lead = "  - ";
    wrap(text, width.saturating_sub(4))
        .into_iter()
        .map(|line| format!("{}{line}", std::mem::replace(&mut lead, "    ")))
        .collect()
}

fn lines(lines: Vec<String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_stands_in_the_list() {
        let list = list(usize::MAX);
        let of_programs = around::RULES.iter().map(|rule| (rule.name, rule.summary));
        let all: Vec<(&str, &str)> =
            RULES.iter().map(|rule| (rule.name, rule.summary)).chain(of_programs).collect();
        // The titles before them; an empty line and what to type next after them.
        assert_eq!(list.lines().count(), all.len() + 4);
        for (name, fault) in all {
            let line = list.lines().find(|line| line.split(' ').next() == Some(name));
            assert!(line.is_some_and(|line| line.contains(fault)), "{name}");
        }
        let one = super::around("small-copies", 80).unwrap_or_default();
        assert!(one.starts_with("small-copies (of a program"), "{one}");
        assert_eq!(super::around("partial-wave", 80), None);
    }

    #[test]
    fn nothing_is_wider_than_asked_for_and_nothing_is_lost() {
        for width in [40, 60, 72, 100, 120] {
            let list = list(width);
            assert!(list.lines().all(|line| line.chars().count() <= width), "{width}:\n{list}");
            let flat = flat(&list);
            assert!(RULES.iter().all(|rule| flat.contains(rule.summary)), "{width}:\n{list}");
            for rule in RULES {
                let text = one(rule, width);
                let most = width.min(WIDEST);
                // Code stays as it is written.
                let examples = rule.examples.iter();
                let code: Vec<&str> = examples
                    .flat_map(|example| example.fault.lines().chain(example.repair.lines()))
                    .collect();
                let fits = |line: &str| {
                    let is_code =
                        line.strip_prefix("    ").is_some_and(|line| code.contains(&line));
                    is_code || line.chars().count() <= most
                };
                assert!(text.lines().all(fits), "{width}: {text}");
            }
        }
    }

    /// The text with every gap a single space.
    fn flat(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn of_the_pages_the_one_on_rules_is_made_of_them() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md");
        let page = page();
        if std::env::var_os("ADOPROF_BLESS").is_some() {
            std::fs::write(&path, &page).unwrap();
        }
        let old = std::fs::read_to_string(&path).unwrap();
        assert_eq!(old, page, "docs/rules.md is stale; run `ADOPROF_BLESS=1 cargo test pages`");
    }

    #[test]
    fn an_explanation_has_all_that_the_record_has() {
        for rule in RULES {
            let flat = flat(&one(rule, WIDEST));
            let sharper = rule.sharpened_by.iter().flat_map(|reads| reads.metrics);
            for name in rule.needs.iter().chain(sharper).chain(rule.explains) {
                assert!(flat.contains(name), "{}: {name}", rule.name);
            }
            for threshold in rule.thresholds {
                let source = self::flat(threshold.source);
                assert!(flat.contains(&source), "{}: {}", rule.name, threshold.what);
            }
        }
    }

    #[test]
    fn every_number_of_no_rule_has_a_source_and_is_shown() {
        for width in [50, WIDEST] {
            let text = numbers(width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            let flat = flat(&text);
            for threshold in SHARED.iter().flat_map(|(_, thresholds)| *thresholds) {
                assert!(threshold.source.len() > 15, "{}", threshold.what);
                assert!(flat.contains(&self::flat(threshold.source)), "{}", threshold.what);
            }
        }
    }

    #[test]
    fn units_follow_their_value() {
        let threshold =
            |value, unit| super::value(&Threshold { what: "", value, unit, source: "a source" });
        assert_eq!(threshold(32.0, "thread"), "32 threads");
        assert_eq!(threshold(1.0, "wave"), "1 wave");
        assert_eq!(threshold(1.25, "%"), "1.25%");
        assert_eq!(threshold(1728.0, "ns"), "1728 ns");
        assert_eq!(threshold(1.05, ""), "1.05");
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

    #[test]
    fn a_misspelt_rule_is_guessed() {
        assert_eq!(suggestion("uncoalesced-global-acess"), Some("uncoalesced-global-access"));
        assert_eq!(suggestion("zzz"), None);
    }
}
