//! From point to point: each in a process of its own, its result in the journal.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::cli::SweepArgs;
use crate::cmd::shared::point_process::{self, PointProcess};
use crate::cmd::shared::printer::Printer;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::progress::Progress;
use crate::sweep::{Journal, Point, PointResult, SweepDevice};
use crate::text::{assignments, count_of, hex};
use crate::timing::Timing;

/// A sweep under way.
pub(super) struct Sweep<'a> {
    pub(super) args: &'a SweepArgs,
    pub(super) process: PointProcess<'a>,
    pub(super) journal: Journal,
    pub(super) profiles: PathBuf,
}

/// A point with the parameters that it comes to.
type Place = (BTreeMap<String, u64>, Point);

/// What the workers of several devices share.
struct Shared<'a> {
    journal: &'a mut Journal,
    /// Places of the points that nobody has taken, the last one first.
    open: Vec<usize>,
    results: BTreeMap<usize, PointResult>,
    /// What ends the walk early.
    failed: Option<Error>,
    stopped: bool,
}

impl Sweep<'_> {
    /// All points, as far as they come before Ctrl-C, and whether that ended the walk. They are spread over the devices,
    /// if any are named, and the first that is not known runs on each of them.
    pub(super) fn walk(
        &mut self,
        points: &[Place],
        devices: &mut [SweepDevice],
        printer: &Printer,
    ) -> Result<(Vec<PointResult>, bool)> {
        let progress = printer.progress();
        let (fresh, level) = (self.args.fresh, self.level());
        let mut results = BTreeMap::new();
        for (place, (size, point)) in points.iter().enumerate() {
            if let Some(known) = self.journal.find(size, &point.tuning, level).filter(|_| !fresh) {
                // Written otherwise (4K, 4096), it is the same point.
                results.insert(
                    place,
                    PointResult { settings: point.settings.clone(), ..known.clone() },
                );
            }
        }
        let taken = results.len();
        let open: Vec<usize> =
            (0..points.len()).rev().filter(|place| !results.contains_key(place)).collect();
        let first = open.last().copied();
        let Self { args, process, journal, profiles } = self;
        let on = Workshop { args, profiles, points, progress: &progress };
        let shared = Mutex::new(Shared { journal, open, results, failed: None, stopped: false });
        match devices {
            [] => on.work(process, &shared),
            devices => std::thread::scope(|scope| {
                for device in devices {
                    let (on, shared) = (&on, &shared);
                    let uuid = Some(device.uuid.clone());
                    let process = PointProcess { uuid, ..process.clone() };
                    scope.spawn(move || {
                        device.first_point_ns = on.first(&process, first, shared);
                        on.work(&process, shared);
                    });
                }
            }),
        }
        drop(progress);
        let Shared { results, failed, stopped, .. } =
            shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = failed {
            return Err(error);
        }
        if taken > 0 && !stopped {
            printer.notice(&format!(
                "{} taken from an earlier run; --fresh runs them again",
                count_of(taken as f64, "point")
            ));
        }
        Ok((results.into_values().collect(), stopped))
    }

    /// How much is collected at each point; `None` without profiles.
    fn level(&self) -> Option<&'static str> {
        level(self.args)
    }
}

fn level(args: &SweepArgs) -> Option<&'static str> {
    args.profile.then(|| args.collect.name())
}

/// What every worker has.
struct Workshop<'a> {
    args: &'a SweepArgs,
    profiles: &'a Path,
    points: &'a [Place],
    progress: &'a Progress,
}

impl Workshop<'_> {
    /// Runs points until none is left, or something ends the walk.
    fn work(&self, process: &PointProcess<'_>, shared: &Mutex<Shared<'_>>) {
        let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let place = {
                let mut shared = lock();
                shared.stopped |= interrupt::requested() && !shared.open.is_empty();
                if shared.stopped || shared.failed.is_some() {
                    return;
                }
                shared.open.pop()
            };
            let Some((place, (size, point))) =
                place.and_then(|at| Some((at, self.points.get(at)?)))
            else {
                return;
            };
            let settings = assignments(&point.settings, ", ");
            self.progress.stage(format!("{}/{}: {settings}", place + 1, self.points.len()));
            let result = self.point(process, size, point);
            let mut shared = lock();
            match result {
                Ok(Some(result)) => {
                    if let Some(error) = &result.error {
                        let first = error.lines().next().unwrap_or_default();
                        let text = crate::text::printable(&format!("{settings}: {first}"));
                        self.progress.note(&format!("adoprof: {text}"));
                    }
                    match shared.journal.append(&result) {
                        Ok(()) => drop(shared.results.insert(place, result)),
                        Err(error) => shared.failed = Some(error),
                    }
                }
                Ok(None) => shared.stopped = true,
                Err(error) => shared.failed = Some(error),
            }
        }
    }

    /// The time of the first open point on one of several devices. The worker that gets to it first keeps its result.
    fn first(
        &self,
        process: &PointProcess<'_>,
        first: Option<usize>,
        shared: &Mutex<Shared<'_>>,
    ) -> Option<Timing> {
        let place = first?;
        let (size, point) = self.points.get(place)?;
        // Without a profile: this is about the device's speed.
        let result = process.run(size, point, Vec::new()).ok().flatten()?;
        let time = result.time_ns;
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = shared.open.last() == Some(&place);
        if is_open && !self.args.profile && time.is_some() {
            shared.open.pop();
            match shared.journal.append(&result) {
                Ok(()) => drop(shared.results.insert(place, result)),
                Err(error) => shared.failed = Some(error),
            }
        }
        time
    }

    /// Runs a point in a process of its own; `None` after Ctrl-C.
    fn point(
        &self,
        process: &PointProcess<'_>,
        size: &BTreeMap<String, u64>,
        point: &Point,
    ) -> Result<Option<PointResult>> {
        let profile =
            self.args.profile.then(|| self.profiling(process, size, point)).transpose()?;
        let result = process.run(size, point, profile.unwrap_or_default())?;
        Ok(result.map(|result| {
            let level = level(self.args).filter(|_| !result.metrics.is_empty());
            PointResult { collected: level.map(str::to_owned), ..result }
        }))
    }
    /// The arguments that let a point be profiled.
    fn profiling(
        &self,
        process: &PointProcess<'_>,
        size: &BTreeMap<String, u64>,
        point: &Point,
    ) -> Result<Vec<OsString>> {
        let settings = format!("{}{}", assignments(size, ","), point_process::tuning(point)?);
        let device = process.uuid.as_deref().unwrap_or_default();
        let folder = free_folder(self.profiles, &format!("{settings}{device}"));
        let mut args: Vec<OsString> = vec!["--profile".into(), folder.into()];
        args.extend(["--collect".into(), self.args.collect.name().into()]);
        if let Some(ncu) = &self.args.ncu {
            args.extend(["--ncu".into(), ncu.into()]);
        }
        if let Some(more) = &self.args.ncu_args {
            args.push(format!("--ncu-args={more}").into());
        }
        Ok(args)
    }
}

/// A folder for a point's profile: named after its settings, with a number behind it where an
/// earlier run left one.
pub(super) fn free_folder(parent: &Path, settings: &str) -> PathBuf {
    let digits = hex(&Sha256::digest(settings)[..4]);
    let first = parent.join(&digits);
    let numbered = (2..).map(|number| parent.join(format!("{digits}_{number}")));
    std::iter::once(first).chain(numbered).find(|folder| !folder.exists()).unwrap_or_default()
}
