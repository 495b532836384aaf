//! Profiles diagnosed, compared and shown.

use std::collections::BTreeMap;

use regex::Regex;

use super::printer::Printer;
use crate::diff::{self, Side};
use crate::document::{Compared, Diff, Document};
use crate::error::{Error, Result};
use crate::export::csv::DETAILS_ALONE;
use crate::ladder::Ladder;
use crate::profile::Profile;
use crate::report::{Format, render};
use crate::text::layout::fit;
use crate::text::listed;

/// Diagnoses a profile with the ladder that it belongs to, if it is a step of one that is here.
///
/// # Errors
/// [`Error::Frames`] where a frame of the profile lacks its columns.
pub(crate) fn diagnose(profile: &Profile) -> Result<Document> {
    profile.diagnose(ladder_of(profile).as_ref())
}

/// The ladder that a profile's step belongs to, if it is a built-in one.
pub(crate) fn ladder_of(profile: &Profile) -> Option<Ladder> {
    profile.step().and_then(|step| Ladder::builtin(&step.ladder).ok())
}

/// Compares two profiles.
///
/// # Errors
/// [`Error::Frames`] where a frame of either lacks its columns.
pub(crate) fn compare(base: &Profile, new: &Profile) -> Result<Diff> {
    diff::compare(&side(base)?, &side(new)?)
}

/// Compares two profiles, and keeps what was found in either.
///
/// # Errors
/// [`Error::Frames`] where a frame of either lacks its columns.
pub(crate) fn compare_findings(base: &Profile, new: &Profile) -> Result<Compared> {
    let (base, new) = (side(base)?, side(new)?);
    let diff = diff::compare(&base, &new)?;
    Ok(Compared { diff, base: base.document, new: new.document })
}

fn side(profile: &Profile) -> Result<Side> {
    let mut environment = BTreeMap::new();
    let of_report = &profile.collected;
    for (name, value) in [
        ("ncu", &of_report.ncu),
        ("cuda", &of_report.cuda),
        ("clock control", &of_report.clock_control),
    ] {
        if let Some(value) = value {
            environment.insert(name.to_owned(), value.clone());
        }
    }
    if let Some(meta) = &profile.meta {
        let known = &meta.environment;
        for (name, value) in [
            ("ncu", &known.ncu),
            ("cuda", &known.cuda),
            ("nvrtc", &known.nvrtc),
            ("clock control", &known.clock_control),
            ("cache control", &known.cache_control),
        ] {
            if !value.is_empty() {
                environment.insert(name.to_owned(), value.clone());
            }
        }
    }
    Ok(Side {
        name: profile.name.clone(),
        document: diagnose(profile)?,
        frames: profile.frames.clone(),
        environment,
    })
}

/// Prints a document, and its notices to stderr.
///
/// # Errors
/// Where stdout can't be written.
pub(crate) fn show(document: &Document, format: Format, printer: &Printer) -> Result<()> {
    notices(document, format, printer);
    printer.report(format, |style, out| render(document, format, style, out))
}

/// Prints notices to stderr, unless the form holds them itself. That most of what a diagnosis needs is not there is said
/// also where the user asked for quiet.
pub(crate) fn notices(document: &Document, format: Format, printer: &Printer) {
    if !format.holds_notices() {
        for notice in &document.notices {
            if notice == DETAILS_ALONE {
                printer.warning(notice);
            } else {
                printer.notice(notice);
            }
        }
    }
}

/// A `-k` pattern.
///
/// # Errors
/// [`Error::Usage`] where it is no regular expression.
pub(crate) fn kernel_filter(pattern: &str) -> Result<Regex> {
    Regex::new(pattern).map_err(|e| {
        // The message draws the place over several lines; its last one says what is wrong.
        let text = e.to_string();
        let last = text.lines().last().unwrap_or_default();
        let problem = last.strip_prefix("error: ").unwrap_or(last);
        Error::Usage(format!("-k: `{pattern}` is not a valid regular expression: {problem}"))
    })
}

/// The most columns that a kernel's name takes in a list of them.
const LONGEST_NAME: usize = 60;

/// Keeps the launches whose kernel matches.
///
/// # Errors
/// [`Error::Usage`] with the kernels that there are, where none does.
pub(crate) fn retain(profile: &mut Profile, regex: &Regex, pattern: &str) -> Result<()> {
    let mut names = profile.frames.kernels()?;
    names.sort();
    names.dedup();
    profile.retain_kernels(|kernel| regex.is_match(kernel))?;
    if profile.frames.launches.height() == 0 {
        return Err(no_kernel(&profile.name, pattern, names));
    }
    Ok(())
}

/// No kernel matches a `-k`: the kernels that there are.
pub(crate) fn no_kernel(
    place: &str,
    pattern: &str,
    names: impl IntoIterator<Item = String>,
) -> Error {
    let names = listed(names.into_iter().map(|name| fit(&name, LONGEST_NAME)));
    Error::Usage(format!("no kernel in {place} matches `{pattern}`; it has: {names}"))
}
