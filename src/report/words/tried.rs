//! What changes without new code gave, in words.

use super::number::{estimate, factor, median};
use crate::document::Tried;

/// Titles of [`cells`].
pub(in crate::report) const TITLES: [&str; 5] = ["change", "for", "time", "gave", "promised"];

/// One change as the cells of a table.
pub(in crate::report) fn cells(tried: &Tried) -> [String; 5] {
    [
        tried.change.clone(),
        tried.rule.clone(),
        tried.time_ns.as_ref().map(median).unwrap_or_default(),
        gave(tried),
        tried.promised.as_ref().map(|promised| factor(promised.factor)).unwrap_or_default(),
    ]
}

/// What it gave: a factor beyond the spread of the times, or that there is no difference.
fn gave(tried: &Tried) -> String {
    match (&tried.measured, &tried.error) {
        (Some(measured), _) if tried.gains() || tried.loses() => factor(measured.factor),
        (Some(_), _) => "no difference".to_owned(),
        (None, _) => "failed".to_owned(),
    }
}

/// The result in one sentence: the change that gave most, or that none gave anything.
pub(in crate::report) fn sentence(all: &[Tried]) -> Option<String> {
    let best = all.iter().filter(|tried| tried.gains()).max_by(|a, b| {
        let factor = |tried: &Tried| tried.measured.map_or(0.0, |measured| measured.factor);
        factor(a).total_cmp(&factor(b))
    });
    if all.is_empty() {
        return None;
    }
    Some(match best.and_then(|best| Some((best, best.measured?))) {
        Some((best, measured)) => format!(
            "{} gave {}, with the right answer{}.",
            best.change,
            estimate(&measured),
            if best.verified { "" } else { " unchecked" }
        ),
        None => "None of the changes that need no new code made it faster.".to_owned(),
    })
}

/// Each change that failed, with the first line of the reason.
pub(in crate::report) fn failures(all: &[Tried]) -> Vec<String> {
    let failed = all.iter().filter_map(|tried| Some((tried, tried.error.as_deref()?)));
    failed
        .map(|(tried, error)| {
            format!("{}: {}", tried.change, error.lines().next().unwrap_or_default())
        })
        .collect()
}
