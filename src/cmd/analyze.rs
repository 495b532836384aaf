//! `adoprof analyze`: diagnosis from files.

use regex::Regex;

use super::output::Printer;
use super::{diff, ledger, open, unused};
use crate::cli::AnalyzeArgs;
use crate::document::Document;
use crate::error::{Error, ExitCode, Result};
use crate::ladder::Ladder;
use crate::profile::Profile;
use crate::report::{Format, render, render_several};

pub fn run(args: &AnalyzeArgs, printer: &Printer) -> Result<ExitCode> {
    let printer = &printer.explaining(args.output.explain_ranking);
    unused::ranking(&args.output, true, printer);
    let mut profiles = open::all(&args.paths, &args.ladder)?;
    if let Some(pattern) = &args.kernel {
        let regex = kernel_filter(pattern)?;
        for profile in &mut profiles {
            retain(profile, &regex, pattern)?;
        }
    }
    let baseline =
        args.baseline.as_deref().map(|name| open::one(name, &args.ladder, None)).transpose()?;
    let calibration = ledger::asked_for(args.calibrate, printer)?;
    let mut documents = Vec::new();
    for profile in &profiles {
        let ladder = ladder_of(profile);
        let document = profile.diagnose(ladder.as_ref());
        let mut document = ledger::corrected(document, calibration.as_ref(), ladder.as_ref());
        if let Some(base) = &baseline {
            document.diff = Some(diff::compare(base, profile)?);
        }
        notices(&document, args.output.format, printer);
        documents.push((profile.name.clone(), document));
    }
    printer.result(|style, out| render_several(&documents, args.output.format, style, out))?;
    Ok(ExitCode::Success)
}

/// Diagnoses a profile with the ladder that it belongs to, if it is a step of one that is here.
pub fn diagnose(profile: &Profile) -> Document {
    profile.diagnose(ladder_of(profile).as_ref())
}

fn ladder_of(profile: &Profile) -> Option<Ladder> {
    profile.step().and_then(|step| Ladder::builtin(&step.ladder).ok())
}

/// Prints a document, and its notices to stderr.
///
/// # Errors
/// Where stdout can't be written.
pub fn show(document: &Document, format: Format, printer: &Printer) -> Result<()> {
    notices(document, format, printer);
    printer.result(|style, out| render(document, format, style, out))
}

/// Prints notices to stderr, unless the form holds them itself.
fn notices(document: &Document, format: Format, printer: &Printer) {
    if !format.holds_notices() {
        for notice in &document.notices {
            printer.notice(notice);
        }
    }
}

/// A `-k` pattern.
///
/// # Errors
/// [`Error::Usage`] where it is no regular expression.
pub fn kernel_filter(pattern: &str) -> Result<Regex> {
    Regex::new(pattern).map_err(|e| {
        // The message draws the place over several lines; its last one says what is wrong.
        let text = e.to_string();
        let last = text.lines().last().unwrap_or_default();
        let problem = last.strip_prefix("error: ").unwrap_or(last);
        Error::Usage(format!("-k: `{pattern}` is no regular expression: {problem}"))
    })
}

fn retain(profile: &mut Profile, regex: &Regex, pattern: &str) -> Result<()> {
    let names: Vec<String> =
        profile.export.launches.iter().map(|launch| launch.kernel.clone()).collect();
    profile.retain_kernels(|kernel| regex.is_match(kernel));
    if profile.export.launches.is_empty() {
        return Err(Error::Usage(format!(
            "no kernel of {} matches `{pattern}`; there are: {}",
            profile.name,
            names.join(", ")
        )));
    }
    Ok(())
}
