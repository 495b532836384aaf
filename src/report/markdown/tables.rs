//! Markdown's tables, and text from outside made safe inside Markdown.

use crate::document::{Diff, Document, MetricChange, Program};
use crate::kernel_name;
use crate::report::markdown::push;
use crate::report::words::call_site::call_site;
use crate::report::words::diff::{arrow, title};
use crate::report::words::number::{bare, change, estimate, extent, extents, factor, metric};
use crate::report::words::run::gain;
use crate::report::words::steps::Row;
use crate::report::words::tried;
use crate::text::layout::fit;
use crate::text::{count, duration, percent, printable};

/// What code hosts turn into a mention, a reference or a link; a comment behind it, which nobody sees,
/// prevents that.
const COME_ALIVE: [&str; 6] = ["@", "#", "http:", "https:", "ftp:", "www."];

/// Longer names are cut: a template's full name would push the table off the page.
const LONGEST: usize = 80;

/// A code span: nothing in it is Markdown.
pub(super) fn code(text: &str) -> String {
    let text = fit(text.trim(), LONGEST).replace('`', "'");
    if text.is_empty() { text } else { format!("`{text}`") }
}

/// A code span in a table, where `|` would end the cell even so.
fn code_cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Plain text whose characters mean nothing to Markdown or HTML.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !escaped.is_empty() {
            escaped.push(' ');
        }
        for c in printable(word).chars() {
            if "\\`*_[]<>|".contains(c) {
                escaped.push('\\');
            }
            escaped.push(c);
            if COME_ALIVE.iter().any(|text| escaped.ends_with(text)) {
                escaped.push_str("<!-- -->");
            }
        }
    }
    escaped
}

/// A table; its cells are Markdown already.
pub(super) fn table(text: &mut String, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    push(text, &format!("| {} |\n", head.join(" | ")));
    push(text, &format!("|{}\n", " --- |".repeat(head.len())));
    for row in rows {
        push(text, &format!("| {} |\n", row.join(" | ")));
    }
    push(text, "\n");
}

/// One row per kind of launches of a surveyed program, as many as a reader takes in.
pub(super) fn group_table(text: &mut String, document: &Document, program: &Program) {
    const MOST_ROWS: usize = 20;
    if program.groups.is_empty() {
        return;
    }
    let rows = program.groups.iter().take(MOST_ROWS).map(|group| {
        let launch = group.launch.and_then(|at| document.launches.get(at));
        let first = launch.and_then(|launch| Some((launch, launch.findings.first()?)));
        let gain = first.and_then(|(launch, finding)| {
            Some(document.over_all_launches(launch, &finding.estimated_speedup?))
        });
        vec![
            code_cell(&kernel_name::short(&group.kernel, LONGEST)),
            format!("{} × {}", extent(group.grid), extent(group.block)),
            count(group.launches as f64),
            duration(group.total_ns),
            percent(group.share),
            first.map_or_else(String::new, |(_, finding)| escape(&finding.rule)),
            gain.map_or_else(String::new, |gain| estimate(&gain)),
        ]
    });
    let head =
        ["kernel", "grid × block", "launches", "total", "share", "first finding", "program gains"];
    table(text, &head, rows);
    if program.groups.len() > MOST_ROWS {
        let left = count((program.groups.len() - MOST_ROWS) as f64);
        push(text, &format!("{left} more are in the JSON.\n\n"));
    }
}

/// What lies around the kernels of a surveyed program.
pub(super) fn around(text: &mut String, program: &Program) {
    for finding in &program.findings {
        let gain = estimate(&finding.estimated_speedup);
        let (rank, rule) = (finding.rank, escape(&finding.rule));
        push(text, &format!("{rank}. **{rule}** {gain} for the program. "));
        let site =
            finding.sites.first().map(|site| format!(", called {}", escape(&call_site(site))));
        let message = format!("{}{}.", escape(&finding.message), site.unwrap_or_default());
        push(text, &format!("{message} {}.\n", escape(&finding.hint)));
    }
    if !program.findings.is_empty() {
        push(text, "\n");
    }
}

