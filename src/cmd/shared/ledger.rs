//! How commands keep the ledger and correct estimates by it.

use std::path::Path;

use super::diagnosed::diagnose;
use super::printer::Printer;
use crate::cli::Calibrate;
use crate::document::{Diff, Document};
use crate::error::Result;
use crate::ladder::Ladder;
use crate::ledger::{self, Calibration, Hint, Line, Origin, Outcome, Record, file, records};
use crate::profile::{Listing, Profile, find_next_step, recorded_ladders};

/// What is being done while the shipped recordings are diagnosed.
pub(crate) const COMPARING: &str = "comparing earlier estimates with what came of them";

/// The hints of the shipped recordings and of the changes to other people's programs.
///
/// # Errors
/// A damaged shipped recording, which the tests exclude.
pub(crate) fn shipped() -> Result<Vec<Record>> {
    let mut lines = ledger::shipped_lines(&recorded_ladders(|_| true, Listing::Sass)?);
    lines.extend(ledger::changed_lines());
    Ok(records(lines, true))
}

/// The local ledger, and what is odd about it: it never stops anything.
pub(crate) fn local() -> (Vec<Record>, Vec<String>) {
    match file::read(&file::here()) {
        Ok(contents) => {
            let notices = foreign(&contents).into_iter().collect();
            (records(contents.lines, false), notices)
        }
        Err(error) => (Vec::new(), vec![format!("continuing without the ledger: {error}")]),
    }
}

/// The hints of the shipped recordings and of the local runs, and what is odd about the local file.
///
/// # Errors
/// As [`shipped`].
pub(crate) fn both() -> Result<(Vec<Record>, Vec<String>)> {
    let (local, notices) = local();
    let mut all = shipped()?;
    all.extend(local);
    Ok((all, notices))
}

fn foreign(contents: &file::Contents) -> Option<String> {
    let n = Some(contents.foreign).filter(|n| *n > 0)?;
    let first = contents.first_foreign;
    let (lines, are) = if n == 1 { ("line", "is") } else { ("lines", "are") };
    Some(format!(
        "{}: {n} {lines} {are} not in this adoprof's format and left alone, the first of them line {first}",
        file::FILE
    ))
}

/// The corrections that the ledger gives: of the shipped recordings and of the local runs.
///
/// # Errors
/// A damaged shipped recording, which the tests exclude; the local file never fails.
fn calibration(printer: &Printer) -> Result<Calibration> {
    let (records, notices) = both()?;
    for notice in notices {
        printer.notice(&notice);
    }
    Ok(Calibration::new(&records))
}

/// The corrections, where `--apply` asks for them.
///
/// # Errors
/// As [`calibration`].
pub(crate) fn asked_for(calibrate: Calibrate, printer: &Printer) -> Result<Option<Calibration>> {
    calibrate.apply.then(|| calibration(printer)).transpose()
}

/// Corrects a document's estimates where that was asked for.
pub(crate) fn corrected(
    mut document: Document,
    calibration: Option<&Calibration>,
    ladder: Option<&Ladder>,
) -> Document {
    if let Some(calibration) = calibration {
        ledger::apply(&mut document, calibration);
        if let Some(ladder) = ladder {
            find_next_step(&mut document, ladder);
        }
    }
    document
}

/// A live profile whose hints are to be kept.
pub(crate) struct Given<'a> {
    /// Its diagnosis, with the estimates as the rules gave them.
    pub document: &'a Document,
    /// The ladder that it is a step of.
    pub ladder: Option<&'a Ladder>,
    /// The program's name, where it is no step.
    pub program: &'a str,
    /// What it was compared with.
    pub baseline: Option<(&'a Profile, &'a Diff)>,
}

/// Keeps a profile's hints, and what it measured of earlier ones. Whatever goes wrong is a notice.
pub(crate) fn keep(given: &Given, printer: &Printer) {
    match try_keep(given, &file::here()) {
        Ok(notices) => {
            for notice in notices {
                printer.notice(&notice);
            }
        }
        Err(error) => {
            printer.notice(&format!("the hints of this run were not added to the ledger: {error}"));
        }
    }
}

fn try_keep(given: &Given, path: &Path) -> Result<Vec<String>> {
    let document = given.document;
    // A step that was timed only has no findings, which does not mean that they are gone.
    if document.launches.is_empty() {
        return Ok(Vec::new());
    }
    let contents = file::read(path)?;
    let mut notices: Vec<String> = foreign(&contents).into_iter().collect();
    let origin = Origin {
        date: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        program: given.program.to_owned(),
        device: String::new(),
    };
    let earlier: Vec<Hint> = contents
        .lines
        .iter()
        .filter_map(|line| match line {
            Line::Hint(hint) => Some(hint.clone()),
            Line::Outcome(_) => None,
        })
        .collect();
    let mut outcomes: Vec<Outcome> = Vec::new();
    if let Some(ladder) = given.ladder {
        outcomes.extend(ledger::by_ladder(&earlier, document, ladder, &origin));
    }
    let mut new: Vec<Hint> = Vec::new();
    if let Some((base, diff)) = given.baseline
        && !is_walked(base, document)
    {
        let hints = base_hints(base, given)?;
        let measured = ledger::by_baseline(&hints, document, diff, &origin);
        if !measured.is_empty() {
            new.extend(hints);
        }
        outcomes.extend(measured);
    }
    new.extend(ledger::hints(document, &origin));
    new.retain(|hint| !earlier.iter().any(|known| known.id == hint.id));
    let lines: Vec<Line> =
        new.into_iter().map(Line::Hint).chain(outcomes.into_iter().map(Line::Outcome)).collect();
    let gone = file::append(path, &lines)?;
    if gone > 0 {
        notices.push(format!(
            "{} had grown beyond {} MiB: its {gone} oldest hints were removed, unmeasured ones \
             first",
            file::FILE,
            file::MOST_BYTES >> 20
        ));
    }
    Ok(notices)
}

/// True where base and new are different steps of one ladder: then the ladder says which fault the
/// gain belongs to.
fn is_walked(base: &Profile, new: &Document) -> bool {
    base.step()
        .zip(new.step.as_ref())
        .is_some_and(|(base, new)| base.ladder == new.ladder && base.name != new.name)
}

/// The hints of a baseline, which may never have been in this ledger.
fn base_hints(base: &Profile, given: &Given) -> Result<Vec<Hint>> {
    let environment = base.meta.as_ref().map(|meta| &meta.environment);
    let origin = Origin {
        date: environment.map(|known| known.date.clone()).unwrap_or_default(),
        program: if base.step().is_none() && !given.program.is_empty() {
            given.program.to_owned()
        } else {
            base.name.clone()
        },
        device: environment.map(|known| known.device.clone()).unwrap_or_default(),
    };
    Ok(ledger::hints(&diagnose(base)?, &origin))
}
