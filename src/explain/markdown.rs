//! Rules in Markdown: the help of SARIF, and the page `docs/rules.md`.

use super::layout::capital;
use crate::rules::{Example, Rule};

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

/// All rules as the page `docs/rules.md`.
#[cfg(test)]
mod page {
    use super::help;
    use crate::evidence::Threshold;
    use crate::explain::layout::{capital, lines};
    use crate::explain::numbers::{SHARED, value};
    use crate::rules::{Kind, RULES, Rule};

    /// All rules as the page `docs/rules.md`.
    fn page() -> String {
        let mut page = vec![
            "# Rules\n".to_owned(),
            "Each rule checks a launch for one fault. `adoprof explain RULE` shows the same, with the metrics \
             that the rule reads. This page is generated: `ADOPROF_BLESS=1 cargo test pages` writes it again."
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
        let tables = SHARED.map(|(title, thresholds)| {
            format!("\n### {}\n\n{}", capital(title), table(thresholds))
        });
        page.extend(tables);
        lines(page)
    }

    /// A rule's part of the page.
    fn entry(rule: &Rule) -> String {
        format!("\n### `{}`\n\n{}\n\n{}", rule.name, help(rule), table(rule.thresholds))
    }

    /// Thresholds with their sources, in Markdown.
    fn table(thresholds: &[Threshold]) -> String {
        let row = |threshold: &Threshold| {
            let cells = [threshold.what, &value(threshold), threshold.source];
            format!("| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
        };
        let rows: Vec<String> = thresholds.iter().map(row).collect();
        format!("| threshold | value | source |\n|---|---|---|\n{}", rows.join("\n"))
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
}
