//! A chart's style sheet: rules in the order in which they give way to one another.

use roxmltree::Node;

use super::selector::Selector;
use super::unknown;
use crate::error::Result;

/// The rules, the weightiest last.
#[derive(Debug)]
pub(super) struct Sheet {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    selector: Selector,
    /// Properties and their values.
    declarations: Vec<(String, String)>,
}

impl Sheet {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut rules = Vec::new();
        for part in text.split_inclusive('}').filter(|part| !part.trim().is_empty()) {
            let Some((selector, body)) =
                part.strip_suffix('}').and_then(|part| part.split_once('{'))
            else {
                return Err(unknown(&format!("the style {}", part.trim())));
            };
            let selector = Selector::parse(selector)
                .ok_or_else(|| unknown(&format!("the style of {}", selector.trim())))?;
            let declarations = body.split(';').filter_map(|text| text.split_once(':'));
            let declarations =
                declarations.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
            rules.push(Rule { selector, declarations: declarations.collect() });
        }
        rules.sort_by_key(|rule| rule.selector.weight());
        Ok(Self { rules })
    }

    /// What the sheet says of an element, the last word last.
    pub(super) fn of<'a>(&'a self, node: Node<'a, 'a>) -> impl Iterator<Item = (&'a str, &'a str)> {
        let rules = self.rules.iter().filter(move |rule| rule.selector.matches(node));
        rules
            .flat_map(|rule| &rule.declarations)
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;

    #[test]
    fn the_weightiest_rule_has_the_last_word_and_then_the_later_one() {
        let sheet = Sheet::parse(
            "svg rect.a { fill: #1 } svg rect { fill: #2; x: 1 }\n.b { fill: #3; } .a { fill: #4 }",
        )
        .unwrap();
        let document = Document::parse("<svg><rect class='a b'/></svg>").unwrap();
        let rect = document.root_element().first_child().unwrap();
        let said: Vec<_> = sheet.of(rect).collect();
        assert_eq!(
            said,
            [("fill", "#2"), ("x", "1"), ("fill", "#3"), ("fill", "#4"), ("fill", "#1")]
        );
    }

    #[test]
    fn a_rule_that_is_not_understood_is_an_error() {
        assert!(Sheet::parse("@media print { svg { fill: #1 } }").is_err());
        assert!(Sheet::parse("svg { fill: #1 } svg").is_err());
    }
}
