//! The definitions that come into a block from those before it.

use foldhash::{HashMap, HashMapExt};

use super::blocks::Block;
use super::written::Written;
use crate::sass::parse::register::Slot;
use crate::sass::thresholds::MOST_DEFINITIONS;

/// For each block and slot of which the block uses what comes in: the last definitions before the block, one
/// for each way, ascending, and no more of them than are followed.
///
/// Most questions on data flow ask for them, and many ask for the same, so that all are found at once for a
/// launch.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::sass) struct Incoming {
    /// By block and slot the place in `lists`.
    places: HashMap<u32, u32>,
    /// How many definitions come in, and which; one such list after the other.
    lists: Vec<u32>,
}

impl Incoming {
    /// What comes into the blocks that use it, by number and slot. Where they follow the listing's order, most
    /// ways back end at a block of which it is known.
    pub(super) fn of(
        blocks: &[Block],
        written: &Written,
        used: impl Iterator<Item = (u32, Slot)>,
    ) -> Self {
        let mut incoming = Self { places: HashMap::new(), lists: Vec::new() };
        let (mut search, mut found) = (Search::default(), Vec::new());
        for (block, slot) in used {
            if incoming.of_block(block, slot).is_none() {
                search.find(blocks, written, &incoming, (block, slot), &mut found);
                incoming.places.insert(key(block, slot), incoming.lists.len() as u32);
                incoming.lists.push(found.len() as u32);
                incoming.lists.append(&mut found);
            }
        }
        incoming.places.shrink_to_fit();
        incoming.lists.shrink_to_fit();
        incoming
    }

    /// What comes into a block; `None` where nothing in the block uses what comes in.
    pub(in crate::sass) fn of_block(&self, block: u32, slot: Slot) -> Option<&[u32]> {
        let place = *self.places.get(&key(block, slot))? as usize;
        let count = self.lists[place] as usize;
        Some(&self.lists[place + 1..=place + count])
    }
}

fn key(block: u32, slot: Slot) -> u32 {
    block * Slot::COUNT as u32 + slot.index() as u32
}

/// The search for what comes into a block, with room that is used again.
#[derive(Debug, Default)]
pub(in crate::sass) struct Search {
    /// For each block the last search whose way back came there, and how many searches there were.
    seen: Vec<u32>,
    searches: u32,
    open: Vec<u32>,
}

impl Search {
    /// Puts the last definitions of a slot before a block into `found`, ascending: the first of them, where
    /// there are more than anybody follows.
    pub(in crate::sass) fn find(
        &mut self,
        blocks: &[Block],
        written: &Written,
        known: &Incoming,
        (block, slot): (u32, Slot),
        found: &mut Vec<u32>,
    ) {
        self.seen.resize(blocks.len(), 0);
        self.searches += 1;
        self.open.clone_from(&blocks[block as usize].before);
        found.clear();
        while let Some(block) = self.open.pop() {
            if std::mem::replace(&mut self.seen[block as usize], self.searches) == self.searches {
                continue;
            }
            if let Some(definition) = written.last_in(&blocks[block as usize], slot) {
                found.push(definition);
            } else if let Some(rest) = known.of_block(block, slot) {
                found.extend(rest);
            } else {
                self.open.extend(&blocks[block as usize].before);
            }
        }
        found.sort_unstable();
        found.dedup();
        found.truncate(MOST_DEFINITIONS.whole());
    }
}
