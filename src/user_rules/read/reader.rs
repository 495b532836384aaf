//! One rule's text read, with all that is wrong with it.

use std::collections::BTreeSet;

use regex::{Regex, RegexBuilder};
use toml::Spanned;

use crate::error::Error;
use crate::text::printable;
use crate::user_rules::file::Origin;
use crate::user_rules::language::Problem;

/// The largest program that a pattern of kernels may be compiled to, bytes.
const LARGEST_REGEX: usize = 1 << 20;

/// Reads one rule.
pub(super) struct Reader<'a> {
    pub origin: &'a Origin<'a>,
    /// The names of all rules of the file.
    pub names: &'a BTreeSet<String>,
    pub mistakes: Vec<Error>,
    pub doubts: Vec<Error>,
}

impl Reader<'_> {
    pub(super) fn mistake(&mut self, at: usize, problem: impl Into<String>) {
        self.mistakes.push(self.origin.error(at, problem));
    }

    /// What is wrong with a key's text, with the part of it at which that is seen.
    pub(super) fn problem(
        &self,
        key: &str,
        text: &Spanned<impl AsRef<str>>,
        problem: &Problem,
    ) -> Error {
        let whole = text.get_ref().as_ref();
        let rest = whole.get(problem.at..).unwrap_or_default().trim();
        let shown: String = rest.chars().take(30).collect();
        let at = match (problem.at, shown.as_str()) {
            (0, _) | (_, "") => String::new(),
            _ => format!(", at `{}`", printable(&shown)),
        };
        self.origin.error(text.span().start, format!("`{key}`{at}: {}", problem.what))
    }

    pub(super) fn doubt(&mut self, key: &str, text: &Spanned<impl AsRef<str>>, unlike: &[Problem]) {
        let doubts: Vec<Error> =
            unlike.iter().map(|problem| self.problem(key, text, problem)).collect();
        self.doubts.extend(doubts);
    }

    pub(super) fn regex(&mut self, text: &Spanned<String>) -> Option<Regex> {
        let built = RegexBuilder::new(text.get_ref())
            .size_limit(LARGEST_REGEX)
            .dfa_size_limit(LARGEST_REGEX)
            .build();
        built
            .map_err(|error| {
                let why = match error {
                    regex::Error::CompiledTooBig(_) => "too large a regular expression".to_owned(),
                    other => {
                        let text = other.to_string();
                        let last = text.lines().last().unwrap_or_default();
                        let reason = last.trim_start_matches("error: ");
                        format!("not a regular expression: {}", printable(reason))
                    }
                };
                self.mistake(text.span().start, format!("`kernel` is {why}"));
            })
            .ok()
    }
}
