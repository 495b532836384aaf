//! The device waits for launches.

use super::blame::Blamed;
use super::run::{Cause, Run};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::survey::in_a_row;
use crate::text::{count_of, duration, percent};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "many-short-launches",
    summary: "kernels are so short that their launches set the pace",
    checks: "Kernels are so short that the host's launches, at 2 to 10 µs each, set the pace and the device waits for them.",
    hint: "Capture the loop in a CUDA graph, so that one call launches many kernels, or fuse neighbouring \
           kernels",
    check,
};

/// The hint where most of the launches need nothing of each other.
const INDEPENDENT: &str = "Do the work of many launches in one: turn the loop around them into blockIdx.y or blockIdx.z. Most of \
                           them are given memory of their own, so that none should need what another made; what is written before \
                           it is read, as scratch, needs a part per turn. Where that is not so, capture the loop in a CUDA graph";

/// With a graph the kernels follow one another as fast as the device starts them, ns; what is saved is the rest.
const LIKELY: f64 = 0.85;

/// Fewer launches are no pattern.
const LEAST_LAUNCHES: usize = 100;

/// Kernels longer than this hide their launches, ns.
const SHORT_NS: f64 = 20_000.0;

fn check(run: &Run) -> Option<Found> {
    let plain = run.process.kernels.iter().filter(|kernel| kernel.place.graph == 0);
    let short = plain.filter(|kernel| kernel.span.ns() <= SHORT_NS);
    let (count, total) =
        short.clone().fold((0, 0.0), |(n, ns), kernel| (n + 1, ns + kernel.span.ns()));
    let (idle, gaps) = run.idle(Cause::Launch);
    if count < LEAST_LAUNCHES || gaps < LEAST_LAUNCHES {
        return None;
    }
    let mean = total / count as f64;
    let rows = in_a_row::of_process(run.process);
    let places = run.process.kernels.iter().zip(0..);
    let is_sure = |at: u32| rows.get(&at).is_some_and(|row| row.only_read.is_empty());
    let independent =
        places.filter(|(kernel, at)| kernel.span.ns() <= SHORT_NS && is_sure(*at)).count();
    Some(Found {
        hint: (2 * independent > count).then_some(INDEPENDENT),
        saved_ns: [LIKELY * idle, 0.5 * idle, idle],
        message: format!(
            "{} of {} on average leave the GPU waiting for the next launch for {}, {} of the time",
            count_of(count as f64, "launch"),
            duration(mean),
            duration(idle),
            percent(idle / run.wall_ns)
        ),
        evidence: vec![
            Evidence::new("short launches", count as f64, ""),
            Evidence::new("mean duration", mean, "ns"),
            Evidence::new("idle between launches", idle, "ns"),
        ],
        blamed: Blamed::weighted(short.map(|kernel| (kernel.place.correlation, 1.0)), "launches"),
    })
}

#[cfg(test)]
mod tests {
    use crate::around::testing::{Made, US, rules, saved};
    use crate::survey::samples::{given, shape};

    #[test]
    fn launches_set_the_pace() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        // Every 5 µs a kernel of 2 µs: 3 µs of waiting, of which 1.5 are the device's own.
        for _ in 0..1001 {
            made.launch(0, 2 * US);
        }
        made.wait();
        let found = made.found(10_000 * US);
        assert_eq!(rules(&found), ["many-short-launches"]);
        // 1000 pauses of 1.5 µs are 15% of 10 ms.
        let estimate = found[0].estimate;
        assert!((saved(estimate.high) - 0.15).abs() < 1e-9, "{estimate:?}");
        assert!((saved(estimate.factor) - 0.85 * 0.15).abs() < 1e-9, "{estimate:?}");
        assert!((saved(estimate.low) - 0.5 * 0.15).abs() < 1e-9, "{estimate:?}");
        assert!(found[0].message.contains("1,001 launches of 2.00 µs"), "{}", found[0].message);
    }

    #[test]
    fn launches_that_need_nothing_of_each_other_are_better_merged() {
        let hint = |buffers_per_launch: u64| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            for _ in 0..1001 {
                made.launch(0, 2 * US);
            }
            let launches: Vec<[u64; 1]> = (0..1001).map(|at| [at * buffers_per_launch]).collect();
            let given_to: Vec<(u32, &[u64])> =
                launches.iter().map(|buffers| (0, &buffers[..])).collect();
            let given = given(&[shape("a", 1000)], &given_to);
            made.process.memory = given.memory;
            let words = made.process.kernels.iter().zip(1..);
            made.process.arguments = words
                .map(|(kernel, at)| (kernel.place.correlation, given.arguments[&at].clone()))
                .collect();
            made.found(10_000 * US)[0].hint
        };
        assert!(hint(1).starts_with("Do the work of many launches in one"), "{}", hint(1));
        assert!(hint(0).starts_with("Capture the loop"), "each works on the same buffer");
    }

    #[test]
    fn graphs_have_no_short_launches() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..1001 {
            made.launch(0, 2 * US);
        }
        for kernel in &mut made.process.kernels {
            kernel.place.graph = 1;
        }
        assert!(!rules(&made.found(10_000 * US)).contains(&"many-short-launches"));
    }

    #[test]
    fn short_kernels_take_a_fiftieth_of_a_millisecond_or_less() {
        let found = |ns: u64| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            for _ in 0..101 {
                made.launch(0, ns);
                made.host = made.device + 5 * US;
            }
            rules(&made.found(4_000 * US)).contains(&"many-short-launches")
        };
        assert!(found(20 * US) && !found(20 * US + 1));
    }

    #[test]
    fn a_hundred_pauses_between_launches_are_a_pattern() {
        // A hundred launches leave 99 pauses.
        let short = |count: usize| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            for _ in 0..count {
                made.launch(0, 2 * US);
            }
            made.found(1000 * US)
        };
        assert_eq!(rules(&short(101)), ["many-short-launches"]);
        assert_eq!(short(100), []);
    }
}
