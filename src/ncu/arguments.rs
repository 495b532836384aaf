//! The user's own ncu options (`--ncu-args`).

use crate::error::{Error, Result};

/// Options that would take from adoprof what it needs: the report, its place, or the messages.
const OURS: [(&str, Option<&str>); 11] = [
    ("--export", Some("-o")),
    ("--import", Some("-i")),
    ("--log-file", None),
    ("--quiet", None),
    ("--mode", None),
    ("--open-in-ui", None),
    ("--csv", None),
    ("--page", None),
    ("--list-sections", None),
    ("--list-metrics", None),
    ("--query-metrics", None),
];

/// Splits `--ncu-args` by shell-word rules (quotes and backslashes; no expansion of any kind).
///
/// # Errors
/// [`Error::Usage`] for unbalanced quotes and for options that adoprof sets for itself.
pub fn split(text: &str) -> Result<Vec<String>> {
    let words = shell_words::split(text).map_err(|_| {
        Error::Usage(format!(
            "--ncu-args has an open quote in `{text}`; close it, or escape it with a backslash"
        ))
    })?;
    for word in &words {
        let taken = OURS.iter().find(|(long, short)| {
            is_option(word, long) || short.is_some_and(|short| word.starts_with(short))
        });
        if let Some((long, _)) = taken {
            return Err(Error::Usage(format!(
                "--ncu-args must not contain {long}: adoprof decides where the report goes and how \
                 it is read; use adoprof's own -o to choose the folder"
            )));
        }
    }
    Ok(words)
}

/// True where a word is this long option, alone or with `=value`.
#[must_use]
pub fn is_option(word: &str, long: &str) -> bool {
    word.strip_prefix(long).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Takes every value of a long option out of a word list: ncu accepts most options only once, so
/// the user's values must be joined with ours.
#[must_use]
pub fn take_values(words: &[String], long: &str) -> (Vec<String>, Vec<String>) {
    let (mut values, mut rest) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == long {
            values.extend(words.next().cloned());
        } else if let Some(value) = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('='))
        {
            values.push(value.to_owned());
        } else {
            rest.push(word.clone());
        }
    }
    (values, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_split_as_a_shell_would_without_expanding() {
        assert_eq!(
            split(r#"--nvtx --nvtx-include "my range" $HOME/*"#).unwrap(),
            ["--nvtx", "--nvtx-include", "my range", "$HOME/*"]
        );
        assert!(split("").unwrap().is_empty());
    }

    #[test]
    fn an_open_quote_is_a_usage_error() {
        assert!(matches!(split("--x 'y"), Err(Error::Usage(_))));
    }

    #[test]
    fn the_report_stays_ours() {
        for word in ["-o x", "--export=x", "-ofile", "--import y", "--log-file z", "-i y"] {
            assert!(matches!(split(word), Err(Error::Usage(_))), "{word}");
        }
        assert!(split("--import-sass no").is_ok());
    }

    #[test]
    fn values_come_out_in_both_spellings() {
        let words = split("--metrics a,b --nvtx --metrics=c").unwrap();
        let (values, rest) = take_values(&words, "--metrics");
        assert_eq!(values, ["a,b", "c"]);
        assert_eq!(rest, ["--nvtx"]);
    }
}
