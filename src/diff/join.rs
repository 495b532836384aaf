//! Metrics of pairs of launches in one frame each.

use polars::prelude::*;

use crate::error::Result;
use crate::frame::columns::{LAUNCH, METRIC, UNIT, VALUE};
use crate::frame::{groups, join};

/// The baseline's values in the joined frame.
pub(super) const BASE: &str = "base";
/// The new values in the joined frame.
pub(super) const NEW: &str = "new";
/// The pair's number.
const PAIR: &str = "pair";

/// The metrics that both launches of each pair have, of tables that
/// [`by_catalogue`](crate::frame::by_catalogue) made: `metric`, `unit`, `base`, `new`. A pair is the
/// baseline's launch and the new one's.
pub(super) fn metrics(
    base: &DataFrame,
    new: &DataFrame,
    pairs: &[(u32, u32)],
) -> Result<Vec<DataFrame>> {
    let (base_launches, new_launches): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
    let base = of_pairs(base, base_launches, BASE)?;
    let new = of_pairs(&new.select([LAUNCH, METRIC, VALUE])?, new_launches, NEW)?;
    let joined = join(&base, &new, [PAIR, METRIC])?;
    let mut of_pair = vec![joined.clear(); pairs.len()];
    for rows in groups(&joined, [PAIR])? {
        let metrics = joined.take(&IdxCa::from_vec(PAIR.into(), rows))?;
        if let Some(pair) = metrics.column(PAIR)?.u32()?.first() {
            of_pair[pair as usize] = metrics.select([METRIC, UNIT, BASE, NEW])?;
        }
    }
    Ok(of_pair)
}

/// The metrics of some launches, with the pair's number in the place of the launch's, and the value
/// under another name.
fn of_pairs(metrics: &DataFrame, launches: Vec<u32>, value: &str) -> Result<DataFrame> {
    let numbers: Vec<u32> = (0..).take(launches.len()).collect();
    let mut found = join(metrics, &df!(LAUNCH => launches, PAIR => numbers)?, [LAUNCH])?;
    found.rename(VALUE, value.into())?;
    Ok(found.drop(LAUNCH)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(u32, &str, f64)]) -> DataFrame {
        let launches: Vec<u32> = rows.iter().map(|row| row.0).collect();
        let names: Vec<&str> = rows.iter().map(|row| row.1).collect();
        let values: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let units = vec!["ns"; rows.len()];
        df!(LAUNCH => launches, METRIC => names, UNIT => units, VALUE => values).unwrap()
    }

    #[test]
    fn each_pair_gets_the_metrics_that_both_launches_have() {
        let base = table(&[(7, "a", 1.0), (7, "b", 2.0), (8, "a", 3.0), (9, "a", 4.0)]);
        let new = table(&[(0, "b", 20.0), (0, "c", 30.0), (1, "c", 50.0), (0, "a", 10.0)]);
        let of_pair = metrics(&base, &new, &[(8, 0), (7, 0), (9, 1)]).unwrap();
        let rows = |pair: usize| -> Vec<(String, f64, f64)> {
            let frame = &of_pair[pair];
            let [names, bases, news] = [METRIC, BASE, NEW].map(|name| frame.column(name).unwrap());
            let numbers = |column: &Column| column.f64().unwrap().iter().flatten().collect();
            let (bases, news): (Vec<f64>, Vec<f64>) = (numbers(bases), numbers(news));
            let names = names.str().unwrap().iter().flatten().map(str::to_owned);
            names.zip(bases).zip(news).map(|((name, base), new)| (name, base, new)).collect()
        };
        assert_eq!(rows(0), [("a".to_owned(), 3.0, 10.0)]);
        assert_eq!(rows(1), [("a".to_owned(), 1.0, 10.0), ("b".to_owned(), 2.0, 20.0)]);
        assert!(rows(2).is_empty());
        assert!(metrics(&base, &new, &[]).unwrap().is_empty());
    }
}
