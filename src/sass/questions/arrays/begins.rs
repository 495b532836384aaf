//! Where in the thread's frame the array of an access begins: what is added to the stack pointer on the way to its address.

use std::collections::BTreeSet;

use super::{signed, written_place};
use crate::sass::Instruction;
use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::LANE_STEPS;

/// Follows addresses back to the stack pointer.
pub(super) struct Begins<'a> {
    listing: Listing<'a>,
    reaching: Reaching<'a>,
    /// The instruction that takes the frame off the stack pointer.
    frame: usize,
}

impl<'a> Begins<'a> {
    pub(super) fn new(listing: &Listing<'a>, frame: usize) -> Self {
        Self { listing: *listing, reaching: Reaching::with_guards(listing.sass), frame }
    }

    /// The least sum of constants between the stack pointer and an access's address, in bytes: a pointer that a loop moves on
    /// begins at the array's start. `None` where no way leads to the stack pointer.
    pub(super) fn of(&mut self, access: usize) -> Option<u64> {
        let sass = self.listing.sass;
        let mut begins: Option<i64> = None;
        let mut seen = BTreeSet::new();
        let mut open = vec![(access, written_place(self.listing.text(access))?)];
        while let Some((at, added)) = open.pop() {
            let role = if at == access { Role::Address } else { Role::Data };
            for each in sass.uses(at).iter().filter(|each| each.role == role) {
                for made_at in self.reaching.definitions(at, *each).map(|made_at| made_at as usize)
                {
                    if made_at == self.frame {
                        begins = Some(begins.map_or(added, |least| least.min(added)));
                    } else if !sass.entries[made_at].family.is_memory()
                        && seen.len() < LANE_STEPS.value as usize
                        && seen.insert(made_at)
                    {
                        open.push((made_at, added + constant_of(self.listing.text(made_at))));
                    }
                }
            }
        }
        begins.and_then(|begins| u64::try_from(begins).ok())
    }
}

/// What an addition adds to its registers: 320 of `IADD3 R2, R1, 0x140, RZ`. The constants of other instructions are shifts
/// and factors.
fn constant_of(text: &str) -> i64 {
    let Some(instruction) = Instruction::parse(text) else { return 0 };
    let adds = ["IADD", "VIADD", "UIADD"].iter().any(|name| instruction.opcode.starts_with(name));
    let constants = instruction.operands.iter().skip(1).filter_map(|operand| signed(operand.text));
    if adds { constants.sum() } else { 0 }
}
