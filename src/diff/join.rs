//! Metrics of two launches in one frame.
//!
//! polars' own joins come with a feature that doubles the build time, so the keys are matched here
//! and polars takes the rows.

use std::collections::{BTreeMap, HashMap};

use polars::prelude::*;

use crate::metric;

/// The metrics of one launch under their canonical names: `metric`, `unit`, `value`. Each name once:
/// the canonical name itself before an alias, the first row before later ones. Metrics without a
/// value (text, not available) are left out.
pub fn of_launch(metrics: &DataFrame, launch: u32) -> PolarsResult<DataFrame> {
    let mask = metrics.column("launch")?.u32()?.equal(launch);
    let mask = &mask & &metrics.column("value")?.f64()?.is_not_null();
    let rows = metrics.filter(&mask)?;
    let (names, units, values) =
        (rows.column("metric")?.str()?, rows.column("unit")?.str()?, rows.column("value")?.f64()?);
    let mut kept: BTreeMap<&str, (bool, &str, f64)> = BTreeMap::new();
    for ((name, unit), value) in names.iter().zip(units.iter()).zip(values.iter()) {
        let (Some(name), Some(unit), Some(value)) = (name, unit, value) else { continue };
        let (canonical, unit, scale) = match metric::canonical(name) {
            Some((metric, scale)) => (metric.name, metric.unit, scale),
            None => (name, unit, 1.0),
        };
        let exact = canonical == name;
        let entry = kept.entry(canonical).or_insert((exact, unit, value * scale));
        if exact && !entry.0 {
            *entry = (true, unit, value);
        }
    }
    df!(
        "metric" => kept.keys().copied().collect::<Vec<_>>(),
        "unit" => kept.values().map(|row| row.1).collect::<Vec<_>>(),
        "value" => kept.values().map(|row| row.2).collect::<Vec<_>>(),
    )
}

/// The inner join by metric: `metric`, `unit`, `base`, `new`.
pub fn metrics(base: &DataFrame, new: &DataFrame) -> PolarsResult<DataFrame> {
    let places: HashMap<&str, IdxSize> = new
        .column("metric")?
        .str()?
        .iter()
        .zip(0..)
        .filter_map(|(name, at)| Some((name?, at)))
        .collect();
    let (left, right): (Vec<IdxSize>, Vec<IdxSize>) = base
        .column("metric")?
        .str()?
        .iter()
        .zip(0..)
        .filter_map(|(name, at)| Some((at, *places.get(name?)?)))
        .unzip();
    let mut joined = base.take(&IdxCa::from_vec("base".into(), left))?;
    joined.rename("value", "base".into())?;
    let mut values = new.select(["value"])?.take(&IdxCa::from_vec("new".into(), right))?;
    values.rename("value", "new".into())?;
    joined.hstack(values.columns())
}
