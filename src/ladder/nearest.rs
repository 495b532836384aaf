//! "Did you mean …?" for names that a user typed.

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
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
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
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Edits from one word to the other: optimal string alignment, so a swap of neighbours is one edit.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut edits = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                edits = edits.min(rows[i - 2][j - 2] + 1);
            }
            row.push(edits);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("grid", "gird"), 1);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn suggests_only_what_is_close() {
        assert_eq!(nearest("titel", ["name", "title"]), Some("title"));
        assert_eq!(nearest("V2", ["v1", "v2"]), Some("v2"));
        assert_eq!(nearest("colour", ["name", "title"]), None);
    }

    #[test]
    fn lists_names_where_nothing_is_close() {
        assert_eq!(hint("zzz", &["name", "title"]), "; there are: `name`, `title`");
    }
}
