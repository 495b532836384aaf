//! Two profiles side by side.

use serde_json::Value;

use super::{kernel, line, number};
use crate::document::{Diff, TimeOf};

/// Whose times a factor is of.
fn of(time: TimeOf) -> &'static str {
    match time {
        TimeOf::Step => "of the step, without the profiler",
        TimeOf::Kernels => "of all kernels, without the profiler",
        TimeOf::Launch => "per launch of the kernels that both have, without the profiler",
        TimeOf::Launches => "gpu__time_duration.sum of all launches",
        TimeOf::PairedLaunches => "gpu__time_duration.sum of the launches that both have",
    }
}

/// The speed-up, the findings, then the metrics: those that count most first.
pub(super) fn blocks(value: Value) -> Result<Vec<String>, String> {
    let diff: Diff = serde_json::from_value(value)
        .map_err(|error| format!("the result can't be read: {error}"))?;
    let mut head = format!("base {} against new {}", line(&diff.base), line(&diff.new));
    match diff.speedup {
        Some(factor) => {
            let of = diff.speedup_of.map_or("of what both have", of);
            head.extend([format!(": {factor:.3}x [base time over new time, {of}]")]);
        }
        None => head.push_str(": their times can't be compared"),
    }
    for (what, rules) in [("gone", &diff.gone), ("come", &diff.come), ("in both", &diff.kept)] {
        if !rules.is_empty() {
            head.extend([format!("\nfindings {what}: {}", rules.join(", "))]);
        }
    }
    let mut blocks = vec![head];
    blocks.extend(diff.warnings.iter().map(|warning| format!("warning: {}", line(warning))));
    blocks.push(format!("{} metrics were compared; those that moved:", diff.metrics_compared));
    blocks.extend(diff.metrics.iter().map(|metric| {
        let of = if metric.kernel.is_empty() {
            "all launches".to_owned()
        } else {
            kernel(&metric.kernel)
        };
        let ratio = if metric.base == 0.0 {
            String::new()
        } else {
            format!(", {:+.1}%", 100.0 * (metric.new / metric.base - 1.0))
        };
        format!(
            "{} [{of}]: {} -> {} {}{ratio}, {}",
            line(&metric.metric),
            number(metric.base),
            number(metric.new),
            metric.unit,
            metric.direction
        )
    }));
    Ok(blocks)
}
