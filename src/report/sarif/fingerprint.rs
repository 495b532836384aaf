//! What makes two results the same finding, although lines moved and numbers changed in between.

use std::collections::HashMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::finding::Location;
use crate::text::hex;

/// The name of the fingerprint; another way to make one gets another number.
const NAME: &str = "adoprof/v1";

/// The fingerprint of a finding: its rule, its kernel, and the text of its first line without the spaces at its
/// ends. Where the profile has no text, the line's number stands for it.
pub(super) fn of(rule: &str, kernel: &str, place: Option<&Location>) -> String {
    let mut hash = Sha256::new();
    for part in [rule, kernel] {
        hash.update(part);
        hash.update([0]);
    }
    if let Some(place) = place {
        hash.update(&place.file);
        hash.update([0]);
        match place.text.trim() {
            "" => hash.update(place.line.to_string()),
            text => hash.update(text),
        }
    }
    hex(&hash.finalize()[..16])
}

/// Writes the fingerprints into the results: the second of the same in one log gets a number, as a kernel's second
/// launch does.
pub(super) fn write(results: &mut [Value], fingerprints: &[String]) {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (result, fingerprint) in results.iter_mut().zip(fingerprints) {
        let before = seen.entry(fingerprint).or_default();
        let unique = match *before {
            0 => fingerprint.clone(),
            n => format!("{fingerprint}:{}", n + 1),
        };
        *before += 1;
        result["partialFingerprints"] = json!({ NAME: unique });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(line: u32, text: &str) -> Location {
        Location {
            file: "k.cu".to_owned(),
            line,
            offset: None,
            share: 0.5,
            share_of: "sectors".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_finding_stays_the_same_where_its_line_moves() {
        let before = of("r", "k", Some(&place(3, "    x[i] = 0;")));
        assert_eq!(before, of("r", "k", Some(&place(9, "x[i] = 0;"))));
        assert_eq!(before.len(), 32);
        for other in [
            of("r", "k", Some(&place(3, "x[i] = 1;"))),
            of("q", "k", Some(&place(3, "x[i] = 0;"))),
            of("r", "l", Some(&place(3, "x[i] = 0;"))),
            of("r", "k", None),
        ] {
            assert_ne!(before, other);
        }
        assert_ne!(of("r", "k", Some(&place(3, ""))), of("r", "k", Some(&place(4, ""))));
    }

    #[test]
    fn the_same_twice_is_told_apart() {
        let mut results = vec![json!({}), json!({}), json!({})];
        write(&mut results, &["a".to_owned(), "b".to_owned(), "a".to_owned()]);
        let of = |at: usize| results[at]["partialFingerprints"][NAME].as_str().unwrap();
        assert_eq!([of(0), of(1), of(2)], ["a", "b", "a:2"]);
    }
}
