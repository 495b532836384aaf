//! Limits of the hardware: there is no fault to take away.

pub mod at_compute_roof;
pub mod at_memory_roof;
