//! Where else an array of each thread's own could live, by its size.

use crate::device::Quantity;
use crate::evidence::ModeledLaunch;
use crate::evidence::modeled_launch::OCCUPANCY_LIMITS;
use crate::frame::{Launch, Reads};
use crate::hardware::{MOST_REGISTERS, REGISTER_BYTES};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::sass::Listing;
use crate::sass::questions::arrays::{self, Array};
use crate::sass::questions::made_of_data::is_at_data;

/// Bytes of shared memory that a block takes, the system's among them.
pub(super) const SHARED_OF_BLOCK: &str = "launch__shared_mem_per_block";

/// What tells whether an array fits shared memory, where it has to.
pub(super) const ROOM: [Reads; 2] = [
    Reads::only_where(has_large, &[SHARED_OF_BLOCK]),
    Reads::only_where(has_large, &OCCUPANCY_LIMITS),
];

/// Bytes that a thread's registers hold, at most.
pub(super) const REGISTERS_HOLD: f64 = MOST_REGISTERS * REGISTER_BYTES;

/// Elements up to which one may be chosen among all by comparisons where data decide which. A choice among registers takes an
/// instruction per element; a load that hits L1 takes about 33 cycles (Luo et al., Dissecting the NVIDIA Hopper Architecture, 2024).
pub(super) const CHOSEN_BY_DATA: f64 = 32.0;

/// True where some array can't live in registers.
fn has_large(launch: &Launch) -> bool {
    launch.listing().is_some_and(|listing| {
        let mut found = arrays::find(&listing).into_iter();
        found.any(|array| array.bytes as f64 > REGISTERS_HOLD || is_by_data(&listing, &array))
    })
}

/// True where data decide which of many elements is accessed: no unrolling makes the compiler know it.
fn is_by_data(listing: &Listing, array: &Array) -> bool {
    let is_long = |at: usize| arrays::elements(listing, array, at) > CHOSEN_BY_DATA;
    let executed = array.accesses.iter().copied().filter(|&at| listing.executed(at) > 0.0);
    let long: Vec<usize> = executed.filter(|&at| is_long(at)).collect();
    !long.is_empty() && is_at_data(listing, &long)
}

/// Where an array could live.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Home {
    /// Its bytes per thread.
    pub bytes: f64,
    /// True where data decide which of many elements is accessed.
    pub is_by_data: bool,
    /// What it would be in shared memory; `None` where the device or the block is not known.
    pub shared: Option<InShared>,
}

/// An array in shared memory, with a column for each thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct InShared {
    /// Threads of a block.
    pub threads: f64,
    /// Bytes of the array for all threads of a block.
    pub of_block: f64,
    /// Bytes of shared memory that an SM has.
    pub of_sm: f64,
    /// Blocks that an SM then holds; 0 where not even one fits.
    pub blocks: f64,
    /// Blocks that it holds now.
    pub blocks_now: Option<f64>,
}

impl Home {
    /// Of an array.
    pub(super) fn of(launch: &ModeledLaunch, listing: &Listing, array: &Array) -> Self {
        let bytes = array.bytes as f64;
        let is_by_data = is_by_data(listing, array);
        let is_large = bytes > REGISTERS_HOLD || is_by_data;
        Self { bytes, is_by_data, shared: InShared::of(launch, bytes, is_large) }
    }

    /// True where a thread has registers for it.
    pub(super) fn fits_registers(&self) -> bool {
        self.bytes <= REGISTERS_HOLD && !self.is_by_data
    }

    /// True where it can leave local memory, as far as is known.
    pub(super) fn can_move(&self) -> bool {
        self.fits_registers() || self.shared.is_none_or(|shared| shared.fits())
    }

    /// True where it can only live in shared memory.
    pub(super) fn is_shared_alone(&self) -> bool {
        !self.fits_registers() && self.shared.is_some_and(|shared| shared.fits())
    }

    /// The part of the present time that remains at least in shared memory: with fewer warps each of them has to
    /// get through its own waits so much faster (Little's law).
    pub(super) fn least(&self, listing: &Listing, effect: &Effect) -> f64 {
        let Some(fewer) = self.shared.and_then(|shared| shared.fewer_blocks()) else { return 0.0 };
        // Where a warp is ready and another one runs, there are warps to spare.
        let waits = || StallReason::all().filter(|&reason| reason != StallReason::NotSelected);
        let samples = |reason| listing.sass.counts.stall_samples(reason);
        let all: f64 = waits().map(samples).sum();
        let gone: f64 = waits().map(|reason| samples(reason) * effect.share_of_stall(reason)).sum();
        let stays = if all > 0.0 { 1.0 - gone / all } else { 1.0 };
        (stays / fewer).min(1.0)
    }
}

impl InShared {
    fn of(launch: &ModeledLaunch, bytes: f64, is_large: bool) -> Option<Self> {
        let facts = launch.profile.device_facts();
        let threads: f64 = launch.profile.row.block.iter().map(|&side| f64::from(side)).product();
        let (of_sm, granule) =
            (facts.get(Quantity::SharedBytes)?, facts.get(Quantity::SharedGranule)?);
        if threads <= 0.0 {
            return None;
        }
        // Of an array that fits registers, only the text says what shared memory would cost.
        let read = |name| if is_large { launch.get(name) } else { launch.quote(name) };
        let taken = read(SHARED_OF_BLOCK).or_else(|| facts.get(Quantity::SharedReserved));
        let of_block = bytes * threads;
        let all = ((of_block + taken.unwrap_or(0.0)) / granule).ceil() * granule;
        let blocks_now = OCCUPANCY_LIMITS.into_iter().filter_map(read).reduce(f64::min);
        let blocks = (of_sm / all).floor().min(blocks_now.unwrap_or(f64::INFINITY));
        Some(Self { threads, of_block, of_sm, blocks, blocks_now })
    }

    /// True where an SM can hold a block.
    pub(super) fn fits(&self) -> bool {
        self.blocks >= 1.0
    }

    /// The part of the present blocks that an SM then holds, where it is fewer.
    fn fewer_blocks(&self) -> Option<f64> {
        self.blocks_now.map(|now| self.blocks / now).filter(|&part| part < 1.0)
    }
}
