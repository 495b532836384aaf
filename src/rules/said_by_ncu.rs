//! Which messages of ncu's own rules mean a fault, and on what such a promise would act.
//!
//! ncu's rules are known by their identifier. Several say different things under one identifier; then
//! words of the message tell which. A message that offers two causes names both.

use crate::metric::stall::StallReason;
use crate::term::Term;

/// A message of ncu's that means the fault of the rule that holds this.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SaidByNcu {
    /// ncu's identifier of its rule.
    pub rule: &'static str,
    /// Words that the message must have, all of them, in lower case; empty where the identifier tells.
    pub words: &'static [&'static str],
    /// Words of the rule's other messages, in lower case: a message that has any of them means
    /// something else.
    pub unless: &'static [&'static str],
    /// What the message's promise would act on.
    pub acts: Acts,
}

/// What taking away all that a message speaks of would act on: the most that its promise could mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Acts {
    /// The work of these units.
    Units(&'static [Term]),
    /// These waits.
    Waits(&'static [StallReason]),
    /// Latency, which more warps would hide.
    Latency,
    /// SMs without work.
    Idle,
    /// Nothing that the time model knows.
    Unknown,
}

impl Acts {
    /// What moves data of global and local memory.
    pub const MEMORY: Self =
        Self::Units(&[Term::L1Data, Term::Lsu, Term::L2, Term::L2Requests, Term::Dram]);
    /// What moves data of shared memory.
    pub const SHARED: Self = Self::Units(&[Term::L1Data, Term::Lsu]);
    /// What executes instructions.
    pub const INSTRUCTIONS: Self = Self::Units(&[
        Term::Issue,
        Term::Fma,
        Term::Alu,
        Term::Fp64,
        Term::Xu,
        Term::Lsu,
        Term::L1Data,
    ]);
}

impl SaidByNcu {
    /// Every message of one of ncu's rules.
    #[must_use]
    pub const fn any(rule: &'static str, acts: Acts) -> Self {
        Self { rule, words: &[], unless: &[], acts }
    }

    /// The messages of one of ncu's rules that have these words.
    #[must_use]
    pub const fn with(rule: &'static str, words: &'static [&'static str], acts: Acts) -> Self {
        Self { rule, words, unless: &[], acts }
    }

    /// A stall that ncu's rule on stalls names with these words.
    #[must_use]
    pub const fn stall(words: &'static [&'static str], reason: &'static [StallReason]) -> Self {
        Self::with("CPIStall", words, Acts::Waits(reason))
    }

    /// The same, except for messages with any of these words.
    #[must_use]
    pub const fn unless(self, unless: &'static [&'static str]) -> Self {
        Self { unless, ..self }
    }

    /// True where a message, in lower case, means this.
    #[must_use]
    pub fn is(&self, rule: &str, message: &str) -> bool {
        self.rule == rule
            && self.words.iter().all(|words| message.contains(words))
            && !self.unless.iter().any(|words| message.contains(words))
    }
}
