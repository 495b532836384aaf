//! Data is read from or written to host memory over the bus.

use crate::evidence::linked_memory;
use crate::evidence::linked_memory::{ASKED, Remote, THRESHOLDS};
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule};
use crate::term::Term;

const SECTORS: &str = "lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum";

const HOST: Remote = Remote {
    sectors: SECTORS,
    past_l2: &[],
    term: Term::HostLink,
    place: "host memory",
    link: "the bus",
    hint: "\
Copy the data that {at} waits for to device memory before the launch (cudaMemcpyAsync, or cudaMemPrefetchAsync \
for managed memory), once for all launches that use it, and overlap the copy with other work in a second \
stream. For managed memory, also look at cudaMemAdvise and page faults.",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "host-memory-access",
    kind: Kind::Cause,
    summary: "data is read over the bus from host memory",
    explanation: "\
A kernel can follow a pointer to mapped (zero-copy) host memory, or to managed memory that lies \
on the host, but every miss in L2 then crosses the bus: tens of gigabytes per second instead of \
hundreds or thousands, and a latency of microseconds. The rule counts the sectors that L1 asked \
for and L2 fetched from host memory. The estimate takes the same bytes from device memory; it \
does not count the copy itself, which at best overlaps with other work.",
    examples: &[Example {
        fault: "\
cudaHostAlloc(&readings, bytes, cudaHostAllocMapped);
fill(readings, n);
for (int pass = 0; pass < 10; ++pass)     // each pass crosses the bus
    smooth<<<blocks, 256>>>(out, readings, n);",
        repair: "\
cudaHostAlloc(&readings, bytes, cudaHostAllocMapped);
fill(readings, n);
cudaMalloc(&on_device, bytes);            // crosses it once
cudaMemcpy(on_device, readings, bytes, cudaMemcpyHostToDevice);
for (int pass = 0; pass < 10; ++pass)
    smooth<<<blocks, 256>>>(out, on_device, n);",
        note: "\
One copy brings the data into device memory, and every pass reads them at its speed; it pays \
from the second read of the same bytes on.",
    }],
    section: "MemoryWorkloadAnalysis_Tables",
    thresholds: THRESHOLDS,
    needs: &[SECTORS, ASKED],
    sharpened_by: &[linked_memory::DRAM_RATE],
    said_by_ncu: &[
        SaidByNcu::with("MemoryApertureUsage", &["system"], Acts::Unknown).unless(&["peer"])
    ],
    explains: &[
        "long-scoreboard-stalls",
        "lg-throttle",
        "store-drain-stalls",
        "memory-fence-stalls",
        "issue-slots-underused",
    ],
    check: |launch| linked_memory::check(launch, &HOST),
    ..Rule::DEFAULT
};

#[cfg(test)]
mod tests {
    #[test]
    fn a_twentieth_from_the_host_counts() {
        crate::rules::testing::assert_remote_rule(&super::RULE, super::SECTORS);
    }

    #[test]
    fn a_link_that_is_busy_counts_however_few_sectors_come_over_it() {
        use crate::rules::testing::{check, launch};
        let rate = "device__attribute_gpu_pci_ext_gpu_link_rate";
        let width = "device__attribute_gpu_pci_ext_gpu_link_width";
        // 16 lanes of 32,000 megabits are 64 GB/s; 4% of the sectors, 128 MB, fill them for 2 ms.
        let of = |ns: f64| {
            let mut launch = launch(&[
                (super::SECTORS, 4.0e6),
                (crate::evidence::linked_memory::ASKED, 1.0e8),
                ("gpu__time_duration.sum", ns),
                (rate, 32_000.0),
                (width, 16.0),
            ]);
            launch.row.device = Some("NVIDIA H200".to_owned());
            check(&super::RULE, &launch)
        };
        assert!(of(2e6 / 0.049).is_none());
        let effect = of(2e6 / 0.051).unwrap().effect;
        // Device memory would take 128 MB / 4.55 TB/s = 28 us of 39 ms.
        let dram = effect.added_to(crate::term::Term::Dram);
        assert!((dram - 128e6 / 4.55e12 / (2e-3 / 0.051)).abs() < 1e-9, "{dram}");
    }
}
