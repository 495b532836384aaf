//! Small kernels run one at a time.

use super::blame::Blamed;
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
        hint: None,
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
        blamed: Blamed::none(),
    })
}

#[cfg(test)]
mod tests {
    use crate::around::testing::{Made, US, rules, saved};
    use crate::survey::samples::shape;

    #[test]
    fn small_kernels_leave_room() {
        // 10 blocks on 100 multiprocessors.
        let mut made = Made::new(vec![shape("a", 10)]);
        for _ in 0..100 {
            made.launch(0, 50 * US);
        }
        let found = made.found(10_000 * US);
        assert_eq!(rules(&found), ["kernels-not-concurrent"]);
        assert!((saved(found[0].estimate.factor) - 0.25).abs() < 1e-9, "{:?}", found[0].estimate);
        assert!((saved(found[0].estimate.high) - 0.375).abs() < 1e-9, "{:?}", found[0].estimate);
        assert!(
            found[0].message.contains("can't tell which of them depend"),
            "{}",
            found[0].message
        );
        // Where two run side by side already nothing is said.
        let mut made = Made::new(vec![shape("a", 10)]);
        for _ in 0..100 {
            made.launch(0, 50 * US);
            let twin = *made.process.kernels.last().unwrap();
            made.process.kernels.push(twin);
        }
        assert_eq!(made.found(10_000 * US), []);
    }

    #[test]
    fn twenty_kernels_of_five_microseconds_on_half_of_the_device_leave_room() {
        let small_of = |blocks: u32, count: usize, ns: u64| {
            let mut made = Made::new(vec![shape("a", blocks)]);
            for _ in 0..count {
                made.launch(0, ns);
            }
            rules(&made.found(110 * US)).contains(&"kernels-not-concurrent")
        };
        // Half as many blocks as there are multiprocessors.
        assert!(small_of(50, 20, 5 * US) && !small_of(51, 20, 5 * US));
        assert!(!small_of(50, 19, 5 * US) && !small_of(50, 20, 4999));
    }
}
