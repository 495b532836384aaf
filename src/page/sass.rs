//! A launch's instructions: samples, live registers, and who waits for whom.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use maud::{Markup, html};

use super::figure::px;
use super::heat::class;
use super::places::Places;
use crate::frame::Launch;
use crate::metric::stall::StallReason;
use crate::sass::flow::live;
use crate::text::count;

/// Arrows at most.
const MOST_ARROWS: usize = 12;
/// Of the samples of a wait, the least share that has an arrow.
const LEAST_SHARE: f64 = 0.01;
/// Pixels of a row; the style sheet has the same.
const ROW: f64 = 20.0;
/// Pixels of the arrows' column; the style sheet has the same.
const GUTTER: f64 = 56.0;

/// What is shown.
pub(super) struct Sass {
    rows: Vec<Row>,
    arrows: Vec<Arrow>,
    /// Instructions that were left out.
    hidden: usize,
}

/// An instruction.
struct Row {
    address: u64,
    text: String,
    file: Option<Arc<str>>,
    line: Option<u32>,
    samples: f64,
    live: Option<u32>,
    /// The address of what it waits for most.
    waits_for: Option<u64>,
    /// True where instructions in front of it were left out.
    after_gap: bool,
}

impl Row {
    /// The name of its source line on the page.
    fn name(&self, places: &Places) -> Option<String> {
        places.name(self.file.as_deref()?, self.line?)
    }
}

/// A wait: places among the rows.
struct Arrow {
    waiting: usize,
    producer: usize,
    samples: f64,
}

impl Sass {
    /// The instructions of a launch, of many those with most samples; `None` without any text.
    pub(super) fn of(launch: &Launch, most: usize) -> Option<Self> {
        let listing = launch.listing()?;
        let lives = live::at_each(&listing);
        let mut live_at: BTreeMap<u64, u32> = BTreeMap::new();
        for (index, _) in listing.entries() {
            if let Some(address) = listing.row(index).address {
                live_at.insert(address, lives[index]);
            }
        }
        let start = launch.instructions.iter().find_map(|row| row.address).unwrap_or(0);
        let mut kept: Vec<usize> = (0..launch.instructions.len())
            .filter(|at| !launch.instructions[*at].text.is_empty())
            .collect();
        let all = kept.len();
        if all > most {
            let weight = |at: &usize| {
                let counters = &launch.instructions[*at].counters;
                (counters.samples, counters.inst_executed)
            };
            kept.sort_by(|a, b| {
                let (a, b) = (weight(a), weight(b));
                b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
            });
            kept.truncate(most);
            kept.sort_unstable();
        }
        let mut rows: Vec<Row> = Vec::with_capacity(kept.len());
        let mut places: BTreeMap<u64, usize> = BTreeMap::new();
        let mut before: Option<usize> = None;
        for at in kept {
            let row = &launch.instructions[at];
            let address = row.address.unwrap_or_default();
            places.insert(address, rows.len());
            rows.push(Row {
                address: address - start.min(address),
                text: row.text.trim().to_owned(),
                file: row.file.clone(),
                line: row.line,
                samples: row.counters.samples,
                live: live_at.get(&address).copied(),
                waits_for: None,
                after_gap: before.map_or(at > 0, |before| at > before + 1),
            });
            before = Some(at);
        }
        let total: f64 = launch.instructions.iter().map(|row| row.counters.samples).sum();
        let mut arrows = Vec::new();
        for reason in [StallReason::LongScoreboard, StallReason::ShortScoreboard] {
            for charge in listing
                .charges(reason)
                .iter()
                .filter(|charge| charge.samples >= LEAST_SHARE * total)
            {
                let place = |index: usize| places.get(&listing.row(index).address?).copied();
                if let (Some(waiting), Some(producer)) =
                    (place(charge.waiting), place(charge.producer))
                {
                    arrows.push(Arrow { waiting, producer, samples: charge.samples });
                }
            }
        }
        arrows.sort_by(|a, b| b.samples.total_cmp(&a.samples));
        arrows.truncate(MOST_ARROWS);
        for arrow in arrows.iter().rev() {
            rows[arrow.waiting].waits_for = Some(rows[arrow.producer].address);
        }
        let hidden = all - rows.len();
        Some(Self { rows, arrows, hidden })
    }
}

