//! From a use back to the instructions whose results it may see.

use crate::sass::code::incoming::{Incoming, Search};
use crate::sass::code::sass::{Sass, Use};
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::MOST_DEFINITIONS;

/// Definitions that reach uses.
pub struct Reaching<'a> {
    sass: &'a Sass,
    incoming: &'a Incoming,
    guards_hold: bool,
    // Room that is used again: most questions have one answer, and there are many.
    found: Vec<u32>,
    open: Vec<u32>,
    search: Search,
    searched: Vec<u32>,
}

impl<'a> Reaching<'a> {
    /// Nothing found yet.
    #[must_use]
    pub fn new(sass: &'a Sass) -> Self {
        Self {
            sass,
            incoming: sass.incoming(),
            guards_hold: false,
            found: Vec::new(),
            open: Vec::new(),
            search: Search::default(),
            searched: Vec::new(),
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
        let block = self.sass.flow.block_of[index];
        let incoming = self.incoming.of_block(block, each.slot).unwrap_or_else(|| {
            let (blocks, written) = (&self.sass.flow.blocks, self.sass.written());
            let of = (block, each.slot);
            self.search.find(blocks, written, self.incoming, of, &mut self.searched);
            &self.searched
        });
        self.open.extend(incoming.iter().rev());
    }
}
