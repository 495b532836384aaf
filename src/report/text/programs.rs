//! The bench of other people's programs as text.

use crate::bench::{MeasuredFinding, ProgramFigures, ProgramKernel, Programs, held};
use crate::finding::Estimate;
use crate::report::text::figures::{bare, estimate, tally};
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::report::words::number::factor;

/// Adds each kernel's first findings with what their changes gained, then the figures.
pub(super) fn programs(page: &mut Page, programs: &Programs) {
    if !page.style.quiet {
        page.inked("", "kernels of public programs", Ink::Bold);
        let head = [
            Column::text("kernel").flexible(16),
            Column::number("most"),
            Column::number("rank"),
            Column::text("finding").flexible(18),
            Column::text("estimate"),
            Column::number("gained"),
        ];
        let rows: Vec<Vec<String>> = programs.kernels.iter().flat_map(rows).collect();
        let lines = render(&head, &rows, page.style.width);
        page.table("", &lines);
        page.inked(
            "",
            "most: the best change that could be found; — : nobody made the change, or no finding asks for it any \
             more; ! marks a range that misses the gain",
            Ink::Dim,
        );
        page.blank();
    }
    let head = [Column::text(""), Column::number("tuned by"), Column::number("kept back")];
    let rows: Vec<Vec<String>> = figures(&programs.tuning)
        .into_iter()
        .zip(figures(&programs.kept_back))
        .map(|((title, tuning), (_, kept_back))| vec![title.to_owned(), tuning, kept_back])
        .collect();
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
}

/// Each figure's title and value.
fn figures(figures: &ProgramFigures) -> [(&'static str, String); 10] {
    let number = |ratio: Option<f64>| ratio.map_or_else(|| "—".to_owned(), factor);
    [
        ("first finding's change was made", tally(figures.first_tried)),
        ("first finding right", tally(figures.right)),
        ("gained the 10% that it promised", tally(figures.worth_making)),
        ("made the kernel slower", tally(figures.harmed)),
        ("changes that gained nothing, not promised", tally(figures.withdrawn)),
        ("changes that gained, promised", tally(figures.kept)),
        ("off by, median", number(figures.median_ratio)),
        ("off by, worst", number(figures.worst_ratio)),
        ("range holds the gain", tally(figures.held)),
        ("high over low, median", number(figures.median_range)),
    ]
}

/// The first findings of a kernel, then the rules that were tried and stand further down.
fn rows(kernel: &ProgramKernel) -> Vec<Vec<String>> {
    let first = &kernel.findings;
    let later = kernel.tried.iter().filter(|tried| first.iter().all(|one| one.rule != tried.rule));
    let of = |(at, finding): (usize, &MeasuredFinding)| {
        let head = if at == 0 {
            [format!("{}/{}", kernel.program, kernel.kernel), bare(kernel.most)]
        } else {
            Default::default()
        };
        let known = |text: Option<String>| text.unwrap_or_else(|| "—".to_owned());
        let missed = |gain: &Estimate| finding.gained.is_some_and(|gained| !held(gain, gained));
        let promise =
            |gain: &Estimate| format!("{}{}", estimate(gain), if missed(gain) { " !" } else { "" });
        let [name, most] = head;
        vec![
            name,
            most,
            known(finding.rank.map(|rank| rank.to_string())),
            finding.rule.clone(),
            known(finding.estimate.as_ref().map(promise)),
            known(finding.gained.map(bare)),
        ]
    };
    first.iter().chain(later).enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{BenchDocument, Tally};
    use crate::report::style::Style;
    use crate::text::layout::columns;

    #[test]
    fn findings_stand_beside_their_gains_and_every_line_fits() {
        let gain = Estimate { factor: 1.5, low: 1.2, high: 2.0 };
        let finding = |rule: &str, rank, estimate, gained| MeasuredFinding {
            rule: rule.to_owned(),
            rank,
            estimate,
            gained,
        };
        let kernel = ProgramKernel {
            program: "somewhere".to_owned(),
            kernel: "advance".to_owned(),
            kept_back: true,
            launches: 2,
            time_ns: 1000.0,
            findings: vec![finding("barrier-stalls", Some(1), Some(gain), Some(2.5))],
            tried: vec![finding("missing-data-reuse", None, None, Some(0.61))],
            most: 7.39,
            right: Some(true),
        };
        let figures = ProgramFigures { right: Tally { of: 1, all: 1 }, ..Default::default() };
        let programs =
            Programs { kernels: vec![kernel], kept_back: figures, ..Programs::default() };
        let document = BenchDocument { programs: Some(programs), ..BenchDocument::default() };
        for width in [60, 80, 120] {
            let mut out = Vec::new();
            let style = Style { width, ..Style::default() };
            crate::report::text::bench::bench(&document, style, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(text.lines().all(|line| columns(line) <= width), "{width}: {text}");
            if width == 120 {
                for fact in
                    ["somewhere/advance", "7.39", "1.50 (1.20–2.00) !", "2.50", "0.61", "1 of 1"]
                {
                    assert!(text.contains(fact), "{fact}\n{text}");
                }
            }
        }
    }
}
