//! The sweep's file: a line of JSON for every finished point, so that an interrupted sweep goes on
//! where it was.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Axis, PointResult};
use crate::error::{Error, ExitCode, Result};
use crate::files;
use crate::ladder::{Overrides, Tuning};
use crate::ncu::Level;
use crate::text::hex;

/// Levels of collection, each holding what the one before it does.
static LEVELS: [&str; 3] = [Level::Quick.name(), Level::Standard.name(), Level::Full.name()];

/// The version of a line's shape.
const SCHEMA: &str = "adoprof-sweep/1";

/// What must agree for an old point to stand for a new one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// adoprof's version.
    pub adoprof: String,
    /// The GPU's name.
    pub device: String,
    /// The CUDA version that the driver supports, and NVRTC's.
    pub cuda: String,
    /// [`crate::ladder::Ladder::fingerprint`] of the step.
    pub source: String,
    /// The ladder's name.
    pub ladder: String,
    /// The step's name.
    pub step: String,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    schema: String,
    run: Identity,
    point: PointResult,
}

/// The file of a sweep, open and locked.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    identity: Identity,
    known: Vec<PointResult>,
    damaged: usize,
    /// True where the file ends inside a line.
    torn: bool,
}

/// The largest sweep that is read, bytes: that of 100,000 points has some 100 MiB.
const MOST_BYTES: u64 = 256 << 20;

/// Where a sweep is kept unless the user says otherwise: the same axes, size and step give the same
/// file, `.adoprof/<ladder>/<step>/sweep-<hash>.jsonl`.
#[must_use]
pub fn default_path(ladder: &str, step: &str, axes: &[Axis], size: &Overrides) -> PathBuf {
    let mut hash = Sha256::new();
    for axis in axes {
        hash.update(format!("{:?}{:?}\0", axis.name, axis.texts()));
    }
    hash.update(format!("{size:?}"));
    let digits = hex(&hash.finalize()[..4]);
    Path::new(".adoprof").join(ladder).join(step).join(format!("sweep-{digits}.jsonl"))
}

impl Journal {
    /// Opens or creates the file and reads the points of the same identity from it.
    ///
    /// # Errors
    /// [`Error::Input`] where the file can't be read or written, or another sweep holds it.
    pub fn open(path: &Path, identity: Identity) -> Result<Self> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|e| Error::io(folder, "create this folder", &e))?;
        }
        let mut file = File::options()
            .create(true)
            .read(true)
            .append(true)
            .open(path)
            .map_err(|e| Error::io(path, "open the sweep's file", &e))?;
        if !files::lock(&file) {
            return Err(Error::input(
                path,
                "another sweep is writing here; wait for it or name another file with -o",
            ));
        }
        let meta = file.metadata().map_err(|e| Error::io(path, "read the sweep's file", &e))?;
        if !meta.is_file() || meta.len() > MOST_BYTES {
            let problem = format!(
                "is not a file of at most {} MiB, so no sweep is kept there; name another file with -o",
                MOST_BYTES >> 20
            );
            return Err(Error::input(path, problem));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| Error::io(path, "read the sweep's file", &e))?;
        let (known, damaged) = read(&bytes, &identity);
        let torn = bytes.last().is_some_and(|&last| last != b'\n');
        Ok(Self { path: path.to_owned(), file, identity, known, damaged, torn })
    }

    /// Lines that could not be read and were skipped.
    #[must_use]
    pub fn damaged(&self) -> usize {
        self.damaged
    }

    /// The newest result of a point, where that need not be tried again: it ran (and was profiled,
    /// at the level that is asked for or a higher one), or it failed for a reason of its own.
    #[must_use]
    pub fn find(
        &self,
        size: &Overrides,
        tuning: &Tuning,
        level: Option<&str>,
    ) -> Option<&PointResult> {
        let newest =
            self.known.iter().rev().find(|point| point.size == *size && point.tuning == *tuning)?;
        let settled = match newest.error {
            None => newest.time_ns.is_some() && level.is_none_or(|level| has_level(newest, level)),
            // What the machine lacked then may be there now; a crash and a time limit may be chance.
            Some(_) => newest.exit_code.is_some_and(|code| code != ExitCode::Environment as u8),
        };
        settled.then_some(newest)
    }

    /// The newest result of a point, settled or not.
    #[must_use]
    pub fn newest(&self, size: &Overrides, tuning: &Tuning) -> Option<&PointResult> {
        self.known.iter().rev().find(|point| point.size == *size && point.tuning == *tuning)
    }

    /// Adds the points of another file that are not here yet and depend on the same.
    ///
    /// # Errors
    /// [`Error::Input`] where that file can't be read or this one not be written.
    pub fn add(&mut self, other: &Path) -> Result<()> {
        let bytes = files::read(other, MOST_BYTES).map_err(|e| Error::io(other, "read", &e))?;
        let (points, _) = read(&bytes, &self.identity);
        for point in points {
            if !self.known.contains(&point) {
                self.append(&point)?;
            }
        }
        Ok(())
    }

    /// Adds a point: one line, written at once.
    ///
    /// # Errors
    /// [`Error::Input`] where the file can't be written.
    pub fn append(&mut self, point: &PointResult) -> Result<()> {
        let line =
            Line { schema: SCHEMA.to_owned(), run: self.identity.clone(), point: point.clone() };
        let mut text = serde_json::to_string(&line)
            .map_err(|e| Error::input(&self.path, format!("a point cannot be written: {e}")))?;
        // What a run that died left of its last line stays a line of its own.
        if self.torn {
            text.insert(0, '\n');
        }
        text.push('\n');
        self.file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.sync_data())
            .map_err(|e| Error::io(&self.path, "write the sweep's file", &e))?;
        self.torn = false;
        self.known.push(line.point);
        Ok(())
    }
}

