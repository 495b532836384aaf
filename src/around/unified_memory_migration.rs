//! Managed memory moves while it is used.

use super::blame::Blamed;
use super::run::{Run, merged, sum_ns};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::text::{count_of, duration, percent};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "unified-memory-migration",
    summary: "managed memory migrates in small pieces when it is touched",
    checks: "Managed memory moves between host and device in small pieces when it is touched, and kernels wait for it.",
    hint: "Call cudaMemPrefetchAsync before either side uses the memory, set cudaMemAdvise for read-only data, \
           or copy explicitly",
    check,
};

/// CUPTI's numbers of what is counted.
const TO_DEVICE: u32 = 1;
const TO_HOST: u32 = 2;
const GPU_FAULTS: u32 = 4;

fn check(run: &Run) -> Option<Found> {
    let of = |counters: &'static [u32]| {
        run.process.migrations.iter().filter(move |moved| counters.contains(&moved.counter))
    };
    let bytes: f64 = of(&[TO_DEVICE, TO_HOST]).map(|moved| moved.value as f64).sum();
    let faults: f64 = of(&[GPU_FAULTS]).map(|moved| moved.value as f64).sum();
    let spans = merged(of(&[TO_DEVICE, TO_HOST, GPU_FAULTS]).map(|moved| moved.span).collect());
    if bytes <= 0.0 {
        return None;
    }
    let ns = sum_ns(&spans);
    // A prefetch moves the same bytes at the link's rate.
    let saved = (ns - bytes / run.link_rate() * 1e9).max(0.0);
    Some(Found {
        hint: None,
        saved_ns: [0.8 * saved, 0.4 * saved, saved],
        message: format!(
            "Managed memory moves {} in pieces as it is touched, with {}: {}, {} of the time",
            crate::text::bytes(bytes),
            count_of(faults, "GPU page fault"),
            duration(ns),
            percent(ns / run.wall_ns)
        ),
        evidence: vec![
            Evidence::new("managed bytes moved", bytes, "byte"),
            Evidence::new("page faults of the GPU", faults, ""),
            Evidence::new("time of moves and faults", ns, "ns"),
        ],
        blamed: Blamed::none(),
    })
}

#[cfg(test)]
mod tests {
    use crate::around::testing::{Made, US, rules, saved};
    use crate::survey::record::{Migration, Span};
    use crate::survey::samples::shape;

    #[test]
    fn managed_memory_moves_in_pieces() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        made.launch(0, 1000 * US);
        for piece in 0..100 {
            let start = 1000 * US + piece * 10 * US;
            let span = Span { start, end: start + 10 * US };
            // 25,000 bytes in 10 µs; at 50 GB/s half a microsecond.
            made.process.migrations.push(Migration { span, value: 25_000, counter: 1 });
        }
        let span = Span { start: 1000 * US, end: 1100 * US };
        made.process.migrations.push(Migration { span, value: 40, counter: 4 });
        let found = made.found(2_000 * US);
        assert_eq!(rules(&found), ["unified-memory-migration"]);
        assert!((saved(found[0].estimate.high) - 950.0 / 2000.0).abs() < 1e-9, "{:?}", found[0]);
        assert!((saved(found[0].estimate.factor) - 0.8 * 0.475).abs() < 1e-9, "{:?}", found[0]);
        assert!((saved(found[0].estimate.low) - 0.4 * 0.475).abs() < 1e-9, "{:?}", found[0]);
        assert!(found[0].message.contains("40 GPU page faults"), "{}", found[0].message);
    }
}
