//! `adoprof sweep`: a step over a grid of settings, each point in a process of its own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::collect;
use super::output::Printer;
use super::step::split;
use crate::cli::SweepArgs;
use crate::error::{Error, ExitCode, Result};
use crate::ladder::{Ladder, Step, parse_overrides};
use crate::launch::Device;
use crate::ncu::process::{Ended, Stderr, stream};
use crate::ncu::{self, Limits, NcuCommand};
use crate::report::{Format, render_sweep};
use crate::sweep::{
    Axis, Identity, Journal, Point, PointReport, PointResult, SweepDocument, grid, journal,
};
use crate::text::count_of;
use crate::{interrupt, nvrtc};

pub fn run(args: &SweepArgs, printer: &Printer) -> Result<ExitCode> {
    if args.form.format == Format::Sarif {
        return Err(Error::Usage(
            "a sweep has no findings and so no SARIF form; use text, json, csv or markdown".into(),
        ));
    }
    let (ladder_argument, step_name) = split(&args.kernel, &args.problem.ladder);
    let ladder = Ladder::open(ladder_argument)?;
    let step = ladder.step(step_name)?;
    let size = parse_overrides(args.problem.size.as_deref().unwrap_or_default())?;
    let axes = args
        .over
        .iter()
        .map(|text| Axis::parse(text, &ladder, step))
        .collect::<Result<Vec<_>>>()?;
    let points = grid::points(&axes, &size)?
        .into_iter()
        .map(|point| Ok((ladder.size(step, &point.size)?, point)))
        .collect::<Result<Vec<_>>>()?;
    let identity = identity(args, &ladder, step)?;
    if args.profile {
        ncu::locate(args.ncu.as_deref())?;
    }
    let path = args
        .output
        .clone()
        .unwrap_or_else(|| journal::default_path(ladder.name(), step.name(), &axes, &size));
    let mut sweep = Sweep {
        args,
        ladder_argument,
        step: step.name(),
        own: std::env::current_exe()
            .map_err(|e| Error::Environment(format!("adoprof does not know its own path: {e}")))?,
        journal: Journal::open(&path, identity.clone())?,
        profiles: path.with_extension("profiles"),
    };
    let damaged = sweep.journal.damaged();
    if damaged > 0 {
        let lines = count_of(damaged as f64, "line");
        printer.notice(&format!("{}: {lines} could not be read and skipped", path.display()));
    }
    let (results, stopped) = sweep.walk(&points, printer)?;
    let mut document = SweepDocument::new(&identity, &axes, results);
    document.file = Some(path.display().to_string());
    document.notices = notices(&document.points);
    for notice in &document.notices {
        printer.notice(notice);
    }
    if !document.points.is_empty() {
        printer.result(|style, out| render_sweep(&document, args.form.format, style, out))?;
    }
    if stopped {
        return Err(Error::Interrupted(format!(
            "interrupted after {} of {} points; the same command goes on from there",
            document.points.len(),
            points.len()
        )));
    }
    Ok(exit_code(&document.points, args.profile))
}

/// What this sweep's points depend on beside their settings.
fn identity(args: &SweepArgs, ladder: &Ladder, step: &Step) -> Result<Identity> {
    // Opened to look, and closed: the points want the device's memory for themselves.
    if !Device::is_present() {
        return Err(Error::Environment(
            "a sweep needs a CUDA device, and there is none here that can be used; `adoprof doctor` \
             says what is missing"
                .to_owned(),
        ));
    }
    let device = Device::open(args.device)?;
    let Some((major, minor)) = nvrtc::version() else {
        return Err(nvrtc::missing());
    };
    Ok(Identity {
        adoprof: env!("CARGO_PKG_VERSION").to_owned(),
        device: device.name.clone(),
        cuda: format!("driver {}, NVRTC {major}.{minor}", device.cuda_version),
        source: ladder.fingerprint(step),
        ladder: ladder.name().to_owned(),
        step: step.name().to_owned(),
    })
}

/// What was noticed at the points, each once.
fn notices(points: &[PointResult]) -> Vec<String> {
    let mut notices: Vec<String> = Vec::new();
    for notice in points.iter().flat_map(|point| &point.notices) {
        if !notices.contains(notice) {
            notices.push(notice.clone());
        }
    }
    notices
}

