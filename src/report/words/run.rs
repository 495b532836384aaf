//! What is said of a ladder's run, whatever the form.

use crate::document::{RunDevice, RunDocument};
use crate::report::words::number::{estimate, factor};
use crate::report::words::steps::{Fate, Gain, Outcome, Row};
use crate::text::duration;

/// The devices over which the steps were spread, each with what ran there:
/// `device 1 (GPU-…): v2, v4; the first step takes 27.0 ms there`.
pub(crate) fn devices(run: &RunDocument) -> Vec<String> {
    let of = |device: &RunDevice| {
        let own = run.steps.iter().filter(|step| step.device.as_ref() == Some(&device.uuid));
        let names: Vec<&str> =
            own.filter_map(|step| Some(step.step.as_ref()?.name.as_str())).collect();
        let names = if names.is_empty() { "no step".to_owned() } else { names.join(", ") };
        let first = device.first_step_ns.map_or_else(String::new, |time| {
            format!("; the first step takes {} there", duration(time.median))
        });
        format!("device {} ({}): {names}{first}", device.number, device.uuid)
    };
    run.devices.iter().map(of).collect()
}

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
