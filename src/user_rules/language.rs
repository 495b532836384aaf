//! The language of conditions and shares: arithmetic and comparisons over a launch's figures.
//!
//! A text becomes a tree of bounded size, whose types and units are checked before it ever meets a launch. It has no
//! loops, no names of its own and no way to the outside: what it costs is the number of its nodes.

pub(super) mod eval;
pub(super) mod figure;
pub(super) mod format;
mod lexer;
pub(super) mod opcodes;
pub(super) mod parser;
pub(super) mod reach;
pub(super) mod sass_counts;
pub(super) mod tree;
pub(super) mod types;
pub(super) mod unit;

/// Something that is wrong with a text, at a byte of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Where, bytes from the text's beginning.
    pub at: usize,
    /// What is wrong and what to write instead, without a full stop.
    pub what: String,
}

impl Problem {
    /// A problem at a byte.
    pub(super) fn new(at: usize, what: impl Into<String>) -> Self {
        Self { at, what: what.into() }
    }
}
