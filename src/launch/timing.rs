//! How long a step takes: many repetitions, their median and spread.

use std::time::{Duration, Instant};

use cudarc::driver::{CudaSlice, DevicePtrMut, result};

use super::{Companion, Device, Prepared};
use crate::error::{Error, Result};
use crate::timing::Timing;

/// When enough repetitions have been taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repetitions {
    /// At least so many.
    pub least: usize,
    /// At most so many.
    pub most: usize,
    /// No new one after this time, once `least` are there.
    pub budget: Duration,
    /// Stop where the standard error of the median falls below this share of it.
    pub precision: f64,
}

impl Default for Repetitions {
    /// 10 to 100 repetitions, 2 s, 0.1%: a step of 1 ms is settled in a tenth of a second, one of a
    /// second in the budget.
    fn default() -> Self {
        Self { least: 10, most: 100, budget: Duration::from_secs(2), precision: 0.001 }
    }
}

impl Prepared {
    /// Times the step. Where all buffers together would stay in L2 from one repetition to the next,
    /// L2 is overwritten in between, so that a small problem is timed as cold as ncu profiles it. Returns all
    /// times in their order, ns.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn time(
        &self,
        device: &Device,
        repetitions: &Repetitions,
        progress: impl FnMut(usize),
    ) -> Result<Vec<f64>> {
        repeated(repetitions, self.flush(device)?, self, || self.run(), progress)
    }

    /// Times the step with whatever the repetition before left in L2. `None` where that is what
    /// [`time`](Self::time) does, because the step's buffers don't stay there.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn time_warm(&self, device: &Device, repetitions: &Repetitions) -> Result<Option<Timing>> {
        if !self.stays_in_l2(device) {
            return Ok(None);
        }
        repeated(repetitions, None, self, || self.run(), |_| ())
            .map(|times| Some(median_and_range(&times)))
    }

    /// Times the step and its companions in turn: each round runs all of them once, so that a drift
    /// of clocks or temperature meets them alike. The step's time comes first, then theirs in their
    /// order. L2 is overwritten before each run as [`time`](Self::time) does. `progress` hears the
    /// number of rounds done.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn time_in_turn(
        &self,
        device: &Device,
        companions: &[&Companion],
        repetitions: &Repetitions,
        mut progress: impl FnMut(usize),
    ) -> Result<Vec<Timing>> {
        let mut flush = self.flush(device)?;
        let start = Instant::now();
        let mut times_ns = vec![Vec::new(); 1 + companions.len()];
        let budget = repetitions.budget * times_ns.len() as u32;
        for round in 1..=repetitions.most.max(1) {
            for (entrant, times) in times_ns.iter_mut().enumerate() {
                self.restore()?;
                if let Some(flush) = &mut flush {
                    flush.overwrite(self)?;
                }
                times.push(match entrant.checked_sub(1) {
                    None => self.run()?,
                    Some(at) => self.run_companion(companions[at])?,
                });
            }
            progress(round);
            let late = start.elapsed() > budget;
            let least = if late { 3 } else { repetitions.least };
            let precise =
                times_ns.iter().all(|times| standard_error(times) < repetitions.precision);
            if round >= least && (late || precise) {
                break;
            }
        }
        Ok(times_ns.iter().map(|times| median_and_range(times)).collect())
    }

    /// What evicts the step's buffers from L2 between runs, where they would stay there.
    pub(super) fn flush(&self, device: &Device) -> Result<Option<Flush>> {
        self.stays_in_l2(device).then(|| Flush::new(self, 2 * device.l2_bytes)).transpose()
    }

    /// True where part of the step's buffers would still be in L2 at the next repetition.
    pub(super) fn stays_in_l2(&self, device: &Device) -> bool {
        let held: u64 = self.plan.buffers.iter().map(crate::plan::Buffer::bytes).sum();
        // A captured launch may reach far more than it touches.
        self.plan.captured.is_some() || held < 4 * device.l2_bytes
    }

    /// Times anything that works on the step's buffers, in the same way; `run` does it once and
    /// returns how long it took, ns.
    pub(super) fn time_runs(
        &self,
        device: &Device,
        repetitions: &Repetitions,
        run: impl FnMut() -> Result<f64>,
        progress: impl FnMut(usize),
    ) -> Result<Timing> {
        repeated(repetitions, self.flush(device)?, self, run, progress)
            .map(|times| median_and_range(&times))
    }
}

