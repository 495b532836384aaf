//! What a survey leads to.

use super::lockstep::InLockstep;
use crate::document::{Ranks, SurveyedProgram};
use crate::ncu::Invocations;

/// A survey and what to profile after it.
#[derive(Clone)]
pub(crate) struct Plan {
    /// The program and its groups, for the document.
    pub surveyed: SurveyedProgram,
    /// What to profile; `None` where the survey found nothing to choose from.
    pub invocations: Option<Invocations>,
    /// What profiling them takes, in words.
    pub price: String,
    /// What the user should know, each one sentence.
    pub notices: Vec<String>,
    /// True where there was no CUPTI that works.
    pub lacks_cupti: bool,
    /// The functions that may be profiled where others wait for other ranks or devices; empty where none does.
    pub only: Vec<String>,
    /// True where all kernels wait so, which leaves nothing to profile.
    pub all_wait: bool,
    /// True where the time limit ended the survey, which leaves no time to profile anything.
    pub cut_short: bool,
    /// The program's ranks, where it has several.
    pub ranks: Option<Ranks>,
    /// How all ranks are kept in lockstep, where kernels that wait for other ranks are profiled so.
    pub lockstep: Option<InLockstep>,
}

impl Plan {
    /// The survey alone of a program.
    pub(super) fn of_none(
        surveyed: SurveyedProgram,
        notices: Vec<String>,
        lacks_cupti: bool,
    ) -> Self {
        let (invocations, price, only) = (None, String::new(), Vec::new());
        let (all_wait, cut_short, ranks, lockstep) = (false, false, None, None);
        Self {
            surveyed,
            invocations,
            price,
            notices,
            lacks_cupti,
            only,
            all_wait,
            cut_short,
            ranks,
            lockstep,
        }
    }

    /// The expression for ncu that keeps it away from kernels that wait for others; `None` where none does.
    pub(crate) fn kernels(&self) -> Option<String> {
        let names: Vec<String> = self.only.iter().map(|name| regex::escape(name)).collect();
        (!names.is_empty()).then(|| format!("^({})$", names.join("|")))
    }
}
