//! A profile as a file of the store.

use std::collections::BTreeMap;

use polars::prelude::*;
use sha2::{Digest, Sha256};

use super::commit::Commit;
use super::partition::Partition;
use super::schema::{
    ADDED, COMMIT, COMMITTED, CUDA, DATE, DEVICE, NCU, PROFILE, PROGRAM, SCHEMA_VERSION, SIZE,
    TIME, TIME_RANGE, VERSION,
};
use crate::error::Result;
use crate::frame::by_catalogue;
use crate::frame::columns::{BLOCK, GRID, KERNEL, LAUNCH, METRIC, TEXT, VALUE};
use crate::metric::{CATALOGUE, canonical};
use crate::profile::Profile;
use crate::tables::Form;
use crate::text::{assignments, hex};

/// Letters of a profile's name: 80 bits, so that among a billion profiles no two are likely to share one.
const NAME: usize = 20;

/// A profile that is to be kept.
#[derive(Debug)]
pub(crate) struct Entry {
    /// What it is named by: a hash of what it holds, whatever its commit.
    pub profile: String,
    /// The program, or `ladder/step`.
    pub program: String,
    /// The GPU's name; empty where the profile does not tell it.
    pub device: String,
    /// Its date, `2026-11-20`.
    pub date: String,
    table: DataFrame,
}

impl Entry {
    /// A profile as an entry. `program` is what to call the program where it is not a ladder's step; `today` stands
    /// for a date that the profile does not tell.
    ///
    /// # Errors
    /// [`Error::Frames`](crate::error::Error::Frames) where a frame lacks its columns.
    pub(crate) fn new(
        of: &Profile,
        commit: Option<&Commit>,
        program: Option<&str>,
        added: jiff::Timestamp,
    ) -> Result<Self> {
        let launches = &of.frames.launches;
        let devices = launches.column(crate::frame::columns::DEVICE)?.str()?;
        let environment = of.meta.as_ref().map(|meta| &meta.environment);
        let device = environment
            .map(|known| known.device.clone())
            .filter(|name| !name.is_empty())
            .or_else(|| devices.iter().flatten().next().map(str::to_owned))
            .unwrap_or_default();
        let program = program.map_or_else(|| program_of(of), str::to_owned);
        let date = environment
            .map(|known| known.date.clone())
            .filter(|date| !date.is_empty())
            .unwrap_or_else(|| added.strftime("%Y-%m-%d").to_string());
        let profile = name(of, &program)?;
        let constants = Constants {
            of,
            commit,
            profile: &profile,
            program: &program,
            device: &device,
            date: &date,
            added,
        };
        let table = constants.table()?;
        Ok(Self { profile, program, device, date, table })
    }

    /// The number of launches.
    pub(crate) fn launches(&self) -> usize {
        self.table.column(LAUNCH).map_or(0, |column| column.len() - column.null_count())
    }

    /// Where its file lies within a store.
    pub(crate) fn path(&self) -> String {
        Partition::new(&self.device, &self.program, &self.date).path(&self.profile)
    }

    /// Its file.
    ///
    /// # Errors
    /// As [`Form::write`].
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        Form::Parquet.write(&self.table, &mut bytes)?;
        Ok(bytes)
    }
}

/// `ladder/step`, or a program's name: that of what was run, or of the file.
fn program_of(of: &Profile) -> String {
    if let Some(step) = of.step() {
        return format!("{}/{}", step.ladder, step.name);
    }
    let command = of.meta.as_ref().and_then(|meta| meta.environment.command.split_once(" -- "));
    let ran = command.map(|(_, ran)| ran.trim()).filter(|ran| !ran.is_empty());
    let file = || {
        let stem = std::path::Path::new(&of.name).file_stem();
        stem.map_or_else(|| of.name.clone(), |stem| stem.to_string_lossy().into_owned())
    };
    ran.map_or_else(file, str::to_owned)
}

/// What a profile is named by: the launches with every value that was collected of them, and the step's times.
fn name(of: &Profile, program: &str) -> Result<String> {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    add(program);
    if let Some(meta) = &of.meta {
        add(&meta.environment.date);
        add(&serde_json::to_string(&meta.step).unwrap_or_default());
    }
    for kernel in of.frames.kernels()? {
        add(&kernel);
    }
    let metrics = &of.frames.metrics;
    let (launches, names) = (metrics.column(LAUNCH)?.u32()?, metrics.column(METRIC)?.str()?);
    let (values, texts) = (metrics.column(VALUE)?.f64()?, metrics.column(TEXT)?.str()?);
    for (((launch, name), value), text) in
        launches.iter().zip(names.iter()).zip(values.iter()).zip(texts.iter())
    {
        add(name.unwrap_or_default());
        add(text.unwrap_or_default());
        add(&format!("{launch:?} {:?}", value.map(f64::to_bits)));
    }
    let mut name = hex(&hash.finalize());
    name.truncate(NAME);
    Ok(name)
}

