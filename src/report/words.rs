//! What is said in the same words whatever the form: numbers, findings, steps, comparisons.

pub mod diff;
pub mod finding;
pub mod number;
pub mod run;
pub mod sentence;
pub mod steps;
pub mod subject;
pub mod sweep;
pub mod verdict;
