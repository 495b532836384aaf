//! A call's arguments, each of a known name, kind and size.

use serde_json::{Map, Value};

use crate::text::printable;

/// The longest text, bytes.
const LONGEST: usize = 1000;
/// The most words of a command line.
const MOST_WORDS: usize = 64;

/// What a call has brought, taken out one by one.
#[derive(Debug)]
pub(super) struct Arguments(Map<String, Value>);

type Outcome<T> = Result<T, String>;

impl Arguments {
    /// The arguments of a call whose tool knows these names.
    ///
    /// # Errors
    /// What is no set of them.
    pub(super) fn new(value: Value, known: &[&str]) -> Outcome<Self> {
        let fields = match value {
            Value::Object(fields) => fields,
            Value::Null => Map::new(),
            _ => return Err("the arguments are not a JSON object".to_owned()),
        };
        match fields.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => {
                let name: String = printable(name).chars().take(100).collect();
                Err(format!("there is no argument `{name}`; arguments are {}", known.join(", ")))
            }
            None => Ok(Self(fields)),
        }
    }

    /// A text, if it was given.
    pub(super) fn text(&mut self, name: &str) -> Outcome<Option<String>> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => checked(name, text).map(Some),
            Some(_) => Err(format!("`{name}` is a text")),
        }
    }

    /// A text that must be given.
    pub(super) fn needed(&mut self, name: &str) -> Outcome<String> {
        self.text(name)?.ok_or_else(|| format!("`{name}` is missing"))
    }

    /// A whole number of at least 1 and at most `most`, if it was given.
    pub(super) fn number(&mut self, name: &str, least: u64, most: u64) -> Outcome<Option<u64>> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64().filter(|number| (least..=most).contains(number)) {
                Some(number) => Ok(Some(number)),
                None => Err(format!("`{name}` is a whole number from {least} to {most}")),
            },
        }
    }

    /// Yes or no; no where it was not given.
    pub(super) fn flag(&mut self, name: &str) -> Outcome<bool> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(format!("`{name}` is true or false")),
        }
    }

    /// The words of a command line.
    pub(super) fn words(&mut self, name: &str) -> Outcome<Vec<String>> {
        let Some(Value::Array(words)) = self.0.remove(name) else {
            return Err(format!("`{name}` is a list of words: the program, then its arguments"));
        };
        if words.is_empty() || words.len() > MOST_WORDS {
            return Err(format!(
                "`{name}` has {} words, and 1 to {MOST_WORDS} can be run",
                words.len()
            ));
        }
        let word = |word: Value| match word {
            Value::String(text) => checked(name, text),
            _ => Err(format!("`{name}` is a list of texts")),
        };
        words.into_iter().map(word).collect()
    }
}

fn checked(name: &str, text: String) -> Outcome<String> {
    if text.len() > LONGEST {
        return Err(format!(
            "`{name}` has {} bytes, and at most {LONGEST} are allowed",
            text.len()
        ));
    }
    if text.contains('\0') {
        return Err(format!("`{name}` has a zero byte"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_argument_has_its_kind_and_size() {
        let of = |value: Value| Arguments::new(value, &["a", "b"]);
        assert_eq!(of(json!({ "a": "x" })).unwrap().needed("a").as_deref(), Ok("x"));
        assert_eq!(of(json!({ "a": ["x", "y"] })).unwrap().words("a").unwrap(), ["x", "y"]);
        assert_eq!(of(Value::Null).unwrap().number("a", 1, 9), Ok(None));
        assert!(of(json!({ "c": 1 })).unwrap_err().contains("arguments are a, b"));
        assert!(of(json!([1])).is_err());
        assert!(of(json!({ "a": 3 })).unwrap().text("a").is_err());
        assert!(of(json!({ "a": "x".repeat(1001) })).unwrap().text("a").is_err());
        assert!(of(json!({ "a": "x\0" })).unwrap().text("a").is_err());
        assert!(of(json!({})).unwrap().needed("a").unwrap_err().contains("missing"));
        for wrong in [json!(0), json!(10), json!(-1), json!(1.5), json!("1"), json!(1e300)] {
            assert!(of(json!({ "a": wrong })).unwrap().number("a", 1, 9).is_err(), "{wrong}");
        }
        for wrong in [json!([]), json!("x"), json!([1]), json!(vec!["x"; 65])] {
            assert!(of(json!({ "a": wrong })).unwrap().words("a").is_err(), "{wrong}");
        }
        assert!(of(json!({ "a": "true" })).unwrap().flag("a").is_err());
    }
}
