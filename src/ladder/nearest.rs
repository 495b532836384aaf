//! "Did you mean …?" for names that a user typed.

use strsim::osa_distance;

use crate::text::listed;

/// The candidate that a mistyped word most likely stands for; `None` where none is close.
///
/// Close means at most a third of the word's letters (one at least) added, left out, changed or
/// swapped with a neighbour; case does not count.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(edits, _)| *edits <= limit)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// A sentence's end: `; did you mean …?`, or the whole list where nothing is close.
#[must_use]
pub fn hint(word: &str, candidates: &[&str]) -> String {
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
    fn lists_names_where_nothing_is_close() {
        assert_eq!(hint("zzz", &["name", "title"]), "; there are: `name`, `title`");
    }
}
