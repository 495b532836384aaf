//! Trees over lanes that combine few values of each: the tree takes more than the values' own work.
//!
//! A tree costs as much for a lane's one value as for the total of many. Where lanes load less than the widest access moves,
//! fewer of them could share the data, each with more of it, and there would be fewer trees.

mod in_shared;

use std::collections::BTreeSet;

use crate::hardware::WIDEST_ACCESS_BYTES;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::{Space, is_indexed_constant};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::TREE_STEPS;

pub use in_shared::small_shared_trees;

/// Trees at one place, outside all loops or in one, and what else stands there.
#[derive(Debug, Clone, PartialEq)]
pub struct SmallTrees {
    /// The shuffles, or the accesses to shared memory.
    pub exchanges: Vec<usize>,
    /// What each thread executes once, however many values it has: the exchanges, what hands totals from warp to warp, indices.
    pub of_threads: Vec<usize>,
    /// The arithmetic of the trees.
    pub combines: Vec<usize>,
    /// Steps of the trees: so many times is each value combined with others.
    pub steps: f64,
    /// The loads of what is combined.
    pub loads: Vec<usize>,
    /// Barriers at that place.
    pub barriers: usize,
    /// Bytes that a lane loads for a tree, or keeps for all of them.
    pub bytes: f64,
    /// True where values go from lane to lane through shared memory alone.
    pub is_in_shared_memory: bool,
}

impl SmallTrees {
    /// How many times as much a lane can load by one access.
    #[must_use]
    pub fn room(&self) -> f64 {
        WIDEST_ACCESS_BYTES / self.bytes
    }
}

/// Bytes that a lane loads for each tree, at most: half of what one access moves, so that half of the lanes could load the same.
pub const MOST_BYTES: f64 = WIDEST_ACCESS_BYTES / 2.0;

/// The places where lanes load at most [`MOST_BYTES`] for each tree of shuffles.
#[must_use]
pub fn small_trees(listing: &Listing) -> Vec<SmallTrees> {
    let sass = listing.sass;
    let exchanges: Vec<(usize, Option<usize>)> = listing
        .entries()
        .filter(|(at, entry)| {
            entry.family == Family::Shuffle
                && listing.executed(*at) > 0.0
                && distance(listing.text(*at)).is_some()
        })
        .map(|(at, _)| (at, sass.flow.innermost(at)))
        .collect();
    let places: BTreeSet<Option<usize>> = exchanges.iter().map(|(_, place)| *place).collect();
    let at_place = |place: Option<usize>| -> Vec<usize> {
        exchanges.iter().filter(|(_, of)| *of == place).map(|(at, _)| *at).collect()
    };
    let mut reaching = Reaching::with_guards(sass);
    places
        .into_iter()
        .filter_map(|place| at(listing, &mut reaching, place, at_place(place)))
        .collect()
}

