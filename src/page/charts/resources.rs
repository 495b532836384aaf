//! How long each resource is busy by the model, and what would limit the launch next.

use maud::html;

use super::bars::{Bar, height, rows};
use crate::document::{LaunchReport, Utilization};
use crate::page::figure::{Figure, Table, px};
use crate::text::{duration, percent};

/// Units below this share of the time are left out, but for the busiest, so that a launch that leaves the device idle has a
/// chart that shows it.
const LEAST_SHARE: f64 = 0.005;
const FEWEST: usize = 4;

/// The chart of a launch; `None` where no unit's time is known.
pub(in crate::page) fn figure(id: &str, launch: &LaunchReport) -> Option<Figure> {
    let mut table = Table::new(["unit", "busy", "time"]);
    let mut bars = Vec::new();
    let is_shown = |(at, unit): &(usize, &Utilization)| {
        unit.share >= LEAST_SHARE || *at < FEWEST && unit.share > 0.0
    };
    for (_, unit) in launch.utilization.iter().enumerate().filter(is_shown) {
        let time = launch.duration_ns.map(|ns| duration(ns * unit.share)).unwrap_or_default();
        table.row([unit.unit.to_string(), percent(unit.share), time.clone()]);
        let said = if time.is_empty() {
            percent(unit.share)
        } else {
            format!("{time}, {}", percent(unit.share))
        };
        bars.push(Bar::new(unit.unit.to_string(), said, unit.share, unit.share));
    }
    for bar in bars.iter_mut().skip(1) {
        bar.parts[0].1 = "quiet";
    }
    let busiest = launch.utilization.first()?;
    let covered = percent(busiest.share);
    let mut said = format!(
        "The share of the time that each unit is busy at the rate it can reach. The busiest, {}, covers {covered}; the rest \
         of the time warps wait or SMs have no work.",
        busiest.unit
    );
    let mut before = None;
    let next: Vec<Bar> = launch
        .ranking
        .iter()
        .map(|step| {
            let label = step
                .without
                .as_ref()
                .map_or_else(|| "now".to_owned(), |rule| format!("without {rule}"));
            let time = percent(step.time);
            table.row([label.clone(), time.clone(), format!("limited by {}", step.limited_by)]);
            // Named where it changes: the same name on every row would be in the way of the numbers.
            let limited_by = Some(&step.limited_by);
            let said = if std::mem::replace(&mut before, limited_by) == limited_by {
                time
            } else {
                format!("{time}, {}", step.limited_by)
            };
            Bar {
                parts: vec![
                    (step.time * step.share, "accent"),
                    (step.time * (1.0 - step.share), "quiet"),
                ],
                ..Bar::new(label, said, step.time, step.time)
            }
        })
        .collect();
    if next.len() > 1 {
        said.push_str(
            " Below: the time left as one fault after another is removed, and what limits it then, \
             where that changes.",
        );
    }
    let next = if next.len() > 1 { next } else { Vec::new() };
    let split = height(&bars) + 30.0;
    Some(Figure {
        name: "resources",
        id: format!("{id}-resources"),
        title: "Time per resource".to_owned(),
        said,
        height: (if next.is_empty() { height(&bars) } else { split + height(&next) }) as u32,
        drawn: html! {
            (rows(&bars, 0.0))
            @if !next.is_empty() {
                text class="head" x="0" y=(px(split - 10.0)) { "What would limit it next" }
                (rows(&next, split))
            }
        },
        table,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::RankingStep;
    use crate::report::samples;

    #[test]
    fn units_stand_with_their_time_and_share() {
        // 10 ms, L1 84% busy, L2 31%, issue slots 3.4%, XU 0.
        let launch = samples::launch("k", 10.0, 1.0, Vec::new());
        let figure = figure("l0", &launch).unwrap();
        assert_eq!(figure.table.rows.len(), 3, "an idle unit is left out");
        assert_eq!(figure.table.rows[0], ["L1 data pipe", "84%", "8.40 ms"]);
        let drawn = figure.drawn.into_string();
        assert!(drawn.contains(r#"data-label="L2" data-value="0.31""#), "{drawn}");
        assert!(drawn.contains(r#"width="84%""#), "{drawn}");
    }

    #[test]
    fn what_limits_a_launch_is_named_where_it_changes() {
        let step = |without: Option<&str>, limited_by: &str| RankingStep {
            without: without.map(str::to_owned),
            time: 0.5,
            limited_by: limited_by.to_owned(),
            share: 0.5,
        };
        let mut launch = samples::launch("k", 10.0, 1.0, Vec::new());
        launch.ranking = vec![
            step(None, "L2"),
            step(Some("a"), "L2"),
            step(Some("b"), "DRAM"),
            step(Some("c"), "L2"),
        ];
        let drawn = figure("l0", &launch).unwrap().drawn.into_string();
        let (_, next) = drawn.split_once("limit it next").unwrap();
        let said: Vec<&str> = next
            .split(r#"class="num""#)
            .skip(1)
            .filter_map(|rest| rest.split_once('>')?.1.split('<').next())
            .collect();
        assert_eq!(said, ["50%, L2", "50%", "50%, DRAM", "50%, L2"]);
    }

    #[test]
    fn an_idle_device_shows_its_busiest_units() {
        let mut launch = samples::launch("k", 10.0, 1.0, Vec::new());
        let unit = launch.utilization[0].clone();
        let shares = [0.004, 0.003, 0.002, 0.001, 0.0005, 0.0];
        launch.utilization = shares.map(|share| Utilization { share, ..unit.clone() }).into();
        let rows = figure("l0", &launch).unwrap().table.rows;
        // 0.4% of 10 ms is 40 µs.
        assert_eq!((rows.len(), rows[0][2].as_str()), (4, "40.0 µs"));
        launch.utilization.drain(..5);
        assert!(figure("l0", &launch).unwrap().table.rows.is_empty(), "nothing is busy");
    }
}
