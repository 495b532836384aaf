//! A bench of a made-up pair, a step at a limit, and two transitions.

use super::*;
use crate::bench::{
    FaultSet, Figures, FirstJudged, Lost, PlantedFault, Promise, QuietStep, Said, SetFigures,
    Tally, Three, Transition, Transitions,
};
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
    let transitions =
        Transitions { transitions: vec![transition], lost: vec![lost], ..Transitions::default() };
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
