//! From the labels of the details page to metric names.

use crate::metric;
use crate::metric::stall::StallReason;

/// Labels that the catalogue does not list, most of them because only `--print-details all` shows
/// them: section, label, metric. Checked against the raw page of the same reports.
const LABELS: &[(&str, &str, &str)] = &[
    ("SourceCounters", "L1 Tag Requests Global", "memory_l1_tag_requests_global"),
    ("SourceCounters", "L1 Wavefronts Shared", "memory_l1_wavefronts_shared"),
    ("SourceCounters", "L1 Wavefronts Shared Ideal", "memory_l1_wavefronts_shared_ideal"),
    ("SourceCounters", "L2 Theoretical Sectors Global", "memory_l2_theoretical_sectors_global"),
    (
        "SourceCounters",
        "L2 Theoretical Sectors Global Ideal",
        "memory_l2_theoretical_sectors_global_ideal",
    ),
    ("SourceCounters", "Memory L2 Transactions Global", "memory_l2_theoretical_sectors_global"),
    (
        "SourceCounters",
        "Memory Ideal L2 Transactions Global",
        "memory_l2_theoretical_sectors_global_ideal",
    ),
    (
        "MemoryWorkloadAnalysis_Tables",
        "Average Bytes Per Sector For Global Loads",
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
    ),
    (
        "MemoryWorkloadAnalysis_Tables",
        "Average Bytes Per Sector For Global Stores",
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio",
    ),
    (
        "SpeedOfLight_RooflineChart",
        "Theoretical Predicated-On FFMA Thread Instructions Executed",
        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained",
    ),
    (
        "SpeedOfLight_RooflineChart",
        "Theoretical DRAM Bytes Accessible",
        "dram__bytes.sum.peak_sustained",
    ),
    (
        "SpeedOfLight_RooflineChart",
        "Predicated-On FADD Thread Instructions Executed Per Cycle",
        "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed",
    ),
    (
        "SpeedOfLight_RooflineChart",
        "Predicated-On FMUL Thread Instructions Executed Per Cycle",
        "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed",
    ),
    (
        "SpeedOfLight_RooflineChart",
        "Predicated-On FFMA Thread Instructions Executed Per Cycle",
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed",
    ),
    (
        "SchedulerStats",
        "Theoretical Warps Per Scheduler",
        "smsp__maximum_warps_avg_per_active_cycle",
    ),
    (
        "SchedulerStats",
        "Theoretical Active Warps Per Scheduler",
        "smsp__maximum_warps_avg_per_active_cycle",
    ),
    ("SchedulerStats", "GPU Maximum Warps Per Scheduler", "smsp__warps_active.avg.peak_sustained"),
    ("WorkloadDistribution", "Average SM Active Cycles", "sm__cycles_active.avg"),
    ("SpeedOfLight", "SOL SM", "sm__throughput.avg.pct_of_peak_sustained_elapsed"),
    (
        "SpeedOfLight",
        "SOL Memory",
        "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    ),
];

/// Units of the breakdown tables (`SM: Issue Active`) and how metric names begin for them.
const UNITS: &[(&str, &str)] = &[
    ("SM", "sm__"),
    ("L1", "l1tex__"),
    ("L2", "lts__"),
    ("DRAM", "dram__"),
    ("GPU", "gpu__"),
    ("IDC", "idc__"),
];

/// The name under which a row of the details page is kept.
///
/// `item` is the table's title, empty for the section's header; `repeat` counts the rows before it
/// with the same section, table and label.
pub(super) fn metric(section: &str, item: &str, label: &str, repeat: usize) -> String {
    if let Some(name) = spelled_out(label) {
        return name.to_owned();
    }
    known(section, item, label, repeat).map_or_else(
        || if item.is_empty() { label.to_owned() } else { format!("{item}: {label}") },
        str::to_owned,
    )
}

/// A label that is or ends in the metric's name: `--print-metric-name name` and `label-name`.
fn spelled_out(label: &str) -> Option<&str> {
    let name = label
        .rsplit_once(" (")
        .and_then(|(_, name)| name.strip_suffix(')'))
        .filter(|name| name.contains("__"))
        .unwrap_or(label);
    let is_name = !name.contains(' ') && (name.contains("__") || metric::canonical(name).is_some());
    is_name.then_some(name)
}

fn known(section: &str, item: &str, label: &str, repeat: usize) -> Option<&'static str> {
    if item.is_empty()
        && let Some(metric) = metric::by_label(section, label)
    {
        return Some(metric.name);
    }
    if item.contains("Breakdown") {
        return breakdown(label);
    }
    match section {
        "WarpStateStats" if !item.is_empty() => return stall(label),
        "WorkloadDistribution" if label == "SM Active Cycles" => {
            // In this order they stand in the section's table, and so does the raw page confirm.
            let name = ["sm__cycles_active.avg", "sm__cycles_active.max", "sm__cycles_active.min"]
                .get(repeat)?;
            return metric::canonical(name).map(|(metric, _)| metric.name);
        }
        _ => {}
    }
    LABELS
        .iter()
        .find(|(of, title, _)| *of == section && *title == label)
        .and_then(|(_, _, name)| metric::canonical(name))
        .map(|(metric, _)| metric.name)
}

