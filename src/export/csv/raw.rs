//! The raw page: `ncu --import REPORT --page raw --csv`, one row a launch and one column a metric.
//!
//! The leading columns differ by version (2022.3 has `Kernel Time` and no grid, 2024.1 and later
//! have `Block Size`, `Grid Size`, `Device`, `CC`), so every column is found by its name.

mod merge;

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::export::csv::number;
use crate::export::csv::number::Style;
use crate::export::csv::page;
use crate::export::csv::page::{Launches, Needed, PageKind, Row, Table};
use crate::export::limits::{self, Limits};
use crate::export::{Export, LaunchRow, MetricRow, unit};

pub use merge::merge;

/// Columns that describe the launch; every other column is a metric.
const LAUNCH_COLUMNS: &[&str] = &[
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Kernel Time",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
];

/// One metric column.
struct Column {
    index: usize,
    name: Arc<str>,
    unit: Arc<str>,
    factor: f64,
}

/// Reads a raw page. `name` is the file, for messages.
///
/// Values come in base units, whatever the page was printed in, and metrics without a section. A
/// cell that is empty for a launch gives no row; `n/a` gives a row without value.
///
/// # Errors
/// Where the text holds no raw page, no launch, or numbers whose style can't be told.
pub fn read(text: &str, name: &Path) -> Result<Export> {
    let (tables, notices) =
        page::thinned_tables(text, name, PageKind::Raw, &|header| Some(needed(header)))?;
    let mut export = Export { notices, ..Export::default() };
    let mut launches = Launches::default();
    let mut limits = Limits::of_page(text.len());
    for table in &tables {
        read_table(table, name, (&mut launches, &mut limits), &mut export)?;
    }
    let all = tables.iter().flat_map(|table| &table.rows).filter(|row| row.is_launch()).count();
    let beyond = limits.notices(launches.len(), all);
    export.notices.extend(beyond.iter().map(|notice| format!("{}: {notice}", name.display())));
    if launches.is_empty() {
        return Err(page::no_launch(text, name));
    }
    launches.finish(&mut export);
    Ok(export)
}

fn read_table(
    table: &Table,
    name: &Path,
    (launches, within): (&mut Launches, &mut Limits),
    export: &mut Export,
) -> Result<()> {
    let units = table.rows.first().filter(|row| row.cells.get(0) == Some(""));
    let rows = &table.rows[usize::from(units.is_some())..];
    let mut columns = metric_columns(table, units);
    if table.is_thinned || limits::are_many(rows.len(), columns.len()) {
        let notice = limits::known_only(rows.len(), columns.len());
        columns.retain(|column| limits::is_known(&column.name));
        export.notices.push(format!("{}: {notice}", name.display()));
    }
    let cells = || columns.iter().map(|column| column.index);
    // Exactly: a vector that grows by doubling takes up to three times as much in between.
    export.metrics.reserve_exact(rows.len().saturating_mul(columns.len()));
    let style = Style::of(rows.iter().flat_map(|row| cells().filter_map(|at| row.cells.get(at))))
        .map_err(|ambiguous| Error::input(name, ambiguous.to_string()))?;
    let (id, kernel) = (table.column("ID"), table.column("Kernel Name"));
    for row in rows {
        let mut last = row.cells.len();
        if row.cut || last < table.header.len() {
            // Where a row ends early, nobody knows whether its last cell is whole.
            last = last.saturating_sub(1);
            export.notices.push(format!(
                "{}: line {} ends after {last} of {} columns; the metrics of the other columns are \
                 missing",
                name.display(),
                row.line,
                table.header.len()
            ));
        }
        let (Some(id), Some(kernel)) = (
            row.get(id).and_then(|id| id.parse().ok()),
            row.get(kernel.filter(|&column| column < last)),
        ) else {
            continue;
        };
        if !within.allow_launch(launches.len(), export.metrics.len()) {
            break;
        }
        let at = launches.push(LaunchRow { id, kernel: kernel.to_owned(), ..LaunchRow::default() });
        let first = export.metrics.len();
        for column in columns.iter().filter(|column| column.index < last) {
            let cell = row.cells.get(column.index).unwrap_or_default();
            if !cell.trim().is_empty() {
                export.metrics.push(metric(at, column, cell, style));
            }
        }
        if let Some(launch) = launches.get_mut(at) {
            let cell = |column| row.get(table.column(column).filter(|&column| column < last));
            launch.grid = cell("Grid Size").and_then(page::dimensions).unwrap_or_default();
            launch.block = cell("Block Size").and_then(page::dimensions).unwrap_or_default();
            launch.compute_capability = cell("CC").and_then(page::compute_capability);
            describe(launch, &export.metrics[first..]);
        }
    }
    Ok(())
}

