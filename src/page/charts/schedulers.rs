//! The way of warps through a scheduler: room, resident, ready, issued.

use maud::html;

use super::bars::{Bar, height, rows};
use crate::frame::Launch;
use crate::page::figure::{Figure, Table};
use crate::text::significant;

/// The chart; `None` where fewer than two of the stages were counted.
pub(in crate::page) fn figure(id: &str, launch: &Launch) -> Option<Figure> {
    let issued =
        launch.get("smsp__issue_active.avg.pct_of_peak_sustained_active").map(|pct| pct / 100.0);
    let stages: Vec<(&str, f64)> = [
        ("room for", launch.get("smsp__warps_active.avg.peak_sustained")),
        ("possible for this launch", launch.get("smsp__maximum_warps_avg_per_active_cycle")),
        ("active", launch.get("smsp__warps_active.avg.per_cycle_active")),
        ("eligible", launch.get("smsp__warps_eligible.avg.per_cycle_active")),
        ("issued", issued),
    ]
    .into_iter()
    .filter_map(|(name, warps)| Some((name, warps?)))
    .collect();
    if stages.len() < 2 {
        return None;
    }
    let most = stages.iter().map(|(_, warps)| *warps).fold(0.0, f64::max);
    let mut table = Table::new(["stage", "warps per scheduler"]);
    let bars: Vec<Bar> = stages
        .iter()
        .map(|&(name, warps)| {
            let said = significant(warps, 3);
            table.row([name.to_owned(), said.clone()]);
            Bar::new(name.to_owned(), said, warps, if most > 0.0 { warps / most } else { 0.0 })
        })
        .collect();
    let said = match issued {
        Some(issued) => format!(
            "Warps per scheduler and cycle at each stage. A scheduler issues at most one: it does in {} of 100 cycles.",
            significant(100.0 * issued, 3)
        ),
        None => "Warps per scheduler and cycle at each stage.".to_owned(),
    };
    Some(Figure {
        name: "schedulers",
        id: format!("{id}-schedulers"),
        title: "Scheduler funnel".to_owned(),
        said,
        height: height(&bars) as u32,
        drawn: html! { (rows(&bars, 0.0)) },
        table,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_shares_of_the_room() {
        let mut launch = Launch::default();
        assert!(figure("l0", &launch).is_none());
        for (name, value) in [
            ("smsp__warps_active.avg.peak_sustained", 16.0),
            ("smsp__warps_active.avg.per_cycle_active", 4.0),
            ("smsp__issue_active.avg.pct_of_peak_sustained_active", 25.0),
        ] {
            launch.set(name, Some(value));
        }
        let figure = figure("l0", &launch).unwrap();
        assert_eq!(figure.table.rows[2], ["issued", "0.250"]);
        let drawn = figure.drawn.into_string();
        assert!(drawn.contains(r#"data-label="active" data-value="4""#), "{drawn}");
        // 4 of 16, and a quarter of one of 16.
        assert!(drawn.contains(r#"width="25%""#) && drawn.contains(r#"width="1.56%""#), "{drawn}");
    }
}
