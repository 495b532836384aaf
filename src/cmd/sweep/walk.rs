//! From point to point: each in a process of its own, its result in the journal.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::cli::SweepArgs;
use crate::cmd::shared::printer::Printer;
use crate::error::{Error, ExitCode, Result};
use crate::interrupt;
use crate::ncu::process::{Ended, Stderr, stream};
use crate::ncu::{Limits, NcuCommand};
use crate::sweep::{Journal, Point, PointReport, PointResult};
use crate::text::{assignments, count_of, hex};

/// A sweep under way.
pub(super) struct Sweep<'a> {
    pub(super) args: &'a SweepArgs,
    pub(super) ladder_argument: &'a str,
    pub(super) step: &'a str,
    pub(super) own: PathBuf,
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
        let command = self.command(size, point)?;
        let interrupted = interrupt::flag();
        let limits = Limits {
            timeout: Some(self.args.timeout),
            interrupted: &interrupted,
            write_up: std::time::Duration::ZERO,
        };
        let mut out = Vec::new();
        let ended = stream(&command, Stderr::Apart, limits, "a point", |piece| {
            out.extend_from_slice(piece);
        });
        if interrupt::requested() {
            return Ok(None);
        }
        let mut result = PointResult {
            settings: point.settings.clone(),
            size: size.clone(),
            tuning: point.tuning.clone(),
            ..PointResult::default()
        };
        match ended {
            Ok(ended) => {
                finish(&mut result, &ended, &out);
                let level = self.level().filter(|_| !result.metrics.is_empty());
                result.collected = level.map(str::to_owned);
            }
            Err(error @ Error::Interrupted(_)) => {
                result.exit_code = Some(error.exit_code() as u8);
                result.error = Some(error.to_string());
            }
            Err(error) => return Err(error),
        }
        Ok(Some(result))
    }

    /// How much is collected at each point; `None` without profiles.
    fn level(&self) -> Option<&'static str> {
        self.args.profile.then(|| self.args.collect.name())
    }

    fn command(&self, size: &BTreeMap<String, u64>, point: &Point) -> Result<NcuCommand> {
        let tuning = serde_json::to_string(&point.tuning)
            .map_err(|e| Error::Environment(format!("the settings cannot be passed on: {e}")))?;
        let size = assignments(size, ",");
        let mut args: Vec<OsString> = vec![
            "--quiet".into(),
            "__point".into(),
            "--ladder".into(),
            self.ladder_argument.into(),
            "--kernel".into(),
            self.step.into(),
            "--size".into(),
            size.clone().into(),
            "--tuning".into(),
            tuning.clone().into(),
            "--device".into(),
            self.args.device.to_string().into(),
            "--limit-s".into(),
            self.args.timeout.as_secs().max(1).to_string().into(),
        ];
        if self.args.profile {
            let folder = free_folder(&self.profiles, &format!("{size}{tuning}"));
            args.extend(["--profile".into(), folder.into()]);
            args.extend(["--collect".into(), self.args.collect.name().into()]);
            if let Some(ncu) = &self.args.ncu {
                args.extend(["--ncu".into(), ncu.into()]);
            }
            if let Some(more) = &self.args.ncu_args {
                args.push(format!("--ncu-args={more}").into());
            }
        }
        Ok(NcuCommand { program: self.own.clone(), args, env: Vec::new(), cwd: None })
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

/// Reads what the process of a point said before it ended.
pub(super) fn finish(result: &mut PointResult, ended: &Ended, out: &[u8]) {
    // A kernel may print lines of its own.
    let report = out
        .rsplit(|&byte| byte == b'\n')
        .find_map(|line| serde_json::from_slice::<PointReport>(line).ok());
    if let (true, Some(report)) = (ended.status.success(), report) {
        result.verified = report.verified;
        result.max_error = report.max_error;
        result.time_ns = Some(report.time_ns);
        result.rate = report.rate;
        result.metrics = report.metrics;
        result.saved = report.saved;
        result.notices = report.notices;
        return;
    }
    let text = String::from_utf8_lossy(&ended.stderr);
    let said = text.trim();
    let said = said.strip_prefix("adoprof: ").unwrap_or(said);
    result.exit_code = ended.status.code().and_then(|code| u8::try_from(code).ok());
    let own = [ExitCode::Usage, ExitCode::Environment, ExitCode::Kernel];
    if own.iter().any(|code| result.exit_code == Some(*code as u8)) && !said.is_empty() {
        result.error = Some(said.to_owned());
        return;
    }
    // Whatever it was, it did not end in adoprof's own way.
    result.exit_code = None;
    let last = said.lines().last().map(|line| format!(": {line}")).unwrap_or_default();
    result.error = Some(format!("the process of this point crashed ({}){last}", ended.status));
}
