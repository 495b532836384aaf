//! SARIF's list of rules: the rules' own texts, which no document repeats.

use serde_json::{Value, json};

use crate::user_rules::PREFIX;
use crate::{around, explain, rules};

/// A rule as SARIF describes it.
pub(super) fn descriptor(id: &str) -> Value {
    let mut descriptor = match (rules::find(id), around::find(id)) {
        (Some(rule), _) => json!({
            "id": id,
            "shortDescription": { "text": rule.summary },
            "fullDescription": { "text": rule.explanation },
            "help": { "text": rule.explanation, "markdown": explain::help(rule) },
        }),
        (None, Some(rule)) => json!({
            "id": id,
            "shortDescription": { "text": first_sentence(rule.checks) },
            "fullDescription": { "text": rule.checks },
            "help": {
                "text": format!("{} {}", rule.checks, rule.hint),
                "markdown": format!("{}\n\n{}", rule.checks, rule.hint),
            },
        }),
        (None, None) => return json!({ "id": id }),
    };
    // A user's rule is explained by its own file alone.
    if !id.starts_with(PREFIX) {
        descriptor["helpUri"] = json!(help_address(id));
    }
    descriptor["properties"] = json!({ "tags": ["cuda", "performance"] });
    descriptor
}

/// The page of this version that explains a rule: in the repository where the package names one, else in what
/// docs.rs keeps of each version.
fn help_address(id: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    match env!("CARGO_PKG_REPOSITORY").trim_end_matches('/') {
        "" => format!("https://docs.rs/crate/adoprof/{version}/source/docs/rules.md#{id}"),
        repository => format!("{repository}/blob/v{version}/docs/rules.md#{id}"),
    }
}

/// The text up to its first full stop before a space.
fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_help_and_where_to_read_it() {
        let names = rules::RULES.iter().map(|rule| rule.name);
        for name in names.chain(around::RULES.iter().map(|rule| rule.name)) {
            let descriptor = descriptor(name);
            for text in ["shortDescription", "fullDescription", "help"] {
                assert!(
                    descriptor[text]["text"].as_str().is_some_and(|text| text.len() > 20),
                    "{name}"
                );
            }
            let address = descriptor["helpUri"].as_str().unwrap();
            assert!(address.starts_with("https://") && address.ends_with(&format!("#{name}")));
        }
        assert_eq!(descriptor("of-a-later-version"), json!({ "id": "of-a-later-version" }));
    }

    #[test]
    fn sentences_end_at_a_full_stop() {
        assert_eq!(first_sentence("At 1.5 GHz. Then more."), "At 1.5 GHz.");
        assert_eq!(first_sentence("No end"), "No end");
    }
}
