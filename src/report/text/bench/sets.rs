//! The figures of sets of kernels.

use crate::bench::{Figures, FirstJudged, SetFigures, Tally, Three};
use crate::report::text::figures::tally;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::report::words::number::factor;

/// How a set came about, then its figures as first judged and as they are now.
pub(super) fn of_set(page: &mut Page, set: &SetFigures) {
    let title = format!("set {}: {} kernels", set.set.number, set.kernels);
    page.inked("", &title, Ink::Bold);
    page.paragraph("", &set.set.came);
    let judged = set.set.judged.as_ref();
    if let Some(judged) = judged {
        page.paragraph(
            "",
            &format!(
                "First judged by the rules of {}, with the recordings of {}. Seen since: by today's rules, \
                 which were changed after the set was seen.",
                judged.rules,
                judged.recordings.join(" and ")
            ),
        );
    }
    figures(page, judged, &set.seen_since);
}

pub(super) fn figures(page: &mut Page, judged: Option<&FirstJudged>, now: &Three) {
    let number = |value: Option<f64>| value.map_or_else(|| "—".to_owned(), factor);
    let kept = |value: Option<Tally>| value.map_or_else(|| "—".to_owned(), tally);
    let mut head = vec![Column::text("")];
    head.extend(judged.map(|_| Column::number("first judged")));
    head.push(Column::number("seen since"));
    head.push(Column::number("ncu, any estimate").optional());
    head.push(Column::number("ncu, whole kernel"));
    let row = |title: &str, first: Option<String>, cell: &dyn Fn(&Figures) -> String| {
        let mut row = vec![title.to_owned()];
        row.extend(judged.map(|_| first.unwrap_or_else(|| "—".to_owned())));
        row.extend([&now.adoprof, &now.ncu, &now.ncu_global].map(cell));
        row
    };
    let rows = [
        row("right first", judged.map(|j| kept(j.first)), &|f| tally(f.first)),
        row("  where ncu has a rule", None, &|f| tally(f.first_of_ncus_kinds)),
        row("among the first three", judged.map(|j| kept(j.first_three)), &|f| {
            tally(f.first_three)
        }),
        row("has an estimate", None, &|f| tally(f.estimated)),
        row("  off by, median of these", None, &|f| number(f.median_ratio_estimated)),
        row("off by, median of all", judged.map(|j| number(j.median_ratio)), &|f| {
            number(f.median_ratio)
        }),
        row("off by, worst of all", judged.map(|j| number(j.worst_ratio)), &|f| {
            number(f.worst_ratio)
        }),
        row("range holds the gain", judged.map(|j| kept(j.held)), &|f| tally(f.held)),
        row("still promised once repaired", None, &|f| tally(f.insists)),
        row("  and named first", None, &|f| tally(f.insists_first)),
        row("false alarms at a limit", judged.map(|j| kept(j.false_alarms)), &|f| {
            tally(f.false_alarms)
        }),
        row("faults that are not there", judged.map(|j| kept(j.accused)), &|f| tally(f.accused)),
    ];
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
    page.paragraph("", &format!("the first line is one of the fault's: {}", tally(now.lines)));
    page.paragraph("", &format!("right first without the SASS: {}", tally(now.first_without_sass)));
}