/// What is needed of many launches: what describes them, and the metrics that adoprof knows.
fn needed(header: &[String]) -> Needed {
    // One more for the units.
    let whole_rows =
        limits::kept_in_full(header.iter().filter(|name| is_metric(name.as_str())).count()) + 1;
    let columns = header.iter().map(|name| !is_metric(name) || limits::is_known(name)).collect();
    Needed { columns, whole_rows }
}

/// True for a column that holds a metric. Those of NVTX (`--nvtx`) are titled like `Id:Domain:Start/Stop_Range:…`.
fn is_metric(header: &str) -> bool {
    !LAUNCH_COLUMNS.contains(&header) && !header.contains("Domain:") && !header.is_empty()
}

/// The columns that hold metrics, with their units from the row below the header.
fn metric_columns(table: &Table, units: Option<&Row>) -> Vec<Column> {
    table
        .header
        .iter()
        .enumerate()
        .filter_map(|(index, header)| {
            if !is_metric(header) {
                return None;
            }
            let printed = units.and_then(|row| row.cells.get(index)).unwrap_or_default();
            let (unit, factor) = unit::base(printed);
            Some(Column { index, name: header.as_str().into(), unit: unit.into(), factor })
        })
        .collect()
}

fn metric(launch: u32, column: &Column, cell: &str, style: Style) -> MetricRow {
    let value = style.parse(cell).map(|value| value * column.factor);
    MetricRow {
        launch,
        section: Arc::default(),
        metric: column.name.clone(),
        unit: column.unit.clone(),
        value,
        text: (value.is_none() && !number::is_missing(cell)).then(|| cell.to_owned()),
    }
}

/// Fills what the launch's own columns did not say from its metrics.
pub(super) fn describe(launch: &mut LaunchRow, metrics: &[MetricRow]) {
    let find = |name: &str| metrics.iter().find(|row| *row.metric == *name);
    let number = |name: &str| find(name).and_then(|row| row.value).map(|value| value as u32);
    let dims = |what: &str| {
        let of = |axis: char| number(&format!("launch__{what}_dim_{axis}"));
        match (of('x'), of('y'), of('z')) {
            (Some(x), y, z) => Some([x, y.unwrap_or(1), z.unwrap_or(1)]),
            // The details page of 2022.3 tells the total only.
            _ => number(&format!("launch__{what}_size")).map(|total| [total, 1, 1]),
        }
    };
    let is_one = !launch.is_of_several_kernels();
    if is_one && launch.grid == [0; 3] {
        launch.grid = dims("grid").unwrap_or_default();
    }
    if is_one && launch.block == [0; 3] {
        launch.block = dims("block").unwrap_or_default();
    }
    if launch.device.is_none() {
        launch.device = find("device__attribute_display_name").and_then(|row| row.text.clone());
    }
    if launch.compute_capability.is_none() {
        launch.compute_capability = number("device__attribute_compute_capability_major")
            .zip(number("device__attribute_compute_capability_minor"));
    }
}

#[cfg(test)]
mod tests;
