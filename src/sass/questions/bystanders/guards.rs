//! Guards in loops: whether they let the same warps through at each turn.

use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// Looks for what changes from turn to turn of one loop.
pub(super) struct Guards<'a> {
    listing: &'a Listing<'a>,
    reaching: Reaching<'a>,
    /// The blocks of the loop.
    blocks: &'a [u32],
    /// Instructions of the loop whose value is known to be the same at each turn.
    same: Marks,
}

impl<'a> Guards<'a> {
    pub(super) fn new(listing: &'a Listing<'a>, blocks: &'a [u32]) -> Self {
        let same = Marks::new(listing.sass.entries.len());
        Self { listing, reaching: Reaching::with_guards(listing.sass), blocks, same }
    }

    /// True where other warps may come to an instruction, or take part in it, at other turns: a value that the loop
    /// carries, or that it loads, takes part in its guard or in that of a branch around it.
    pub(super) fn change(&mut self, at: usize) -> bool {
        let around = (0..at).filter(|&before| {
            let Exit::Branch(target) = self.listing.sass.entries[before].exit() else {
                return false;
            };
            target > at && self.is_inside(before) && self.is_inside(target)
        });
        let mut deciding: Vec<usize> = around.collect();
        deciding.push(at);
        deciding
            .into_iter()
            .any(|at| self.any_changes(at, |role| role == Role::Guard, &mut Vec::new()))
    }

    fn is_inside(&self, at: usize) -> bool {
        let block = self.listing.sass.flow.block_of.get(at);
        block.is_some_and(|block| self.blocks.contains(block))
    }

    /// True where an operand of one of these roles changes; `open` are the instructions that it is needed for.
    fn any_changes(&mut self, at: usize, of: fn(Role) -> bool, open: &mut Vec<usize>) -> bool {
        let uses = self.listing.sass.uses(at).iter().filter(|each| of(each.role));
        uses.into_iter().any(|each| {
            let made_at: Vec<u32> = self.reaching.definitions(at, *each).collect();
            made_at.into_iter().any(|made_at| self.changes(made_at as usize, open))
        })
    }

    fn changes(&mut self, at: usize, open: &mut Vec<usize>) -> bool {
        if !self.is_inside(at) || self.same[at] {
            return false;
        }
        let family = self.listing.sass.entries[at].family;
        if open.contains(&at) || family.is_memory() || family == Family::Shuffle {
            return true;
        }
        open.push(at);
        let changes = self.any_changes(at, |role| role != Role::Old, open);
        open.pop();
        if !changes {
            self.same.insert(at);
        }
        changes
    }
}