/// What is the same in all rows.
struct Constants<'a> {
    of: &'a Profile,
    commit: Option<&'a Commit>,
    profile: &'a str,
    program: &'a str,
    device: &'a str,
    date: &'a str,
    added: jiff::Timestamp,
}

impl Constants<'_> {
    /// The file's table: a row per launch; one without a launch where only the step's time is known.
    fn table(&self) -> Result<DataFrame> {
        let launches = &self.of.frames.launches;
        let known = launches.height();
        let rows = known.max(1);
        let mut columns = self.columns(rows);
        for name in [&[LAUNCH, KERNEL][..], &GRID, &BLOCK].concat() {
            let column = launches.column(name)?;
            columns.push(if known > 0 {
                column.clone()
            } else {
                Column::full_null(name.into(), 1, column.dtype())
            });
        }
        columns.extend(metrics(&self.of.frames, rows)?);
        Ok(DataFrame::new(rows, columns)?)
    }

    fn columns(&self, rows: usize) -> Vec<Column> {
        let text = |name: &str, value: Option<&str>| {
            StringChunked::from_iter_options(name.into(), std::iter::repeat_n(value, rows))
                .into_column()
        };
        let number = |name: &str, value: Option<f64>| {
            Float64Chunked::from_iter_options(name.into(), std::iter::repeat_n(value, rows))
                .into_column()
        };
        let whole = |name: &str, value: Option<u64>| {
            UInt64Chunked::from_iter_options(name.into(), std::iter::repeat_n(value, rows))
                .into_column()
        };
        let small = |name: &str, value: Option<u32>| {
            UInt32Chunked::from_iter_options(name.into(), std::iter::repeat_n(value, rows))
                .into_column()
        };
        let step = self.of.step();
        let environment = self.of.meta.as_ref().map(|meta| &meta.environment);
        let collected = &self.of.collected;
        let version = |known: Option<&String>, collected: &Option<String>| {
            known.filter(|text| !text.is_empty()).cloned().or_else(|| collected.clone())
        };
        let cuda = version(environment.map(|known| &known.cuda), &collected.cuda);
        let ncu = version(environment.map(|known| &known.ncu), &collected.ncu);
        let size = step.map(|step| assignments(&step.size, ","));
        let time = step.map(|step| step.time_ns);
        let [low, high, n] = TIME_RANGE;
        vec![
            small(SCHEMA_VERSION, Some(VERSION)),
            text(PROFILE, Some(self.profile)),
            text(COMMIT, self.commit.map(|commit| commit.name.as_str())),
            whole(COMMITTED, self.commit.and_then(|commit| commit.committed)),
            whole(ADDED, u64::try_from(self.added.as_second()).ok()),
            text(DATE, Some(self.date)),
            text(DEVICE, Some(self.device)),
            text(PROGRAM, Some(self.program)),
            text(SIZE, Some(size.as_deref().unwrap_or_default())),
            number(TIME, time.map(|time| time.median)),
            number(low, time.map(|time| time.low)),
            number(high, time.map(|time| time.high)),
            small(n, time.map(|time| time.n as u32)),
            text(CUDA, cuda.as_deref()),
            text(NCU, ncu.as_deref()),
        ]
    }
}

/// A column per metric of the catalogue that has a value, in the catalogue's order and units.
fn metrics(frames: &crate::frame::Frames, rows: usize) -> Result<Vec<Column>> {
    let ids = frames.launches.column(LAUNCH)?.u32()?;
    let places: BTreeMap<u32, usize> =
        ids.iter().flatten().enumerate().map(|(at, id)| (id, at)).collect();
    let long = by_catalogue(&frames.metrics)?;
    let (launches, names) = (long.column(LAUNCH)?.u32()?, long.column(METRIC)?.str()?);
    let values = long.column(VALUE)?.f64()?;
    let mut by_metric: BTreeMap<&'static str, Vec<Option<f64>>> = BTreeMap::new();
    for ((launch, name), value) in launches.iter().zip(names.iter()).zip(values.iter()) {
        let (Some(launch), Some(name)) = (launch, name) else { continue };
        let (Some((metric, _)), Some(&at)) = (canonical(name), places.get(&launch)) else {
            continue;
        };
        by_metric.entry(metric.name).or_insert_with(|| vec![None; rows])[at] = value;
    }
    let in_order =
        CATALOGUE.iter().filter_map(|metric| Some((metric.name, by_metric.get(metric.name)?)));
    Ok(in_order
        .map(|(name, values)| Float64Chunked::new(name.into(), values.as_slice()).into_column())
        .collect())
}
