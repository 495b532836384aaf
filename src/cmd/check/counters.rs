//! The gates of `--fail-on` on two profiles.

use std::collections::HashMap;

use crate::document::Document;
use crate::error::Result;
use crate::frame::columns::{LAUNCH, METRIC, VALUE};
use crate::frame::{Launch, by_catalogue};
use crate::gate::{FailOn, Found, GateOutcome, Seen};
use crate::kernel_name;
use crate::profile::Profile;

/// Columns of a kernel's name in a sentence.
const LONGEST_NAME: usize = 60;

/// A launch's metrics by their names.
type Metrics = HashMap<String, f64>;

/// What the gates come to.
///
/// # Errors
/// [`Error::Frames`](crate::error::Error::Frames) where a frame lacks its columns.
pub(super) fn judge(
    gates: &[FailOn],
    base: &Profile,
    new: &Profile,
    diagnosed: &Document,
) -> Result<Vec<GateOutcome>> {
    if gates.is_empty() {
        return Ok(Vec::new());
    }
    let (before, after) = (launches(base)?, launches(new)?);
    let pairs = pairs(&before, &after);
    let is_one = after.len() == 1;
    let seen: Vec<Seen> = after
        .iter()
        .zip(&pairs)
        .map(|((kernel, metrics), pair)| {
            let old = pair.map(|at| &before[at].1);
            let name =
                if is_one { String::new() } else { kernel_name::short(kernel, LONGEST_NAME) };
            let report = diagnosed.launches.iter().find(|launch| launch.kernel == *kernel);
            Seen {
                kernel: name,
                findings: report.map_or_else(Vec::new, |launch| {
                    let found = launch.findings.iter().map(|finding| Found {
                        rule: finding.rule.clone(),
                        factor: finding.estimated_speedup.map(|gain| gain.factor),
                        place: finding.locations.first().cloned(),
                    });
                    found.collect()
                }),
                skipped: report.map_or_else(Vec::new, |launch| {
                    launch.skipped.iter().map(|skipped| skipped.rule.clone()).collect()
                }),
                metric: Box::new(move |name| {
                    (metrics.get(name).copied(), old.and_then(|old| old.get(name).copied()))
                }),
            }
        })
        .collect();
    Ok(gates.iter().map(|gate| gate.judge(&seen)).collect())
}

/// Each launch's kernel and metrics, in the profile's order.
fn launches(profile: &Profile) -> Result<Vec<(String, Metrics)>> {
    let rows = Launch::all(&profile.frames)?;
    let metrics = by_catalogue(&profile.frames.metrics)?;
    let ids = metrics.column(LAUNCH)?.u32()?;
    let (names, values) = (metrics.column(METRIC)?.str()?, metrics.column(VALUE)?.f64()?);
    let mut of_launch: HashMap<u32, Metrics> = HashMap::new();
    for ((id, name), value) in ids.iter().zip(names.iter()).zip(values.iter()) {
        if let (Some(id), Some(name), Some(value)) = (id, name, value) {
            of_launch.entry(id).or_default().insert(name.to_owned(), value);
        }
    }
    let with_metrics = |launch: Launch| {
        let metrics = of_launch.remove(&launch.row.id).unwrap_or_default();
        (launch.row.kernel, metrics)
    };
    Ok(rows.into_iter().map(with_metrics).collect())
}

/// The baseline's launch for each of the candidate's: the only one where both have one, else that of the same kernel
/// in the same order.
fn pairs(before: &[(String, Metrics)], after: &[(String, Metrics)]) -> Vec<Option<usize>> {
    if let ([_], [_]) = (before, after) {
        return vec![Some(0)];
    }
    let mut taken = vec![false; before.len()];
    after
        .iter()
        .map(|(kernel, _)| {
            let base = kernel_name::base(kernel);
            let is_free = |at: &usize| !taken[*at] && kernel_name::base(&before[*at].0) == base;
            let at = (0..before.len()).find(is_free)?;
            taken[at] = true;
            Some(at)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_of_one_kernel_are_paired_in_their_order() {
        let of = |names: &[&str]| -> Vec<(String, Metrics)> {
            names.iter().map(|name| ((*name).to_owned(), Metrics::new())).collect()
        };
        let pair = |before: &[&str], after: &[&str]| pairs(&of(before), &of(after));
        assert_eq!(
            pair(&["a", "b", "a"], &["a", "a", "b", "a"]),
            [Some(0), Some(2), Some(1), None]
        );
        assert_eq!(pair(&["old"], &["new"]), [Some(0)], "one kernel that was renamed");
        assert_eq!(pair(&["a", "b"], &["c"]), [None]);
    }
}
