//! ncu's sections: the display names of the details page and their identifiers.

/// Display name and identifier, as `ncu --list-sections` of 2025.3 prints them, then what other
/// versions say.
const SECTIONS: &[(&str, &str)] = &[
    ("C2CLink", "C2CLink"),
    ("Compute Workload Analysis", "ComputeWorkloadAnalysis"),
    ("Instruction Statistics", "InstructionStats"),
    ("Launch Statistics", "LaunchStats"),
    ("Memory Workload Analysis", "MemoryWorkloadAnalysis"),
    ("Memory Workload Analysis Chart", "MemoryWorkloadAnalysis_Chart"),
    ("Memory Workload Analysis Tables", "MemoryWorkloadAnalysis_Tables"),
    ("NUMA Affinity", "NumaAffinity"),
    ("NVLink", "Nvlink"),
    ("NVLink Tables", "Nvlink_Tables"),
    ("NVLink Topology", "Nvlink_Topology"),
    ("Occupancy", "Occupancy"),
    ("PM Sampling", "PmSampling"),
    ("PM Sampling: Warp States", "PmSampling_WarpStates"),
    ("Scheduler Statistics", "SchedulerStats"),
    ("Source Counters", "SourceCounters"),
    ("GPU Speed Of Light Throughput", "SpeedOfLight"),
    (
        "GPU Speed Of Light Hierarchical Roofline Chart (Double Precision)",
        "SpeedOfLight_HierarchicalDoubleRooflineChart",
    ),
    (
        "GPU Speed Of Light Hierarchical Roofline Chart (Half Precision)",
        "SpeedOfLight_HierarchicalHalfRooflineChart",
    ),
    (
        "GPU Speed Of Light Hierarchical Roofline Chart (Single Precision)",
        "SpeedOfLight_HierarchicalSingleRooflineChart",
    ),
    (
        "GPU Speed Of Light Hierarchical Roofline Chart (Tensor Core)",
        "SpeedOfLight_HierarchicalTensorRooflineChart",
    ),
    ("GPU Speed Of Light Roofline Chart", "SpeedOfLight_RooflineChart"),
    ("Warp State Statistics", "WarpStateStats"),
    ("GPU and Memory Workload Distribution", "WorkloadDistribution"),
    // Until 2021.
    ("GPU Speed Of Light", "SpeedOfLight"),
    // `ncu --metrics` without sections.
    ("Command line profiler metrics", ""),
];

/// The identifier of a section named on the details page, where metric rows carry the display name
/// and rule rows the identifier. Unknown names (a user's own sections) come back unchanged.
#[must_use]
pub fn identifier(name: &str) -> &str {
    SECTIONS.iter().find(|(display, _)| *display == name).map_or(name, |(_, identifier)| identifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_names_become_identifiers() {
        assert_eq!(identifier("GPU Speed Of Light Throughput"), "SpeedOfLight");
        assert_eq!(identifier("SpeedOfLight"), "SpeedOfLight");
        assert_eq!(identifier("My Section"), "My Section");
        assert_eq!(identifier("Command line profiler metrics"), "");
    }

    #[test]
    fn every_catalogue_section_is_known() {
        for metric in crate::metric::CATALOGUE {
            let known = SECTIONS.iter().any(|(_, identifier)| *identifier == metric.section);
            assert!(known, "{}: {}", metric.name, metric.section);
        }
    }
}
