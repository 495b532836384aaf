//! What is said in the same words whatever the form: numbers, findings, steps, comparisons.

pub(super) mod diff;
pub(super) mod finding;
pub(super) mod number;
pub(super) mod run;
pub(super) mod sentence;
pub(super) mod steps;
pub(super) mod subject;
pub(super) mod sweep;
pub(super) mod tried;
pub(super) mod verdict;
