//! The roofline: what launches do per second over how much they do per byte, under what the device reaches.

use maud::{Markup, html};

use super::axis::below;
use super::labels::{self, Block};
use crate::frame::Launch;
use crate::page::figure::{Figure, Table, pct, px};
use crate::page::lettering::{SMALL, SMALL_BOLD, TICK, in_full, width, within};
use crate::page::scale::{Log, bare};
use crate::page::work::{Flops, Level, flops, peaks};
use crate::text::{byte_rate, prefixed, significant};

const TOP: f64 = 28.0;
const PLOT: f64 = 300.0;
/// Height of a line of the legend.
const LEGEND: f64 = 20.0;
/// Width of a point's name at most, pixels.
const NAME: f64 = 120.0;
/// Points have to be so far apart, pixels, for an arrow between them: a shorter one would lie on its first point or beyond.
const ARROW: f64 = 26.0;
/// Where the plot begins, behind the numbers of its axis, and how wide it is, as shares of the width.
const ACROSS: (f64, f64) = (0.09, 0.9);

/// A launch's place at one level of the memory.
#[derive(Debug, Clone, PartialEq)]
struct Point {
    name: String,
    level: Level,
    /// Operations per byte.
    intensity: f64,
    /// Operations per second.
    rate: f64,
}

/// What a device reaches.
#[derive(Debug, Clone, Default, PartialEq)]
struct Ceilings {
    /// Bytes per second.
    levels: Vec<(Level, f64)>,
    /// Operations per second.
    peaks: Vec<(&'static str, f64)>,
}

/// The chart of steps by name, each with its launches: of one a point for each level, of several one point each,
/// at DRAM, with arrows from one to the next. `None` where none does floating-point work, or nothing is known of the device.
pub(in crate::page) fn figure(id: &str, steps: &[(&str, Vec<&Launch>)]) -> Option<Figure> {
    let points: Vec<Point> =
        steps.iter().flat_map(|(name, launches)| points(name, launches)).collect();
    let mut launches = steps.iter().flat_map(|(_, launches)| launches);
    let launch = launches.find(|launch| Level::Dram.ceiling(launch).is_some())?;
    let ceilings = Ceilings {
        levels: Level::ALL
            .iter()
            .filter_map(|level| Some((*level, level.ceiling(launch)?)))
            .collect(),
        peaks: peaks(launch),
    };
    let is_walk = steps.len() > 1;
    let shown: Vec<&Point> =
        points.iter().filter(|point| !is_walk || point.level == Level::Dram).collect();
    let first = shown.first()?;
    let mut table = Table::new(["launch", "level", "FLOP/byte", "FLOP/s"]);
    for point in &points {
        table.row([
            point.name.clone(),
            point.level.title().to_owned(),
            significant(point.intensity, 3),
            per_second(point.rate),
        ]);
    }
    for (level, rate) in &ceilings.levels {
        table.row([
            "ceiling".to_owned(),
            level.title().to_owned(),
            String::new(),
            byte_rate(*rate),
        ]);
    }
    for (name, rate) in &ceilings.peaks {
        table.row(["peak".to_owned(), (*name).to_owned(), String::new(), per_second(*rate)]);
    }
    let said = if is_walk {
        "Each step by its DRAM traffic, with arrows along the ladder. To the right: more work per byte; \
         upwards: faster.".to_owned()
    } else {
        format!(
            "{} at {} per byte of {}. The closer a point is to the line of its level or to the peak of its \
             unit, the less \
             there is to gain there.",
            per_second(first.rate),
            format_args!("{} FLOP", significant(first.intensity, 3)),
            first.level.title()
        )
    };
    Some(Figure {
        name: "roofline",
        id: format!("{id}-roofline"),
        title: "Roofline".to_owned(),
        said,
        height: (TOP + PLOT + 48.0 + LEGEND * (ceilings.levels.len() as f64 / 2.0).ceil()) as u32,
        drawn: drawn(&format!("{id}-arrow"), &ceilings, &shown, is_walk)?,
        table,
    })
}

/// Where launches that follow one another stand together.
fn points(name: &str, launches: &[&Launch]) -> Vec<Point> {
    let sum = |of: &dyn Fn(&Launch) -> Option<f64>| -> f64 {
        launches.iter().filter_map(|launch| of(launch)).sum()
    };
    let work = sum(&|launch| flops(launch).map(Flops::sum));
    let seconds = sum(&|launch| launch.duration_ns().map(|ns| ns * 1e-9));
    if work <= 0.0 || seconds <= 0.0 {
        return Vec::new();
    }
    let at = |level: &Level| {
        let moved = sum(&|launch| level.bytes(launch));
        let point = Point {
            name: name.to_owned(),
            level: *level,
            intensity: work / moved,
            rate: work / seconds,
        };
        (moved > 0.0).then_some(point)
    };
    Level::ALL.iter().filter_map(at).collect()
}

fn drawn(arrow: &str, ceilings: &Ceilings, points: &[&Point], is_walk: bool) -> Option<Markup> {
    let fastest = ceilings.peaks.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    if fastest <= 0.0 {
        return None;
    }
    let widest = ceilings.levels.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let slowest = ceilings.peaks.iter().map(|(_, rate)| *rate).fold(f64::INFINITY, f64::min);
    let ridges = ceilings.levels.iter().flat_map(|(_, rate)| [slowest / rate, fastest / rate]);
    let x = Log::around(points.iter().map(|point| point.intensity).chain(ridges))?;
    let rates = points.iter().map(|point| point.rate);
    let y = Log::around(rates.chain(ceilings.peaks.iter().map(|(_, rate)| *rate)))?;
    let share = |value: f64| ACROSS.0 + ACROSS.1 * x.at(value);
    let across = |value: f64| pct(share(value));
    let height = |value: f64| TOP + PLOT * (1.0 - y.at(value));
    let down = |value: f64| px(height(value));
    let names: Vec<_> =
        points.iter().map(|point| within(named(point, is_walk), NAME, SMALL_BOLD)).collect();
    let places: Vec<(f64, f64, &str)> = points
        .iter()
        .zip(&names)
        .map(|(point, name)| (share(point.intensity), height(point.rate), &**name))
        .collect();
    let rates = y.ticks().into_iter().map(|tick| (tick, bare(&prefixed(tick))));
    let rates: Vec<(f64, String)> = rates.collect();
    let peaks: Vec<(&str, f64, String, f64)> = ceilings
        .peaks
        .iter()
        // Double precision has its name below its line: single precision is close above it.
        .map(|(name, rate)| {
            (
                *name,
                *rate,
                format!("{name} {}", per_second(*rate)),
                if *name == "FP64" { 14.0 } else { -4.0 },
            )
        })
        .collect();
    let at_left = rates
        .iter()
        .map(|(rate, said)| Block::text(0.0, 2.0, 2.0 + width(said, TICK), height(*rate) - 3.0));
    let at_right = peaks.iter().map(|(_, rate, said, lowered)| {
        Block::text(1.0, -width(said, SMALL), 0.0, height(*rate) + lowered)
    });
    let labels = labels::place(&places, at_left.chain(at_right));
    Some(html! {
        defs {
            marker id=(arrow) viewBox="0 0 8 8" refX="13" refY="4" markerWidth="7" markerHeight="7" orient="auto" {
                path class="tip" d="M0 0L8 4L0 8z" {}
            }
        }
        @for (tick, said) in &rates {
            line class="grid" x1="0" x2="100%" y1=(down(*tick)) y2=(down(*tick)) {}
            text class="tick" x="2" y=(px(height(*tick) - 3.0)) { (said) }
        }
        @for tick in x.ticks() {
            line class="grid" x1=(across(tick)) x2=(across(tick)) y1=(px(TOP)) y2=(px(TOP + PLOT)) {}
        }
        (below(x.ticks().into_iter().map(|tick| (share(tick), bare(&significant(tick, 1)))), TOP + PLOT + 16.0))
        text class="tick end" x="100%" y=(px(TOP + PLOT + 32.0)) { "FLOP per byte" }
        text class="tick" x="2" y="10" { "FLOP per second" }
        @for (level, rate) in &ceilings.levels {
            @let start = x.low().max(y.low() / rate);
            @let end = x.high().min(fastest / rate);
            g class="ceiling" data-label=(level.title()) data-value=(rate) {
                line class=(dashes(*level)) x1=(across(start)) x2=(across(end)) y1=(down(rate * start)) y2=(down(rate * end)) {}
            }
        }
        @for (at, (level, rate)) in ceilings.levels.iter().enumerate() {
            @let y = TOP + PLOT + 46.0 + LEGEND * (at / 2) as f64;
            svg x=(pct((at % 2) as f64 / 2.0)) y=(px(y)) width="50%" height="16" {
                line class=(dashes(*level)) x1="0" x2="18" y1="8" y2="8" {}
                text class="dim" x="24" y="12" { (level.title()) " " (byte_rate(*rate)) }
            }
        }
        @for (name, rate, said, lowered) in &peaks {
            g class="peak" data-label=(name) data-value=(rate) {
                line class="roof" x1=(across(rate / widest)) x2="100%" y1=(down(*rate)) y2=(down(*rate)) {}
                text class="halo end" x="100%" y=(down(*rate)) dy=(px(*lowered)) { (said) }
            }
        }
        @if is_walk {
            @for (pair, ends) in points.windows(2).zip(places.windows(2)) {
                @let is_long = (ends[1].0 - ends[0].0).hypot(ends[1].1 - ends[0].1) > ARROW;
                line class="walk" x1=(across(pair[0].intensity)) x2=(across(pair[1].intensity))
                    y1=(down(pair[0].rate)) y2=(down(pair[1].rate))
                    marker-end=[is_long.then(|| format!("url(#{arrow})"))] {}
            }
        }
        @for ((point, name), label) in points.iter().zip(&names).zip(&labels) {
            g class="point" data-label=(point.name) data-level=(point.level.title())
                data-intensity=(point.intensity) data-value=(point.rate) {
                (in_full(named(point, is_walk), if label.is_some() { name } else { "" }))
                circle class="dot" cx=(across(point.intensity)) cy=(down(point.rate)) r="5" {}
                @if let Some((dx, dy, side)) = label {
                    text class={ "halo strong " (side) } x=(across(point.intensity)) y=(down(point.rate)) dx=(dx) dy=(dy) { (name) }
                }
            }
        }
    })
}

/// What a point is called.
fn named(point: &Point, is_walk: bool) -> &str {
    if is_walk { &point.name } else { point.level.title() }
}

/// How the line of a level is drawn.
fn dashes(level: Level) -> &'static str {
    match level {
        Level::Dram => "roof",
        Level::L2 => "roof dashed",
        Level::L1 => "roof dotted",
    }
}

