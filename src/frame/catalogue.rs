//! Metrics under the catalogue's names.

use std::collections::hash_map::Entry;

use foldhash::{HashMap, HashMapExt};
use polars::prelude::*;

use super::columns::{LAUNCH, METRIC, UNIT, VALUE};
use crate::error::Result;
use crate::metric;

/// The metrics that have a value, as `launch`, `metric`, `unit`, `value`, each name once per launch:
/// those of the catalogue under its names and in its units, the others as the export has them. The
/// catalogue's own name wins over an alias, and of equals the first row.
///
/// # Errors
/// [`Error::Frames`](crate::error::Error::Frames) where the frame is none of metrics.
pub fn by_catalogue(metrics: &DataFrame) -> Result<DataFrame> {
    let (launches, names) = (metrics.column(LAUNCH)?.u32()?, metrics.column(METRIC)?.str()?);
    let (units, values) = (metrics.column(UNIT)?.str()?, metrics.column(VALUE)?.f64()?);
    let mut table = Table::default();
    // Launch and name → the row in the table, and whether the export has the catalogue's name.
    let mut rows: HashMap<(u32, &str), (usize, bool)> = HashMap::new();
    for ((launch, name), (unit, value)) in
        launches.iter().zip(names.iter()).zip(units.iter().zip(values.iter()))
    {
        let (Some(launch), Some(name), Some(value)) = (launch, name, value) else { continue };
        let (metric, unit, scale) = match metric::canonical(name) {
            Some((metric, scale)) => (metric.name, metric.unit, scale),
            None => (name, unit.unwrap_or_default(), 1.0),
        };
        let is_exact = metric == name;
        match rows.entry((launch, metric)) {
            Entry::Vacant(free) => {
                free.insert((table.values.len(), is_exact));
                table.launches.push(launch);
                table.metrics.push(metric);
                table.units.push(unit);
                table.values.push(value * scale);
            }
            Entry::Occupied(mut known) if is_exact && !known.get().1 => {
                let at = known.get().0;
                known.insert((at, true));
                table.values[at] = value;
            }
            Entry::Occupied(_) => {}
        }
    }
    Ok(df!(
        LAUNCH => table.launches,
        METRIC => table.metrics,
        UNIT => table.units,
        VALUE => table.values,
    )?)
}

/// The columns while they grow.
#[derive(Default)]
struct Table<'a> {
    launches: Vec<u32>,
    metrics: Vec<&'a str>,
    units: Vec<&'a str>,
    values: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{Export, MetricRow};
    use crate::frame::Frames;

    #[test]
    fn the_catalogues_name_wins_over_an_alias_and_the_first_alias_over_the_next() {
        let row = |launch, metric: &str, value| MetricRow {
            launch,
            metric: metric.into(),
            value,
            ..MetricRow::default()
        };
        let (name, alias, scale) = metric::CATALOGUE
            .iter()
            .find_map(|metric| {
                let alias = metric.aliases.iter().find(|alias| alias.scale > 1.0)?;
                Some((metric.name, alias.name, alias.scale))
            })
            .unwrap();
        let metrics = vec![
            row(0, alias, Some(2.0)),
            row(0, name, Some(7.0)),
            row(1, alias, Some(3.0)),
            row(1, alias, Some(4.0)),
            row(1, "unknown.sum", Some(5.0)),
            row(1, "text", None),
        ];
        let frames = Frames::new(Export { metrics, ..Export::default() }).unwrap();
        let table = by_catalogue(&frames.metrics).unwrap();
        let sorted = table.sort([LAUNCH, METRIC], SortMultipleOptions::default()).unwrap();
        let mut found: Vec<(u32, String, f64)> = Vec::new();
        for at in 0..sorted.height() {
            found.push((
                sorted.column(LAUNCH).unwrap().u32().unwrap().get(at).unwrap(),
                sorted.column(METRIC).unwrap().str().unwrap().get(at).unwrap().to_owned(),
                sorted.column(VALUE).unwrap().f64().unwrap().get(at).unwrap(),
            ));
        }
        let mut expected = vec![
            (0, name.to_owned(), 7.0),
            (1, name.to_owned(), 3.0 * scale),
            (1, "unknown.sum".to_owned(), 5.0),
        ];
        expected.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        assert_eq!(found, expected);
    }
}
