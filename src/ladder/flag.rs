//! Compiler flags and commands with parameters in them: `-DORDER={ORDER}`.

use serde::de::{Deserialize, Deserializer, Error as _};

use super::expression::{Expression, Values};
use crate::text::printable;

/// A compiler flag or a command. An expression in braces stands for its value, which must be a whole number;
/// doubled braces stand for themselves.
#[derive(Debug, Clone)]
pub(super) struct Flag {
    text: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Value(Expression),
}

impl Flag {
    /// Parses a flag as it stands in the manifest.
    ///
    /// # Errors
    /// What is wrong with its braces or with an expression between them.
    pub(super) fn parse(flag: &str) -> Result<Self, String> {
        let unmatched = || {
            format!(
                "a brace in `{}` has no partner: write `{{{{` or `}}}}` for a literal brace",
                printable(flag)
            )
        };
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut rest = flag;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            text.push_str(before);
            if let Some(after) = from.strip_prefix("{{") {
                text.push('{');
                rest = after;
            } else if let Some(after) = from.strip_prefix("}}") {
                text.push('}');
                rest = after;
            } else {
                let inner = from.strip_prefix('{').ok_or_else(unmatched)?;
                let (expression, after) = inner.split_once('}').ok_or_else(unmatched)?;
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Value(Expression::parse(expression)?));
                rest = after;
            }
        }
        text.push_str(rest);
        pieces.push(Piece::Text(text));
        Ok(Self { text: flag.to_owned(), pieces })
    }

    /// It as it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The expressions in it.
    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Value(expression) => Some(expression),
        })
    }

    /// It with a number in the place of each expression: what can be known before there are values.
    pub(super) fn sketch(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(_) => "1".to_owned(),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// The flag at these values.
    ///
    /// # Errors
    /// What an expression came to instead of a whole number.
    pub(super) fn at(&self, values: &Values) -> Result<String, String> {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => Ok(text.clone()),
                Piece::Value(expression) => Ok(expression.whole(values)?.to_string()),
            })
            .collect()
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(flag: &str) -> Result<String, String> {
        Flag::parse(flag)?.at(&Values::from([("N".to_owned(), 6.0)]))
    }

    #[test]
    fn expressions_become_their_values() {
        assert_eq!(at("--maxrregcount=32").unwrap(), "--maxrregcount=32");
        assert_eq!(at("-DN={N}").unwrap(), "-DN=6");
        assert_eq!(at("-DA={N / 2}x{ceil(N / 4)}").unwrap(), "-DA=3x2");
        assert_eq!(at("-DLIST={{{N}, 1}}").unwrap(), "-DLIST={6, 1}");
    }

    #[test]
    fn mistakes_are_named() {
        assert!(at("-DN={N").unwrap_err().contains("has no partner"));
        assert!(at("-DN=N}").unwrap_err().contains("has no partner"));
        assert!(at("-DN={N +}").unwrap_err().contains("is not an expression"));
        assert!(at("-DN={N / 4}").unwrap_err().contains("evaluates to 1.5"));
        assert!(at("-DM={M}").unwrap_err().contains("`M` has no value"));
    }
}
