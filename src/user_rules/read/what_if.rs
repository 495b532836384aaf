//! What would go without the fault: shares of the model's terms and of stalls.

use std::collections::BTreeMap;

use toml::Spanned;

use super::reader::Reader;
use crate::term::Term;
use crate::text::{nearest, printable};
use crate::user_rules::file::WhatIf as Declared;
use crate::user_rules::language::parser::parse;
use crate::user_rules::language::tree::Kind;
use crate::user_rules::language::unit::Unit;
use crate::user_rules::language::{Problem, figure, types};
use crate::user_rules::rule::no_stall;
use crate::user_rules::what_if::{Share, WhatIf};

impl Reader<'_> {
    pub(super) fn what_if(&mut self, declared: &Declared) -> WhatIf {
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
        let parsed =
            parse(&text).and_then(|mut node| Ok((types::number(&mut node, &mut unlike)?, node)));
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
                let written = match &node.kind {
                    Kind::Number(number, _) => Some(*number),
                    Kind::Negative(inner) => match inner.kind {
                        Kind::Number(number, _) => Some(-number),
                        _ => None,
                    },
                    _ => None,
                };
                if let Some(number) = written
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
}
