//! Faults that can be removed.
//!
//! Each line is a rule, in the order in which `explain` lists them.

pub mod debug_build;
pub mod grid_too_small;
pub mod idle_blocks;
pub mod partial_wave;
pub mod block_size_not_warp_multiple;
pub mod workload_imbalance;
pub mod occupancy_limited_by_registers;
pub mod occupancy_limited_by_shared_memory;
pub mod occupancy_limited_by_block_size;
pub mod achieved_occupancy_below_theoretical;
pub mod uncoalesced_global_access;
pub mod low_memory_parallelism;
pub mod missing_data_reuse;
pub mod shared_bank_conflicts;
pub mod shared_memory_pressure;
pub mod register_spilling;
pub mod local_memory_array;
pub mod narrow_global_access;
pub mod global_atomic_contention;
pub mod shared_atomic_contention;
pub mod host_memory_access;
pub mod peer_memory_access;
pub mod constant_cache_divergence;
pub mod low_instruction_parallelism;
pub mod thread_divergence;
pub mod idle_threads;
pub mod unexpected_fp64;
pub mod select_chain;
pub mod slow_math_functions;
pub mod integer_arithmetic_bound;
pub mod unfused_multiply_add;
pub mod unpacked_half_precision;
pub mod tensor_cores_unused;
pub mod pipeline_too_shallow;
pub mod tile_too_small;
pub mod masked_tiles;
pub mod padded_tiles;
pub mod unaligned_rows;
pub mod operands_converted_in_loop;
pub mod reduction_in_loop;
pub mod reduction_of_few_values;
pub mod instruction_overhead;
pub mod launch_overhead_bound;
