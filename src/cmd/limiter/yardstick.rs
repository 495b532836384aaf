//! What a kernel is held against: a copy at its occupancy, and what its profile counts.

use std::time::Duration;

use crate::cmd::shared::chosen_step::ChosenStep;
use crate::cmd::shared::open;
use crate::error::{Error, Result};
use crate::finding::Bound;
use crate::frame::Launch;
use crate::launch::{Device, Prepared, Residency, median_and_range};
use crate::limiter::{BusyUnit, CopyRate, Entrant, busy_unit, copy_plan};
use crate::metric::DRAM_BYTES_PARTS;
use crate::model::Model;
use crate::plan::Plan;

/// Bytes of a copy at most: enough for its rate to settle.
const MOST_COPIED: u64 = 1 << 30;
/// Fewer tell nothing: they stay in L2.
const LEAST_COPIED: u64 = 1 << 26;
/// Times a copy is run, the first three to warm up.
const COPIES: usize = 13;

/// Copies with 4 and with 16 bytes per thread, as many threads on an SM as the kernel has.
///
/// # Errors
/// [`Error::Environment`] without memory for it; what a run gives.
pub(super) fn copies(
    device: &Device,
    plan: &Plan,
    full: Entrant,
    limit: Duration,
) -> Result<Vec<CopyRate>> {
    let held: u64 = plan.buffers.iter().map(crate::plan::Buffer::bytes).sum();
    let bytes = (device.free_bytes.saturating_sub(held) / 4).min(MOST_COPIED);
    if bytes < LEAST_COPIED {
        return Err(Error::Environment("the device has no memory left for it".to_owned()));
    }
    let wanted = Residency {
        blocks: full.blocks,
        threads_per_block: full.threads_per_block,
        blocks_per_sm: full.blocks_per_sm,
        added_shared_bytes: 0,
    };
    [4, 16]
        .into_iter()
        .map(|each| {
            let plan = copy_plan(each, full.threads_per_block, bytes);
            let moved = plan.bytes as f64;
            let mut prepared = Prepared::new(device, plan, limit)?;
            let residencies = prepared.match_occupancy(device, &[wanted])?;
            prepared.poison()?;
            let times = (0..COPIES).map(|_| prepared.run()).collect::<Result<Vec<f64>>>()?;
            let ns = median_and_range(&times[3..]).median.max(1.0);
            let threads_per_sm =
                residencies.first().map_or(0, |of| of.blocks_per_sm * of.threads_per_block);
            Ok(CopyRate { bytes_per_thread: each, threads_per_sm, bytes_per_s: moved / ns * 1e9 })
        })
        .collect()
}

/// What the step's profile counts, over all of its launches.
pub(super) struct Counted {
    /// Warp instructions.
    pub instructions: Option<f64>,
    /// Bytes that device memory moved.
    pub bytes: Option<f64>,
    /// What bounds its longest launch.
    pub bound: Bound,
    /// The busiest unit there.
    pub busiest: Option<BusyUnit>,
}

/// The newest local profile of the step at this size, or the recording, where it comes from a device
/// like this one.
pub(super) fn profile(
    chosen: &ChosenStep,
    device: &Device,
    notices: &mut Vec<String>,
) -> Option<Counted> {
    let step = chosen.step.name();
    let missing = |why: &str| {
        format!(
            "instructions per byte and the hardware's rate need a profile of {step} at this size \
             on this GPU{why}: `adoprof step --kernel {step}` makes one"
        )
    };
    let Ok(profile) = open::saved_step(chosen.ladder_argument, step, Some(chosen.size)) else {
        notices.push(missing(""));
        return None;
    };
    let from = profile.meta.as_ref().map(|meta| meta.environment.device.as_str());
    if from != Some(device.name.as_str()) {
        notices.push(missing(" (there is one on another)"));
        return None;
    }
    let launches = Launch::all(&profile.frames).ok()?;
    let sum = |of: &dyn Fn(&Launch) -> Option<f64>| {
        let values: Option<Vec<f64>> = launches.iter().map(of).collect();
        values.filter(|values| !values.is_empty()).map(|values| values.iter().sum())
    };
    let longest = launches
        .iter()
        .max_by(|a, b| a.duration_ns().unwrap_or(0.0).total_cmp(&b.duration_ns().unwrap_or(0.0)))?;
    let model = Model::new(longest);
    Some(Counted {
        instructions: sum(&|launch| {
            launch.get("smsp__inst_issued.sum").or_else(|| launch.get("smsp__inst_executed.sum"))
        }),
        bytes: sum(&|launch| DRAM_BYTES_PARTS.iter().map(|part| launch.get(part)).sum()),
        bound: model.bound(),
        busiest: busy_unit(&model),
    })
}
