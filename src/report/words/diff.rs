//! What is said of two profiles side by side, whatever the form.

use crate::document::{Diff, MetricChange, TimeOf};
use crate::metric::DRAM_BYTES_PARTS;
use crate::report::words::number::factor;

/// Metrics that a comparison names before the rest: those that moved most.
const MOST_MOVERS: usize = 5;
/// Sums of metrics that answer first: what they are, their unit, their metrics, and what one counts
/// for in the unit. A sector is 32 bytes on every architecture that ncu profiles.
const LEAD: [(&str, &str, &[&str], f64); 3] = [
    ("time under ncu", "ns", &["gpu__time_duration.sum"], 1.0),
    ("DRAM traffic", "byte", &DRAM_BYTES_PARTS, 1.0),
    ("L2 traffic", "byte", &["lts__t_sectors.sum"], 32.0),
];
/// Percentages that stay below this are next to nothing.
const LEAST_PERCENT: f64 = 5.0;
/// A sum that moves less is no change: replayed passes of one kernel differ by about as much.
const LEAST_RELATIVE: f64 = 0.01;

/// Base against new, how much faster or slower, and of what where the two have unequally many launches.
pub(crate) fn headline(diff: &Diff) -> String {
    let of = match diff.speedup_of {
        Some(TimeOf::Launch) => " per launch".to_owned(),
        Some(TimeOf::PairedLaunches) if diff.launches_compared == 1 => {
            " in the one launch that both have".to_owned()
        }
        Some(TimeOf::PairedLaunches) => {
            format!(" in the {} launches that both have", diff.launches_compared)
        }
        Some(TimeOf::Step | TimeOf::Kernels | TimeOf::Launches) | None => String::new(),
    };
    let verdict = match diff.speedup {
        Some(gain) if factor(gain) == factor(1.0) => format!(": equally fast{of}"),
        Some(gain) if gain >= 1.0 => format!(": {} faster{of}", factor(gain)),
        Some(gain) => format!(": {} slower{of}", factor(1.0 / gain)),
        None => ": times not compared".to_owned(),
    };
    format!("{} → {}{verdict}", diff.base, diff.new)
}

/// Time and traffic over all kernels that were compared.
pub(crate) fn lead(diff: &Diff) -> Vec<MetricChange> {
    LEAD.iter()
        .filter_map(|&(title, unit, names, scale)| {
            let parts: Vec<&MetricChange> =
                diff.metrics.iter().filter(|change| names.contains(&&*change.metric)).collect();
            let sum = |of: fn(&MetricChange) -> f64| -> f64 {
                scale * parts.iter().map(|change| of(change)).sum::<f64>()
            };
            let (base, new) = (sum(|change| change.base), sum(|change| change.new));
            let judged = parts.iter().any(|change| is_judged(change));
            let direction = match (judged, (new - base).abs() > LEAST_RELATIVE * base.max(new)) {
                (_, false) => "same",
                (false, true) => "neither",
                (true, true) if new < base => "better",
                (true, true) => "worse",
            };
            (!parts.is_empty()).then(|| MetricChange {
                kernel: String::new(),
                metric: names.join(" + "),
                title: title.to_owned(),
                unit: unit.to_owned(),
                base,
                new,
                direction: direction.to_owned(),
                key: true,
            })
        })
        .collect()
}

/// The metrics that moved most, largest change first: those that have a better side where the profiles
/// can be judged, otherwise those that people read.
pub(crate) fn movers(diff: &Diff) -> Vec<&MetricChange> {
    let can_judge = diff.metrics.iter().any(is_judged);
    let leads = |change: &MetricChange| {
        LEAD.iter().any(|(_, _, names, _)| names.contains(&change.metric.as_str()))
    };
    // A stall that takes next to no time, and a unit that does next to nothing, move by large factors.
    let is_small = |change: &MetricChange| {
        change.metric.contains("issue_stalled")
            || change.unit == "%" && change.base.max(change.new) < LEAST_PERCENT
    };
    let counts = |change: &MetricChange| change.key || !is_small(change);
    let mut movers: Vec<&MetricChange> = diff
        .metrics
        .iter()
        .filter(|change| change.direction != "same" && shown(change) && !leads(change))
        .filter(|change| counts(change) && (is_judged(change) || !can_judge))
        .collect();
    // Where nothing is judged, sizes may differ: what was 0 before says less than what is compared.
    let from_nothing = |change: &MetricChange| !can_judge && change.base == 0.0;
    movers.sort_by(|a, b| {
        from_nothing(a).cmp(&from_nothing(b)).then(extent(b).total_cmp(&extent(a)))
    });
    movers.truncate(MOST_MOVERS);
    movers
}

/// How far a metric moved, as a share of the larger value: alike for halved and doubled.
fn extent(change: &MetricChange) -> f64 {
    let largest = change.base.abs().max(change.new.abs());
    if largest > 0.0 { (change.new - change.base).abs() / largest } else { 0.0 }
}

/// How many metrics moved.
pub(crate) fn moved(diff: &Diff) -> usize {
    diff.metrics.iter().filter(|change| change.direction != "same").count()
}

