//! The fault bench as text and as CSV.

use std::io::{self, Write};

use crate::bench::{BenchDocument, Case, Climb, Figures, HalfFigures, Promise, Quiet, Said, Tally};
use crate::finding::Estimate;
use crate::report::style::Style;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::report::words::number::factor;
use crate::text::percent;

/// Writes the cases, the steps of which nothing should be said, and the figures.
pub fn bench(document: &BenchDocument, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    if !page.style.quiet {
        if !document.cases.is_empty() {
            page.inked("", "planted faults", Ink::Bold);
            cases(&mut page, &document.cases);
            page.blank();
        }
        if !document.quiet.is_empty() {
            page.inked("", "kernels at a limit, and faults that are not there", Ink::Bold);
            quiet(&mut page, &document.quiet);
            page.blank();
        }
    }
    for half in document.figures.iter().filter(|half| has_cases(half)) {
        figures(&mut page, half);
        page.blank();
    }
    if let Some(climb) = &document.ladders {
        ladders(&mut page, climb);
    }
    page.write(out)
}

fn has_cases(half: &HalfFigures) -> bool {
    let Figures { first_three, false_alarms, accused, .. } = &half.adoprof;
    first_three.all + false_alarms.all + accused.all > 0
}

/// A kernel of the bench in short: its pair, and its step where that is not called after the fault.
fn name(ladder: &str, step: &str) -> String {
    let pair = ladder.strip_prefix("fault-").unwrap_or(ladder);
    if step == "fault" { pair.to_owned() } else { format!("{pair}/{step}") }
}

fn bare(value: f64) -> String {
    factor(value).trim_end_matches('×').to_owned()
}

/// `1.50 (1.30–1.70)`.
fn estimate(gain: &Estimate) -> String {
    if gain.low >= gain.high {
        return bare(gain.factor);
    }
    format!("{} ({}–{})", bare(gain.factor), bare(gain.low), bare(gain.high))
}

/// A name and what it promises.
fn promise(promise: Option<&Promise>) -> [String; 2] {
    promise.map_or_else(
        || ["—".to_owned(), String::new()],
        |promise| {
            let gain = promise.estimate.map(|gain| bare(gain.factor)).unwrap_or_default();
            [promise.rule.clone(), gain]
        },
    )
}

fn rank(said: &Said) -> String {
    said.rank.map_or_else(|| "—".to_owned(), |rank| rank.to_string())
}

fn promised(said: &Said) -> String {
    said.estimate.as_ref().map_or_else(|| "—".to_owned(), estimate)
}

fn cases(page: &mut Page, cases: &[Case]) {
    let head = [
        Column::text("kernel").flexible(16),
        Column::text("planted fault").flexible(18),
        Column::number("gain"),
        Column::number("rank"),
        Column::text("estimate"),
        Column::text("first finding").flexible(16),
        Column::number("worth"),
        Column::number("ncu’s").optional(),
        Column::number("rank").optional(),
        Column::text("ncu’s largest").flexible(12).optional(),
        Column::number("worth").optional(),
    ];
    let rows: Vec<Vec<String>> = cases
        .iter()
        .map(|case| {
            let miss = case.adoprof.held == Some(false);
            let [first, worth] = promise(case.adoprof.first.as_ref());
            let [largest, of_largest] = promise(case.ncu_global.first.as_ref());
            vec![
                name(&case.ladder, &case.step),
                case.fault.clone(),
                bare(case.gain),
                rank(&case.adoprof),
                format!("{}{}", promised(&case.adoprof), if miss { " !" } else { "" }),
                first,
                worth,
                promised(&case.ncu_global),
                rank(&case.ncu_global),
                largest,
                of_largest,
            ]
        })
        .collect();
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
    page.inked(
        "",
        "gains and estimates are factors; ! marks a range that misses the gain; ncu's by its estimates \
         of the whole kernel",
        Ink::Dim,
    );
}

