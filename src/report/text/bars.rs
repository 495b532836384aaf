//! How busy each unit is, as bars.

use crate::document::{LaunchReport, Utilization};
use crate::report::text::page::{Ink, Page};
use crate::text::layout::{columns, fit, pad};
use crate::text::percent;

/// Units shown unless all are asked for.
const MOST: usize = 6;
/// Units below this share are left out unless all are asked for.
const LEAST_SHARE: f64 = 0.01;
/// Columns of a full bar at most: longer ones show no more.
const LONGEST: usize = 40;
/// Eighths of a column, from one to seven.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A bar for every unit that is busy, busiest first.
pub(super) fn bars(page: &mut Page, launch: &LaunchReport) {
    let shown: Vec<&Utilization> = launch
        .utilization
        .iter()
        .filter(|unit| page.style.verbose || unit.share >= LEAST_SHARE)
        .take(if page.style.verbose { usize::MAX } else { MOST })
        .collect();
    let label = shown.iter().map(|unit| columns(&unit.unit)).max().unwrap_or(0).min(20);
    // Indent, label and its gap, the bar's gap, and `99.6%`.
    let room = page.style.width.saturating_sub(2 + label + 2 + 1 + 5);
    let longest = room.min(LONGEST);
    if longest < 4 || shown.is_empty() {
        return;
    }
    page.inked("  ", "how much of the time each unit is busy", Ink::Dim);
    for unit in shown {
        let name = pad(&fit(&unit.unit, label), label);
        let bar = pad(&bar(unit.share, longest), longest);
        page.line(&format!("  {name}  {bar} {:>5}", percent(unit.share)));
    }
}

/// A bar in eighths of a column.
pub(super) fn bar(share: f64, longest: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * longest as f64 * 8.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.extend((eighths % 8).checked_sub(1).map(|rest| EIGHTHS[rest]));
    bar
}

/// A column of a line of heights: nothing at all is blank, and the least is seen.
pub(super) fn height(share: f64) -> char {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let block = (share * 8.0).round().max(if share > 0.0 { 1.0 } else { 0.0 });
    BLOCKS[(block as usize).min(8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_count_in_eighths() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.5, 4), "██");
        // 0.3 × 4 × 8 = 9.6 eighths: one whole column and two eighths.
        assert_eq!(bar(0.3, 4), "█▎");
        assert_eq!(bar(0.0, 4), "");
        assert_eq!(bar(7.0, 4), "████");
    }

    #[test]
    fn a_senseless_share_draws_nothing() {
        assert_eq!(bar(f64::NAN, 4), "");
    }
}
