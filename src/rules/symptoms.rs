//! What is seen because of a fault: stalls and idle issue slots.
//!
//! Each line is a rule, in the order in which `explain` lists them.

pub mod barrier_stalls;
pub mod memory_fence_stalls;
pub mod lg_throttle;
pub mod mio_throttle;
pub mod tex_throttle;
pub mod long_scoreboard_stalls;
pub mod short_scoreboard_stalls;
pub mod fixed_latency_stalls;
pub mod math_pipe_throttle;
pub mod instruction_cache_misses;
pub mod constant_cache_misses;
pub mod store_drain_stalls;
pub mod issue_slots_underused;