/// The trees at one place; `None` where these exchanges are none, or combine more.
fn at(
    listing: &Listing,
    reaching: &mut Reaching,
    place: Option<usize>,
    exchanges: Vec<usize>,
) -> Option<SmallTrees> {
    let sass = listing.sass;
    let distances: BTreeSet<&str> =
        exchanges.iter().filter_map(|&at| distance(listing.text(at))).collect();
    if (distances.len() as f64) < TREE_STEPS.value {
        return None;
    }
    let trees = exchanges.iter().map(|&at| listing.executed(at)).fold(0.0, f64::max);
    let loads = feeding(listing, reaching, &exchanges);
    let loaded = |at: &usize| f64::from(sass.entries[*at].width) * listing.executed(*at);
    let loaded_for = if loads.iter().all(|&at| listing.executed(at) >= trees) {
        trees
    } else if place.is_some() && loads.iter().all(|&at| sass.flow.innermost(at) != place) {
        // Kept from turn to turn.
        loads.iter().map(|&at| listing.executed(at)).fold(0.0, f64::max)
    } else {
        // What was loaded once is combined in another way for each tree, and is there already.
        return None;
    };
    let bytes = loads.iter().map(loaded).sum::<f64>() / loaded_for;
    if bytes <= 0.0 || bytes > MOST_BYTES {
        return None;
    }
    let here = |at: usize| sass.flow.innermost(at) == place && listing.executed(at) > 0.0;
    let entries = sass.entries.len();
    let is_exchange = Marks::of(entries, |at| exchanges.binary_search(&at).is_ok());
    let is_move = |at: usize| sass.entries[at].family == Family::Move;
    let uses = |reaching: &mut Reaching, at: usize, marks: &Marks| {
        // A guarded copy chooses between two values; whatever else writes a register only uses it again.
        let of_value = |role: Role| role == Role::Data || role == Role::Old && is_move(at);
        let data = sass.uses(at).iter().filter(|each| of_value(each.role));
        data.into_iter().any(|each| reaching.definitions(at, *each).any(|by| marks[by as usize]))
    };
    let combines = Marks::of(entries, |at| here(at) && uses(reaching, at, &is_exchange));
    let chooses = |reaching: &mut Reaching, at: usize| {
        is_choice(listing.text(at)) && chosen_alike(listing, reaching, at, &combines)
    };
    // Where there is nothing to combine with, a step copies.
    let copies =
        |at: usize| is_move(at) && !sass.uses(at).iter().any(|each| each.role == Role::Guard);
    let combines_alike = |at: usize| copies(at) || is_arithmetic(listing.text(at));
    let combining: Vec<usize> = combines.iter().filter(|&at| !is_exchange[at]).collect();
    if combining.iter().any(|&at| !combines_alike(at) && !chooses(reaching, at)) {
        return None;
    }
    // The distance that the fewest shuffles have: as many as there are values in all trees.
    let of_distance = |distance: &&str| {
        exchanges.iter().filter(|&&at| self::distance(listing.text(at)) == Some(*distance)).count()
    };
    let values = distances.iter().map(of_distance).min()?;
    let steps = exchanges.len() as f64 / values as f64;
    let is_access = |at: usize| match sass.entries[at].family {
        Family::Load(Space::Global) | Family::Store(Space::Global) => true,
        Family::Constant => is_indexed_constant(listing.text(at)),
        _ => false,
    };
    let is_load = |at: usize| loads.binary_search(&at).is_ok();
    let first = Marks::of(entries, |at| is_load(at) || here(at) && is_access(at));
    let between =
        Marks::of(entries, |at| listing.executed(at) > 0.0 && !is_exchange[at] && !combines[at]);
    let of_values =
        of_values(listing, first, &between, |at, of_values| uses(reaching, at, of_values));
    let of_threads = (0..entries)
        .filter(|&at| here(at) && !of_values[at] && combining.binary_search(&at).is_err())
        .collect();
    let barriers = (0..entries).filter(|&at| here(at) && listing.is_block_barrier(at)).count();
    Some(SmallTrees {
        exchanges,
        of_threads,
        combines: combining,
        steps,
        loads,
        barriers,
        bytes,
        is_in_shared_memory: false,
    })
}

/// What is made of a lane's own values, once for each of them: the first, and what uses them among the instructions between.
/// Where values are handed on through shared memory, what is loaded from there is a value as well.
fn of_values(
    listing: &Listing,
    first: Marks,
    between: &Marks,
    mut uses: impl FnMut(usize, &Marks) -> bool,
) -> Marks {
    let entries = &listing.sass.entries;
    let is = |at: usize, family: Family| entries[at].family == family;
    let mut of_values = first;
    of_values.spread(between, &mut uses);
    if between.iter().any(|at| of_values[at] && is(at, Family::Store(Space::Shared))) {
        let loads = between.iter().filter(|&at| is(at, Family::Load(Space::Shared)));
        loads.for_each(|at| _ = of_values.insert(at));
        of_values.spread(between, uses);
    }
    of_values
}

/// The global loads whose values reach the exchanges through registers.
fn feeding(listing: &Listing, reaching: &mut Reaching, exchanges: &[usize]) -> Vec<usize> {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open = exchanges.to_vec();
    let mut loads = Vec::new();
    while let Some(at) = open.pop() {
        for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                if !seen.insert(by) {
                    continue;
                }
                match sass.entries[by].family {
                    Family::Load(Space::Global) if listing.executed(by) > 0.0 => loads.push(by),
                    family if family.is_memory() => {}
                    _ => open.push(by),
                }
            }
        }
    }
    loads.sort_unstable();
    loads
}

/// The distance of a tree's step, as it is written: `0x10` of `SHFL.BFLY PT, R7, R6, 0x10, 0x1f`.
pub(super) fn distance(text: &str) -> Option<&str> {
    if !["SHFL.BFLY", "SHFL.DOWN"].iter().any(|name| text.contains(name)) {
        return None;
    }
    text.split(',').nth(3).map(str::trim).filter(|distance| distance.starts_with("0x"))
}

