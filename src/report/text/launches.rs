//! The launches of a report: a table of their kinds, and the kinds to diagnose in full.

use std::collections::HashMap;

use super::page::{Ink, Page};
use super::program;
use super::table::{Column, MOST_ROWS, render};
use crate::document::{Document, LaunchReport};
use crate::kernel_name;
use crate::report::words::number::{extents, factor};
use crate::text::{duration, percent};

/// The most columns that a kernel's name takes in the table, which cuts it where the terminal is narrow.
const LONGEST_NAME: usize = 80;
/// Kinds diagnosed in full unless all are asked for: those that matter for the whole time.
const MOST_IN_FULL: usize = 3;
/// The least share of the time for that, but for the largest kind: to remove a kernel of a smaller one wholly would
/// gain less than most timings scatter.
const LEAST_SHARE: f64 = 0.1;

/// Launches of one kernel, grid, and block of which the same is said first.
pub(super) struct Kind {
    /// Their indices; there is at least one.
    launches: Vec<usize>,
}

impl Kind {
    /// The index of the launch that stands for all.
    pub(super) fn first(&self) -> usize {
        self.launches[0]
    }

    /// How many launches it stands for.
    pub(super) fn count(&self) -> usize {
        self.launches.len()
    }

    /// `launch 2`, or `launch 2 and 5 more like it`.
    pub(super) fn title(&self) -> String {
        match self.launches.len() {
            1 => format!("launch {}", self.first()),
            all => format!("launch {} and {} more like it", self.first(), all - 1),
        }
    }

    fn share(&self, document: &Document) -> f64 {
        self.launches.iter().map(|&at| document.launches[at].time_share).sum()
    }
}

/// Shows the launches where there are several; gives the kinds to diagnose in full, the one with the most time
/// first. With `-v` each launch is a kind of its own.
pub(super) fn launches(page: &mut Page, document: &Document) -> Vec<Kind> {
    let kinds = kinds(document, page.style.verbose);
    if let Some(program) = &document.program {
        program::timeline(page, program);
        program::groups(page, document, program);
        program::findings(page, program);
    } else if document.launches.len() > 1 {
        table(page, document, &kinds);
    }
    of_interest(page, document, kinds)
}

fn kinds(document: &Document, apart: bool) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let mut by_looks = HashMap::new();
    for (at, launch) in document.launches.iter().enumerate() {
        let first = launch.findings.first().map(|finding| finding.rule.as_str());
        let looks = (launch.kernel.as_str(), launch.grid, launch.block, first);
        let next = kinds.len();
        let kind = if apart { next } else { *by_looks.entry(looks).or_insert(next) };
        match kinds.get_mut(kind) {
            Some(kind) => kind.launches.push(at),
            None => kinds.push(Kind { launches: vec![at] }),
        }
    }
    kinds.sort_by(|a, b| b.share(document).total_cmp(&a.share(document)));
    kinds
}

fn table(page: &mut Page, document: &Document, kinds: &[Kind]) {
    page.blank();
    let most = if page.style.verbose { kinds.len() } else { MOST_ROWS };
    let several = kinds.iter().any(|kind| kind.launches.len() > 1);
    let rows: Vec<Vec<String>> =
        kinds.iter().take(most).map(|kind| row(document, kind, several)).collect();
    let mut head = vec![Column::number("#"), Column::text("kernel").flexible(14)];
    if several {
        head.push(Column::number("launches"));
    }
    head.extend([
        Column::number("share"),
        // Beside a step's own time, taken without the profiler.
        Column::number(if document.step.is_some() { "under ncu" } else { "time" }),
        Column::text("bound").optional(),
        Column::text("first finding").flexible(25),
        Column::number("estimate").optional(),
        Column::text("grid × block").optional(),
    ]);
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
    if kinds.len() > most {
        let share: f64 = kinds[most..].iter().map(|kind| kind.share(document)).sum();
        let more = kinds.len() - most;
        let text = format!("{more} more, {} of the time (-v shows them)", percent(share));
        page.inked("", &text, Ink::Dim);
    }
}

