//! The memory that a launch reaches: what its parameters and its module's variables point to, and what that memory
//! points to in turn.

use core::cell::UnsafeCell;
use core::ptr;

use super::driver::{self, Address, Driver};
use crate::sys;

/// Stretches of memory, at most.
const MOST: usize = 4096;
/// How many pointers are followed from a parameter.
const DEEPEST: u32 = 8;
/// Words that may be looked up because they look like addresses: about a second.
const MOST_LOOKUPS: u32 = 4_000_000;
/// Addresses where nothing lies are remembered by 512 bytes, the least that the driver gives out.
const PAGE_BITS: u32 = 9;
const PLACES: usize = 1 << 16;
/// No device has memory at lower addresses.
const LOWEST: u64 = 1 << 32;
/// Nor where an address has more than 49 bits.
const HIGHEST: u64 = 1 << 49;

/// A stretch of memory.
#[derive(Clone, Copy)]
pub struct Range {
    pub start: Address,
    pub size: u64,
    /// `CUmemorytype`.
    pub kind: u32,
    pub is_managed: bool,
    pub level: u32,
}

struct State {
    ranges: *mut Range,
    count: usize,
    /// Pages that have nothing.
    empty: *mut u64,
    lookups: u32,
    /// The TiB in which stretches lie, as bits; those beyond 64 share one.
    regions: [u64; 8],
    /// Words of memory that point into a stretch.
    inner: u64,
}

/// The stretches found so far. Only the thread that captures uses it.
pub struct Reach(UnsafeCell<State>);

// SAFETY: one thread captures, once per process: `capture::CLAIMED` sees to it.
unsafe impl Sync for Reach {}

impl Reach {
    pub const fn new() -> Self {
        Self(UnsafeCell::new(State {
            ranges: ptr::null_mut(),
            count: 0,
            empty: ptr::null_mut(),
            lookups: 0,
            regions: [0; 8],
            inner: 0,
        }))
    }

    #[expect(
        clippy::mut_from_ref,
        reason = "one thread captures, and no two of these live at once"
    )]
    fn state(&self) -> &mut State {
        // SAFETY: one thread captures, and the reference does not outlive the method that asks for it.
        unsafe { &mut *self.0.get() }
    }

    /// Makes room. False where there is no memory.
    pub fn prepare(&self) -> bool {
        let state = self.state();
        let (Some(ranges), Some(empty)) =
            (sys::memory(MOST * size_of::<Range>()), sys::memory(PLACES * size_of::<u64>()))
        else {
            return false;
        };
        (state.ranges, state.empty) = (ranges.cast(), empty.cast());
        true
    }

    pub fn count(&self) -> usize {
        self.state().count
    }

    pub fn inner(&self) -> u64 {
        self.state().inner
    }

    pub fn get(&self, index: usize) -> Option<Range> {
        let state = self.state();
        // SAFETY: the first `count` places were written.
        (index < state.count).then(|| unsafe { *state.ranges.add(index) })
    }

    /// Takes a word of a parameter or a variable: whatever it points to is reached.
    pub fn root(&self, driver: &Driver, word: u64) {
        if (LOWEST..HIGHEST).contains(&word) && self.find(word).is_none() {
            self.look_up(driver, word, 0);
        }
    }

    /// Takes the words of a reached stretch.
    ///
    /// # Safety
    /// `words` are `count` words.
    pub unsafe fn scan(&self, driver: &Driver, words: *const u64, count: usize, level: u32) {
        for at in 0..count {
            // SAFETY: within the words, as the caller vouches.
            let word = unsafe { words.add(at).read_unaligned() };
            if !(LOWEST..HIGHEST).contains(&word) || !self.is_in_region(word) {
                continue;
            }
            if self.find(word).is_some() {
                self.state().inner += 1;
            } else if level < DEEPEST && self.is_worth_a_look(word) {
                if self.look_up(driver, word, level + 1) {
                    self.state().inner += 1;
                } else {
                    self.remember_empty(word);
                }
            }
        }
    }

    fn find(&self, word: u64) -> Option<usize> {
        let within = |range: &Range| word >= range.start && word - range.start < range.size;
        (0..self.count()).find(|at| self.get(*at).is_some_and(|range| within(&range)))
    }

    /// Asks the driver for the stretch around an address.
    fn look_up(&self, driver: &Driver, word: u64, level: u32) -> bool {
        let of = |attribute| driver.pointer(attribute, word);
        let (Some(kind), Some(start), Some(size)) = (
            of(driver::pointer::MEMORY_TYPE),
            of(driver::pointer::RANGE_START),
            of(driver::pointer::RANGE_SIZE),
        ) else {
            return false;
        };
        let kind = kind as u32;
        if size == 0 || word < start || word - start >= size || (kind == driver::HOST && level > 0)
        {
            return false;
        }
        let is_managed = of(driver::pointer::IS_MANAGED).is_some_and(|value| value & 0xff != 0);
        self.add(Range { start, size, kind, is_managed, level })
    }

    /// Adds a stretch that is known already, such as a variable.
    pub fn add(&self, range: Range) -> bool {
        let state = self.state();
        if state.count >= MOST {
            return false;
        }
        // SAFETY: the place is within the table, and nobody else uses it.
        unsafe { state.ranges.add(state.count).write(range) };
        state.count += 1;
        let region = (range.start >> 40) as usize;
        if let Some(bits) = state.regions.get_mut(region / 64) {
            *bits |= 1 << (region % 64);
        }
        true
    }

    /// True where a stretch lies in the same TiB: numbers that look like addresses seldom do.
    fn is_in_region(&self, word: u64) -> bool {
        let region = (word >> 40) as usize;
        self.state().regions.get(region / 64).is_some_and(|bits| bits >> (region % 64) & 1 == 1)
    }

    fn is_worth_a_look(&self, word: u64) -> bool {
        let state = self.state();
        let page = word >> PAGE_BITS;
        // SAFETY: the place is within the table.
        let known = unsafe { *state.empty.add(page as usize % PLACES) } == page;
        if known || state.lookups >= MOST_LOOKUPS {
            return false;
        }
        state.lookups += 1;
        true
    }

    fn remember_empty(&self, word: u64) {
        let page = word >> PAGE_BITS;
        // SAFETY: the place is within the table.
        unsafe { *self.state().empty.add(page as usize % PLACES) = page };
    }
}
