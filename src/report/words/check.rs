//! What is said of a check, whatever the form.

use crate::document::Diff;
use crate::gate::{
    CheckDocument, Comparison, GateOutcome, Interval, Margin, Outcome, Timed, Verdict,
};
use crate::report::words::number::timing;
use crate::text::{count_of, prefixed};

/// The verdict in one line.
pub(crate) fn headline(check: &CheckDocument) -> String {
    let pair = format!("{} → {}", check.base, check.new);
    if check.is_refused() {
        return format!("{pair}: not compared, because they differ in more than the code");
    }
    let failed = check.gates.iter().filter(|gate| gate.outcome == Outcome::Failed).count();
    let gates = match failed {
        0 => String::new(),
        1 => "; 1 gate failed".to_owned(),
        more => format!("; {more} gates failed"),
    };
    match (check.timed, &check.comparison) {
        (Timed::NotAtAll, _) => {
            let word = if check.passed { "passed" } else { "failed" };
            let word = if check.exit_code == 5 { "undecided" } else { word };
            format!("{pair}: {word}, times not compared{gates}")
        }
        (_, Some(found)) => format!("{pair}: {}, {}{gates}", verdict(found), by(&found.time)),
        (_, None) => {
            format!("{pair}: {}, no times to judge{gates}", check.verdict.word())
        }
    }
}

/// The verdict's word. Where the times do differ, SAME only means that the margin allows it.
fn verdict(found: &Comparison) -> String {
    let word = found.verdict.word();
    let time = &found.time;
    if found.verdict == Verdict::Same && (time.low > 1.0 || time.high < 1.0) {
        return format!("{word} within the margin of {:.2}%", 100.0 * found.margin.used());
    }
    word.to_owned()
}

/// How much more or less the candidate takes: `+2.1% (+1.9% to +2.3%)`.
pub(crate) fn by(interval: &Interval) -> String {
    format!("{} ({} to {})", change(interval.ratio), change(interval.low), change(interval.high))
}

fn change(ratio: f64) -> String {
    format!("{:+.2}%", 100.0 * (ratio - 1.0)).replace('-', "−")
}

/// Label and sentence of all that is known of the times.
pub(crate) fn times(check: &CheckDocument) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    rows.extend(check.base_ns.map(|time| ("baseline", timing(&time))));
    rows.extend(check.new_ns.map(|time| ("candidate", timing(&time))));
    let Some(found) = &check.comparison else { return rows };
    rows.push(("test", test(check.timed, found)));
    rows.push(("margin", margin(&found.margin)));
    if let Some(sentence) = clock(found) {
        rows.push(("clock", sentence));
    }
    rows
}

fn test(timed: Timed, found: &Comparison) -> String {
    let runs = count_of(found.runs as f64, "run");
    let how = match timed {
        Timed::InTurn => format!("{runs} of each in turn, looked at {} times", found.looks),
        Timed::Apart | Timed::NotAtAll => format!("{runs} of each, recorded apart"),
    };
    // Of one run, what is known is how far its launches scatter.
    let what =
        if found.runs == 1 { "each total is uncertain by up to" } else { "single runs scatter by" };
    format!(
        "{how}; the interval holds the true ratio with {:.2}% confidence; {what} {:.2}%; seed {}",
        100.0 * found.time.confidence,
        100.0 * found.scatter,
        found.seed
    )
}

/// The margin and where it comes from.
fn margin(margin: &Margin) -> String {
    let used = margin.used();
    let is = |value: f64| value >= used;
    let why = if is(margin.max_slowdown) {
        "what --max-slowdown allows"
    } else if is(margin.between_runs) {
        "how far apart two runs of one kernel in different processes can be"
    } else if is(margin.timer) {
        "one tick of the timer"
    } else {
        "a part of the scatter of single runs"
    };
    format!("±{:.2}%: {why}", 100.0 * used)
}

fn clock(found: &Comparison) -> Option<String> {
    let (hz, moved) = (found.clock_hz?, found.clock_moved?);
    let moved = format!("{}Hz, moved by {:.1}%", prefixed(hz), 100.0 * moved);
    Some(match &found.cycles {
        None => moved,
        Some(cycles) => format!("{moved}; in cycles the candidate takes {}", by(cycles)),
    })
}

/// A gate in one line.
pub(crate) fn gate(gate: &GateOutcome) -> String {
    let word = match gate.outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::Unknown => "unknown",
    };
    if gate.seen.is_empty() {
        format!("{word}: {}", gate.gate)
    } else {
        format!("{word}: {} ({})", gate.gate, gate.seen.join("; "))
    }
}

/// What to do where nothing was decided.
pub(crate) fn remedy(check: &CheckDocument) -> Option<&'static str> {
    if check.is_refused() {
        return Some("--force compares them anyway");
    }
    let found = check.comparison.as_ref()?;
    if found.verdict != Verdict::Undecided {
        return None;
    }
    Some(match check.timed {
        Timed::InTurn => {
            "allow more time (--max-time) or a larger margin (--max-slowdown) to get a decision"
        }
        // Of programs one surveyed run each.
        Timed::Apart if found.runs == 1 => {
            "one run of each can't be compared more closely: `adoprof check --baseline-program BASE -- NEW` runs both \
             in turn"
        }
        Timed::Apart | Timed::NotAtAll => {
            "times recorded in different runs can't be compared more closely; on a machine with a GPU, --live runs \
             both in turn"
        }
    })
}

/// The findings that came and went, for a check that failed.
pub(crate) fn cause(diff: &Diff) -> Option<String> {
    let words = |word: &str, rules: &[String]| {
        (!rules.is_empty()).then(|| format!("{word} {}", rules.join(", ")))
    };
    let parts: Vec<String> =
        [words("new:", &diff.come), words("gone:", &diff.gone)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn the_headline_has_verdict_ratio_and_interval() {
        let mut check = samples::check();
        assert_eq!(headline(&check), "v2 → v3: SLOWER, +2.10% (+1.90% to +2.30%); 1 gate failed");
        check.unlike = vec![crate::gate::Difference {
            what: "GPU".to_owned(),
            base: "A".to_owned(),
            new: "B".to_owned(),
        }];
        assert!(
            headline(&check).ends_with("not compared, because they differ in more than the code")
        );
    }

    #[test]
    fn a_difference_that_the_margin_allows_is_called_one() {
        let mut check = samples::check();
        check.gates.clear();
        let found = check.comparison.as_mut().unwrap();
        found.verdict = Verdict::Same;
        found.margin.max_slowdown = 0.05;
        assert_eq!(
            headline(&check),
            "v2 → v3: SAME within the margin of 5.00%, +2.10% (+1.90% to +2.30%)"
        );
        check.comparison.as_mut().unwrap().time.low = 0.999;
        assert_eq!(headline(&check), "v2 → v3: SAME, +2.10% (−0.10% to +2.30%)");
    }

    #[test]
    fn the_margin_says_what_it_comes_from() {
        let of = |noise, timer, between_runs| {
            margin(&Margin { max_slowdown: 0.005, noise, timer, between_runs })
        };
        assert!(of(0.0, 0.0, 0.0).starts_with("±0.50%: what --max-slowdown allows"));
        assert!(of(0.02, 0.0, 0.0).contains("scatter of single runs"));
        assert!(of(0.0, 0.05, 0.0).starts_with("±5.00%: one tick"));
        assert!(of(0.0, 0.0, 0.03).contains("different processes"));
    }
}
