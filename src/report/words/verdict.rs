//! The answer first: what bounds the time, what to do where, what that is worth, what comes next.

use crate::document::{
    Document, LaunchReport, Program, ProgramFinding, RankedFinding, asks_for_rebuild, is_roof,
    rule_count,
};
use crate::finding::{Bound, LEAST_GAIN};
use crate::kernel_name;
use crate::report::words::finding::{
    NextStep, next_step, program_verdict, verdict, whole_step_estimate,
};
use crate::report::words::number::{estimate, factor, median, place};
use crate::report::words::sentence::Sentence;
use crate::report::words::subject::subject;
use crate::text::layout::{columns, fit};
use crate::text::{duration, percent, printable};
use crate::user_rules::PREFIX;

/// Columns of a kernel's name in the headline.
const NAME: usize = 40;
/// The same in a short one.
const SHORT_NAME: usize = 20;

/// A verdict in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The time, and what bounds it.
    pub headline: Sentence,
    /// `change`, `worth` and `next`, each with its sentence; `result` where there is nothing to do.
    pub rows: Vec<(&'static str, Sentence)>,
}

/// The verdict over all launches of a document.
pub(crate) fn answer(document: &Document) -> Answer {
    let found = verdict(document);
    let launch = found.map(|(launch, _)| launch).or_else(|| longest(document));
    let result = |text: String| vec![("result", Sentence::from(text))];
    if let Some(around) = program_verdict(document) {
        return Answer { headline: headline(document, launch), rows: self::around(around) };
    }
    let rows = match (found, launch) {
        (Some((_, finding)), _) => advice(document, finding),
        (None, None) => match &document.program {
            Some(program) => surveyed(program),
            None => result("not profiled, so there is nothing to diagnose".to_owned()),
        },
        (None, Some(_)) if document.launches.iter().all(|launch| launch.findings.is_empty()) => {
            nothing_found(&document.launches)
        }
        (None, Some(_)) => Vec::new(),
    };
    Answer { headline: headline(document, launch), rows }
}

