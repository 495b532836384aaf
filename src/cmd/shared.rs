//! What several subcommands do alike.

pub(super) mod browser;
pub(super) mod chosen_step;
pub(super) mod colour;
pub(super) mod devices;
pub(super) mod diagnosed;
pub(super) mod facts;
pub(super) mod ignored_options;
pub(super) mod ledger;
pub(super) mod in_turn;
pub(super) mod live_step;
mod locale;
mod no_commands;
pub(super) mod no_driver;
pub(super) mod not_a_program;
pub(super) mod on_cluster;
pub(super) mod on_device;
pub(super) mod open;
pub(super) mod point_process;
mod pager;
pub(super) mod printer;
pub(super) mod profiling;
pub(super) mod program_step;
