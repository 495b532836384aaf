//! A device's file as it is written. Every error names its line.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use super::Fact;
use super::quantity::{self, OF_PEAK, Quantity};
use crate::error::{Error, Result};

/// The first words of a value's source. They tell how far it can be trusted.
const SOURCES: [&str; 4] = ["measured", "vendor's", "published", "derived"];

/// The text's shape.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    name: String,
    inherits: Option<String>,
    #[serde(default)]
    facts: BTreeMap<Spanned<String>, Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    value: f64,
    unit: String,
    from: String,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DeviceFile {
    /// The device's name as the driver gives it, or what the architecture is called.
    pub name: String,
    /// The file that has the values which this one lacks, without its ending.
    pub inherits: Option<String>,
    pub facts: Vec<(Quantity, Fact)>,
}

impl DeviceFile {
    /// Reads a file's text; `path` is where it lies, for messages.
    ///
    /// # Errors
    /// [`Error::Manifest`] with the line of an unknown key, of another unit than the key's, of a value
    /// that cannot be, or of a value without a source.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self> {
        let error = |span: &Range<usize>, problem: String| {
            let before = text.get(..span.start).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            Error::Manifest { path: path.to_owned(), line, problem }
        };
        let read: Text = toml::from_str(text)
            .map_err(|e| error(&e.span().unwrap_or(0..0), e.message().to_owned()))?;
        let facts = read
            .facts
            .into_iter()
            .map(|(key, entry)| {
                let quantity = Quantity::of_key(key.get_ref()).ok_or_else(|| {
                    error(&key.span(), format!("unknown key `{}`: {}", key.get_ref(), known()))
                })?;
                let fact = fact(quantity, entry.get_ref())
                    .map_err(|problem| error(&entry.span(), problem))?;
                Ok((quantity, fact))
            })
            .collect::<Result<_>>()?;
        Ok(Self { name: read.name, inherits: read.inherits, facts })
    }
}

/// The keys that there are, for a message.
fn known() -> String {
    let keys: Vec<&str> = quantity::ALL.iter().map(|definition| definition.key).collect();
    format!("the keys are {}", keys.join(", "))
}

/// An entry as a fact, or what is wrong with it.
fn fact(quantity: Quantity, entry: &Entry) -> std::result::Result<Fact, String> {
    let definition = quantity.definition();
    if entry.unit != definition.unit {
        return Err(format!(
            "the unit of `{}` is `{}`, not `{}`",
            definition.key, definition.unit, entry.unit
        ));
    }
    if !(entry.value.is_finite() && entry.value > 0.0) {
        return Err(format!("`{}` must be more than 0", definition.key));
    }
    if definition.unit == OF_PEAK && entry.value > 1.0 {
        return Err(format!("`{}` is a share and at most 1", definition.key));
    }
    if !SOURCES.iter().any(|word| entry.from.split([' ', ':']).next() == Some(word)) {
        return Err(format!(
            "say in `from` where `{}` was taken from, beginning with one of: {}",
            definition.key,
            SOURCES.join(", ")
        ));
    }
    Ok(Fact { value: entry.value, from: entry.from.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<DeviceFile> {
        let text = format!("name = \"x\"\n\n[facts]\n{line}\n");
        DeviceFile::parse(&text, Path::new("devices/x.toml"))
    }

    #[test]
    fn a_value_has_a_unit_and_a_source() {
        let file =
            parse("fma_rate = { value = 64, unit = \"lane/cycle\", from = \"vendor's table\" }");
        let fact = Fact { value: 64.0, from: "vendor's table".to_owned() };
        assert_eq!(file.unwrap().facts, [(Quantity::FmaRate, fact)]);
    }

    #[test]
    fn mistakes_name_their_line_and_what_to_write() {
        for (line, said) in [
            ("fma = { value = 1, unit = \"x\", from = \"measured\" }", "unknown key `fma`"),
            ("fma_rate = { value = 1, unit = \"inst\", from = \"measured\" }", "is `lane/cycle`"),
            ("fma_rate = { value = 0, unit = \"lane/cycle\", from = \"measured\" }", "more than 0"),
            (
                "fma_rate = { value = nan, unit = \"lane/cycle\", from = \"measured\" }",
                "more than 0",
            ),
            ("fma_share = { value = 1.1, unit = \"of peak\", from = \"measured\" }", "at most 1"),
            ("fma_rate = { value = 1, unit = \"lane/cycle\", from = \"\" }", "beginning with"),
            ("fma_rate = { value = 1, unit = \"lane/cycle\" }", "from"),
            ("fma_rate = { value = 1, unit = \"lane/cycle\", from = \"measured\", n = 3 }", "n"),
            ("fma_rate = 64", "64"),
        ] {
            let error = parse(line).unwrap_err().to_string();
            assert!(error.starts_with("devices/x.toml:4: "), "{error}");
            assert!(error.contains(said), "{error}");
        }
        let error = DeviceFile::parse("name = \"x\"\nfacst = 3\n", Path::new("x")).unwrap_err();
        assert!(error.to_string().starts_with("x:2: unknown field `facst`"), "{error}");
    }
}
