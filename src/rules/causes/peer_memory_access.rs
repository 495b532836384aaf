//! Data is read from or written to another device's memory.

use crate::evidence::linked_memory;
use crate::evidence::linked_memory::{ASKED, Remote, THRESHOLDS};
use crate::model::NVLINK_BYTES;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule};
use crate::term::Term;

const SECTORS: &str = "lts__t_sectors_srcunit_tex_aperture_peer_lookup_miss.sum";

const PEER: Remote = Remote {
    sectors: SECTORS,
    past_l2: &NVLINK_BYTES,
    term: Term::PeerLink,
    place: "another device's memory",
    link: "the link to it",
    hint: "\
Copy the data that {at} waits for to this device's memory before the launch \
(cudaMemcpyPeerAsync), once for all launches that use it, and overlap the copy with other \
work; or split the problem so that each device works on its own memory and the devices exchange \
only borders.",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "peer-memory-access",
    kind: Kind::Cause,
    summary: "data is read from or written to another device's memory",
    explanation: "\
With peer access enabled, a kernel can follow pointers into another device's memory. Every miss \
then crosses NVLink or the bus, at a fraction of the rate of the device's own memory and with \
several times its latency. The rule counts the sectors that L2 fetched from a peer and the data \
that crossed NVLink in either direction. On Hopper, accesses to a peer behind NVLink bypass the \
device's own L2, so that only NVLink's counters show them (nvlrx__bytes_data_user.sum and \
nvltx__bytes_data_user.sum, where the profile has them); these counters include the traffic of \
other kernels. The estimate takes the same bytes from the device's own memory; it does not count \
the copy itself, which at best overlaps with other work.",
    examples: &[Example {
        fault: "\
cudaSetDevice(0);
cudaDeviceEnablePeerAccess(1, 0);
for (int batch = 0; batch < 50; ++batch)  // table lives on device 1
    look_up<<<blocks, 256>>>(out + batch * n, table, n);",
        repair: "\
cudaSetDevice(0);
cudaMalloc(&copy, bytes);
cudaMemcpyPeer(copy, 0, table, 1, bytes);
for (int batch = 0; batch < 50; ++batch)
    look_up<<<blocks, 256>>>(out + batch * n, copy, n);",
        note: "\
The table crosses NVLink or the bus once instead of with every look-up; it takes room on both \
devices and has to be copied again when it changes.",
    }],
    section: "MemoryWorkloadAnalysis_Tables",
    thresholds: THRESHOLDS,
    needs: &[SECTORS, ASKED],
    sharpened_by: &[linked_memory::DRAM_RATE, linked_memory::PAST_L2],
    said_by_ncu: &[SaidByNcu::with("MemoryApertureUsage", &["peer"], Acts::Unknown)],
    explains: &[
        "long-scoreboard-stalls",
        "lg-throttle",
        "store-drain-stalls",
        "memory-fence-stalls",
        "issue-slots-underused",
    ],
    check: |launch| linked_memory::check(launch, &PEER),
    ..Rule::DEFAULT
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, launch};

    #[test]
    fn what_comes_past_l2_counts() {
        // 5 MB over the link, and 95 MB that L2 is asked for.
        let (link, l2) = (PEER.past_l2[0], 95e6 / 32.0);
        let known = launch(&[
            (link, 5e6),
            (ASKED, l2),
            (SECTORS, 0.0),
            ("gpu__time_duration.sum", 1e6),
            ("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", 1.0),
        ]);
        let draft = assert_sides(&RULE, &known, &[&[(link, 4.9e6)], &[(link, 0.0)]]);
        assert!(draft.message.contains("5.00 MB"), "{}", draft.message);
    }

    #[test]
    fn a_twentieth_from_a_peer_counts() {
        crate::rules::testing::assert_remote_rule(&super::RULE, super::SECTORS);
    }
}
