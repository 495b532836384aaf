//! What moved against the baseline.

use maud::{Markup, html};

use crate::document::Diff;
use crate::report::words::diff::{arrow, findings, headline, lead, movers, title};
use crate::report::words::number::{bare, change};

/// Metrics shown below the key ones.
const MOST: usize = 16;

/// The comparison: its headline, the findings that went and came, and the metrics that moved most.
pub(super) fn view(diff: &Diff) -> Markup {
    let leading = lead(diff);
    let moving = movers(diff);
    html! {
        section #diff aria-labelledby="diff-h" data-speedup=[diff.speedup] {
            h2 #diff-h { "Against " (diff.base) }
            p.lead { (headline(diff)) }
            @for warning in &diff.warnings { p.warning { (warning) } }
            ul { @for (label, said) in findings(diff) { li { strong { (label) } " " (said) } } }
            div.scroll { table {
                thead { tr {
                    th scope="col" { "metric" } th.n scope="col" { (diff.base) } th.n scope="col" { (diff.new) }
                    th.n scope="col" { "change" } th scope="col" { "" }
                } }
                tbody {
                    @for one in leading.iter().chain(moving.into_iter().take(MOST)) {
                        tr data-metric=(one.metric) data-base=(one.base) data-new=(one.new) {
                            th scope="row" { (title(one)) }
                            td.n { (bare(one.base, &one.unit)) }
                            td.n { (bare(one.new, &one.unit)) }
                            td.n { (change(one.base, one.new)) }
                            td { (arrow(one)) }
                        }
                    }
                }
            } }
        }
    }
}
