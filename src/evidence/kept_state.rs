//! State that loops keep in global memory although registers could hold it, and the accesses that this would spare.

use std::collections::BTreeMap;

use crate::evidence::ModeledLaunch;
use crate::hardware::{MOST_REGISTERS, REGISTER_BYTES};
use crate::sass::code::blocks::Loop;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::questions::memory_state::{MemoryState, behind, kept, unchanged};
use crate::sass::{Family, Listing, Space};

/// Registers of a thread, which tell whether the state has room.
pub(crate) const REGISTERS: &str = "launch__registers_per_thread";

/// What loops keep in memory, and the accesses that registers would spare.
pub(crate) struct KeptState<'a> {
    loops: Vec<(&'a Loop, Vec<MemoryState>)>,
    /// Loads of the state, each with the share of its executions that goes (0 to 1).
    pub loads: BTreeMap<usize, f64>,
    /// Stores of the state, in the same way. What a running sum stores is wanted.
    pub stores: BTreeMap<usize, f64>,
}

impl<'a> KeptState<'a> {
    /// The state of all loops in which no other thread can read it; `None` where there is none, or too much of it for registers.
    pub(crate) fn of(launch: &ModeledLaunch<'a>) -> Option<Self> {
        let listing = launch.profile.listing()?;
        let registers = launch.get(REGISTERS)?;
        let mut reaching = Reaching::new(listing.sass);
        let (mut loads, mut stores) = (BTreeMap::new(), BTreeMap::new());
        let mut loops = Vec::new();
        for of in &listing.sass.flow.loops {
            if turns(&listing, of) <= 1.0 || meets_others(&listing, of) {
                continue;
            }
            let mut states = kept(&listing, &mut reaching, of);
            // Registers have no index that changes.
            states.retain(|state| !state.is_array);
            let bytes: f64 = states.iter().map(|state| f64::from(state.bytes)).sum();
            if states.is_empty() || registers + bytes / REGISTER_BYTES > MOST_REGISTERS {
                continue;
            }
            // What an inner loop keeps, the loop around it keeps as well, over more turns: each access counts once.
            let gone = 1.0 - 1.0 / turns(&listing, of);
            for state in &states {
                note(&mut loads, &state.loads, gone);
                if !state.moves {
                    note(&mut stores, &state.stores, gone);
                }
            }
            loops.push((of, states));
        }
        (!loops.is_empty()).then_some(Self { loops, loads, stores })
    }

    /// The loads that are only issued behind the first use of a state.
    pub(crate) fn behind(&self, listing: &Listing) -> Vec<usize> {
        let mut reaching = Reaching::new(listing.sass);
        let mut of =
            |(of, states): &(&Loop, Vec<MemoryState>)| behind(listing, &mut reaching, of, states);
        self.loops.iter().flat_map(&mut of).collect()
    }

    /// The loads of places that stay the same from turn to turn and are loaded again only because a store of the state might
    /// change them, each with the share of its executions that goes (0 to 1).
    pub(crate) fn unchanged(&self, listing: &Listing) -> BTreeMap<usize, f64> {
        let mut reaching = Reaching::new(listing.sass);
        let mut found = BTreeMap::new();
        for (of, states) in &self.loops {
            let goes = |at: usize| {
                states.iter().any(|state| !state.moves && state.stores.binary_search(&at).is_ok())
            };
            let is_store = |at: &usize| {
                matches!(
                    listing.sass.entries[*at].family,
                    Family::Store(Space::Global | Space::Generic)
                ) && listing.executed(*at) > 0.0
            };
            if listing.sass.flow.places(of).filter(is_store).all(goes) {
                let mut loads = unchanged(listing, &mut reaching, of);
                loads.retain(|at| !self.loads.contains_key(at));
                note(&mut found, &loads, 1.0 - 1.0 / turns(listing, of));
            }
        }
        found
    }

    /// The state of the loop that runs most often.
    pub(crate) fn largest(&self, listing: &Listing) -> Option<&[MemoryState]> {
        let runs = |each: &&(&Loop, Vec<MemoryState>)| listing.executed(each.0.head);
        let largest = self.loops.iter().max_by(|a, b| runs(a).total_cmp(&runs(b)));
        largest.map(|(_, states)| states.as_slice())
    }
}

/// Notes the largest share of some accesses that goes.
fn note(shares: &mut BTreeMap<usize, f64>, accesses: &[usize], gone: f64) {
    for &at in accesses {
        let share = shares.entry(at).or_default();
        *share = share.max(gone);
    }
}

/// True where other threads may read what a loop stores while it runs: they meet there, or what they read is ordered.
fn meets_others(listing: &Listing, of: &Loop) -> bool {
    let flow = &listing.sass.flow;
    flow.places(of).any(|at| listing.meets_others(at) && listing.executed(at) > 0.0)
}
