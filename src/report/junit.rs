//! Results as JUnit XML, which CI systems show as tests: a failure for what fails a check, a test that passed for
//! what doesn't.

use std::io::{self, Write};

use maud::{Markup, PreEscaped, html};

use super::format::Renderer;
use super::remarks::{self, Level, REFUSAL, Remark};
use super::{Content, Style};
use crate::document::Document;
use crate::text::printable_lines;

/// The form.
pub(super) struct Form;

impl Renderer for Form {
    fn name(&self) -> &'static str {
        "junit"
    }

    fn purpose(&self) -> &'static str {
        "Checks as tests, for CI (JUnit XML)"
    }

    fn refuses_tables(&self) -> Option<&'static str> {
        Some(REFUSAL)
    }

    fn one(&self, content: Content<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
        let remarks = remarks::remarks(content)
            .ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, REFUSAL))?;
        suite(&remarks, matches!(content, Content::Check(_)), out)
    }

    fn several(
        &self,
        documents: &[(String, Document)],
        _: &[String],
        _: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let remarks: Vec<Remark> = documents
            .iter()
            .flat_map(|(name, of)| {
                remarks::document(of)
                    .into_iter()
                    .map(move |one| Remark { case: format!("{name}: {}", one.case), ..one })
            })
            .collect();
        suite(&remarks, false, out)
    }
}

/// The first line of an XML file.
const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// The one suite: a case per remark. A warning of a check is no failure of the code and no success: it is skipped,
/// with its reason. Findings of a profile, which fail nothing, have theirs as output.
fn suite(remarks: &[Remark], is_check: bool, out: &mut dyn Write) -> io::Result<()> {
    let count = |level| remarks.iter().filter(|one| one.level == level).count();
    let skipped = if is_check { count(Level::Warning) } else { 0 };
    let (tests, failures) = (remarks.len(), count(Level::Error));
    let suites = html! {
        testsuites name="adoprof" tests=(tests) failures=(failures) errors="0" {
            testsuite name="adoprof" tests=(tests) failures=(failures) errors="0" skipped=(skipped) time="0" {
                @for one in remarks { (case(one, is_check)) }
            }
        }
    };
    writeln!(out, "{DECLARATION}\n{}", suites.into_string())
}

fn case(remark: &Remark, is_check: bool) -> Markup {
    let text = clean(&remark.text);
    let first = text.lines().next().unwrap_or_default();
    let file = remark.place.as_ref().map(|(file, _)| clean(file));
    let line = remark.place.as_ref().map(|(_, line)| *line);
    html! {
        (PreEscaped("\n"))
        testcase name=(clean(&remark.case)) classname="adoprof" time="0" file=[file] line=[line] {
            @match remark.level {
                Level::Error => failure message=(first) type="regression" { (text) },
                Level::Warning if is_check => skipped message=(first) {},
                _ => system-out { (text) },
            }
        }
    }
}

/// Text without what XML can't hold.
fn clean(text: &str) -> String {
    printable_lines(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;
    use roxmltree::{Document as Xml, Node};

    fn elements<'a>(of: Node<'a, 'a>) -> Vec<Node<'a, 'a>> {
        of.children().filter(Node::is_element).collect()
    }

    /// What readers of JUnit files rely on: the elements, their order, their attributes, and sums that are right.
    fn is_junit(root: Node) {
        assert_eq!(root.tag_name().name(), "testsuites");
        let suites: Vec<Node> = root.children().filter(Node::is_element).collect();
        assert_eq!(suites.len(), 1);
        let suite = suites[0];
        assert_eq!(suite.tag_name().name(), "testsuite");
        let time = suite.attribute("time").unwrap();
        assert!(suite.attribute("name").is_some() && time.parse::<f64>().is_ok());
        let number = |name: &str| suite.attribute(name).unwrap().parse::<usize>().unwrap();
        let cases: Vec<Node> = suite.children().filter(Node::is_element).collect();
        assert_eq!(number("tests"), cases.len());
        let with = |name: &str| {
            let has = |case: &&Node| case.children().any(|child| child.has_tag_name(name));
            cases.iter().filter(has).count()
        };
        assert_eq!(number("failures"), with("failure"));
        assert_eq!(number("skipped"), with("skipped"));
        assert_eq!(number("errors"), 0);
        for name in ["tests", "failures", "errors"] {
            assert_eq!(root.attribute(name), suite.attribute(name));
        }
        for case in cases {
            assert!(case.has_tag_name("testcase"));
            assert!(["name", "classname", "time"].iter().all(|name| case.has_attribute(*name)));
            let inner: Vec<Node> = case.children().filter(Node::is_element).collect();
            assert!(inner.len() <= 1, "{case:?}");
            let known = ["failure", "skipped", "system-out"];
            assert!(inner.iter().all(|child| known.contains(&child.tag_name().name())));
        }
    }

    fn written(content: Content<'_>) -> String {
        let mut out = Vec::new();
        Form.one(content, Style::default(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_check_is_a_suite_with_its_failures() {
        let check = samples::check();
        let text = written((&check).into());
        let xml = Xml::parse(&text).unwrap();
        is_junit(xml.root_element());
        let suite = elements(xml.root_element())[0];
        assert_eq!((suite.attribute("tests"), suite.attribute("failures")), (Some("3"), Some("2")));
        let time = elements(suite)[0];
        assert_eq!(time.attribute("name"), Some("v2 → v3: time"));
        assert_eq!(time.attribute("line"), Some("23"));
        assert!(elements(time)[0].attribute("message").unwrap().contains("SLOWER, +2.10%"));
    }

    #[test]
    fn hostile_names_stay_text() {
        let mut check = samples::check();
        check.new = "k<a>&\"'\u{1b}[2J]]>".to_owned();
        let text = written((&check).into());
        let xml = Xml::parse(&text).unwrap();
        is_junit(xml.root_element());
        let name = elements(elements(xml.root_element())[0])[0].attribute("name").unwrap();
        assert!(name.contains("k<a>&\"'") && !name.contains('\u{1b}'), "{name:?}");
    }

    #[test]
    fn findings_fail_nothing() {
        let step = samples::recorded_step();
        let text = written((&step).into());
        let xml = Xml::parse(&text).unwrap();
        is_junit(xml.root_element());
        let suite = elements(xml.root_element())[0];
        assert_eq!(suite.attribute("failures"), Some("0"));
        assert!(elements(elements(suite)[0])[0].text().unwrap().contains("Worth"));
    }
}
