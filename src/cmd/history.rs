//! `adoprof history`: values over commits, and the store that they are kept in.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::report::{NOT_FOR_A_TERMINAL, SCALE};
use super::shared::diagnosed::{kernel_filter, no_kernel};
use super::shared::open::{self, Opened};
use super::shared::printer::Printer;
use crate::cli::{HistoryArgs, HistoryCommand, HistoryFormat, ShowArgs};
use crate::error::{Error, ExitCode, Result};
use crate::files;
use crate::history::{
    Commit, Entry, Filter, HistoryDocument, Place, Quantity, Stored, commit_of, migrated, scan,
    series, short, with_commit,
};
use crate::page::{self, Theme};
use crate::picture;
use crate::report::{Format, render};
use crate::text::count_of;

pub(super) fn run(args: &HistoryArgs, printer: &Printer) -> Result<ExitCode> {
    let place = Place::parse(&args.store)?;
    match &args.command {
        None => show(&args.show, &place, printer),
        Some(HistoryCommand::Add { paths, commit, program, ladder }) => {
            let named = Named { commit: commit.as_deref(), program: program.as_deref(), ladder };
            add(paths, &place, &named, printer)
        }
        Some(HistoryCommand::Migrate) => migrate(&place, printer),
    }
}

/// Files that can't be read are told so many at most.
const MOST_TOLD: usize = 10;

fn show(args: &ShowArgs, place: &Place, printer: &Printer) -> Result<ExitCode> {
    let (format, is_png) = match args.format {
        HistoryFormat::Table(_) if args.output.is_some() => {
            return Err(Error::Usage("-o is for the chart of --format svg or png".to_owned()));
        }
        HistoryFormat::Table(format) => (Some(format.for_table("a history")?), false),
        HistoryFormat::Svg => (None, false),
        HistoryFormat::Png => (None, true),
    };
    let quantity = Quantity::parse(&args.metric)?;
    let filter = Filter {
        kernel: args.kernel.as_deref().map(kernel_filter).transpose()?,
        program: args.program.clone(),
        gpu: args.gpu.clone(),
    };
    let all = place.list()?;
    if all.is_empty() {
        return Err(Error::Input {
            path: place.name().into(),
            problem: "holds no profiles yet; `adoprof history add PATH…` keeps some there"
                .to_owned(),
        });
    }
    let wanted: Vec<Stored> = all.into_iter().filter(|file| filter.takes(&file.path)).collect();
    let mut scanned = scan(&place.local(&wanted)?, quantity, &filter);
    if scanned.profiles == 0 && !scanned.left_out.is_empty() {
        return Err(scanned.left_out.swap_remove(0));
    }
    let observations = std::mem::take(&mut scanned.observations);
    let series = series(observations, args.min_jump, quantity.more_is_worse());
    let mut document = HistoryDocument::new(place.name(), quantity, series);
    (document.profiles, document.launches) = (scanned.profiles, scanned.launches);
    let left_out = scanned.left_out.len();
    let told = scanned.left_out.iter().take(MOST_TOLD).map(|error| format!("left out: {error}"));
    document.notices.extend(told);
    if left_out > MOST_TOLD {
        let more = count_of((left_out - MOST_TOLD) as f64, "further file");
        document.notices.push(format!("left out: {more}"));
    }
    if let (true, Some(pattern)) = (document.series.is_empty(), &args.kernel) {
        refuse_unknown_kernel(pattern, &filter, quantity, &place.local(&wanted)?)?;
    }
    if document.series.is_empty() {
        document
            .notices
            .push(format!("no profile here has a value of {} for what was asked", quantity.name()));
    }
    if !format.is_some_and(Format::holds_notices) {
        for notice in &document.notices {
            printer.notice(notice);
        }
    }
    match format {
        Some(format) => printer.result(|style, out| render(&document, format, style, out))?,
        None => draw(&document, is_png, args.output.as_deref(), printer)?,
    }
    Ok(ExitCode::Success)
}

/// Refuses a `-k` that matches no kernel, with those that there are, as `analyze` does.
fn refuse_unknown_kernel(
    pattern: &str,
    filter: &Filter,
    quantity: Quantity,
    files: &[PathBuf],
) -> Result<()> {
    let any = Filter { kernel: Some(kernel_filter("")?), ..filter.clone() };
    let kernels =
        scan(files, quantity, &any).observations.into_iter().filter_map(|it| it.key.kernel);
    let kernels: BTreeSet<String> = kernels.collect();
    if kernels.is_empty() {
        // The metric was not collected, or nothing is kept of the program.
        return Ok(());
    }
    Err(no_kernel("the store", pattern, kernels))
}

