//! Copies from and to pageable memory.

use super::blame::Blamed;
use super::run::Run;
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::survey::record::Copy;
use crate::survey::record::memory::PAGEABLE;
use crate::text::byte_rate;

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "pageable-host-memory",
    summary: "copies use host memory that is not page-locked",
    checks: "Copies to or from host memory that is not page-locked go through a driver's buffer: they are \
             slower, and the call waits.",
    hint: "Allocate the host buffer once with cudaMallocHost, or page-lock it with cudaHostRegister \
           (pin_memory in PyTorch), and reuse it for every copy",
    check,
};

/// What taking new pages and locking them reaches, bytes per second: a program whose copies to fresh pageable memory ran
/// at 1.07 GB/s, and one at 1.27 GB/s, were left with 1.55 and 1.67 GB/s of them where each copy's memory was locked
/// anew, on the host of an H200. Used again instead, the memory cost nothing.
const NEW_PAGES_BYTES_PER_S: f64 = 1.5e9;

/// A copy to the host below this rate goes to pages that nothing touched before, bytes per second: the geometric mean of
/// 1.2 GB/s, which such copies reach, and of the 12 GB/s of copies to memory in use, on the same host.
const FRESH_BYTES_PER_S: f64 = 3.8e9;

/// Smaller copies are ruled by their fixed cost, bytes.
const LEAST_BYTES: u64 = 64 << 10;

fn check(run: &Run) -> Option<Found> {
    let is_pageable = |copy: &&Copy| {
        copy.bytes >= LEAST_BYTES
            && (copy.direction == 1 && copy.source == PAGEABLE
                || copy.direction == 2 && copy.destination == PAGEABLE)
    };
    let copies: Vec<&Copy> = run.process.copies.iter().filter(is_pageable).collect();
    let bytes: f64 = copies.iter().map(|copy| copy.bytes as f64).sum();
    let ns: f64 = copies.iter().map(|copy| copy.span.ns()).sum();
    if copies.is_empty() || ns <= 0.0 {
        return None;
    }
    let locked_ns = |copy: &Copy| copy.bytes as f64 / run.link_rate() * 1e9;
    let (fresh, used): (Vec<&Copy>, Vec<&Copy>) =
        copies.iter().partition(|copy| copy.direction == 2 && rate(copy) < FRESH_BYTES_PER_S);
    let saved = |copies: &[&Copy], left: &dyn Fn(&Copy) -> f64| -> f64 {
        copies.iter().map(|copy| (copy.span.ns() - left(copy)).max(0.0)).sum()
    };
    let used = saved(&used, &locked_ns);
    let once = saved(&fresh, &locked_ns);
    let each_anew = saved(&fresh, &|copy| {
        (copy.bytes as f64 / NEW_PAGES_BYTES_PER_S * 1e9).max(locked_ns(copy))
    });
    let new_pages = if fresh.is_empty() {
        String::new()
    } else {
        format!(
            "; {} so slow that most of the time must go to allocating new pages, which reusing the memory \
             saves, page-locked or not",
            if fresh.len() == 1 {
                "1 of them is".to_owned()
            } else {
                format!("{} of them are", crate::text::count(fresh.len() as f64))
            }
        )
    };
    Some(Found {
        hint: None,
        saved_ns: [used + 0.5 * (once + each_anew), 0.6 * used + each_anew, 1.2 * used + once],
        message: format!(
            "{} between the device and pageable host memory {} {} at {}, where page-locked memory would \
             reach about {}{new_pages}",
            copies_of(copies.len()),
            if copies.len() == 1 { "moves" } else { "move" },
            crate::text::bytes(bytes),
            byte_rate(bytes / (ns * 1e-9)),
            byte_rate(run.link_rate())
        ),
        evidence: vec![
            Evidence::new("pageable copies", copies.len() as f64, ""),
            Evidence::new("pageable bytes", bytes, "byte"),
            Evidence::new("time of pageable copies", ns, "ns"),
        ],
        blamed: Blamed::weighted(
            copies.iter().map(|copy| (copy.place.correlation, copy.span.ns())),
            "copy time",
        ),
    })
}

/// Bytes per second.
fn rate(copy: &Copy) -> f64 {
    copy.bytes as f64 / (copy.span.ns() * 1e-9).max(f64::MIN_POSITIVE)
}

fn copies_of(count: usize) -> String {
    if count == 1 {
        "1 copy".to_owned()
    } else {
        format!("{} copies", crate::text::count(count as f64))
    }
}

#[cfg(test)]
mod tests {
    use crate::around::testing::{Made, US, of, rules, saved};
    use crate::survey::record::memory;
    use crate::survey::samples::shape;