/// What the newest point of a file depends on, of those that fit; `None` where there is none, or no file.
///
/// # Errors
/// [`Error::Input`] where the file can't be read.
pub fn newest_identity(path: &Path, fits: impl Fn(&Identity) -> bool) -> Result<Option<Identity>> {
    let bytes = match files::read(path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(path, "read", &error)),
    };
    let lines = bytes.split(|&byte| byte == b'\n').rev();
    let mut lines = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok());
    Ok(lines.find(|line| line.schema == SCHEMA && fits(&line.run)).map(|line| line.run))
}

/// True where a point was profiled at this level or a higher one. A file from before levels could be
/// chosen names none: those profiles are quick.
fn has_level(point: &PointResult, wanted: &str) -> bool {
    let rank = |name: &str| LEVELS.iter().position(|level| *level == name);
    let collected = point.collected.as_deref().unwrap_or(Level::Quick.name());
    !point.metrics.is_empty() && rank(collected) >= rank(wanted)
}

/// The points of an identity, in the file's order, and how many lines are no points at all.
fn read(bytes: &[u8], identity: &Identity) -> (Vec<PointResult>, usize) {
    let mut damaged = 0;
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let points = lines
        .filter_map(|line| match serde_json::from_slice::<Line>(line) {
            Ok(line) if line.schema == SCHEMA => (line.run == *identity).then_some(line.point),
            _ => {
                damaged += 1;
                None
            }
        })
        .collect();
    (points, damaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::parse_overrides;
    use crate::timing::Timing;

    fn identity() -> Identity {
        Identity { device: "H200".to_owned(), source: "00ff".to_owned(), ..Identity::default() }
    }

    fn size(n: u64) -> Overrides {
        parse_overrides(&format!("N={n}")).unwrap()
    }

    fn ran(n: u64, ns: f64) -> PointResult {
        PointResult {
            size: size(n),
            time_ns: Some(Timing { median: ns, low: ns, high: ns, n: 10 }),
            ..PointResult::default()
        }
    }

    fn failed(n: u64, exit_code: Option<u8>) -> PointResult {
        PointResult { size: size(n), error: Some("no".to_owned()), exit_code, ..ran(n, 0.0) }
    }

    fn median(journal: &Journal, n: u64) -> Option<f64> {
        journal.find(&size(n), &Tuning::default(), None)?.time_ns.map(|time| time.median)
    }

    #[test]
    fn finished_points_are_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.jsonl");
        let mut journal = Journal::open(&path, identity()).unwrap();
        journal.append(&ran(1, 5.5)).unwrap();
        journal.append(&ran(2, 7.0)).unwrap();
        journal.append(&ran(1, 6.25)).unwrap();
        drop(journal);
        let journal = Journal::open(&path, identity()).unwrap();
        // The newest line of a point counts.
        assert_eq!((median(&journal, 1), median(&journal, 2)), (Some(6.25), Some(7.0)));
        assert_eq!((median(&journal, 3), journal.damaged()), (None, 0));
        let other = Tuning { block: Some(32), ..Tuning::default() };
        assert!(journal.find(&size(1), &other, None).is_none());
        assert!(
            journal.find(&size(1), &Tuning::default(), Some("quick")).is_none(),
            "never profiled"
        );
    }

    #[test]
    fn a_profile_stands_for_those_of_its_level_and_below() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(&dir.path().join("s.jsonl"), identity()).unwrap();
        let metrics = [("lts__t_sectors.sum".to_owned(), 1.0)];
        let profiled = |n, level: Option<&str>| PointResult {
            metrics: metrics.clone().into(),
            collected: level.map(str::to_owned),
            ..ran(n, 5.0)
        };
        journal.append(&profiled(1, Some("standard"))).unwrap();
        journal.append(&profiled(2, None)).unwrap();
        let found = |n, level| journal.find(&size(n), &Tuning::default(), Some(level)).is_some();
        assert!(found(1, "quick") && found(1, "standard") && !found(1, "full"));
        // Files from before levels could be chosen hold quick profiles.
        assert!(found(2, "quick") && !found(2, "standard"));
    }

    #[test]
    fn another_device_version_or_source_starts_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        Journal::open(&path, identity()).unwrap().append(&ran(1, 5.0)).unwrap();
        for other in [
            Identity { device: "A100".to_owned(), ..identity() },
            Identity { source: "ff00".to_owned(), ..identity() },
            Identity { adoprof: "9".to_owned(), ..identity() },
            Identity { step: "v9".to_owned(), ..identity() },
        ] {
            assert_eq!(median(&Journal::open(&path, other).unwrap(), 1), None);
        }
    }

    #[test]
    fn only_failures_of_the_point_itself_are_final() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(&dir.path().join("s.jsonl"), identity()).unwrap();
        for (n, code) in [(1, Some(4)), (2, Some(2)), (3, Some(3)), (4, None)] {
            journal.append(&failed(n, code)).unwrap();
        }
        let found = [1, 2, 3, 4]
            .map(|n| journal.find(&size(n), &Tuning::default(), Some("quick")).is_some());
        assert_eq!(found, [true, true, false, false]);
    }

    #[test]
    fn damaged_lines_are_skipped_and_a_torn_end_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        Journal::open(&path, identity()).unwrap().append(&ran(1, 5.0)).unwrap();
        let good = std::fs::read(&path).unwrap();
        let mut bytes = b"\xff\xfe nonsense\n{\"schema\":\"other/7\"}\n\n".to_vec();
        bytes.extend(&good);
        bytes.extend(&good[..good.len() / 2]);
        std::fs::write(&path, bytes).unwrap();
        let mut journal = Journal::open(&path, identity()).unwrap();
        assert_eq!((journal.damaged(), median(&journal, 1)), (3, Some(5.0)));
        journal.append(&ran(2, 8.0)).unwrap();
        drop(journal);
        let journal = Journal::open(&path, identity()).unwrap();
        assert_eq!((journal.damaged(), median(&journal, 2)), (3, Some(8.0)));
    }

    #[test]
    fn two_sweeps_at_once_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let _first = Journal::open(&path, identity()).unwrap();
        let error = Journal::open(&path, identity()).unwrap_err().to_string();
        assert!(error.contains("another sweep is writing here"), "{error}");
    }

    #[test]
    fn the_default_file_follows_the_axes() {
        use crate::ladder::Ladder;
        let ladder = Ladder::builtin("increment").unwrap();
        let step = ladder.step("i5").unwrap();
        let path = |over: &str, n| {
            default_path("increment", "i5", &[Axis::parse(over, &ladder, step).unwrap()], &size(n))
        };
        assert_eq!(path("BLOCK=1,2", 1), path("BLOCK=1,2", 1));
        assert_ne!(path("BLOCK=1,2", 1), path("BLOCK=1,3", 1));
        assert_ne!(path("BLOCK=1,2", 1), path("BLOCK=1,2", 2));
        let path = path("BLOCK=1", 1);
        assert_eq!(path.parent(), Some(Path::new(".adoprof/increment/i5")));
        assert!(path.extension().is_some_and(|extension| extension == "jsonl"));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(0_u8.., 0..200)) {
            let (points, _) = read(&bytes, &identity());
            proptest::prop_assert!(points.is_empty());
        }
    }

    #[test]
    fn parts_are_added_once_and_only_where_they_depend_on_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let part = |name: &str, identity: Identity, n: u64| {
            Journal::open(&path(name), identity).unwrap().append(&ran(n, 7.0)).unwrap();
        };
        assert_eq!(newest_identity(&path("a"), |_| true).unwrap(), None);
        part("a", identity(), 1);
        part("b", Identity { device: "A100".to_owned(), ..identity() }, 2);
        assert_eq!(newest_identity(&path("a"), |_| true).unwrap(), Some(identity()));
        assert_eq!(newest_identity(&path("a"), |known| known.device == "A100").unwrap(), None);
        for _ in 0..2 {
            let mut whole = Journal::open(&path("whole"), identity()).unwrap();
            whole.add(&path("a")).unwrap();
            whole.add(&path("b")).unwrap();
            assert!(whole.find(&size(1), &Tuning::default(), None).is_some());
            assert!(whole.newest(&size(2), &Tuning::default()).is_none());
        }
        let text = std::fs::read_to_string(path("whole")).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}
