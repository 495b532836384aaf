//! A rule's own keys: its name, its texts, when it fires, and which lines it names.

use toml::Spanned;

use super::reader::Reader;
use super::record::record;
use crate::rules::{Kind, find};
use crate::text::{nearest, printable};
use crate::user_rules::file::{Declared, Lines};
use crate::user_rules::language::format::Template;
use crate::user_rules::language::parser::parse;
use crate::user_rules::language::tree::Node;
use crate::user_rules::language::{reach, types};
use crate::user_rules::rule::{Body, LinesOf, UserRule};

/// The longest text of a rule, bytes.
const LONGEST_TEXT: usize = 4000;

/// The longest name, bytes.
const LONGEST_NAME: usize = 60;

impl Reader<'_> {
    pub(super) fn rule(&mut self, declared: &Declared) -> Option<UserRule> {
        self.name(&declared.name);
        let mut unusable = Vec::new();
        for (key, text) in Self::texts(declared) {
            let what = match text.get_ref() {
                text if text.trim().is_empty() => "is empty".to_owned(),
                text if text.len() > LONGEST_TEXT => {
                    format!("has {} bytes, and at most {LONGEST_TEXT} are allowed", text.len())
                }
                text if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) => {
                    "holds a control character".to_owned()
                }
                _ => continue,
            };
            self.mistake(text.span().start, format!("`{key}` {what}"));
            unusable.push(key);
        }
        // What is wrong as a text is not said again as an expression.
        let is_usable = |key: &str| !unusable.contains(&key);
        let when = is_usable("when").then(|| self.condition(&declared.when)).flatten();
        let message = is_usable("message").then(|| self.template("message", &declared.message));
        let hint = is_usable("hint").then(|| self.template("hint", &declared.hint));
        let kernel = declared.kernel.as_ref().map(|kernel| self.regex(kernel));
        let lines = declared.lines.as_ref().map(|lines| self.lines(lines, declared));
        let what_if = declared.what_if.as_ref().map(|what_if| self.what_if(what_if));
        if what_if.as_ref().is_some_and(|what_if| what_if.nodes().next().is_none()) {
            self.mistake(
                declared.name.span().start,
                "[rule.what-if] names nothing that would disappear; add `removes`, `stalls`, `hidden`, or `idle`, or leave \
                 it out",
            );
        }
        let explains = self.explains(declared);
        // Every part was looked at, so that all mistakes are told at once.
        let body = Body {
            when: when?,
            message: message.flatten()?,
            hint: hint.flatten()?,
            kernel: kernel.flatten(),
            lines: lines.flatten(),
            what_if,
        };
        Some(self.mistakes.is_empty().then(|| record(declared, explains, body))).flatten()
    }

    fn texts(declared: &Declared) -> Vec<(&'static str, &Spanned<String>)> {
        let mut texts = vec![
            ("summary", &declared.summary),
            ("when", &declared.when),
            ("message", &declared.message),
            ("hint", &declared.hint),
        ];
        texts.extend(declared.explanation.as_ref().map(|text| ("explanation", text)));
        texts
    }

    fn name(&mut self, name: &Spanned<String>) {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let text = name.get_ref();
        if text.is_empty() || text.len() > LONGEST_NAME || !text.chars().all(is_letter) {
            let shown: String = text.chars().take(LONGEST_NAME).collect();
            self.mistake(
                name.span().start,
                format!(
                    "`{}` can't be the name of a rule: use at most {LONGEST_NAME} small letters, digits and hyphens",
                    printable(&shown)
                ),
            );
        }
    }

    fn condition(&mut self, text: &Spanned<String>) -> Option<Node> {
        let mut unlike = Vec::new();
        let parsed = parse(text.get_ref()).and_then(|mut node| {
            types::condition(&mut node, &mut unlike)?;
            Ok(node)
        });
        match parsed {
            Ok(node) => {
                unlike.extend(reach::mistakes(&node));
                self.doubt("when", text, &unlike);
                Some(node)
            }
            Err(problem) => {
                self.mistakes.push(self.problem("when", text, &problem));
                None
            }
        }
    }

    fn template(&mut self, key: &str, text: &Spanned<String>) -> Option<Template> {
        let mut unlike = Vec::new();
        let template = Template::parse(text.get_ref(), &mut unlike);
        self.doubt(key, text, &unlike);
        template.map_err(|problem| self.mistakes.push(self.problem(key, text, &problem))).ok()
    }

    fn lines(&mut self, lines: &Lines, declared: &Declared) -> Option<LinesOf> {
        let (key, text, read) = match (&lines.sass, &lines.stall) {
            (Some(text), None) => ("sass", text, LinesOf::of_pattern(text.get_ref())),
            (None, Some(text)) => ("stall", text, LinesOf::of_stall(text.get_ref())),
            _ => {
                self.mistake(
                    declared.name.span().start,
                    "`lines` names one thing: { sass = \"LDG\" } or { stall = \"barrier\" }",
                );
                return None;
            }
        };
        read.map_err(|problem| {
            self.mistakes.push(self.problem(&format!("lines.{key}"), text, &problem));
        })
        .ok()
    }

    fn explains(&mut self, declared: &Declared) -> Vec<String> {
        for name in &declared.explains {
            let text = name.get_ref().as_str();
            let is_symptom = find(text).is_some_and(|rule| rule.kind == Kind::Symptom);
            if !is_symptom {
                let symptoms = crate::rules::RULES.iter().filter(|rule| rule.kind == Kind::Symptom);
                let names: Vec<&str> = symptoms.map(|rule| rule.name).collect();
                let meant = nearest(text, names.iter().copied());
                let meant = meant
                    .map_or_else(|| ".".to_owned(), |near| format!("; did you mean `{near}`?"));
                let problem = format!(
                    "`explains`: `{}` is not a symptom{meant} Symptoms are {}",
                    printable(text),
                    names.join(", ")
                );
                self.mistake(name.span().start, problem);
            }
        }
        declared.explains.iter().map(|name| name.get_ref().clone()).collect()
    }
}