/// True for arithmetic, alike in all lanes, of which a combination can consist: a sum, the larger or smaller of two, or the
/// products and quotients that merge two means with their variances.
fn is_arithmetic(text: &str) -> bool {
    const NAMES: [&str; 6] = ["ADD", "MUL", "FFMA", "DFMA", "LOP3", "FCHK"];
    let is_extreme = text.contains("MNMX");
    let alike = text.trim_end_matches(';').ends_with("PT");
    NAMES.iter().any(|name| text.contains(name)) || is_extreme && alike
}

/// True for a comparison or a selection: the parts of a maximum that keeps its place, too.
fn is_choice(text: &str) -> bool {
    ["SETP", "SEL"].iter().any(|name| text.contains(name))
}

/// True where what a choice goes by was compared in the tree as well. A sorting network also asks which lane it is.
fn chosen_alike(
    listing: &Listing,
    reaching: &mut Reaching,
    choice: usize,
    combines: &Marks,
) -> bool {
    let conditions = listing.sass.uses(choice).iter().filter(|each| !each.slot.is_general());
    conditions
        .filter(|each| each.role == Role::Data)
        .all(|each| reaching.definitions(choice, *each).all(|by| combines[by as usize]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn found(load: &str, times: f64, step: &str) -> Vec<SmallTrees> {
        let launch = launch(&[
            ("S2R R0, SR_TID.X", 8.0),
            ("IMAD.WIDE.U32 R2, R0, 0x4, R2", 8.0),
            (load, times),
            ("SHFL.BFLY PT, R5, R4, 0x4, 0x1f", 8.0),
            ("FADD R5, R4, R5", 8.0),
            ("SHFL.BFLY PT, R6, R5, 0x2, 0x1f", 8.0),
            ("FADD R6, R5, R6", 8.0),
            ("SHFL.BFLY PT, R7, R6, 0x1, 0x1f", 8.0),
            (step, 8.0), // 8
            ("MUFU.RCP R8, R7", 8.0),
            ("FMUL R9, R4, R8", 8.0), // 10: a value's own
            ("STG.E desc[UR4][R2.64], R9", 8.0),
            ("EXIT", 8.0),
        ]);
        small_trees(&launch.listing().unwrap())
    }

    #[test]
    fn what_goes_once_for_each_thread_is_told_from_what_goes_for_each_value() {
        let trees = found("LDG.E R4, desc[UR4][R2.64]", 8.0, "FADD R7, R6, R7");
        assert_eq!(trees.len(), 1);
        assert_eq!(trees[0].exchanges, [3, 5, 7]);
        assert_eq!(trees[0].loads, [2]);
        assert!((trees[0].bytes - 4.0).abs() < 1e-12 && (trees[0].room() - 4.0).abs() < 1e-12);
        assert_eq!(trees[0].of_threads, [0, 1, 3, 5, 7, 9, 12]);
        assert_eq!((&trees[0].combines[..], trees[0].steps), (&[4, 6, 8][..], 3.0));
    }

    #[test]
    fn many_values_and_other_exchanges_are_no_small_trees() {
        let wide = found("LDG.E.128 R4, desc[UR4][R2.64]", 8.0, "FADD R7, R6, R7");
        assert!(wide.is_empty(), "16 bytes");
        let often = found("LDG.E R4, desc[UR4][R2.64]", 24.0, "FADD R7, R6, R7");
        assert!(often.is_empty(), "12 bytes for each tree");
        let kept = found("LDG.E R4, desc[UR4][R2.64]", 4.0, "FADD R7, R6, R7");
        assert!(kept.is_empty(), "one value for two trees");
        let sort = found("LDG.E R4, desc[UR4][R2.64]", 8.0, "FMNMX R7, R6, R7, !P0");
        assert!(sort.is_empty(), "some lanes keep the larger one");
        for step in ["FMNMX R7, R6, R7, !PT", "FMUL R7, R6, R7", "MOV R7, R7"] {
            assert_eq!(found("LDG.E R4, desc[UR4][R2.64]", 8.0, step).len(), 1, "{step}");
        }
        let chosen = found("LDG.E R4, desc[UR4][R2.64]", 8.0, "@P0 MOV R7, R6");
        assert!(chosen.is_empty(), "some lanes take the other one's");
    }
}
