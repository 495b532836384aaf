//! Options that have no effect on what the command line asks: they are named, never passed over in
//! silence.

use super::printer::Printer;
use crate::cli::{DEFAULT_TIMEOUT, LimiterArgs, Origin, Output, ProfilingArgs};
use crate::error::{Error, Result};
use crate::ncu;

/// The options of a command that only a live run reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GivenOptions<'a> {
    /// Live or recorded.
    pub origin: &'a Origin,
    /// How to profile.
    pub profiling: &'a ProfilingArgs,
    /// `--time-only`.
    pub time_only: bool,
    /// `--cpu`.
    pub cpu: bool,
}

/// Refuses what can't be meant whatever is run: an open quote in `--ncu-args`, an option there that
/// adoprof sets itself.
///
/// # Errors
/// [`crate::error::Error::Usage`] for either.
pub(crate) fn check_ncu_args(args: Option<&str>) -> Result<()> {
    args.map_or(Ok(()), |args| ncu::arguments::split(args).map(drop))
}

/// Refuses what can't be done for a step that is a program.
///
/// # Errors
/// [`Error::Usage`] that names the option.
pub(crate) fn check_program_step(given: GivenOptions, step: &str) -> Result<()> {
    let (option, why) = if given.cpu {
        ("--cpu", "there is no CPU reference of it to time: leave the option out")
    } else if given.profiling.device != 0 {
        ("--device", "it chooses its device itself: set CUDA_VISIBLE_DEVICES")
    } else {
        return Ok(());
    };
    Err(Error::Usage(format!(
        "{option} does not apply to step `{step}`, which is a program; {why}"
    )))
}

/// Says which of the options mean nothing where a recording is shown.
pub(crate) fn on_recording(given: GivenOptions, printer: &Printer) {
    let mut names = of_profiling(given.profiling);
    names.extend(named("--time-only", given.time_only));
    names.extend(named("--cpu", given.cpu));
    names.extend(named("--device", given.profiling.device != 0));
    names.extend(named("--timeout", given.profiling.timeout != DEFAULT_TIMEOUT));
    names.extend(named("-o", given.profiling.output.is_some()));
    say(shown(given.origin.recorded), &names, printer);
}

/// Says which of the options mean nothing where a step is timed and not profiled.
pub(crate) fn on_time_only(profiling: &ProfilingArgs, printer: &Printer) {
    say("--time-only starts no ncu", &of_profiling(profiling), printer);
}

/// Says which of the options mean nothing where ncu's command lines are printed.
pub(crate) fn on_dry_run(given: GivenOptions, printer: &Printer) {
    let mut names = named("--time-only", given.time_only);
    names.extend(named("--cpu", given.cpu));
    names.extend(named("--recorded", given.origin.recorded));
    say("--dry-run prints ncu's command lines and runs nothing", &names, printer);
}

/// Says which of the options mean nothing where a recorded limiter run is shown.
pub(crate) fn on_recorded_limiter(args: &LimiterArgs, has_counts: bool, printer: &Printer) {
    let mut names = named("--check-counts", args.check_counts && !has_counts);
    names.extend(named("--device", args.device != 0));
    names.extend(named("--timeout", args.timeout != DEFAULT_TIMEOUT));
    say(shown(true), &names, printer);
}

/// Says that `--explain-ranking` means nothing in a form, or for a result, without a ranking.
pub(crate) fn ranking(output: &Output, has_findings: bool, printer: &Printer) {
    // JSON has the ranking in any case.
    let shown = has_findings && output.format.holds_ranking();
    let why = if has_findings {
        "this output format has no place for the ranking"
    } else {
        "this result has no ranking"
    };
    say(why, &named("--explain-ranking", output.explain_ranking && !shown), printer);
}

/// Why nothing is run: as was asked, or for want of a device.
fn shown(as_asked: bool) -> &'static str {
    if as_asked {
        "a recording is shown and nothing is run"
    } else {
        "there is no CUDA device: a recording is shown and nothing is run"
    }
}

/// The options given that only ncu's run reads.
fn of_profiling(profiling: &ProfilingArgs) -> Vec<&'static str> {
    // In the environment it stands for every command: only an option can be a misunderstanding.
    let from_environment = std::env::var_os("ADOPROF_NCU").map(std::path::PathBuf::from);
    [
        ("--collect", profiling.collect != ncu::Level::Auto),
        ("--section", !profiling.section.is_empty()),
        ("--metrics", !profiling.metrics.is_empty()),
        ("--via", profiling.via != ncu::Via::Report),
        ("--ncu-args", profiling.ncu_args.is_some()),
        ("--ncu", profiling.ncu.is_some() && profiling.ncu != from_environment),
    ]
    .into_iter()
    .flat_map(|(name, given)| named(name, given))
    .collect()
}

fn named(name: &'static str, given: bool) -> Vec<&'static str> {
    if given { vec![name] } else { Vec::new() }
}

fn say(why: &str, names: &[&str], printer: &Printer) {
    if let Some(sentence) = sentence(why, names) {
        printer.notice(&sentence);
    }
}

fn sentence(why: &str, names: &[&str]) -> Option<String> {
    let (last, others) = names.split_last()?;
    let (names, verb) = match others {
        [] => ((*last).to_owned(), "has"),
        others => (format!("{} and {last}", others.join(", ")), "have"),
    };
    Some(format!("{why}, so {names} {verb} no effect"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sentence_names_them_all() {
        assert_eq!(sentence("why", &[]), None);
        assert_eq!(sentence("why", &["-o"]).as_deref(), Some("why, so -o has no effect"));
        assert_eq!(
            sentence("why", &["--section", "--metrics", "-o"]).as_deref(),
            Some("why, so --section, --metrics and -o have no effect")
        );
        for as_asked in [true, false] {
            let said = sentence(shown(as_asked), &["--device"]).unwrap();
            assert_eq!(said.matches(" so ").count(), 1, "{said}");
        }
    }
}
