//! Small kernels run one at a time.

use super::run::{Run, merged, sum_ns};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::survey::record::Kernel;
use crate::text::{count_of, duration, percent};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "kernels-not-concurrent",
    summary: "small kernels run one after another",
    checks: "Kernels with too few blocks to fill the device run one after another, where independent ones \
             could run side by side.",
    hint: "Launch independent kernels on different streams (not the default one) or as branches of a graph, or \
           merge their work into one launch",
    check,
};

/// A kernel with at most this many blocks per multiprocessor leaves room for another.
const MOST_BLOCKS: f64 = 0.5;

/// Fewer kernels are no pattern.
const LEAST_KERNELS: usize = 20;

/// Shorter kernels end before another one starts beside them, ns.
const LEAST_NS: f64 = 5_000.0;

fn check(run: &Run) -> Option<Found> {
    let devices = &run.process.devices;
    let room = |kernel: &&Kernel| {
        let shape = run.process.shapes.get(kernel.shape as usize)?;
        let multiprocessors = devices.get(&kernel.place.device)?.multiprocessors;
        let blocks = shape.grid.iter().map(|&blocks| f64::from(blocks)).product::<f64>();
        Some(blocks / f64::from(multiprocessors.max(1)))
    };
    let small: Vec<(&Kernel, f64)> = run
        .process
        .kernels
        .iter()
        .filter(|kernel| kernel.span.ns() >= LEAST_NS)
        .filter_map(|kernel| Some((kernel, room(&kernel)?)))
        .filter(|(_, room)| *room <= MOST_BLOCKS)
        .collect();
    if small.len() < LEAST_KERNELS {
        return None;
    }
    let sum: f64 = small.iter().map(|(kernel, _)| kernel.span.ns()).sum();
    let covered = sum_ns(&merged(small.iter().map(|(kernel, _)| kernel.span).collect()));
    // Where they overlap already there is less to gain.
    let alone = (2.0 * covered - sum).max(0.0);
    // Two side by side halve the time; more would need more that are independent of each other, which the
    // records can't tell.
    Some(Found {
        saved_ns: [0.5 * alone, 0.0, 0.75 * alone],
        message: format!(
            "{} with fewer blocks than half the SMs run one at a time for {}, {} of the time; the survey can't \
             tell which of them depend on each other",
            count_of(small.len() as f64, "kernel"),
            duration(alone),
            percent(alone / run.wall_ns)
        ),
        evidence: vec![
            Evidence::new("small kernels", small.len() as f64, ""),
            Evidence::new("time of small kernels", covered, "ns"),
            Evidence::new("time of small kernels alone", alone, "ns"),
        ],
    })
}
