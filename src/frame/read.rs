//! Rows of the frames, typed again: what a [`Launch`](super::Launch) is made of.

use polars::prelude::*;

use super::columns::{
    ADDRESS, BLOCK, CAPABILITY, CONTROL, DEVICE, ESTIMATE, FILE, GLOBAL, GRID, KERNEL, KIND,
    LAUNCH, LINE, MESSAGE, RULE, SECTION, TEXT,
};
use crate::error::Result;
use crate::export::{LaunchRow, NcuRuleKind, NcuRuleRow, SharedTexts, SourceCounters, SourceRow};
use crate::isa::control::Control;

/// The rows of the frame of launches.
pub(super) fn launches(frame: &DataFrame) -> Result<Vec<LaunchRow>> {
    let (ids, kernels) = (frame.column(LAUNCH)?.u32()?, frame.column(KERNEL)?.str()?);
    let devices = frame.column(DEVICE)?.str()?;
    let numbers = |name: &str| frame.column(name)?.u32();
    let axes = |names: [&str; 3]| {
        PolarsResult::Ok([numbers(names[0])?, numbers(names[1])?, numbers(names[2])?])
    };
    let (grids, blocks) = (axes(GRID)?, axes(BLOCK)?);
    let (majors, minors) = (numbers(CAPABILITY[0])?, numbers(CAPABILITY[1])?);
    let extents =
        |axes: &[&UInt32Chunked; 3], at| axes.map(|axis| axis.get(at).unwrap_or_default());
    Ok((0..frame.height())
        .map(|at| LaunchRow {
            id: ids.get(at).unwrap_or_default(),
            kernel: kernels.get(at).unwrap_or_default().to_owned(),
            grid: extents(&grids, at),
            block: extents(&blocks, at),
            device: devices.get(at).map(str::to_owned),
            compute_capability: majors.get(at).zip(minors.get(at)),
        })
        .collect())
}

/// The rows of the frame of ncu's rules.
pub(super) fn ncu_rules(frame: &DataFrame) -> Result<Vec<NcuRuleRow>> {
    let launches = frame.column(LAUNCH)?.u32()?;
    let words = |name: &str| frame.column(name)?.str();
    let (sections, rules, kinds) = (words(SECTION)?, words(RULE)?, words(KIND)?);
    let messages = words(MESSAGE)?;
    let (estimates, global) = (frame.column(ESTIMATE)?.f64()?, frame.column(GLOBAL)?.bool()?);
    let text = |column: &StringChunked, at| column.get(at).unwrap_or_default().to_owned();
    Ok((0..frame.height())
        .map(|at| NcuRuleRow {
            launch: launches.get(at).unwrap_or_default(),
            section: text(sections, at),
            rule: text(rules, at),
            kind: kinds.get(at).and_then(NcuRuleKind::of_word).unwrap_or(NcuRuleKind::Info),
            message: text(messages, at),
            estimate_percent: estimates.get(at),
            global: global.get(at).unwrap_or_default(),
        })
        .collect())
}

/// The rows of the frame of lines or of that of instructions, one after the other: all of them at once
/// would take as much memory again as the launches that they go to.
pub(super) fn source(frame: &DataFrame, mut put: impl FnMut(SourceRow)) -> Result<()> {
    // One chunk each, which a filter may have left otherwise.
    let mut frame = frame.clone();
    frame.rechunk_mut();
    let (launches, files) = (frame.column(LAUNCH)?.u32()?, frame.column(FILE)?.str()?);
    let (lines, texts) = (frame.column(LINE)?.u32()?, frame.column(TEXT)?.str()?);
    let addresses = frame.column(ADDRESS).ok().map(Column::u64).transpose()?;
    let mut addresses = addresses.map(UInt64Chunked::iter);
    // What was saved before there was this column does not have it.
    let controls = frame.column(CONTROL).ok().map(Column::u32).transpose()?;
    let counters: Vec<&[f64]> = SourceCounters::names()
        .map(|name| frame.column(name)?.f64()?.cont_slice())
        .collect::<PolarsResult<_>>()?;
    let mut file_names = SharedTexts::default();
    let rows = launches.iter().zip(files.iter()).zip(lines.iter().zip(texts.iter()));
    for (at, ((launch, file), (line, text))) in rows.enumerate() {
        let mut row = SourceRow {
            launch: launch.unwrap_or_default(),
            file: file.map(|file| file_names.get(file)),
            line,
            address: addresses.as_mut().and_then(|addresses| addresses.next().flatten()),
            text: text.unwrap_or_default().to_owned(),
            control: controls.and_then(|bits| bits.get(at)).map(Control::of_bits),
            counters: SourceCounters::default(),
        };
        for (number, counts) in counters.iter().enumerate() {
            *row.counters.counter(number) = counts[at];
        }
        put(row);
    }
    Ok(())
}