    #[test]
    fn pageable_memory_is_slow() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..10 {
            // 10 MB in 2 ms are 5 GB/s.
            made.copy(10_000_000, 2000 * US, memory::PAGEABLE, false);
        }
        // A large page-locked copy tells what the link can do: 20 GB/s.
        made.copy(20_000_000, 1000 * US, memory::PINNED, true);
        // A faster one that stays on the device, and one that never comes near it, do not count.
        for (ns, direction, source) in
            [(10 * US, 8, memory::PINNED), (900 * US, 9, memory::PAGEABLE)]
        {
            made.copy(20_000_000, ns, source, true);
            made.process.copies.last_mut().unwrap().direction = direction;
        }
        let found = made.found(40_000 * US);
        let finding = of(&found, "pageable-host-memory");
        // 20 ms instead of 5.
        assert!((saved(finding.estimate.factor) - 15.0 / 40.0).abs() < 1e-9, "{finding:?}");
        assert!((saved(finding.estimate.low) - 0.6 * 15.0 / 40.0).abs() < 1e-9, "{finding:?}");
        assert!((saved(finding.estimate.high) - 1.2 * 15.0 / 40.0).abs() < 1e-9, "{finding:?}");
        assert!(finding.message.contains("10 copies"), "{}", finding.message);
        assert!(
            !rules(&found).contains(&"copies-not-overlapped"),
            "there are no kernels to hide them"
        );
    }

    #[test]
    fn new_pages_cost_time_locked_or_not() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        // 15 MB in 15 ms are 1 GB/s: the host's pages are new.
        made.copy(15_000_000, 15_000 * US, memory::PAGEABLE, false);
        let copy = made.process.copies.last_mut().unwrap();
        (copy.direction, copy.source, copy.destination) = (2, memory::DEVICE, memory::PAGEABLE);
        made.copy(20_000_000, 1000 * US, memory::PINNED, true);
        let found = made.found(40_000 * US);
        let finding = of(&found, "pageable-host-memory");
        // Locked anew at 1.5 GB/s they take 10 ms, used again at 20 GB/s 0.75 ms.
        assert!((saved(finding.estimate.low) - 5.0 / 40.0).abs() < 1e-9, "{finding:?}");
        assert!((saved(finding.estimate.high) - 14.25 / 40.0).abs() < 1e-9, "{finding:?}");
        assert!((saved(finding.estimate.factor) - 9.625 / 40.0).abs() < 1e-9, "{finding:?}");
        assert!(finding.message.contains("1 of them is so slow"), "{}", finding.message);
    }

    #[test]
    fn new_pages_are_the_hosts_and_come_no_faster_than_the_link() {
        let estimate = |is_to_host: bool, pinned_ns: u64| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            made.copy(15_000_000, 15_000 * US, memory::PAGEABLE, false);
            let copy = made.process.copies.last_mut().unwrap();
            if is_to_host {
                (copy.direction, copy.source, copy.destination) =
                    (2, memory::DEVICE, memory::PAGEABLE);
            }
            made.copy(12_000_000, pinned_ns, memory::PINNED, true);
            of(&made.found(40_000 * US), "pageable-host-memory").estimate
        };
        // However slow, a copy to the device finds its pages: 15 MB at 12 GB/s take 1.25 ms of 15.
        let up = estimate(false, 1000 * US);
        assert!((saved(up.factor) - 13.75 / 40.0).abs() < 1e-9, "{up:?}");
        // Over a link of 1.2 GB/s 12.5 ms, more than the 10 that new pages take.
        let slow = estimate(true, 10_000 * US);
        assert!((saved(slow.low) - 2.5 / 40.0).abs() < 1e-9, "{slow:?}");
        assert!((saved(slow.high) - 2.5 / 40.0).abs() < 1e-9, "{slow:?}");
    }

    #[test]
    fn pages_are_new_where_a_copy_to_the_host_is_slower_than_what_pages_in_use_allow() {
        let is_new = |gb_per_s: f64| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            made.copy((gb_per_s * 1e6) as u64, 1000 * US, memory::PAGEABLE, false);
            let copy = made.process.copies.last_mut().unwrap();
            (copy.direction, copy.source, copy.destination) = (2, memory::DEVICE, memory::PAGEABLE);
            of(&made.found(2_000 * US), "pageable-host-memory").message.contains("so slow")
        };
        assert!(is_new(3.7) && !is_new(3.9));
    }

    #[test]
    fn copies_of_pageable_memory_are_judged_by_their_rate_from_64_kib_on() {
        let is_judged = |bytes: u64| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            for _ in 0..200 {
                made.copy(bytes, 100 * US, memory::PAGEABLE, true);
            }
            rules(&made.found(25_000 * US)).contains(&"pageable-host-memory")
        };
        assert!(is_judged(64 << 10) && !is_judged((64 << 10) - 1));
    }
}