/// Success where any point ran; the kernel's failure where none did, unless the machine was at
/// fault each time, as it is where profiles were asked for and none came.
fn exit_code(points: &[PointResult], profile: bool) -> ExitCode {
    let environment = Some(ExitCode::Environment as u8);
    if points.iter().all(|point| point.error.is_some()) {
        let all_alike = points.iter().all(|point| point.exit_code == environment);
        return if all_alike { ExitCode::Environment } else { ExitCode::Kernel };
    }
    if profile && points.iter().all(|point| point.metrics.is_empty()) {
        return ExitCode::Environment;
    }
    ExitCode::Success
}

/// A sweep under way.
struct Sweep<'a> {
    args: &'a SweepArgs,
    ladder_argument: &'a str,
    step: &'a str,
    own: PathBuf,
    journal: Journal,
    profiles: PathBuf,
}

impl Sweep<'_> {
    /// All points, as far as they come before Ctrl-C, and whether that ended the walk.
    fn walk(
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
            let settings: Vec<String> =
                point.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let settings = settings.join(", ");
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
        let limits = Limits { timeout: Some(self.args.timeout), interrupted: &interrupted };
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
        self.args.profile.then(|| collect::level(self.args.collect).name())
    }

    fn command(&self, size: &BTreeMap<String, u64>, point: &Point) -> Result<NcuCommand> {
        let tuning = serde_json::to_string(&point.tuning)
            .map_err(|e| Error::Environment(format!("the settings cannot be passed on: {e}")))?;
        let sizes: Vec<String> =
            size.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut args: Vec<OsString> = vec![
            "--quiet".into(),
            "__point".into(),
            "--ladder".into(),
            self.ladder_argument.into(),
            "--kernel".into(),
            self.step.into(),
            "--size".into(),
            sizes.join(",").into(),
            "--tuning".into(),
            tuning.clone().into(),
            "--device".into(),
            self.args.device.to_string().into(),
            "--limit-s".into(),
            self.args.timeout.as_secs().max(1).to_string().into(),
        ];
        if self.args.profile {
            let folder = free_folder(&self.profiles, &format!("{}{tuning}", sizes.join(",")));
            args.extend(["--profile".into(), folder.into()]);
            args.extend(["--collect".into(), collect::level(self.args.collect).name().into()]);
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
fn free_folder(parent: &Path, settings: &str) -> PathBuf {
    let digits = Sha256::digest(settings)
        .iter()
        .take(4)
        .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let first = parent.join(&digits);
    let numbered = (2..).map(|number| parent.join(format!("{digits}_{number}")));
    std::iter::once(first).chain(numbered).find(|folder| !folder.exists()).unwrap_or_default()
}

/// Reads what the process of a point said before it ended.
fn finish(result: &mut PointResult, ended: &Ended, out: &[u8]) {
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;
    use crate::document::Timing;

    fn ended(status: i32, stderr: &str, out: &str) -> PointResult {
        let mut result = PointResult::default();
        let ended =
            Ended { status: ExitStatus::from_raw(status), stderr: stderr.as_bytes().to_vec() };
        finish(&mut result, &ended, out.as_bytes());
        result
    }

    const REPORT: &str = r#"{"verified":true,"max_error":0.0,"time_ns":{"median":7.0,"low":6.0,"high":8.0,"n":10},"rate":null,"metrics":{},"saved":null,"notices":[]}"#;

    #[test]
    fn a_result_is_found_among_what_the_kernel_prints() {
        let result = ended(0, "", &format!("thread 0\n{REPORT}\nthread 1\n"));
        assert_eq!(result.time_ns, Some(Timing { median: 7.0, low: 6.0, high: 8.0, n: 10 }));
        assert!(result.verified && result.error.is_none());
    }

    #[test]
    fn failures_and_crashes_are_told_apart() {
        // An exit code stands in the second byte of the status, a signal in the first.
        let failed = ended(4 << 8, "adoprof: x.cu does not compile:\nline 3\n", "");
        assert_eq!(
            (failed.exit_code, failed.error.as_deref()),
            (Some(4), Some("x.cu does not compile:\nline 3"))
        );
        let crashed = ended(11, "", "");
        assert!(
            crashed.exit_code.is_none() && crashed.error.unwrap().contains("crashed (signal: 11")
        );
        let panicked = ended(101 << 8, "thread main panicked\nat x", REPORT);
        assert!(panicked.exit_code.is_none() && panicked.time_ns.is_none());
        assert!(ended(0, "", "no result").error.is_some());
    }

    #[test]
    fn the_sweep_fails_only_where_every_point_does() {
        let point = |code: Option<u8>| PointResult {
            error: Some("no".to_owned()),
            exit_code: code,
            ..PointResult::default()
        };
        let ran = PointResult::default();
        assert_eq!(exit_code(&[point(Some(4)), ran.clone()], false), ExitCode::Success);
        assert_eq!(exit_code(&[point(Some(4)), point(Some(3))], false), ExitCode::Kernel);
        assert_eq!(exit_code(&[point(Some(2)), point(None)], false), ExitCode::Kernel);
        assert_eq!(exit_code(&[point(Some(3)), point(Some(3))], false), ExitCode::Environment);
        assert_eq!(exit_code(&[ran], true), ExitCode::Environment);
    }

    #[test]
    fn profiles_do_not_overwrite_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let first = free_folder(dir.path(), "N=1");
        std::fs::create_dir(&first).unwrap();
        let second = free_folder(dir.path(), "N=1");
        assert!(first != second && second.display().to_string().ends_with("_2"));
        assert_ne!(free_folder(dir.path(), "N=2"), first);
    }

    fn args(text: &[&str]) -> SweepArgs {
        use clap::Parser;
        let fixed = ["adoprof", "sweep", "--kernel", "i5", "--over", "N=1"];
        match crate::cli::Cli::try_parse_from(fixed.iter().chain(text)).unwrap().command {
            crate::cli::Command::Sweep(args) => args,
            other => panic!("{other:?}"),
        }
    }

    /// Walks over sizes with the stand-in; returns the results and the sizes that were run.
    fn walk(folder: &Path, sizes: &[u64], more: &[&str]) -> (Vec<PointResult>, String) {
        let log = folder.join("log").display().to_string();
        let _ = std::fs::remove_file(&log);
        let args = args(more);
        let points: Vec<(BTreeMap<String, u64>, Point)> = sizes
            .iter()
            .map(|n| (BTreeMap::from([("N".to_owned(), *n)]), Point::default()))
            .collect();
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand_in/point");
        let mut sweep = Sweep {
            args: &args,
            ladder_argument: &log,
            step: "i5",
            own,
            journal: Journal::open(&folder.join("s.jsonl"), Identity::default()).unwrap(),
            profiles: folder.join("s.profiles"),
        };
        let (results, stopped) = sweep.walk(&points, &Printer::new(true, false)).unwrap();
        assert!(!stopped);
        (results, std::fs::read_to_string(&log).unwrap_or_default().replace('\n', " "))
    }

    #[test]
    fn bad_points_do_not_end_a_sweep_and_good_ones_are_not_run_again() {
        let folder = tempfile::tempdir().unwrap();
        let (results, ran) = walk(folder.path(), &[2, 3, 5, 1], &[]);
        assert_eq!(ran, "N=2 N=3 N=5 N=1 ");
        let codes: Vec<_> = results.iter().map(|point| point.exit_code).collect();
        assert_eq!(codes, [Some(4), None, Some(3), None]);
        assert_eq!(results[0].error.as_deref(), Some("x.cu does not compile:\nline 3: no"));
        assert!(results[1].error.as_ref().unwrap().contains("crashed (signal: 11"), "{results:?}");
        assert_eq!(results[3].time_ns.unwrap().median.to_string(), "7");
        assert_eq!(notices(&results), ["noticed"]);
        // What ran, and what does not compile, is known; a crash and a lack are tried again.
        let (again, ran) = walk(folder.path(), &[2, 3, 5, 1, 6], &[]);
        assert_eq!(ran, "N=3 N=5 N=6 ");
        assert_eq!((&again[0], &again[3]), (&results[0], &results[3]));
        let (_, ran) = walk(folder.path(), &[1, 2], &["--fresh"]);
        assert_eq!(ran, "N=1 N=2 ");
    }

    #[test]
    fn a_point_that_hangs_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let (results, _) = walk(folder.path(), &[4, 1], &["--timeout", "0.3s"]);
        assert!(
            results[0].error.as_ref().unwrap().contains("took longer than 300 ms"),
            "{results:?}"
        );
        assert_eq!(results[0].exit_code, Some(3));
        assert!(results[1].error.is_none());
    }
}
