//! The metrics that the model reads.

use std::sync::LazyLock;

use super::atomics;
use super::counts::{HOST_SECTORS, LINK, PEER_LINK};
use super::residency::OCCUPANCY_LIMITS;
use crate::frame::{Launch, Reads};
use crate::metric;
use crate::metric::stall::StallReason;
use crate::term::Term;

/// Everything that [`Model::new`](super::Model::new) may read of a launch. Without one of them a term is
/// unknown, taken from a count, or without its ceiling.
#[must_use]
pub fn reads() -> Vec<Reads> {
    let counters = Term::ALL.map(|term| Reads::always(term.counters()));
    let rest = [
        Reads::always(TIME),
        Reads::always(DRAM),
        Reads::always(&STALLS.0),
        Reads::only_where(has_warp_groups, &STALLS.1),
        Reads::always(&[HOST_SECTORS]),
        Reads::only_where(|launch| launch.get(HOST_SECTORS).is_some_and(|n| n > 0.0), &LINK),
        Reads::only_where(has_nvlink, &PEER_LINK),
        Reads::stand_in(COUNTED),
        Reads::stand_in(&atomics::BY_MEAN),
        Reads::stand_in(&OCCUPANCY_LIMITS),
        Reads::stand_in(&STAND_INS),
    ];
    counters.into_iter().chain(rest).collect()
}

/// Bytes over NVLink, received and sent.
pub const NVLINK_BYTES: [&str; 2] = ["nvlrx__bytes_data_user.sum", "nvltx__bytes_data_user.sum"];

/// True where the device has NVLink: those without have none of its counters.
#[must_use]
pub fn has_nvlink(launch: &Launch) -> bool {
    PEER_LINK.iter().chain(&NVLINK_BYTES).any(|name| launch.get(name).is_some())
}

/// True where warps can wait for the other warps of their group, which they can from compute
/// capability 9.0 on.
fn has_warp_groups(launch: &Launch) -> bool {
    launch.row.compute_capability.is_some_and(|capability| capability >= (9, 0))
}

const TIME: &[&str] = &[
    "gpu__time_duration.sum",
    "sm__cycles_active.avg",
    "sm__cycles_elapsed.max",
    "gpc__cycles_elapsed.max",
    "launch__grid_size",
    "launch__sm_count",
    "smsp__average_warp_latency_per_inst_issued.ratio",
];

const DRAM: &[&str] = &[
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__bytes.sum.peak_sustained",
    "dram__cycles_elapsed.avg.per_second",
];

/// Counts of work, where a unit's own counter is missing.
const COUNTED: &[&str] = &[
    "smsp__inst_issued.sum",
    "l1tex__data_pipe_lsu_wavefronts.sum",
    "sm__cycles_elapsed.avg",
    "launch__sm_count",
];

static STAND_INS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| Term::ALL.into_iter().filter_map(Term::stand_in).collect());

/// The stalls that every device counts, and those of warp groups.
static STALLS: LazyLock<(Vec<&'static str>, Vec<&'static str>)> = LazyLock::new(|| {
    StallReason::all()
        .filter(|reason| !matches!(reason, StallReason::Selected | StallReason::NotSelected))
        .filter_map(|reason| Some((reason, metric::canonical(&reason.ratio_metric())?.0.name)))
        .fold((Vec::new(), Vec::new()), |(mut all, mut groups), (reason, name)| {
            if reason == StallReason::WarpgroupArrive { &mut groups } else { &mut all }.push(name);
            (all, groups)
        })
});
