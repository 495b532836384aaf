//! `adoprof report`: the page with pictures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::shared::diagnosed::{compare, diagnose, kernel_filter, retain};
use super::shared::printer::Printer;
use super::shared::{browser, ledger, open};
use crate::cli::{ReportArgs, ReportFormat};
use crate::document::{Document, RunDocument, SCHEMA, Version};
use crate::error::{Error, ExitCode, Result};
use crate::files::write_atomically;
use crate::ladder::{self, Ladder};
use crate::ledger::LedgerDocument;
use crate::page::{self, CHARTS, Page, Subject};
use crate::profile::Profile;
use crate::text::{bytes, listed};

/// Bytes that ten launches stay below.
const LARGE: usize = 2_000_000;

pub(super) fn run(args: &ReportArgs, printer: &Printer) -> Result<ExitCode> {
    check(args)?;
    let progress = printer.patient_progress();
    let named = args.ladder.as_deref().unwrap_or(ladder::DEFAULT);
    progress.stage("reading the profiles");
    let paths = paths(args, named)?;
    let (mut profiles, left_out) = open::all(&paths, named)?;
    for notice in &left_out {
        printer.notice(notice);
    }
    if let Some(pattern) = &args.kernel {
        let regex = kernel_filter(pattern)?;
        for profile in &mut profiles {
            retain(profile, &regex, pattern)?;
        }
    }
    let base = args.baseline.as_deref().map(|name| open::one(name, named, None)).transpose()?;
    let mut subjects = Vec::new();
    for profile in &profiles {
        let mut document = diagnose_in(profile, named)?;
        if let Some(base) = &base {
            document.diff = Some(compare(base, profile)?);
        }
        subjects.push(Subject::new(profile, document, sources(profile, named))?);
    }
    let baseline = match &base {
        Some(base) => Some(Subject::new(base, diagnose_in(base, named)?, BTreeMap::new())?),
        None => None,
    };
    let run = run_of(&subjects);
    let wants_ledger =
        !args.no_ledger && args.chart.as_deref().is_none_or(|chart| chart == "calibration");
    let ledger = if wants_ledger {
        progress.stage("comparing earlier estimates with what came of them");
        let (records, notices) = ledger::both()?;
        Some(LedgerDocument::new(records, notices))
    } else {
        None
    };
    let page = Page {
        subjects: &subjects,
        baseline: baseline.as_ref(),
        run: run.as_ref(),
        ledger: ledger.as_ref(),
    };
    progress.stage("drawing");
    let text = match &args.chart {
        Some(chart) => page::chart(&page, chart).ok_or_else(|| {
            Error::Usage(format!("--chart {chart}: the profile has nothing to draw there"))
        })?,
        None => page::render(&page),
    };
    drop(progress);
    write(args, &text, printer)
}

/// What options ask for that can't be.
fn check(args: &ReportArgs) -> Result<()> {
    if args.paths.is_empty() && args.ladder.is_none() {
        return Err(Error::Usage(
            "say what to show: `adoprof report --ladder ado` for the recorded steps of the built-in ladder, \
             `adoprof report v2` for one of them, or `adoprof report PATH` for a saved profile or an .ncu-rep"
                .to_owned(),
        ));
    }
    match (args.format, &args.chart) {
        (ReportFormat::Png, chart) => Err(Error::Usage(no_png(chart.as_deref()))),
        (ReportFormat::Svg, None) => Err(Error::Usage(format!(
            "--format svg draws one chart; name it with --chart: {}",
            listed(CHARTS)
        ))),
        (ReportFormat::Html, Some(_)) => {
            Err(Error::Usage("--chart draws a single chart; add --format svg".to_owned()))
        }
        _ if args.open && is_stdout(args) => {
            Err(Error::Usage("--open needs a file, and -o - is standard output".to_owned()))
        }
        _ => Ok(()),
    }
}

/// What leads to a PNG: adoprof draws none, because text in pictures needs a rasterizer of several megabytes.
fn no_png(chart: Option<&str>) -> String {
    let chart = chart.unwrap_or("roofline");
    format!(
        "there is SVG here and no PNG; convert it with librsvg's rsvg-convert (package librsvg2-bin): adoprof report \
         … --format svg --chart {chart} -o - | rsvg-convert --zoom 2 -o {chart}.png"
    )
}

/// What was named, or every step of the ladder that has a profile.
fn paths(args: &ReportArgs, named: &str) -> Result<Vec<String>> {
    if !args.paths.is_empty() {
        return Ok(args.paths.clone());
    }
    let ladder = Ladder::open(named)?;
    Ok(ladder.steps().iter().map(|step| step.name().to_owned()).collect())
}

/// A profile's diagnosis, with the ladder that `--ladder` names before a built-in one of the same name.
fn diagnose_in(profile: &Profile, named: &str) -> Result<Document> {
    match ladder_of(profile, named) {
        Some(ladder) => profile.diagnose(Some(&ladder)),
        None => diagnose(profile),
    }
}

fn ladder_of(profile: &Profile, named: &str) -> Option<Ladder> {
    let step = profile.step()?;
    Ladder::open(named).ok().filter(|ladder| ladder.name() == step.ladder)
}

/// The text of a ladder step's source by the name that profiles have for it.
fn sources(profile: &Profile, named: &str) -> BTreeMap<String, String> {
    let Some(step) = profile.step() else { return BTreeMap::new() };
    let ladder = ladder_of(profile, named).or_else(|| Ladder::builtin(&step.ladder).ok());
    let source = ladder.as_ref().and_then(|ladder| ladder.step(&step.name).ok()?.source());
    source.map(|source| (source.name.clone(), source.text.clone())).into_iter().collect()
}

/// The ladder's run, where all are steps of one ladder and there are several.
fn run_of(subjects: &[Subject]) -> Option<RunDocument> {
    let ladder = &subjects.first()?.document.step.as_ref()?.ladder;
    let is_of = |subject: &Subject| {
        subject.document.step.as_ref().is_some_and(|step| step.ladder == *ladder)
    };
    (subjects.len() > 1 && subjects.iter().all(is_of)).then(|| RunDocument {
        schema: SCHEMA.to_owned(),
        adoprof: Version::default(),
        ladder: ladder.clone(),
        steps: subjects.iter().map(|subject| subject.document.clone()).collect(),
    })
}

fn is_stdout(args: &ReportArgs) -> bool {
    args.output.as_deref() == Some(Path::new("-"))
}

fn write(args: &ReportArgs, text: &str, printer: &Printer) -> Result<ExitCode> {
    if is_stdout(args) {
        printer.result(|_, out| out.write_all(text.as_bytes()))?;
        return Ok(ExitCode::Success);
    }
    let default = if args.format == ReportFormat::Svg { "report.svg" } else { "report.html" };
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(default));
    write_atomically(&path, text.as_bytes())?;
    if text.len() > LARGE {
        printer.notice(&format!(
            "{} has {}; -k shows fewer kernels",
            path.display(),
            bytes(text.len() as f64)
        ));
    }
    printer.text(&format!("{}", path.display()))?;
    if args.open {
        browser::open(&path)?;
    }
    Ok(ExitCode::Success)
}
