//! From point to point: each in a process of its own, its result in the journal.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::cli::SweepArgs;
use crate::cmd::shared::point_process::{self, PointProcess};
use crate::cmd::shared::printer::Printer;
use crate::error::Result;
use crate::interrupt;
use crate::sweep::{Journal, Point, PointResult};
use crate::text::{assignments, count_of, hex};

/// A sweep under way.
pub(super) struct Sweep<'a> {
    pub(super) args: &'a SweepArgs,
    pub(super) process: PointProcess<'a>,
    pub(super) journal: Journal,
    pub(super) profiles: PathBuf,
}

impl Sweep<'_> {
    /// All points, as far as they come before Ctrl-C, and whether that ended the walk.
    pub(super) fn walk(
        &mut self,
        points: &[(BTreeMap<String, u64>, Point)],
        printer: &Printer,
    ) -> Result<(Vec<PointResult>, bool)> {
        let progress = printer.progress();
        let mut results = Vec::with_capacity(points.len());
        let mut taken = 0;
        for (place, (size, point)) in points.iter().enumerate() {
            let known = self.journal.find(size, &point.tuning, self.level());
            if let Some(known) = known.filter(|_| !self.args.fresh) {
                // Written otherwise (4K, 4096), it is the same point.
                results.push(PointResult { settings: point.settings.clone(), ..known.clone() });
                taken += 1;
                continue;
            }
            let settings = assignments(&point.settings, ", ");
            progress.stage(format!("{}/{}: {settings}", place + 1, points.len()));
            if interrupt::requested() {
                return Ok((results, true));
            }
            let Some(result) = self.point(size, point)? else { return Ok((results, true)) };
            if let Some(error) = &result.error {
                let first = error.lines().next().unwrap_or_default();
                progress.note(&format!(
                    "adoprof: {}",
                    crate::text::printable(&format!("{settings}: {first}"))
                ));
            }
            self.journal.append(&result)?;
            results.push(result);
        }
        drop(progress);
        if taken > 0 {
            printer.notice(&format!(
                "{} taken from an earlier run; --fresh runs all again",
                count_of(f64::from(taken), "point")
            ));
        }
        Ok((results, false))
    }

    /// Runs a point in a process of its own; `None` after Ctrl-C.
    fn point(&self, size: &BTreeMap<String, u64>, point: &Point) -> Result<Option<PointResult>> {
        let profile = self.args.profile.then(|| self.profiling(size, point)).transpose()?;
        let result = self.process.run(size, point, profile.unwrap_or_default())?;
        Ok(result.map(|result| {
            let level = self.level().filter(|_| !result.metrics.is_empty());
            PointResult { collected: level.map(str::to_owned), ..result }
        }))
    }

    /// How much is collected at each point; `None` without profiles.
    fn level(&self) -> Option<&'static str> {
        self.args.profile.then(|| self.args.collect.name())
    }

    /// The arguments that let a point be profiled.
    fn profiling(&self, size: &BTreeMap<String, u64>, point: &Point) -> Result<Vec<OsString>> {
        let settings = format!("{}{}", assignments(size, ","), point_process::tuning(point)?);
        let folder = free_folder(&self.profiles, &settings);
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
