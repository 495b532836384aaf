//! Data is read from or written to another device's memory.

use super::remote::{self, ASKED, Remote, THRESHOLDS};
use super::{Kind, Rule};

const SECTORS: &str = "lts__t_sectors_srcunit_tex_aperture_peer_lookup_miss.sum";

const PEER: Remote = Remote {
    sectors: SECTORS,
    term: None,
    place: "another device's memory",
    link: "the link to it",
    hint: "\
Copy the data that {at} waits for to this device's memory before the kernel (cudaMemcpyPeerAsync), once \
if it is used again, and overlap the copy with other work; split the problem so that each device \
works on its own memory and only borders are exchanged.",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "peer-memory-access",
    kind: Kind::Cause,
    summary: "data is read over the bus from another device's memory",
    explanation: "\
With peer access enabled a kernel can follow pointers into another device's memory. Every miss in L2 \
then crosses NVLink or the bus, at a fraction of the rate of the device's own memory and several \
times its latency. The rule counts the sectors that L1 asked for and that L2 fetched from a peer. \
The time without it takes the same bytes from the device's own memory; the copy itself, which \
overlaps with other work at best, is not counted.",
    section: "MemoryWorkloadAnalysis_Tables",
    thresholds: THRESHOLDS,
    needs: &[SECTORS, ASKED],
    explains: &[
        "long-scoreboard-stalls",
        "lg-throttle",
        "store-drain-stalls",
        "memory-fence-stalls",
        "issue-slots-underused",
    ],
    check: |case| remote::check(case, &PEER),
};

#[cfg(test)]
mod tests {
    #[test]
    fn a_twentieth_from_a_peer_counts() {
        super::remote::assert_remote_rule(&super::RULE, super::SECTORS);
    }
}
