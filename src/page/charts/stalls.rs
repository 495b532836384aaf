//! Why warps wait: cycles between two instructions of a warp by reason, stacked, beside a baseline.

use maud::html;

use crate::frame::Launch;
use crate::metric::stall::StallReason;
use crate::page::figure::{Figure, Table, pct, px};
use crate::page::lettering::{GAP, NARROWEST, SMALL, beside, in_full, width};
use crate::text::significant;

/// Reasons that have a colour of their own; the rest is one part.
const MOST: usize = 7;
/// Their classes, and that of the rest.
const CLASSES: [&str; MOST + 1] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"];
const ROW: f64 = 46.0;
const LEGEND: f64 = 20.0;
/// Pixels from the left edge of a colour's square to its text, and what that has of half the width.
const SQUARE: f64 = 16.0;
const HALF: f64 = NARROWEST / 2.0 - SQUARE - GAP / 2.0;

/// Cycles by reason of something with a name.
struct Stack {
    name: String,
    cycles: [f64; StallReason::COUNT],
}

impl Stack {
    fn new(name: &str, launch: &Launch) -> Option<Self> {
        let mut cycles = [0.0; StallReason::COUNT];
        for reason in StallReason::all() {
            cycles[reason as usize] = launch.stall(reason).unwrap_or(0.0).max(0.0);
        }
        (cycles.iter().sum::<f64>() > 0.0).then(|| Self { name: name.to_owned(), cycles })
    }

    fn total(&self) -> f64 {
        self.cycles.iter().sum()
    }
}

/// The chart of launches by name, one stack each; `None` where none has stalls.
pub(in crate::page) fn figure(id: &str, launches: &[(&str, &Launch)]) -> Option<Figure> {
    let stacks: Vec<Stack> =
        launches.iter().filter_map(|(name, launch)| Stack::new(name, launch)).collect();
    let longest = stacks.iter().map(Stack::total).fold(0.0, f64::max);
    let mut reasons: Vec<StallReason> = StallReason::all().collect();
    let most = |reason: &StallReason| {
        stacks.iter().map(|stack| stack.cycles[*reason as usize]).fold(0.0, f64::max)
    };
    reasons.sort_by(|a, b| most(b).total_cmp(&most(a)));
    let shown: Vec<StallReason> =
        reasons.iter().copied().take(MOST).filter(|reason| most(reason) > 0.0).collect();
    let rest: Vec<StallReason> = reasons.into_iter().skip(shown.len()).collect();
    let parts = |stack: &Stack| -> Vec<f64> {
        let of = |reason: &StallReason| stack.cycles[*reason as usize];
        shown.iter().map(of).chain([rest.iter().map(of).sum()]).collect()
    };
    let names: Vec<String> =
        shown.iter().map(|reason| title(*reason)).chain(["others".to_owned()]).collect();
    let mut table = Table { head: vec!["reason".to_owned()], rows: Vec::new() };
    table.head.extend(stacks.iter().map(|stack| stack.name.clone()));
    for (at, name) in names.iter().enumerate() {
        let cells = stacks.iter().map(|stack| significant(parts(stack)[at], 3));
        table.rows.push([name.clone()].into_iter().chain(cells).collect());
    }
    let first = stacks.first()?;
    let worst = shown.iter().copied().find(|reason| *reason != StallReason::Selected)?;
    let whose = if stacks.len() > 1 { format!("{}'s ", first.name) } else { String::new() };
    let said = format!(
        "Cycles that a warp spends between two instructions, by what it waits for. Of {whose}{} cycles {} are {}.",
        significant(first.total(), 3),
        significant(first.cycles[worst as usize], 3),
        title(worst)
    );
    let legend = stacks.len() as f64 * ROW + 4.0;
    let entries: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(at, name)| match stacks.as_slice() {
            [one] => format!("{name} {}", significant(parts(one)[at], 3)),
            // The table has them.
            _ => name.clone(),
        })
        .collect();
    let columns = if entries.iter().all(|entry| width(entry, SMALL) <= HALF) { 2 } else { 1 };
    Some(Figure {
        name: "stalls",
        id: format!("{id}-stalls"),
        title: "Warp stalls".to_owned(),
        said,
        height: (legend + entries.len().div_ceil(columns) as f64 * LEGEND) as u32,
        drawn: html! {
            @for (row, stack) in stacks.iter().enumerate() {
                @let y = row as f64 * ROW;
                @let cycles = format!("{} cycles", significant(stack.total(), 3));
                @let name = beside(&stack.name, &cycles);
                g class="stack" data-label=(stack.name) data-value=(stack.total()) {
                    (in_full(&stack.name, &name))
                    text class="ink" x="0" y=(px(y + 14.0)) { (name) }
                    text class="num" x="100%" y=(px(y + 14.0)) { (cycles) }
                    @for (x, width, at) in placed(&parts(stack), longest) {
                        rect class=(CLASSES[class(at, &names)]) data-label=(names[at]) data-value=(parts(stack)[at])
                            x=(pct(x)) y=(px(y + 20.0)) width=(pct(width)) height="16" {
                            title { (names[at]) ": " (significant(parts(stack)[at], 3)) " cycles" }
                        }
                    }
                }
            }
            @for (at, entry) in entries.iter().enumerate() {
                @let (row, column) = (at / columns, at % columns);
                svg x=(pct(column as f64 / columns as f64)) y=(px(legend + row as f64 * LEGEND)) width="50%" height=(px(LEGEND)) {
                    rect class=(CLASSES[class(at, &names)]) x="0" y="5" width="10" height="10" rx="2" {}
                    text class="dim" x=(SQUARE) y="14" { (entry) }
                }
            }
        },
        table,
    })
}

