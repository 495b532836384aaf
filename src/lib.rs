//! adoprof: analysis-driven optimization of CUDA kernels from the command line.
//!
//! One way through the house: a profile comes in as an [`export`], becomes [`frame`]s, the [`model`]
//! and the [`rules`] turn each launch into findings, and a report prints them. Everything from the
//! export on is pure: no GPU, no ncu, no clock.

pub mod ceiling;
pub mod diagnose;
pub mod diff;
pub mod document;
pub mod error;
pub mod export;
pub mod finding;
pub mod frame;
pub mod ladder;
pub mod metric;
pub mod model;
pub mod problem;
pub mod rules;
pub mod text;
