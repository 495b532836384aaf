//! From a file's text to its rules, each checked as far as it can be without a launch.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::{Regex, RegexBuilder};
use sha2::{Digest, Sha256};
use toml::Spanned;

use super::cases::Case;
use super::file::{Declared, Lines, Origin, WhatIf as DeclaredWhatIf};
use super::language::format::Template;
use super::language::parser::parse;
use super::language::tree::{Kind as NodeKind, Node};
use super::language::unit::Unit;
use super::language::{Problem, figure, reach, types};
use super::rule::{Body, LinesOf, PREFIX, UserRule, no_stall};
use super::what_if::{Share, WhatIf};
use crate::error::{Error, Result};
use crate::rules::{Kind, Rule, SourcePage, find};
use crate::term::Term;
use crate::text::{nearest, printable};

/// The most rules of one file.
const MOST_RULES: usize = 200;
/// The longest text of a rule, bytes.
const LONGEST_TEXT: usize = 4000;
/// The longest name, bytes.
const LONGEST_NAME: usize = 60;
/// The largest program that a pattern of kernels may be compiled to, bytes.
const LARGEST_REGEX: usize = 1 << 20;

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The rules that can be checked.
    pub rules: Vec<UserRule>,
    /// The cases of all rules, in the file's order.
    pub cases: Vec<Case>,
    /// What makes the file unusable.
    pub mistakes: Vec<Error>,
    /// What is surely not meant, with which the rules run all the same: unlike units, conditions that never hold.
    pub doubts: Vec<Error>,
}

/// Reads the text of a file.
pub(crate) fn read(path: &Path, text: &str) -> Contents {
    let origin = Origin { path, text };
    let mut contents = Contents::default();
    let file = match origin.parse() {
        Ok(file) => file,
        Err(error) => {
            contents.mistakes.push(error);
            return contents;
        }
    };
    if file.rules.len() > MOST_RULES {
        let problem =
            format!("the file has {} rules, and {MOST_RULES} are the most", file.rules.len());
        contents.mistakes.push(origin.error(0, problem));
        return contents;
    }
    let names: BTreeSet<String> =
        file.rules.iter().map(|rule| rule.name.get_ref().clone()).collect();
    let mut seen = BTreeSet::new();
    for declared in &file.rules {
        let mut reader =
            Reader { origin: &origin, names: &names, mistakes: Vec::new(), doubts: Vec::new() };
        if !seen.insert(declared.name.get_ref().clone()) {
            reader.mistake(
                declared.name.span().start,
                format!("there are two rules `{}`", printable(declared.name.get_ref())),
            );
        }
        let rule = reader.rule(declared);
        let cases = reader.cases(declared);
        let is_sound = reader.mistakes.is_empty();
        contents.mistakes.append(&mut reader.mistakes);
        contents.doubts.append(&mut reader.doubts);
        contents.cases.extend(cases);
        contents.rules.extend(rule.filter(|_| is_sound));
    }
    contents
}

struct Reader<'a> {
    origin: &'a Origin<'a>,
    /// The names of all rules of the file.
    names: &'a BTreeSet<String>,
    mistakes: Vec<Error>,
    doubts: Vec<Error>,
}

