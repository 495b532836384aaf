//! Warps that look for something: what they work out decides whether there is anything to store.
//!
//! A guard compares an index with a bound, which takes a few steps, or some dozen where divisions take the index apart. A
//! warp that hashes a key and stores it only where the hash is the one that is wanted, as one in millions is, has done its work
//! all the same.

use super::touches;
use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// Instructions that a warp executes for one guard, at most, where it only finds out whether there is work for it.
pub const GUARD_STEPS: f64 = 100.0;

/// True where what lets few warps through to an access, fewer than a limit, takes more than [`GUARD_STEPS`].
pub(super) fn searches(listing: &Listing, limit: f64) -> bool {
    let sass = listing.sass;
    let mut reaching = Reaching::with_guards(sass);
    let executed = |at: usize| listing.executed(at);
    // A branch that closes a loop parts no warps for good, and a few more iterations of some are no search.
    let lets_few_through = |at: &usize| match sass.entries[*at].exit() {
        Exit::Next => sass.entries[*at].conditional && touches(sass.entries[*at].family),
        Exit::MaybeEnd => executed(at + 1) < limit,
        Exit::Branch(target) if target > *at => executed(at + 1).min(executed(target)) < limit,
        _ => false,
    };
    let guards = (0..sass.entries.len().saturating_sub(1)).filter(|&at| executed(at) >= limit);
    guards.filter(lets_few_through).any(|at| steps(listing, &mut reaching, at) > GUARD_STEPS)
}

/// Instructions executed on the way to a guard's condition, for each time that it is asked.
fn steps(listing: &Listing, reaching: &mut Reaching, guard: usize) -> f64 {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![guard];
    let mut steps = 0.0;
    while let Some(at) = open.pop() {
        let takes_part = |role: Role| if at == guard { role == Role::Guard } else { true };
        for each in sass.uses(at).iter().filter(|each| takes_part(each.role)) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                if seen.insert(by) {
                    steps += listing.executed(by) / listing.executed(guard);
                    open.push(by);
                }
            }
        }
        // An array of the thread's own: whatever is stored there may be what is loaded.
        if sass.entries[at].family == Family::Load(Space::Local) {
            for (store, entry) in listing.entries() {
                if entry.family == Family::Store(Space::Local) && seen.insert(store) {
                    steps += listing.executed(store) / listing.executed(guard);
                    open.push(store);
                }
            }
        }
        // More does not matter, and what a guard is made of may be as long as the code.
        if steps > GUARD_STEPS {
            break;
        }
    }
    steps
}
