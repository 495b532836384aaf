//! A step with other settings, timed in a process of its own: a kernel that faults takes the CUDA context
//! with it, and whoever asked goes on without that process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::live_step::own_path;
use super::on_device;
use crate::error::{Error, ExitCode, Result};
use crate::ncu::NcuCommand;
use crate::ncu::process::Ended;
use crate::sweep::{Point, PointReport, PointResult};
use crate::text::assignments;

/// What the points of one step have in common.
#[derive(Debug, Clone)]
pub(crate) struct PointProcess<'a> {
    /// This program.
    pub own: PathBuf,
    /// The ladder as the user named it.
    pub ladder_argument: &'a str,
    /// The step's name.
    pub step: &'a str,
    /// Number of the device.
    pub device: usize,
    /// Instead of the number the device's UUID, where several are in use at once.
    pub uuid: Option<String>,
    /// The longest that a point may take.
    pub timeout: Duration,
}

impl<'a> PointProcess<'a> {
    /// A step's.
    ///
    /// # Errors
    /// [`Error::Environment`] where this program does not know its own path.
    pub(crate) fn new(
        ladder_argument: &'a str,
        step: &'a str,
        device: usize,
        timeout: Duration,
    ) -> Result<Self> {
        Ok(Self { own: own_path()?, ladder_argument, step, device, uuid: None, timeout })
    }

    /// Verifies and times a point; `None` after Ctrl-C. What goes wrong with the point itself stands in
    /// its result.
    ///
    /// # Errors
    /// Where the process can't be started.
    pub(crate) fn run(
        &self,
        size: &BTreeMap<String, u64>,
        point: &Point,
        more: Vec<OsString>,
    ) -> Result<Option<PointResult>> {
        let command = self.command(size, point, more)?;
        let uuid = self.uuid.as_deref();
        let Some((ended, out)) = on_device::run(command, uuid, Some(self.timeout), "a point")?
        else {
            return Ok(None);
        };
        let mut result = PointResult {
            settings: point.settings.clone(),
            size: size.clone(),
            tuning: point.tuning.clone(),
            device: self.uuid.clone(),
            ..PointResult::default()
        };
        match ended {
            Ok(ended) => finish(&mut result, &ended, &out),
            Err(error @ Error::Interrupted(_)) => {
                result.exit_code = Some(error.exit_code() as u8);
                result.error = Some(error.to_string());
            }
            Err(error) => return Err(error),
        }
        Ok(Some(result))
    }

    fn command(
        &self,
        size: &BTreeMap<String, u64>,
        point: &Point,
        more: Vec<OsString>,
    ) -> Result<NcuCommand> {
        let mut args: Vec<OsString> = vec![
            "--quiet".into(),
            "__point".into(),
            "--ladder".into(),
            self.ladder_argument.into(),
            "--kernel".into(),
            self.step.into(),
            "--size".into(),
            assignments(size, ",").into(),
            "--tuning".into(),
            tuning(point)?.into(),
            "--device".into(),
            // The only one that the process sees has the number 0 there.
            if self.uuid.is_some() { 0 } else { self.device }.to_string().into(),
            "--limit-s".into(),
            self.timeout.as_secs().max(1).to_string().into(),
        ];
        args.extend(more);
        Ok(NcuCommand { program: self.own.clone(), args, env: Vec::new(), cwd: None })
    }
}

/// A point's tunables, flags, block and carve-out as its process takes them.
///
/// # Errors
/// [`Error::Environment`] where they can't be written down.
pub(crate) fn tuning(point: &Point) -> Result<String> {
    serde_json::to_string(&point.tuning)
        .map_err(|e| Error::Environment(format!("the settings cannot be passed on: {e}")))
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
    use crate::timing::Timing;

    fn ended(status: i32, stderr: &str, out: &str) -> PointResult {
        let mut result = PointResult::default();
        let ended = Ended {
            status: ExitStatus::from_raw(status),
            stderr: stderr.as_bytes().to_vec(),
            stopped: None,
        };
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
}
