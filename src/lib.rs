//! adoprof: analysis-driven optimization of CUDA kernels from the command line.
//!
//! One way through the house: a profile comes in as an [`export`], becomes [`frame`]s, the [`model`]
//! and the [`rules`] turn each launch into findings, and a report prints them. Everything from the
//! export on is pure: no GPU, no ncu, no clock.

pub mod agreement;
pub mod bench;
pub mod cli;
pub mod cmd;
pub mod collect;
pub mod device;
pub mod diagnose;
pub mod diff;
pub mod doctor;
pub mod document;
pub mod error;
mod evidence;
pub mod explain;
pub mod export;
pub mod finding;
pub mod frame;
pub mod interrupt;
pub mod ladder;
pub mod launch;
pub mod ledger;
pub mod limiter;
pub mod metric;
pub mod model;
pub mod ncu;
pub mod plan;
pub mod probe;
pub mod problem;
pub mod profile;
pub mod progress;
pub mod report;
pub mod rules;
pub mod sass;
pub mod store;
pub mod sweep;
pub mod term;
pub mod text;
pub mod timed_run;
pub mod timing;
