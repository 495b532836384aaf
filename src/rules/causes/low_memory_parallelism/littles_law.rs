//! Bytes in flight by Little's law.

use crate::device::Quantity;
use crate::evidence::ModeledLaunch;
use crate::evidence::threshold::NOISE;
use crate::term::Term;
use crate::text::{byte_rate, count};

pub(super) const RATE: &str = "dram__bytes.sum.per_second";

/// Little's law for DRAM: the bytes that a warp has in flight, what full rate would take, and how
/// many times more that is. `None` where the device's latency is not known.
pub(super) fn in_flight(launch: &ModeledLaunch) -> Option<(String, String)> {
    let nearest = launch.model.busiest().is_some_and(|(term, _)| term == Term::Dram);
    if !nearest || 100.0 * launch.model.idle() >= NOISE {
        return None;
    }
    let facts = launch.profile.device_facts();
    let cycles = facts.get(Quantity::DramLatency)?;
    let hz = launch.quote("gpc__cycles_elapsed.avg.per_second").filter(|&hz| hz > 0.0)?;
    let warps = launch.quote("sm__warps_active.avg.per_cycle_active")?
        * launch.quote("launch__sm_count")?;
    let rate = launch.quote(RATE).filter(|&rate| rate > 0.0)?;
    let share = launch.model.utilization(Term::Dram).filter(|&share| share > 0.0)?;
    let reachable = facts.get(Quantity::DramReadRate).unwrap_or(rate / share);
    let each = |rate: f64| rate * cycles / hz / warps;
    if !(each(rate).is_finite() && each(rate) > 0.0) {
        return None;
    }
    let text = format!(
        " {} of DRAM traffic at a latency of about {} cycles means {} bytes in flight per resident \
         warp; {} would take {}.",
        byte_rate(rate),
        count(cycles),
        count(each(rate)),
        byte_rate(reachable),
        count(each(reachable)),
    );
    Some((text, format!("{:.1} times as many", (reachable / rate).max(1.0))))
}
