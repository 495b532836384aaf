//! A whole program: its timeline, and its kinds of kernels by what there is to gain.

use maud::html;

use super::axis::below;
use super::bars::{Bar, height, rows};
use crate::document::{Document, Program, ProgramGroup, is_roof};
use crate::kernel_name;
use crate::page::figure::{Figure, Table, pct, px};
use crate::page::lettering::{beside, in_full};
use crate::report::words::number::{extent, factor};
use crate::text::{count_of, duration, percent};

const LANE: f64 = 44.0;
const TALL: f64 = 20.0;
/// Columns of a kernel's name.
const NAME: usize = 34;
/// Groups shown.
const MOST: usize = 12;

/// What streams, copies and waits do over the active time; `None` where no survey tells.
pub(in crate::page) fn timeline(program: &Program) -> Option<Figure> {
    if program.lanes.is_empty() || program.active_ns <= 0.0 {
        return None;
    }
    let mut table = Table::new(["lane", "busy"]);
    for lane in &program.lanes {
        table.row([lane.name.clone(), percent(mean(&lane.busy))]);
    }
    let bottom = program.lanes.len() as f64 * LANE;
    Some(Figure {
        name: "timeline",
        id: "timeline".to_owned(),
        title: "Timeline".to_owned(),
        said: format!(
            "The {} from the device's first work to its last, in equal parts: the taller a bar, the more of that part the \
             lane is busy.",
            duration(program.active_ns)
        ),
        height: (bottom + 18.0) as u32,
        drawn: html! {
            @for (at, lane) in program.lanes.iter().enumerate() {
                @let y = at as f64 * LANE;
                @let busy = percent(mean(&lane.busy));
                @let name = beside(&lane.name, &busy);
                g class="lane" data-label=(lane.name) data-value=(mean(&lane.busy)) {
                    (in_full(&lane.name, &name))
                    text class="ink" x="0" y=(px(y + 13.0)) { (name) }
                    text class="num" x="100%" y=(px(y + 13.0)) { (busy) }
                    line class="grid" x1="0" x2="100%" y1=(px(y + 18.0 + TALL)) y2=(px(y + 18.0 + TALL)) {}
                    @for (start, parts, busy) in runs(&lane.busy) {
                        rect class="accent" x=(pct(start as f64 / lane.busy.len() as f64)) y=(px(y + 18.0 + TALL * (1.0 - busy)))
                            width=(pct(parts as f64 / lane.busy.len() as f64)) height=(px(TALL * busy)) {}
                    }
                }
            }
            (below([(0.0, "0".to_owned()), (1.0, duration(program.active_ns))], bottom + 12.0))
        },
        table,
    })
}

fn mean(busy: &[f64]) -> f64 {
    if busy.is_empty() { 0.0 } else { busy.iter().sum::<f64>() / busy.len() as f64 }
}

/// Neighbours that are equally busy as one: where they begin, how many, how busy; idle ones left out.
fn runs(busy: &[f64]) -> Vec<(usize, usize, f64)> {
    let mut runs: Vec<(usize, usize, f64)> = Vec::new();
    for (at, &share) in busy.iter().enumerate() {
        match runs.last_mut() {
            Some((_, parts, same)) if (*same - share).abs() < f64::EPSILON => *parts += 1,
            _ => runs.push((at, 1, share)),
        }
    }
    runs.retain(|(_, _, share)| *share > 0.0);
    runs
}

/// A kind of kernels, and what there is to gain of it: shares of the program's time.
struct Worth<'a> {
    group: &'a ProgramGroup,
    share: f64,
    gain: f64,
    /// Its first finding, with the factor of its kernels' time.
    fault: Option<(String, f64)>,
}

