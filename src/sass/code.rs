//! A launch's machine code as data: its instructions, their order, and their counts.

pub mod blocks;
pub mod bystanders;
pub mod charge;
pub mod counts;
pub mod listed_instruction;
pub mod facts;
pub(in crate::sass) mod incoming;
pub mod listing;
pub(in crate::sass) mod live_sets;
pub mod marks;
pub mod mix;
pub mod sass;
pub(in crate::sass) mod written;
