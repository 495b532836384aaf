//! The details page: `ncu --import REPORT --page details --csv`, one row a metric or rule result.
//!
//! A live `ncu --metrics … --csv` prints the same long form with metric names instead of labels.
//! Rows are of unequal length: metric rows stop before the rule columns. Metric rows carry the
//! section's display name, rule rows its identifier, both in one column.

mod label;

use std::path::Path;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use crate::error::{Error, Result};
use crate::export::csv::number;
use crate::export::csv::number::Style;
use crate::export::csv::page;
use crate::export::csv::page::{Launches, PageKind, Row, Table};
use crate::export::csv::raw;
use crate::export::{
    Export, LaunchRow, MetricRow, NcuRuleKind, NcuRuleRow, SharedTexts, section, unit,
};

/// Where the columns are that this reader uses.
struct Columns {
    id: Option<usize>,
    process: Option<usize>,
    kernel: Option<usize>,
    block: Option<usize>,
    grid: Option<usize>,
    capability: Option<usize>,
    section: Option<usize>,
    body_item: Option<usize>,
    metric: Option<usize>,
    unit: Option<usize>,
    value: Option<usize>,
    rule: Option<usize>,
    rule_type: Option<usize>,
    description: Option<usize>,
    estimate_type: Option<usize>,
    estimate: Option<usize>,
}

impl Columns {
    fn new(table: &Table) -> Self {
        Self {
            id: table.column("ID"),
            process: table.column("Process ID"),
            kernel: table.column("Kernel Name"),
            block: table.column("Block Size"),
            grid: table.column("Grid Size"),
            capability: table.column("CC"),
            section: table.column("Section Name"),
            body_item: table.column("Body Item Label"),
            metric: table.column("Metric Name"),
            unit: table.column("Metric Unit"),
            value: table.column("Metric Value"),
            rule: table.column("Rule Name"),
            rule_type: table.column("Rule Type"),
            description: table.column("Rule Description"),
            estimate_type: table.column("Estimated Speedup Type"),
            estimate: table.column("Estimated Speedup"),
        }
    }
}

/// Reads a details page, the long form of a live `ncu --metrics`, or what ncu prints for people. `name` is the
/// file, for messages.
///
/// A label becomes the metric's name where the catalogue or ncu's own pattern of labels tells it;
/// other metrics keep their label as name, behind their table's title in `--print-details all`.
/// A metric that a page shows twice is kept once.
///
/// # Errors
/// Where the text holds no details page, no launch, or numbers whose style can't be told.
pub fn read(text: &str, name: &Path) -> Result<Export> {
    let is_printed = page::sniff(text) == Some(PageKind::Printed);
    let (tables, notices) = if is_printed {
        let (table, notices) = page::printed(text, name);
        (vec![table], notices)
    } else {
        page::tables(text, name, PageKind::Details)?
    };
    let mut export = Export { notices, ..Export::default() };
    let mut launches = Launches::default();
    for (number, table) in tables.iter().enumerate() {
        read_table((number, table), name, &mut launches, &mut export)?;
    }
    if launches.is_empty() && is_printed {
        return Err(Error::input(
            name,
            "the printed page names a launch but has no table of its metrics; copy all that ncu printed",
        ));
    }
    if launches.is_empty() {
        return Err(page::no_launch(text, name));
    }
    let mut by_launch: HashMap<u32, Vec<MetricRow>> = HashMap::new();
    for row in export.metrics.iter().filter(|row| row.metric.starts_with("launch__")) {
        by_launch.entry(row.launch).or_default().push(row.clone());
    }
    for (at, metrics) in by_launch {
        if let Some(launch) = launches.get_mut(at) {
            raw::describe(launch, &metrics);
        }
    }
    launches.finish(&mut export);
    Ok(export)
}

