//! Copies that no kernel runs beside.

use super::blame::Blamed;
use super::run::{Run, overlap_ns, sum_ns};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::text::{duration, percent};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "copies-not-overlapped",
    summary: "copies between host and device run while no kernel does",
    checks: "Copies between host and device run while no kernel does, although copies and kernels on different \
             streams can overlap.",
    hint: "Cut the data into parts, and copy the next part with cudaMemcpyAsync from page-locked memory on another stream while kernels work on this one",
    check,
};

/// Of copies and kernels the shorter can at best be hidden behind the longer; the first and the last part of
/// the data always stand alone.
const LIKELY: f64 = 0.6;

fn check(run: &Run) -> Option<Found> {
    let copies = sum_ns(&run.copies);
    let common = overlap_ns(&run.copies, &run.kernels);
    let (alone, kernels) = (copies - common, sum_ns(&run.kernels) - common);
    let hidden = alone.min(kernels);
    if hidden <= 0.0 {
        return None;
    }
    let copies_of_run = run.process.copies.iter();
    let between = copies_of_run.filter(|copy| copy.direction == 1 || copy.direction == 2);
    let bytes: f64 = run.process.copies.iter().map(|copy| copy.bytes as f64).sum();
    Some(Found {
        hint: None,
        saved_ns: [LIKELY * hidden, 0.0, hidden],
        message: format!(
            "Copies between host and device take {}, {} of the time; for {} of that no kernel runs",
            duration(copies),
            percent(copies / run.wall_ns),
            duration(alone)
        ),
        evidence: vec![
            Evidence::new("copies", copies, "ns"),
            Evidence::new("copies while no kernel runs", alone, "ns"),
            Evidence::new("kernels while no copy runs", kernels, "ns"),
            Evidence::new("copied", bytes, "byte"),
        ],
        blamed: Blamed::weighted(
            between.map(|copy| (copy.place.correlation, copy.span.ns())),
            "copy time",
        ),
    })
}

#[cfg(test)]
mod tests {
    use crate::around::testing::{Made, US, of, rules, saved};
    use crate::survey::record::{Kernel, Place, Span, memory};
    use crate::survey::samples::shape;

    #[test]
    fn copies_stand_alone() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..10 {
            made.copy(25 << 20, 500 * US, memory::PINNED, true);
            made.launch(0, 400 * US);
        }
        let found = made.found(10_000 * US);
        assert_eq!(rules(&found), ["copies-not-overlapped"]);
        // 5 ms of copies and 4 ms of kernels: the shorter can be hidden, to 60% as a rule.
        assert!((saved(found[0].estimate.factor) - 0.24).abs() < 1e-9, "{:?}", found[0]);
        assert!((saved(found[0].estimate.high) - 0.4).abs() < 1e-9, "{:?}", found[0]);
        assert!(found[0].estimate.low < 1.0 + 1e-9, "the data may all be needed at first");
    }

    #[test]
    fn of_copies_and_kernels_side_by_side_the_rest_can_be_hidden() {
        // A copy from 0 to 500 µs, and a kernel from 300 µs on.
        let hidden = |until: u64| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            made.copy(25 << 20, 500 * US, memory::PINNED, true);
            let start = made.process.copies[0].span.start;
            let place = Place { device: 0, context: 1, stream: 8, correlation: 0, graph: 0 };
            let span = Span { start: start + 300 * US, end: start + until * US };
            made.process.kernels.push(Kernel { span, place, shape: 0 });
            let found = made.found(1000 * US);
            saved(of(&found, "copies-not-overlapped").estimate.high)
        };
        // 300 µs of the copy alone, and 200 or 600 of the kernel.
        assert!((hidden(700) - 0.2).abs() < 1e-9 && (hidden(1100) - 0.3).abs() < 1e-9);
    }
}
