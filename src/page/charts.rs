//! The charts, one in a file: pure functions from documents and launches to a [`Figure`](super::figure::Figure).

mod axis;
pub(super) mod bars;
pub(super) mod calibration;
pub(super) mod history;
mod labels;
pub(super) mod ladder;
pub(super) mod memory;
pub(super) mod occupancy;
pub(super) mod program;
pub(super) mod resources;
pub(super) mod roofline;
pub(super) mod schedulers;
pub(super) mod stalls;
