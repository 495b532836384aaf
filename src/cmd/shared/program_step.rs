//! A step that is a program: built, run, checked, timed, profiled, saved.

use std::path::{Path, PathBuf};

use super::chosen_step::ChosenStep;
use super::live_step::{LiveStep, Outcome, profiled_and_saved, profiler, target};
use super::printer::Printer;
use super::profiling;
use crate::collect::{self, Profiled};
use crate::error::{Error, Result};
use crate::export::csv::Pages;
use crate::ladder::Tuning;
use crate::ncu::{CollectRequest, Invocations, Ncu, TimeLimit};
use crate::plan::{AnswerCheck, ProgramPlan};
use crate::profile;
use crate::program_run::{self, Launches, Measured, resolved};
use crate::progress::Progress;
use crate::store::{self, Environment, META_SCHEMA, Meta, Saved, Target};
use crate::text::assignments;

/// Launches that are profiled where no survey says which.
const MOST_LAUNCHES: u64 = 10;

/// Runs a step that is a program.
///
/// # Errors
/// Those of [`program_run::measure`], a folder that can't be written, and ncu's failures. A missing ncu or
/// forbidden counters do not fail here: what works without is done.
pub(crate) fn run(live: &LiveStep, printer: &Printer) -> Result<Outcome> {
    run_tuned(live, &Tuning::default(), printer)
}

/// The same with other tunables than the manifest's.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_tuned(live: &LiveStep, tuning: &Tuning, printer: &Printer) -> Result<Outcome> {
    let progress = printer.progress();
    let ChosenStep { ladder, step, size, .. } = live.chosen;
    let plan = ladder.program_plan(step.name(), size, tuning)?;
    let target = target(live)?;
    let ncu = profiler(live);
    let wants_launches = matches!(ncu, Some(Ok(_)));
    let limit = live.profiling.timeout;
    let Measured { info, launches, notices } =
        program_run::measure(&plan, limit, wants_launches, &progress)?;
    let launches = launches.as_ref();
    let meta = Meta {
        schema: META_SCHEMA.to_owned(),
        step: Some(info),
        environment: environment(live, tuning, launches),
        notices: plan.notices.iter().cloned().chain(notices).collect(),
    };
    // What was timed is kept, also where ncu finds none of the launches.
    let is_lack = |error: &Error| matches!(error, Error::Environment(_) | Error::Usage(_));
    profiled_and_saved(meta, live, target, ncu, is_lack, |ncu, target, saved| {
        profile(ncu, &plan, live, launches, target, saved, &progress)
    })
}

fn environment(live: &LiveStep, tuning: &Tuning, launches: Option<&Launches>) -> Environment {
    let device = launches.and_then(|launches| launches.device.as_ref());
    let ladder = shell_words::quote(live.chosen.ladder.name());
    let size = Some(assignments(live.chosen.size, ",")).filter(|size| !size.is_empty());
    let size = size.map(|size| format!(" --size {size}")).unwrap_or_default();
    let tune = Some(assignments(&tuning.tune, ",")).filter(|tune| !tune.is_empty());
    let tune = tune.map(|tune| format!(", a point of a sweep with {tune}")).unwrap_or_default();
    let step = live.chosen.step.name();
    Environment {
        device: device.map(|(name, _)| name.clone()).unwrap_or_default(),
        compute_capability: device
            .map(|(_, [major, minor])| format!("{major}.{minor}"))
            .unwrap_or_default(),
        collected: profiling::selection(live.profiling).name().to_owned(),
        clock_control: "none".to_owned(),
        cache_control: "all".to_owned(),
        command: format!("adoprof step --ladder {ladder} --kernel {step}{size}{tune}"),
        date: jiff::Zoned::now().strftime("%Y-%m-%d").to_string(),
        adoprof: env!("CARGO_PKG_VERSION").to_owned(),
        ..Environment::default()
    }
}

