//! A ladder's steps over several devices: each step in a process of its own, which has one device to itself.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use clap::ValueEnum;

use crate::cli::{ProfilingArgs, RunArgs};
use crate::cmd::shared::live_step::own_path;
use crate::cmd::shared::on_device;
use crate::document::{Document, RunDevice};
use crate::error::{Error, ExitCode, Result};
use crate::interrupt;
use crate::ncu::NcuCommand;
use crate::ncu::process::Ended;
use crate::progress::Progress;
use crate::timing::Timing;

/// A step's document, and why it was not profiled, where it was not; or why there is no document.
pub(super) type OfStep = Result<(Document, Option<Error>)>;

/// The steps of a run, and how their processes are started.
pub(super) struct Spread<'a> {
    /// This program.
    pub own: PathBuf,
    /// The arguments that all steps have.
    pub common: Vec<OsString>,
    /// The steps' names.
    pub steps: Vec<&'a str>,
    /// Where the profiles are saved; the default places without.
    pub output: Option<&'a Path>,
}

/// What the workers of the devices share.
#[derive(Default)]
struct Shared {
    /// The next step that nobody has taken.
    next: usize,
    results: BTreeMap<usize, OfStep>,
}

impl<'a> Spread<'a> {
    /// The steps of a run.
    ///
    /// # Errors
    /// [`Error::Environment`] where this program does not know its own path.
    pub(super) fn new(args: &'a RunArgs, steps: Vec<&'a str>) -> Result<Self> {
        let output = args.profiling.output.as_deref();
        Ok(Self { own: own_path()?, common: common(args), steps, output })
    }

    /// Runs the steps, each on whichever device is free, and the first of them on every device. The results are by the
    /// steps' places; after Ctrl-C those that did not end are missing.
    pub(super) fn run(
        &self,
        devices: &mut [RunDevice],
        progress: &Progress,
    ) -> BTreeMap<usize, OfStep> {
        let shared = Mutex::new(Shared::default());
        std::thread::scope(|scope| {
            for device in devices {
                let shared = &shared;
                scope.spawn(move || self.work(device, shared, progress));
            }
        });
        shared.into_inner().unwrap_or_else(PoisonError::into_inner).results
    }

    /// Takes steps until none is left.
    fn work(&self, device: &mut RunDevice, shared: &Mutex<Shared>, progress: &Progress) {
        let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_first = true;
        loop {
            let place = {
                let mut shared = lock();
                // Only one device keeps the first step; the others run it too, to be compared.
                let first_is_taken = is_first && shared.next > 0;
                let place = if first_is_taken { 0 } else { shared.next };
                shared.next += usize::from(!first_is_taken);
                (place < self.steps.len()).then_some((place, first_is_taken))
            };
            let Some((place, is_repeated)) = place else { return };
            let step = self.steps[place];
            progress.stage(format!(
                "{}/{}: {step} on device {}",
                place + 1,
                self.steps.len(),
                device.number
            ));
            let result =
                if is_repeated { self.timed(step, device) } else { self.whole(step, device) };
            let Some(result) = result else { return };
            if is_first {
                device.first_step_ns =
                    result.as_ref().ok().and_then(|(document, _)| time(document));
            }
            if !is_repeated {
                lock().results.insert(place, result);
            }
            is_first = false;
        }
    }

    /// A step as the run wants it; `None` after Ctrl-C.
    fn whole(&self, step: &str, device: &RunDevice) -> Option<OfStep> {
        let folder = self.output.map(|folder| folder.join(step));
        let more = folder.map_or_else(Vec::new, |folder| vec!["-o".into(), folder.into()]);
        self.process(step, device, more)
    }

    /// Only a step's time; what it saves is not kept.
    fn timed(&self, step: &str, device: &RunDevice) -> Option<OfStep> {
        let scratch = match tempfile::tempdir() {
            Ok(scratch) => scratch,
            Err(error) => {
                return Some(Err(Error::io(std::env::temp_dir(), "make a folder in", &error)));
            }
        };
        let folder = scratch.path().join("profile");
        self.process(step, device, vec!["--time-only".into(), "-o".into(), folder.into()])
    }

