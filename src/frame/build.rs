//! An export's rows as columns, each row dropped as it is read: a report of thousands of launches has
//! gigabytes of them.

use std::sync::Arc;

use polars::prelude::*;

use super::Frames;
use super::columns::{
    ADDRESS, BLOCK, CAPABILITY, CONTROL, DEVICE, ESTIMATE, FILE, GLOBAL, GRID, KERNEL, KIND,
    LAUNCH, LINE, MESSAGE, METRIC, RULE, SECTION, TEXT, UNIT, VALUE,
};
use super::words::Words;
use crate::error::Result;
use crate::export::{Export, LaunchRow, MetricRow, NcuRuleRow, SourceCounters, SourceRow};
use crate::isa::control::Control;

/// The frames of an export.
pub(super) fn frames(export: Export) -> Result<Frames> {
    let launches = launches(export.launches)?;
    let metrics = metrics(export.metrics)?;
    let ncu_rules = ncu_rules(export.rules)?;
    let count = export.source.iter().filter(|row| row.is_instruction()).count();
    let mut lines = Source::with_capacity(export.source.len() - count);
    let mut instructions = Source::with_capacity(count);
    for row in export.source {
        if row.is_instruction() { &mut instructions } else { &mut lines }.push(row);
    }
    Ok(Frames {
        launches,
        metrics,
        ncu_rules,
        lines: lines.finish(false)?,
        instructions: instructions.finish(true)?,
    })
}

fn launches(rows: Vec<LaunchRow>) -> Result<DataFrame> {
    let height = rows.len();
    let mut ids = Vec::with_capacity(height);
    let words = Words::<String>::with_capacity;
    let (mut kernels, mut devices) = (words(height), words(height));
    let (mut grids, mut blocks) = ([const { Vec::new() }; 3], [const { Vec::new() }; 3]);
    let mut capabilities = [const { Vec::new() }; 2];
    for row in rows {
        ids.push(row.id);
        kernels.push(row.kernel);
        for axis in 0..3 {
            grids[axis].push(row.grid[axis]);
            blocks[axis].push(row.block[axis]);
        }
        devices.push(row.device);
        capabilities[0].push(row.compute_capability.map(|(major, _)| major));
        capabilities[1].push(row.compute_capability.map(|(_, minor)| minor));
    }
    let mut columns = vec![whole(LAUNCH, ids), kernels.finish(KERNEL)?];
    let extents = GRID.into_iter().zip(grids).chain(BLOCK.into_iter().zip(blocks));
    columns.extend(extents.map(|(name, extents)| whole(name, extents)));
    columns.push(devices.finish(DEVICE)?);
    let parts = CAPABILITY.into_iter().zip(capabilities);
    columns.extend(parts.map(|(name, parts)| Column::new(name.into(), parts)));
    Ok(DataFrame::new(height, columns)?)
}

/// A column of whole numbers, all of them known. The numbers are not copied.
fn whole(name: &str, numbers: Vec<u32>) -> Column {
    UInt32Chunked::from_vec(name.into(), numbers).into_column()
}

fn metrics(rows: Vec<MetricRow>) -> Result<DataFrame> {
    let height = rows.len();
    let (mut launches, mut values) = (Vec::with_capacity(height), Vec::with_capacity(height));
    let words = Words::<Arc<str>>::with_capacity;
    let (mut sections, mut names) = (words(height), words(height));
    let (mut units, mut texts) = (words(height), Words::<String>::with_capacity(height));
    for row in rows {
        launches.push(row.launch);
        sections.push(row.section);
        names.push(row.metric);
        units.push(row.unit);
        values.push(row.value);
        texts.push(row.text);
    }
    let columns = vec![
        whole(LAUNCH, launches),
        sections.finish(SECTION)?,
        names.finish(METRIC)?,
        units.finish(UNIT)?,
        Column::new(VALUE.into(), values),
        texts.finish(TEXT)?,
    ];
    Ok(DataFrame::new(height, columns)?)
}

fn ncu_rules(rows: Vec<NcuRuleRow>) -> Result<DataFrame> {
    let height = rows.len();
    let (mut launches, mut estimates, mut global) = (Vec::new(), Vec::new(), Vec::new());
    let words = Words::<String>::with_capacity;
    let (mut sections, mut rules) = (words(height), words(height));
    let (mut kinds, mut messages) = (Words::with_capacity(height), words(height));
    for row in rows {
        launches.push(row.launch);
        sections.push(row.section);
        rules.push(row.rule);
        kinds.push(row.kind.word());
        messages.push(row.message);
        estimates.push(row.estimate_percent);
        global.push(row.global);
    }
    let columns = vec![
        whole(LAUNCH, launches),
        sections.finish(SECTION)?,
        rules.finish(RULE)?,
        kinds.finish(KIND)?,
        messages.finish(MESSAGE)?,
        Column::new(ESTIMATE.into(), estimates),
        Column::new(GLOBAL.into(), global),
    ];
    Ok(DataFrame::new(height, columns)?)
}

/// The columns of source lines or of instructions.
struct Source {
    launches: Vec<u32>,
    files: Words<Arc<str>>,
    lines: Vec<Option<u32>>,
    addresses: Vec<Option<u64>>,
    texts: Words<String>,
    controls: Vec<Option<u32>>,
    counters: [Vec<f64>; SourceCounters::COUNT],
}

impl Source {
    /// The columns of so many rows.
    fn with_capacity(rows: usize) -> Self {
        Self {
            launches: Vec::with_capacity(rows),
            files: Words::with_capacity(rows),
            lines: Vec::with_capacity(rows),
            addresses: Vec::with_capacity(rows),
            texts: Words::with_capacity(rows),
            controls: Vec::with_capacity(rows),
            counters: std::array::from_fn(|_| Vec::with_capacity(rows)),
        }
    }

    fn push(&mut self, mut row: SourceRow) {
        self.launches.push(row.launch);
        self.files.push(row.file);
        self.lines.push(row.line);
        self.addresses.push(row.address);
        self.texts.push(row.text);
        self.controls.push(row.control.map(Control::bits));
        for (number, counts) in self.counters.iter_mut().enumerate() {
            counts.push(*row.counters.counter(number));
        }
    }

    fn finish(self, with_address: bool) -> Result<DataFrame> {
        let height = self.launches.len();
        let mut columns = vec![
            whole(LAUNCH, self.launches),
            self.files.finish(FILE)?,
            Column::new(LINE.into(), self.lines),
        ];
        columns.extend(with_address.then(|| Column::new(ADDRESS.into(), self.addresses)));
        columns.push(self.texts.finish(TEXT)?);
        columns.extend(with_address.then(|| Column::new(CONTROL.into(), self.controls)));
        let counters = SourceCounters::names().zip(self.counters);
        columns.extend(
            counters
                .map(|(name, counts)| Float64Chunked::from_vec(name.into(), counts).into_column()),
        );
        Ok(DataFrame::new(height, columns)?)
    }
}
