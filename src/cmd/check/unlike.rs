//! What makes two runs unlike, so that their times say nothing of their code.

use crate::document::Program;
use crate::error::Result;
use crate::frame::{Launch, by_catalogue};
use crate::gate::Difference;
use crate::profile::Profile;
use crate::text::prefixed;

/// SM clocks further apart than this change times by more than a gate should pass over.
const CLOCK_SHARE: f64 = 0.02;
/// The SM clock under the profiler.
const CLOCK: &str = "gpc__cycles_elapsed.avg.per_second";

/// Every difference, in a fixed order.
///
/// # Errors
/// [`Error::Frames`](crate::error::Error::Frames) where a frame lacks its columns.
pub(super) fn differences(base: &Profile, new: &Profile) -> Result<Vec<Difference>> {
    let (before, after) = (facts(base)?, facts(new)?);
    let mut found: Vec<Difference> = before
        .iter()
        .filter_map(|(what, base)| {
            let (_, new) = after.iter().find(|(other, _)| other == what)?;
            (base != new).then(|| Difference {
                what: (*what).to_owned(),
                base: base.clone(),
                new: new.clone(),
            })
        })
        .collect();
    if let (Some(base), Some(new)) = (clock_hz(base)?, clock_hz(new)?)
        && (base - new).abs() > CLOCK_SHARE * base.max(new)
    {
        let words = |hz: f64| format!("{}Hz", prefixed(hz));
        found.push(Difference { what: "SM clock".to_owned(), base: words(base), new: words(new) });
    }
    Ok(found)
}

/// How the arguments of two programs differ: other work takes other time. The name of what ran may differ, as of two
/// builds.
pub(super) fn arguments([base, new]: [&Program; 2]) -> Option<Difference> {
    let of = |program: &Program| {
        let words = shell_words::split(&program.command).unwrap_or_default();
        shell_words::join(words.into_iter().skip(1))
    };
    let [base, new] = [of(base), of(new)];
    let shown = |words: String| if words.is_empty() { "none".to_owned() } else { words };
    (base != new).then(|| Difference {
        what: "arguments".to_owned(),
        base: shown(base),
        new: shown(new),
    })
}

/// What is known of a run, as far as times depend on it.
fn facts(profile: &Profile) -> Result<Vec<(&'static str, String)>> {
    let mut facts = Vec::new();
    if let Some(step) = profile.step() {
        facts.push(("problem", step.ladder.clone()));
        facts.push(("size", step.size_words()));
    }
    let meta = profile.meta.as_ref().map(|meta| &meta.environment);
    let device = meta.map(|known| known.device.clone()).filter(|name| !name.is_empty());
    let device = match device {
        Some(device) => Some(device),
        None => Launch::all(&profile.frames)?.into_iter().find_map(|launch| launch.row.device),
    };
    facts.extend(device.map(|device| ("GPU", device)));
    let cuda = meta.map(|known| &known.cuda).or(profile.collected.cuda.as_ref());
    facts.extend(cuda.filter(|cuda| !cuda.is_empty()).map(|cuda| ("driver's CUDA", cuda.clone())));
    if let Some(known) = meta {
        if !known.nvrtc.is_empty() {
            facts.push(("compiler (NVRTC)", known.nvrtc.clone()));
        }
        if let Some(flags) = &known.flags {
            facts.push((
                "build flags",
                if flags.is_empty() { "none".to_owned() } else { flags.join(" ") },
            ));
        }
    }
    Ok(facts)
}

/// The middle of the launches' clocks; `None` where they were not collected.
fn clock_hz(profile: &Profile) -> Result<Option<f64>> {
    use crate::frame::columns::{METRIC, VALUE};
    let metrics = by_catalogue(&profile.frames.metrics)?;
    let (names, values) = (metrics.column(METRIC)?.str()?, metrics.column(VALUE)?.f64()?);
    let mut clocks: Vec<f64> = names
        .iter()
        .zip(values.iter())
        .filter(|(name, _)| *name == Some(CLOCK))
        .filter_map(|(_, value)| value)
        .collect();
    clocks.sort_by(f64::total_cmp);
    Ok(clocks.get(clocks.len() / 2).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_builds_with_the_same_arguments_are_alike() {
        let of = |base: &str, new: &str| {
            let program =
                |command: &str| Program { command: command.to_owned(), ..Program::default() };
            arguments([&program(base), &program(new)]).map(|found| (found.base, found.new))
        };
        assert_eq!(of("old/app --steps 100", "new/app --steps 100"), None);
        let differ = Some(("--steps 100".to_owned(), "none".to_owned()));
        assert_eq!(of("app --steps 100", "app"), differ);
    }
}
