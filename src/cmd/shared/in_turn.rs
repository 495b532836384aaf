//! A baseline and a candidate on the device, in turn until their times decide.

use std::time::{Duration, Instant};

use crate::error::Result;
use crate::gate::{Comparison, Pace, Trial};
use crate::launch::{Candidate, Device, Interleaved, MOST_READINGS, Prepared};

/// How long both run before times count: clocks rise within the first tenth of a second of work.
const WARM_UP: Duration = Duration::from_millis(100);
/// The part of the time given that the warm-up takes at most.
const WARM_UP_PART: u32 = 10;

/// What is asked of a comparison.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// The slow-down that is allowed, as a share of the time.
    pub max_slowdown: f64,
    /// How long both may run.
    pub max_time: Duration,
}

/// What came of it.
pub(crate) struct InTurn {
    /// What the times say; `None` where they were too few to be looked at.
    pub comparison: Option<Comparison>,
    /// The baseline's times, ns.
    pub base_ns: Vec<f64>,
    /// The candidate's, ns.
    pub new_ns: Vec<f64>,
}

/// Runs both in turn until their times decide or the time is over. `progress` hears how many runs of each there
/// are.
///
/// # Errors
/// As [`Prepared::run`].
pub(crate) fn compare(
    device: &Device,
    base: &Prepared,
    new: Candidate,
    clock: Option<&Prepared>,
    request: Request,
    mut progress: impl FnMut(usize),
) -> Result<InTurn> {
    let is_under_a_wave = is_under_a_wave(device, base)?;
    let mut turns = Interleaved::new(device, base, new, clock)?;
    let start = Instant::now();
    let pace = warm_up(&mut turns, request)?;
    let mut trial = Trial::new(pace, request.max_slowdown, is_under_a_wave);
    let comparison = loop {
        let quartet = turns.quartet(trial.base_is_outside())?;
        trial.push(quartet);
        let is_late = start.elapsed() >= request.max_time || trial.len() >= MOST_READINGS as usize;
        if !is_late && !trial.is_time_to_look() {
            continue;
        }
        progress(2 * trial.len());
        trial.set_clocks(turns.clocks()?);
        let found = trial.look();
        if is_late || found.as_ref().is_some_and(|found| found.verdict.is_decided()) {
            break found;
        }
    };
    let (base_ns, new_ns) = trial.times_ns();
    Ok(InTurn { comparison, base_ns, new_ns })
}

/// Runs quartets that don't count; how fast they come.
fn warm_up(turns: &mut Interleaved, request: Request) -> Result<Pace> {
    let start = Instant::now();
    let limit = WARM_UP.min(request.max_time / WARM_UP_PART);
    let mut last;
    loop {
        let begun = Instant::now();
        turns.quartet(true)?;
        last = begun.elapsed();
        if start.elapsed() >= limit {
            break;
        }
    }
    turns.forget_clocks();
    let budget = request.max_time.saturating_sub(start.elapsed());
    Ok(Pace { quartet_ns: last.as_nanos() as f64, budget_ns: budget.as_nanos() as f64 })
}

/// True where the blocks of the largest launch all fit the device at once.
fn is_under_a_wave(device: &Device, prepared: &Prepared) -> Result<bool> {
    let all = prepared.residencies()?;
    let largest = all.iter().max_by_key(|fill| fill.blocks * u64::from(fill.threads_per_block));
    Ok(largest.is_some_and(|fill| {
        fill.blocks < u64::from(fill.blocks_per_sm) * u64::from(device.sm_count)
    }))
}
