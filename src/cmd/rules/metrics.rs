//! `adoprof rules metrics`: every figure that a rule can name.

use crate::cli::FactOutput;
use crate::cmd::shared::facts::show;
use crate::cmd::shared::open;
use crate::cmd::shared::printer::Printer;
use crate::document::{FigureRow, RulesMetricsDocument, SCHEMA, Version};
use crate::error::{Error, ExitCode, Result};
use crate::evidence::ModeledLaunch;
use crate::frame::Launch;
use crate::model::Model;
use crate::text::layout::pad;
use crate::text::{printable, significant};
use crate::user_rules::{FIGURES, Figure, Origin};

/// Functions, for the end of the list: how they are written, and what they give.
const FUNCTIONS: [(&str, &str); 9] = [
    (
        "sass(\"LDG.E.128\")",
        "executed warp instructions of an opcode and whatever modifiers follow; * is any characters",
    ),
    ("sass_share(\"LDG\")", "their share of all executed ones, 0 to 1"),
    ("sass_listed(\"LDG\")", "how many of them the code has, executed or not"),
    ("has(FIGURE)", "true if the profile has the figure; the rule then works without it"),
    ("default(FIGURE, x)", "the figure, or x if the profile lacks it"),
    ("if(CONDITION, x, y)", "x where the condition holds, else y"),
    ("min(x, y, …), max(x, y, …)", "the least, the most"),
    ("abs(x), floor(x), ceil(x)", "without its sign, rounded down, rounded up"),
    ("sqrt(x), log2(x)", "square root, logarithm to base 2"),
];

pub(super) fn run(
    filter: Option<&str>,
    of: Option<(&str, &str)>,
    result: FactOutput,
    printer: &Printer,
) -> Result<ExitCode> {
    let launch = of.map(|(name, ladder)| longest(name, ladder)).transpose()?;
    let model = launch.as_ref().map(Model::new);
    let case = launch.as_ref().zip(model.as_ref());
    let case = case.map(|(profile, model)| ModeledLaunch { profile, model });
    let wanted = filter.map(str::to_lowercase);
    let is_wanted = |figure: &&Figure| {
        let has =
            |text: &str| wanted.as_ref().is_none_or(|wanted| text.to_lowercase().contains(wanted));
        has(&figure.name) || has(&figure.title)
    };
    let rows = FIGURES.iter().filter(is_wanted).map(|figure| FigureRow {
        name: &figure.name,
        unit: figure.unit,
        title: &figure.title,
        group: group(figure),
        value: case.as_ref().and_then(|case| figure.of(case)).filter(|value| value.is_finite()),
    });
    let listed = RulesMetricsDocument {
        schema: SCHEMA,
        adoprof: Version::default(),
        kernel: launch.as_ref().map(|launch| launch.row.kernel.clone()),
        figures: rows.collect(),
    };
    if let Some(filter) = filter.filter(|_| listed.figures.is_empty()) {
        return Err(Error::Usage(format!(
            "no figure has `{}` in its name or description; without a word, `adoprof rules metrics` lists all",
            printable(filter)
        )));
    }
    show(result, printer, || text(&listed, filter.is_none()), &listed)?;
    Ok(ExitCode::Success)
}

fn longest(name: &str, ladder: &str) -> Result<Launch> {
    let profile = open::one(name, ladder, None)?;
    let ns = |launch: &Launch| launch.duration_ns().unwrap_or_default();
    let longest = Launch::all(&profile.frames)?.into_iter().max_by(|a, b| ns(a).total_cmp(&ns(b)));
    longest.ok_or_else(|| Error::Usage(format!("the profile {name} holds no launch")))
}

/// What kind of figure it is.
fn group(figure: &Figure) -> &'static str {
    match figure.origin {
        Origin::Metric(_) => "metrics of ncu",
        Origin::Stall(_) => "stalls: cycles that a warp waits so per issued instruction",
        Origin::StallShare(_) => "stalls: shares of all stall cycles",
        Origin::Busy(_) => "how busy each unit is: its share of the time at its achievable rate",
        Origin::Model(_) => "the rest of the time",
        Origin::Sass(_) => "executed warp instructions by kind",
        Origin::Shape(_) => "the launch",
    }
}

fn text(listed: &RulesMetricsDocument, with_functions: bool) -> String {
    let mut lines = Vec::new();
    let mut group = "";
    let mut widest = 0;
    for row in &listed.figures {
        if row.group != group {
            group = row.group;
            let its = listed.figures.iter().filter(|other| other.group == group);
            widest = its.map(|row| row.name.len()).max().unwrap_or_default();
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.push(group.to_owned());
        }
        let value = match (&listed.kernel, row.value) {
            (None, _) => String::new(),
            (Some(_), Some(value)) => format!("{}  ", pad(&significant(value, 4), 14)),
            (Some(_), None) => format!("{}  ", pad("not collected", 14)),
        };
        lines.push(format!(
            "  {}  {}  {value}{}",
            pad(row.name, widest),
            pad(row.unit, 12),
            row.title
        ));
    }
    if with_functions {
        lines.extend([String::new(), "functions".to_owned()]);
        lines.extend(FUNCTIONS.map(|(how, what)| format!("  {}  {what}", pad(how, 27))));
    }
    lines.join("\n")
}
