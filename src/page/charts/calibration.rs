//! How right estimates were: measured against promised gains.

use maud::html;

use super::axis::below;
use crate::ledger::LedgerDocument;
use crate::page::figure::{Figure, Table, pct, px};
use crate::page::scale::{Log, bare};
use crate::report::words::number::factor;
use crate::text::{count_of, percent};

const TOP: f64 = 28.0;
const PLOT: f64 = 300.0;
const SIDE: f64 = 0.02;

/// The chart; `None` where nothing was measured.
pub(in crate::page) fn figure(ledger: &LedgerDocument) -> Option<Figure> {
    let measured: Vec<(f64, f64, bool)> = ledger
        .records
        .iter()
        .filter_map(|record| Some((record.hint.estimate.factor, record.gain()?, record.held()?)))
        .collect();
    let scale =
        Log::around(measured.iter().flat_map(|(promised, gained, _)| [*promised, *gained]))?;
    let held = measured.iter().filter(|(.., held)| *held).count();
    let share = |value: f64| SIDE + (1.0 - 2.0 * SIDE) * scale.at(value);
    let across = |value: f64| pct(share(value));
    let down = |value: f64| px(TOP + PLOT * (1.0 - scale.at(value)));
    let mut table = Table::new(["rule", "measured", "range held", "measured over promised"]);
    for rule in ledger.rules.iter().filter(|rule| rule.measured > 0) {
        table.row([
            rule.rule.clone(),
            rule.measured.to_string(),
            rule.hit_rate.map(percent).unwrap_or_default(),
            rule.bias.map(factor).unwrap_or_default(),
        ]);
    }
    Some(Figure {
        name: "calibration",
        id: "calibration".to_owned(),
        title: "Accuracy of estimates".to_owned(),
        said: format!(
            "{} whose gain was measured afterwards: {} lay within the promised range (filled). On the line, \
             the gain is what was promised; above it, it is more.",
            count_of(measured.len() as f64, "hint"),
            percent(held as f64 / measured.len() as f64)
        ),
        height: (TOP + PLOT + 40.0) as u32,
        drawn: html! {
            @for tick in scale.ticks() {
                line class="grid" x1="0" x2="100%" y1=(down(tick)) y2=(down(tick)) {}
                line class="grid" x1=(across(tick)) x2=(across(tick)) y1=(px(TOP)) y2=(px(TOP + PLOT)) {}
                text class="tick" x="2" y=(px(TOP + PLOT * (1.0 - scale.at(tick)) - 3.0)) { (bare(&factor(tick))) }
            }
            (below(scale.ticks().into_iter().map(|tick| (share(tick), bare(&factor(tick)))), TOP + PLOT + 16.0))
            line class="roof" x1=(across(scale.low())) x2=(across(scale.high())) y1=(down(scale.low())) y2=(down(scale.high())) {}
            text class="tick" x="2" y="10" { "measured" }
            text class="tick end" x="100%" y=(px(TOP + PLOT + 32.0)) { "promised" }
            @for (promised, gained, held) in &measured {
                circle class={ @if *held { "small" } @else { "small miss" } } cx=(across(*promised)) cy=(down(*gained)) r="3.5"
                    data-promised=(promised) data-value=(gained) {}
            }
        },
        table,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{changed_lines, records};
    use crate::page::palette::Theme;
    use crate::picture;

    #[test]
    fn what_came_of_other_peoples_changes_is_drawn_as_a_picture() {
        let ledger = LedgerDocument::new(records(changed_lines(), true), Vec::new());
        let figure = figure(&ledger).unwrap();
        assert!(figure.table.rows.len() > 3);
        let picture = picture::png(&figure.file("the ledger", Some(Theme::Light)), 1).unwrap();
        assert!(picture.len() > 5_000, "{} bytes", picture.len());
    }
}
