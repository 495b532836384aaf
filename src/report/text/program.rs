//! The kinds of launches of a surveyed program.

use crate::document::{Document, GroupResidency, Program, ProgramGroup};
use crate::kernel_name;
use crate::report::text::bars::height;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, MOST_ROWS, render};
use crate::report::words::call_site::call_site;
use crate::report::words::number::{estimate, extent, factor};
use crate::text::layout::{columns, pad};
use crate::text::{bytes, count, count_of, duration, percent, significant};

/// The most columns that a kernel's name takes in the table, which cuts it where the terminal is narrow.
const LONGEST_NAME: usize = 80;

/// The table of groups: those that were profiled with their first finding and what the program gains.
pub(super) fn groups(page: &mut Page, document: &Document, program: &Program) {
    if program.groups.is_empty() {
        return;
    }
    page.blank();
    let most = if page.style.verbose { program.groups.len() } else { MOST_ROWS };
    // Without a profiled launch what the survey knows takes the place of findings.
    let is_survey = document.launches.is_empty();
    let rows: Vec<Vec<String>> =
        program.groups.iter().take(most).map(|group| row(document, group, is_survey)).collect();
    let head = [
        Column::number("#").optional(),
        Column::text("kernel").flexible(14),
        Column::number("launches"),
        Column::number("total"),
        Column::number("share"),
        Column::number("median").optional(),
        Column::text(if is_survey { "occupancy" } else { "first finding" }).optional(),
        Column::number(if is_survey { "waves" } else { "program gains" }).optional(),
        Column::text("grid × block").optional(),
    ];
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
    if let Some(rest) = program.groups.get(most..).filter(|rest| !rest.is_empty()) {
        let share: f64 = rest.iter().map(|group| group.share).sum();
        let kinds = count_of(rest.len() as f64, "kind");
        let text = format!("{kinds} more, {} of the kernels' time (-v shows them)", percent(share));
        page.inked("", &text, Ink::Dim);
    }
}

/// Columns of a timeline's lane at most.
const WIDEST: usize = 100;

/// One line per stream, direction of copies, and the host's waits.
pub(super) fn timeline(page: &mut Page, program: &Program) {
    if program.lanes.is_empty() {
        return;
    }
    page.blank();
    let title =
        format!("the {} from the GPU's first work to its last", duration(program.active_ns));
    page.inked("", &title, Ink::Bold);
    let name = program.lanes.iter().map(|lane| columns(&lane.name)).max().unwrap_or(0);
    let width = page.style.width.saturating_sub(name + 4).clamp(10, WIDEST);
    for lane in &program.lanes {
        let line = format!("  {} {}", pad(&lane.name, name), bar(&lane.busy, width));
        page.line(line.trim_end());
    }
}

/// A lane in so many columns: the higher the block, the busier.
fn bar(busy: &[f64], width: usize) -> String {
    let width = width.min(busy.len());
    (0..width)
        .map(|column| {
            let part = &busy[column * busy.len() / width..(column + 1) * busy.len() / width];
            height(part.iter().sum::<f64>() / part.len().max(1) as f64)
        })
        .collect()
}

/// What lies around the kernels.
pub(super) fn findings(page: &mut Page, program: &Program) {
    if program.findings.is_empty() {
        return;
    }
    page.blank();
    page.inked("", "around the kernels", Ink::Bold);
    for finding in &program.findings {
        let gain = estimate(&finding.estimated_speedup);
        let headline = format!("{}. {}: {gain} for the program", finding.rank, finding.rule);
        page.inked("", &headline, Ink::Bold);
        page.paragraph("   ", &format!("{}.", finding.message));
        if let Some(site) = finding.sites.first() {
            page.labelled("   ", "called", &call_site(site));
        }
        page.labelled("   ", "change", &format!("{}.", finding.hint));
    }
}

