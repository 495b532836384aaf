//! `adoprof watch`: a step again at every edit, each time in a process of its own: a kernel that faults takes the
//! CUDA context with it, and the watch goes on without it.

mod arguments;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::shared::chosen_step::split;
use super::shared::ignored_options;
use super::shared::live_step::own_path;
use super::shared::printer::Printer;
use crate::cli::WatchArgs;
use crate::error::{Error, ExitCode, Result};
use crate::interrupt;
use crate::ladder::{Ladder, Step, parse_overrides};
use crate::launch::{Device, nvrtc};
use crate::ncu;
use crate::store;
use crate::text::{count_of, printable};
use crate::timing::Timing;
use crate::watch::{History, Run, Snapshot};

/// How often the files are looked at.
const TICK: Duration = Duration::from_millis(200);

pub(super) fn run(args: &WatchArgs, printer: &Printer) -> Result<ExitCode> {
    refuse(args)?;
    let (argument, step_name) = split(&args.kernel, &args.problem.ladder)?;
    let ladder_argument = on_disk(argument, step_name, printer)?;
    let ladder = Ladder::open(&ladder_argument)?;
    let step = ladder.step(step_name)?;
    let size = parse_overrides(args.problem.size.as_deref().unwrap_or_default())?;
    let wanted = ladder.size(step, &size)?;
    let device = if step.is_program() { None } else { Some(usable_device(args)?) };
    let last = store::newest_local(ladder.name(), step_name, |meta| {
        let here = device.as_ref().is_none_or(|device| *device == meta.environment.device);
        here && meta.size() == wanted
    });
    let mut watch = Watch {
        args,
        ladder_argument,
        ladder_name: ladder.name().to_owned(),
        step_name,
        printer,
        last_good: last.and_then(|folder| Some((timing(&folder)?, folder))),
        files: files(&ladder, step, args),
        history: History::of(ladder.name(), step_name),
    };
    watch.until_interrupted()?;
    if let Some(summary) = watch.history.summary() {
        printer.notice(&summary);
    }
    Ok(ExitCode::Success)
}

/// Refuses what has no meaning for many runs.
fn refuse(args: &WatchArgs) -> Result<()> {
    ignored_options::check_ncu_args(args.profiling.ncu_args.as_deref())?;
    if args.profiling.dry_run || args.profiling.output.is_some() {
        let option = if args.profiling.dry_run { "--dry-run" } else { "-o" };
        return Err(Error::Usage(format!(
            "{option} applies to a single run, and a watch makes many; use it with `adoprof step`"
        )));
    }
    if let Some(path) = args.also.iter().find(|path| !path.is_file()) {
        return Err(Error::input(path, "is not a file, so it can't be watched"));
    }
    Ok(())
}

/// The ladder's directory: that of a built-in ladder where this folder has its sources, as adoprof's own
/// repository does.
fn on_disk(argument: &str, step: &str, printer: &Printer) -> Result<String> {
    if !Ladder::builtin_names().contains(&argument) {
        return Ok(argument.to_owned());
    }
    let here = format!("./kernels/{argument}");
    if Path::new(&here).join("ladder.toml").is_file() {
        printer.notice(&format!("watching the ladder in {here}"));
        return Ok(here);
    }
    Err(Error::Usage(format!(
        "the sources of the built-in ladder `{argument}` are inside adoprof and can't be edited there; copy \
         them with `adoprof ladder copy {argument} DIR`, then run `adoprof watch --ladder ./DIR --kernel \
         {step}`"
    )))
}

/// The name of the device, where everything is there that a kernel needs to run.
fn usable_device(args: &WatchArgs) -> Result<String> {
    if !Device::is_present() {
        return Err(Error::Environment(
            "a watch needs a CUDA device, and none is usable here; `adoprof doctor` says what is \
             missing"
                .to_owned(),
        ));
    }
    if nvrtc::version().is_none() {
        return Err(nvrtc::missing());
    }
    // Closed again: the step wants the device's memory for itself.
    Ok(Device::open(args.profiling.device)?.name.clone())
}

