//! `adoprof step --try`: the changes that need no new code, made and timed.

use crate::cmd::shared::live_step::LiveStep;
use crate::cmd::shared::point_process::PointProcess;
use crate::cmd::shared::printer::Printer;
use crate::document::{Document, Tried, gain};
use crate::error::Result;
use crate::frame::Launch;
use crate::interrupt;
use crate::profile::Profile;
use crate::sweep::{Point, PointResult};
use crate::timing::Timing;
use crate::trial::{self, Change};

/// Makes and times what the findings ask for. The step as it is runs before the first change and after the
/// last, so that a device that got slower meanwhile shows in the spread and not as a loss. Ctrl-C ends it
/// with what there is.
///
/// # Errors
/// Where the processes can't be started. A change that fails stands in the result.
pub(super) fn tried(
    document: &Document,
    profile: &Profile,
    live: &LiveStep,
    printer: &Printer,
) -> Result<Vec<Tried>> {
    let chosen = &live.chosen;
    let launches = Launch::all(&profile.frames)?;
    let changes = trial::changes(document, &launches, chosen.ladder, chosen.step, chosen.size)?;
    if changes.is_empty() {
        printer.notice(if chosen.step.is_program() {
            "nothing to try: a program's own build decides how it is compiled and launched, and the step \
             declares no tunable (`tune`) that a finding asks for"
        } else {
            "nothing to try: no finding asks for a change that needs no new code, or the step declares no \
             tunable for it"
        });
        return Ok(Vec::new());
    }
    let size = chosen.ladder.size(chosen.step, chosen.size)?;
    let (device, timeout) = (live.profiling.device, live.profiling.timeout);
    let process = PointProcess::new(chosen.ladder_argument, chosen.step.name(), device, timeout)?;
    let progress = printer.progress();
    let run = |place: usize, what: &str, point: &Point| {
        progress.stage(format!("trying {what} ({place}/{})", changes.len()));
        process.run(&size, point, Vec::new())
    };
    let unchanged = Point { size: chosen.size.clone(), ..Point::default() };
    let Some(first) = run(0, "the step as it is", &unchanged)? else { return Ok(Vec::new()) };
    let mut results: Vec<(&Change, PointResult)> = Vec::new();
    for (place, change) in changes.iter().enumerate() {
        let Some(result) = run(place + 1, &change.text, &change.point)? else { break };
        results.push((change, result));
    }
    let last = if interrupt::requested() {
        None
    } else {
        run(changes.len(), "the step as it is", &unchanged)?
    };
    let before = together(first.time_ns, last.and_then(|last| last.time_ns));
    Ok(results.into_iter().map(|(change, result)| of(change, result, before, document)).collect())
}

/// Two measurements of one thing as one: between their medians, as wide as both.
fn together(first: Option<Timing>, last: Option<Timing>) -> Option<Timing> {
    match (first, last) {
        (Some(first), Some(last)) => Some(Timing {
            median: f64::midpoint(first.median, last.median),
            low: first.low.min(last.low),
            high: first.high.max(last.high),
            n: first.n + last.n,
        }),
        (first, last) => first.or(last),
    }
}

fn of(change: &Change, result: PointResult, before: Option<Timing>, document: &Document) -> Tried {
    let measured = before.zip(result.time_ns).and_then(|(before, after)| gain(&before, &after));
    Tried {
        rule: change.rule.clone(),
        change: change.text.clone(),
        promised: trial::promise(document, &change.rule),
        time_ns: result.time_ns,
        measured,
        verified: result.verified,
        error: result.error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_measurements_are_one_as_wide_as_both() {
        let timing = |median, low, high| Timing { median, low, high, n: 5 };
        let both = together(Some(timing(10.0, 9.0, 11.0)), Some(timing(12.0, 11.5, 12.5))).unwrap();
        assert_eq!((both.median, both.low, both.high, both.n), (11.0, 9.0, 12.5, 10));
        let one = timing(10.0, 9.0, 11.0);
        assert_eq!(together(None, Some(one)), Some(one));
        assert_eq!(together(None, None), None);
    }
}
