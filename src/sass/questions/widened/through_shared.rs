//! Operands that come through shared memory.

use std::collections::BTreeSet;

use super::made::Made;
use super::operands::{group_bytes, rows_of_b};
use super::{Narrow, Widened};
use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::matrix_loops::members;

impl Widened {
    /// Takes in what operands are made of that come through shared memory: all that is stored there was converted, and there
    /// is no room for an operand that was not. Those of `worked_out` have registers that the kernel worked out.
    pub(super) fn add_shared(
        &mut self,
        listing: &Listing,
        reaching: &mut Reaching,
        worked_out: &BTreeSet<usize>,
        threads: f64,
    ) -> Option<()> {
        let sass = listing.sass;
        let product = self.products[0];
        let around = (0..sass.flow.loops.len()).map(|of| members(listing, of));
        let around = around.filter(|inside| inside.binary_search(&product).is_ok());
        let inside: BTreeSet<usize> = around.flatten().collect();
        let bytes = |at: usize| bytes(listing, at);
        let (mut copied, mut stored) = (0.0, Vec::new());
        for &at in &inside {
            match sass.entries[at].family {
                Family::AsyncCopy => copied += bytes(at),
                Family::Store(Space::Shared) => {
                    let data = sass.uses(at).iter().filter(|each| each.role == Role::Data);
                    let uses: Vec<(usize, Use)> = data.map(|each| (at, *each)).collect();
                    let made = Made::of(listing, reaching, &uses);
                    if made.is_none() && self.were == Narrow::Halves {
                        // Of another product, or of a sum over lanes.
                        continue;
                    }
                    if made?.last.is_empty() {
                        copied += bytes(at);
                    } else {
                        self.stores.push(at);
                        stored.extend(uses);
                    }
                }
                _ => {}
            }
        }
        let made = Made::of(listing, reaching, &stored).filter(|made| !made.last.is_empty())?;
        self.add(&made)?;
        if self.by_groups {
            self.fills_groups(listing, reaching, &inside, worked_out, threads)
        } else {
            self.reads_all(listing, &inside, copied)
        }
    }

    /// `Some` where what was stored is all that matrix instructions of warp groups find.
    fn fills_groups(
        &self,
        listing: &Listing,
        reaching: &mut Reaching,
        inside: &BTreeSet<usize>,
        worked_out: &BTreeSet<usize>,
        threads: f64,
    ) -> Option<()> {
        let sass = listing.sass;
        let bytes = |at: usize| bytes(listing, at);
        // What one side's rows share, the other products need not.
        let (made_here, loaded): (Vec<usize>, Vec<usize>) =
            self.products.iter().partition(|at| worked_out.contains(at));
        let needed = [made_here, loaded].into_iter().map(|some| {
            let theirs = some.iter().map(|&at| group_bytes(listing, at, threads));
            Some(theirs.sum::<Option<f64>>()? / rows_of_b(listing, &some).max(1.0))
        });
        let needed = needed.sum::<Option<f64>>()?;
        let stored: f64 = self.stores.iter().map(|&at| bytes(at)).sum();
        // What the loop reads of itself into registers may have been stored in front of it.
        let read: f64 = self.reads.iter().map(|&at| bytes(at)).sum();
        let ahead = self.stores_ahead(listing, reaching, inside);
        let times = listing.executed(self.products[0]);
        let kept: f64 = ahead.iter().map(|&at| times * f64::from(sass.entries[at].width)).sum();
        (stored + kept >= needed + read).then_some(())
    }

    /// `Some` where all that is copied is read back to be converted.
    fn reads_all(&self, listing: &Listing, inside: &BTreeSet<usize>, copied: f64) -> Option<()> {
        let sass = listing.sass;
        let product = self.products[0];
        let bytes = |at: usize| bytes(listing, at);
        // All that is copied is read back to be converted, so that products find nothing else. How much a bulk copy brings
        // does not stand in the code, and what came before the loop may stay.
        let is_bulk = |at: &usize| {
            sass.entries[*at].family == Family::AsyncCopy && sass.entries[*at].width == 0
        };
        let outside = |at: &usize| {
            *at < product
                && !inside.contains(at)
                && listing.executed(*at) > 0.0
                && matches!(
                    sass.entries[*at].family,
                    Family::AsyncCopy | Family::Store(Space::Shared)
                )
        };
        let is_ahead = copied > 0.0;
        if inside.iter().any(is_bulk) || !is_ahead && (0..sass.entries.len()).any(|at| outside(&at))
        {
            return None;
        }
        let loads: BTreeSet<usize> = self.loads.iter().copied().collect();
        let is_shared = |at: &&usize| sass.entries[**at].family == Family::Load(Space::Shared);
        let read: f64 = loads.iter().filter(is_shared).map(|&at| bytes(at)).sum();
        (copied <= read).then_some(())
    }

    /// Stores to shared memory in front of the products, outside of their loop, of what was converted there.
    fn stores_ahead(
        &self,
        listing: &Listing,
        reaching: &mut Reaching,
        inside: &BTreeSet<usize>,
    ) -> Vec<usize> {
        let sass = listing.sass;
        let is_wide = |at: &usize| {
            let data = sass.uses(*at).iter().filter(|each| each.role == Role::Data);
            let uses: Vec<(usize, Use)> = data.map(|each| (*at, *each)).collect();
            let made = Made::of(listing, reaching, &uses).filter(|made| !made.last.is_empty());
            made.is_some_and(|made| self.is_wider(&made))
        };
        (0..sass.entries.len())
            .filter(|at| sass.entries[*at].family == Family::Store(Space::Shared))
            .filter(|at| *at < self.products[0] && !inside.contains(at))
            .filter(|at| listing.executed(*at) > 0.0)
            .filter(is_wide)
            .collect()
    }
}

/// Bytes per lane that an access moves, over all its executions.
fn bytes(listing: &Listing, at: usize) -> f64 {
    f64::from(listing.sass.entries[at].width) * listing.executed(at)
}
