//! The answer first: what bounds the time, what to do where, what that is worth, what comes next.

use crate::document::{Document, LaunchReport, Program, RankedFinding, is_roof, rule_count};
use crate::finding::{Bound, LEAST_GAIN};
use crate::report::words::finding::{next_step, verdict, whole_step_estimate};
use crate::report::words::number::{estimate, median, place};
use crate::report::words::subject::subject;
use crate::text::layout::fit;
use crate::text::{duration, percent};

/// Columns of a kernel's name in the headline.
const NAME: usize = 40;

/// A verdict in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The time, and what bounds it.
    pub headline: String,
    /// `change`, `worth` and `next`, each with its sentence; `result` where there is nothing to do.
    pub rows: Vec<(&'static str, String)>,
}

/// The verdict over all launches of a document.
pub fn answer(document: &Document) -> Answer {
    let found = verdict(document);
    let launch = found.map(|(launch, _)| launch).or_else(|| longest(document));
    let rows = match (found, launch) {
        (Some((_, finding)), _) => advice(document, finding),
        (None, None) => {
            let text = match &document.program {
                Some(program) => {
                    format!(
                        "surveyed only: `adoprof profile -- {}` says what to change",
                        program.command
                    )
                }
                None => "not profiled, so there is nothing to diagnose".to_owned(),
            };
            vec![("result", text)]
        }
        (None, Some(_)) if document.launches.iter().all(|launch| launch.findings.is_empty()) => {
            vec![("result", nothing_found(&document.launches))]
        }
        (None, Some(_)) => Vec::new(),
    };
    Answer { headline: headline(document, launch), rows }
}

fn longest(document: &Document) -> Option<&LaunchReport> {
    document.launches.iter().max_by(|a, b| a.time_share.total_cmp(&b.time_share))
}

/// `ado/v2 takes 10.97 ms, bound by memory: L1 data pipe 76% busy`.
fn headline(document: &Document, launch: Option<&LaunchReport>) -> String {
    let time = match (&document.step, document.launches.as_slice()) {
        (Some(step), _) => format!("{} takes {}", subject(document), median(&step.time_ns)),
        (None, [launch]) => {
            let name = name(launch);
            match launch.duration_ns {
                Some(ns) => format!("{name} takes {} under the profiler", duration(ns)),
                None => name,
            }
        }
        _ => subject(document),
    };
    if let Some(program) = &document.program {
        return of_program(program, launch);
    }
    match launch {
        None => time,
        Some(launch) if document.launches.len() > 1 => {
            let (name, share) = (name(launch), percent(launch.time_share));
            format!("{time}; {name} takes {share} of it, {}", bound(launch))
        }
        Some(launch) => match because(launch) {
            Some(why) => format!("{time}, {}: {why}", bound(launch)),
            None => format!("{time}, {}", bound(launch)),
        },
    }
}

/// `./train takes 3.2 s, the GPU busy for 61% of it; gemm takes 40% of the kernels' time, bound by memory`.
fn of_program(program: &Program, launch: Option<&LaunchReport>) -> String {
    let busy = percent(program.gpu_busy_ns / program.wall_ns.max(1.0));
    let command = fit(&program.command, NAME);
    let time =
        format!("{command} takes {}, the GPU busy for {busy} of it", duration(program.wall_ns));
    let Some(launch) = launch else { return time };
    let (name, share) = (name(launch), percent(launch.time_share));
    format!("{time}; {name} takes {share} of the kernels' time, {}", bound(launch))
}

/// A kernel's name without its parameters.
fn name(launch: &LaunchReport) -> String {
    let bare = launch.kernel.split('(').next().unwrap_or_default().trim();
    fit(if bare.is_empty() { &launch.kernel } else { bare }, NAME)
}

/// What bounds a launch, in a few words.
pub fn bound(launch: &LaunchReport) -> String {
    match launch.bound {
        Bound::None => "bound by something that the collected metrics do not show".to_owned(),
        bound => format!("bound by {}", bound.word()),
    }
}

/// Why, in a few words: how busy the busiest unit is, or in which way the launch is too small.
fn because(launch: &LaunchReport) -> Option<String> {
    if launch.bound == Bound::Launch {
        let (class, _) = launch.bottleneck.split_once(": ")?;
        return Some(class.to_lowercase().replace("sms", "SMs"));
    }
    let busiest = launch.utilization.first()?;
    let share = percent(busiest.share);
    match launch.bound {
        Bound::Latency => Some(format!("no unit more than {share} busy")),
        Bound::Memory | Bound::Compute => Some(format!("{} {share} busy", busiest.unit)),
        Bound::Launch | Bound::None => None,
    }
}

fn advice(document: &Document, finding: &RankedFinding) -> Vec<(&'static str, String)> {
    if is_roof(&finding.rule) {
        let stop = finding.hint.split(". ").next().unwrap_or(&finding.hint);
        return vec![("result", stop.trim_end_matches('.').to_owned())];
    }
    let mut rows = vec![("change", change(finding)), ("worth", worth(document, finding))];
    let next = next_step(document)
        .unwrap_or_else(|| format!("`adoprof explain {}` explains the fault", finding.rule));
    rows.push(("next", next));
    rows
}

/// The first clause of the hint, at the place in full: `Take the idle warps out of v2.cu:37`.
fn change(finding: &RankedFinding) -> String {
    let hint = finding.hint.trim_end_matches('.');
    let clause = [": ", "; ", ". ", " (", ", or "]
        .iter()
        .fold(hint, |clause, end| clause.split(end).next().unwrap_or(clause));
    let Some(location) = finding.locations.first() else { return clause.to_owned() };
    let place = place(location);
    let line = format!("line {}", location.line);
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit());
    match clause.split_once(&line) {
        Some((before, after)) if ends(after) => format!("{before}{place}{after}"),
        _ => format!("{clause}, at {place}"),
    }
}

