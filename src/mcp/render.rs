//! Results as blocks of text, each of which says of which launch and metric its numbers are.

mod diff;
mod launches;
mod ledger;
mod program;
mod source;

use serde_json::Value;

use super::answer::{PAGE_TOKENS, tokens};
use super::calls::Shown;
use crate::text::{printable, printable_lines, significant};

/// The blocks of a run's result.
///
/// # Errors
/// That the result can't be read.
pub(super) fn blocks(out: &[u8], shown: &Shown, detail: bool) -> Result<Vec<String>, String> {
    if let Shown::Source { launch, lines } = shown {
        return source::blocks(out, *launch, *lines);
    }
    if *shown == Shown::Text {
        let text = String::from_utf8_lossy(out);
        return Ok(text.split("\n\n").flat_map(paragraph).collect());
    }
    let value: Value = serde_json::from_slice(out)
        .map_err(|error| format!("the result can't be read: {error}"))?;
    match shown {
        Shown::Diff => diff::blocks(value),
        Shown::Ledger(rule) => ledger::blocks(&value, rule.as_deref()),
        Shown::Program => {
            Ok(launches::documents(value)?.iter().flat_map(program::blocks).collect())
        }
        Shown::Launches(_) | Shown::Tried | Shown::Source { .. } | Shown::Text => {
            let only = if let Shown::Launches(only) = shown { *only } else { None };
            let mut blocks = Vec::new();
            for document in launches::documents(value)? {
                blocks.extend(launches::tried(&document));
                blocks.extend(program::blocks(&document));
                blocks.extend(launches::blocks(&document, only, detail)?);
            }
            Ok(blocks)
        }
    }
}

/// A paragraph as one block, or a long one, such as a list of rules, line by line.
fn paragraph(text: &str) -> Vec<String> {
    if tokens(text) <= PAGE_TOKENS / 4 {
        return vec![printable_lines(text)];
    }
    text.lines().map(printable_lines).collect()
}

/// A number as it stands beside its unit.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.0}")
    } else {
        significant(value, 4)
    }
}

/// A text from a profile, in one line.
fn line(text: &str) -> String {
    printable(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Blocks of a grid or threads of a block: `8x1x1`.
fn dimensions(of: [u32; 3]) -> String {
    of.map(|one| one.to_string()).join("x")
}

/// A kernel's name, no longer than it takes to tell it from others.
fn kernel(name: &str) -> String {
    crate::text::layout::fit(&line(name), 120)
}