    fn process(&self, step: &str, device: &RunDevice, more: Vec<OsString>) -> Option<OfStep> {
        let mut args: Vec<OsString> = vec!["--quiet".into(), "__step".into()];
        args.extend(["--kernel".into(), step.into()]);
        args.extend(self.common.iter().cloned());
        args.extend(more);
        let command = NcuCommand { program: self.own.clone(), args, env: Vec::new(), cwd: None };
        // The process keeps the time limits itself, as a run on one device does.
        let ran = match on_device::run(command, Some(&device.uuid), None, "a step") {
            Ok(ran) => ran,
            Err(error) => return Some(Err(error)),
        };
        if interrupt::requested() {
            return None;
        }
        let (ended, out) = ran?;
        let result = ended.and_then(|ended| read(&ended, &out));
        Some(result.map(|(document, unprofiled)| {
            (Document { device: Some(device.uuid.clone()), ..document }, unprofiled)
        }))
    }
}

fn time(document: &Document) -> Option<Timing> {
    document.step.as_ref().map(|step| step.time_ns)
}

/// The arguments that the processes of all steps have.
fn common(args: &RunArgs) -> Vec<OsString> {
    let RunArgs { problem, profiling, .. } = args;
    let ProfilingArgs { ncu, ncu_args, collect, section, metrics, via, timeout, .. } = profiling;
    let mut words: Vec<OsString> = vec!["--ladder".into(), (&problem.ladder).into()];
    let mut option = |name: &str, value: Option<OsString>| {
        if let Some(value) = value {
            let mut word = OsString::from(format!("{name}="));
            word.push(value);
            words.push(word);
        }
    };
    let joined = |names: &[String]| (!names.is_empty()).then(|| names.join(",").into());
    let via = via.to_possible_value().map(|value| value.get_name().into());
    option("--size", problem.size.as_ref().map(Into::into));
    option("--ncu", ncu.as_ref().map(Into::into));
    option("--ncu-args", ncu_args.as_ref().map(Into::into));
    option("--collect", Some(collect.name().into()));
    option("--section", joined(section));
    option("--metrics", joined(metrics));
    option("--via", via);
    option("--timeout", Some(format!("{}s", timeout.as_secs_f64()).into()));
    words.extend(args.cpu.then(|| "--cpu".into()));
    words
}

/// What a step's process said before it ended.
fn read(ended: &Ended, out: &[u8]) -> OfStep {
    // A kernel may print lines of its own.
    let document = out
        .rsplit(|&byte| byte == b'\n')
        .find_map(|line| serde_json::from_slice::<Document>(line).ok());
    let text = String::from_utf8_lossy(&ended.stderr);
    let said = text.trim();
    let said = said.strip_prefix("adoprof: ").unwrap_or(said).to_owned();
    let is = |code: ExitCode| ended.status.code() == Some(code as i32);
    let error = if is(ExitCode::Usage) {
        Some(Error::Usage(said.clone()))
    } else if is(ExitCode::Environment) {
        Some(Error::Environment(said.clone()))
    } else if is(ExitCode::Kernel) {
        Some(Error::Kernel(said.clone()))
    } else {
        None
    };
    match (document, error) {
        (Some(document), None) if ended.status.success() => Ok((document, None)),
        (Some(document), Some(error)) => Ok((document, Some(error))),
        (None, Some(error)) if !said.is_empty() => Err(error),
        // Whatever it was, it did not end in adoprof's own way.
        _ => {
            let last = said.lines().last().map(|line| format!(": {line}")).unwrap_or_default();
            Err(Error::Kernel(format!("the process of this step crashed ({}){last}", ended.status)))
        }
    }
}

#[cfg(all(test, unix))]
#[path = "spread_tests.rs"]
mod tests;
