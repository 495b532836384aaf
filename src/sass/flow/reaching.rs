//! From a use back to the instructions whose results it may see.

use std::collections::HashMap;

use crate::sass::code::sass::{Sass, Use};
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::thresholds::MOST_DEFINITIONS;

/// Definitions that reach uses, found once for each block and slot.
pub struct Reaching<'a> {
    sass: &'a Sass,
    /// For each block and slot that were asked for the place in `lists` of what comes in. Two numbers of
    /// 32 bits each, for a large kernel asks of thousands.
    into: HashMap<u32, u32>,
    /// How many definitions come in, and which; one such list after the other.
    lists: Vec<u32>,
    guards_hold: bool,
    // Room that is used again: most questions have one answer, and there are many.
    found: Vec<u32>,
    open: Vec<u32>,
}

impl<'a> Reaching<'a> {
    /// Nothing found yet.
    #[must_use]
    pub fn new(sass: &'a Sass) -> Self {
        Self {
            sass,
            into: HashMap::new(),
            lists: Vec::new(),
            guards_hold: false,
            found: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Likewise, with every guard taken to hold: for values that are used under the guard under which
    /// they were made, such as the address of a guarded load.
    #[must_use]
    pub fn with_guards(sass: &'a Sass) -> Self {
        Self { guards_hold: true, ..Self::new(sass) }
    }

    /// The instructions whose results a use may see: the nearest earlier ones on every way that leads
    /// there, around loops as well. A guarded one may leave the value as it was, so those before it
    /// count too.
    pub fn definitions(
        &mut self,
        index: usize,
        each: Use,
    ) -> impl ExactSizeIterator<Item = u32> + DoubleEndedIterator {
        self.found.clear();
        match each.definition {
            Some(definition) if self.decides(definition) => self.found.push(definition),
            _ => self.follow(index, each),
        }
        self.found.iter().copied()
    }

    /// True where an instruction leaves nothing of what was there before.
    fn decides(&self, definition: u32) -> bool {
        self.guards_hold || !self.sass.entries[definition as usize].conditional
    }

    /// Finds the definitions of a value that more than one may have made.
    fn follow(&mut self, index: usize, each: Use) {
        self.open.clear();
        self.open_nearest(index, each);
        while let Some(definition) = self.open.pop() {
            if self.found.contains(&definition) || self.found.len() >= MOST_DEFINITIONS.whole() {
                continue;
            }
            self.found.push(definition);
            if self.decides(definition) {
                continue;
            }
            let index = definition as usize;
            let is_old = |old: &&Use| old.role == Role::Old && old.slot == each.slot;
            if let Some(old) = self.sass.uses(index).iter().find(is_old).copied() {
                self.open_nearest(index, old);
            }
        }
    }

    /// Opens the definitions that a use sees where no guard leaves the value as it was: the last in
    /// its block, or the last before the block on every way.
    fn open_nearest(&mut self, index: usize, each: Use) {
        if let Some(definition) = each.definition {
            self.open.push(definition);
            return;
        }
        let at = self.before(self.sass.flow.block_of[index], each.slot) as usize;
        let count = self.lists[at] as usize;
        self.open.extend(self.lists[at + 1..=at + count].iter().rev());
    }

    /// The last definitions of a slot before a block, one for each way, as a place in `lists`.
    fn before(&mut self, block: u32, slot: Slot) -> u32 {
        let key = block * Slot::COUNT as u32 + slot.index() as u32;
        if let Some(&known) = self.into.get(&key) {
            return known;
        }
        let blocks = &self.sass.flow.blocks;
        let at = self.lists.len();
        self.lists.push(0);
        let mut seen = vec![false; blocks.len()];
        let mut open: Vec<u32> = blocks[block as usize].before.clone();
        while let Some(block) = open.pop() {
            if std::mem::replace(&mut seen[block as usize], true) {
                continue;
            }
            match self.sass.last_def(block, slot) {
                Some(definition) => self.lists.push(definition),
                None => open.extend(&blocks[block as usize].before),
            }
        }
        self.lists[at + 1..].sort_unstable();
        self.lists[at] = (self.lists.len() - at - 1) as u32;
        self.into.insert(key, at as u32);
        at as u32
    }
}
