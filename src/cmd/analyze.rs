//! `adoprof analyze`: diagnosis from files.

use super::shared::chosen_step::next_arguments;
use std::path::Path;

use super::shared::diagnosed::{compare, kernel_filter, ladder_of, notices, retain, show};
use super::shared::printer::Printer;
use super::shared::{ignored_options, ledger, open};
use crate::cli::AnalyzeArgs;
use crate::error::{Error, ExitCode, Result};
use crate::ladder::Ladder;
use crate::profile::ranks::RankedProfiles;
use crate::profile::{self, Profile};
use crate::report::render_several;
use crate::store;

pub(super) fn run(args: &AnalyzeArgs, printer: &Printer) -> Result<ExitCode> {
    let printer = &printer.explaining(args.output.explain_ranking);
    ignored_options::ranking(&args.output, true, printer);
    if let [path] = args.paths.as_slice()
        && let Some(mut ranked) = of_ranks(Path::new(path))?
    {
        return analyze_ranks(&mut ranked, args, printer);
    }
    let calibration = ledger::asked_for(args.calibrate, printer)?;
    if let ([path], None) = (args.paths.as_slice(), &args.baseline) {
        let regex = args.kernel.as_deref().map(kernel_filter).transpose()?;
        let wants = |kernel: &str| regex.as_ref().is_none_or(|regex| regex.is_match(kernel));
        if let Some(document) = profile::diagnose_large(Path::new(path), wants)? {
            let document = ledger::corrected(document, calibration.as_ref(), None);
            show(&document, args.output.format, printer)?;
            return Ok(ExitCode::Success);
        }
    }
    let (mut profiles, left_out) = open::all(&args.paths, &args.ladder)?;
    for notice in &left_out {
        printer.notice(notice);
    }
    if let Some(pattern) = &args.kernel {
        let regex = kernel_filter(pattern)?;
        for profile in &mut profiles {
            retain(profile, &regex, pattern)?;
        }
    }
    let baseline =
        args.baseline.as_deref().map(|name| open::one(name, &args.ladder, None)).transpose()?;
    let mut documents = Vec::new();
    for profile in &profiles {
        let (ladder, next_arguments) = of_ladder(profile, &args.ladder);
        let mut document = profile.diagnose(ladder.as_ref())?;
        document.next_arguments = next_arguments;
        let mut document = ledger::corrected(document, calibration.as_ref(), ladder.as_ref());
        if let Some(base) = &baseline {
            document.diff = Some(compare(base, profile)?);
        }
        notices(&document, args.output.format, printer);
        documents.push((profile.name.clone(), document));
    }
    printer.report(args.output.format, |style, out| {
        render_several(&documents, args.output.format, style, out)
    })?;
    Ok(ExitCode::Success)
}

/// The profiles of ranks that a folder holds.
fn of_ranks(path: &Path) -> Result<Option<RankedProfiles>> {
    if path.is_dir() && !store::is_saved(path) { profile::ranks::read(path) } else { Ok(None) }
}

/// The ranks of one run as one diagnosis.
fn analyze_ranks(
    ranked: &mut RankedProfiles,
    args: &AnalyzeArgs,
    printer: &Printer,
) -> Result<ExitCode> {
    if args.baseline.is_some() {
        return Err(Error::Usage(
            "--baseline compares one profile with another; name one rank's folder or report"
                .to_owned(),
        ));
    }
    if let Some(pattern) = &args.kernel {
        let regex = kernel_filter(pattern)?;
        for (_, profile) in &mut ranked.profiles {
            retain(profile, &regex, pattern)?;
        }
    }
    let document = ranked.diagnose()?;
    let calibration = ledger::asked_for(args.calibrate, printer)?;
    let document = ledger::corrected(document, calibration.as_ref(), None);
    show(&document, args.output.format, printer)?;
    Ok(ExitCode::Success)
}

/// The ladder that a profile's step belongs to, and how `step` is told so: the one that `--ladder` names
/// before a built-in one of the same name.
fn of_ladder(profile: &Profile, named: &str) -> (Option<Ladder>, Option<String>) {
    let Some(step) = profile.step() else { return (None, None) };
    let is_its = |ladder: &Ladder| step.ladder == ladder.name();
    match Ladder::open(named).ok().filter(is_its) {
        Some(ladder) => (Some(ladder), next_arguments(named, None)),
        None => (ladder_of(profile), None),
    }
}
