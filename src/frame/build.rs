//! An export's rows as columns.

use std::collections::HashMap;

use polars::prelude::*;

use super::Frames;
use super::columns::{
    ADDRESS, BLOCK, CAPABILITY, DEVICE, ESTIMATE, FILE, GLOBAL, GRID, KERNEL, KIND, LAUNCH, LINE,
    MESSAGE, METRIC, RULE, SECTION, TEXT, UNIT, VALUE,
};
use crate::error::Result;
use crate::export::{Export, LaunchRow, MetricRow, NcuRuleRow, SourceCounters, SourceRow};

/// The frames of an export. Its rows are dropped as soon as their frame stands: a report of thousands
/// of launches has gigabytes of them.
pub fn frames(export: Export) -> Result<Frames> {
    let Export { launches: rows, metrics, rules, source, .. } = export;
    let launches = launches(&rows)?;
    let metrics = {
        let rows = metrics;
        metrics_frame(&rows)?
    };
    let (mut instructions, mut lines): (Vec<SourceRow>, Vec<SourceRow>) =
        source.into_iter().partition(SourceRow::is_instruction);
    Ok(Frames {
        launches,
        metrics,
        ncu_rules: ncu_rules(&rules)?,
        lines: lines_frame(&mut lines)?,
        instructions: instructions_frame(&mut instructions)?,
    })
}

/// A column of a value per row.
fn column<R, T>(name: &str, rows: &[R], value: impl Fn(&R) -> T) -> Column
where
    Series: FromIterator<T>,
{
    rows.iter().map(value).collect::<Series>().with_name(name.into()).into_column()
}

/// A column of text that repeats: each text is stored once, however many rows have it.
fn words<'a, R>(
    name: &str,
    rows: &'a [R],
    word: impl Fn(&'a R) -> Option<&'a str>,
) -> PolarsResult<Column> {
    let mut numbers: HashMap<&str, IdxSize> = HashMap::new();
    let mut words: Vec<&str> = Vec::new();
    let places: IdxCa = rows
        .iter()
        .map(|row| {
            let word = word(row)?;
            Some(*numbers.entry(word).or_insert_with(|| {
                words.push(word);
                words.len() as IdxSize - 1
            }))
        })
        .collect();
    Ok(StringChunked::from_slice(name.into(), &words).take(&places)?.into_column())
}

fn launches(rows: &[LaunchRow]) -> Result<DataFrame> {
    let mut columns =
        vec![column(LAUNCH, rows, |row| row.id), words(KERNEL, rows, |row| Some(&row.kernel))?];
    columns.extend((0..3).map(|axis| column(GRID[axis], rows, |row| row.grid[axis])));
    columns.extend((0..3).map(|axis| column(BLOCK[axis], rows, |row| row.block[axis])));
    columns.push(words(DEVICE, rows, |row| row.device.as_deref())?);
    let part = |of: fn((u32, u32)) -> u32| move |row: &LaunchRow| row.compute_capability.map(of);
    columns.push(column(CAPABILITY[0], rows, part(|(major, _)| major)));
    columns.push(column(CAPABILITY[1], rows, part(|(_, minor)| minor)));
    Ok(DataFrame::new(rows.len(), columns)?)
}

fn metrics_frame(rows: &[MetricRow]) -> Result<DataFrame> {
    let columns = vec![
        column(LAUNCH, rows, |row| row.launch),
        words(SECTION, rows, |row| Some(&row.section))?,
        words(METRIC, rows, |row| Some(&row.metric))?,
        words(UNIT, rows, |row| Some(&row.unit))?,
        column(VALUE, rows, |row| row.value),
        words(TEXT, rows, |row| row.text.as_deref())?,
    ];
    Ok(DataFrame::new(rows.len(), columns)?)
}

fn ncu_rules(rows: &[NcuRuleRow]) -> Result<DataFrame> {
    let columns = vec![
        column(LAUNCH, rows, |row| row.launch),
        words(SECTION, rows, |row| Some(&row.section))?,
        words(RULE, rows, |row| Some(&row.rule))?,
        words(KIND, rows, |row| Some(row.kind.word()))?,
        words(MESSAGE, rows, |row| Some(&row.message))?,
        column(ESTIMATE, rows, |row| row.estimate_percent),
        column(GLOBAL, rows, |row| row.global),
    ];
    Ok(DataFrame::new(rows.len(), columns)?)
}

fn lines_frame(rows: &mut [SourceRow]) -> Result<DataFrame> {
    let mut columns = vec![
        column(LAUNCH, rows, |row| row.launch),
        words(FILE, rows, |row| row.file.as_deref())?,
        column(LINE, rows, |row| row.line),
        words(TEXT, rows, |row| Some(&row.text))?,
    ];
    columns.extend(counters(rows));
    Ok(DataFrame::new(rows.len(), columns)?)
}

fn instructions_frame(rows: &mut [SourceRow]) -> Result<DataFrame> {
    let mut columns = vec![
        column(LAUNCH, rows, |row| row.launch),
        words(FILE, rows, |row| row.file.as_deref())?,
        column(LINE, rows, |row| row.line),
        column(ADDRESS, rows, |row| row.address),
        words(TEXT, rows, |row| Some(&row.text))?,
    ];
    columns.extend(counters(rows));
    Ok(DataFrame::new(rows.len(), columns)?)
}

fn counters(rows: &mut [SourceRow]) -> Vec<Column> {
    SourceCounters::names()
        .enumerate()
        .map(|(number, name)| {
            let counts: Vec<f64> =
                rows.iter_mut().map(|row| *row.counters.counter(number)).collect();
            Column::new(name.into(), counts)
        })
        .collect()
}