impl Reader<'_> {
    fn mistake(&mut self, at: usize, problem: impl Into<String>) {
        self.mistakes.push(self.origin.error(at, problem));
    }

    /// What is wrong with a key's text, with the part of it at which that is seen.
    fn problem(&self, key: &str, text: &Spanned<impl AsRef<str>>, problem: &Problem) -> Error {
        let whole = text.get_ref().as_ref();
        let rest = whole.get(problem.at..).unwrap_or_default().trim();
        let shown: String = rest.chars().take(30).collect();
        let at = match (problem.at, shown.as_str()) {
            (0, _) | (_, "") => String::new(),
            _ => format!(", at `{}`", printable(&shown)),
        };
        self.origin.error(text.span().start, format!("`{key}`{at}: {}", problem.what))
    }

    fn rule(&mut self, declared: &Declared) -> Option<UserRule> {
        self.name(&declared.name);
        for (key, text) in Self::texts(declared) {
            let what = match text.get_ref() {
                text if text.trim().is_empty() => "is empty".to_owned(),
                text if text.len() > LONGEST_TEXT => {
                    format!("has {} bytes, and {LONGEST_TEXT} are the most", text.len())
                }
                text if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) => {
                    "holds a control character".to_owned()
                }
                _ => continue,
            };
            self.mistake(text.span().start, format!("`{key}` {what}"));
        }
        let when = self.condition(&declared.when);
        let message = self.template("message", &declared.message);
        let hint = self.template("hint", &declared.hint);
        let kernel = declared.kernel.as_ref().map(|kernel| self.regex(kernel));
        let lines = declared.lines.as_ref().map(|lines| self.lines(lines, declared));
        let what_if = declared.what_if.as_ref().map(|what_if| self.what_if(what_if));
        let explains = self.explains(declared);
        // Every part was looked at, so that all mistakes are told at once.
        let body = Body {
            when: when?,
            message: message?,
            hint: hint?,
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
                    "`{}` is no name of a rule: use at most {LONGEST_NAME} small letters, digits and hyphens",
                    printable(&shown)
                ),
            );
        }
    }

    fn condition(&mut self, text: &Spanned<String>) -> Option<Node> {
        let mut unlike = Vec::new();
        let parsed = parse(text.get_ref()).and_then(|node| {
            types::condition(&node, &mut unlike)?;
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

    fn doubt(&mut self, key: &str, text: &Spanned<impl AsRef<str>>, unlike: &[Problem]) {
        let doubts: Vec<Error> =
            unlike.iter().map(|problem| self.problem(key, text, problem)).collect();
        self.doubts.extend(doubts);
    }

    fn template(&mut self, key: &str, text: &Spanned<String>) -> Option<Template> {
        let mut unlike = Vec::new();
        let template = Template::parse(text.get_ref(), &mut unlike);
        self.doubt(key, text, &unlike);
        template.map_err(|problem| self.mistakes.push(self.problem(key, text, &problem))).ok()
    }

    fn regex(&mut self, text: &Spanned<String>) -> Option<Regex> {
        let built = RegexBuilder::new(text.get_ref())
            .size_limit(LARGEST_REGEX)
            .dfa_size_limit(LARGEST_REGEX)
            .build();
        built
            .map_err(|_| {
                self.mistake(
                    text.span().start,
                    "`kernel` is no regular expression, or one that is too large",
                );
            })
            .ok()
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
                    "`explains`: `{}` is no symptom{meant} Symptoms are {}",
                    printable(text),
                    names.join(", ")
                );
                self.mistake(name.span().start, problem);
            }
        }
        declared.explains.iter().map(|name| name.get_ref().clone()).collect()
    }

    fn what_if(&mut self, declared: &DeclaredWhatIf) -> WhatIf {
        let mut what_if = WhatIf {
            removes: self.terms("what-if.removes", &declared.removes),
            adds: self.terms("what-if.adds", &declared.adds),
            stalls: Vec::new(),
            hidden: self.share("what-if.hidden", declared.hidden.as_ref()),
            idle: self.share("what-if.idle", declared.idle.as_ref()),
            least: self.share("what-if.least", declared.least.as_ref()),
        };
        for (word, value) in &declared.stalls {
            match figure::stall(word) {
                Some(reason) => {
                    let share = self.share(&format!("what-if.stalls.{word}"), Some(value));
                    what_if.stalls.extend(share.map(|share| (reason, share)));
                }
                None => self
                    .mistake(value.span().start, format!("`what-if.stalls`: {}", no_stall(word))),
            }
        }
        what_if
    }

    fn terms(
        &mut self,
        key: &str,
        declared: &BTreeMap<String, Spanned<toml::Value>>,
    ) -> Vec<(Term, Share)> {
        let mut terms = Vec::new();
        for (word, value) in declared {
            let Some(term) = figure::term(word) else {
                let meant = nearest(word, figure::TERM_WORDS);
                let meant = meant
                    .map_or_else(|| ".".to_owned(), |near| format!("; did you mean `{near}`?"));
                let known = figure::TERM_WORDS.join(", ");
                let problem = format!(
                    "`{key}`: the model has no term `{}`{meant} Terms are {known}",
                    printable(word)
                );
                self.mistake(value.span().start, problem);
                continue;
            };
            terms.extend(
                self.share(&format!("{key}.{word}"), Some(value)).map(|share| (term, share)),
            );
        }
        terms
    }

    /// A share as a number or an expression in quotes.
    fn share(&mut self, key: &str, value: Option<&Spanned<toml::Value>>) -> Option<Share> {
        let value = value?;
        let text = match value.get_ref() {
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Float(number) => number.to_string(),
            _ => {
                self.mistake(
                    value.span().start,
                    format!("`{key}` is a share: a number from 0 to 1, or an expression in quotes"),
                );
                return None;
            }
        };
        let mut unlike = Vec::new();
        let parsed = parse(&text).and_then(|node| Ok((types::number(&node, &mut unlike)?, node)));
        let text = Spanned::new(value.span(), text);
        match parsed {
            Ok((unit, node)) => {
                let is_percent = unit.is_percent();
                if !is_percent && unit.common(&Unit::plain()).is_none() {
                    unlike.push(Problem::new(
                        0,
                        format!("a share has no unit, and this is in {unit}"),
                    ));
                }
                if let NodeKind::Number(number, _) = node.kind
                    && !is_percent
                    && !(0.0..=1.0).contains(&number)
                {
                    unlike.push(Problem::new(
                        0,
                        format!("a share goes from 0 to 1, and this is {number}"),
                    ));
                }
                self.doubt(key, &text, &unlike);
                Some(Share { node, is_percent })
            }
            Err(problem) => {
                self.mistakes.push(self.problem(key, &text, &problem));
                None
            }
        }
    }

    fn cases(&mut self, declared: &Declared) -> Vec<Case> {
        let mut cases = Vec::new();
        for case in &declared.tests {
            let line = self.origin.line(case.profile.span().start);
            let kernel = match &case.kernel {
                None => None,
                Some(text) => match self.regex(text) {
                    Some(regex) => Some(regex),
                    None => continue,
                },
            };
            if let Some(factor) = &case.factor {
                let [low, high] = *factor.get_ref();
                if !*case.fires.get_ref() {
                    self.mistake(factor.span().start, "a case that does not fire has no factor");
                } else if declared.what_if.is_none() {
                    self.mistake(
                        factor.span().start,
                        "a rule without a [rule.what-if] promises no factor",
                    );
                } else if !(low.is_finite() && high.is_finite() && low <= high) {
                    self.mistake(
                        factor.span().start,
                        "`factor` is the least and the most: factor = [1.1, 1.4]",
                    );
                }
            }
            if !self.names.contains(declared.name.get_ref()) {
                continue;
            }
            cases.push(Case {
                rule: format!("{PREFIX}{}", declared.name.get_ref()),
                profile: case.profile.get_ref().clone(),
                kernel,
                fires: *case.fires.get_ref(),
                factor: case.factor.as_ref().map(|factor| *factor.get_ref()),
                path: self.origin.path.to_owned(),
                line,
            });
        }
        cases
    }
}

