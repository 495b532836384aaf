//! Occupancy: what it is, and what it would be with other registers, shared memory, and block sizes.

use maud::{Markup, html};

use crate::device::residency::residency;
use crate::frame::Launch;
use crate::page::figure::{Figure, Table, pct, px};
use crate::survey::record::{Device, Shape};
use crate::text::{bytes, count, percent};

const PLOT: f64 = 72.0;
const ROW: f64 = PLOT + 44.0;
/// Bytes of shared memory between two points.
const SHARED_STEP: u32 = 4096;

/// One resource: the occupancy at each amount of it, with all others as they are.
struct Sweep {
    name: &'static str,
    now: u32,
    said: String,
    /// Amounts with their occupancy, 0 to 1; those that do not fit have 0.
    points: Vec<(u32, f64)>,
}

/// The chart; `None` for a device that is not known.
pub(in crate::page) fn figure(id: &str, launch: &Launch) -> Option<Figure> {
    let (shape, device) = (shape(launch)?, device(launch)?);
    let theoretical = residency(&shape, &device)?;
    let achieved =
        launch.get("sm__warps_active.avg.pct_of_peak_sustained_active").map(|pct| pct / 100.0);
    let sweeps = sweeps(&shape, &device);
    let mut table = Table::new(["resource", "now", "occupancy now", "best occupancy", "at"]);
    for sweep in &sweeps {
        let best = sweep.points.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        // The largest amount that still reaches it: what there is to aim at.
        let at = sweep.points.iter().filter(|(_, share)| *share >= best).map(|(at, _)| *at).max();
        table.row([
            sweep.name.to_owned(),
            sweep.said.clone(),
            percent(theoretical.occupancy),
            percent(best),
            at.map(|at| count(f64::from(at))).unwrap_or_default(),
        ]);
    }
    let limit = theoretical.limit.map_or_else(String::new, |limit| format!(", limited by {limit}"));
    let reached = achieved
        .map_or_else(String::new, |share| format!(" The launch achieves {}.", percent(share)));
    Some(Figure {
        name: "occupancy",
        id: format!("{id}-occupancy"),
        title: "Occupancy".to_owned(),
        said: format!(
            "{} of the warps that an SM has room for can be resident{limit}.{reached} Each curve changes one resource alone; \
             the dot is this launch.",
            percent(theoretical.occupancy)
        ),
        height: (sweeps.len() as f64 * ROW) as u32,
        drawn: html! {
            @for (row, sweep) in sweeps.iter().enumerate() {
                (plot(sweep, theoretical.occupancy, row as f64 * ROW))
            }
        },
        table,
    })
}

fn shape(launch: &Launch) -> Option<Shape> {
    let get = |name| launch.get(name).map(|value| value as u32);
    Some(Shape {
        kernel: String::new(),
        grid: launch.row.grid,
        block: launch.row.block,
        registers: get("launch__registers_per_thread")?,
        static_shared: get("launch__shared_mem_per_block_static").unwrap_or(0),
        dynamic_shared: get("launch__shared_mem_per_block_dynamic").unwrap_or(0),
        local: 0,
    })
}

fn device(launch: &Launch) -> Option<Device> {
    let (major, minor) = launch.row.compute_capability?;
    let multiprocessors = launch.get("launch__sm_count").map_or(1, |count| count as u32).max(1);
    Some(Device {
        name: launch.row.device.clone().unwrap_or_default(),
        multiprocessors,
        capability: [major, minor],
        uuid: None,
        memory_bytes: 0,
        memory_bytes_per_s: 0,
    })
}

fn sweeps(shape: &Shape, device: &Device) -> [Sweep; 3] {
    let at = |shape: &Shape| residency(shape, device).map_or(0.0, |found| found.occupancy);
    let threads = shape.block.iter().product::<u32>();
    let shared = shape.static_shared + shape.dynamic_shared;
    let most_shared = (shared * 2).max(96 * 1024);
    [
        Sweep {
            name: "registers per thread",
            now: shape.registers,
            said: count(f64::from(shape.registers)),
            points: (16..=255)
                .step_by(8)
                .map(|registers| (registers, at(&Shape { registers, ..shape.clone() })))
                .collect(),
        },
        Sweep {
            name: "shared memory per block",
            now: shared,
            said: bytes(f64::from(shared)),
            points: (0..=most_shared)
                .step_by(SHARED_STEP as usize)
                .map(|shared| {
                    (
                        shared,
                        at(&Shape { static_shared: shared, dynamic_shared: 0, ..shape.clone() }),
                    )
                })
                .collect(),
        },
        Sweep {
            name: "threads per block",
            now: threads,
            said: count(f64::from(threads)),
            points: (32..=1024)
                .step_by(32)
                .map(|threads| (threads, at(&Shape { block: [threads, 1, 1], ..shape.clone() })))
                .collect(),
        },
    ]
}

fn plot(sweep: &Sweep, now: f64, top: f64) -> Markup {
    let (first, last) =
        (sweep.points.first().map_or(0, |p| p.0), sweep.points.last().map_or(1, |p| p.0));
    let x = |amount: u32| {
        f64::from(amount.clamp(first, last) - first) / f64::from((last - first).max(1)) * 0.98
            + 0.01
    };
    let y = |share: f64| top + 24.0 + PLOT * (1.0 - share);
    html! {
        g class="sweep" data-label=(sweep.name) data-value=(sweep.now) {
            text class="ink" x="0" y=(px(top + 14.0)) { (sweep.name) }
            text class="num" x="100%" y=(px(top + 14.0)) { (sweep.said) }
            @for share in [0.0, 0.5, 1.0] {
                line class="grid" x1="0" x2="100%" y1=(px(y(share))) y2=(px(y(share))) {}
            }
            text class="tick end halo" x="100%" y=(px(y(0.5) - 3.0)) { "50%" }
            @for pair in sweep.points.windows(2) {
                line class="curve" x1=(pct(x(pair[0].0))) x2=(pct(x(pair[1].0))) y1=(px(y(pair[0].1))) y2=(px(y(pair[0].1))) {}
                @if (pair[0].1 - pair[1].1).abs() > 0.0 {
                    line class="curve" x1=(pct(x(pair[1].0))) x2=(pct(x(pair[1].0))) y1=(px(y(pair[0].1))) y2=(px(y(pair[1].1))) {}
                }
            }
            circle class="dot" cx=(pct(x(sweep.now))) cy=(px(y(now))) r="5" data-value=(now) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_curve_goes_through_the_launch() {
        let mut launch = Launch::default();
        launch.row.block = [256, 1, 1];
        launch.row.grid = [1000, 1, 1];
        launch.row.compute_capability = Some((9, 0));
        launch.set("launch__registers_per_thread", Some(64.0));
        let (shape, device) = (shape(&launch).unwrap(), device(&launch).unwrap());
        // 64 registers × 32 lanes = 2048 a warp: 8 warps in each of 4 parts, 32 of 64.
        for sweep in sweeps(&shape, &device) {
            let here = sweep.points.iter().find(|(at, _)| *at == sweep.now).unwrap();
            assert!((here.1 - 0.5).abs() < 1e-12, "{}: {here:?}", sweep.name);
        }
        let [registers, ..] = sweeps(&shape, &device);
        assert_eq!(registers.points[2], (32, 1.0), "half of the registers, twice the warps");
        let figure = figure("l0", &launch).unwrap();
        assert!(figure.said.starts_with("50% of the warps"), "{}", figure.said);
        assert_eq!(figure.table.rows[0][3..], ["100%", "32"]);
    }
}