/// The rows with what the change is worth in front of it, for where there is no line for it.
pub(crate) fn folded(rows: Vec<(&'static str, Sentence)>) -> Vec<(&'static str, Sentence)> {
    let worth = rows.iter().find(|(label, _)| *label == "worth").map(|(_, worth)| worth.shortest());
    let Some(gain) = worth.and_then(|worth| worth.split(' ').next()).map(str::to_owned) else {
        return rows;
    };
    rows.into_iter()
        .filter(|(label, _)| *label != "worth")
        .map(|(label, row)| match label {
            "change" => (label, Sentence::from(format!("{gain}: {}", row.shortest())).whole()),
            _ => (label, row),
        })
        .collect()
}

/// The rows with a change that may lose its end, for where there is no room for all of it.
pub(crate) fn yielding(rows: Vec<(&'static str, Sentence)>) -> Vec<(&'static str, Sentence)> {
    let give = |(label, row): (&'static str, Sentence)| match label {
        "change" => (label, row.yielding()),
        _ => (label, row),
    };
    rows.into_iter().map(give).collect()
}

fn longest(document: &Document) -> Option<&LaunchReport> {
    document.launches.iter().max_by(|a, b| a.time_share.total_cmp(&b.time_share))
}

/// `ado/v2 takes 10.97 ms, bound by memory: L1 data pipe 76% busy`; shorter, without the reason, then
/// with the step's name alone.
fn headline(document: &Document, launch: Option<&LaunchReport>) -> Sentence {
    let (time, short) = match (&document.step, document.launches.as_slice()) {
        (Some(step), _) => {
            let took = median(&step.time_ns);
            (format!("{} takes {took}", subject(document)), format!("{} takes {took}", step.name))
        }
        (None, [launch]) => {
            let (name, short) = (name(launch, NAME), name(launch, SHORT_NAME));
            match launch.duration_ns.map(duration) {
                Some(ns) => {
                    (format!("{name} takes {ns} under the profiler"), format!("{short} takes {ns}"))
                }
                None => (name, short),
            }
        }
        _ => (subject(document), subject(document)),
    };
    if let Some(program) = &document.program {
        return of_program(program, launch);
    }
    let Some(launch) = launch else { return Sentence::of([time, short]) };
    let bound = bound(launch);
    if document.launches.len() > 1 {
        let most = most_of_the_time(document, launch);
        return Sentence::of([
            format!("{time}; {most}, {bound}"),
            format!("{time}, {bound}"),
            format!("{short}, {bound}"),
        ]);
    }
    let why = because(launch).map_or_else(String::new, |why| format!(": {why}"));
    Sentence::of([
        format!("{time}, {bound}{why}"),
        format!("{time}, {bound}"),
        format!("{short}, {bound}"),
    ])
}

/// Which of several launches the verdict is about, with all that are like it: `launch 0 (reduce_strided) takes 95%
/// of the kernels' time` where others of that name are not like it, `all 32 launches are of seasons`.
fn most_of_the_time(document: &Document, launch: &LaunchReport) -> String {
    let alike = |other: &&LaunchReport| {
        other.kernel == launch.kernel && other.grid == launch.grid && other.block == launch.block
    };
    let first = document.launches.iter().position(|other| alike(&other)).unwrap_or(0);
    let is_namesake = |other: &&LaunchReport| self::name(other, NAME) == self::name(launch, NAME);
    let namesakes = document.launches.iter().filter(is_namesake).count();
    let alike: Vec<&LaunchReport> = document.launches.iter().filter(alike).collect();
    let share = percent(alike.iter().map(|launch| launch.time_share).sum());
    let name = name(launch, NAME);
    match alike.len() {
        0 | 1 if namesakes > 1 => {
            format!("launch {first} ({name}) takes {share} of the kernels' time")
        }
        0 | 1 => format!("{name} takes {share} of the kernels' time"),
        n if n == document.launches.len() => format!("all {n} launches are of {name}"),
        n if namesakes > n => {
            let more = n - 1;
            format!(
                "launch {first} and {more} more like it ({name}) take {share} of the kernels' time"
            )
        }
        n => format!("{n} launches of {name} take {share} of the kernels' time"),
    }
}

/// `./train takes 3.2 s, the GPU busy for 61% of it; gemm takes 40% of the kernels' time, bound by memory`.
fn of_program(program: &Program, launch: Option<&LaunchReport>) -> Sentence {
    let busy = percent(program.gpu_busy_ns / program.wall_ns.max(1.0));
    let took = duration(program.wall_ns);
    let command = short_command(&program.command, NAME);
    let short_command = short_command(&program.command, SHORT_NAME);
    let (time, short) = if program.is_window {
        (
            format!("in {took} of {command}, the GPU is busy for {busy}"),
            format!("{took} of {short_command}"),
        )
    } else {
        (
            format!("{command} takes {took}, the GPU busy for {busy} of it"),
            format!("{short_command} takes {took}"),
        )
    };
    let Some(launch) = launch else { return Sentence::of([time, short]) };
    let share = percent(launch.time_share);
    let (name, bound) = (name(launch, NAME), bound(launch));
    Sentence::of([
        format!("{time}; {name} takes {share} of the kernels' time, {bound}"),
        format!("{time}; {name} is {bound}"),
        format!("{short}; {name} is {bound}"),
        format!("{short}, {bound}"),
    ])
}

/// A command in so many columns: where it is longer, without the folders of its program, which say least.
fn short_command(command: &str, most: usize) -> String {
    let printed = printable(command);
    let (program, arguments) = printed.split_once(' ').unwrap_or((&printed, ""));
    let name = program.rsplit('/').next().unwrap_or(program);
    if columns(&printed) <= most || name.is_empty() {
        return fit(&printed, most);
    }
    fit(format!("{name} {arguments}").trim_end(), most)
}

/// What to do after a survey alone.
fn surveyed(program: &Program) -> Vec<(&'static str, Sentence)> {
    let command = format!("adoprof profile -- {}", program.command);
    vec![
        ("result", "surveyed only, so there is nothing to diagnose".to_owned().into()),
        ("next", Sentence::command(command, "says what to change")),
    ]
}

/// A kernel's name without its parameters.
fn name(launch: &LaunchReport, most: usize) -> String {
    kernel_name::short(&launch.kernel, most)
}

/// What bounds a launch, in a few words.
pub(crate) fn bound(launch: &LaunchReport) -> String {
    match launch.bound {
        Bound::None => "bound by something that the collected metrics don't show".to_owned(),
        bound => format!("bound by {}", bound.word()),
    }
}

/// Why, in a few words: how busy the busiest unit is, or in which way the launch is too small.
fn because(launch: &LaunchReport) -> Option<String> {
    if launch.bound == Bound::Launch {
        let (class, _) = launch.bottleneck.split_once(": ")?;
        return Some(class.to_lowercase().replace("sms", "SMs"));
    }
    // Where the busiest unit was not counted, the sentence of the bottleneck names none.
    let busiest = launch.utilization.first().filter(|_| names_a_unit(launch))?;
    let share = percent(busiest.share);
    match launch.bound {
        Bound::Latency => Some(format!("no unit more than {share} busy")),
        Bound::Memory | Bound::Compute => Some(format!("{} {share} busy", busiest.unit)),
        Bound::Launch | Bound::None => None,
    }
}

/// True where a unit is known to be the busiest, and not just the busiest of those that were counted.
fn names_a_unit(launch: &LaunchReport) -> bool {
    launch.utilization.iter().any(|unit| launch.bottleneck.contains(&*unit.unit))
}

fn advice(document: &Document, finding: &RankedFinding) -> Vec<(&'static str, Sentence)> {
    if is_roof(&finding.rule) {
        let stop = finding.hint.split(". ").next().unwrap_or(&finding.hint);
        return vec![("result", stop.trim_end_matches('.').to_owned().into())];
    }
    // Rules of the user's own have no example.
    let is_users = finding.rule.starts_with(PREFIX);
    let about =
        if is_users { "what the rule looks for" } else { "what the fault is, with an example" };
    let explain = || NextStep {
        command: format!("adoprof explain {}", finding.rule),
        about: about.to_owned(),
    };
    let NextStep { command, about } = next_step(document).unwrap_or_else(explain);
    vec![
        ("change", change(finding)),
        ("worth", worth(document, finding)),
        ("next", Sentence::command(command, &about)),
    ]
}

/// The first clause of the hint, at the place in full (`Keep idle warps out of kernels/ado/v2.cu:37`);
/// shorter, at the file's name alone.
fn change(finding: &RankedFinding) -> Sentence {
    let hint = finding.hint.trim_end_matches('.');
    let clause = [": ", "; ", ". ", " (", ", or "]
        .iter()
        .fold(hint, |clause, end| clause.split(end).next().unwrap_or(clause));
    // The row's label says so already.
    let clause = clause.strip_prefix("Change ").unwrap_or(clause);
    let Some(location) = finding.locations.first() else {
        return Sentence::from(clause.to_owned()).whole();
    };
    let name = location.name();
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    let at = |place: &str| match clause.split_once(&name) {
        Some((before, after)) if ends(after) => format!("{before}{place}{after}"),
        _ => format!("{clause}, at {place}"),
    };
    let place = place(location);
    Sentence::of([at(&place), at(place.rsplit('/').next().unwrap_or(&place))]).whole()
}

/// The rows of a finding about the program.
fn around(finding: &ProgramFinding) -> Vec<(&'static str, Sentence)> {
    let (hint, rule) = (&finding.hint, &finding.rule);
    let clause = hint.split([':', ';', ',', '.']).next().unwrap_or(hint);
    let gain = &finding.estimated_speedup;
    let range = estimate(gain);
    vec![
        ("change", Sentence::of([hint.clone(), clause.to_owned()])),
        (
            "worth",
            Sentence::of([
                format!("{range} for the whole program, for removing {rule}"),
                format!("{range}: {rule}"),
                range,
            ]),
        ),
        ("next", Sentence::command(format!("adoprof explain {rule}"), "what the fault is")),
    ]
}

fn worth(document: &Document, finding: &RankedFinding) -> Sentence {
    let rule = &finding.rule;
    if asks_for_rebuild(rule) {
        let why =
            ": the profile of a debug build can't show it; what follows describes the debug build";
        return Sentence::of([format!("unknown{why}"), "unknown: a debug build".to_owned()]);
    }
    let whole = whole_step_estimate(document);
    let (Some(gain), Some(of_kernel)) = (whole, finding.estimated_speedup) else {
        let unknown = format!("unknown for {rule}");
        let is_modeled = |launch: &LaunchReport| {
            let has = launch.findings.iter().any(|one| one.rule == *rule);
            has && !launch.ranking.is_empty()
        };
        let why = if document.launches.iter().any(is_modeled) {
            ": it depends on how far the change can be taken"
        } else {
            ": the profile lacks the counters that would show it"
        };
        return Sentence::of([format!("{unknown}{why}"), unknown]);
    };
    let has = |launch: &&LaunchReport| launch.findings.iter().any(|one| one.rule == *rule);
    let kernels = document.launches.iter().filter(has).count();
    let of_kernel = factor(of_kernel.factor);
    let over = match &document.program {
        Some(_) if kernels > 1 => format!(" for the whole program, over {kernels} kernels,"),
        Some(_) => format!(" for the whole program, {of_kernel} for the kernel,"),
        None if document.launches.len() > 1 => " over all launches".to_owned(),
        None => String::new(),
    };
    let briefly = if document.program.is_some() { " for the program" } else { "" };
    let end = if gain.factor < LEAST_GAIN { "; little to gain" } else { "" };
    let range = estimate(&gain);
    Sentence::of([
        format!("{range}{over} for removing {rule}{end}"),
        format!("{range}{briefly}: {rule}{end}"),
        format!("{range}: {rule}"),
        range,
    ])
}

/// What it means that there is no finding: the fewer rules could be checked, the less, and where it is less
/// than half of them, what to do about it.
fn nothing_found(launches: &[LaunchReport]) -> Vec<(&'static str, Sentence)> {
    let all = rule_count();
    let skipped = launches.iter().map(|launch| launch.skipped.len()).max().unwrap_or(0);
    let checked = all.saturating_sub(skipped);
    let result = match checked {
        _ if skipped == 0 => "no rule found a fault".to_owned(),
        0 => "unknown, because no rule could be checked".to_owned(),
        _ if 2 * skipped > all => {
            format!(
                "too little was collected: only {checked} of {all} rules could be checked, and none of them fired"
            )
        }
        _ => format!("none of the {checked} rules that could be checked found a fault"),
    };
    let mut rows = vec![("result", result.into())];
    if 2 * skipped > all {
        let about = "collects what all rules need; `ncu --set full` collects what most need";
        rows.push(("next", Sentence::command("adoprof profile -- PROGRAM".to_owned(), about)));
    }
    rows
}

#[cfg(test)]
mod tests;
