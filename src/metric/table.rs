//! The entries of the catalogue, grouped by what they measure.

use super::{Alias, Better, Metric};

/// One entry: name, unit, title, better side, section, label on the details page, other names.
const fn metric(
    name: &'static str,
    unit: &'static str,
    title: &'static str,
    better: Better,
    (section, label): (&'static str, &'static str),
    aliases: &'static [Alias],
) -> Metric {
    Metric { name, unit, title, better, section, label, aliases }
}

/// The same value under another name.
const fn same(name: &'static str) -> Alias {
    Alias { name, scale: 1.0 }
}

/// The same quantity as a ratio where the catalogue has percent.
const fn ratio(name: &'static str) -> Alias {
    Alias { name, scale: 100.0 }
}

use Better::{Higher, Lower, Neither};

/// Every metric that a rule, the model, a report or the diff's headline reads.
#[rustfmt::skip]
pub const CATALOGUE: &[Metric] = &[
    // Time and clocks.
    metric("gpu__time_duration.sum", "ns", "duration under the profiler", Lower, ("SpeedOfLight", "Duration"), &[]),
    metric("gpc__cycles_elapsed.max", "cycle", "elapsed cycles", Lower, ("SpeedOfLight", "Elapsed Cycles"), &[]),
    metric("gpc__cycles_elapsed.avg.per_second", "hz", "SM clock", Neither, ("SpeedOfLight", "SM Frequency"), &[same("smsp__cycles_elapsed.avg.per_second")]),
    metric("dram__cycles_elapsed.avg.per_second", "hz", "DRAM clock", Neither, ("SpeedOfLight", "DRAM Frequency"), &[]),
    metric("sm__cycles_active.avg", "cycle", "SM active cycles", Lower, ("SpeedOfLight", "SM Active Cycles"), &[]),
    metric("sm__cycles_active.max", "cycle", "active cycles of the busiest SM", Lower, ("WorkloadDistribution", ""), &[]),
    metric("sm__cycles_active.min", "cycle", "active cycles of the least busy SM", Neither, ("WorkloadDistribution", ""), &[]),
    metric("sm__cycles_elapsed.avg", "cycle", "SM elapsed cycles", Lower, ("WorkloadDistribution", ""), &[]),
    metric("sm__cycles_elapsed.max", "cycle", "SM elapsed cycles of the longest", Lower, ("WorkloadDistribution", ""), &[]),
    // Throughput maxima.
    metric("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "compute throughput", Neither, ("SpeedOfLight", "Compute (SM) Throughput"), &[]),
    metric("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%", "memory throughput", Neither, ("SpeedOfLight", "Memory Throughput"), &[]),
    metric("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "%", "DRAM throughput", Neither, ("SpeedOfLight", "DRAM Throughput"), &[same("dram__throughput.avg.pct_of_peak_sustained_elapsed")]),
    metric("l1tex__throughput.avg.pct_of_peak_sustained_active", "%", "L1/TEX throughput", Neither, ("SpeedOfLight", "L1/TEX Cache Throughput"), &[]),
    metric("lts__throughput.avg.pct_of_peak_sustained_elapsed", "%", "L2 throughput", Neither, ("SpeedOfLight", "L2 Cache Throughput"), &[]),
    // DRAM.
    metric("dram__bytes.sum.per_second", "byte/s", "DRAM rate", Neither, ("MemoryWorkloadAnalysis", "Memory Throughput"), &[]),
    metric("dram__bytes.sum.peak_sustained", "byte/cycle", "DRAM peak", Neither, ("SpeedOfLight_RooflineChart", ""), &[]),
    metric("dram__bytes_read.sum", "byte", "DRAM bytes read", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[same("dram__bytes_op_read.sum")]),
    metric("dram__bytes_write.sum", "byte", "DRAM bytes written", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[same("dram__bytes_op_write.sum")]),
    metric("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", "%", "DRAM busy", Neither, ("SpeedOfLight", ""), &[]),
    // L2.
    metric("lts__t_sectors.sum", "sector", "L2 sectors", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("lts__t_sectors_op_read.sum", "sector", "L2 sectors read", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("lts__t_sectors_srcunit_tex.sum", "sector", "L2 sectors asked for by L1", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("lts__t_requests_srcunit_tex.sum", "request", "L2 requests of L1", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("lts__t_sectors_srcunit_tex_lookup_miss.sum", "sector", "L2 sectors of L1 that miss", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("lts__t_sectors.avg.pct_of_peak_sustained_elapsed", "%", "L2 sector rate", Neither, ("SpeedOfLight", ""), &[]),
    metric("lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed", "%", "L2 tag requests", Neither, ("SpeedOfLight", ""), &[]),
    metric("lts__d_sectors.avg.pct_of_peak_sustained_elapsed", "%", "L2 data sectors", Neither, ("SpeedOfLight", ""), &[]),
    metric("lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed", "%", "L2 to crossbar busy", Neither, ("SpeedOfLight", ""), &[]),
    metric("lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed", "%", "crossbar to L2 busy", Neither, ("SpeedOfLight", ""), &[]),
    metric("lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed", "%", "L2 atomic unit busy", Neither, ("SpeedOfLight", ""), &[]),
    metric("lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed", "%", "L2 atomic unit of the busiest slice", Neither, ("SpeedOfLight", ""), &[]),
    metric("lts__t_sectors_srcunit_tex_op_red.sum", "sector", "L2 sectors of reductions", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("lts__t_sectors_srcunit_tex_op_atom_dot_alu.sum", "sector", "L2 sectors of atomics", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("lts__t_sectors_srcunit_tex_op_atom_dot_cas.sum", "sector", "L2 sectors of compare-and-swap", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum", "sector", "L2 misses to host memory", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[same("syslts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum")]),
    metric("lts__t_sectors_srcunit_tex_aperture_peer_lookup_miss.sum", "sector", "L2 misses to another device", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("lts__t_sector_hit_rate.pct", "%", "L2 hit rate", Higher, ("MemoryWorkloadAnalysis", "L2 Hit Rate"), &[]),
    // L1.
    metric("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", "%", "L1 data pipe busy", Neither, ("SpeedOfLight", ""), &[]),
    metric("l1tex__data_pipe_lsu_wavefronts.sum", "wavefront", "L1 data pipe wavefronts", Lower, ("", ""), &[]),
    metric("l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed", "%", "LSU requests", Neither, ("SpeedOfLight", ""), &[]),
    metric("l1tex__lsu_writeback_active.avg.pct_of_peak_sustained_elapsed", "%", "L1 write-back busy", Neither, ("SpeedOfLight", ""), &[]),
    metric("l1tex__t_sector_hit_rate.pct", "%", "L1 hit rate", Higher, ("MemoryWorkloadAnalysis", "L1/TEX Hit Rate"), &[]),
    metric("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request", "global load requests", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "global load sectors", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "request", "global store requests", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", "global store sectors", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "request", "local load requests", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "request", "local store requests", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector", "local load sectors", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sector", "local store sectors", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_miss.sum", "sector", "local load sectors that miss L1", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "byte/sector", "bytes used of a loaded sector", Higher, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", "byte/sector", "bytes used of a stored sector", Higher, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    // Shared memory.
    metric("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "wavefront", "shared-memory wavefronts", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefront", "shared load wavefronts", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefront", "shared store wavefronts", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", "wavefront", "shared atomic wavefronts", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed", "%", "shared-memory pipe busy", Neither, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "wavefront", "shared bank conflicts, pipe arbitration included", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "wavefront", "shared load conflicts", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "wavefront", "shared store conflicts", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("smsp__sass_inst_executed_op_shared_ld.sum", "inst", "shared loads", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("smsp__sass_inst_executed_op_shared_st.sum", "inst", "shared stores", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("smsp__inst_executed_op_shared_atom.sum", "inst", "shared atomics", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("smsp__inst_executed_op_global_red.sum", "inst", "global reductions", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "request", "global atomic requests", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "request", "global reduction requests", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("smsp__inst_executed_op_ldsm.sum", "inst", "matrix loads from shared memory", Neither, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("smsp__inst_executed_op_ldgsts.sum", "inst", "copies from global to shared memory", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("smsp__sass_inst_executed_op_global_ld.sum", "inst", "global loads", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("smsp__sass_inst_executed_op_global_st.sum", "inst", "global stores", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("smsp__sass_inst_executed_op_local_ld.sum", "inst", "local loads", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    metric("smsp__sass_inst_executed_op_local_st.sum", "inst", "local stores", Lower, ("MemoryWorkloadAnalysis_Tables", ""), &[]),
    // Per-instruction sums.
    metric("memory_l2_theoretical_sectors_global", "sector", "L2 sectors of global accesses", Lower, ("SourceCounters", ""), &[same("memory_l2_transactions_global")]),
    metric("memory_l2_theoretical_sectors_global_ideal", "sector", "L2 sectors the addresses need", Neither, ("SourceCounters", ""), &[same("memory_ideal_l2_transactions_global")]),
    metric("memory_l1_tag_requests_global", "request", "L1 tag requests of global accesses", Lower, ("SourceCounters", ""), &[]),
    metric("memory_l1_wavefronts_shared", "wavefront", "shared wavefronts by instruction", Lower, ("SourceCounters", ""), &[]),
    metric("memory_l1_wavefronts_shared_ideal", "wavefront", "shared wavefronts needed without conflicts", Neither, ("SourceCounters", ""), &[]),
    metric("sass__inst_executed_register_spilling", "inst", "instructions that spill registers", Lower, ("SourceCounters", ""), &[]),
    // Schedulers.
    metric("smsp__issue_active.avg.pct_of_peak_sustained_active", "%", "issue slots used", Higher, ("SchedulerStats", "One or More Eligible"), &[ratio("smsp__issue_active.avg.per_cycle_active")]),
    metric("smsp__issue_inst0.avg.pct_of_peak_sustained_active", "%", "cycles without an eligible warp", Lower, ("SchedulerStats", "No Eligible"), &[]),
    metric("smsp__warps_active.avg.per_cycle_active", "warp", "active warps a scheduler", Higher, ("SchedulerStats", "Active Warps Per Scheduler"), &[]),
    metric("smsp__warps_eligible.avg.per_cycle_active", "warp", "eligible warps a scheduler", Higher, ("SchedulerStats", "Eligible Warps Per Scheduler"), &[]),
    metric("smsp__maximum_warps_avg_per_active_cycle", "warp", "theoretical warps a scheduler", Higher, ("SchedulerStats", ""), &[]),
    metric("smsp__warps_active.avg.peak_sustained", "warp", "most warps a scheduler can hold", Neither, ("SchedulerStats", ""), &[]),
    metric("smsp__average_warp_latency_per_inst_issued.ratio", "cycle", "cycles between a warp's instructions", Lower, ("WarpStateStats", "Warp Cycles Per Issued Instruction"), &[same("smsp__average_warps_active_per_issue_active.ratio"), same("smsp__average_warp_latency_issue_active.ratio")]),
    metric("smsp__thread_inst_executed_per_inst_executed.ratio", "thread", "active lanes a warp", Higher, ("WarpStateStats", "Avg. Active Threads Per Warp"), &[]),
    metric("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "thread", "lanes at work a warp", Higher, ("WarpStateStats", "Avg. Not Predicated Off Threads Per Warp"), &[]),
    metric("smsp__sass_average_branch_targets_threads_uniform.pct", "%", "uniform branches", Higher, ("SourceCounters", "Branch Efficiency"), &[]),
    metric("smsp__inst_executed.sum", "inst", "instructions executed", Lower, ("InstructionStats", "Executed Instructions"), &[same("inst_executed")]),
    metric("smsp__inst_executed.avg", "inst", "instructions executed a scheduler", Lower, ("InstructionStats", "Avg. Executed Instructions Per Scheduler"), &[]),
    metric("smsp__inst_issued.sum", "inst", "instructions issued", Lower, ("InstructionStats", "Issued Instructions"), &[]),
    metric("sm__inst_executed.avg.per_cycle_active", "inst/cycle", "instructions a cycle and SM", Higher, ("ComputeWorkloadAnalysis", "Executed Ipc Active"), &[]),
    // Pipes.
    metric("sm__issue_active.avg.pct_of_peak_sustained_elapsed", "%", "issue slots busy", Neither, ("SpeedOfLight", ""), &[same("sm__inst_issued.avg.pct_of_peak_sustained_elapsed")]),
    metric("sm__instruction_throughput.avg.pct_of_peak_sustained_elapsed", "%", "SM busy", Neither, ("ComputeWorkloadAnalysis", "SM Busy"), &[]),
    metric("sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed", "%", "LSU pipe", Neither, ("ComputeWorkloadAnalysis", ""), &[]),
    metric("sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", "%", "LSU pipe while active", Neither, ("ComputeWorkloadAnalysis", ""), &[]),
    metric("sm__inst_executed_pipe_adu.avg.pct_of_peak_sustained_elapsed", "%", "ADU pipe", Neither, ("ComputeWorkloadAnalysis", ""), &[]),
    metric("sm__inst_executed_pipe_cbu.avg.pct_of_peak_sustained_elapsed", "%", "CBU pipe", Neither, ("ComputeWorkloadAnalysis", ""), &[]),
    metric("sm__inst_executed_pipe_uniform.avg.pct_of_peak_sustained_elapsed", "%", "uniform pipe", Neither, ("ComputeWorkloadAnalysis", ""), &[]),
    metric("sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed", "%", "XU pipe", Neither, ("ComputeWorkloadAnalysis", ""), &[]),
    metric("sm__inst_executed_pipe_tex.avg.pct_of_peak_sustained_elapsed", "%", "TEX pipe", Neither, ("ComputeWorkloadAnalysis", ""), &[]),
    metric("sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_elapsed", "%", "FP16 pipe", Neither, ("ComputeWorkloadAnalysis", ""), &[same("sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_elapsed")]),
    metric("sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed", "%", "ALU pipe", Neither, ("ComputeWorkloadAnalysis", ""), &[]),
    metric("sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed", "%", "FMA pipe", Neither, ("ComputeWorkloadAnalysis", ""), &[]),
    metric("sm__pipe_fmaheavy_cycles_active.avg.pct_of_peak_sustained_elapsed", "%", "FMA-heavy pipe", Neither, ("ComputeWorkloadAnalysis", ""), &[]),
    metric("sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed", "%", "FP64 pipe", Neither, ("ComputeWorkloadAnalysis", ""), &[]),
    metric("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "%", "tensor pipe", Neither, ("ComputeWorkloadAnalysis", ""), &[]),
    metric("sm__pipe_shared_cycles_active.avg.pct_of_peak_sustained_elapsed", "%", "shared math pipe", Neither, ("ComputeWorkloadAnalysis", ""), &[]),
    metric("idc__request_cycles_active.avg.pct_of_peak_sustained_elapsed", "%", "indexed constants busy", Neither, ("SpeedOfLight", ""), &[]),
    // Launch.
    metric("launch__grid_size", "block", "blocks", Neither, ("LaunchStats", "Grid Size"), &[]),
    metric("launch__block_size", "thread", "threads a block", Neither, ("LaunchStats", "Block Size"), &[]),
    metric("launch__thread_count", "thread", "threads", Neither, ("LaunchStats", "Threads"), &[]),
    metric("device__attribute_gpu_pci_ext_gpu_link_rate", "Mtransfer/s", "host link rate a lane", Neither, ("LaunchStats", ""), &[]),
    metric("device__attribute_gpu_pci_ext_gpu_link_width", "lane", "host link lanes", Neither, ("LaunchStats", ""), &[]),
    metric("launch__sm_count", "SM", "SMs", Neither, ("LaunchStats", "# SMs"), &[same("device__attribute_multiprocessor_count")]),
    metric("launch__waves_per_multiprocessor", "wave", "waves of blocks", Neither, ("LaunchStats", "Waves Per SM"), &[]),
    metric("launch__registers_per_thread", "register/thread", "registers a thread", Neither, ("LaunchStats", "Registers Per Thread"), &[]),
    metric("launch__shared_mem_per_block", "byte/block", "shared memory a block", Neither, ("", ""), &[]),
    metric("launch__shared_mem_per_block_static", "byte/block", "static shared memory a block", Neither, ("LaunchStats", "Static Shared Memory Per Block"), &[]),
    metric("launch__shared_mem_per_block_dynamic", "byte/block", "dynamic shared memory a block", Neither, ("LaunchStats", "Dynamic Shared Memory Per Block"), &[]),
    metric("launch__shared_mem_config_size", "byte", "shared memory an SM is set to", Neither, ("LaunchStats", "Shared Memory Configuration Size"), &[]),
    // Occupancy.
    metric("launch__occupancy_limit_blocks", "block", "blocks an SM by the block slots", Neither, ("Occupancy", "Block Limit SM"), &[]),
    metric("launch__occupancy_limit_registers", "block", "blocks an SM by registers", Neither, ("Occupancy", "Block Limit Registers"), &[]),
    metric("launch__occupancy_limit_shared_mem", "block", "blocks an SM by shared memory", Neither, ("Occupancy", "Block Limit Shared Mem"), &[]),
    metric("launch__occupancy_limit_warps", "block", "blocks an SM by warp slots", Neither, ("Occupancy", "Block Limit Warps"), &[]),
    metric("launch__occupancy_limit_barriers", "block", "blocks an SM by barriers", Neither, ("Occupancy", "Block Limit Barriers"), &[]),
    metric("sm__maximum_warps_per_active_cycle_pct", "%", "theoretical occupancy", Higher, ("Occupancy", "Theoretical Occupancy"), &[]),
    metric("sm__maximum_warps_avg_per_active_cycle", "warp", "theoretical warps an SM", Higher, ("Occupancy", "Theoretical Active Warps per SM"), &[]),
    metric("sm__warps_active.avg.pct_of_peak_sustained_active", "%", "achieved occupancy", Higher, ("Occupancy", "Achieved Occupancy"), &[]),
    metric("sm__warps_active.avg.per_cycle_active", "warp", "achieved warps an SM", Higher, ("Occupancy", "Achieved Active Warps Per SM"), &[]),
    // Arithmetic.
    metric("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed", "inst/cycle", "FP32 additions a cycle", Neither, ("SpeedOfLight_RooflineChart", ""), &[]),
    metric("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed", "inst/cycle", "FP32 multiplications a cycle", Neither, ("SpeedOfLight_RooflineChart", ""), &[]),
    metric("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", "inst/cycle", "FP32 fused multiply-adds a cycle", Neither, ("SpeedOfLight_RooflineChart", ""), &[]),
    metric("sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained", "inst/cycle", "FP32 fused multiply-adds a cycle at most", Neither, ("SpeedOfLight_RooflineChart", ""), &[]),
    // Replay.
    metric("profiler__replayer_passes", "pass", "replay passes", Neither, ("", ""), &[]),
    // Stalls, in cycles a warp spends per issued instruction.
    metric("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "cycle", "barrier stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_barrier.ratio")]),
    metric("smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio", "cycle", "branch resolving stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_branch_resolving.ratio")]),
    metric("smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio", "cycle", "dispatch stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_dispatch_stall.ratio")]),
    metric("smsp__average_warps_issue_stalled_drain_per_issue_active.ratio", "cycle", "store drain stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_drain.ratio")]),
    metric("smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio", "cycle", "constant cache miss stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_imc_miss.ratio")]),
    metric("smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", "cycle", "LG throttle stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_lg_throttle.ratio")]),
    metric("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "cycle", "long scoreboard stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_long_scoreboard.ratio")]),
    metric("smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio", "cycle", "math pipe throttle stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_math_pipe_throttle.ratio")]),
    metric("smsp__average_warps_issue_stalled_membar_per_issue_active.ratio", "cycle", "memory fence stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_membar.ratio")]),
    metric("smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", "cycle", "MIO throttle stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_mio_throttle.ratio")]),
    metric("smsp__average_warps_issue_stalled_misc_per_issue_active.ratio", "cycle", "other stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_misc.ratio")]),
    metric("smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio", "cycle", "no instruction stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_no_instruction.ratio")]),
    metric("smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio", "cycle", "not selected stall", Neither, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_not_selected.ratio")]),
    metric("smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", "cycle", "selected stall", Neither, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_selected.ratio")]),
    metric("smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio", "cycle", "short scoreboard stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_short_scoreboard.ratio")]),
    metric("smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio", "cycle", "sleeping stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_sleeping.ratio")]),
    metric("smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio", "cycle", "TEX throttle stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_tex_throttle.ratio")]),
    metric("smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "cycle", "wait stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_wait.ratio")]),
    metric("smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", "cycle", "warp-group arrive stall", Lower, ("WarpStateStats", ""), &[same("smsp__average_warp_latency_issue_stalled_gmma.ratio")]),
];
