//! Profiling as the command line asks for it, for steps and for programs alike.

use std::path::{Path, PathBuf};

use super::printer::Printer;
use crate::cli::ProfilingArgs;
use crate::collect::second_run;
use crate::error::Result;
use crate::ncu::{self, CollectRequest, Level, Ncu, Page, Selection, Version, Via};

/// What the options select.
pub(crate) fn selection(options: &ProfilingArgs) -> Selection {
    if !options.section.is_empty() || !options.metrics.is_empty() {
        return Selection::Explicit {
            sections: options.section.clone(),
            metrics: options.metrics.clone(),
        };
    }
    Selection::Level(options.collect)
}

/// Completes a request with the user's options. The returned folder holds our sections and must
/// live until the collection is over.
///
/// # Errors
/// Bad quoting in `--ncu-args`; a temporary folder that can't be written.
pub(crate) fn complete(
    request: &mut CollectRequest,
    options: &ProfilingArgs,
) -> Result<Option<tempfile::TempDir>> {
    if let Some(args) = &options.ncu_args {
        request.ncu_args = ncu::arguments::split(args)?;
    }
    request.via = options.via;
    let ours =
        matches!(request.selection, Selection::Level(_)).then(ncu::section::deploy).transpose()?;
    request.section_folder = ours.as_ref().map(|folder| folder.path().to_owned());
    Ok(ours)
}

/// ncu, or a name that stands for it in command lines that are only printed: on a machine without ncu
/// they can be read all the same. One that the user named must be there.
///
/// # Errors
/// As [`ncu::locate`] where the user named one.
pub(crate) fn ncu_or_placeholder(named: Option<&Path>, printer: &Printer) -> Result<Ncu> {
    ncu::locate(named, None).or_else(|error| {
        if named.is_some() {
            return Err(error);
        }
        let text = error.to_string();
        let problem = text.strip_suffix(ncu::locate::REMEDY).unwrap_or(&text);
        printer.notice(&format!(
            "`ncu` stands for Nsight Compute's ncu, which was not found on this machine: {}; where \
             it is installed, adoprof's own section is collected too",
            problem.trim_end_matches([';', ' '])
        ));
        let (program, version) = (PathBuf::from("ncu"), Version::NEWEST_MEASURED);
        Ok(Ncu { program, version, stock_sections: None })
    })
}

/// Prints the command lines that a run would start: the collection, then the three exports where they are
/// asked for; for `auto` also, as a comment, what a second run would depend on.
///
/// # Errors
/// Where stdout can't be written.
pub(crate) fn dry_run(
    ncu: &Ncu,
    request: &CollectRequest,
    report: &Path,
    printer: &Printer,
) -> Result<()> {
    printer.text(&ncu::profile(ncu, request).to_string())?;
    if let (Some(folder), Some(_)) = (&request.section_folder, &ncu.stock_sections) {
        printer.text(&format!(
            "# {} holds adoprof's own section and exists only during a run: leave out --section {} \
             and its --section-folder to run this line yourself",
            folder.display(),
            ncu::section::IDENTIFIER
        ))?;
    }
    if request.via == Via::Csv {
        for page in [Page::Raw, Page::Details, Page::Source] {
            printer.text(&ncu::import(ncu, report, page).to_string())?;
        }
    } else {
        printer.text(&format!(
            "# adoprof then reads {} itself; --via csv lets ncu export it as well",
            report.display()
        ))?;
    }
    if request.selection == Selection::Level(Level::Auto) {
        let possible = second_run::possible(|name| Level::Auto.collects(name));
        printer.text(&format!(
            "# A second run of the same launches follows if the first shows signs of {} that could \
             be worth more than its first finding: --metrics {}",
            possible.rules.join(", "),
            possible.metrics.join(",")
        ))?;
    }
    Ok(())
}
