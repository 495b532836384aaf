//! Two profiles side by side.
//!
//! Launches are paired by kernel name and order, metrics joined by name. What moved less than the
//! exports' rounding and the counters' scatter is no change. Nothing is judged between unlike
//! problems or devices.

mod join;
mod judge;
mod pair;
mod speedup;
mod unlike;

use std::collections::BTreeMap;

use crate::document::{Diff, Document, Program, SCHEMA, TimeOf};
use crate::error::Result;
use crate::frame::{Frames, by_catalogue};

/// One of the two profiles.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    /// As the user named it.
    pub name: String,
    /// Its diagnosis.
    pub document: Document,
    /// Its metrics and launches.
    pub frames: Frames,
    /// What else is known of the run: `ncu`, `driver`, `cuda` and the like, each with its version
    /// or state. A key that both sides have with different values is warned about.
    pub environment: BTreeMap<String, String>,
}

/// Compares two profiles.
///
/// # Errors
/// [`Error::Frames`](crate::error::Error::Frames) where a frame lacks its columns.
pub(crate) fn compare(base: &Side, new: &Side) -> Result<Diff> {
    let pairing = pair::launches(&base.frames, &new.frames)?;
    let unlike = unlike::compare(base, new);
    let comparable = unlike.comparable;
    let mut warnings = unlike.warnings;
    warnings.extend(pairing.warnings());
    let mut metrics = Vec::new();
    let mut metrics_compared = 0;
    let mut clocks = None;
    let mut paired_ns = (0.0, 0.0);
    let (before, after) = (by_catalogue(&base.frames.metrics)?, by_catalogue(&new.frames.metrics)?);
    let launches: Vec<(u32, u32)> =
        pairing.pairs.iter().map(|pair| (pair.base, pair.new)).collect();
    for (pair, joined) in pairing.pairs.iter().zip(join::metrics(&before, &after, &launches)?) {
        clocks = clocks.or(unlike::clocks(&joined)?);
        metrics_compared += joined.height();
        let (before_ns, after_ns) = speedup::durations(&joined)?;
        paired_ns = (paired_ns.0 + before_ns, paired_ns.1 + after_ns);
        let kernel = if pairing.pairs.len() > 1 { pair.kernel() } else { String::new() };
        metrics.extend(judge::changes(&joined, &kernel, comparable)?);
    }
    warnings.extend(clocks);
    if metrics_compared == 0 && !pairing.pairs.is_empty() {
        warnings.push("the profiles have no metric in common".to_owned());
    }
    let speedup = speedup::speedup(base, new, paired_ns, pairing.is_whole());
    let speedup = speedup.filter(|_| comparable);
    if let Some((_, TimeOf::Launch)) = speedup {
        warnings.push(launches_differ(base, new));
    }
    let (mut before, mut after) = (base.document.rules_found(), new.document.rules_found());
    // What lies around kernels is compared where both were surveyed.
    if let (Some(old), Some(program)) = (base.document.rules_around(), new.document.rules_around())
    {
        before.extend(old);
        after.extend(program);
    }
    let those = |of: &[&str], wanted: &dyn Fn(&&str) -> bool| -> Vec<String> {
        of.iter().filter(|rule| wanted(rule)).map(|rule| (*rule).to_owned()).collect()
    };
    Ok(Diff {
        schema: SCHEMA.to_owned(),
        adoprof: crate::document::Version::default(),
        base: base.name.clone(),
        new: new.name.clone(),
        warnings,
        speedup: speedup.map(|(factor, _)| factor),
        speedup_of: speedup.map(|(_, of)| of),
        launches_compared: pairing.pairs.len(),
        metrics_compared,
        metrics,
        gone: those(&before, &|rule| !after.contains(rule)),
        come: those(&after, &|rule| !before.contains(rule)),
        kept: those(&before, &|rule| after.contains(rule)),
    })
}

/// Why programs are compared per launch.
fn launches_differ(base: &Side, new: &Side) -> String {
    let launches = |side: &Side| side.document.program.as_ref().map_or(0, Program::launches);
    format!(
        "the programs launch {} and {new} kernels: what is compared is the mean time of those that both have",
        launches(base),
        new = launches(new)
    )
}

#[cfg(test)]
mod tests;
