//! Which pointers a kernel's body reads through, as far as its words tell.

use std::collections::BTreeSet;

use super::source::Word;

/// An index longer than this is not looked through.
const LONGEST_INDEX: usize = 1000;

/// Those of the names through which the body reads: in place of a value, with an assignment that also adds, or in an
/// atomic. What goes through a cast, another pointer, or a call is not seen.
pub(super) fn read_through<'a>(body: &[Word], names: &BTreeSet<&'a str>) -> BTreeSet<&'a str> {
    let mut read = BTreeSet::new();
    for (at, word) in body.iter().enumerate() {
        let Word::Name(name) = word else { continue };
        let Some(name) = names.get(name.as_str()) else { continue };
        if !read.contains(name) && reads(body, at) {
            read.insert(*name);
        }
    }
    read
}

/// Whether the name at a place stands for a value that is read.
fn reads(body: &[Word], at: usize) -> bool {
    let before = &body[..at];
    if is_member(before) {
        return false;
    }
    if is_in_atomic(before) {
        return true;
    }
    if before.ends_with(&[Word::Sign('&')]) && is_address(&before[..at - 1]) {
        return false;
    }
    match (before, body.get(at + 1)) {
        (_, Some(Word::Sign('['))) => is_value(body, closing(body, at + 1)),
        ([.., Word::Sign('*')], _) => is_value(body, Some(at)),
        ([.., Word::Sign('*'), Word::Sign('(')], _) => is_value(body, closing(body, at - 1)),
        _ => false,
    }
}

/// Whether what ends at a place is more than the target of an assignment.
fn is_value(body: &[Word], end: Option<usize>) -> bool {
    let Some(mut end) = end else { return false };
    loop {
        end = match (body.get(end + 1), body.get(end + 2)) {
            // An element of an element, a member of a vector.
            (Some(Word::Sign('[')), _) => match closing(body, end + 1) {
                Some(end) => end,
                None => return false,
            },
            (Some(Word::Sign('.')), Some(Word::Name(_))) => end + 2,
            (Some(Word::Sign('=')), next) => return next.is_some_and(|word| word.is_sign('=')),
            _ => return true,
        }
    }
}

/// The place of the sign that closes the bracket or parenthesis at a place.
fn closing(body: &[Word], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, word) in body.get(at..)?.iter().take(LONGEST_INDEX).enumerate() {
        match word {
            Word::Sign('[' | '(') => depth += 1,
            Word::Sign(']' | ')') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + offset);
                }
            }
            _ => {}
        }
    }
    None
}

/// The first argument of an atomic function.
fn is_in_atomic(before: &[Word]) -> bool {
    let before = before.strip_suffix(&[Word::Sign('&')]).unwrap_or(before);
    matches!(before, [.., Word::Name(function), Word::Sign('(')] if function.starts_with("atomic"))
}

/// True where a `&` that follows takes an address and does not join bits.
fn is_address(before: &[Word]) -> bool {
    matches!(before.last(), Some(Word::Sign('(' | ',' | '=' | '{' | '&')))
}

/// A member of another thing has the same name by chance.
fn is_member(before: &[Word]) -> bool {
    matches!(before, [.., Word::Sign('.')] | [.., Word::Sign('-'), Word::Sign('>')])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::init::Source;

    #[test]
    fn targets_of_assignments_are_not_read() {
        let reads = |text: &str| {
            let source = Source::new(text);
            !read_through(&source.words, &BTreeSet::from(["y"])).is_empty()
        };
        for text in [
            "y[i] = a * x[i] + y[i];",
            "y[i] += x[i];",
            "y[i]++;",
            "if (y[i] == 0) return;",
            "f(a, y[j[i]]);",
            "*y = 1; z = *y;",
            "v = *(y + i);",
            "y[i].x = y[i].w;",
            "atomicAdd(&y[bin], 1);",
            "atomicMax(y + bin, v);",
            "m = mask & y[i];",
        ] {
            assert!(reads(text), "{text}");
        }
        for text in [
            "y[i] = a * x[i];",
            "y[row * n + column[i]] = x[i];",
            "y[i][j] = 0;",
            "y[i].x = 1;",
            "*y = 1;",
            "*(y + i) = 1;",
            "float* p = &y[i];",
            "t.y[i] + t->y[i];",
            "y",
            "y[i",
        ] {
            assert!(!reads(text), "{text}");
        }
    }
}
