//! Which changes count, and which way they go.

use polars::prelude::*;

use super::join::{BASE, NEW};
use crate::document::MetricChange;
use crate::error::Result;
use crate::frame::columns::{METRIC, UNIT};
use crate::metric::stall::StallReason;
use crate::metric::{self, Better};

/// A smaller change, relative to the larger value, is scatter: replayed passes of one kernel differ
/// by about as much.
const LEAST_RELATIVE: f64 = 0.01;
/// ncu's CSV has two decimals: a difference of one in the last place may be rounding. A little more
/// than 0.01, because 0.04 − 0.03 is not quite that in binary.
const LEAST_ABSOLUTE: f64 = 0.0101;
/// So many stalls count as key metrics: the longest ones of either side.
const TOP_STALLS: usize = 3;
/// The duration, which is not compared between unlike things.
const DURATION: &str = "gpu__time_duration.sum";

/// The metrics that are shown first, in this order; the longest stalls follow.
const KEY: &[&str] = &[
    DURATION,
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_sectors.sum",
    "memory_l2_theoretical_sectors_global",
    "l1tex__data_pipe_lsu_wavefronts.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "smsp__inst_executed.sum",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "launch__registers_per_thread",
    "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
];

/// True where a metric moved by more than rounding and scatter.
fn moved(base: f64, new: f64) -> bool {
    let difference = (new - base).abs();
    difference > LEAST_ABSOLUTE && difference > LEAST_RELATIVE * base.abs().max(new.abs())
}

/// Which way a change goes, in the words of [`MetricChange::direction`].
fn direction(better: Better, base: f64, new: f64, comparable: bool) -> &'static str {
    match (moved(base, new), better) {
        (false, _) => "same",
        (true, _) if !comparable => "neither",
        (true, Better::Neither) => "neither",
        (true, Better::Lower) => {
            if new < base {
                "better"
            } else {
                "worse"
            }
        }
        (true, Better::Higher) => {
            if new > base {
                "better"
            } else {
                "worse"
            }
        }
    }
}

/// The key metrics in their order, then all others that moved: those of the catalogue by their
/// place there, the rest by name.
pub(super) fn changes(
    joined: &DataFrame,
    kernel: &str,
    comparable: bool,
) -> Result<Vec<MetricChange>> {
    let (names, units) = (joined.column(METRIC)?.str()?, joined.column(UNIT)?.str()?);
    let (bases, news) = (joined.column(BASE)?.f64()?, joined.column(NEW)?.f64()?);
    let mut all: Vec<MetricChange> = Vec::new();
    for (((name, unit), base), new) in
        names.iter().zip(units.iter()).zip(bases.iter()).zip(news.iter())
    {
        let (Some(name), Some(unit), Some(base), Some(new)) = (name, unit, base, new) else {
            continue;
        };
        let known = metric::canonical(name).map(|(metric, _)| metric);
        let better = known.map_or(Better::Neither, |metric| metric.better);
        all.push(MetricChange {
            kernel: kernel.to_owned(),
            metric: name.to_owned(),
            title: known.map(|metric| metric.title.to_owned()).unwrap_or_default(),
            unit: unit.to_owned(),
            base,
            new,
            direction: direction(better, base, new, comparable).to_owned(),
            key: false,
        });
    }
    if !comparable {
        all.retain(|change| change.metric != DURATION);
    }
    let stalls = top_stalls(&all);
    let key = |name: &str| {
        KEY.iter().chain(stalls.iter().map(|name| name as _)).position(|key: &&str| *key == name)
    };
    let mut placed: Vec<((u8, usize), MetricChange)> = all
        .into_iter()
        .filter_map(|mut change| {
            let place = key(&change.metric);
            change.key = place.is_some();
            if place.is_none() && !moved(change.base, change.new) {
                return None;
            }
            let later = || metric::CATALOGUE.iter().position(|known| known.name == change.metric);
            let order = match place {
                Some(place) => (0, place),
                None => (1, later().unwrap_or(usize::MAX)),
            };
            Some((order, change))
        })
        .collect();
    placed.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.metric.cmp(&b.1.metric)));
    Ok(placed.into_iter().map(|(_, change)| change).collect())
}

/// The longest stalls of either side, longest first.
fn top_stalls(changes: &[MetricChange]) -> Vec<&'static str> {
    let mut stalls: Vec<(f64, &'static str)> = StallReason::all()
        .filter(|reason| !matches!(reason, StallReason::Selected | StallReason::NotSelected))
        .filter_map(|reason| {
            let name = metric::canonical(&reason.ratio_metric())?.0.name;
            let change = changes.iter().find(|change| change.metric == name)?;
            Some((change.base.max(change.new), name))
        })
        .filter(|(cycles, _)| *cycles > LEAST_ABSOLUTE)
        .collect();
    stalls.sort_by(|a, b| b.0.total_cmp(&a.0));
    stalls.into_iter().take(TOP_STALLS).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_and_scatter_are_no_change() {
        assert!(!moved(0.03, 0.04), "the CSV's last digit");
        assert!(!moved(1000.0, 1009.0), "0.9%");
        assert!(moved(1000.0, 1011.0));
        assert!(moved(0.0, 0.02));
    }

    #[test]
    fn the_better_side_is_the_catalogues() {
        assert_eq!(direction(Better::Lower, 10.0, 5.0, true), "better");
        assert_eq!(direction(Better::Higher, 10.0, 5.0, true), "worse");
        assert_eq!(direction(Better::Neither, 10.0, 5.0, true), "neither");
        assert_eq!(direction(Better::Lower, 10.0, 5.0, false), "neither");
        assert_eq!(direction(Better::Lower, 10.0, 10.05, true), "same");
    }

    #[test]
    fn every_key_metric_is_in_the_catalogue() {
        for name in KEY {
            assert!(metric::canonical(name).is_some_and(|(metric, _)| metric.name == *name));
        }
    }
}
