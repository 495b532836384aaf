//! Two kernels in turn: quartets of runs, queued together so that the host's pace is no part of a time.

use cudarc::driver::{CudaEvent, CudaFunction, sys};

use super::timing::Flush;
use super::{Companion, Device, Prepared};
use crate::error::Result;
use crate::plan::{Argument, DType, PlannedLaunch};
use crate::timing::Quartet;

/// What the baseline is compared with.
pub enum Candidate<'a> {
    /// Code that works on the baseline's memory.
    Companion(&'a Companion),
    /// Code with memory of its own.
    Own(&'a Prepared),
}

/// A baseline and a candidate that run in turn.
pub struct Interleaved<'a> {
    base: &'a Prepared,
    new: Candidate<'a>,
    flush: Option<Flush>,
    clock: Option<&'a Prepared>,
    /// Where the next reading of the clock goes.
    place: u32,
}

/// How long the clock is watched beside a quartet, ns.
const WATCHED_NS: u32 = 16_000;
/// Readings that the clock's buffer has room for.
pub(crate) const MOST_READINGS: u32 = 1 << 16;

impl<'a> Interleaved<'a> {
    /// Prepares to run both in turn. L2 is overwritten before each run where the buffers of either would stay in it.
    /// `clock` is the kernel that reads the SM's clock beside each quartet, if that is wanted.
    ///
    /// # Errors
    /// [`Environment`](crate::error::Error::Environment) where there is no memory to overwrite L2 with.
    pub fn new(
        device: &Device,
        base: &'a Prepared,
        new: Candidate<'a>,
        clock: Option<&'a Prepared>,
    ) -> Result<Self> {
        let stays = match &new {
            Candidate::Companion(_) => false,
            Candidate::Own(new) => new.stays_in_l2(device),
        };
        let flush =
            if stays { Some(Flush::new(base, 2 * device.l2_bytes)?) } else { base.flush(device)? };
        Ok(Self { base, new, flush, clock, place: 0 })
    }

    /// Runs one quartet: the baseline, the candidate twice, the baseline; the other way round unless
    /// `base_is_outside`.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn quartet(&mut self, base_is_outside: bool) -> Result<Quartet> {
        if let Some(clock) = self.clock {
            let place = self.place % MOST_READINGS;
            self.place += 1;
            clock.put(&clock.on_device.functions, &reading(clock, place))?;
        }
        let order = [base_is_outside, !base_is_outside, !base_is_outside, base_is_outside];
        let mut events = Vec::with_capacity(order.len());
        for is_base in order {
            self.base.restore()?;
            if let Candidate::Own(new) = &self.new {
                new.restore()?;
            }
            if let Some(flush) = &mut self.flush {
                flush.overwrite(self.base)?;
            }
            events.push(self.one(is_base)?);
        }
        if let Some((_, last)) = events.last() {
            self.base.wait(last)?;
        }
        let mut times = [0.0; 4];
        for (time, (start, end)) in times.iter_mut().zip(&events) {
            let ms = start.elapsed_ms(end).map_err(|e| self.base.failed("timing", e))?;
            *time = f64::from(ms) * 1e6;
        }
        let [first, second, third, fourth] = times;
        let (outside, inside) = ([first, fourth], [second, third]);
        let (base_ns, new_ns) = if base_is_outside { (outside, inside) } else { (inside, outside) };
        Ok(Quartet { base_ns, new_ns, clock_hz: None })
    }

    /// Lets the next quartet's reading of the clock be the first.
    pub fn forget_clocks(&mut self) {
        self.place = 0;
    }

    /// Puts one run of either on the stream, between events.
    fn one(&self, is_base: bool) -> Result<(CudaEvent, CudaEvent)> {
        let stream = &self.base.on_device.stream;
        let event = || {
            let event = stream.context().new_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT));
            event.map_err(|e| self.base.failed("timing", e))
        };
        let (start, end) = (event()?, event()?);
        start.record(stream).map_err(|e| self.base.failed("timing", e))?;
        match &self.new {
            _ if is_base => {
                self.base.put(&self.base.on_device.functions, &self.base.plan.launches)?;
            }
            Candidate::Companion(new) => self.base.queue(new)?,
            Candidate::Own(new) => new.put(&new.on_device.functions, &new.plan.launches)?,
        }
        end.record(stream).map_err(|e| self.base.failed("timing", e))?;
        Ok((start, end))
    }

    /// The clocks beside the quartets so far, Hz, oldest first; as many as there is room for.
    ///
    /// # Errors
    /// As [`Prepared::download`].
    pub fn clocks(&self) -> Result<Vec<Option<f64>>> {
        let Some(clock) = self.clock else { return Ok(Vec::new()) };
        let (bytes, _) = clock.download(0)?;
        let words = bytes.chunks_exact(8).filter_map(|word| <[u8; 8]>::try_from(word).ok());
        let words: Vec<f64> = words.map(|word| u64::from_le_bytes(word) as f64).collect();
        let hz = |pair: &[f64]| (pair[1] > 0.0).then(|| pair[0] / pair[1] * 1e9);
        Ok(words.chunks_exact(2).take(self.place.min(MOST_READINGS) as usize).map(hz).collect())
    }
}

/// The clock's kernel with the place where its reading goes.
fn reading(clock: &Prepared, place: u32) -> Vec<PlannedLaunch> {
    let mut launches = clock.plan.launches.clone();
    for launch in &mut launches {
        launch.arguments = vec![
            Argument::Scalar(DType::U32, f64::from(place)),
            Argument::Scalar(DType::U32, f64::from(WATCHED_NS)),
            Argument::Buffer(0),
        ];
    }
    launches
}

impl Prepared {
    /// Puts launches on the stream.
    fn put(&self, functions: &[CudaFunction], launches: &[PlannedLaunch]) -> Result<()> {
        let mut pairs = launches.iter().zip(functions);
        pairs.try_for_each(|(launch, function)| {
            self.launch(launch, function, &self.on_device.textures)
        })
    }
}
