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
    /// The blocks of the loop, ascending.
    blocks: &'a [u32],
    /// The branches of the loop to a place in it, each with that place.
    branches: Vec<(usize, usize)>,
    /// Instructions of the loop whose value is known to be the same at each turn.
    same: Marks,
}

impl<'a> Guards<'a> {
    pub(super) fn new(listing: &'a Listing<'a>, blocks: &'a [u32]) -> Self {
        let sass = listing.sass;
        let same = Marks::new(sass.entries.len());
        let reaching = Reaching::with_guards(sass);
        let mut guards = Self { listing, reaching, blocks, branches: Vec::new(), same };
        // A branch ends its block.
        let lasts = blocks.iter().map(|&block| sass.flow.blocks[block as usize].end - 1);
        let branches = lasts.filter_map(|at| match sass.entries[at].exit() {
            Exit::Branch(target) if guards.is_inside(target) => Some((at, target)),
            _ => None,
        });
        guards.branches = branches.collect();
        guards
    }

    /// True where other warps may come to an instruction, or take part in it, at other turns: a value that the loop
    /// carries, or that it loads, takes part in its guard or in that of a branch around it.
    pub(super) fn change(&mut self, at: usize) -> bool {
        let around = self.branches.iter().filter(|&&(before, target)| before < at && at < target);
        let mut deciding: Vec<usize> = around.map(|&(before, _)| before).collect();
        deciding.push(at);
        deciding.into_iter().any(|at| {
            let made_at = self.makers(at, |role| role == Role::Guard);
            made_at.into_iter().any(|made_at| self.changes(made_at))
        })
    }

    fn is_inside(&self, at: usize) -> bool {
        let block = self.listing.sass.flow.block_of.get(at);
        block.is_some_and(|block| self.blocks.binary_search(block).is_ok())
    }

    /// What makes the operands of these roles.
    fn makers(&mut self, at: usize, of: fn(Role) -> bool) -> Vec<usize> {
        let mut makers = Vec::new();
        for each in self.listing.sass.uses(at).iter().filter(|each| of(each.role)) {
            makers.extend(self.reaching.definitions(at, *each).map(|made_at| made_at as usize));
        }
        makers
    }

    /// True where a value is loaded in the loop, or made of itself, or of such a value.
    fn changes(&mut self, at: usize) -> bool {
        // What the value is made of may be as deep as the loop is long: no recursion.
        let mut open = Marks::new(self.listing.sass.entries.len());
        let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
        let mut next = Some(at);
        loop {
            if let Some(at) = next.filter(|&at| self.is_inside(at) && !self.same[at]) {
                let family = self.listing.sass.entries[at].family;
                if family.is_memory() || family == Family::Shuffle || !open.insert(at) {
                    return true;
                }
                path.push((at, self.makers(at, |role| role != Role::Old)));
            }
            let Some((at, makers)) = path.last_mut() else { return false };
            next = makers.pop();
            if next.is_none() {
                self.same.insert(*at);
                open.remove(*at);
                path.pop();
            }
        }
    }
}
