//! Running NVIDIA's `ncu`: finding it, saying what to collect, running it, reading back its pages.
//!
//! A command is a value ([`NcuCommand`]) before it runs, so `--dry-run` prints exactly what a live
//! run starts. Collection writes a report with `-o`; the pages come from `--import`, never from
//! live output, which mixes ncu's lines with the program's.

pub mod arguments;
mod attended;
pub mod command;
mod group;
mod kept_output;
pub mod level;
pub mod locate;
mod lockstep;
pub mod outcome;
pub mod pages;
mod parts;
pub mod process;
mod program;
pub mod progress;
pub mod run;
pub mod section;
pub mod version;
pub mod watcher;

pub use attended::attend;
pub use command::{CollectRequest, Invocations, NcuCommand, Page, Scope, Via, import, profile};
pub(crate) use group::{ask_to_end, end_all_runs};
pub(crate) use kept_output::keep_end;
pub use level::{Level, Selection, expected_passes, most_passes};
pub use locate::locate;
pub(crate) use lockstep::Lockstep;
pub use pages::import_pages;
pub(crate) use parts::{Part, split};
pub use process::{Limits, TimeLimit};
pub use program::Ncu;
pub use progress::Progress;
pub use run::{Collected, collect, collect_logged, last_lines};
pub use version::Version;