fn worth(document: &Document, finding: &RankedFinding) -> String {
    let rule = &finding.rule;
    let Some(gain) = finding.estimated_speedup else {
        return format!("unknown for {rule}: the profile lacks the counters that would tell");
    };
    let several = document.launches.len() > 1 || document.program.is_some();
    let gains = match whole_step_estimate(document).filter(|_| several) {
        Some(whole) if document.program.is_some() => {
            format!(
                "{} for the whole program, {} for the kernel:",
                estimate(&whole),
                estimate(&gain)
            )
        }
        Some(whole) => {
            format!("{} over all launches:", estimate(&whole))
        }
        None => format!("{} for removing", estimate(&gain)),
    };
    let end = if gain.factor < LEAST_GAIN { "; little to gain" } else { "" };
    format!("{gains} {rule}{end}")
}

/// What it means that there is no finding: the fewer rules could be checked, the less.
fn nothing_found(launches: &[LaunchReport]) -> String {
    let skipped = launches.iter().map(|launch| launch.skipped.len()).max().unwrap_or(0);
    match rule_count().saturating_sub(skipped) {
        _ if skipped == 0 => "no rule found a fault".to_owned(),
        0 => "unknown: no rule could be checked".to_owned(),
        1 => "the one rule that could be checked found no fault".to_owned(),
        checked => format!("none of the {checked} rules that could be checked found a fault"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Estimate;
    use crate::report::samples;

    #[test]
    fn the_change_names_its_place_in_full() {
        let mut finding = samples::finding(1, "shared-memory-pressure", 2.0);
        // The sample's place is line 23: line 230 is another.
        for (hint, said) in [
            (
                "Take the idle warps out of line 23: reduce.",
                "Take the idle warps out of kernels/ado/v2.cu:23",
            ),
            (
                "Unroll the loop at line 230 by 4 (#pragma).",
                "Unroll the loop at line 230 by 4, at kernels/ado/v2.cu:23",
            ),
            (
                "Launch at least 660 blocks; or fewer.",
                "Launch at least 660 blocks, at kernels/ado/v2.cu:23",
            ),
        ] {
            hint.clone_into(&mut finding.hint);
            assert_eq!(change(&finding), said);
        }
        finding.locations.clear();
        assert_eq!(change(&finding), "Launch at least 660 blocks");
    }

    #[test]
    fn a_step_says_its_time_its_bound_and_what_to_do() {
        let answer = answer(&samples::recorded_step());
        assert_eq!(
            answer.headline,
            "ado/v2 takes 10.00 ms, bound by memory: L1 data pipe 84% busy"
        );
        let labels: Vec<&str> = answer.rows.iter().map(|(label, _)| *label).collect();
        assert_eq!(labels, ["change", "worth", "next"]);
        assert_eq!(answer.rows[1].1, "1.80× (1.50 to 2.10) for removing uncoalesced-global-access");
    }

    #[test]
    fn the_reason_is_short() {
        let mut launch = samples::launch("k", 1.0, 1.0, Vec::new());
        // The sample's busiest unit is the L1 data pipe at 84%.
        "Small grid (64 blocks on 132 SMs): an SM has no warp for 52% of the time."
            .clone_into(&mut launch.bottleneck);
        for (bound, said) in [
            (Bound::Memory, Some("L1 data pipe 84% busy")),
            (Bound::Latency, Some("no unit more than 84% busy")),
            (Bound::Launch, Some("small grid (64 blocks on 132 SMs)")),
            (Bound::None, None),
        ] {
            launch.bound = bound;
            assert_eq!(because(&launch).as_deref(), said);
        }
        launch.utilization.clear();
        launch.bound = Bound::Compute;
        assert_eq!(because(&launch), None);
    }

    #[test]
    fn one_of_several_launches_is_put_in_proportion() {
        let answer = answer(&samples::program());
        assert!(answer.headline.contains("takes 50% of it, bound by memory"), "{answer:?}");
        // Half of the time and factor 2: three quarters are left.
        assert!(answer.rows[1].1.starts_with("1.33× ("), "{answer:?}");
        assert!(answer.rows[2].1.starts_with("`adoprof explain "), "{answer:?}");
    }

    #[test]
    fn a_roof_and_a_small_gain_say_stop() {
        let mut document = samples::recorded_step();
        document.launches[0].findings[0].estimated_speedup =
            Some(Estimate { factor: 1.04, low: 1.0, high: 1.06 });
        assert!(answer(&document).rows[1].1.ends_with("; little to gain"));
        let finding = &mut document.launches[0].findings[0];
        "at-memory-roof".clone_into(&mut finding.rule);
        "Stop tuning this kernel: it is fast. Only less work helps.".clone_into(&mut finding.hint);
        document.verdict.as_mut().expect("a verdict").rule = "at-memory-roof".to_owned();
        assert_eq!(
            answer(&document).rows,
            [("result", "Stop tuning this kernel: it is fast".to_owned())]
        );
    }

    #[test]
    fn nothing_to_say_is_said() {
        let mut document = samples::recorded_step();
        document.verdict = None;
        document.launches[0].findings.clear();
        document.launches[0].skipped.clear();
        assert_eq!(answer(&document).rows, [("result", "no rule found a fault".to_owned())]);
        document.launches.clear();
        assert!(answer(&document).rows[0].1.starts_with("not profiled"));
    }
}
