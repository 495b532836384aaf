//! Where each slot is defined.

use super::blocks::Block;
use crate::sass::parse::register::Slot;

/// The definitions of every slot.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::sass) struct Written {
    /// The places of the definitions, ascending, of one slot after the other.
    places: Vec<u32>,
    /// For each slot where its places end; they begin where the slot's before it end.
    ends: Vec<u32>,
}

impl Written {
    /// The definitions at these places, of one slot after the other, and where the places of each end.
    pub(super) fn new(places: Vec<u32>, ends: Vec<u32>) -> Self {
        Self { places, ends }
    }

    /// The last definition of a slot in a block.
    pub(super) fn last_in(&self, block: &Block, slot: Slot) -> Option<u32> {
        self.last_before(slot, block.end).filter(|&at| at as usize >= block.start)
    }

    /// The last definition of a slot before a place.
    fn last_before(&self, slot: Slot, place: usize) -> Option<u32> {
        let end = *self.ends.get(slot.index())? as usize;
        let start = slot.index().checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let places = &self.places[start..end];
        let earlier = places.partition_point(|&at| (at as usize) < place);
        earlier.checked_sub(1).map(|last| places[last])
    }
}
