//! A rule of a file, checked: its record for the registry, and what it looks at.

use regex::Regex;

use super::language::figure::{self, Figure};
use super::language::format::Template;
use super::language::opcodes::OpcodePattern;
use super::language::tree::{Kind as NodeKind, Node};
use super::language::{Problem, eval};
use super::sentence::sentence;
use super::what_if::WhatIf;
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::{Evidence, Location, Name};
use crate::frame::Launch;
use crate::metric::stall::StallReason;
use crate::rules::{Rule, SASS_PAGE};

/// What every such rule's name begins with in findings.
pub(crate) const PREFIX: &str = "user:";

/// A rule that a user wrote.
#[derive(Debug, Clone)]
pub(crate) struct UserRule {
    /// Its record, as the registry's rules have one.
    pub rule: &'static Rule,
    /// Changes with the rule's text.
    pub revision: u64,
    pub(super) body: Body,
}

/// What a rule does.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub when: Node,
    pub kernel: Option<Regex>,
    pub message: Template,
    pub hint: Template,
    pub lines: Option<LinesOf>,
    pub what_if: Option<WhatIf>,
}

/// Which lines a finding names.
#[derive(Debug, Clone)]
pub(crate) enum LinesOf {
    /// Those with most executed instructions of a pattern.
    Sass(OpcodePattern),
    /// Those with most samples of a stall.
    Stall(StallReason),
}

impl Body {
    /// Every expression of it.
    fn nodes(&self) -> impl Iterator<Item = &Node> {
        let what_if = self.what_if.iter().flat_map(WhatIf::nodes);
        [&self.when].into_iter().chain(self.message.nodes()).chain(self.hint.nodes()).chain(what_if)
    }

    /// The figures without which the rule can't be checked, and whether it reads SASS.
    pub(super) fn needs(&self) -> (Vec<&'static Figure>, bool) {
        let (mut figures, mut sass): (Vec<&'static Figure>, bool) = (Vec::new(), false);
        for node in self.nodes() {
            node.visit(&mut |part| match &part.kind {
                NodeKind::Figure(figure)
                    if figures.iter().all(|known| known.name != figure.name) =>
                {
                    figures.push(figure);
                }
                NodeKind::Opcodes(..) => sass = true,
                _ => {}
            });
        }
        sass |= figures.iter().any(|figure| figure.needs_sass());
        (figures, sass)
    }
}

impl UserRule {
    /// What a launch lacks for this rule. Empty where it can be checked.
    pub(crate) fn missing(&self, case: &ModeledLaunch) -> Vec<Name> {
        let mut missing = self.rule.missing(case.profile);
        let (figures, _) = self.body.needs();
        for figure in figures {
            let is_told =
                figure.metric().is_some_and(|metric| missing.iter().any(|name| *name == metric))
                    || figure.needs_sass() && missing.iter().any(|name| name == SASS_PAGE);
            if !is_told && figure.of(case).is_none() {
                missing.push(figure.name.clone().into());
            }
        }
        missing
    }

    /// The figures and counts that the condition names, with their values in a launch where it tells them.
    pub(crate) fn values(&self, case: &ModeledLaunch) -> Vec<Evidence> {
        told([&self.body.when].into_iter(), case)
    }

    /// True where the rule is about this launch's kernel.
    pub(crate) fn is_about(&self, launch: &Launch) -> bool {
        self.body.kernel.as_ref().is_none_or(|kernel| kernel.is_match(&launch.row.kernel))
    }

    /// Looks at a launch that lacks nothing.
    pub(crate) fn check(&self, case: &ModeledLaunch) -> Option<Draft> {
        let body = &self.body;
        if !eval::holds(&body.when, case) {
            return None;
        }
        Some(Draft {
            message: sentence(&body.message.of(case)),
            evidence: told([&body.when].into_iter().chain(body.message.nodes()), case),
            locations: body.lines.as_ref().map_or_else(Vec::new, |lines| lines.of(case)),
            hint: sentence(&body.hint.of(case)),
            effect: body.what_if.as_ref().map(|what_if| what_if.effect(case)).unwrap_or_default(),
        })
    }
}

/// Every figure and count that expressions name, each once, where the launch tells it.
fn told<'a>(nodes: impl Iterator<Item = &'a Node>, case: &ModeledLaunch) -> Vec<Evidence> {
    let mut told: Vec<Evidence> = Vec::new();
    for node in nodes {
        node.visit(&mut |part| {
            let (name, value, unit) = match &part.kind {
                NodeKind::Figure(figure) | NodeKind::Default(figure, _) => {
                    let Some(value) = figure.of(case) else { return };
                    let name = figure.metric().filter(|_| !figure.name.starts_with("stall_share."));
                    (name.unwrap_or_else(|| figure.name.clone()), value, figure.unit)
                }
                NodeKind::Opcodes(counted, pattern) => {
                    let (word, unit) = counted.words();
                    let name = format!("{word}(\"{}\")", pattern.text());
                    (name, eval::number(part, case), unit)
                }
                _ => return,
            };
            if value.is_finite() && told.iter().all(|known| known.metric != name) {
                let unit = if unit == "share" { "" } else { unit };
                told.push(Evidence::new(name, value, unit));
            }
        });
    }
    told
}

impl LinesOf {
    /// What a file says.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn of_pattern(text: &str) -> Result<Self, Problem> {
        OpcodePattern::parse(text).map(Self::Sass).map_err(|what| Problem::new(0, what))
    }

    /// The lines of a stall, by its word.
    ///
    /// # Errors
    /// That there is no such stall, with the nearest.
    pub(super) fn of_stall(word: &str) -> Result<Self, Problem> {
        figure::stall(word).map(Self::Stall).ok_or_else(|| Problem::new(0, no_stall(word)))
    }

    fn of(&self, case: &ModeledLaunch) -> Vec<Location> {
        match self {
            Self::Stall(reason) => {
                case.stalled_places(&[*reason], &format!("samples of the stall {}", reason.word()))
            }
            Self::Sass(pattern) => case.places_of(&format!("executed {}", pattern.text()), |row| {
                if pattern.matches(&row.text) { row.counters.inst_executed } else { 0.0 }
            }),
        }
    }
}

/// That there is no such stall, with the nearest.
pub(super) fn no_stall(word: &str) -> String {
    let words: Vec<&str> = figure::stalls().map(StallReason::word).collect();
    let meant = crate::text::nearest(word, words.iter().copied());
    let meant = meant.map_or_else(|| ".".to_owned(), |near| format!("; did you mean `{near}`?"));
    format!(
        "there is no stall `{}`{meant} Stalls are {}",
        crate::text::printable(word),
        words.join(", ")
    )
}
