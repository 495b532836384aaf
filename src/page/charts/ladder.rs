//! A ladder's times, with what each step gained, on a logarithmic axis.

use maud::html;

use super::axis::below;
use crate::document::RunDocument;
use crate::page::figure::{Figure, Table, pct, px};
use crate::page::lettering::{beside, in_full};
use crate::page::scale::{Log, bare};
use crate::report::words::run::gain;
use crate::report::words::steps::{Row, rows};
use crate::text::duration;

const ROW: f64 = 44.0;
const SIDE: f64 = 0.02;

/// The chart; `None` with fewer than two steps.
pub(in crate::page) fn figure(run: &RunDocument) -> Option<Figure> {
    let rows = rows(run);
    let time = |row: &Row<'_>| row.step.time_ns.median;
    let scale = Log::around(rows.iter().map(time)).filter(|_| rows.len() > 1)?;
    let share = |ns: f64| SIDE + (1.0 - 2.0 * SIDE) * scale.at(ns);
    let across = |ns: f64| pct(share(ns));
    let mut table = Table::new(["step", "time", "over the step before", "over the first"]);
    for row in &rows {
        table.row([
            row.step.name.clone(),
            duration(time(row)),
            gain(row.over_previous),
            gain(row.over_first),
        ]);
    }
    let mut before: Option<f64> = None;
    let drawn: Vec<_> = rows
        .iter()
        .map(|row| {
            let from = before;
            if !row.branch {
                before = Some(time(row));
            }
            (row, from)
        })
        .collect();
    let (first, last) = (rows.first()?, rows.iter().rfind(|row| !row.branch)?);
    let bottom = rows.len() as f64 * ROW;
    Some(Figure {
        name: "ladder",
        id: "ladder".to_owned(),
        title: "Times along the ladder".to_owned(),
        said: format!(
            "{} takes {}, {} takes {}. Each line leads from the main step before to the step's own time; hollow dots are \
             side steps. The axis is logarithmic.",
            first.step.name,
            duration(time(first)),
            last.step.name,
            duration(time(last))
        ),
        height: (bottom + 22.0) as u32,
        drawn: html! {
            @for tick in scale.ticks() {
                line class="grid" x1=(across(tick)) x2=(across(tick)) y1="0" y2=(px(bottom)) {}
            }
            (below(scale.ticks().into_iter().map(|tick| (share(tick), bare(&duration(tick)))), bottom + 16.0))
            @for (at, (row, from)) in drawn.iter().enumerate() {
                @let y = at as f64 * ROW;
                @let said = said(row);
                @let name = beside(&row.step.name, &said);
                g class="step" data-label=(row.step.name) data-value=(time(row)) data-gain=[row.over_previous.map(|gain| gain.factor)] {
                    (in_full(&row.step.name, &name))
                    text class={ "halo " @if row.branch { "dim" } @else { "strong" } } x="0" y=(px(y + 15.0)) { (name) }
                    text class="halo num" x="100%" y=(px(y + 15.0)) { (said) }
                    line class="track" x1="0" x2="100%" y1=(px(y + 28.0)) y2=(px(y + 28.0)) {}
                    @if let Some(from) = from {
                        line class={ @if time(row) <= *from { "gain" } @else { "loss" } }
                            x1=(across(*from)) x2=(across(time(row))) y1=(px(y + 28.0)) y2=(px(y + 28.0)) {}
                    }
                    circle class={ @if row.branch { "ring" } @else { "dot" } } cx=(across(time(row))) cy=(px(y + 28.0)) r="5" {}
                }
            }
        },
        table,
    })
}

/// A step's time, and what it gained.
fn said(row: &Row<'_>) -> String {
    let time = duration(row.step.time_ns.median);
    if row.over_previous.is_some() { format!("{time}, {}", gain(row.over_previous)) } else { time }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn each_step_stands_at_its_time() {
        let run = samples::run();
        let figure = figure(&run).unwrap();
        assert_eq!(figure.table.rows.len(), run.steps.len());
        for (document, cells) in run.steps.iter().zip(&figure.table.rows) {
            let step = document.step.as_ref().unwrap();
            assert_eq!(cells[0], step.name);
            let told =
                format!(r#"data-label="{}" data-value="{}""#, step.name, step.time_ns.median);
            assert!(figure.drawn.0.contains(&told), "{told}");
        }
    }
}