fn is_judged(change: &MetricChange) -> bool {
    matches!(change.direction.as_str(), "better" | "worse")
}

/// The kernels that changes are told of, in order; one nameless where there is only one.
pub(crate) fn kernels(diff: &Diff) -> Vec<&str> {
    let mut kernels: Vec<&str> = Vec::new();
    for change in &diff.metrics {
        if !kernels.contains(&change.kernel.as_str()) {
            kernels.push(&change.kernel);
        }
    }
    kernels
}

/// What became of the findings: a word and the rules.
pub(crate) fn findings(diff: &Diff) -> impl Iterator<Item = (&'static str, String)> {
    [("gone", &diff.gone), ("new", &diff.come), ("kept", &diff.kept)]
        .into_iter()
        .filter(|(_, rules)| !rules.is_empty())
        .map(|(word, rules)| (word, rules.join(", ")))
}

/// Metrics with a title are in the catalogue: the ones that rules and people read.
pub(crate) fn shown(change: &MetricChange) -> bool {
    change.key || !change.title.is_empty()
}

/// A metric's title, or its name where it has none.
pub(crate) fn title(change: &MetricChange) -> &str {
    if change.title.is_empty() { &change.metric } else { &change.title }
}

/// Arrow and word of a direction.
pub(crate) fn arrow(change: &MetricChange) -> String {
    let arrow = if change.new > change.base { "▲" } else { "▼" };
    match change.direction.as_str() {
        "same" => "≈".to_owned(),
        "better" | "worse" => format!("{arrow} {}", change.direction),
        _ => arrow.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn change(metric: &str, base: f64, new: f64, direction: &str) -> MetricChange {
        MetricChange {
            metric: metric.to_owned(),
            base,
            new,
            direction: direction.to_owned(),
            key: false,
            ..samples::diff().metrics[0].clone()
        }
    }

    #[test]
    fn traffic_is_summed_over_reads_writes_and_kernels() {
        let mut diff = samples::diff();
        diff.metrics = vec![
            change("dram__bytes_read.sum", 100.0, 60.0, "better"),
            change("dram__bytes_write.sum", 20.0, 20.0, "same"),
            change("dram__bytes_read.sum", 80.0, 20.0, "better"),
            change("lts__t_sectors.sum", 10.0, 11.0, "worse"),
        ];
        let lead = lead(&diff);
        let seen: Vec<_> =
            lead.iter().map(|one| (&*one.title, one.base, one.new, &*one.direction)).collect();
        // 100 + 20 + 80 bytes; 10 and 11 sectors of 32 bytes. No duration, so no time.
        assert_eq!(
            seen,
            [("DRAM traffic", 200.0, 100.0, "better"), ("L2 traffic", 320.0, 352.0, "worse")]
        );
    }

    #[test]
    fn the_headline_says_of_what_its_factor_is() {
        let of = |speedup, speedup_of, launches_compared| {
            let speedup_of = Some(speedup_of);
            headline(&Diff { speedup, speedup_of, launches_compared, ..samples::diff() })
        };
        assert_eq!(of(Some(2.0), TimeOf::Step, 3), "ado/v2 → ado/v3: 2.00× faster");
        let paired = of(Some(0.5), TimeOf::PairedLaunches, 3);
        assert_eq!(paired, "ado/v2 → ado/v3: 2.00× slower in the 3 launches that both have");
        let one = of(Some(1.0), TimeOf::PairedLaunches, 1);
        assert_eq!(one, "ado/v2 → ado/v3: equally fast in the one launch that both have");
        let launch = of(Some(2.0), TimeOf::Launch, 1);
        assert_eq!(launch, "ado/v2 → ado/v3: 2.00× faster per launch");
    }

    #[test]
    fn unlike_profiles_are_not_judged() {
        let mut diff = samples::diff();
        diff.metrics = vec![
            change("lts__t_sectors.sum", 10.0, 20.0, "neither"),
            change("smsp__inst_executed.sum", 10.0, 30.0, "neither"),
        ];
        assert_eq!(lead(&diff)[0].direction, "neither");
        assert_eq!(movers(&diff).len(), 1, "time and traffic lead already");
    }

    #[test]
    fn the_largest_movers_have_a_better_side() {
        let mut diff = samples::diff();
        diff.metrics = vec![
            change("a", 100.0, 10.0, "better"),
            change("b", 10.0, 200.0, "worse"),
            change("c", 1.0, 900.0, "neither"),
            change("d", 5.0, 5.0, "same"),
            change("smsp__average_warps_issue_stalled_x", 0.02, 0.9, "worse"),
        ];
        let names: Vec<&str> = movers(&diff).iter().map(|one| &*one.metric).collect();
        // 190 of 200 and 90 of 100: 0.95 and 0.9.
        assert_eq!(names, ["b", "a"]);
        diff.metrics = (0..9).map(|at| change(&format!("m{at}"), 1.0, 3.0, "worse")).collect();
        assert_eq!(movers(&diff).len(), 5);
    }
}
