//! Copies from and to pageable memory.

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