/// `75% by registers (33)`.
fn occupancy(residency: &GroupResidency) -> String {
    let share = percent(residency.occupancy);
    match residency.limited_by.as_deref() {
        Some("registers") => format!("{share} by registers ({})", residency.registers),
        Some("shared memory") => {
            format!("{share} by shared memory ({})", bytes(residency.shared_bytes as f64))
        }
        Some(limit) => format!("{share} by {limit}"),
        None => share,
    }
}

fn row(document: &Document, group: &ProgramGroup, is_survey: bool) -> Vec<String> {
    let launch = group.launch.and_then(|at| document.launches.get(at));
    let first = launch.and_then(|launch| Some((launch, launch.findings.first()?)));
    let gain = first.and_then(|(launch, finding)| {
        Some(document.over_all_launches(launch, &finding.estimated_speedup?))
    });
    let residency = group.residency.as_ref().filter(|_| is_survey);
    let finding = first.map(|(_, finding)| finding.rule.clone());
    let gain = gain.map(|gain| factor(gain.factor));
    vec![
        group.launch.map(|at| at.to_string()).unwrap_or_default(),
        kernel_name::short(&group.kernel, LONGEST_NAME),
        count(group.launches as f64),
        duration(group.total_ns),
        percent(group.share),
        duration(group.median_ns),
        finding.or_else(|| residency.map(occupancy)).unwrap_or_default(),
        gain.or_else(|| residency.map(|it| significant(it.waves, 3))).unwrap_or_default(),
        format!("{} × {}", extent(group.grid), extent(group.block)),
    ]
}

#[cfg(test)]
mod tests {
    use crate::document::{Document, Lane, Program, ProgramGroup};
    use crate::report::{Format, Style, render, samples};

    fn group(kernel: &str, share: f64, launch: Option<usize>) -> ProgramGroup {
        ProgramGroup {
            kernel: kernel.to_owned(),
            grid: [64, 1, 1],
            block: [256, 1, 1],
            launches: 1200,
            total_ns: share * 1e9,
            share,
            median_ns: 2e6,
            range_ns: [1e6, 3e6],
            launch,
            ..ProgramGroup::default()
        }
    }

    #[test]
    fn groups_stand_with_what_the_program_gains() {
        let finding = samples::finding(1, "partial-wave", 2.0);
        let launch = samples::launch("void ns::gemm<int>(float*)", 2.0, 0.8, vec![finding]);
        let mut document = Document { launches: vec![launch], ..Document::default() };
        let groups = vec![group("void ns::gemm<int>(float*)", 0.8, None), group("copy", 0.2, None)];
        let (wall_ns, kernel_busy_ns, gpu_busy_ns) = (2e9, 1e9, 1.5e9);
        let command = "./train --fast".to_owned();
        let busy = vec![1.0, 0.5, 0.0, 0.01];
        let lanes = vec![Lane { name: "stream 7".to_owned(), busy }];
        let program = Program {
            command,
            wall_ns,
            gpu_busy_ns,
            kernel_busy_ns,
            active_ns: 1.8e9,
            groups,
            lanes,
            ..Program::default()
        };
        document.attach(program, &[Some(0)]);
        let mut out = Vec::new();
        let style = Style { width: 140, ..Style::default() };
        render(&document, Format::TEXT, style, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let line = |part: &str| text.lines().find(|line| line.contains(part)).unwrap_or(&text);
        let headline = line("./train --fast takes 2.00 s, the GPU busy for 75% of it");
        assert!(headline.contains("gemm"), "{text}");
        // Half of the time in kernels, 80% of that in this one, twice as fast: 0.2 of the time goes.
        assert!(line("gemm<int>  ").contains("1.25×"), "{text}");
        for part in ["gemm<int>", "1,200", "800 ms", "80%", "partial-wave", "64 × 256"] {
            assert!(line("gemm<int>  ").contains(part), "no {part}: {text}");
        }
        assert!(text.contains("the 1.80 s from"), "{text}");
        assert_eq!(line("  stream 7"), "  stream 7 █▄ ▁");
        assert!(line("copy ").contains("20%"), "{text}");
    }
}