/// One row per launch.
pub(super) fn launch_table(text: &mut String, document: &Document) {
    let rows = document.launches.iter().map(|launch| {
        let first = launch.findings.first();
        vec![
            code_cell(&kernel_name::short(&launch.kernel, LONGEST)),
            extents(launch.grid, launch.block),
            launch.duration_ns.map(duration).unwrap_or_default(),
            percent(launch.time_share),
            launch.bound.word().to_owned(),
            first.map_or_else(String::new, |finding| {
                let gain = finding.estimated_speedup.map(|gain| format!(" {}", estimate(&gain)));
                format!("{}{}", escape(&finding.rule), gain.unwrap_or_default())
            }),
        ]
    });
    // A step's own time, measured without the profiler, stands above.
    let time = if document.step.is_some() { "time under ncu" } else { "time" };
    table(text, &["kernel", "grid × block", time, "share", "bound", "first finding"], rows);
}

/// One row per change that was tried, below what came of them.
pub(super) fn tried_table(text: &mut String, document: &Document) {
    let Some(sentence) = tried::sentence(&document.tried) else { return };
    push(text, &format!("\n#### Tried without new code\n\n{}\n\n", escape(&sentence)));
    let rows = document.tried.iter().map(|tried| {
        let [change, rule, time, gave, promised] = tried::cells(tried);
        vec![code_cell(&change), escape(&rule), time, gave, promised]
    });
    table(text, &tried::TITLES, rows);
    for failure in tried::failures(&document.tried) {
        push(text, &format!("- {}\n", escape(&failure)));
    }
}

/// One row per number behind a finding.
pub(super) fn evidence_table(text: &mut String, document: &Document) {
    let rows = document.launches.iter().flat_map(|launch| {
        launch.findings.iter().flat_map(|finding| {
            finding.evidence.iter().map(|item| {
                vec![
                    escape(&finding.rule),
                    code_cell(&item.metric),
                    escape(&metric(item.value, &item.unit)),
                ]
            })
        })
    });
    table(text, &["rule", "metric", "value"], rows);
}

/// One row per step.
pub(super) fn run_table(text: &mut String, rows: &[Row<'_>]) {
    let cells = rows.iter().map(|row| {
        let outcome = row.outcome.as_ref();
        vec![
            code_cell(&row.step.name),
            duration(row.step.time_ns.median),
            gain(row.over_previous),
            gain(row.over_first),
            row.bound.map_or_else(String::new, |bound| bound.word().to_owned()),
            row.finding.map(|finding| escape(&finding.rule)).unwrap_or_default(),
            row.estimate.map(|gain| factor(gain.factor)).unwrap_or_default(),
            gain(outcome.and_then(|outcome| outcome.gained)),
            outcome.and_then(|outcome| outcome.fault).map_or("", |fate| fate.word()).to_owned(),
        ]
    });
    let head = [
        "step",
        "time",
        "over previous",
        "over first",
        "bound",
        "first hint: remove",
        "estimate",
        "next step gained",
        "fault",
    ];
    table(text, &head, cells);
}

/// One row per metric.
pub(super) fn diff_table(text: &mut String, diff: &Diff, changes: &[&MetricChange]) {
    let several = changes.iter().any(|change| !change.kernel.is_empty());
    let rows = changes.iter().map(|item| {
        let kernel = several.then(|| code_cell(&item.kernel));
        let cells = [
            escape(title(item)),
            bare(item.base, &item.unit),
            bare(item.new, &item.unit),
            change(item.base, item.new),
            arrow(item),
        ];
        kernel.into_iter().chain(cells).collect()
    });
    let (base, new) = (escape(&diff.base), escape(&diff.new));
    let mut head = vec!["metric", base.as_str(), new.as_str(), "change", ""];
    if several {
        head.insert(0, "kernel");
    }
    table(text, &head, rows);
}
