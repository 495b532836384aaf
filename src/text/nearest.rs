//! "Did you mean …?" for names that a user typed.

use std::path::{Path, PathBuf};

use strsim::osa_distance;

use crate::text::listed;

/// The candidate that a mistyped word most likely stands for; `None` where none is close.
///
/// Close means at most a third of the word's letters (one at least) added, left out, changed or
/// swapped with a neighbour; case does not count. Of equally close ones the nearest number is meant: `v9` is rather
/// `v6` than `v1`.
#[must_use]
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(edits, _)| *edits <= limit)
        .min_by_key(|(edits, candidate)| (*edits, steps_between(word, candidate)))
        .map(|(_, candidate)| candidate)
}

/// How far the numbers at the ends of two names are apart; the most where the rest differs or has none.
fn steps_between(one: &str, other: &str) -> u64 {
    let parts = |name: &str| {
        let rest = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        Some((name[..rest].to_lowercase(), name[rest..].parse::<u64>().ok()?))
    };
    match (parts(one), parts(other)) {
        (Some((rest, from)), Some((other, to))) if rest == other => from.abs_diff(to),
        _ => u64::MAX,
    }
}

/// The path that a mistyped one most likely stands for: of its first part that does not exist, the nearest name beside it,
/// and what follows as it stands. `None` where no such path exists.
#[must_use]
pub(crate) fn nearest_path(path: &Path) -> Option<PathBuf> {
    // The folder that a relative path begins in is the empty one.
    let parts = path.ancestors().filter(|part| !part.as_os_str().is_empty());
    let missing = parts.take_while(|part| !part.exists()).last()?;
    let folder = missing.parent()?;
    let beside = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names: Vec<String> = std::fs::read_dir(beside)
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let word = missing.file_name()?.to_str()?;
    let name = nearest(word, names.iter().map(String::as_str))?;
    let rest = path.strip_prefix(missing).ok()?;
    // Joining nothing would end the path in a slash.
    let meant =
        if rest.as_os_str().is_empty() { folder.join(name) } else { folder.join(name).join(rest) };
    meant.exists().then_some(meant)
}

/// A sentence's end for a path that does not exist: `; did you mean …?`, or nothing.
#[must_use]
pub(crate) fn path_hint(path: &Path) -> String {
    nearest_path(path)
        .map(|meant| format!("; did you mean {}?", meant.display()))
        .unwrap_or_default()
}

/// A sentence's end: `; did you mean …?`, or the whole list where nothing is close.
#[must_use]
pub(crate) fn hint(word: &str, candidates: &[&str]) -> String {
    match nearest(word, candidates.iter().copied()) {
        Some(candidate) => {
            format!("; did you mean `{candidate}`? (There are: {})", list(candidates))
        }
        None if candidates.is_empty() => "; there are none".to_owned(),
        None => format!("; there are: {}", list(candidates)),
    }
}

/// Names in backticks, separated by commas.
fn list(names: &[&str]) -> String {
    listed(names.iter().map(|name| format!("`{name}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_what_is_close() {
        assert_eq!(nearest("titel", ["name", "title"]), Some("title"));
        assert_eq!(nearest("V2", ["v1", "v2"]), Some("v2"));
        // A swap of neighbours is one edit, and so close enough for a word of four letters.
        assert_eq!(nearest("gird", ["block", "grid"]), Some("grid"));
        assert_eq!(nearest("colour", ["name", "title"]), None);
    }

    #[test]
    fn of_numbered_names_the_nearest_number_is_meant() {
        let names = ["v1", "v2", "v6", "v2-shuffle"];
        assert_eq!(nearest("v9", names), Some("v6"));
        assert_eq!(nearest("V3", names), Some("v2"));
        assert_eq!(nearest("w2", names), Some("v2"), "fewer letters that differ come first");
        assert_eq!(nearest("v", names), Some("v1"));
    }

    #[test]
    fn a_path_is_mended_where_its_first_missing_part_is_mistyped() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        std::fs::create_dir(at("reports")).unwrap();
        std::fs::write(at("reports/step.ncu-rep"), "").unwrap();
        assert_eq!(nearest_path(&at("reports/setp.ncu-rep")), Some(at("reports/step.ncu-rep")));
        assert_eq!(nearest_path(&at("report/step.ncu-rep")), Some(at("reports/step.ncu-rep")));
        assert_eq!(nearest_path(&at("report/other.csv")), None, "that is not there either");
        assert_eq!(nearest_path(&at("elsewhere")), None);
        assert_eq!(path_hint(&at("elsewhere")), "");
        // Tests run in the folder of the crate.
        assert_eq!(nearest_path(Path::new("kernel/ado")), Some(PathBuf::from("kernels/ado")));
    }

    #[test]
    fn lists_names_where_nothing_is_close() {
        assert_eq!(hint("zzz", &["name", "title"]), "; there are: `name`, `title`");
    }
}
