//! Why a promise of ncu's would not hold, in one sentence, from the model.

use super::table::Meaning;
use crate::finding::{Finding, LEAST_GAIN, Skipped};
use crate::model::{Effect, Model};
use crate::rules::is_roof;
use crate::rules::said_by_ncu::Acts;
use crate::term::Term;
use crate::text::percent;

/// The reason against a promise; `None` where a finding promises the same.
pub(super) fn against(
    meaning: Option<&Meaning>,
    model: &Model,
    findings: &[Finding],
    skipped: &[Skipped],
) -> Option<String> {
    words(meaning, model, findings, skipped).map(|words| sentence(&words))
}

fn words(
    meaning: Option<&Meaning>,
    model: &Model,
    findings: &[Finding],
    skipped: &[Skipped],
) -> Option<String> {
    let (faults, acts) = match meaning {
        None => return Some("this ncu rule is unknown to adoprof".to_owned()),
        Some(Meaning::None(why)) => return Some((*why).to_owned()),
        Some(Meaning::Faults { names, acts }) => (names, *acts),
    };
    let covers = |finding: &&Finding| {
        faults.contains(&finding.rule.as_str())
            || finding.explains.iter().any(|symptom| faults.contains(&symptom.as_str()))
    };
    let found: Vec<&Finding> = findings.iter().filter(covers).collect();
    let gain = |finding: &Finding| finding.estimate.map(|estimate| estimate.factor);
    if found.iter().any(|finding| gain(finding).is_none_or(|factor| factor >= LEAST_GAIN)) {
        return None;
    }
    if let Some(finding) = found.first() {
        if is_roof(&finding.rule) {
            let held = longest(model).map_or_else(String::new, |held| format!(": {held}"));
            return Some(format!("{} explains what this ncu rule sees{held}", finding.rule));
        }
        let left = gain(finding).map_or(1.0, |factor| 1.0 / factor);
        return Some(format!(
            "the finding {} names the same fault; without the fault, {} of the time would remain{}",
            finding.rule,
            percent(left),
            stays(model, &[])
        ));
    }
    Some(by_model(acts, model).unwrap_or_else(|| unchecked(faults, model, skipped)))
}

/// The first letter large, a full stop at the end.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

/// What the model says where all that the promise could act on is taken away, and nothing much is
/// gained.
fn by_model(acts: Acts, model: &Model) -> Option<String> {
    match acts {
        Acts::Units(units) => by_units(units, model),
        Acts::Waits(waits) => {
            let waits: Vec<_> = waits.iter().map(|&reason| (reason, 1.0)).collect();
            let share = model.stall_share(&waits);
            let gain = model.without(&Effect { stalls: waits, ..Effect::default() })?.factor;
            (gain < LEAST_GAIN).then(|| {
                format!(
                    "this stall is {} of all stall cycles, but only {} of the time is latency that no unit's work \
                     hides{}",
                    percent(share),
                    percent(model.latency()),
                    stays(model, &[])
                )
            })
        }
        Acts::Latency => {
            let gain = model.without(&Effect { hidden: 1.0, ..Effect::default() })?.factor;
            (gain < LEAST_GAIN).then(|| {
                format!(
                    "more warps could only hide latency, which is {} of the time{}",
                    percent(model.latency()),
                    stays(model, &[])
                )
            })
        }
        Acts::Idle => {
            let gain = model.without(&Effect { idle: 1.0, ..Effect::default() })?.factor;
            (gain < LEAST_GAIN).then(|| {
                format!(
                    "an average SM has no work for {} of the time, and no more than that can be \
                     gained",
                    percent(model.idle())
                )
            })
        }
        Acts::Unknown => None,
    }
}

/// The same for the work of units.
fn by_units(units: &[Term], model: &Model) -> Option<String> {
    let (busiest, busy) = units
        .iter()
        .filter_map(|&unit| Some((unit, model.utilization(unit)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let removed = units.iter().map(|&unit| (unit, 1.0)).collect();
    let gain = model.without(&Effect { removed, ..Effect::default() })?.factor;
    (gain < LEAST_GAIN).then(|| {
        format!(
            "the {} {} busy {} of the time; without any of that work {} of the time would remain{}",
            busiest.title(),
            if busiest.title().ends_with('s') { "are" } else { "is" },
            percent(busy),
            percent(1.0 / gain),
            stays(model, units)
        )
    })
}

/// `, because the L1 data pipe, busy 84% of the time, would still set the pace`: what covers more of the time than waiting
/// does, which is SMs without work and the launch itself, or the busiest of the other units.
fn stays(model: &Model, but: &[Term]) -> String {
    let outside = model.idle().max(model.launch_share());
    let busiest = model.by_share().into_iter().find(|(term, _)| !but.contains(term));
    match busiest {
        Some((_, busy)) if outside > busy.max(model.latency()) => format!(
            ", because SMs without work and the launch itself take {} of the time",
            percent(outside)
        ),
        Some((term, busy)) if busy > model.latency() => {
            format!(
                ", because the {}, busy {} of the time, would still set the pace",
                term.title(),
                percent(busy)
            )
        }
        _ => String::new(),
    }
}

/// Where the model could not deny it: what our own rules did.
fn unchecked(faults: &[&'static str], model: &Model, skipped: &[Skipped]) -> String {
    let skipped = skipped.iter().find(|skipped| faults.contains(&&*skipped.rule));
    if let Some(skipped) = skipped {
        return format!(
            "the rule {} was not checked, because the profile lacks {}",
            skipped.rule,
            skipped.missing.join(", ")
        );
    }
    let held = longest(model).map_or_else(String::new, |held| format!("; {held}"));
    let rule = faults.first().copied().unwrap_or_default();
    format!("the rule {rule} was checked and did not reach its thresholds{held}")
}

/// What takes the largest part of the time: a unit, latency, or SMs without work.
fn longest(model: &Model) -> Option<String> {
    let (term, busy) = model.busiest()?;
    let (latency, idle) = (model.latency(), model.idle().max(model.launch_share()));
    Some(if busy >= latency.max(idle) {
        let verb = if term.title().ends_with('s') { "are" } else { "is" };
        format!("the {} {verb} busy {} of the time", term.title(), percent(busy))
    } else if idle > latency {
        format!("SMs without work and the launch itself take {} of the time", percent(idle))
    } else {
        format!("latency takes {} of the time", percent(latency))
    })
}
