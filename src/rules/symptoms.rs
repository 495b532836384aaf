//! What is seen because of a fault: stalls and idle issue slots.

pub mod barrier_stalls;
pub mod constant_cache_misses;
pub mod fixed_latency_stalls;
pub mod instruction_cache_misses;
pub mod issue_slots_underused;
pub mod lg_throttle;
pub mod long_scoreboard_stalls;
pub mod math_pipe_throttle;
pub mod memory_fence_stalls;
pub mod mio_throttle;
pub mod short_scoreboard_stalls;
pub mod store_drain_stalls;
pub mod tex_throttle;