/// `L1: Data Pipe Lsu Wavefronts` is `l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_…_elapsed`.
fn breakdown(label: &str) -> Option<&'static str> {
    let (unit, words) = label.split_once(": ")?;
    let (_, begin) = UNITS.iter().find(|(title, _)| *title == unit)?;
    let words = words.to_lowercase().replace(' ', "_");
    let name = format!("{begin}{words}.avg.pct_of_peak_sustained_elapsed");
    metric::canonical(&name).map(|(metric, _)| metric.name)
}

/// `Stall LG Throttle` is the stall ratio of `lg_throttle`.
fn stall(label: &str) -> Option<&'static str> {
    let word = label.strip_prefix("Stall ").unwrap_or(label).to_lowercase().replace(' ', "_");
    let reason = StallReason::all().find(|reason| reason.word() == word)?;
    metric::canonical(&reason.ratio_metric()).map(|(metric, _)| metric.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_names() {
        for (section, item, label, name) in [
            ("SpeedOfLight", "", "Duration", "gpu__time_duration.sum"),
            (
                "SpeedOfLight",
                "",
                "Memory Throughput",
                "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
            ),
            ("MemoryWorkloadAnalysis", "", "Memory Throughput", "dram__bytes.sum.per_second"),
            (
                "SpeedOfLight",
                "Memory Throughput Breakdown",
                "L1: Lsuin Requests",
                "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed",
            ),
            (
                "WarpStateStats",
                "Warp State (All Cycles)",
                "Stall IMC Miss",
                "smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio",
            ),
            ("", "", "lts__t_sectors.sum", "lts__t_sectors.sum"),
            ("SpeedOfLight", "", "Duration (gpu__time_duration.sum)", "gpu__time_duration.sum"),
            ("LaunchStats", "", "Cluster Size", "Cluster Size"),
            (
                "Occupancy",
                "Impact of Varying Block Size",
                "Block Size",
                "Impact of Varying Block Size: Block Size",
            ),
        ] {
            assert_eq!(metric(section, item, label, 0), name, "{section} {label}");
        }
    }

    #[test]
    fn repeated_labels_are_different_metrics() {
        let table = |repeat| {
            metric("WorkloadDistribution", "Workload Distribution", "SM Active Cycles", repeat)
        };
        assert_eq!(table(0), "sm__cycles_active.avg");
        assert_eq!(table(1), "sm__cycles_active.max");
        assert_eq!(table(2), "sm__cycles_active.min");
        assert_eq!(table(3), "Workload Distribution: SM Active Cycles");
    }

    #[test]
    fn every_name_of_the_table_is_in_the_catalogue() {
        for (_, label, name) in LABELS {
            assert!(metric::canonical(name).is_some(), "{label}: {name}");
        }
    }
}
