//! `adoprof report`: the page with pictures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::shared::diagnosed::{compare, diagnose, kernel_filter, retain};
use super::shared::open::{self, Opened};
use super::shared::printer::Printer;
use super::shared::{browser, ledger};
use crate::cli::{ReportArgs, ReportFormat};
use crate::document::{Document, RunDocument, SCHEMA, Version};
use crate::error::{Error, ExitCode, Result};
use crate::files::write_atomically;
use crate::ladder::{self, Ladder};
use crate::ledger::LedgerDocument;
use crate::page::{self, CHARTS, Page, Subject, Theme};
use crate::picture;
use crate::profile::Profile;
use crate::text::{bytes, listed};

/// Bytes that ten launches stay below.
const LARGE: usize = 2_000_000;

pub(super) fn run(args: &ReportArgs, printer: &Printer) -> Result<ExitCode> {
    check(args, printer)?;
    check_destination(args)?;
    let progress = printer.patient_progress();
    let named = args.ladder.as_deref().unwrap_or(ladder::DEFAULT);
    progress.stage("reading the profiles");
    let paths = paths(args, named)?;
    let Opened { mut profiles, notices, code } = open::all(&paths, named)?;
    for notice in &notices {
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
        progress.stage(ledger::COMPARING);
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
    let bytes = match &args.chart {
        Some(name) => chart(args, &page, name)?,
        None => page::render(&page).into_bytes(),
    };
    drop(progress);
    write(args, &bytes, printer)?;
    Ok(code)
}

/// Pixels of a PNG for each of the chart's, where nobody says how many: sharp on today's displays.
pub(super) const SCALE: u8 = 2;
/// Why a picture is not written to a terminal.
pub(super) const NOT_FOR_A_TERMINAL: &str =
    "a PNG is not for a terminal; name a file with -o, or redirect stdout";

/// A chart as a file of its own.
fn chart(args: &ReportArgs, page: &Page<'_>, name: &str) -> Result<Vec<u8>> {
    let is_png = args.format == ReportFormat::Png;
    let theme = args.theme.map(Theme::from).or(is_png.then_some(Theme::Light));
    let svg = page::chart(page, name, theme).ok_or_else(|| {
        Error::Usage(format!("--chart {name}: the profile has nothing to draw there"))
    })?;
    if is_png { picture::png(&svg, args.scale.unwrap_or(SCALE)) } else { Ok(svg.into_bytes()) }
}

/// What options ask for that can't be.
fn check(args: &ReportArgs, printer: &Printer) -> Result<()> {
    if args.paths.is_empty() && args.ladder.is_none() {
        return Err(Error::Usage(
            "say what to show: `adoprof report --ladder ado` for the recorded steps of the built-in ladder, \
             `adoprof report v2` for one of them, or `adoprof report PATH` for a saved profile or an .ncu-rep"
                .to_owned(),
        ));
    }
    let format = args.format.extension();
    let refused = match (args.format, &args.chart) {
        (ReportFormat::Svg | ReportFormat::Png, None) => {
            format!("--format {format} draws one chart; name it with --chart: {}", listed(CHARTS))
        }
        (ReportFormat::Html, Some(_)) => {
            "--chart draws a single chart; add --format svg or --format png".to_owned()
        }
        (ReportFormat::Html, None) if args.theme.is_some() => {
            "--theme is for single charts; a page follows its reader's setting and has a button"
                .to_owned()
        }
        (ReportFormat::Html | ReportFormat::Svg, _) if args.scale.is_some() => {
            "--scale says how fine --format png is".to_owned()
        }
        (ReportFormat::Png, _) if is_stdout(args) && printer.is_terminal() => {
            NOT_FOR_A_TERMINAL.to_owned()
        }
        _ if args.open && is_stdout(args) => {
            "--open needs a file, and -o - is standard output".to_owned()
        }
        _ => return Ok(()),
    };
    Err(Error::Usage(refused))
}

/// Endings of formats that a reader of the file would take its name for.
const KNOWN: [&str; 12] =
    ["html", "htm", "svg", "png", "pdf", "json", "csv", "md", "sarif", "xml", "txt", "parquet"];

/// Refuses a place that can't be written, or whose name says another format than it would have, before the profiles are
/// read.
///
/// # Errors
/// [`Error::Input`] for a folder, [`Error::Usage`] for the name of another format.
fn check_destination(args: &ReportArgs) -> Result<()> {
    let Some(path) = args.output.as_deref().filter(|_| !is_stdout(args)) else { return Ok(()) };
    let format = args.format.extension();
    if path.is_dir() {
        let inside = path.join("report").with_extension(format);
        let inside = inside.display().to_string();
        let problem = format!("is a folder; name a file in it: -o {}", shell_words::quote(&inside));
        return Err(Error::input(path, problem));
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let is_its = ending == format || ending == "htm" && args.format == ReportFormat::Html;
    if is_its || !KNOWN.contains(&ending.as_str()) {
        return Ok(());
    }
    let (what, instead) = match (args.format, ending.as_str()) {
        (ReportFormat::Html, "svg" | "png") => (
            "`adoprof report` writes an HTML page",
            format!("; for a picture of one chart add --format {ending} --chart NAME"),
        ),
        (ReportFormat::Html, "json" | "csv" | "md" | "sarif") => {
            ("`adoprof report` writes an HTML page", "; `adoprof analyze` has --format".to_owned())
        }
        (ReportFormat::Html, _) => ("`adoprof report` writes an HTML page", String::new()),
        (ReportFormat::Svg, _) => ("--format svg writes an SVG", String::new()),
        (ReportFormat::Png, _) => ("--format png writes a PNG", String::new()),
    };
    let name = path.with_extension(format).display().to_string();
    Err(Error::Usage(format!(
        "-o {}: {what}, so name it {}{instead}",
        path.display(),
        shell_words::quote(&name)
    )))
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
        ..RunDocument::default()
    })
}

fn is_stdout(args: &ReportArgs) -> bool {
    args.output.as_deref() == Some(Path::new("-"))
}

fn write(args: &ReportArgs, content: &[u8], printer: &Printer) -> Result<()> {
    if is_stdout(args) {
        match args.format {
            ReportFormat::Png => printer.bytes(content)?,
            ReportFormat::Html | ReportFormat::Svg => {
                printer.result(|_, out| out.write_all(content))?;
            }
        }
        return Ok(());
    }
    let default = || PathBuf::from("report").with_extension(args.format.extension());
    let path = args.output.clone().unwrap_or_else(default);
    write_atomically(&path, content)?;
    if args.format == ReportFormat::Html && content.len() > LARGE {
        printer.notice(&format!(
            "{} has {}; -k shows fewer kernels",
            path.display(),
            bytes(content.len() as f64)
        ));
    }
    printer.text(&format!("{}", path.display()))?;
    if args.open {
        browser::open(&path)?;
    }
    Ok(())
}