/// `17.5 TFLOP/s`.
fn per_second(rate: f64) -> String {
    format!("{}FLOP/s", prefixed(rate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{SourceCounters, SourceRow};

    /// 2 GFLOP in 1 ms, 1 GB from DRAM, 4 GB from L2.
    fn launch() -> Launch {
        let mut launch = Launch::default();
        launch.row.device = Some("NVIDIA H200".to_owned());
        launch.row.compute_capability = Some((9, 0));
        for (name, value) in [
            ("gpu__time_duration.sum", 1e6),
            ("dram__bytes_read.sum", 0.75e9),
            ("dram__bytes_write.sum", 0.25e9),
            ("lts__t_sectors_srcunit_tex.sum", 0.125e9),
            ("launch__sm_count", 100.0),
            ("gpc__cycles_elapsed.avg.per_second", 2e9),
        ] {
            launch.set(name, Some(value));
        }
        launch.instructions = vec![SourceRow {
            address: Some(0),
            text: "FFMA R5, R4, R6, R5".to_owned(),
            counters: SourceCounters {
                thread_inst_executed_pred_on: 1e9,
                inst_executed: 1e9 / 32.0,
                ..SourceCounters::default()
            },
            ..SourceRow::default()
        }];
        launch
    }

    #[test]
    fn a_launch_has_a_place_at_each_level() {
        let found = points("v2", &[&launch()]);
        let told: Vec<(&str, f64, f64)> =
            found.iter().map(|point| (point.level.title(), point.intensity, point.rate)).collect();
        assert_eq!(told, [("DRAM", 2.0, 2e12), ("L2", 0.5, 2e12)]);
        let figure = figure("l0", &[("v2", vec![&launch()])]).unwrap();
        assert_eq!(figure.table.rows[0], ["v2", "DRAM", "2.00", "2.00 TFLOP/s"]);
        assert_eq!(figure.table.rows[2], ["ceiling", "DRAM", "", "4.55 TB/s"]);
        assert!(figure.drawn.0.contains(r#"data-label="FP32" data-value="51200000000000""#));
    }

    #[test]
    fn several_launches_are_a_walk_at_dram() {
        let launch = launch();
        let figure =
            figure("all", &[("v1", vec![&launch]), ("v2", vec![&launch, &launch])]).unwrap();
        assert_eq!(figure.drawn.0.matches(r#"class="walk""#).count(), 1);
        assert_eq!(figure.drawn.0.matches(r#"class="point""#).count(), 2);
    }

    #[test]
    fn without_float_work_there_is_no_chart() {
        let mut launch = launch();
        launch.instructions.clear();
        assert!(figure("l0", &[("v2", vec![&launch])]).is_none());
    }
}
