//! The fault bench as text and as CSV.

use std::io::{self, Write};

use crate::bench::{
    BenchDocument, Chance, Figures, FirstJudged, PlantedFault, Promise, QuietStep, Said,
    SetFigures, Tally, Three, Transitions,
};
use crate::report::style::Style;
use crate::report::text::figures::{bare, estimate, tally};
use crate::report::text::page::{Ink, Page};
use crate::report::text::programs;
use crate::report::text::table::{Column, render};
use crate::report::words::number::factor;
use crate::text::significant;

/// Writes the cases, the steps of which nothing should be said, and the figures.
pub(crate) fn bench(document: &BenchDocument, style: Style, out: &mut dyn Write) -> io::Result<()> {
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
    for set in &document.sets {
        of_set(&mut page, set);
        page.blank();
    }
    if let Some(together) = &document.together {
        page.inked("", "all of these sets together, by today's rules", Ink::Bold);
        figures(&mut page, None, together);
        page.blank();
    }
    if let Some(transitions) = &document.ladders {
        ladders(&mut page, transitions);
    }
    if let Some(programs) = &document.programs {
        programs::programs(&mut page, programs);
    }
    page.write(out)
}

/// A kernel of the bench in short: its pair, and its step where that is not called after the fault.
fn name(ladder: &str, step: &str) -> String {
    let pair = ladder.strip_prefix("fault-").unwrap_or(ladder);
    if step == "fault" { pair.to_owned() } else { format!("{pair}/{step}") }
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

fn cases(page: &mut Page, cases: &[PlantedFault]) {
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
        "gains and estimates are factors; ! marks a range that misses the gain; ncu's column: the largest of \
         its whole-kernel estimates",
        Ink::Dim,
    );
}

