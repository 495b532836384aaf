//! Whether threads combine what they kept in a loop.

use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// Whatever a value is used for.
const ALL: [Role; 4] = [Role::Data, Role::Address, Role::Guard, Role::Old];

/// True where what a loop leaves in registers and local memory goes to other threads of the block, by an exchange between lanes or
/// shared memory, and none of it to global memory before it was combined with what others kept.
pub(super) fn are_combined(listing: &Listing, reaching: &mut Reaching, of: &Loop) -> bool {
    let sass = listing.sass;
    let count = sass.entries.len();
    let family = |at: usize| sass.entries[at].family;
    let contains = |at: usize| sass.flow.is_in(of, at);
    let behind = Marks::of(count, |at| listing.executed(at) > 0.0 && !contains(at));
    let mut sees = |at: usize, marks: &Marks, roles: &[Role]| {
        let mut uses = sass.uses(at).iter().filter(|each| roles.contains(&each.role));
        uses.any(|each| reaching.definitions(at, *each).any(|by| marks[by as usize]))
    };
    // What others gave, and what is made of it.
    let mut of_others = Marks::of(count, |at| {
        behind[at]
            && matches!(family(at), Family::Shuffle | Family::Vote | Family::Load(Space::Shared))
    });
    of_others.spread(&behind, |at, of_others| sees(at, of_others, &ALL));
    let keeps_locally = sass
        .flow
        .places(of)
        .any(|at| listing.executed(at) > 0.0 && family(at) == Family::Store(Space::Local));
    let mut kept = Marks::of(count, |at| {
        contains(at) || keeps_locally && behind[at] && family(at) == Family::Load(Space::Local)
    });
    let own = Marks::of(count, |at| behind[at] && !of_others[at]);
    let passes = |at: usize| !matches!(family(at), Family::Control | Family::Barrier);
    kept.spread(&own, |at, kept| passes(at) && sees(at, kept, &[Role::Data, Role::Old]));
    let mut is_given = |at: usize| {
        matches!(
            family(at),
            Family::Shuffle
                | Family::Vote
                | Family::Store(Space::Shared)
                | Family::Atomic(Space::Shared)
        ) && sees(at, &kept, &[Role::Data])
    };
    let gives = behind.iter().any(&mut is_given);
    let mut stores = |at: usize| {
        matches!(family(at), Family::Store(Space::Global | Space::Generic))
            && !of_others[at]
            && sees(at, &kept, &[Role::Data])
    };
    gives && !behind.iter().any(&mut stores)
}
