//! How long each resource is busy by the model, and what would limit the launch next.

use maud::html;

use super::bars::{Bar, ROW, rows};
use crate::document::LaunchReport;
use crate::page::figure::{Figure, Table, px};
use crate::text::{duration, percent};

/// Units below this share of the time are left out.
const LEAST_SHARE: f64 = 0.005;

/// The chart of a launch; `None` where no unit's time is known.
pub(in crate::page) fn figure(id: &str, launch: &LaunchReport) -> Option<Figure> {
    let mut table = Table::new(["unit", "busy", "time"]);
    let mut bars = Vec::new();
    for unit in launch.utilization.iter().filter(|unit| unit.share >= LEAST_SHARE) {
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
            Bar {
                parts: vec![
                    (step.time * step.share, "accent"),
                    (step.time * (1.0 - step.share), "quiet"),
                ],
                ..Bar::new(label, format!("{time}, {}", step.limited_by), step.time, step.time)
            }
        })
        .collect();
    if next.len() > 1 {
        said.push_str(
            " Below: the time left as one fault after another is removed, and what limits it \
                       then.",
        );
    }
    let next = if next.len() > 1 { next } else { Vec::new() };
    let split = bars.len() as f64 * ROW + 30.0;
    Some(Figure {
        name: "resources",
        id: format!("{id}-resources"),
        title: "Time per resource".to_owned(),
        said,
        height: (if next.is_empty() {
            bars.len() as f64 * ROW
        } else {
            split + next.len() as f64 * ROW
        }) as u32,
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
}
