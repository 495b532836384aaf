//! The head of a text report: what was run, where, how well, how fast.

use crate::document::Document;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::report::words::number::{factor, shape, timing};
use crate::report::words::subject::{answer, device, library, rate, recorded, subject};
use crate::text::duration;
use crate::text::layout::fit;
use crate::timing::StepInfo;

/// The first line of a recording, the title, and the facts of the run.
pub fn header(page: &mut Page, document: &Document) {
    recording(page, document);
    title(page, document);
    if page.style.quiet {
        return;
    }
    if let Some(device) = device(document) {
        page.labelled("  ", "device", device);
    }
    if let [launch] = document.launches.as_slice() {
        // Without a step the kernel is the title.
        if document.step.is_some() {
            page.labelled("  ", "kernel", &fit(&launch.kernel, 2 * page.style.width));
        }
        page.labelled("  ", "grid", &shape(launch));
    }
    if let Some(step) = &document.step {
        run(page, step);
    } else if let [launch] = document.launches.as_slice()
        && let Some(ns) = launch.duration_ns
    {
        page.labelled("  ", "time", &format!("{} under the profiler", duration(ns)));
    }
    if let Some(step) = &document.step {
        cpu(page, step);
    }
}

fn recording(page: &mut Page, document: &Document) {
    if let Some(sentence) = recorded(document) {
        page.inked("", &sentence, Ink::Yellow);
    }
}

fn title(page: &mut Page, document: &Document) {
    let mut title = subject(document);
    if let Some(step) = &document.step {
        if !step.title.is_empty() {
            title.push_str(": ");
            title.push_str(&step.title);
        }
        if page.style.quiet {
            title = format!("{title}, {}", duration(step.time_ns.median));
        }
    }
    page.inked("", &fit(&title, 2 * page.style.width), Ink::Bold);
}

fn run(page: &mut Page, step: &StepInfo) {
    if !step.size.is_empty() {
        page.labelled("  ", "size", &step.size_words());
    }
    page.labelled("  ", "answer", &answer(step));
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
        Column::number("kernel"),
        Column::number("speed-up"),
        Column::number("with transfers"),
        Column::number("speed-up"),
    ];
    let against = |cpu: f64, gpu: f64| if gpu > 0.0 { factor(cpu / gpu) } else { String::new() };
    let mut rows: Vec<Vec<String>> = step
        .cpu
        .iter()
        .map(|cpu| {
            let threads = if cpu.threads == 1 { "thread" } else { "threads" };
            vec![
                format!("CPU {} ({} {threads})", cpu.name, cpu.threads),
                duration(cpu.ns),
                against(cpu.ns, kernel),
                String::new(),
                step.total_ns.map(|total| against(cpu.ns, total)).unwrap_or_default(),
            ]
        })
        .collect();
    rows.push(vec![
        format!("GPU {}", step.name),
        duration(kernel),
        String::new(),
        step.total_ns.map(duration).unwrap_or_default(),
        String::new(),
    ]);
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
