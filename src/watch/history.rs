//! The runs of a watched step: a line for each, kept in a file beside the step's profiles.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::text::{duration, listed};
use crate::timing::Timing;

/// The version of a line's shape.
const SCHEMA: &str = "adoprof-watch/1";

/// A run of the step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The version of a line's shape.
    pub schema: String,
    /// When it ended: date, time, and zone.
    pub time: String,
    /// The files whose change started it; empty for the first run of a watch.
    pub changed: Vec<String>,
    /// The exit code of the step; `None` where a signal ended it.
    pub exit_code: Option<i32>,
    /// The step's time; `None` where it failed.
    pub time_ns: Option<Timing>,
    /// The time of the run that it was compared with.
    pub base_ns: Option<Timing>,
    /// Where its profile lies; `None` where it failed.
    pub saved: Option<String>,
}

impl Run {
    /// A run that has just ended.
    pub(crate) fn new(changed: Vec<String>, exit_code: Option<i32>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            time: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            changed,
            exit_code,
            time_ns: None,
            base_ns: None,
            saved: None,
        }
    }

    /// The run in one line: the time of day, what changed, what came of it.
    pub(crate) fn line(&self) -> String {
        let time = self.time.get(11..19).unwrap_or(&self.time);
        let changed = match self.changed.as_slice() {
            [] => String::new(),
            files => format!("{} changed: ", listed(files.iter().map(String::as_str))),
        };
        let result = match (&self.time_ns, &self.base_ns) {
            (Some(now), Some(base)) => format!("{}, {}", duration(now.median), change(base, now)),
            (Some(now), None) => duration(now.median),
            (None, _) => format!("{}; the last good profile stays", self.failure()),
        };
        format!("{time}  {changed}{result}")
    }

    fn failure(&self) -> &'static str {
        match self.exit_code {
            Some(4) => "the step failed",
            Some(2) => "the step cannot be run as it is written",
            Some(3) => "the machine lacks something or the time was up",
            _ => "the step's process ended without a result",
        }
    }
}

/// How a time compares with the one before. Times whose middle 90% overlap are the same: the difference may be
/// noise.
fn change(base: &Timing, now: &Timing) -> String {
    if now.low <= base.high && base.low <= now.high {
        return "the same within the noise".to_owned();
    }
    let (factor, word) = if now.median < base.median {
        (base.median / now.median, "faster")
    } else {
        (now.median / base.median, "slower")
    };
    format!("{factor:.2}× {word}")
}

/// The runs of this watch, and the file that has those of all.
#[derive(Debug)]
pub(crate) struct History {
    path: PathBuf,
    runs: Vec<Run>,
}

impl History {
    /// The history of a step: `.adoprof/<ladder>/<step>/watch.jsonl`.
    pub(crate) fn of(ladder: &str, step: &str) -> Self {
        let path = Path::new(".adoprof").join(ladder).join(step).join("watch.jsonl");
        Self { path, runs: Vec::new() }
    }

    /// Adds a run to the file.
    ///
    /// # Errors
    /// [`Error::Input`] where the file can't be written.
    pub(crate) fn add(&mut self, run: Run) -> Result<()> {
        let fails = |error: &std::io::Error| Error::io(&self.path, "write", error);
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| fails(&error))?;
        }
        let line = serde_json::to_string(&run)
            .map_err(|error| Error::input(&self.path, format!("cannot be written: {error}")))?;
        let file = std::fs::File::options().create(true).append(true).open(&self.path);
        // In one piece: two watches may write at once.
        file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()))
            .map_err(|error| fails(&error))?;
        self.runs.push(run);
        Ok(())
    }

    /// What the runs of this watch came to, in one sentence; `None` before the first.
    pub(crate) fn summary(&self) -> Option<String> {
        let n = self.runs.len();
        let good: Vec<&Timing> = self.runs.iter().filter_map(|run| run.time_ns.as_ref()).collect();
        let runs = crate::text::count_of(n as f64, "run");
        let came = match good.as_slice() {
            _ if n == 0 => return None,
            [] => "none of them good".to_owned(),
            [only] => duration(only.median),
            [first, .., last] => {
                let of = if good.len() < n {
                    format!("{} of them good: ", good.len())
                } else {
                    String::new()
                };
                let (from, to) = (duration(first.median), duration(last.median));
                format!("{of}{from} → {to}, {}", change(first, last))
            }
        };
        Some(format!("{runs}, {came}; all are in {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(median: f64, spread: f64) -> Timing {
        Timing { median, low: median - spread, high: median + spread, n: 20 }
    }

    fn run(time_ns: Option<Timing>, base_ns: Option<Timing>, exit_code: i32) -> Run {
        let time = "2026-11-22T12:03:11+01:00".to_owned();
        Run { time, time_ns, base_ns, ..Run::new(vec!["v3.cu".to_owned()], Some(exit_code)) }
    }

    #[test]
    fn times_that_overlap_are_the_same() {
        // 95 to 105 beside 104 to 114, then beside 106 to 116.
        assert_eq!(change(&timing(100.0, 5.0), &timing(109.0, 5.0)), "the same within the noise");
        assert_eq!(change(&timing(100.0, 5.0), &timing(111.0, 5.0)), "1.11× slower");
        assert_eq!(change(&timing(300.0, 5.0), &timing(200.0, 5.0)), "1.50× faster");
    }

    #[test]
    fn a_line_says_what_changed_and_what_came_of_it() {
        let (base, now) = (timing(3e6, 1e3), timing(2e6, 1e3));
        let line = run(Some(now), Some(base), 0).line();
        assert_eq!(line, "12:03:11  v3.cu changed: 2.00 ms, 1.50× faster");
        let failed = run(None, Some(base), 4).line();
        assert_eq!(failed, "12:03:11  v3.cu changed: the step failed; the last good profile stays");
        let first = Run { changed: Vec::new(), ..run(Some(now), None, 0) };
        assert_eq!(first.line(), "12:03:11  2.00 ms");
    }

    #[test]
    fn the_file_keeps_every_run_and_the_summary_those_of_this_watch() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/watch.jsonl");
        let open = || History { path: path.clone(), runs: Vec::new() };
        let mut history = open();
        assert_eq!(history.summary(), None);
        let (first, last) = (timing(3e6, 1e3), timing(2e6, 1e3));
        history.add(run(Some(first), None, 0)).unwrap();
        history.add(run(None, Some(first), 4)).unwrap();
        history.add(run(Some(last), Some(first), 0)).unwrap();
        let summary = history.summary().unwrap();
        let begins = "3 runs, 2 of them good: 3.00 ms → 2.00 ms, 1.50× faster; all are in ";
        assert!(summary.starts_with(begins), "{summary}");
        let mut second = open();
        second.add(run(None, None, 2)).unwrap();
        assert!(second.summary().unwrap().starts_with("1 run, none of them good"));
        let text = std::fs::read_to_string(&path).unwrap();
        let read: Vec<Run> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read.len(), 4);
        assert_eq!(read[2], history.runs[2]);
    }
}