fn files(ladder: &Ladder, step: &Step, args: &WatchArgs) -> Vec<PathBuf> {
    ladder.sources(step).into_iter().chain(args.also.iter().cloned()).collect()
}

/// The step's time in a saved profile.
fn timing(folder: &Path) -> Option<Timing> {
    store::read_meta(folder).ok()?.step.map(|step| step.time_ns)
}

/// A watch under way.
struct Watch<'a> {
    args: &'a WatchArgs,
    ladder_argument: String,
    ladder_name: String,
    step_name: &'a str,
    printer: &'a Printer,
    /// The last good run: its time and its profile.
    last_good: Option<(Timing, PathBuf)>,
    files: Vec<PathBuf>,
    history: History,
}

impl Watch<'_> {
    fn until_interrupted(&mut self) -> Result<()> {
        let mut changed: Vec<PathBuf> = Vec::new();
        loop {
            self.look_at_ladder();
            // Before the run: what is edited while it goes on is newer than what it runs.
            let before = Snapshot::take(&self.files, &Snapshot::default());
            if !self.take_step(&changed, &before)? && interrupt::requested() {
                return Ok(());
            }
            match self.wait_for_change(&before) {
                Some(files) => changed = files,
                None => return Ok(()),
            }
        }
    }

    /// Takes note of files that the manifest or a source names now. Where the manifest can't be read, those known
    /// are looked at until it can.
    fn look_at_ladder(&mut self) {
        if let Ok(ladder) = Ladder::open(&self.ladder_argument)
            && let Ok(step) = ladder.step(self.step_name)
        {
            self.files = files(&ladder, step, self.args);
        }
    }

    /// Runs the step; false where it was ended before it came to something.
    fn take_step(&mut self, changed: &[PathBuf], before: &Snapshot) -> Result<bool> {
        let folder = store::next_local_folder(&self.ladder_name, self.step_name);
        let base = self.last_good.as_ref().map(|(_, folder)| folder.as_path());
        let words =
            arguments::of_step(self.args, &self.ladder_argument, self.step_name, base, &folder);
        let mut command = Command::new(own_path()?);
        // A pager would hold up the watch.
        command.args(self.printer.words()).arg("--no-pager").args(words);
        let mut is_stale = false;
        let is_enough = || {
            is_stale = !before.again().changed_since(before).is_empty();
            is_stale || interrupt::requested()
        };
        let Some(status) = ncu::attend(command, is_enough)? else {
            if is_stale {
                self.printer.notice("the sources changed during the run: starting again");
            }
            return Ok(false);
        };
        let names = changed.iter().filter_map(|path| path.file_name());
        let names = names.map(|name| printable(&name.to_string_lossy())).collect();
        let mut run = Run::new(names, status.code());
        if let Some(now) = timing(&folder) {
            run.time_ns = Some(now);
            run.base_ns = self.last_good.as_ref().map(|(base, _)| *base);
            run.saved = Some(folder.display().to_string());
            self.last_good = Some((now, folder));
        }
        self.printer.notice(&run.line());
        self.history.add(run)?;
        Ok(true)
    }

    /// Waits until files hold something else, and for a moment go on to; `None` after Ctrl-C.
    fn wait_for_change(&self, before: &Snapshot) -> Option<Vec<PathBuf>> {
        let progress = self.printer.progress();
        let files = count_of(self.files.len() as f64, "file");
        progress.stage(format!("waiting for an edit of {files}; Ctrl-C ends"));
        let mut last = before.clone();
        while !interrupt::requested() {
            let now = last.again();
            // An editor may take several writes, or remove the file and write it anew.
            let is_settled = now == last;
            let changed = now.changed_since(before);
            if is_settled && !changed.is_empty() {
                return Some(changed.into_iter().map(Path::to_owned).collect());
            }
            last = now;
            std::thread::sleep(TICK);
        }
        None
    }
}
