//! The ledger's file: lines added whole or not at all, and read whatever is in it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::entry::{LEDGER_SCHEMA, Line};
use crate::error::{Error, Result};
use crate::files::{self, write_atomically};
use crate::store::is_same_file;

/// The ledger under the current folder.
pub(crate) const FILE: &str = ".adoprof/ledger.jsonl";
/// A larger file is made smaller when it is written: hints that nothing was measured of go first,
/// the oldest of them first. 8 MiB are some 16,000 hints.
pub(crate) const MOST_BYTES: u64 = 8 << 20;
/// A file so large was not written by adoprof and is not read.
const FOREIGN_BYTES: u64 = 8 * MOST_BYTES;
/// How long another run's writing is waited for; it takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a ledger's file holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Contents {
    /// Its lines, in their order.
    pub lines: Vec<Line>,
    /// How many lines are none of adoprof's.
    pub foreign: usize,
    /// The number of the first of these, from 1; 0 where there is none.
    pub first_foreign: usize,
}

/// Understands a ledger's text. Lines that are no hint and no outcome are counted and left alone.
#[must_use]
pub(crate) fn parse(bytes: &[u8]) -> Contents {
    let mut contents = Contents::default();
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if let Some(line) = understand(line) {
            contents.lines.push(line);
            continue;
        }
        contents.foreign += 1;
        if contents.first_foreign == 0 {
            contents.first_foreign = index + 1;
        }
    }
    contents
}

fn understand(line: &[u8]) -> Option<Line> {
    // Most of what is none can be told by its first character.
    line.trim_ascii_start().starts_with(b"{").then_some(())?;
    let line: Line = serde_json::from_slice(line).ok()?;
    let schema = match &line {
        Line::Hint(hint) => &hint.schema,
        Line::Outcome(outcome) => &outcome.schema,
    };
    (schema == LEDGER_SCHEMA).then_some(line)
}

/// Lines as they stand in the file.
///
/// # Errors
/// [`Error::Input`] where a line cannot be written as JSON.
pub(crate) fn text(lines: &[Line]) -> Result<String> {
    let mut text = String::new();
    for line in lines {
        text += &serde_json::to_string(line)
            .map_err(|e| Error::input(FILE, format!("an entry cannot be written: {e}")))?;
        text.push('\n');
    }
    Ok(text)
}

/// Reads a ledger; one that is not there is empty.
///
/// # Errors
/// [`Error::Input`] where it is there and cannot be read, or cannot be a ledger.
pub(crate) fn read(path: &Path) -> Result<Contents> {
    let meta = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Contents::default()),
        Err(e) => return Err(Error::io(path, "read the ledger", &e)),
    };
    plausible(path, &meta)?;
    let bytes =
        files::read(path, FOREIGN_BYTES).map_err(|e| Error::io(path, "read the ledger", &e))?;
    Ok(parse(&bytes))
}

fn plausible(path: &Path, meta: &std::fs::Metadata) -> Result<()> {
    // A link may lead to any file of the user's, and lines would be added to that.
    if !meta.is_file() {
        let problem =
            "is not a regular file (a symbolic link is none), so no ledger is kept; remove it";
        return Err(Error::input(path, problem));
    }
    if meta.len() > FOREIGN_BYTES {
        return Err(Error::input(
            path,
            format!(
                "has {} MiB, which is more than adoprof lets its ledger grow, and was not read; \
                 move it away",
                meta.len() >> 20
            ),
        ));
    }
    Ok(())
}

/// Adds lines at the end, all or none of them. Gives the number of hints that had to go because the
/// file had grown too large.
///
/// # Errors
/// [`Error::Input`] where the file cannot be written; then it is as it was.
pub(crate) fn append(path: &Path, lines: &[Line]) -> Result<usize> {
    if lines.is_empty() {
        return Ok(0);
    }
    let mut text = text(lines)?;
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent)
            .map_err(|e| Error::io(parent, "keep the ledger here", &e))?;
    }
    if let Ok(meta) = std::fs::symlink_metadata(path) {
        plausible(path, &meta)?;
    }
    let mut file = lock(path)?;
    let failed = |e: std::io::Error| Error::io(path, "write the ledger", &e);
    let before = file.metadata().map_err(failed)?.len();
    if before > 0 {
        // Whatever was cut short before ends here.
        file.seek(SeekFrom::End(-1)).map_err(failed)?;
        let mut last = [0];
        file.read_exact(&mut last).map_err(failed)?;
        if last != *b"\n" {
            text.insert(0, '\n');
        }
    }
    if let Err(e) = file.write_all(text.as_bytes()).and_then(|()| file.flush()) {
        // A full disk: no half line is left.
        let _ = file.set_len(before);
        return Err(failed(e));
    }
    if before + text.len() as u64 > MOST_BYTES { shrink(path) } else { Ok(0) }
}

