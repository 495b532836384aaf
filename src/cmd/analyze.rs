//! `adoprof analyze`: diagnosis from files.

use std::path::Path;

use regex::Regex;

use super::shared::chosen_step::next_arguments;
use super::shared::diagnosed::{compare, kernel_filter, ladder_of, notices, retain, show};
use super::shared::open::{Named, Unread};
use super::shared::printer::Printer;
use super::shared::{ignored_options, ledger, open};
use crate::cli::AnalyzeArgs;
use crate::document::Document;
use crate::error::{Error, ExitCode, Result};
use crate::ladder::Ladder;
use crate::ledger::Calibration;
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
    let run = Run {
        calibration: ledger::asked_for(args.calibrate, printer)?,
        kernels: match args.kernel.as_deref() {
            Some(text) => Some((kernel_filter(text)?, text)),
            None => None,
        },
        ladder: &args.ladder,
        baseline: match args.baseline.as_deref() {
            Some(name) => Some(open::one(name, &args.ladder, None)?),
            None => None,
        },
    };
    let (named, left_out) = open::named(&args.paths, &args.ladder)?;
    // First: where nothing else is found, it may be there.
    for notice in &left_out {
        printer.notice(notice);
    }
    let mut unread = Unread::default();
    let mut documents = Vec::new();
    // One after the other: of a profile only its diagnosis is kept.
    for one in named {
        let is_named = one.is_named();
        match run.document(one) {
            Ok(named_document) => documents.push(named_document),
            Err(error) => unread.push(error, is_named),
        }
    }
    let code = unread.code();
    let unread = unread.notices(documents.len())?;
    // Also where the form holds them: the exit code asks for a reason.
    for notice in &unread {
        printer.notice(notice);
    }
    let format = args.output.format;
    for (_, document) in &documents {
        notices(document, format, printer);
    }
    printer.report(format, |style, out| render_several(&documents, &unread, format, style, out))?;
    Ok(code)
}

/// What is asked of each profile.
struct Run<'a> {
    calibration: Option<Calibration>,
    /// The kernels that are wanted, and the expression as it was given.
    kernels: Option<(Regex, &'a str)>,
    ladder: &'a str,
    baseline: Option<Profile>,
}

impl Run<'_> {
    /// A profile's name and diagnosis.
    fn document(&self, named: Named) -> Result<(String, Document)> {
        if let (Some(path), None) = (named.single_file(), &self.baseline) {
            let wants = |kernel: &str| {
                self.kernels.as_ref().is_none_or(|(regex, _)| regex.is_match(kernel))
            };
            if let Some(document) = profile::diagnose_large(path, wants)? {
                let document = ledger::corrected(document, self.calibration.as_ref(), None);
                return Ok((path.display().to_string(), document));
            }
        }
        let mut profile = named.read()?;
        if let Some((regex, text)) = &self.kernels {
            retain(&mut profile, regex, text)?;
        }
        let (ladder, next_arguments) = of_ladder(&profile, self.ladder);
        let mut document = profile.diagnose(ladder.as_ref())?;
        document.next_arguments = next_arguments;
        let mut document = ledger::corrected(document, self.calibration.as_ref(), ladder.as_ref());
        if let Some(base) = &self.baseline {
            document.diff = Some(compare(base, &profile)?);
        }
        Ok((profile.name, document))
    }
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
