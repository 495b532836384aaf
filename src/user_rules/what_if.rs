//! What taking a user's fault away does to the model's terms: the same vocabulary as the built-in rules'.

use super::language::eval;
use super::language::tree::Node;
use crate::evidence::ModeledLaunch;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::term::Term;

/// An effect whose shares are worked out for each launch.
#[derive(Debug, Clone, Default)]
pub(crate) struct WhatIf {
    pub removes: Vec<(Term, Share)>,
    pub adds: Vec<(Term, Share)>,
    pub stalls: Vec<(StallReason, Share)>,
    pub hidden: Option<Share>,
    pub idle: Option<Share>,
    pub least: Option<Share>,
}

/// A share of 1 as an expression.
#[derive(Debug, Clone)]
pub(crate) struct Share {
    pub node: Node,
    /// True where the expression is in percent.
    pub is_percent: bool,
}

impl Share {
    /// Its value for a launch, 0 to 1; 0 where it is no number.
    fn of(&self, case: &ModeledLaunch) -> f64 {
        let value = eval::number(&self.node, case) / if self.is_percent { 100.0 } else { 1.0 };
        if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
    }
}

impl WhatIf {
    /// Every expression of it.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        let terms = self.removes.iter().chain(&self.adds).map(|(_, share)| share);
        let stalls = self.stalls.iter().map(|(_, share)| share);
        let rest = [&self.hidden, &self.idle, &self.least].into_iter().flatten();
        terms.chain(stalls).chain(rest).map(|share| &share.node)
    }

    /// The effect for a launch.
    pub(super) fn effect(&self, case: &ModeledLaunch) -> Effect {
        let of = |share: &Option<Share>| share.as_ref().map_or(0.0, |share| share.of(case));
        Effect {
            removed: self.removes.iter().map(|(term, share)| (*term, share.of(case))).collect(),
            added: self.adds.iter().map(|(term, share)| (*term, share.of(case))).collect(),
            stalls: self.stalls.iter().map(|(reason, share)| (*reason, share.of(case))).collect(),
            hidden: of(&self.hidden),
            idle: of(&self.idle),
            least: of(&self.least),
            ..Effect::default()
        }
    }
}