/// The rest has the last class however few stand before it.
fn class(at: usize, names: &[String]) -> usize {
    if at + 1 == names.len() { MOST } else { at }
}

fn placed(parts: &[f64], longest: f64) -> Vec<(f64, f64, usize)> {
    let mut end = 0.0;
    let place = |(at, cycles): (usize, &f64)| {
        let start: f64 = end;
        end += cycles / longest;
        (start, cycles / longest, at)
    };
    parts.iter().enumerate().map(place).filter(|(_, width, _)| *width > 0.0).collect()
}

fn title(reason: StallReason) -> String {
    match reason {
        StallReason::Selected => "issuing".to_owned(),
        StallReason::NotSelected => "not picked".to_owned(),
        StallReason::Wait => "fixed latency".to_owned(),
        StallReason::Dispatch => "dispatch".to_owned(),
        _ => reason.word().replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(stalls: &[(StallReason, f64)]) -> Launch {
        let mut launch = Launch::default();
        for (reason, cycles) in stalls {
            launch.set(&reason.ratio_metric(), Some(*cycles));
        }
        launch
    }

    #[test]
    fn stacks_share_one_scale_and_the_largest_reason_leads() {
        let (now, base) = (
            launch(&[(StallReason::Selected, 1.0), (StallReason::LongScoreboard, 4.0)]),
            launch(&[(StallReason::Selected, 1.0), (StallReason::LongScoreboard, 9.0)]),
        );
        let figure = figure("l0", &[("v3", &now), ("v2", &base)]).unwrap();
        assert_eq!(figure.table.rows[0], ["long scoreboard", "4.00", "9.00"]);
        assert_eq!(figure.table.rows[1], ["issuing", "1.00", "1.00"]);
        assert!(
            figure.said.ends_with("Of v3's 5.00 cycles 4.00 are long scoreboard."),
            "{}",
            figure.said
        );
        // 4 of the longest stack's 10 cycles.
        let drawn = figure.drawn.into_string();
        assert!(drawn.contains(r#"data-value="4" x="0%" y="20" width="40%""#), "{drawn}");
        assert!(drawn.contains(r#"data-value="9" x="0%" y="66" width="90%""#), "{drawn}");
    }

    #[test]
    fn a_legend_with_long_entries_has_one_column() {
        let height = |reason| figure("l0", &[("k", &launch(&[(reason, 1.0)]))]).unwrap().height;
        // A stack of 46 with 4 below; two entries of 20 side by side, and one above the other.
        assert_eq!(height(StallReason::Barrier), 70);
        assert_eq!(height(StallReason::MathPipeThrottle), 90);
    }

    #[test]
    fn without_stalls_there_is_no_chart() {
        assert!(figure("l0", &[("v3", &Launch::default())]).is_none());
    }
}