fn read_table(
    (number, table): (usize, &Table),
    name: &Path,
    launches: &mut Launches,
    export: &mut Export,
) -> Result<()> {
    let columns = Columns::new(table);
    let values = table.rows.iter().filter_map(|row| row.get(columns.value));
    let style = Style::of(values).map_err(|ambiguous| Error::input(name, ambiguous.to_string()))?;
    let mut seen: HashSet<(u32, Arc<str>, Arc<str>)> = HashSet::new();
    let mut repeats = Repeats::new();
    let mut texts = SharedTexts::default();
    for row in &table.rows {
        let (Some(id), Some(kernel)) = (row.get(columns.id), row.get(columns.kernel)) else {
            continue;
        };
        if row.cut || row.get(columns.value).is_none() {
            export.notices.push(format!(
                "{}: line {} is cut short and was skipped",
                name.display(),
                row.line
            ));
            continue;
        }
        let process = row.get(columns.process).unwrap_or_default();
        let Ok(number_of_launch) = id.parse() else { continue };
        let (at, _) = launches.find((number, process, id), || LaunchRow {
            id: number_of_launch,
            kernel: kernel.to_owned(),
            grid: row.get(columns.grid).and_then(page::dimensions).unwrap_or_default(),
            block: row.get(columns.block).and_then(page::dimensions).unwrap_or_default(),
            device: None,
            compute_capability: row.get(columns.capability).and_then(page::compute_capability),
        });
        if row.get(columns.rule).is_some_and(|rule| !rule.is_empty()) {
            export.rules.push(rule(at, row, &columns));
            continue;
        }
        let Some(metric) = metric(at, row, &columns, style, (&mut repeats, &mut texts)) else {
            continue;
        };
        if seen.insert((at, metric.section.clone(), metric.metric.clone())) {
            export.metrics.push(metric);
        }
    }
    Ok(())
}

/// How often a launch has had a label of a table so far.
type Repeats = HashMap<(u32, String), usize>;

/// The metric of a row; `None` where the row names none.
fn metric(
    launch: u32,
    row: &Row,
    columns: &Columns,
    style: Style,
    (repeats, texts): (&mut Repeats, &mut SharedTexts),
) -> Option<MetricRow> {
    let section = section::identifier(row.get(columns.section)?);
    let label = row.get(columns.metric).filter(|label| !label.is_empty())?;
    let item = row.get(columns.body_item).unwrap_or_default();
    // The same label four times in one table is average, maximum, minimum and sum.
    let repeat = repeats.entry((launch, format!("{section}\n{item}\n{label}"))).or_insert(0);
    let metric = label::metric(section, item, label, *repeat);
    *repeat += 1;
    let cell = row.get(columns.value)?;
    let (unit, factor) = unit::base(row.get(columns.unit).unwrap_or_default());
    let value = style.parse(cell).map(|value| value * factor);
    Some(MetricRow {
        launch,
        section: texts.get(section),
        metric: texts.get(&metric),
        unit: texts.get(&unit),
        value,
        text: (value.is_none() && !number::is_missing(cell)).then(|| cell.to_owned()),
    })
}

fn rule(launch: u32, row: &Row, columns: &Columns) -> NcuRuleRow {
    let text = |column| row.get(column).unwrap_or_default();
    NcuRuleRow {
        launch,
        section: section::identifier(text(columns.section)).to_owned(),
        rule: text(columns.rule).to_owned(),
        kind: match text(columns.rule_type) {
            "OPT" => NcuRuleKind::Optimization,
            "WRN" => NcuRuleKind::Warning,
            "ERR" => NcuRuleKind::Error,
            // INF, and the empty type of rules that passed (2022.3).
            _ => NcuRuleKind::Info,
        },
        message: text(columns.description).to_owned(),
        // Printed with four significant digits and without groups, whatever the page's style.
        estimate_percent: number::parse(&text(columns.estimate).replace(',', ".")),
        global: text(columns.estimate_type) == "global",
    }
}

#[cfg(test)]
mod tests;
