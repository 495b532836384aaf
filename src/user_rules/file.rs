//! A file of rules as it is written. Unknown keys are errors; every error names its line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::error::{Error, Result};

/// The file's shape.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default, rename = "rule")]
    pub rules: Vec<Declared>,
}

/// One rule of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Declared {
    pub name: Spanned<String>,
    pub summary: Spanned<String>,
    pub when: Spanned<String>,
    pub message: Spanned<String>,
    pub hint: Spanned<String>,
    pub explanation: Option<Spanned<String>>,
    pub kernel: Option<Spanned<String>>,
    #[serde(default)]
    pub explains: Vec<Spanned<String>>,
    pub lines: Option<Lines>,
    pub what_if: Option<WhatIf>,
    #[serde(default, rename = "test")]
    pub tests: Vec<DeclaredCase>,
}

/// Which lines the finding names.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "{ sass = \"LDG\" } or { stall = \"barrier\" }")]
pub(super) struct Lines {
    pub sass: Option<Spanned<String>>,
    pub stall: Option<Spanned<String>>,
}

/// What taking the fault away does to the model's terms.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct WhatIf {
    #[serde(default)]
    pub removes: BTreeMap<String, Spanned<toml::Value>>,
    #[serde(default)]
    pub adds: BTreeMap<String, Spanned<toml::Value>>,
    #[serde(default)]
    pub stalls: BTreeMap<String, Spanned<toml::Value>>,
    pub hidden: Option<Spanned<toml::Value>>,
    pub idle: Option<Spanned<toml::Value>>,
    pub least: Option<Spanned<toml::Value>>,
}

/// A recording that the rule is tested against.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeclaredCase {
    pub profile: Spanned<String>,
    pub kernel: Option<Spanned<String>>,
    pub fires: Spanned<bool>,
    pub factor: Option<Spanned<[f64; 2]>>,
}

/// A file's text with its path, for errors.
pub(super) struct Origin<'a> {
    pub path: &'a Path,
    pub text: &'a str,
}

impl Origin<'_> {
    /// An error at a byte of the text.
    pub(super) fn error(&self, at: usize, problem: impl Into<String>) -> Error {
        Error::Manifest {
            path: PathBuf::from(self.path),
            line: self.line(at),
            problem: problem.into(),
        }
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        let before = self.text.as_bytes().iter().take(at);
        before.filter(|&&byte| byte == b'\n').count() + 1
    }

    /// Reads the file's shape.
    ///
    /// # Errors
    /// [`Error::Manifest`] with the line of what is no such file.
    pub(super) fn parse(&self) -> Result<File> {
        toml::from_str(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = self.text.lines().nth(self.line(at) - 1).unwrap_or_default();
            let problem = of_header(line);
            self.error(at, problem.unwrap_or_else(|| words_of(error.message())))
        })
    }
}

/// What to write where a header has too many or too few brackets: `[rule]`, `[rule.test]`, `[[rule.what-if]]`.
fn of_header(line: &str) -> Option<String> {
    let line = line.split('#').next().unwrap_or_default().trim();
    let double = line.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]"));
    let single = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let text = match (double, single) {
        (Some(name @ "rule.what-if"), _) => {
            format!("write `[{name}]` instead of `[[{name}]]`: a rule has one at most")
        }
        (None, Some(name @ ("rule" | "rule.test"))) => {
            format!("write `[[{name}]]` instead of `[{name}]`: there may be several")
        }
        _ => return None,
    };
    Some(crate::text::printable(&text))
}

/// serde's names of types as TOML has them.
fn in_tomls_words(message: &str) -> String {
    [
        ("a sequence", "a list in brackets"),
        ("sequence", "list"),
        ("an array of length 2", "a list of two numbers"),
        ("a map", "a table such as { dram = 0.5 }"),
        ("map", "table"),
        ("invalid type: ", "the wrong kind of value: "),
        ("struct DeclaredCase", "a [[rule.test]] table"),
        ("struct Declared", "a [[rule]] table"),
        ("struct WhatIf", "a [rule.what-if] table"),
    ]
    .iter()
    .fold(message.to_owned(), |text, (theirs, ours)| text.replacen(theirs, ours, 1))
}

/// serde's message with what there is instead.
fn words_of(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let text = match quoted.as_slice() {
        [unknown, known @ ..] if message.starts_with("unknown field") => {
            let nearest = crate::text::nearest(unknown, known.iter().copied());
            let meant =
                nearest.map_or_else(|| ".".to_owned(), |name| format!("; did you mean `{name}`?"));
            format!("there is no key `{unknown}`{meant} Keys here are {}", known.join(", "))
        }
        [missing @ ("profile" | "fires")] if message.starts_with("missing field") => {
            format!("a test lacks its `{missing}`")
        }
        [missing] if message.starts_with("missing field") => {
            format!("a rule lacks its `{missing}`")
        }
        _ => in_tomls_words(message.lines().next().unwrap_or_default()),
    };
    crate::text::printable(&text)
}
