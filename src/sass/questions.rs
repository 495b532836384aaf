//! What rules ask of a launch's instructions: each file answers one question.

pub mod alike;
pub mod arrays;
pub mod bystanders;
pub mod chain;
pub mod divisors;
pub mod doubles;
pub mod few_values;
pub mod fields;
pub mod idle;
pub mod independence;
pub mod lanes;
pub mod made_of_data;
pub mod matrix_loops;
mod neutral;
pub mod passes;
pub mod product;
mod queue;
pub mod reductions;
pub mod saved_registers;
pub mod select_chains;
pub mod self_moves;
pub mod sharing;
mod statements;
pub mod swap;
pub mod tables;