fn quiet(page: &mut Page, quiet: &[Quiet]) {
    let head = [
        Column::text("kernel").flexible(16),
        Column::text("what it is").flexible(18),
        Column::text("adoprof says").flexible(16),
        Column::number("worth"),
        Column::text(""),
        Column::text("ncu’s largest").flexible(14).optional(),
        Column::number("worth").optional(),
    ];
    let verdict = |alarm: bool| if alarm { "false alarm" } else { "" };
    let rows: Vec<Vec<String>> = quiet
        .iter()
        .map(|quiet| {
            let [said, worth] = promise(quiet.adoprof.as_ref());
            let [largest, of_largest] = promise(quiet.ncu_global.as_ref());
            vec![
                name(&quiet.ladder, &quiet.step),
                quiet
                    .innocent_of
                    .as_ref()
                    .map_or_else(|| "at a limit".to_owned(), |fault| format!("no {fault}")),
                said,
                worth,
                verdict(quiet.adoprof_alarm).to_owned(),
                largest,
                of_largest,
            ]
        })
        .collect();
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
}

/// `34 of 40 (85%)`.
fn tally(tally: Tally) -> String {
    let share = tally.share().map_or_else(String::new, |share| format!(" ({})", percent(share)));
    if tally.all == 0 { "—".to_owned() } else { format!("{} of {}{share}", tally.of, tally.all) }
}

fn figures(page: &mut Page, half: &HalfFigures) {
    let title = match half.half.as_str() {
        "together" => "both halves together".to_owned(),
        half => format!("{half} half"),
    };
    page.inked("", &title, Ink::Bold);
    let head = [
        Column::text("").flexible(20),
        Column::number("adoprof"),
        Column::number("ncu, any estimate"),
        Column::number("ncu, whole kernel"),
    ];
    let all = [&half.adoprof, &half.ncu, &half.ncu_global];
    let row = |title: &str, cell: &dyn Fn(&Figures) -> String| {
        let mut row = vec![title.to_owned()];
        row.extend(all.iter().map(|figures| cell(figures)));
        row
    };
    let number = |value: Option<f64>| value.map_or_else(|| "—".to_owned(), factor);
    let rows = [
        row("right first", &|figures| tally(figures.first)),
        row("right among the first three", &|figures| tally(figures.first_three)),
        row("estimate off by, median", &|figures| number(figures.median_ratio)),
        row("estimate off by, worst", &|figures| number(figures.worst_ratio)),
        row("without an estimate", &|figures| tally(figures.missing)),
        row("range holds the gain", &|figures| tally(figures.held)),
        row("false alarms at a limit", &|figures| tally(figures.false_alarms)),
        row("faults named that are not there", &|figures| tally(figures.accused)),
    ];
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
}