/// Writes the chart.
fn draw(
    document: &HistoryDocument,
    is_png: bool,
    output: Option<&Path>,
    printer: &Printer,
) -> Result<()> {
    let svg = page::history(document, is_png.then_some(Theme::Light)).ok_or_else(|| {
        Error::Usage(
            "a chart needs profiles of two commits at least, and no series here has them"
                .to_owned(),
        )
    })?;
    let bytes = if is_png { picture::png(&svg, SCALE)? } else { svg.into_bytes() };
    if output == Some(Path::new("-")) {
        if is_png && printer.is_terminal() {
            return Err(Error::Usage(NOT_FOR_A_TERMINAL.to_owned()));
        }
        return printer.bytes(&bytes);
    }
    let path = output.unwrap_or(Path::new(if is_png { "history.png" } else { "history.svg" }));
    files::write_atomically(path, &bytes)?;
    printer.text(&path.display().to_string())
}

/// What the user says of profiles.
struct Named<'a> {
    commit: Option<&'a str>,
    program: Option<&'a str>,
    ladder: &'a str,
}

fn add(paths: &[String], place: &Place, named: &Named, printer: &Printer) -> Result<ExitCode> {
    let commit = match named.commit {
        Some(text) => Some(Commit::named(text)?),
        None => here(printer),
    };
    let Opened { profiles, notices, code } = open::all(paths, named.ladder)?;
    for notice in &notices {
        printer.notice(notice);
    }
    let listed = place.list()?;
    let there: HashMap<&str, &Stored> = listed.iter().map(|file| (file.profile(), file)).collect();
    let mut kept = HashSet::new();
    let now = jiff::Timestamp::now();
    let entries = profiles
        .iter()
        .map(|profile| Entry::new(profile, commit.as_ref(), named.program, now))
        .collect::<Result<Vec<_>>>()?;
    for entry in &entries {
        let launches = count_of(entry.launches() as f64, "launch");
        let device = if entry.device.is_empty() { "an unknown GPU" } else { &entry.device };
        let what = format!("{} on {device}, {}, {launches}", entry.program, entry.date);
        let path = entry.path();
        let path = match there.get(entry.profile.as_str()) {
            _ if !kept.insert(&entry.profile) => {
                printer.text(&format!("named twice: {what}"))?;
                continue;
            }
            None => &path,
            Some(file) => match known_as(file, place) {
                Ok(of) => {
                    let asked = commit.as_ref().filter(|_| named.commit.is_some());
                    known(file, of.as_deref(), asked, &what, place, printer)?;
                    continue;
                }
                // It would be known for ever, and never read.
                Err(error) => {
                    printer.notice(&format!("replacing a damaged file: {error}"));
                    &file.path
                }
            },
        };
        place.put(path, &entry.bytes()?)?;
        printer.text(&format!("kept: {what}: {path}"))?;
    }
    Ok(code)
}

/// Of which commit a profile is kept already.
fn known_as(file: &Stored, place: &Place) -> Result<Option<String>> {
    let local = place.local(std::slice::from_ref(file))?;
    Ok(local.first().map(|path| commit_of(path)).transpose()?.flatten())
}

/// Says that a profile is kept already. One that is kept without a commit gets the one that the user names; another one
/// stays, since the profile was made of one of them only.
fn known(
    file: &Stored,
    of: Option<&str>,
    asked: Option<&Commit>,
    what: &str,
    place: &Place,
    printer: &Printer,
) -> Result<()> {
    let path = &file.path;
    match (of, asked) {
        (None, Some(commit)) => {
            for local in place.local(std::slice::from_ref(file))? {
                let bytes = files::read(&local, files::MOST_TABLE)
                    .map_err(|error| Error::io(&local, "read", &error))?;
                place.put(path, &with_commit(&bytes, &local, commit)?)?;
            }
            let short = commit.short();
            return printer.text(&format!("known already: {what}, now of commit {short}: {path}"));
        }
        (Some(of), Some(commit)) if of != commit.name => printer.notice(&format!(
            "{what} is kept as of commit {} and stays so; to keep it as of {} instead, delete its file from the store \
             and add it again",
            short(of),
            commit.short()
        )),
        _ => {}
    }
    let of = of.map(|of| format!(", of commit {}", short(of))).unwrap_or_default();
    printer.text(&format!("known already: {what}{of}: {path}"))
}

/// The commit that is checked out here, with what the user should know of that.
fn here(printer: &Printer) -> Option<Commit> {
    let Some((commit, differs)) = Commit::here() else {
        printer.notice(
            "there is no git commit here, so the profiles are kept by their date alone; --commit names one",
        );
        return None;
    };
    if differs {
        printer.notice(&format!(
            "files here differ from commit {}, which the profiles are kept as; --commit names another",
            commit.short()
        ));
    }
    Some(commit)
}

fn migrate(place: &Place, printer: &Printer) -> Result<ExitCode> {
    let stored = place.list()?;
    let mut rewritten = 0;
    for (file, local) in stored.iter().zip(place.local(&stored)?) {
        let bytes = files::read(&local, files::MOST_TABLE)
            .map_err(|error| Error::io(&local, "read", &error))?;
        if let Some(bytes) = migrated(&bytes, &local)? {
            place.put(&file.path, &bytes)?;
            rewritten += 1;
        }
    }
    let (done, all) =
        (count_of(f64::from(rewritten), "file"), count_of(stored.len() as f64, "file"));
    printer.text(&format!("{done} of {all} rewritten"))?;
    Ok(ExitCode::Success)
}
