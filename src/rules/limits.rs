//! Limits of the hardware: there is no fault to remove.
//!
//! Each line is a rule, in the order in which `explain` lists them.

pub mod at_memory_roof;
pub mod at_compute_roof;
