//! What is said of two profiles side by side, whatever the form.

use crate::document::{Diff, MetricChange};
use crate::report::words::number::factor;

/// Base against new, and how much faster or slower.
pub fn headline(diff: &Diff) -> String {
    let verdict = match diff.speedup {
        Some(gain) if factor(gain) == factor(1.0) => ": equally fast".to_owned(),
        Some(gain) if gain >= 1.0 => format!(": {} faster", factor(gain)),
        Some(gain) => format!(": {} slower", factor(1.0 / gain)),
        None => ": times can't be compared".to_owned(),
    };
    format!("{} → {}{verdict}", diff.base, diff.new)
}

/// The kernels that changes are told of, in order; one nameless where there is only one.
pub fn kernels(diff: &Diff) -> Vec<&str> {
    let mut kernels: Vec<&str> = Vec::new();
    for change in &diff.metrics {
        if !kernels.contains(&change.kernel.as_str()) {
            kernels.push(&change.kernel);
        }
    }
    kernels
}

/// Metrics with a title are in the catalogue: the ones that rules and people read.
pub fn shown(change: &MetricChange) -> bool {
    change.key || !change.title.is_empty()
}

/// A metric's title, or its name where it has none.
pub fn title(change: &MetricChange) -> &str {
    if change.title.is_empty() { &change.metric } else { &change.title }
}

/// Arrow and word of a direction.
pub fn arrow(change: &MetricChange) -> String {
    let arrow = if change.new > change.base { "▲" } else { "▼" };
    match change.direction.as_str() {
        "same" => "≈".to_owned(),
        "better" | "worse" => format!("{arrow} {}", change.direction),
        _ => arrow.to_owned(),
    }
}
