//! What the two rules on memory behind a link share: host memory, and another device's.

use crate::evidence::threshold::{NOISE, NOISE_SOURCE};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::SECTOR_BYTES;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::model::{NVLINK_BYTES, ceiling, has_nvlink};
use crate::term::Term;
use crate::text::{byte_rate, bytes, percent};

/// Stalls that wait for the link: loads for their data, later accesses for a place in the queue,
/// stores at the end of a warp.
const STALLS: [StallReason; 4] =
    [StallReason::LongScoreboard, StallReason::LgThrottle, StallReason::Drain, StallReason::Membar];

/// The limits of both rules.
pub(crate) const THRESHOLDS: &[Threshold] = &[
    Threshold {
        what: "share of the sectors requested by L1 that come over the link, at least",
        value: NOISE,
        unit: "%",
        source: NOISE_SOURCE,
    },
    Threshold {
        what: "or time that these bytes take at the link's full rate, as a share of the launch's, at least",
        value: NOISE,
        unit: "%",
        source: NOISE_SOURCE,
    },
];

/// What all traffic is compared with.
pub(crate) const ASKED: &str = "lts__t_sectors_srcunit_tex.sum";

/// What DRAM would take for the same bytes follows from these.
pub(crate) const DRAM_RATE: Reads = Reads::always(&[
    "gpu__time_duration.sum",
    "dram__bytes.sum.peak_sustained",
    "dram__cycles_elapsed.avg.per_second",
]);

/// Bytes that reach the SMs over NVLink past L2, where the device has it.
pub(crate) const PAST_L2: Reads = Reads::only_where(has_nvlink, &NVLINK_BYTES);

/// The memory of one rule.
pub(crate) struct Remote {
    /// The sectors that L2 fetches from there.
    pub sectors: &'static str,
    /// Counters of the bytes that reach the SMs past L2, where the device has them.
    pub past_l2: &'static [&'static str],
    /// The model's term for the way there.
    pub term: Term,
    /// Where they lie, after "come from".
    pub place: &'static str,
    /// The way there.
    pub link: &'static str,
    /// The advice; `{at}` stands for the line.
    pub hint: &'static str,
}

/// Fires where a good part of the sectors comes over the link.
pub(crate) fn check(launch: &ModeledLaunch, remote: &Remote) -> Option<Draft> {
    let through_l2 = launch.need(remote.sectors) * SECTOR_BYTES;
    let past_l2: f64 = remote.past_l2.iter().filter_map(|name| launch.get(name)).sum();
    // A byte that L2 fetches over the link passes the link's counters as well.
    let moved = through_l2.max(past_l2);
    let asked = launch.need(ASKED) * SECTOR_BYTES + (past_l2 - through_l2).max(0.0);
    let busy = launch.model.utilization(remote.term).unwrap_or(0.0);
    let many = 100.0 * moved / asked >= NOISE || 100.0 * busy >= NOISE;
    if !(moved > 0.0 && asked > 0.0 && many) {
        return None;
    }
    let rate = launch.profile.duration_ns().map_or_else(String::new, |ns| {
        format!(", at {} over {}", byte_rate(moved / ns * 1e9), remote.link)
    });
    let locations = launch.stalled_places(&STALLS, "waits for memory");
    let at = crate::evidence::modeled_launch::place(&locations, "the kernel");
    Some(Draft {
        message: format!(
            "{} of the data that L1 asks for ({}) comes from {}{rate}; device memory is more than \
             ten times as fast.",
            bytes(moved),
            percent((moved / asked).min(1.0)),
            remote.place,
        ),
        evidence: [(remote.sectors, "sector"), (ASKED, "sector")]
            .into_iter()
            .chain(remote.past_l2.iter().map(|name| (*name, "byte")))
            .filter_map(|(name, unit)| Some(Evidence::new(name, launch.get(name)?, unit)))
            .collect(),
        hint: remote.hint.replace("{at}", &at),
        locations,
        effect: Effect {
            removed: vec![(remote.term, 1.0)],
            added: vec![(Term::Dram, dram_share(launch, moved))],
            stalls: STALLS.iter().map(|&reason| (reason, 1.0)).collect(),
            ..Effect::default()
        },
    })
}

/// The share of the present time for which DRAM would be busy with these bytes; 0 without a duration,
/// or where DRAM's rate is not known.
fn dram_share(launch: &ModeledLaunch, moved: f64) -> f64 {
    let Some(ns) = launch.profile.duration_ns() else { return 0.0 };
    let rate = ceiling::read_bytes_per_s(launch.profile);
    rate.map_or(0.0, |rate| (moved / rate / (ns * 1e-9)).min(1.0))
}
