//! Many copies with little in each.

use super::blame::Blamed;
use super::run::{Cause, Run, merged, overlap_ns, sum_ns};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::survey::record::Copy;
use crate::text::{count, duration};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "small-copies",
    summary: "many copies are so small that their fixed cost is most of their time",
    checks: "Many copies between host and device are so small that their fixed cost, 1 to 10 µs each, is most of their time.",
    hint: "Gather small copies in one buffer and copy it once, pass small values as kernel parameters, or keep the data on the device",
    check,
};

/// A copy of fewer bytes takes longer to start than to move.
const SMALL_BYTES: u64 = 64 << 10;

/// Fewer are no pattern.
const LEAST_COPIES: usize = 200;

fn check(run: &Run) -> Option<Found> {
    let is_small =
        |copy: &&Copy| copy.bytes < SMALL_BYTES && (copy.direction == 1 || copy.direction == 2);
    let copies: Vec<&Copy> = run.process.copies.iter().filter(is_small).collect();
    if copies.len() < LEAST_COPIES {
        return None;
    }
    let bytes: f64 = copies.iter().map(|copy| copy.bytes as f64).sum();
    let spans = merged(copies.iter().map(|copy| copy.span).collect());
    let alone = sum_ns(&spans) - overlap_ns(&spans, &run.kernels);
    // The host's own time for these copies shows as pauses of the device.
    let (idle, _) = run.idle(Cause::Copy);
    let saved = (alone + idle - bytes / run.link_rate() * 1e9).max(0.0);
    Some(Found {
        hint: None,
        saved_ns: [0.8 * saved, 0.4 * saved, saved],
        message: format!(
            "{} copies, of {} on average, keep the GPU from other work for {}",
            count(copies.len() as f64),
            crate::text::bytes(bytes / copies.len() as f64),
            duration(alone + idle)
        ),
        evidence: vec![
            Evidence::new("small copies", copies.len() as f64, ""),
            Evidence::new("bytes of small copies", bytes, "byte"),
            Evidence::new("time of small copies while no kernel runs", alone, "ns"),
            Evidence::new("idle while the host prepares copies", idle, "ns"),
        ],
        blamed: Blamed::weighted(copies.iter().map(|copy| (copy.place.correlation, 1.0)), "copies"),
    })
}

#[cfg(test)]
mod tests {
    use crate::around::testing::{Made, US, of, rules, saved};
    use crate::survey::record::{Kernel, Place, Span, memory};
    use crate::survey::samples::shape;

    #[test]
    fn small_copies_are_all_overhead() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..1000 {
            made.copy(256, 2 * US, memory::PINNED, true);
        }
        let found = made.found(10_000 * US);
        assert_eq!(rules(&found), ["small-copies"]);
        assert!(found[0].message.starts_with("1,000 copies, of 256 B"), "{}", found[0].message);
        // 2 ms of copies; between them the host takes 3 µs for a call, which leaves a pause of 1 µs: the
        // device's own. The bytes themselves, 256 KB at 50 GB/s, take 5 µs.
        let likely = 0.8 * (2000.0 - 5.12) / 10_000.0;
        assert!((saved(found[0].estimate.factor) - likely).abs() < 1e-6, "{:?}", found[0].estimate);
        assert!(
            (saved(found[0].estimate.low) - 0.5 * likely).abs() < 1e-6,
            "{:?}",
            found[0].estimate
        );
    }

    #[test]
    fn small_copies_beside_a_kernel_cost_nothing() {
        let found = |count: usize, beside: usize| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            for _ in 0..count {
                made.copy(256, 2 * US, memory::PINNED, true);
            }
            if beside > 0 {
                let copies = &made.process.copies;
                let span = Span { start: copies[0].span.start, end: copies[beside - 1].span.end };
                let place = Place { device: 0, context: 1, stream: 8, correlation: 0, graph: 0 };
                made.process.kernels.push(Kernel { span, place, shape: 0 });
            }
            made.found(10_000 * US)
        };
        // A kernel runs beside the first half of a thousand: 1 ms of copies is left.
        let half = found(1000, 500);
        let likely = 0.8 * (1000.0 - 5.12) / 10_000.0;
        let finding = of(&half, "small-copies");
        assert!((saved(finding.estimate.factor) - likely).abs() < 1e-6, "{:?}", finding.estimate);
        // Two hundred are a pattern.
        assert_eq!(rules(&found(200, 0)), ["small-copies"]);
        assert_eq!(found(199, 0), []);
    }

    #[test]
    fn copies_are_small_below_64_kib() {
        let is_small = |bytes: u64| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            for _ in 0..200 {
                made.copy(bytes, 100 * US, memory::PINNED, true);
            }
            rules(&made.found(25_000 * US)).contains(&"small-copies")
        };
        assert!(is_small((64 << 10) - 1) && !is_small(64 << 10));
    }
}
