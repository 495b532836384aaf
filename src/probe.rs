//! What `adoprof doctor --measure` runs on a device and what it makes of the times: pure, so that the
//! sizes and the arithmetic can be checked without a device.

mod figures;
mod kernels;
mod table;

use crate::device::Quantity;

pub(crate) use figures::{Longer, fma_share, latency_cycles, per_extra};
pub(crate) use kernels::{Probe, Sizes, WARM_UP_RUNS};
pub(crate) use table::comparison;

/// A value that was measured.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    /// What was measured.
    pub quantity: Quantity,
    /// In the quantity's unit.
    pub value: f64,
    /// How, in a few words.
    pub how: String,
}
