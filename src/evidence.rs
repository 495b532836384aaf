//! Questions that several rules ask of a launch, and the words in which a rule answers.

pub mod atomics;
pub mod bank_conflicts;
mod draft;
pub mod idle_lanes;
pub mod linked_memory;
pub mod local_memory;
pub mod modeled_launch;
pub mod occupancy;
pub mod removal;
pub mod roof;
pub mod shared_pipe;
pub mod slow_routines;
pub mod stalls;
#[cfg(test)]
pub(crate) mod testing;
pub mod threshold;

pub use crate::threshold::Threshold;
pub use draft::Draft;
pub use modeled_launch::ModeledLaunch;
