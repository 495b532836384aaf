//! The transitions of the ladders.

use crate::bench::{Chance, Transitions};
use crate::report::text::figures::{bare, tally};
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::text::significant;

pub(super) fn ladders(page: &mut Page, ladders: &Transitions) {
    page.inked("", "transitions of the ladders that gain 5% or more", Ink::Bold);
    let head = [
        Column::text("step").flexible(16),
        Column::text("next"),
        Column::number("gain"),
        Column::text("made for").flexible(18),
        Column::number("rank"),
        Column::text("first finding").flexible(18),
        Column::text("gains more").flexible(12).optional(),
    ];
    let rows: Vec<Vec<String>> = ladders
        .transitions
        .iter()
        .map(|step| {
            let beaten = step.beaten_by.as_ref();
            let rank = step.rank.map_or_else(|| "—".to_owned(), |rank| rank.to_string());
            vec![
                format!("{}/{}", step.ladder, step.from),
                step.to.clone(),
                format!("{}{}", if step.by_rate { "~" } else { "" }, bare(step.gain)),
                step.fault.clone(),
                format!("{rank} of {}", step.findings),
                step.first.clone().unwrap_or_else(|| "—".to_owned()),
                beaten.map(|(name, gain)| format!("{name} {}", bare(*gain))).unwrap_or_default(),
            ]
        })
        .collect();
    if !page.style.quiet {
        let lines = render(&head, &rows, page.style.width);
        page.table("", &lines);
        page.blank();
        lost(page, ladders);
    }
    page.paragraph("", &format!("among the first three: {}", chance(&ladders.first_three)));
    page.paragraph(
        "",
        &format!("first, where no other measured change gains more: {}", chance(&ladders.first)),
    );
}

fn lost(page: &mut Page, ladders: &Transitions) {
    page.inked("", "transitions that gain less than 5%, or lose, and are not counted", Ink::Bold);
    let head = [
        Column::text("step").flexible(16),
        Column::text("next"),
        Column::number("gain"),
        Column::text("made for").flexible(18),
        Column::text("first finding").flexible(18),
    ];
    let rows: Vec<Vec<String>> = ladders
        .lost
        .iter()
        .map(|step| {
            vec![
                format!("{}/{}", step.ladder, step.from),
                step.to.clone(),
                bare(step.gain),
                step.fault.clone(),
                step.first.clone().unwrap_or_else(|| "—".to_owned()),
            ]
        })
        .collect();
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
    page.blank();
}

/// `25 of 33 (76%), by chance 19.4`.
fn chance(chance: &Chance) -> String {
    format!(
        "{}; a random order would give {}",
        tally(chance.right),
        significant(chance.by_chance, 3)
    )
}