/// The kinds of kernels, the one with most to gain first; `None` where there is none.
pub(in crate::page) fn groups(document: &Document) -> Option<Figure> {
    let program = document.program.as_ref()?;
    let kernels = program.kernel_share();
    let mut groups: Vec<Worth> = program
        .groups
        .iter()
        .map(|group| {
            let share = group.share * kernels;
            let fault = fault(document, group);
            let gain = fault.as_ref().map_or(0.0, |(_, factor)| share * (1.0 - 1.0 / factor));
            Worth { group, share, gain, fault }
        })
        .collect();
    groups.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(b.share.total_cmp(&a.share)));
    let mut table =
        Table::new(["kernel", "launches", "time", "of the program", "to gain", "first finding"]);
    let mut bars = Vec::new();
    let longest = groups.iter().map(|group| group.share).fold(f64::MIN_POSITIVE, f64::max);
    let is_alone = |name: &str| {
        groups.iter().filter(|other| kernel_name::short(&other.group.kernel, NAME) == name).count()
            < 2
    };
    for Worth { group, share, gain, fault } in groups.iter().take(MOST) {
        let mut name = kernel_name::short(&group.kernel, NAME);
        if !is_alone(&name) {
            name = format!("{name} {}", extent(group.grid));
        }
        let said =
            fault.as_ref().map_or_else(String::new, |(rule, by)| format!("{rule} {}", factor(*by)));
        table.row([
            kernel_name::demangled(&group.kernel).into_owned(),
            group.launches.to_string(),
            duration(group.total_ns),
            percent(*share),
            percent(*gain),
            said,
        ]);
        bars.push(Bar {
            parts: vec![(gain / longest, "accent"), ((share - gain) / longest, "quiet")],
            ..Bar::new(name, format!("{} of {}", percent(*gain), percent(*share)), *gain, *share)
        });
    }
    let most = groups.first()?;
    let said = format!(
        "{} of kernels. Each bar is a kernel's time, and its coloured part is what the kernel's first finding \
         would save; the kernels with the most to save come first. The most: {} for {}.",
        count_of(program.groups.len() as f64, "kind"),
        percent(most.gain),
        kernel_name::short(&most.group.kernel, NAME)
    );
    Some(Figure {
        name: "groups",
        id: "groups".to_owned(),
        title: "Kernels by possible gain".to_owned(),
        said,
        height: height(&bars) as u32,
        drawn: html! { (rows(&bars, 0.0)) },
        table,
    })
}

/// A group's first finding and what it is worth, where one of its launches was profiled.
fn fault(document: &Document, group: &ProgramGroup) -> Option<(String, f64)> {
    let first = document.launches.get(group.launch?)?.findings.first()?;
    let factor = first.estimated_speedup?.factor;
    (!is_roof(&first.rule) && factor > 1.0).then(|| (first.rule.clone(), factor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Lane;
    use crate::report::samples;

    #[test]
    fn neighbours_that_are_equally_busy_are_one_bar() {
        assert_eq!(runs(&[1.0, 1.0, 0.0, 0.5]), [(0, 2, 1.0), (3, 1, 0.5)]);
    }

    #[test]
    fn groups_stand_by_their_gain_and_not_by_their_time() {
        let group = |kernel: &str, share, launch| ProgramGroup {
            kernel: kernel.to_owned(),
            grid: [1; 3],
            block: [32, 1, 1],
            launches: 3,
            total_ns: share * 1e9,
            share,
            median_ns: 1.0,
            range_ns: [1.0; 2],
            launch,
            ..ProgramGroup::default()
        };
        let launch = |factor| {
            samples::launch("k", 1.0, 0.5, vec![samples::finding(1, "partial-wave", factor)])
        };
        let document = Document {
            launches: vec![launch(1.25), launch(4.0)],
            program: Some(Program {
                wall_ns: 2e9,
                kernel_busy_ns: 1e9,
                groups: vec![group("long", 0.6, Some(0)), group("bad", 0.4, Some(1))],
                lanes: vec![Lane { name: "stream 7".to_owned(), busy: vec![1.0, 0.5] }],
                active_ns: 1e9,
                ..Program::default()
            }),
            ..Document::default()
        };
        let figure = groups(&document).unwrap();
        // Half of the program is kernels: 0.4 × 0.5 × 3/4 = 15%; 0.6 × 0.5 × 1/5 = 6%.
        let told: Vec<(&str, &str)> =
            figure.table.rows.iter().map(|row| (row[0].as_str(), row[4].as_str())).collect();
        assert_eq!(told, [("bad", "15%"), ("long", "6%")]);
        let timeline = timeline(document.program.as_ref().unwrap()).unwrap();
        assert_eq!(timeline.table.rows, [["stream 7", "75%"]]);
    }
}
