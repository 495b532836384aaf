//! What makes two profiles unlike: said aloud, and for sizes and devices a reason not to judge.

use polars::prelude::{DataFrame, PolarsResult};

use super::Side;
use super::join::{BASE, NEW};
use crate::error::Result;
use crate::frame::columns::METRIC;
use crate::text::prefixed;
use crate::timing::StepInfo;

/// SM clocks further apart than this change times by more than the scatter that is let pass.
const CLOCK_SHARE: f64 = 0.02;
/// The SM clock.
const CLOCK: &str = "gpc__cycles_elapsed.avg.per_second";

/// What was found unlike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unlike {
    /// Each one sentence.
    pub warnings: Vec<String>,
    /// False where times can't be compared: another problem, its size, or another GPU.
    pub comparable: bool,
}

/// Sizes, devices, and what the environments say.
pub(super) fn compare(base: &Side, new: &Side) -> Unlike {
    let mut unlike = Unlike { warnings: Vec::new(), comparable: true };
    let ladder = |side: &Side| side.document.step.as_ref().map(|step| step.ladder.clone());
    let other_ladder = ladder(base).zip(ladder(new)).filter(|(base, new)| base != new);
    if let Some((base, new)) = &other_ladder {
        unlike.comparable = false;
        unlike.warnings.push(format!(
            "the steps solve different problems (ladder {base} against {new}): times are not \
             compared and nothing is judged"
        ));
    }
    let size = |side: &Side| side.document.step.as_ref().map(StepInfo::size_words);
    if let (Some(base), Some(new)) = (size(base), size(new))
        && base != new
        && other_ladder.is_none()
    {
        unlike.comparable = false;
        unlike.warnings.push(format!(
            "the problem sizes differ ({base} against {new}): times are not compared and nothing \
             is judged"
        ));
    }
    let device =
        |side: &Side| side.document.launches.iter().find_map(|launch| launch.device.clone());
    if let (Some(base), Some(new)) = (device(base), device(new))
        && base != new
    {
        unlike.comparable = false;
        unlike.warnings.push(format!(
            "the GPUs differ ({base} against {new}): times are not compared and nothing is judged"
        ));
    }
    for (key, before) in &base.environment {
        if let Some(after) = new.environment.get(key)
            && before != after
        {
            unlike.warnings.push(format!("{key} differs: {before} against {after}"));
        }
    }
    unlike
}

/// A warning where the SM clocks of two launches differ.
pub(super) fn clocks(joined: &DataFrame) -> Result<Option<String>> {
    let names = joined.column(METRIC)?.str()?;
    let Some(at) = names.iter().position(|name| name == Some(CLOCK)) else { return Ok(None) };
    let value = |side: &str| PolarsResult::Ok(joined.column(side)?.f64()?.get(at));
    let (Some(base), Some(new)) = (value(BASE)?, value(NEW)?) else { return Ok(None) };
    let apart = (new - base).abs() > CLOCK_SHARE * base.abs().max(new.abs());
    Ok(apart.then(|| {
        format!(
            "the SM clocks differ ({}Hz against {}Hz), which alone makes times differ",
            prefixed(base),
            prefixed(new)
        )
    }))
}
