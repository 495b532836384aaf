//! Trees in shared memory that combine few values of each lane.

use super::{MOST_BYTES, SmallTrees, feeding, of_values};
use crate::hardware::WARP_LANES;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::{Space, is_indexed_constant};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::shared_trees::{SharedTree, shared_trees};
use crate::term::Term;

/// The trees in shared memory into which lanes put at most [`MOST_BYTES`] each, straight from global memory. A tree over a
/// block of so many threads has no more steps than halve its lanes down to one: an elimination, which also leaves lanes
/// behind step by step, has more.
#[must_use]
pub fn small_shared_trees(listing: &Listing, block_threads: f64) -> Vec<SmallTrees> {
    let trees = shared_trees(listing);
    let most_steps = block_threads.max(WARP_LANES).log2().ceil();
    let mut reaching = Reaching::new(listing.sass);
    trees
        .iter()
        .filter(|tree| tree.steps <= most_steps && !divides(listing, tree))
        .filter_map(|tree| small(listing, &mut reaching, &trees, tree))
        .collect()
}

/// True where the steps divide or take special functions: then these are what a tree costs, and have rules of their own.
fn divides(listing: &Listing, tree: &SharedTree) -> bool {
    let is_special = |at: &usize| listing.sass.entries[*at].term == Some(Term::Xu);
    tree.rest.iter().any(|at| is_special(at) && listing.executed(*at) > 0.0)
}

fn small(
    listing: &Listing,
    reaching: &mut Reaching,
    trees: &[SharedTree],
    tree: &SharedTree,
) -> Option<SmallTrees> {
    let sass = listing.sass;
    let entries = sass.entries.len();
    let first = *tree.accesses.first()?;
    let mut is_of_a_tree = Marks::new(entries);
    for &at in trees.iter().flat_map(|each| &each.accesses) {
        is_of_a_tree.insert(at);
    }
    // Every warp that goes through the tree has put its values there before.
    let fills: Vec<usize> = (0..entries)
        .filter(|&at| {
            sass.entries[at].family == Family::Store(Space::Shared)
                && !is_of_a_tree[at]
                && (at < first || sass.flow.innermost(at) != sass.flow.innermost(first))
                && listing.executed(at) >= tree.passes
        })
        .collect();
    let loads = feeding(listing, reaching, &fills);
    // What was loaded once is combined in another way for each tree, and is there already.
    if loads.iter().any(|&at| listing.executed(at) < tree.passes) {
        return None;
    }
    let loaded = |at: &usize| f64::from(sass.entries[*at].width) * listing.executed(*at);
    let bytes = loads.iter().map(loaded).sum::<f64>() / tree.passes;
    if bytes <= 0.0 || bytes > MOST_BYTES {
        return None;
    }
    let places = [*fills.first()?, first].map(|at| sass.flow.innermost(at));
    let here = |at: usize| listing.executed(at) > 0.0 && places.contains(&sass.flow.innermost(at));
    let uses = |reaching: &mut Reaching, at: usize, marks: &Marks| {
        let data = sass.uses(at).iter().filter(|each| matches!(each.role, Role::Data | Role::Old));
        data.into_iter().any(|each| reaching.definitions(at, *each).any(|by| marks[by as usize]))
    };
    let is_plain = |at: usize| {
        let family = sass.entries[at].family;
        !family.is_memory() && family != Family::Control
    };
    let combines: Vec<usize> = tree
        .rest
        .iter()
        .copied()
        .filter(|&at| is_plain(at) && uses(reaching, at, &is_of_a_tree))
        .collect();
    let is_access = |at: usize| match sass.entries[at].family {
        Family::Store(Space::Global) => true,
        Family::Constant => is_indexed_constant(listing.text(at)),
        _ => false,
    };
    let first = Marks::of(entries, |at| {
        loads.binary_search(&at).is_ok() || here(at) && !is_of_a_tree[at] && is_access(at)
    });
    let between = Marks::of(entries, |at| {
        listing.executed(at) > 0.0 && !is_of_a_tree[at] && fills.binary_search(&at).is_err()
    });
    let of_values =
        of_values(listing, first, &between, |at, of_values| uses(reaching, at, of_values));
    let of_threads = (0..entries)
        .filter(|at| here(*at) && !of_values[*at] && combines.binary_search(at).is_err())
        .collect();
    let barriers = tree.barriers.iter().map(|&at| listing.executed(at)).sum::<f64>() / tree.passes;
    Some(SmallTrees {
        exchanges: tree.accesses.clone(),
        of_threads,
        combines,
        steps: tree.steps,
        loads,
        barriers: barriers.round() as usize,
        bytes,
        is_in_shared_memory: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A tree of three steps over 256 threads, whose lanes skip what is not theirs by a branch.
    fn found(load: &'static str, loads: f64, turns: f64) -> Vec<SmallTrees> {
        let steps = 8.0 * turns;
        let code = [
            ("S2R R0, SR_TID.X", 8.0, 32.0),
            ("IMAD.WIDE.U32 R2, R0, 0x4, R2", 8.0, 32.0),
            (load, loads, 32.0),
            ("STS [R8], R4", 8.0, 32.0),
            ("BAR.SYNC 0x0", steps, 32.0), // 4
            ("@P0 BRA 0x1a0", steps, 32.0),
            ("LDS R5, [R8]", steps / 4.0, 24.0),
            ("LDS R6, [R9]", steps / 4.0, 24.0),
            ("FADD R5, R5, R6", steps / 4.0, 24.0), // 8
            ("STS [R8], R5", steps / 4.0, 24.0),
            ("@P1 BRA 0x140", steps, 32.0), // 10
            ("EXIT", 8.0, 32.0),
        ];
        let texts: Vec<(&str, f64)> =
            code.iter().map(|(text, executed, _)| (*text, *executed)).collect();
        let mut launch = launch(&texts);
        for (row, (_, executed, lanes)) in launch.instructions.iter_mut().zip(&code) {
            row.counters.thread_inst_executed_pred_on = executed * lanes;
        }
        small_shared_trees(&launch.listing().unwrap(), 256.0)
    }

    #[test]
    fn a_tree_that_most_warps_skip_is_found_with_what_fills_it() {
        let trees = found("LDG.E R4, desc[UR4][R2.64]", 8.0, 3.0);
        assert_eq!(trees.len(), 1);
        let tree = &trees[0];
        assert_eq!((&tree.loads[..], &tree.exchanges[..]), (&[2][..], &[6, 7, 9][..]));
        assert_eq!((&tree.combines[..], tree.barriers), (&[8][..], 3));
        assert_eq!(tree.of_threads, [0, 1, 3, 4, 5, 6, 7, 9, 10, 11]);
        assert!((tree.bytes - 4.0).abs() < 1e-12 && (tree.steps - 3.0).abs() < 1e-12);
    }

    #[test]
    fn many_values_and_many_steps_are_none() {
        assert!(found("LDG.E R4, desc[UR4][R2.64]", 24.0, 3.0).is_empty(), "12 bytes");
        assert_eq!(found("LDG.E R4, desc[UR4][R2.64]", 8.0, 8.0).len(), 1);
        assert!(found("LDG.E R4, desc[UR4][R2.64]", 8.0, 9.0).is_empty(), "2^9 is over 256");
    }
}
