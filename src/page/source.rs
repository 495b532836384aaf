//! Source and machine code side by side: where the time goes, what waits for what, and how many registers live.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::figure::round;
use super::heat::class;
use super::places::Places;
use super::sass::{self, Sass};
use crate::document::LaunchReport;
use crate::export::SourceCounters;
use crate::frame::Launch;
use crate::text::percent;

/// Lines shown in front of the first that has counts, and behind the last.
const AROUND: u32 = 2;
/// Smaller shares of the samples are not written out.
const LEAST_SHARE: f64 = 0.0005;

/// A file's lines.
struct File {
    name: String,
    lines: Vec<Line>,
    weight: f64,
}

/// A line.
struct Line {
    number: u32,
    text: String,
    counters: SourceCounters,
    /// Ranks of the findings that name it.
    marks: Vec<usize>,
    /// True where instructions were compiled from it.
    has_code: bool,
}

/// The view of a launch; nothing where it has neither lines nor instructions. `sources` has files' texts by name.
pub(super) fn view(
    id: &str,
    launch: &Launch,
    report: &LaunchReport,
    sources: &BTreeMap<String, String>,
    most_instructions: usize,
) -> Option<Markup> {
    let places = Places::of(launch);
    let files = files(launch, report, sources, &places);
    let sass = Sass::of(launch, most_instructions);
    if files.is_empty() && sass.is_none() {
        return None;
    }
    let hottest = files.iter().flat_map(|file| &file.lines).map(|line| weight(&line.counters));
    let hottest = hottest.fold(0.0, f64::max);
    let total: f64 = files.iter().map(|file| file.weight).sum();
    Some(html! {
        section.code id=(format!("{id}-code")) aria-labelledby=(format!("{id}-code-h")) {
            h3 id=(format!("{id}-code-h")) { "Source and machine code" }
            p.lead {
                "The darker a line, the more stall samples it has; numbers in circles are findings. Choose a \
                 line to see its instructions. Arrows lead from where warps wait to the instruction that they \
                 wait for; "
                em { "live" } " is the number of registers in use."
            }
            div.sides {
                div.scroll.lines tabindex="0" role="region" aria-label="Source" {
                    @for file in &files {
                        table {
                            caption { (file.name) }
                            thead { tr { th scope="col" { "line" } th scope="col" { "samples" } th scope="col" { span.hidden { "findings" } } th scope="col" { "source" } } }
                            tbody {
                                @for line in &file.lines {
                                    @let share = if total > 0.0 { weight(&line.counters) / total } else { 0.0 };
                                    @let name = places.name(&file.name, line.number).unwrap_or_default();
                                    tr id=(format!("{id}-L{name}"))
                                        class=[class(weight(&line.counters), hottest)] data-line=(name) data-share=[(share > 0.0).then(|| round(share, 6))] {
                                        td { @if line.has_code { button type="button" { (line.number) } } @else { (line.number) } }
                                        td { @if share >= LEAST_SHARE { (percent(share)) } }
                                        td {
                                            @for rank in &line.marks {
                                                a.mark href=(format!("#{id}-f{rank}")) aria-label=(format!("finding {rank}")) { (rank) }
                                            }
                                        }
                                        td { (line.text) }
                                    }
                                }
                            }
                        }
                    }
                    @if files.is_empty() { p { "The profile has no source lines: compile with -lineinfo." } }
                }
                @if let Some(sass) = &sass { (sass::view(id, sass, &places)) }
            }
        }
    })
}

fn weight(counters: &SourceCounters) -> f64 {
    if counters.samples > 0.0 { counters.samples } else { 0.0 }
}

fn files(
    launch: &Launch,
    report: &LaunchReport,
    sources: &BTreeMap<String, String>,
    places: &Places,
) -> Vec<File> {
    let mut files: BTreeMap<&str, BTreeMap<u32, Line>> = BTreeMap::new();
    for row in &launch.lines {
        let (Some(name), Some(number)) = (row.file.as_deref(), row.line) else { continue };
        let line = files.entry(name).or_default().entry(number).or_insert_with(|| Line {
            number,
            text: tabless(&row.text),
            counters: SourceCounters::default(),
            marks: Vec::new(),
            has_code: true,
        });
        line.counters += row.counters;
    }
    for finding in &report.findings {
        for location in &finding.locations {
            let line =
                files.get_mut(location.file.as_str()).and_then(|file| file.get_mut(&location.line));
            if let Some(line) = line
                && !line.marks.contains(&finding.rank)
            {
                line.marks.push(finding.rank);
                if line.text.is_empty() {
                    line.text = tabless(&location.text);
                }
            }
        }
    }
    let mut files: Vec<File> = files
        .into_iter()
        .map(|(name, lines)| {
            let weight = lines.values().map(|line| self::weight(&line.counters)).sum();
            File { name: name.to_owned(), lines: completed(lines, sources.get(name)), weight }
        })
        .collect();
    let place = |file: &File| places.files().iter().position(|name| *name == file.name);
    files.retain(|file| place(file).is_some());
    files.sort_by_key(place);
    files
}

/// The lines with their texts, and those between them.
fn completed(mut lines: BTreeMap<u32, Line>, text: Option<&String>) -> Vec<Line> {
    let range = lines.keys().next().copied().zip(lines.keys().next_back().copied());
    if let (Some(text), Some((first, last))) = (text, range) {
        for (number, text) in (1_u32..).zip(text.lines()) {
            if number + AROUND >= first && number <= last + AROUND {
                let line = lines.entry(number).or_insert_with(|| Line {
                    number,
                    text: String::new(),
                    counters: SourceCounters::default(),
                    marks: Vec::new(),
                    has_code: false,
                });
                line.text = tabless(text);
            }
        }
    }
    lines.into_values().collect()
}

/// Indented by spaces: tabs are not printable.
pub(super) fn tabless(text: &str) -> String {
    text.trim_end().replace('\t', "    ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::SourceRow;
    use crate::report::samples;

    #[test]
    fn lines_have_their_share_their_marks_and_their_neighbours() {
        let row = |line, samples| SourceRow {
            file: Some("kernels/ado/v2.cu".into()),
            line: Some(line),
            counters: SourceCounters { samples, ..SourceCounters::default() },
            ..SourceRow::default()
        };
        let mut launch = Launch::default();
        launch.lines = vec![row(23, 30.0), row(25, 10.0)];
        // The sample's finding names line 23.
        let report = samples::launch("k", 1.0, 1.0, vec![samples::finding(1, "partial-wave", 2.0)]);
        let text: Vec<String> = (1..=40).map(|line| format!("\tline {line}")).collect();
        let text = text.join("\n");
        let sources = BTreeMap::from([("kernels/ado/v2.cu".to_owned(), text)]);
        let files = files(&launch, &report, &sources, &Places::of(&launch));
        let numbers: Vec<u32> = files[0].lines.iter().map(|line| line.number).collect();
        assert_eq!(numbers, [21, 22, 23, 24, 25, 26, 27]);
        assert_eq!(files[0].lines[2].marks, [1]);
        assert_eq!(files[0].lines[0].text, "    line 21");
        let view = view("l0", &launch, &report, &sources, 10).unwrap().into_string();
        assert!(
            view.contains(
                r#"<tr id="l0-L0.23" class="h9" data-line="0.23" data-share="0.75"><td><button"#
            ),
            "{view}"
        );
        assert!(view.contains(r##"href="#l0-f1""##), "{view}");
    }
}
