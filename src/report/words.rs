//! What is said in the same words whatever the form: numbers, findings, steps, comparisons.

pub(crate) mod call_site;
pub(crate) mod check;
pub(crate) mod diff;
pub(crate) mod finding;
pub(crate) mod history;
pub(crate) mod number;
pub(crate) mod order;
pub(crate) mod ranks;
pub(crate) mod run;
pub(crate) mod sentence;
pub(crate) mod steps;
pub(crate) mod subject;
pub(crate) mod sweep;
pub(crate) mod tried;
pub(crate) mod verdict;
