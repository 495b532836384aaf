//! The gates of `--fail-on` on two profiles.

use std::collections::HashMap;

use crate::document::{CallSite, Document, LaunchReport, Program, ProgramFinding};
use crate::error::Result;
use crate::frame::columns::{LAUNCH, METRIC, VALUE};
use crate::frame::{Launch, by_catalogue};
use crate::gate::{FailOn, Found, GateOutcome, Seen};
use crate::kernel_name;
use crate::metric::{DRAM_BYTES, DRAM_BYTES_PARTS, canonical};
use crate::profile::Profile;
use crate::rules::{RULES, added};

/// Columns of a kernel's name in a sentence.
const LONGEST_NAME: usize = 60;

/// A launch's metrics by their names.
type Metrics = HashMap<String, f64>;

/// A launch as gates see it.
#[derive(Debug, Default)]
struct Counted {
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    duration_ns: Option<f64>,
    metrics: Metrics,
}

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
    let reports = reports(&after, &diagnosed.launches);
    let seen: Vec<Seen> = after
        .iter()
        .zip(&pairs)
        .zip(reports)
        .map(|((launch, pair), report)| {
            let metrics = &launch.metrics;
            let old = pair.map(|at| &before[at].metrics);
            let name = if is_one {
                String::new()
            } else {
                kernel_name::short(&launch.kernel, LONGEST_NAME)
            };
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
                // Nothing is known of a launch that was not diagnosed, so no gate may pass on it.
                skipped: report.map_or_else(
                    || {
                        RULES
                            .iter()
                            .copied()
                            .chain(added().iter().map(|(rule, _)| *rule))
                            .map(|rule| rule.name.to_owned())
                            .collect()
                    },
                    |launch| {
                        launch.skipped.iter().map(|skipped| skipped.rule.to_string()).collect()
                    },
                ),
                metric: Box::new(move |name| {
                    (value(metrics, name), old.and_then(|old| value(old, name)))
                }),
            }
        })
        .collect();
    let around = diagnosed.program.as_ref().and_then(around);
    Ok(gates.iter().map(|gate| gate.judge(&seen, around.as_deref())).collect())
}

/// A metric's value, by any of its names; DRAM's bytes are those read and written where only these were collected,
/// as adoprof does.
fn value(metrics: &Metrics, name: &str) -> Option<f64> {
    let of = |name: &str| metrics.get(name).copied();
    // The value under another name may be a ratio where the catalogue's is a percentage.
    let renamed = || {
        let (metric, scale) = canonical(name).filter(|(metric, _)| metric.name != name)?;
        Some(of(metric.name)? / scale)
    };
    let parts = || DRAM_BYTES_PARTS.into_iter().map(of).sum::<Option<f64>>();
    of(name).or_else(renamed).or_else(|| (name == DRAM_BYTES).then(parts).flatten())
}

/// What was found around a program's kernels; `None` where nothing was recorded there.
pub(super) fn around(program: &Program) -> Option<Vec<Found>> {
    program.is_surveyed().then(|| {
        let found = |finding: &ProgramFinding| Found {
            rule: finding.rule.clone(),
            factor: Some(finding.estimated_speedup.factor),
            place: finding.sites.first().and_then(CallSite::location),
        };
        program.findings.iter().map(found).collect()
    })
}

/// What is said of each launch. A program's diagnosis has its launches in another order, and several of one
/// kernel: each belongs to the launch that took as long.
fn reports<'a>(launches: &[Counted], said: &'a [LaunchReport]) -> Vec<Option<&'a LaunchReport>> {
    let mut left: Vec<&LaunchReport> = said.iter().collect();
    launches
        .iter()
        .map(|launch| {
            let at = left.iter().position(|report| {
                report.kernel == launch.kernel
                    && (report.grid, report.block) == (launch.grid, launch.block)
                    && report.duration_ns == launch.duration_ns
            })?;
            Some(left.swap_remove(at))
        })
        .collect()
}

/// Each launch, in the profile's order.
fn launches(profile: &Profile) -> Result<Vec<Counted>> {
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
    let with_metrics = |launch: Launch| Counted {
        duration_ns: launch.duration_ns(),
        metrics: of_launch.remove(&launch.row.id).unwrap_or_default(),
        grid: launch.row.grid,
        block: launch.row.block,
        kernel: launch.row.kernel,
    };
    Ok(rows.into_iter().map(with_metrics).collect())
}

/// The baseline's launch for each of the candidate's: the only one where both have one, else that of the same kernel
/// in the same order.
fn pairs(before: &[Counted], after: &[Counted]) -> Vec<Option<usize>> {
    if let ([_], [_]) = (before, after) {
        return vec![Some(0)];
    }
    let mut taken = vec![false; before.len()];
    after
        .iter()
        .map(|launch| {
            let base = kernel_name::base(&launch.kernel);
            let is_free =
                |at: &usize| !taken[*at] && kernel_name::base(&before[*at].kernel) == base;
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
    fn a_metric_is_found_by_its_other_names_in_their_units() {
        let percent = "smsp__issue_active.avg.pct_of_peak_sustained_active";
        let of = |pairs: &[(&str, f64)]| -> Metrics {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let metrics =
            of(&[(percent, 50.0), ("dram__bytes_read.sum", 3.0), ("dram__bytes_write.sum", 4.0)]);
        assert_eq!(value(&metrics, percent), Some(50.0));
        assert_eq!(value(&metrics, "smsp__issue_active.avg.per_cycle_active"), Some(0.5));
        assert_eq!(value(&metrics, "dram__bytes_op_read.sum"), Some(3.0));
        assert_eq!(value(&metrics, "dram__bytes.sum"), Some(7.0));
        assert_eq!(value(&of(&[("dram__bytes_read.sum", 3.0)]), "dram__bytes.sum"), None);
    }

    #[test]
    fn launches_of_one_kernel_are_paired_in_their_order() {
        let of = |names: &[&str]| -> Vec<Counted> {
            let launch = |name: &&str| Counted { kernel: (*name).to_owned(), ..Counted::default() };
            names.iter().map(launch).collect()
        };
        let pair = |before: &[&str], after: &[&str]| pairs(&of(before), &of(after));
        assert_eq!(
            pair(&["a", "b", "a"], &["a", "a", "b", "a"]),
            [Some(0), Some(2), Some(1), None]
        );
        assert_eq!(pair(&["old"], &["new"]), [Some(0)], "one kernel that was renamed");
        assert_eq!(pair(&["a", "b"], &["c"]), [None]);
    }

    #[test]
    fn each_launch_of_a_kernel_has_its_own_findings() {
        use crate::report::samples;
        let said = [
            samples::launch("k", 3.0, 0.75, vec![samples::finding(1, "partial-wave", 1.5)]),
            samples::launch("k", 1.0, 0.25, Vec::new()),
        ];
        let launch = |ns: f64| Counted {
            kernel: "k".to_owned(),
            grid: said[0].grid,
            block: said[0].block,
            duration_ns: Some(ns),
            metrics: Metrics::new(),
        };
        // Launched the other way around; the last one was not diagnosed.
        let found = reports(&[launch(1e6), launch(3e6), launch(3e6)], &said);
        let findings: Vec<Option<usize>> =
            found.iter().map(|report| report.map(|report| report.findings.len())).collect();
        assert_eq!(findings, [Some(0), Some(1), None]);
    }
}
