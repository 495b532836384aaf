//! `adoprof bench`: planted faults and the ladders' transitions, from the shipped recordings.

mod gate;

use super::shared::printer::Printer;
use crate::bench::{self, FaultSet, Recordings};
use crate::cli::BenchArgs;
use crate::error::{Error, ExitCode, Result};
use crate::profile::{Listing, recorded_ladders};
use crate::report::render;

pub(super) fn run(args: &BenchArgs, printer: &Printer) -> Result<ExitCode> {
    if args.gate {
        return gate::run(args, printer);
    }
    let format = args.format.for_table("the bench")?;
    let all = !args.faults && !args.ladders && !args.programs;
    let progress = printer.patient_progress();
    progress.stage("diagnosing the recorded steps");
    let mut document = bench::empty();
    if args.faults || all {
        let sets = wanted_sets(&args.set)?;
        let numbers: Vec<Option<u32>> = sets.iter().map(|set| Some(set.number)).collect();
        let read = |listing| recorded_ladders(|one| numbers.contains(&one.set()), listing);
        let (whole, without_sass) = (read(Listing::Sass)?, read(Listing::WithoutSass)?);
        let recordings = Recordings { whole: &whole, without_sass: &without_sass };
        document = bench::judge(recordings, &sets);
    }
    if args.ladders || all && args.set.is_empty() {
        let ordinary = recorded_ladders(|ladder| ladder.set().is_none(), Listing::Sass)?;
        bench::add_ladders(&mut document, &ordinary);
    }
    if args.programs {
        let folder = args.profiles.as_deref().ok_or_else(|| {
            Error::Usage(
                "--programs needs the programs' profiles, which are not part of adoprof: name their folder \
                 with --profiles DIR (or ADOPROF_PROGRAMS)"
                    .to_owned(),
            )
        })?;
        progress.stage("diagnosing the programs");
        let (programs, missing) = bench::programs::judge(folder)?;
        document.programs = Some(programs);
        if !missing.is_empty() {
            document.notices.push(format!(
                "{} has no pages of {}, which are left out",
                folder.display(),
                missing.join(", ")
            ));
        }
    }
    drop(progress);
    if !format.holds_notices() {
        for notice in &document.notices {
            printer.notice(notice);
        }
    }
    printer.result(|style, out| render(&document, format, style, out))?;
    Ok(ExitCode::Success)
}

/// The sets of these numbers, all of them where there are none.
fn wanted_sets(numbers: &[u32]) -> Result<Vec<FaultSet>> {
    let all = bench::sets::all()?;
    if let Some(unknown) =
        numbers.iter().find(|&&number| all.iter().all(|set| set.number != number))
    {
        let known: Vec<String> = all.iter().map(|set| set.number.to_string()).collect();
        let known = known.join(", ");
        return Err(Error::Usage(format!("the bench has no set {unknown}; its sets are {known}")));
    }
    let wanted = |set: &FaultSet| numbers.is_empty() || numbers.contains(&set.number);
    Ok(all.into_iter().filter(wanted).collect())
}
