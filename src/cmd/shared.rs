//! What several subcommands do alike.

pub mod chosen_step;
pub mod diagnosed;
pub mod ignored_options;
pub mod ledger;
pub mod live_step;
pub mod open;
pub mod printer;
pub mod profiling;