fn ladders(page: &mut Page, climb: &Climb) {
    page.inked("", "transitions of the ladders that gain 5% or more", Ink::Bold);
    let head = [
        Column::text("step").flexible(16),
        Column::text("next"),
        Column::number("gain"),
        Column::text("answers").flexible(18),
        Column::number("rank"),
        Column::text("first finding").flexible(18),
        Column::text("more is measured for").flexible(12).optional(),
    ];
    let rows: Vec<Vec<String>> = climb
        .transitions
        .iter()
        .map(|step| {
            let beaten = step.beaten_by.as_ref();
            vec![
                format!("{}/{}", step.ladder, step.from),
                step.to.clone(),
                format!("{}{}", if step.by_rate { "~" } else { "" }, bare(step.gain)),
                step.answered.clone().unwrap_or_else(|| "—".to_owned()),
                step.rank.map_or_else(|| "—".to_owned(), |rank| rank.to_string()),
                step.first.clone().unwrap_or_else(|| "—".to_owned()),
                beaten.map(|(name, gain)| format!("{name} {}", bare(*gain))).unwrap_or_default(),
            ]
        })
        .collect();
    if !page.style.quiet {
        let lines = render(&head, &rows, page.style.width);
        page.table("", &lines);
        page.blank();
    }
    page.paragraph("", &format!("among the first three: {}", tally(climb.first_three)));
    page.paragraph(
        "",
        &format!("first, where nothing measured gives more: {}", tally(climb.first)),
    );
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::bench::Transition;
    use crate::text::layout::columns;

    fn said(rank: Option<usize>, factor: f64, held: Option<bool>) -> Said {
        let gain = Estimate { factor, low: factor * 0.9, high: factor * 1.1 };
        Said {
            first: Some(Promise { rule: "shared-bank-conflicts".to_owned(), estimate: Some(gain) }),
            rank,
            estimate: rank.map(|_| gain),
            ratio: 1.25,
            held,
        }
    }

    /// A case, a step at a limit and a transition.
    pub fn document() -> BenchDocument {
        let case = Case {
            half: "held-out".to_owned(),
            ladder: "fault-a-made-up-pair-of-kernels".to_owned(),
            step: "fault".to_owned(),
            fault: "occupancy-limited-by-shared-memory".to_owned(),
            answered_by: "clean".to_owned(),
            gain: 2.5,
            largest: true,
            adoprof: said(Some(2), 2.0, Some(false)),
            ncu: said(None, 9.0, None),
            ncu_global: said(Some(1), 3.0, None),
        };
        let quiet = Quiet {
            half: "held-out".to_owned(),
            ladder: "fault-limit".to_owned(),
            step: "copy".to_owned(),
            innocent_of: None,
            adoprof: said(Some(1), 1.3, None).first,
            adoprof_alarm: true,
            ncu: None,
            ncu_alarm: false,
            ncu_global: None,
            ncu_global_alarm: false,
        };
        let figures = Figures {
            first: Tally { of: 0, all: 1 },
            first_three: Tally { of: 1, all: 1 },
            median_ratio: Some(1.25),
            worst_ratio: Some(1.25),
            missing: Tally { of: 0, all: 1 },
            held: Tally { of: 0, all: 1 },
            false_alarms: Tally { of: 1, all: 1 },
            accused: Tally::default(),
        };
        let half = HalfFigures {
            half: "held-out".to_owned(),
            adoprof: figures.clone(),
            ncu: figures.clone(),
            ncu_global: figures,
        };
        let transition = Transition {
            ladder: "ado".to_owned(),
            from: "v2".to_owned(),
            to: "v3".to_owned(),
            gain: 1.4,
            by_rate: false,
            answered: None,
            rank: None,
            first: Some("shared-memory-pressure".to_owned()),
            beaten_by: Some(("no-sweep".to_owned(), 2.4)),
        };
        let transitions = Climb { transitions: vec![transition], ..Climb::default() };
        BenchDocument {
            cases: vec![case],
            quiet: vec![quiet],
            figures: vec![half],
            ladders: Some(transitions),
            ..BenchDocument::default()
        }
    }

    fn text(style: Style) -> String {
        let mut out = Vec::new();
        bench(&document(), style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_line_fits_and_every_figure_is_there() {
        for width in [40, 80, 120] {
            let text = text(Style { width, ..Style::default() });
            for line in text.lines() {
                assert!(columns(line) <= width, "{width}: {line:?}");
            }
        }
        let text = text(Style { width: 160, ..Style::default() });
        for fact in [
            "2.50",
            "2.00 (1.80–2.20) !",
            "shared-bank-conflicts",
            "3.00 (2.70–3.30)",
            "false alarm",
            "held-out half",
            "1 of 1 (100%)",
            "1.25×",
            "no-sweep 2.40",
        ] {
            assert!(text.contains(fact), "{fact}\n{text}");
        }
    }

    #[test]
    fn quiet_leaves_the_figures() {
        let text = text(Style { quiet: true, ..Style::default() });
        assert!(!text.contains("planted faults") && text.contains("right first"), "{text}");
    }
}
