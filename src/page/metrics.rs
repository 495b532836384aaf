//! All metrics of all launches in one table, which the page's script searches.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::error::Result;
use crate::frame::columns::{LAUNCH, METRIC, UNIT, VALUE};
use crate::frame::{Frames, by_catalogue};
use crate::metric;
use crate::text::significant;

/// A launch's metrics: by name, the unit and the value.
pub(crate) type Metrics = BTreeMap<String, (String, f64)>;

/// The metrics of each launch of a profile, by its number.
///
/// # Errors
/// [`Error::Frames`](crate::error::Error::Frames) where the frame is none of metrics.
pub(super) fn by_launch(frames: &Frames) -> Result<BTreeMap<u32, Metrics>> {
    let table = by_catalogue(&frames.metrics)?;
    let (launches, names) = (table.column(LAUNCH)?.u32()?, table.column(METRIC)?.str()?);
    let (units, values) = (table.column(UNIT)?.str()?, table.column(VALUE)?.f64()?);
    let mut all: BTreeMap<u32, Metrics> = BTreeMap::new();
    for ((launch, name), (unit, value)) in
        launches.iter().zip(names.iter()).zip(units.iter().zip(values.iter()))
    {
        let (Some(launch), Some(name), Some(value)) = (launch, name, value) else { continue };
        let metric = (unit.unwrap_or_default().to_owned(), value);
        all.entry(launch).or_default().insert(name.to_owned(), metric);
    }
    Ok(all)
}

/// The table, a column per launch.
pub(super) fn view(columns: &[(String, &Metrics)]) -> Option<Markup> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for (_, metrics) in columns {
        names.extend(metrics.iter().map(|(name, (unit, _))| (name.as_str(), unit.as_str())));
    }
    if names.is_empty() {
        return None;
    }
    let all = names.len();
    Some(html! {
        section #metrics aria-labelledby="metrics-h" {
            h2 #metrics-h { "All metrics" }
            p.search {
                label for="filter" { "Search" }
                input #filter type="search" autocomplete="off" spellcheck="false" placeholder="sectors, dram, stalled";
                output #found for="filter" aria-live="polite" { (all) " metrics" }
            }
            div.scroll.tall tabindex="0" role="region" aria-label="Metrics" {
                table.metrics {
                    thead { tr {
                        th scope="col" { "metric" }
                        @for (name, _) in columns { th.n scope="col" { (name) } }
                        th scope="col" { "unit" }
                    } }
                    tbody {
                        @for (name, unit) in names {
                            @let values: Vec<Option<f64>> = columns.iter().map(|(_, metrics)| metrics.get(name).map(|metric| metric.1)).collect();
                            tr {
                                th scope="row" {
                                    (name)
                                    @if let Some((known, _)) = metric::canonical(name) { small { (known.title) } }
                                }
                                @if values.len() > 1 && values.windows(2).all(|pair| pair[0] == pair[1]) {
                                    td.n.same colspan=(values.len()) { (cell(values[0])) }
                                } @else {
                                    @for value in &values { td.n { (cell(*value)) } }
                                }
                                td { (unit) }
                            }
                        }
                    }
                }
            }
        }
    })
}

/// Six digits tell all that counters know; whole numbers stand in full.
fn cell(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(value) if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.0}"),
        // As many decimals as six digits need, without zeros at the end.
        Some(value) => {
            let text = significant(value, 6);
            if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            } else {
                text
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_launch_has_a_column_and_what_all_share_stands_once() {
        let metrics = |sectors: f64| {
            let metric =
                |name: &str, unit: &str, value| (name.to_owned(), (unit.to_owned(), value));
            Metrics::from([metric("a.sum", "sector", sectors), metric("b", "%", 12.345_678_9)])
        };
        let (one, two) = (metrics(5.0), metrics(1_234_567.0));
        let view = view(&[("v1".to_owned(), &one), ("v2".to_owned(), &two)]).unwrap().into_string();
        assert!(
            view.contains(r#"<td class="n">5</td><td class="n">1234567</td><td>sector</td>"#),
            "{view}"
        );
        assert!(view.contains(r#"<td class="n same" colspan="2">12.3457</td>"#), "{view}");
        assert!(super::view(&[]).is_none());
    }
}
