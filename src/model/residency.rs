//! How many blocks run at once.

use crate::frame::Launch;

/// The limits on resident blocks per SM; the smallest wins.
pub const OCCUPANCY_LIMITS: [&str; 5] = [
    "launch__occupancy_limit_blocks",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_warps",
    "launch__occupancy_limit_barriers",
];

/// Blocks that an SM holds at once: the smallest of the limits that were collected; `None` where none was.
#[must_use]
pub fn blocks_per_sm(launch: &Launch) -> Option<f64> {
    OCCUPANCY_LIMITS.iter().filter_map(|name| launch.get(name)).reduce(f64::min)
}
