//! Kernel by kernel: what was planted, what adoprof said of it, and what ncu did.

use crate::bench::{PlantedFault, Promise, QuietStep, Said};
use crate::report::text::figures::{bare, estimate};
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};

/// A kernel of the bench in short: its pair, and its step where that is not called after the fault.
fn name(ladder: &str, step: &str) -> String {
    let pair = ladder.strip_prefix("fault-").unwrap_or(ladder);
    if step == "fault" { pair.to_owned() } else { format!("{pair}/{step}") }
}

/// A name and what it promises.
fn promise(promise: Option<&Promise>) -> [String; 2] {
    promise.map_or_else(
        || ["—".to_owned(), String::new()],
        |promise| {
            let gain = promise.estimate.map(|gain| bare(gain.factor)).unwrap_or_default();
            [promise.rule.clone(), gain]
        },
    )
}

fn rank(said: &Said) -> String {
    said.rank.map_or_else(|| "—".to_owned(), |rank| rank.to_string())
}

fn promised(said: &Said) -> String {
    said.estimate.as_ref().map_or_else(|| "—".to_owned(), estimate)
}

pub(super) fn cases(page: &mut Page, cases: &[PlantedFault]) {
    let head = [
        Column::text("kernel").flexible(16),
        Column::text("planted fault").flexible(18),
        Column::number("gain"),
        Column::number("rank"),
        Column::text("estimate"),
        Column::text("first finding").flexible(16),
        Column::number("worth"),
        Column::number("ncu’s").optional(),
        Column::number("rank").optional(),
        Column::text("ncu’s largest").flexible(12).optional(),
        Column::number("worth").optional(),
    ];
    let rows: Vec<Vec<String>> = cases
        .iter()
        .map(|case| {
            let miss = case.adoprof.held == Some(false);
            let [first, worth] = promise(case.adoprof.first.as_ref());
            let [largest, of_largest] = promise(case.ncu_global.first.as_ref());
            vec![
                name(&case.ladder, &case.step),
                case.fault.clone(),
                bare(case.gain),
                rank(&case.adoprof),
                format!("{}{}", promised(&case.adoprof), if miss { " !" } else { "" }),
                first,
                worth,
                promised(&case.ncu_global),
                rank(&case.ncu_global),
                largest,
                of_largest,
            ]
        })
        .collect();
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
    page.inked(
        "",
        "gains and estimates are factors; ! marks a range that misses the gain; ncu's column: the largest of \
         its whole-kernel estimates",
        Ink::Dim,
    );
}

pub(super) fn quiet(page: &mut Page, quiet: &[QuietStep]) {
    let head = [
        Column::text("kernel").flexible(16),
        Column::text("what it is").flexible(18),
        Column::text("adoprof says").flexible(16),
        Column::number("worth"),
        Column::text(""),
        Column::text("ncu’s largest").flexible(14).optional(),
        Column::number("worth").optional(),
    ];
    let verdict = |alarm: bool| if alarm { "false alarm" } else { "" };
    let rows: Vec<Vec<String>> = quiet
        .iter()
        .map(|quiet| {
            let [said, worth] = promise(quiet.adoprof.as_ref());
            let [largest, of_largest] = promise(quiet.ncu_global.as_ref());
            vec![
                name(&quiet.ladder, &quiet.step),
                quiet
                    .innocent_of
                    .as_ref()
                    .map_or_else(|| "at a limit".to_owned(), |fault| format!("no {fault}")),
                said,
                worth,
                verdict(quiet.adoprof_alarm).to_owned(),
                largest,
                of_largest,
            ]
        })
        .collect();
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
}