/// The rule's record. It lives as long as the program: findings and reports go by records of that kind, and the few
/// that a run reads stay until its end.
fn record(declared: &Declared, explains: Vec<String>, body: Body) -> UserRule {
    let (figures, sass) = body.needs();
    let mut needs: Vec<&'static str> = Vec::new();
    for metric in figures.iter().filter_map(|figure| figure.metric()) {
        if let Some((metric, _)) = crate::metric::canonical(&metric)
            && !needs.contains(&metric.name)
        {
            needs.push(metric.name);
        }
    }
    let section = needs.iter().find_map(|name| {
        let (metric, _) = crate::metric::canonical(name)?;
        (!metric.section.is_empty()).then_some(metric.section)
    });
    let explanation = declared.explanation.as_ref().map_or("", |text| text.get_ref());
    let explanation = format!(
        "{explanation}{}A rule of your own. It fires where {}.",
        if explanation.is_empty() { "" } else { " " },
        declared.when.get_ref().split_whitespace().collect::<Vec<_>>().join(" ")
    );
    let text = format!("{declared:?}");
    let revision = Sha256::digest(text.as_bytes())
        .iter()
        .take(8)
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let explains: Vec<&'static str> = explains.into_iter().map(leaked).collect();
    let rule = Rule {
        name: leaked(format!("{PREFIX}{}", declared.name.get_ref())),
        kind: Kind::Cause,
        summary: leaked(declared.summary.get_ref().trim().to_owned()),
        explanation: leaked(explanation),
        section: section.unwrap_or_default(),
        needs: Vec::leak(needs),
        source_page: if sass { SourcePage::Needed } else { SourcePage::Optional },
        explains: Vec::leak(explains),
        promises: body.what_if.is_some(),
        unrecorded: None,
        ..Rule::DEFAULT
    };
    UserRule { rule: Box::leak(Box::new(rule)), revision, body }
}

fn leaked(text: String) -> &'static str {
    String::leak(text)
}

/// The rules of a text, or its first mistake.
///
/// # Errors
/// [`Error::Manifest`] with the line.
pub(super) fn usable(path: &Path, text: &str) -> Result<Vec<UserRule>> {
    let mut contents = read(path, text);
    if contents.mistakes.is_empty() {
        Ok(contents.rules)
    } else {
        Err(contents.mistakes.swap_remove(0))
    }
}
