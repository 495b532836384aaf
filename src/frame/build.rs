//! An export's rows as columns, each row dropped as it is read: a report of thousands of launches has
//! gigabytes of them.

use polars::prelude::*;

use super::Frames;
use super::columns::{
    ADDRESS, BLOCK, CAPABILITY, DEVICE, ESTIMATE, FILE, GLOBAL, GRID, KERNEL, KIND, LAUNCH, LINE,
    MESSAGE, METRIC, RULE, SECTION, TEXT, UNIT, VALUE,
};
use crate::error::Result;
use crate::export::{Export, LaunchRow, MetricRow, NcuRuleRow, SourceCounters, SourceRow};

/// The frames of an export.
pub fn frames(export: Export) -> Result<Frames> {
    let launches = launches(export.launches)?;
    let metrics = metrics(export.metrics)?;
    let ncu_rules = ncu_rules(export.rules)?;
    let (mut lines, mut instructions) = (Source::default(), Source::default());
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

/// A column of text that repeats: each text is stored once, however many rows have it.
#[derive(Default)]
struct Words {
    numbers: PlHashMap<String, IdxSize>,
    places: Vec<Option<IdxSize>>,
}

impl Words {
    fn push(&mut self, word: impl Into<Option<String>>) {
        let place = word.into().map(|word| {
            let next = self.numbers.len() as IdxSize;
            *self.numbers.entry(word).or_insert(next)
        });
        self.places.push(place);
    }

    fn finish(self, name: &str) -> PolarsResult<Column> {
        let mut words = vec![""; self.numbers.len()];
        for (word, &number) in &self.numbers {
            words[number as usize] = word;
        }
        let words = StringChunked::from_slice(name.into(), &words);
        let places: IdxCa = self.places.into_iter().collect();
        Ok(words.take(&places)?.into_column())
    }
}

fn launches(rows: Vec<LaunchRow>) -> Result<DataFrame> {
    let height = rows.len();
    let (mut ids, mut kernels, mut devices) = (Vec::new(), Words::default(), Words::default());
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
    let mut columns = vec![Column::new(LAUNCH.into(), ids), kernels.finish(KERNEL)?];
    let extents = GRID.into_iter().zip(grids).chain(BLOCK.into_iter().zip(blocks));
    columns.extend(extents.map(|(name, extents)| Column::new(name.into(), extents)));
    columns.push(devices.finish(DEVICE)?);
    let parts = CAPABILITY.into_iter().zip(capabilities);
    columns.extend(parts.map(|(name, parts)| Column::new(name.into(), parts)));
    Ok(DataFrame::new(height, columns)?)
}

fn metrics(rows: Vec<MetricRow>) -> Result<DataFrame> {
    let height = rows.len();
    let (mut launches, mut values) = (Vec::with_capacity(height), Vec::with_capacity(height));
    let (mut sections, mut names) = (Words::default(), Words::default());
    let (mut units, mut texts) = (Words::default(), Words::default());
    for row in rows {
        launches.push(row.launch);
        sections.push(row.section);
        names.push(row.metric);
        units.push(row.unit);
        values.push(row.value);
        texts.push(row.text);
    }
    let columns = vec![
        Column::new(LAUNCH.into(), launches),
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
    let (mut sections, mut rules) = (Words::default(), Words::default());
    let (mut kinds, mut messages) = (Words::default(), Words::default());
    for row in rows {
        launches.push(row.launch);
        sections.push(row.section);
        rules.push(row.rule);
        kinds.push(row.kind.word().to_owned());
        messages.push(row.message);
        estimates.push(row.estimate_percent);
        global.push(row.global);
    }
    let columns = vec![
        Column::new(LAUNCH.into(), launches),
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
#[derive(Default)]
struct Source {
    launches: Vec<u32>,
    files: Words,
    lines: Vec<Option<u32>>,
    addresses: Vec<Option<u64>>,
    texts: Words,
    counters: [Vec<f64>; SourceCounters::COUNT],
}

impl Source {
    fn push(&mut self, mut row: SourceRow) {
        self.launches.push(row.launch);
        self.files.push(row.file);
        self.lines.push(row.line);
        self.addresses.push(row.address);
        self.texts.push(row.text);
        for (number, counts) in self.counters.iter_mut().enumerate() {
            counts.push(*row.counters.counter(number));
        }
    }

    fn finish(self, with_address: bool) -> Result<DataFrame> {
        let height = self.launches.len();
        let mut columns = vec![
            Column::new(LAUNCH.into(), self.launches),
            self.files.finish(FILE)?,
            Column::new(LINE.into(), self.lines),
        ];
        columns.extend(with_address.then(|| Column::new(ADDRESS.into(), self.addresses)));
        columns.push(self.texts.finish(TEXT)?);
        let counters = SourceCounters::names().zip(self.counters);
        columns.extend(counters.map(|(name, counts)| Column::new(name.into(), counts)));
        Ok(DataFrame::new(height, columns)?)
    }
}
