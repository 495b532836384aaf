//! Questions that several rules ask of a launch.

pub mod atomics;
pub mod idle_lanes;
pub mod linked_memory;
pub mod local_memory;
pub mod occupancy;
pub mod opcodes;
pub mod packed;
pub mod roof;
pub mod shares;
pub mod slow_routines;
pub mod stalls;
pub mod subject;
pub mod thresholds;