/// The table with its arrows.
pub(super) fn view(id: &str, sass: &Sass, places: &Places) -> Markup {
    let hottest = sass.rows.iter().map(|row| row.samples).fold(0.0, f64::max);
    let targets: BTreeSet<u64> = sass.rows.iter().filter_map(|row| row.waits_for).collect();
    html! {
        div.scroll.sass tabindex="0" role="region" aria-label="Machine code" {
            div.wrap {
                (arrows(id, sass))
                table {
                    caption { "SASS" @if sass.hidden > 0 { ", " (sass.hidden) " instructions without samples left out" } }
                    thead { tr {
                        th scope="col" { "address" } th scope="col" { "line" } th scope="col" { "samples" }
                        th scope="col" { "live" } th scope="col" { "instruction" }
                    } }
                    tbody {
                        @for row in &sass.rows {
                            tr id=[targets.contains(&row.address).then(|| format!("{id}-A{:x}", row.address))]
                                class=[classes(row, hottest)] data-l=[row.name(places)] {
                                td { (format!("{:04x}", row.address)) }
                                td {
                                    @match (row.name(places), row.line) {
                                        (Some(name), Some(line)) => a href=(format!("#{id}-L{name}")) { (line) },
                                        (None, Some(line)) => (line),
                                        _ => {},
                                    }
                                }
                                td { (counted(row.samples)) }
                                td { @if let Some(live) = row.live { (live) } }
                                td {
                                    (row.text)
                                    @if let Some(address) = row.waits_for {
                                        a.waits href=(format!("#{id}-A{address:x}")) { "waits for " (format!("{address:04x}")) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn classes(row: &Row, hottest: f64) -> Option<String> {
    let gap = row.after_gap.then_some("gap");
    let classes: Vec<&str> = class(row.samples, hottest).into_iter().chain(gap).collect();
    (!classes.is_empty()).then(|| classes.join(" "))
}

fn arrows(id: &str, sass: &Sass) -> Markup {
    let y = |place: usize| 2.0 * ROW + ROW * place as f64 + ROW / 2.0;
    let most = sass.arrows.first().map_or(1.0, |arrow| arrow.samples);
    html! {
        svg.arrows width=(px(GUTTER)) height=(px(y(sass.rows.len()))) aria-hidden="true" {
            defs {
                marker id=(format!("{id}-to")) viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6"
                    markerUnits="userSpaceOnUse" orient="auto" { path class="tip" d="M0 0L8 4L0 8z" {} }
            }
            @for (at, arrow) in sass.arrows.iter().enumerate() {
                @let x = GUTTER - 10.0 - 44.0 * (at + 1) as f64 / (sass.arrows.len() + 1) as f64;
                path class="dep" data-from=(sass.rows[arrow.waiting].address) data-to=(sass.rows[arrow.producer].address)
                    data-samples=(arrow.samples) stroke-width=(px(1.0 + 1.5 * arrow.samples / most))
                    d=(format!("M{g} {}H{}V{}H{g}", px(y(arrow.waiting) + 3.0), px(x), px(y(arrow.producer) - 3.0), g = px(GUTTER - 4.0)))
                    marker-end=(format!("url(#{id}-to)")) {}
            }
        }
    }
}

/// A count for a column.
fn counted(value: f64) -> String {
    if value > 0.0 { count(value) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{SourceCounters, SourceRow};

    fn launch() -> Launch {
        let mut launch = Launch::default();
        launch.lines =
            vec![SourceRow { file: Some("k.cu".into()), line: Some(7), ..SourceRow::default() }];
        for (at, (text, samples)) in (0_u64..).zip([
            ("LDG.E R4, desc[UR4][R2.64]", 0.0),
            ("IADD3 R2, R2, 0x20, RZ", 1.0),
            ("FFMA R5, R4, R6, R5", 20.0),
            ("EXIT", 0.0),
        ]) {
            let mut counters =
                SourceCounters { samples, inst_executed: 8.0, ..SourceCounters::default() };
            counters.stall_samples[StallReason::LongScoreboard as usize] = samples;
            launch.instructions.push(SourceRow {
                file: Some("k.cu".into()),
                line: Some(7),
                address: Some(0x100 + 16 * at),
                text: text.to_owned(),
                counters,
                ..SourceRow::default()
            });
        }
        launch
    }

    #[test]
    fn an_arrow_leads_from_the_wait_to_the_load() {
        let launch = launch();
        let sass = Sass::of(&launch, 10).unwrap();
        let first = &sass.arrows[0];
        assert_eq!((first.waiting, first.producer), (2, 0));
        assert_eq!(sass.rows[2].waits_for, Some(0));
        let view = view("l0", &sass, &Places::of(&launch)).into_string();
        assert!(view.contains(r#"data-from="32" data-to="0" data-samples="20""#), "{view}");
        assert!(view.contains(r##"<tr class="h9" data-l="0.7"><td>0020</td><td><a href="#l0-L0.7">7</a></td><td>20</td>"##), "{view}");
    }

    #[test]
    fn of_many_instructions_the_hottest_stay_in_order() {
        let launch = launch();
        let sass = Sass::of(&launch, 2).unwrap();
        let told: Vec<(u64, bool)> =
            sass.rows.iter().map(|row| (row.address, row.after_gap)).collect();
        assert_eq!(told, [(0x10, true), (0x20, false)]);
        assert_eq!(sass.hidden, 2);
    }
}