/// Opens the ledger and locks it: for its holder alone, and never a file that has been replaced
/// meanwhile.
fn lock(path: &Path) -> Result<File> {
    let until = Instant::now() + PATIENCE;
    loop {
        let file = File::options()
            .create(true)
            .append(true)
            .read(true)
            .open(path)
            .map_err(|e| Error::io(path, "write the ledger", &e))?;
        if file.try_lock().is_ok() && is_same_file(&file, path) {
            return Ok(file);
        }
        if Instant::now() > until {
            return Err(Error::input(
                path,
                "another adoprof run is writing the ledger; this run's hints were not added to it",
            ));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Rewrites a ledger that has grown too large, while the caller holds its lock.
fn shrink(path: &Path) -> Result<usize> {
    let bytes =
        files::read(path, 2 * FOREIGN_BYTES).map_err(|e| Error::io(path, "read the ledger", &e))?;
    let (kept, gone) = shrunk(&bytes, MOST_BYTES / 2);
    write_atomically(path, &kept)?;
    Ok(gone)
}

/// A ledger's text in at most so many bytes where that can be: hints that nothing was measured of go
/// first, then those that something was, with their outcomes, the oldest first. Lines that are none
/// of adoprof's stay.
fn shrunk(bytes: &[u8], most: u64) -> (Vec<u8>, usize) {
    let raw = || bytes.split(|&byte| byte == b'\n').filter(|raw| !raw.is_empty()).enumerate();
    // A foreign file has millions of lines that are none, which take no place here.
    let lines: Vec<(usize, u64, Line)> =
        raw().filter_map(|(at, raw)| Some((at, raw.len() as u64 + 1, understand(raw)?))).collect();
    let measured: HashSet<&str> = lines
        .iter()
        .filter_map(|(_, _, line)| match line {
            Line::Outcome(outcome) => Some(outcome.of.as_str()),
            Line::Hint(_) => None,
        })
        .collect();
    let mut left: u64 = raw().map(|(_, raw)| raw.len() as u64 + 1).sum();
    let mut going: HashSet<&str> = HashSet::new();
    for of_measured in [false, true] {
        for (_, size, line) in &lines {
            let Line::Hint(hint) = line else { continue };
            if left > most && measured.contains(hint.id.as_str()) == of_measured {
                left -= size;
                going.insert(&hint.id);
            }
        }
    }
    let goes = |line: &Line| match line {
        Line::Hint(hint) => going.contains(hint.id.as_str()),
        Line::Outcome(outcome) => going.contains(outcome.of.as_str()),
    };
    let mut gone = lines.iter().filter(|(_, _, line)| goes(line)).map(|(at, _, _)| *at).peekable();
    let mut kept = Vec::with_capacity(bytes.len());
    for (at, raw) in raw() {
        if gone.next_if_eq(&at).is_none() {
            kept.extend_from_slice(raw);
            kept.push(b'\n');
        }
    }
    (kept, going.len())
}

/// The ledger of the current folder.
#[must_use]
pub(crate) fn here() -> PathBuf {
    PathBuf::from(FILE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::finding::Estimate;
    use crate::ledger::tests::{hint, outcome};

    fn sizes(lines: &[Line]) -> u64 {
        text(lines).unwrap().len() as u64
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            step in ".*", rule in "[a-z-]{1,20}", kernel in ".*",
            sixty_fourths in 64..1_000_000_u32, gain in 1..100_000_u32, counts: bool,
        ) {
            // Numbers that decimals hold exactly: others may be off by their last bit.
            let factor = f64::from(sixty_fourths) / 64.0;
            let mut hint = hint(&step, &rule, 2.0);
            hint.kernel = kernel;
            hint.estimate = Estimate { factor, low: 0.5, high: factor * 2.0 };
            let mut outcome = outcome(&hint, f64::from(gain) / 64.0);
            outcome.counts = counts;
            let lines = vec![Line::Hint(hint), Line::Outcome(outcome)];
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a/ledger.jsonl");
            append(&path, &lines).unwrap();
            prop_assert_eq!(read(&path).unwrap(), Contents { lines, ..Contents::default() });
        }

        #[test]
        fn nothing_that_lies_in_it_stops_the_reading(bytes: Vec<u8>, cut in 0..400_usize) {
            let whole = text(&[Line::Hint(hint("s", "partial-wave", 1.5))]).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("ledger.jsonl");
            let mut before = bytes;
            before.extend(b"\n");
            before.extend(&whole.as_bytes()[..cut.min(whole.len() - 2)]);
            std::fs::write(&path, &before).unwrap();
            append(&path, &[Line::Hint(hint("s", "partial-wave", 1.5))]).unwrap();
            let after = std::fs::read(&path).unwrap();
            prop_assert!(after.starts_with(&before), "foreign lines stay");
            let contents = parse(&after);
            prop_assert_eq!(contents.lines.last(), Some(&Line::Hint(hint("s", "partial-wave", 1.5))));
        }
    }

    #[test]
    fn foreign_lines_are_named_and_kept() {
        let known = text(&[Line::Hint(hint("s", "partial-wave", 1.5))]).unwrap();
        let other = known.replace(LEDGER_SCHEMA, "adoprof-ledger/9");
        let contents = parse(format!("{known}garbage\n\n{other}{known}").as_bytes());
        assert_eq!((contents.lines.len(), contents.foreign, contents.first_foreign), (2, 2, 2));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_another_file_is_neither_read_nor_written() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = folder.path().join("theirs");
        std::fs::write(&theirs, "mine\n").unwrap();
        let path = folder.path().join("ledger.jsonl");
        std::os::unix::fs::symlink(&theirs, &path).unwrap();
        for error in [
            read(&path).unwrap_err(),
            append(&path, &[Line::Hint(hint("s", "partial-wave", 1.5))]).unwrap_err(),
        ] {
            assert!(error.to_string().contains("symbolic link"), "{error}");
        }
        assert_eq!(std::fs::read(&theirs).unwrap(), b"mine\n");
    }

    #[test]
    fn a_ledger_that_is_no_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.jsonl");
        assert_eq!(read(&path).unwrap(), Contents::default());
        std::fs::create_dir(&path).unwrap();
        assert!(read(&path).is_err());
        assert!(append(&path, &[Line::Hint(hint("s", "partial-wave", 1.5))]).is_err());
    }

    #[test]
    fn writers_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.jsonl");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for turn in 0..10 {
                        let line = hint(&format!("{writer}-{turn}"), "partial-wave", 1.5);
                        append(path, &[Line::Hint(line)]).unwrap();
                    }
                });
            }
        });
        let contents = read(&path).unwrap();
        assert_eq!((contents.lines.len(), contents.foreign), (40, 0));
    }

    #[test]
    fn the_oldest_unmeasured_hints_go_first_and_foreign_lines_never() {
        let hints: Vec<_> = ["a", "b", "c"].map(|step| hint(step, "partial-wave", 1.5)).into();
        let measured = outcome(&hints[0], 1.2);
        let lines = vec![
            Line::Hint(hints[0].clone()),
            Line::Hint(hints[1].clone()),
            Line::Hint(hints[2].clone()),
            Line::Outcome(measured.clone()),
        ];
        let all = format!("foreign\n{}", text(&lines).unwrap());
        let one_less = 8 + sizes(&lines) - sizes(&lines[1..2]);
        let (kept, gone) = shrunk(all.as_bytes(), one_less);
        assert_eq!(gone, 1);
        assert!(kept.starts_with(b"foreign\n"));
        let left = parse(&kept).lines;
        assert_eq!(left, [lines[0].clone(), lines[2].clone(), lines[3].clone()]);
        let (kept, gone) = shrunk(all.as_bytes(), 0);
        assert_eq!((gone, kept), (3, b"foreign\n".to_vec()));
        assert_eq!(shrunk(all.as_bytes(), u64::MAX).1, 0);
    }

    #[test]
    fn a_file_of_more_than_64_mib_is_no_ledger() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.jsonl");
        let accepted = |bytes: u64| {
            // Nothing is written: the file has a length, and takes no room.
            File::create(&path).unwrap().set_len(bytes).unwrap();
            plausible(&path, &std::fs::symlink_metadata(&path).unwrap()).is_ok()
        };
        assert!(accepted(67_108_864) && !accepted(67_108_865));
    }

    #[test]
    fn a_ledger_shrinks_once_it_is_larger_than_8_mib() {
        let added = [Line::Hint(hint("b", "partial-wave", 1.5))];
        let gone = |beyond: u64| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("ledger.jsonl");
            let mut before = text(&[Line::Hint(hint("a", "partial-wave", 1.5))]).unwrap();
            // A foreign line up to where the ledger with what is added has 8 MiB and so many bytes more.
            let left = 8_388_608 + beyond - before.len() as u64 - sizes(&added) - 1;
            before.extend(std::iter::repeat_n('x', usize::try_from(left).unwrap()));
            before.push('\n');
            std::fs::write(&path, before).unwrap();
            append(&path, &added).unwrap()
        };
        // The foreign line stays, so that both hints go.
        assert_eq!((gone(0), gone(1)), (0, 2));
    }
}
