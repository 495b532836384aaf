//! A manifest's mistakes of form, all at once. A reader of TOML stops at the first: it is noted, taken out of a
//! copy of the text, and the copy is read again.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::manifest::{Manifest, Origin};
use crate::error::Error;
use crate::text::nearest::nearest;

/// Mistakes of form at most: what has more is no manifest.
const MOST_MISTAKES: usize = 100;

/// A manifest whose mistakes of form were taken out.
pub(super) struct Mended {
    /// The manifest; `None` where it can't be read even so.
    pub manifest: Option<Manifest>,
    /// The text that it was read from.
    pub text: String,
    /// The lines of that text in the manifest.
    lines: Lines,
    /// The mistakes.
    pub mistakes: Vec<Error>,
    /// Keys whose entries were taken out, and those that were meant by them.
    taken: Vec<String>,
}

impl Mended {
    /// A mistake of the mended text, as one of the manifest; `None` where only the mending made it.
    pub(super) fn place(&self, mistake: Error) -> Option<Error> {
        let is_own = |key: &String| matches!(&mistake, Error::Manifest { problem, .. } if problem.starts_with(&format!("the key `{key}` is missing")));
        if self.taken.iter().any(is_own) { None } else { self.lines.place(mistake) }
    }
}

/// For each line of a mended text, from 1, its line in the manifest; 0 for a line that was put in.
struct Lines(Vec<usize>);

impl Lines {
    /// A mistake with its line in the manifest; `None` for one in a line that was put in.
    fn place(&self, mistake: Error) -> Option<Error> {
        let Error::Manifest { path, line, problem } = mistake else { return Some(mistake) };
        let line = self.0.get(line.saturating_sub(1)).copied().unwrap_or(line);
        (line > 0).then_some(Error::Manifest { path, line, problem })
    }
}

/// Reads a manifest with all its mistakes of form.
pub(super) fn parse(origin: Origin) -> Mended {
    let count = origin.text.lines().count() + 1;
    let mut mended = Mended {
        manifest: None,
        text: origin.text.to_owned(),
        lines: Lines((1..=count).collect()),
        mistakes: Vec::new(),
        taken: Vec::new(),
    };
    for _ in 0..MOST_MISTAKES {
        let error = match toml::from_str::<Manifest>(&mended.text) {
            Ok(manifest) => {
                mended.manifest = Some(manifest);
                return mended;
            }
            Err(error) => error,
        };
        let span = error.span().unwrap_or(0..0);
        let missing = missing_key(error.message());
        let is_known = missing.is_some_and(|key| mended.taken.iter().any(|taken| taken == key));
        if !is_known {
            let mistake = Origin { path: origin.path, text: &mended.text }.unreadable(&error);
            mended.mistakes.extend(mended.lines.place(mistake));
        }
        let is_mended = if let Some(key) = missing {
            put_in(&mut mended, key, &span)
        } else {
            mended.taken.extend(meant(error.message()));
            take_out(&mut mended.text, &span, &mut mended.taken)
        };
        if !is_mended {
            break;
        }
    }
    mended
}

fn missing_key(message: &str) -> Option<&str> {
    message.strip_prefix("missing field `")?.split('`').next()
}

/// The key that an unknown one was probably meant to be.
fn meant(message: &str) -> Option<String> {
    let mut quoted = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let word = quoted.next()?;
    nearest(word, quoted).map(str::to_owned)
}

/// Puts a key that is missing into the table at `span`.
fn put_in(mended: &mut Mended, key: &str, span: &Range<usize>) -> bool {
    let value = match key {
        "name" => format!("\"missing-{}\"", mended.mistakes.len()),
        "grid" | "block" | "shape" => "[1]".to_owned(),
        "dtype" => "\"f32\"".to_owned(),
        "role" => "\"output\"".to_owned(),
        "kind" => "\"what-if\"".to_owned(),
        "type" => "\"i32\"".to_owned(),
        "size" => "{}".to_owned(),
        "value" | "relative" | "low" | "high" => "1.0".to_owned(),
        _ => "\"1\"".to_owned(),
    };
    let Some(rest) = mended.text.get(span.start..) else { return false };
    if rest.starts_with('{') {
        mended.text.insert_str(span.start + 1, &format!(" {key} = {value}, "));
        return true;
    }
    // Behind a table's header, or at the top.
    let at = match rest.find('\n') {
        Some(end) if rest.starts_with('[') => span.start + end + 1,
        _ if span.start == 0 => 0,
        _ => return false,
    };
    mended.text.insert_str(at, &format!("{key} = {value}\n"));
    let line = mended.text[..at].matches('\n').count();
    mended.lines.0.insert(line.min(mended.lines.0.len()), 0);
    true
}

/// Blanks the entry at `span`, so that all else keeps its place.
fn take_out(text: &mut String, span: &Range<usize>, taken: &mut Vec<String>) -> bool {
    let Ok(table) = DeTable::parse(text) else { return false };
    let mut found = None;
    innermost(table.get_ref(), span, &mut found);
    let Some((key, entry)) = found else { return false };
    let line = text[..entry.start].rfind('\n').map_or(0, |at| at + 1);
    let range = if text[line..].trim_start().starts_with('[') {
        line..line + section(&text[line..])
    } else {
        entry
    };
    if text.get(range.clone()).is_none_or(|entry| entry.trim().is_empty()) {
        return false;
    }
    let blank: String =
        text[range.clone()].chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
    text.replace_range(range.clone(), &blank);
    taken.push(key);
    // In an inline table the comma goes as well.
    let behind = range.start + blank.len();
    let comma = text[behind..].find(|c: char| !c.is_whitespace()).map(|at| behind + at);
    if let Some(comma) = comma.filter(|&at| text[at..].starts_with(',')) {
        text.replace_range(comma..=comma, " ");
    }
    true
}

/// The length of a table's header and of what stands under it.
fn section(text: &str) -> usize {
    let mut length = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if number > 0 && line.trim_start().starts_with('[') {
            break;
        }
        length += line.len();
    }
    length
}

/// The smallest entry that holds a place: its key, and where it stands.
fn innermost(table: &DeTable, span: &Range<usize>, found: &mut Option<(String, Range<usize>)>) {
    for (key, value) in table {
        let entry = key.span().start..value.span().end.max(key.span().end);
        let holds = entry.start <= span.start && span.end <= entry.end;
        let is_smaller = found.as_ref().is_none_or(|(_, best)| entry.len() < best.len());
        if holds && is_smaller {
            *found = Some((key.get_ref().to_string(), entry));
        }
        within(value, span, found);
    }
}

fn within(
    value: &Spanned<DeValue>,
    span: &Range<usize>,
    found: &mut Option<(String, Range<usize>)>,
) {
    match value.get_ref() {
        DeValue::Table(table) => innermost(table, span, found),
        DeValue::Array(values) => {
            for value in values {
                within(value, span, found);
            }
        }
        _ => {}
    }
}
