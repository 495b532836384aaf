//! The head of a text report, and its facts: what was run, where, how well, how fast.

use crate::document::Document;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::report::words::number::{factor, median, shape, timing};
use crate::report::words::sentence::{Sentence, fitted};
use crate::report::words::subject::{answer, device, library, rate, recorded, subject};
use crate::report::words::verdict;
use crate::text::layout::{fit, wrap};
use crate::text::{count_of, duration};
use crate::timing::StepInfo;

/// Lines of the verdict at most, what a recording says first included.
const MOST_LINES: usize = 5;

/// The first line of a recording, then the verdict.
pub(super) fn header(page: &mut Page, document: &Document) {
    let recorded = recorded(document);
    if let Some(sentence) = &recorded {
        page.inked("", sentence, Ink::Yellow);
    }
    let answer = verdict::answer(document);
    let most = MOST_LINES - usize::from(recorded.is_some());
    let room = page.style.prose();
    let fit = |rows: Vec<(&'static str, Sentence)>| {
        let beside = |label| room.saturating_sub(Page::label_columns(label));
        let (labels, sentences): (Vec<_>, Vec<_>) =
            rows.into_iter().map(|(label, row)| (label, (row, beside(label)))).unzip();
        let sentences = [vec![(answer.headline.clone(), room)], sentences].concat();
        let said = fitted(&sentences, most);
        let height = said.iter().zip(&sentences).map(|(text, (_, room))| wrap(text, *room).len());
        (height.sum::<usize>(), labels, said)
    };
    let mut shown = fit(answer.rows.clone());
    if shown.0 > most {
        shown = fit(verdict::folded(answer.rows.clone()));
    }
    // Where there is no room for all of the change, its beginning is better than none.
    if shown.0 > most {
        shown = fit(verdict::yielding(verdict::folded(answer.rows)));
    }
    let (_, labels, said) = shown;
    let mut said = said.into_iter();
    page.inked("", &said.next().unwrap_or_default(), Ink::Bold);
    for (label, sentence) in labels.into_iter().zip(said) {
        page.labelled("", label, &sentence);
    }
}

/// What was run and measured.
pub(super) fn facts(page: &mut Page, document: &Document) {
    let one = match document.launches.as_slice() {
        [launch] => Some(launch),
        _ => None,
    };
    if document.step.is_none() && one.is_none() {
        return;
    }
    page.blank();
    page.inked("", "what was measured", Ink::Bold);
    if let Some(step) = document.step.as_ref().filter(|step| !step.title.is_empty()) {
        page.labelled("  ", "step", &format!("{}: {}", subject(document), step.title));
    }
    if let Some(device) = device(document) {
        page.labelled("  ", "device", device);
    }
    if let Some(launch) = one {
        page.labelled("  ", "kernel", &fit(&launch.kernel, 2 * page.style.width));
        page.labelled("  ", "grid", &shape(launch));
        // Of programs that were profiled here, a notice says so.
        let mut places = launch.findings.iter().flat_map(|finding| &finding.locations);
        if document.program.is_none() && places.any(|place| place.offset.is_some()) {
            page.labelled(
                "  ",
                "lines",
                "none: compile with -lineinfo, which costs no speed, to see them",
            );
        }
    }
    match (&document.step, one.and_then(|launch| launch.duration_ns)) {
        (Some(step), _) => {
            run(page, document, step);
            cpu(page, step);
        }
        (None, Some(ns)) => {
            page.labelled("  ", "time", &format!("{} under the profiler", duration(ns)));
        }
        (None, None) => {}
    }
}

fn run(page: &mut Page, document: &Document, step: &StepInfo) {
    if !step.size.is_empty() {
        page.labelled("  ", "size", &step.size_words());
    }
    page.labelled("  ", "answer", &answer(document, step));
    page.labelled("  ", "time", &format!("{} without the profiler", timing(&step.time_ns)));
    if let Some(rate) = rate(step) {
        page.labelled("  ", "rate", &rate);
    }
    if let Some(library) = library(step) {
        page.labelled("  ", "library", &library);
    }
}

/// The CPU references against the step: without transfers, and with them where they were timed.
fn cpu(page: &mut Page, step: &StepInfo) {
    if step.cpu.is_empty() {
        return;
    }
    let kernel = step.time_ns.median;
    let head = [
        Column::text("solver").flexible(12),
        Column::number("time"),
        Column::number("kernel's speed-up"),
        Column::number("with transfers").optional(),
    ];
    let against = |cpu: f64, gpu: f64| if gpu > 0.0 { factor(cpu / gpu) } else { String::new() };
    let mut rows: Vec<Vec<String>> = step
        .cpu
        .iter()
        .map(|cpu| {
            vec![
                format!("CPU {}, {}", cpu.name, count_of(cpu.threads as f64, "thread")),
                duration(cpu.ns),
                against(cpu.ns, kernel),
                step.total_ns.map(|total| against(cpu.ns, total)).unwrap_or_default(),
            ]
        })
        .collect();
    rows.push(vec![format!("GPU {}, kernel", step.name), median(&step.time_ns)]);
    if let Some(total) = step.total_ns {
        rows.push(vec![format!("GPU {}, with transfers", step.name), duration(total)]);
    }
    page.blank();
    let lines = render(&head, &rows, page.style.width - 2);
    page.table("  ", &lines);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;
    use crate::timing::LibraryTime;

    #[test]
    fn a_step_is_measured_against_the_library() {
        let mut step = samples::step("m10", 4096, 4.0, 34_000.0);
        assert_eq!(library(&step), None);
        // 3 of 4 ms: three quarters of the library's rate.
        step.library = Some(LibraryTime { name: "cublas-sgemm".to_owned(), ns: 3e6 });
        let text = library(&step).unwrap_or_default();
        assert!(text.starts_with("cublas-sgemm 3"), "{text}");
        assert!(text.ends_with("this step reaches 75% of its rate"), "{text}");
    }
}
