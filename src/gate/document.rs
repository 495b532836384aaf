//! What `check` says, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Comparison, Verdict};
use crate::document::{Diff, SCHEMA, Version};
use crate::error::ExitCode;
use crate::finding::Location;
use crate::timing::Timing;

/// What `check` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckDocument {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version that wrote it.
    #[serde(default)]
    pub adoprof: Version,
    /// The baseline, as the user named it.
    pub base: String,
    /// The candidate, as the user named it.
    pub new: String,
    /// How the times came about.
    pub timed: Timed,
    /// What the times say; [`Verdict::Undecided`] where unlike things were not compared.
    pub verdict: Verdict,
    /// The test; `None` where no times were compared or too few.
    pub comparison: Option<Comparison>,
    /// The baseline's times.
    pub base_ns: Option<Timing>,
    /// The candidate's.
    pub new_ns: Option<Timing>,
    /// What makes both unlike.
    pub unlike: Vec<Difference>,
    /// True where `--force` compared them all the same.
    pub forced: bool,
    /// The gates of `--fail-on`.
    pub gates: Vec<GateOutcome>,
    /// What changed beside the time, where both were profiled.
    pub cause: Option<Diff>,
    /// Where the findings that came lie.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
    /// True where nothing failed and all was decided.
    pub passed: bool,
    /// What the process ends with: 0, 1, or 5.
    pub exit_code: u8,
    /// Things to know about this result, each one sentence.
    pub notices: Vec<String>,
}

/// How times came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Timed {
    /// Both ran in turn.
    InTurn,
    /// Each ran at its own time.
    Apart,
    /// Times were not asked for.
    NotAtAll,
}

/// Something in which baseline and candidate are unlike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What: `GPU`, `driver`, `clock`.
    pub what: String,
    /// The baseline's.
    pub base: String,
    /// The candidate's.
    pub new: String,
}

/// What a gate of `--fail-on` came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateOutcome {
    /// The gate as it was written.
    pub gate: String,
    /// What it came to.
    pub outcome: Outcome,
    /// What was seen, one sentence per launch that failed, or why there is nothing to see.
    pub seen: Vec<String>,
    /// The line that is at fault, where one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Location>,
}

/// What a gate came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Nothing crossed it.
    Passed,
    /// Something did.
    Failed,
    /// What it asks for was not measured.
    Unknown,
}

/// Where a finding lies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The rule.
    pub rule: String,
    /// What was seen.
    pub message: String,
    /// The first of its lines.
    pub place: Location,
}

impl CheckDocument {
    /// A check of which nothing is known yet.
    pub(crate) fn new(base: String, new: String, timed: Timed) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            adoprof: Version::default(),
            base,
            new,
            timed,
            verdict: Verdict::Undecided,
            comparison: None,
            base_ns: None,
            new_ns: None,
            unlike: Vec::new(),
            forced: false,
            gates: Vec::new(),
            cause: None,
            places: Vec::new(),
            passed: false,
            exit_code: ExitCode::Undecided as u8,
            notices: Vec::new(),
        }
    }

    /// True where unlike things were not compared.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        !self.unlike.is_empty() && !self.forced
    }

    /// Draws the conclusion from all the rest. Returns the exit code.
    pub(crate) fn conclude(&mut self) -> ExitCode {
        if let Some(comparison) = &self.comparison {
            self.verdict = comparison.verdict;
        }
        let any = |outcome| self.gates.iter().any(|gate| gate.outcome == outcome);
        let is_timed = self.timed != Timed::NotAtAll;
        let code = if self.is_refused() {
            ExitCode::Undecided
        } else if any(Outcome::Failed) || is_timed && self.verdict == Verdict::Slower {
            ExitCode::Regression
        } else if any(Outcome::Unknown) || is_timed && !self.verdict.is_decided() {
            ExitCode::Undecided
        } else {
            ExitCode::Success
        };
        self.passed = code == ExitCode::Success;
        self.exit_code = code as u8;
        code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(outcome: Outcome) -> GateOutcome {
        GateOutcome { gate: "rule:x".to_owned(), outcome, seen: Vec::new(), place: None }
    }

    fn code(verdict: Verdict, timed: Timed, gates: &[Outcome], is_unlike: bool) -> u8 {
        let mut document = CheckDocument::new("a".to_owned(), "b".to_owned(), timed);
        document.verdict = verdict;
        document.gates = gates.iter().map(|outcome| gate(*outcome)).collect();
        if is_unlike {
            let word = |text: &str| text.to_owned();
            document.unlike =
                vec![Difference { what: word("GPU"), base: word("A"), new: word("B") }];
        }
        document.conclude() as u8
    }

    #[test]
    fn exit_codes_are_the_contracts() {
        use Outcome::{Failed, Passed, Unknown};
        use Verdict::{Faster, Same, Slower, Undecided};
        let timed = |verdict, gates: &[Outcome]| code(verdict, Timed::InTurn, gates, false);
        assert_eq!(timed(Same, &[]), 0);
        assert_eq!(timed(Faster, &[Passed]), 0);
        assert_eq!(timed(Slower, &[]), 1);
        assert_eq!(timed(Undecided, &[]), 5);
        assert_eq!(timed(Undecided, &[Failed]), 1, "a counter that failed needs no time");
        assert_eq!(timed(Same, &[Unknown]), 5);
        assert_eq!(timed(Same, &[Failed, Unknown]), 1);
        assert_eq!(
            code(Undecided, Timed::NotAtAll, &[Passed], false),
            0,
            "times were not asked for"
        );
        assert_eq!(code(Slower, Timed::Apart, &[Failed], true), 5, "unlike things are not judged");
    }
}