fn profile(
    ncu: &Ncu,
    plan: &ProgramPlan,
    live: &LiveStep,
    launches: Option<&Launches>,
    target: &Target,
    saved: &mut Saved,
    progress: &Progress,
) -> Result<PathBuf> {
    let report = std::path::absolute(target.staging().join("report"))
        .map_err(|error| Error::io(target.staging(), "find the folder", &error))?;
    let invocations = launches.map(|launches| launches.invocations.clone());
    let mut request = request(plan, live, report, invocations)?;
    let _sections = profiling::complete(&mut request, live.profiling)?;
    let what = format!("{}/{}", plan.ladder, plan.step);
    if let Some(launches) = launches {
        progress.note(&format!("adoprof: {what}: {}", launches.extent));
    }
    let timeout = TimeLimit::of_all(live.profiling.timeout);
    let mut collected = collect::collect(ncu, &request, timeout, &what, progress);
    if let Err(Error::Usage(problem)) = &collected
        && request.invocations.take().is_some()
    {
        saved.meta.notices.push(format!(
            "the launches that the survey chose were not found in another run of the program, so its first \
             {MOST_LAUNCHES} that match were profiled: {problem}"
        ));
        request.kernel.clone_from(&plan.kernels);
        request.launch_count = Some(MOST_LAUNCHES);
        collected = collect::collect(ncu, &request, timeout, &what, progress);
    }
    let Profiled { report, passes, pages, notices, .. } = collected?;
    saved.pages = with_own_name(pages, live);
    saved.meta.environment.ncu = ncu.version.to_string();
    saved.meta.environment.passes = passes;
    saved.meta.notices.extend(notices);
    if let Some(launches) = launches {
        profile::program::write(target.staging(), &launches.surveyed)?;
    }
    Ok(report)
}

/// The manifest's source under the name that everyone else knows it by, its ladder's.
fn with_own_name(pages: Pages, live: &LiveStep) -> Pages {
    match live.chosen.step.source() {
        Some(source) => match &source.path {
            Some(path) => pages.with_source_named(path, &source.name),
            None => pages,
        },
        None => pages,
    }
}

/// What ncu is to do.
fn request(
    plan: &ProgramPlan,
    live: &LiveStep,
    report: PathBuf,
    invocations: Option<Invocations>,
) -> Result<CollectRequest> {
    let (program, args) = resolved(plan, &plan.run)?;
    let mut request = CollectRequest::new(profiling::selection(live.profiling), report, program);
    request.program_args = args;
    request.cwd = Some(plan.folder.clone());
    if invocations.is_none() {
        request.kernel.clone_from(&plan.kernels);
        request.launch_count = Some(MOST_LAUNCHES);
    }
    request.invocations = invocations;
    Ok(request)
}

/// Prints what a step's run would start: the build, the program, the check, and ncu's command lines.
///
/// # Errors
/// Where stdout can't be written.
pub(crate) fn dry_run(ncu: &Ncu, live: &LiveStep, printer: &Printer) -> Result<()> {
    let ChosenStep { ladder, step, size, .. } = live.chosen;
    let mut plan = ladder.program_plan(step.name(), size, &Tuning::default())?;
    printer.text(&format!("# in {}", plan.folder.display()))?;
    if let Some(build) = &plan.build {
        printer.text(&build.text())?;
    }
    printer.text(&format!("{} # {} times", plan.run.text(), plan.runs))?;
    if let Some(AnswerCheck::Command(check)) = &plan.check {
        printer.text(&check.text())?;
    }
    // What is not built yet has a name all the same.
    if plan.run.program.contains('/') {
        let program = plan.folder.join(plan.run.program.trim_start_matches("./"));
        plan.run.program = program.display().to_string();
    }
    let folder = live.output.clone().unwrap_or_else(|| {
        Path::new(".adoprof").join(ladder.name()).join(step.name()).join("<time>")
    });
    let report = folder.join(store::REPORT_FILE);
    let kernels = vec!["<kernels>".to_owned()];
    let invocations = Invocations { kernels, are_demangled: false, numbers: vec![0] };
    let mut request = CollectRequest::new(
        profiling::selection(live.profiling),
        std::path::absolute(&report).unwrap_or_else(|_| report.clone()).with_extension(""),
        plan.run.program.into(),
    );
    request.program_args = plan.run.args.iter().map(Into::into).collect();
    request.cwd = Some(plan.folder);
    request.invocations = Some(invocations);
    let _sections = profiling::complete(&mut request, live.profiling)?;
    profiling::dry_run(ncu, &request, &report, printer)
}
