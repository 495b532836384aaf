//! Questions that several rules ask of a launch, and the words in which a rule answers.

pub(crate) mod alike;
pub(crate) mod atomic_traffic;
pub(crate) mod atomics;
pub(crate) mod bank_conflicts;
mod draft;
pub(crate) mod fetched_again;
pub(crate) mod idle_lanes;
pub(crate) mod idle_warps;
pub(crate) mod kept_state;
pub(crate) mod language;
pub(crate) mod launches_as_one;
pub(crate) mod linked_memory;
pub(crate) mod loads_in_flight;
pub(crate) mod local_memory;
pub(crate) mod look_ups;
pub(crate) mod modeled_launch;
pub(crate) mod occupancy;
pub(crate) mod passed_on;
pub(crate) mod pauses;
pub(crate) mod products;
pub(crate) mod locations;
pub(crate) mod removal;
pub(crate) mod roof;
pub(crate) mod rounds;
pub(crate) mod shared_pipe;
pub(crate) mod slow_routines;
pub(crate) mod stalls;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod threshold;
pub(crate) mod uneven;
pub(crate) mod vectors;

pub(crate) use crate::threshold::Threshold;
pub(crate) use draft::Draft;
pub(crate) use modeled_launch::ModeledLaunch;