fn row(document: &Document, kind: &Kind, several: bool) -> Vec<String> {
    let launch = &document.launches[kind.first()];
    let first = launch.findings.first();
    let times = kind.launches.iter().map(|&at| document.launches[at].duration_ns);
    let time: Option<f64> = times.sum();
    let mut row = vec![kind.first().to_string(), kernel_name::short(&launch.kernel, LONGEST_NAME)];
    if several {
        row.push(kind.launches.len().to_string());
    }
    row.extend([
        percent(kind.share(document)),
        time.map(duration).unwrap_or_default(),
        launch.bound.word().to_owned(),
        first.map(|finding| finding.rule.clone()).unwrap_or_default(),
        estimate(launch),
        extents(launch.grid, launch.block),
    ]);
    row
}

fn estimate(launch: &LaunchReport) -> String {
    let first = launch.findings.first().and_then(|finding| finding.estimated_speedup);
    first.map(|gain| factor(gain.factor)).unwrap_or_default()
}

/// The kinds to diagnose in full: those with the most time, and the verdict's.
fn of_interest(page: &Page, document: &Document, kinds: Vec<Kind>) -> Vec<Kind> {
    if page.style.verbose {
        return kinds;
    }
    let verdict = document.verdict.as_ref().and_then(|verdict| verdict.launch);
    let main = |place: usize, kind: &Kind| {
        place == 0
            || (place < MOST_IN_FULL && kind.share(document) >= LEAST_SHARE)
            || verdict.is_some_and(|at| kind.launches.contains(&at))
    };
    let kept = kinds.into_iter().enumerate().filter(|(place, kind)| main(*place, kind));
    kept.map(|(_, kind)| kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::launch;
    use crate::report::style::Style;

    fn document(kernels: &[(&str, f64)]) -> Document {
        let launch =
            |&(kernel, share): &(&str, f64)| launch(kernel, 100.0 * share, share, Vec::new());
        Document { launches: kernels.iter().map(launch).collect(), ..Document::default() }
    }

    #[test]
    fn launches_of_which_the_same_is_said_are_one_kind() {
        let document = document(&[("f", 0.2), ("g", 0.35), ("f", 0.2), ("f", 0.25)]);
        let mut page = Page::new(Style { width: 100, ..Style::default() });
        let kinds = launches(&mut page, &document);
        let titles: Vec<String> = kinds.iter().map(Kind::title).collect();
        assert_eq!(titles, ["launch 0 and 2 more like it", "launch 1"], "65% of the time first");
        let mut out = Vec::new();
        page.write(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let row = text.lines().find(|line| line.starts_with("0  f")).unwrap();
        assert!(row.contains("  3  ") && row.contains("65%") && row.contains("65.0 ms"), "{text}");
    }

    #[test]
    fn times_beside_a_steps_own_are_called_the_profilers() {
        let head = |document: &Document| {
            let mut page = Page::new(Style { width: 100, ..Style::default() });
            launches(&mut page, document);
            let mut out = Vec::new();
            page.write(&mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            text.lines().find(|line| line.starts_with('#')).unwrap().to_owned()
        };
        let mut document = document(&[("f", 0.5), ("g", 0.5)]);
        assert!(head(&document).contains("  time  ") && !head(&document).contains("ncu"));
        document.step = crate::report::samples::recorded_step().step;
        assert!(head(&document).contains("under ncu"), "{}", head(&document));
    }

    #[test]
    fn each_launch_stands_for_itself_where_all_is_asked_for() {
        let document = document(&[("f", 0.5), ("f", 0.5)]);
        let mut page = Page::new(Style { verbose: true, ..Style::default() });
        assert_eq!(launches(&mut page, &document).len(), 2);
    }
}
