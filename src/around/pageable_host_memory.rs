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
    checks: "Copies to or from host memory that is not page-locked go through a buffer of the driver's: they are slower, and the call waits.",
    hint: "Allocate the host's side with cudaMallocHost, or lock it with cudaHostRegister (pin_memory in PyTorch)",
    check,
};

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
    let pinned_ns = bytes / run.link_rate() * 1e9;
    let saved = (ns - pinned_ns).max(0.0);
    Some(Found {
        saved_ns: [saved, 0.6 * saved, 1.2 * saved],
        message: format!(
            "{} between the device and pageable host memory move {} at {}, where page-locked memory would \
             reach about {}",
            copies_of(copies.len()),
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

fn copies_of(count: usize) -> String {
    if count == 1 {
        "1 copy".to_owned()
    } else {
        format!("{} copies", crate::text::count(count as f64))
    }
}
