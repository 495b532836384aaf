//! What is said of a ladder's run, whatever the form.

use crate::report::words::number::{estimate, factor};
use crate::report::words::steps::{Fate, Gain, Outcome, Row};

/// A measured gain; `~` marks one that compares rates.
pub(crate) fn gain(gain: Option<Gain>) -> String {
    gain.map_or_else(String::new, |gain| {
        format!("{}{}", if gain.by_rate { "~" } else { "" }, factor(gain.factor))
    })
}

/// `v3 gained 1.49×, within the estimated range; the fault is gone; new: barrier-stalls.`
pub(crate) fn sentence(row: &Row<'_>, outcome: &Outcome<'_>) -> String {
    let mut parts = Vec::new();
    let next = &outcome.next.name;
    let first = row.finding.map(|finding| finding.rule.as_str());
    let removes = match &outcome.answered {
        Some((finding, promised)) if Some(finding.rule.as_str()) != first => {
            format!(" removes {}, estimated at {}; the step", finding.rule, estimate(promised))
        }
        _ => String::new(),
    };
    match outcome.gained {
        Some(measured) => {
            let inside = match outcome.inside() {
                Some(true) => ", within the estimated range",
                Some(false) => ", outside the estimated range",
                None => "",
            };
            let went = if factor(measured.factor) == factor(1.0) {
                "is as fast as before".to_owned()
            } else if measured.factor < 1.0 {
                let slower = Gain { factor: 1.0 / measured.factor, ..measured };
                format!("became {} slower", gain(Some(slower)))
            } else {
                format!("gained {}", gain(Some(measured)))
            };
            parts.push(format!("{next}{removes} {went}{inside}"));
        }
        None => parts.push(format!("{next} can't be compared: the sizes differ")),
    }
    if let Some(fate) = outcome.fault {
        parts.push(format!(
            "{} is {}",
            if removes.is_empty() { "the fault" } else { first.unwrap_or("the first fault") },
            if fate == Fate::Kept { "still there" } else { fate.word() }
        ));
    }
    let answered = outcome.answered.as_ref().map(|(finding, _)| finding.rule.as_str());
    let also: Vec<&str> = outcome
        .gone
        .iter()
        .copied()
        .filter(|rule| Some(*rule) != first && Some(*rule) != answered)
        .collect();
    if !also.is_empty() {
        parts.push(format!("also gone: {}", also.join(", ")));
    }
    if !outcome.come.is_empty() {
        parts.push(format!("new: {}", outcome.come.join(", ")));
    }
    format!("{}.", parts.join("; "))
}