/// Repeats a run until it is known precisely enough, with L2 overwritten before each where a `flush`
/// is given.
fn repeated(
    repetitions: &Repetitions,
    mut flush: Option<Flush>,
    prepared: &Prepared,
    mut run: impl FnMut() -> Result<f64>,
    mut progress: impl FnMut(usize),
) -> Result<Vec<f64>> {
    let start = Instant::now();
    let mut times_ns = Vec::new();
    // A slow step gets fewer repetitions than asked for rather than minutes.
    let least = |spent: Duration| if spent > repetitions.budget { 3 } else { repetitions.least };
    loop {
        prepared.restore()?;
        if let Some(flush) = &mut flush {
            flush.overwrite(prepared)?;
        }
        times_ns.push(run()?);
        progress(times_ns.len());
        let spent = start.elapsed();
        let enough = times_ns.len() >= least(spent);
        if times_ns.len() >= repetitions.most
            || enough
                && (spent > repetitions.budget || standard_error(&times_ns) < repetitions.precision)
        {
            return Ok(times_ns);
        }
    }
}

/// Device memory whose overwriting evicts everything else from L2.
pub(super) struct Flush {
    memory: CudaSlice<u8>,
}

impl Flush {
    pub(super) fn new(prepared: &Prepared, bytes: u64) -> Result<Self> {
        // SAFETY: the memory is only ever written.
        unsafe { prepared.on_device.stream.alloc::<u8>(bytes as usize) }
            .map(|memory| Self { memory })
            .map_err(|e| {
                Error::Environment(format!("the device has no memory left to flush L2 with: {e}"))
            })
    }

    pub(super) fn overwrite(&mut self, prepared: &Prepared) -> Result<()> {
        let bytes = self.memory.len();
        let (pointer, _guard) = self.memory.device_ptr_mut(&prepared.on_device.stream);
        // SAFETY: the pointer and the length are of one live allocation.
        unsafe { result::memset_d8_async(pointer, 0, bytes, prepared.on_device.stream.cu_stream()) }
            .map_err(|e| Error::Kernel(format!("flushing L2: {e}")))
    }
}

/// The standard error of the median over the median, by the interquartile range (1.25 × its
/// normal-distribution sigma, IQR / 1.349, over the root of n).
fn standard_error(times_ns: &[f64]) -> f64 {
    let mut sorted = times_ns.to_vec();
    sorted.sort_by(f64::total_cmp);
    let range = quantile(&sorted, 0.75) - quantile(&sorted, 0.25);
    1.25 * range / 1.349 / (sorted.len() as f64).sqrt() / quantile(&sorted, 0.5).max(1.0)
}

/// Median with the 5th and 95th percentile of times in ns. Zeros for no times.
#[must_use]
pub fn median_and_range(times_ns: &[f64]) -> Timing {
    let mut sorted = times_ns.to_vec();
    sorted.sort_by(f64::total_cmp);
    Timing {
        median: quantile(&sorted, 0.5),
        low: quantile(&sorted, 0.05),
        high: quantile(&sorted, 0.95),
        n: sorted.len(),
    }
}

/// A quantile of sorted values, linear between neighbours.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let at = share * last as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_an_even_number_is_between_the_middle_two() {
        let timing = median_and_range(&[4.0, 1.0, 3.0, 2.0]);
        assert_eq!((timing.median, timing.n), (2.5, 4));
        assert!((timing.low - 1.15).abs() < 1e-12 && (timing.high - 3.85).abs() < 1e-12);
    }

    #[test]
    fn equal_times_have_no_error() {
        assert!(standard_error(&[5.0; 10]) == 0.0);
    }
}
