//! Which elements a rule of a style sheet is for: `svg rect.track`.

use roxmltree::Node;

/// A chain of an element and some that it lies in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Selector {
    /// From the outermost to the element itself.
    chain: Vec<Compound>,
}

#[derive(Debug, PartialEq, Eq)]
struct Compound {
    tag: Option<String>,
    classes: Vec<String>,
}

impl Selector {
    /// Of names and classes; `None` if it uses anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let chain = text.split_whitespace().map(Compound::parse).collect::<Option<Vec<_>>>()?;
        (!chain.is_empty()).then_some(Self { chain })
    }

    /// Among rules for one element the one with more classes wins, then the one with more names.
    pub(super) fn weight(&self) -> (usize, usize) {
        let classes = self.chain.iter().map(|one| one.classes.len()).sum();
        (classes, self.chain.iter().filter(|one| one.tag.is_some()).count())
    }

    pub(super) fn matches(&self, node: Node<'_, '_>) -> bool {
        let Some((own, outer)) = self.chain.split_last() else { return false };
        let mut around = node.ancestors().skip(1).filter(Node::is_element);
        own.matches(node)
            && outer.iter().rev().all(|compound| around.any(|other| compound.matches(other)))
    }
}

impl Compound {
    fn parse(text: &str) -> Option<Self> {
        let is_name =
            |text: &str| text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
        let mut parts = text.split('.');
        let tag = parts.next().filter(|tag| !tag.is_empty()).map(str::to_owned);
        let classes: Vec<String> = parts.map(str::to_owned).collect();
        let sound = tag.iter().chain(&classes).all(|name| !name.is_empty() && is_name(name));
        sound.then_some(Self { tag, classes })
    }

    fn matches(&self, node: Node<'_, '_>) -> bool {
        let has = |class: &String| {
            node.attribute("class")
                .is_some_and(|all| all.split_whitespace().any(|one| one == class))
        };
        self.tag.as_ref().is_none_or(|tag| tag == node.tag_name().name())
            && self.classes.iter().all(has)
    }
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;

    #[test]
    fn names_classes_and_what_they_lie_in_decide() {
        let document =
            Document::parse("<svg><g class='stack wide'><rect class='track'/></g><rect/></svg>")
                .unwrap();
        let of = |selector: &str| {
            let selector = Selector::parse(selector).unwrap();
            document
                .descendants()
                .filter(|node| node.is_element() && selector.matches(*node))
                .count()
        };
        assert_eq!(of("rect"), 2);
        assert_eq!(of("svg rect"), 2);
        assert_eq!(of("rect.track"), 1);
        assert_eq!(of(".stack rect"), 1);
        assert_eq!(of("svg .wide.stack .track"), 1);
        assert_eq!(of("g .stack"), 0);
        assert_eq!(of("line"), 0);
    }

    #[test]
    fn more_classes_weigh_more_than_more_names() {
        let weight = |selector| Selector::parse(selector).unwrap().weight();
        assert!(weight("svg .track") > weight("svg g rect"));
        assert!(weight("svg rect.track") > weight("svg .track"));
    }

    #[test]
    fn what_is_more_than_names_and_classes_is_unknown() {
        for selector in ["a > b", "a:hover", "#id", "a[b]", "", "a..b"] {
            assert_eq!(Selector::parse(selector), None, "{selector}");
        }
    }
}