fn quiet(page: &mut Page, quiet: &[QuietStep]) {
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

/// How a set came about, then its figures as first judged and as they are now.
fn of_set(page: &mut Page, set: &SetFigures) {
    let title = format!("set {}: {} kernels", set.set.number, set.kernels);
    page.inked("", &title, Ink::Bold);
    page.paragraph("", &set.set.came);
    let judged = set.set.judged.as_ref();
    if let Some(judged) = judged {
        page.paragraph(
            "",
            &format!(
                "First judged by the rules of {}, with the recordings of {}. Seen since: by today's rules, \
                 which were changed after the set was seen.",
                judged.rules,
                judged.recordings.join(" and ")
            ),
        );
    }
    figures(page, judged, &set.seen_since);
}

fn figures(page: &mut Page, judged: Option<&FirstJudged>, now: &Three) {
    let number = |value: Option<f64>| value.map_or_else(|| "—".to_owned(), factor);
    let kept = |value: Option<Tally>| value.map_or_else(|| "—".to_owned(), tally);
    let mut head = vec![Column::text("")];
    head.extend(judged.map(|_| Column::number("first judged")));
    head.push(Column::number("seen since"));
    head.push(Column::number("ncu, any estimate").optional());
    head.push(Column::number("ncu, whole kernel"));
    let row = |title: &str, first: Option<String>, cell: &dyn Fn(&Figures) -> String| {
        let mut row = vec![title.to_owned()];
        row.extend(judged.map(|_| first.unwrap_or_else(|| "—".to_owned())));
        row.extend([&now.adoprof, &now.ncu, &now.ncu_global].map(cell));
        row
    };
    let rows = [
        row("right first", judged.map(|j| kept(j.first)), &|f| tally(f.first)),
        row("  where ncu has a rule", None, &|f| tally(f.first_of_ncus_kinds)),
        row("among the first three", judged.map(|j| kept(j.first_three)), &|f| {
            tally(f.first_three)
        }),
        row("has an estimate", None, &|f| tally(f.estimated)),
        row("  off by, median of these", None, &|f| number(f.median_ratio_estimated)),
        row("off by, median of all", judged.map(|j| number(j.median_ratio)), &|f| {
            number(f.median_ratio)
        }),
        row("off by, worst of all", judged.map(|j| number(j.worst_ratio)), &|f| {
            number(f.worst_ratio)
        }),
        row("range holds the gain", judged.map(|j| kept(j.held)), &|f| tally(f.held)),
        row("still promised once repaired", None, &|f| tally(f.insists)),
        row("  and named first", None, &|f| tally(f.insists_first)),
        row("false alarms at a limit", judged.map(|j| kept(j.false_alarms)), &|f| {
            tally(f.false_alarms)
        }),
        row("faults that are not there", judged.map(|j| kept(j.accused)), &|f| tally(f.accused)),
    ];
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
    page.paragraph("", &format!("the first line is one of the fault's: {}", tally(now.lines)));
    page.paragraph("", &format!("right first without the SASS: {}", tally(now.first_without_sass)));
}

fn ladders(page: &mut Page, ladders: &Transitions) {
    page.inked("", "transitions of the ladders that gain 5% or more", Ink::Bold);
    let head = [
        Column::text("step").flexible(16),
        Column::text("next"),
        Column::number("gain"),
        Column::text("made for").flexible(18),
        Column::number("rank"),
        Column::text("first finding").flexible(18),
        Column::text("gains more").flexible(12).optional(),
    ];
    let rows: Vec<Vec<String>> = ladders
        .transitions
        .iter()
        .map(|step| {
            let beaten = step.beaten_by.as_ref();
            let rank = step.rank.map_or_else(|| "—".to_owned(), |rank| rank.to_string());
            vec![
                format!("{}/{}", step.ladder, step.from),
                step.to.clone(),
                format!("{}{}", if step.by_rate { "~" } else { "" }, bare(step.gain)),
                step.fault.clone(),
                format!("{rank} of {}", step.findings),
                step.first.clone().unwrap_or_else(|| "—".to_owned()),
                beaten.map(|(name, gain)| format!("{name} {}", bare(*gain))).unwrap_or_default(),
            ]
        })
        .collect();
    if !page.style.quiet {
        let lines = render(&head, &rows, page.style.width);
        page.table("", &lines);
        page.blank();
        lost(page, ladders);
    }
    page.paragraph("", &format!("among the first three: {}", chance(&ladders.first_three)));
    page.paragraph(
        "",
        &format!("first, where no other measured change gains more: {}", chance(&ladders.first)),
    );
}

fn lost(page: &mut Page, ladders: &Transitions) {
    page.inked("", "transitions that gain less than 5%, or lose, and are not counted", Ink::Bold);
    let head = [
        Column::text("step").flexible(16),
        Column::text("next"),
        Column::number("gain"),
        Column::text("made for").flexible(18),
        Column::text("first finding").flexible(18),
    ];
    let rows: Vec<Vec<String>> = ladders
        .lost
        .iter()
        .map(|step| {
            vec![
                format!("{}/{}", step.ladder, step.from),
                step.to.clone(),
                bare(step.gain),
                step.fault.clone(),
                step.first.clone().unwrap_or_else(|| "—".to_owned()),
            ]
        })
        .collect();
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
    page.blank();
}

/// `25 of 33 (76%), by chance 19.4`.
fn chance(chance: &Chance) -> String {
    format!(
        "{}; a random order would give {}",
        tally(chance.right),
        significant(chance.by_chance, 3)
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::bench::{FaultSet, Lost, Transition};
    use crate::finding::Estimate;
    use crate::text::layout::columns;

    fn said(rank: Option<usize>, factor: f64, held: Option<bool>) -> Said {
        let gain = Estimate { factor, low: factor * 0.9, high: factor * 1.1 };
        Said {
            first: Some(Promise { rule: "shared-bank-conflicts".to_owned(), estimate: Some(gain) }),
            rank,
            estimate: rank.map(|_| gain),
            ratio: 1.25,
            held,
            rank_when_repaired: None,
            estimate_when_repaired: None,
        }
    }

    /// A case, a step at a limit and a transition.
    pub(crate) fn document() -> BenchDocument {
        let case = PlantedFault {
            set: 4,
            ladder: "fault-a-made-up-pair-of-kernels".to_owned(),
            step: "fault".to_owned(),
            fault: "occupancy-limited-by-shared-memory".to_owned(),
            answered_by: "clean".to_owned(),
            gain: 2.5,
            largest: true,
            ncu_has_a_rule: true,
            adoprof: said(Some(2), 2.0, Some(false)),
            ncu: said(None, 9.0, None),
            ncu_global: said(Some(1), 3.0, None),
            line: None,
            rank_without_sass: Some(3),
        };
        let quiet = QuietStep {
            set: 4,
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
            first_of_ncus_kinds: Tally { of: 0, all: 1 },
            first_three: Tally { of: 1, all: 1 },
            median_ratio: Some(1.25),
            median_ratio_estimated: Some(1.5),
            worst_ratio: Some(1.25),
            estimated: Tally { of: 1, all: 1 },
            held: Tally { of: 0, all: 1 },
            insists: Tally { of: 0, all: 1 },
            insists_first: Tally { of: 0, all: 1 },
            false_alarms: Tally { of: 1, all: 1 },
            accused: Tally::default(),
        };
        let seen_since = Three {
            adoprof: figures.clone(),
            ncu: figures.clone(),
            ncu_global: figures,
            first_without_sass: Tally { of: 0, all: 1 },
            lines: Tally { of: 3, all: 4 },
        };
        let judged = FirstJudged {
            rules: "03bdfb3".to_owned(),
            recordings: vec!["64b5299".to_owned()],
            worst_ratio: Some(6.43),
            ..FirstJudged::default()
        };
        let set = FaultSet {
            number: 4,
            came: "Made up for a test.".to_owned(),
            tuning: false,
            judged: Some(judged),
        };
        let transition = Transition {
            ladder: "ado".to_owned(),
            from: "v2".to_owned(),
            to: "v3".to_owned(),
            gain: 1.4,
            by_rate: false,
            fault: "uncoalesced-global-access".to_owned(),
            rank: None,
            findings: 2,
            first: Some("shared-memory-pressure".to_owned()),
            beaten_by: Some(("no-sweep".to_owned(), 2.4)),
        };
        let lost = Lost {
            ladder: "reduce".to_owned(),
            from: "r-pairs".to_owned(),
            to: "r0".to_owned(),
            gain: 0.59,
            fault: "launch-overhead-bound".to_owned(),
            first: None,
        };
        let transitions = Transitions {
            transitions: vec![transition],
            lost: vec![lost],
            ..Transitions::default()
        };
        BenchDocument {
            cases: vec![case],
            quiet: vec![quiet],
            sets: vec![SetFigures { set, kernels: 2, seen_since }],
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
            "set 4: 2 kernels",
            "First judged by the rules of 03bdfb3, with the recordings of 64b5299",
            "6.43×",
            "1.50×",
            "3 of 4 (75%)",
            "r-pairs",
            "0.59",
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
