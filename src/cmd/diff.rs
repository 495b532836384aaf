//! `adoprof diff`: two profiles side by side.

use std::collections::BTreeMap;

use super::output::Printer;
use super::{analyze, open, unused};
use crate::cli::DiffArgs;
use crate::diff::{self, Side};
use crate::document::Diff;
use crate::error::{Error, ExitCode, Result};
use crate::frame::Frames;
use crate::profile::Profile;
use crate::report::{Format, render};

pub fn run(args: &DiffArgs, printer: &Printer) -> Result<ExitCode> {
    unused::ranking(&args.output, false, printer);
    let base = open::one(&args.base, &args.ladder, None)?;
    let new = open::one(&args.new, &args.ladder, None)?;
    let sides = if base.name == new.name { &[&base][..] } else { &[&base, &new] };
    for profile in sides {
        if let Some(date) = profile.step().and_then(|step| step.recorded.as_ref())
            && args.output.format == Format::TEXT
        {
            printer.notice(&format!(
                "{} is the recording of {date} that ships with adoprof",
                profile.name
            ));
        }
    }
    let diff = compare(&base, &new)?;
    printer.result(|style, out| render(&diff, args.output.format, style, out))?;
    Ok(ExitCode::Success)
}

/// Compares two profiles.
///
/// # Errors
/// [`Error::Input`] where their frames can't be joined, which only a damaged profile makes so.
pub fn compare(base: &Profile, new: &Profile) -> Result<Diff> {
    diff::compare(&side(base), &side(new))
        .map_err(|e| Error::input(&base.name, format!("cannot be compared with {}: {e}", new.name)))
}

fn side(profile: &Profile) -> Side {
    let mut environment = BTreeMap::new();
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
    Side {
        name: profile.name.clone(),
        document: analyze::diagnose(profile),
        frames: Frames::new(&profile.export),
        environment,
    }
}
