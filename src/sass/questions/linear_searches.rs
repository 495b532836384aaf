//! Loops that go through values one by one, up to the first that lies beyond another.
//!
//! Such a loop does nothing but load the next value, compare it with one that stays, and count. Where the comparison asks which
//! of the two is larger, the values mostly ascend: the offsets of sequences, rows, or bins. A search for an equal value, or
//! along pointers, may find them in any order.

use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::matrix_loops::members;

/// A loop that only searches.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSearch {
    /// All that the loop executes, ascending.
    pub inside: Vec<usize>,
    /// Its loads.
    pub loads: Vec<usize>,
    /// How many values it looks at for each warp that comes to it.
    pub values: f64,
}

/// The loops that do nothing but search so.
#[must_use]
pub fn linear_searches(listing: &Listing) -> Vec<LinearSearch> {
    (0..listing.sass.flow.loops.len()).filter_map(|of| in_loop(listing, of)).collect()
}

fn in_loop(listing: &Listing, of: usize) -> Option<LinearSearch> {
    let sass = listing.sass;
    let each = &sass.flow.loops[of];
    let inside = members(listing, of);
    let family = |at: usize| sass.entries[at].family;
    let is_load = |at: usize| matches!(family(at), Family::Load(_));
    let is_order = |at: usize| is_order(listing.text(at));
    let only_searches = inside.iter().all(|&at| {
        is_load(at) || !family(at).is_memory() && (!family(at).is_float() || is_order(at))
    });
    let loads: Vec<usize> = inside.iter().copied().filter(|&at| is_load(at)).collect();
    if !only_searches || loads.is_empty() {
        return None;
    }
    let within = Marks::of(sass.entries.len(), |at| inside.binary_search(&at).is_ok());
    let mut reaching = Reaching::new(sass);
    // Where the next value lies, only the counter says.
    let reads_along = loads.iter().all(|&at| {
        let made = made_of(listing, &mut reaching, at, &within, |role| role == Role::Address);
        !made.iter().any(is_load) && !made.are_none()
    });
    let exits = inside.iter().copied().filter(|&at| match sass.entries[at].exit() {
        Exit::Branch(target) => !within[target] || at + 1 >= sass.entries.len() || !within[at + 1],
        _ => false,
    });
    let ends_by_order = exits.into_iter().any(|exit| {
        let guards = sass.uses(exit).iter().filter(|each| each.role == Role::Guard);
        let asked: Vec<usize> = guards
            .flat_map(|each| {
                reaching.definitions(exit, *each).map(|by| by as usize).collect::<Vec<_>>()
            })
            .collect();
        asked.into_iter().any(|at| {
            is_order(at) && one_side_is_loaded(listing, &mut reaching, at, &within, is_load)
        })
    });
    if !(reads_along && ends_by_order) {
        return None;
    }
    let entered = listing.executed(each.head) / turns(listing, each);
    let loaded: f64 = loads.iter().map(|&at| listing.executed(at)).sum();
    Some(LinearSearch { inside, loads, values: loaded / entered.max(f64::MIN_POSITIVE) })
}

/// True for a comparison that asks which of two values is larger.
pub(super) fn is_order(text: &str) -> bool {
    Instruction::parse(text).is_some_and(|instruction| instruction.compares_by_order())
}

/// The instructions of a loop that the operands of some role are made of, over any number of steps.
pub(super) fn made_of(
    listing: &Listing,
    reaching: &mut Reaching,
    at: usize,
    within: &Marks,
    of: fn(Role) -> bool,
) -> Marks {
    let sass = listing.sass;
    let mut made = Marks::new(sass.entries.len());
    let first: Vec<Use> = sass.uses(at).iter().filter(|each| of(each.role)).copied().collect();
    let mut open: Vec<(usize, Use)> = first.into_iter().map(|each| (at, each)).collect();
    while let Some((at, each)) = open.pop() {
        let by: Vec<usize> = reaching.definitions(at, each).map(|by| by as usize).collect();
        for by in by.into_iter().filter(|&by| within[by]) {
            if made.insert(by) {
                open.extend(sass.uses(by).iter().map(|each| (by, *each)));
            }
        }
    }
    made
}

/// True where one side of a comparison is what the loop loads, and the other comes from outside.
fn one_side_is_loaded(
    listing: &Listing,
    reaching: &mut Reaching,
    at: usize,
    within: &Marks,
    is_load: impl Fn(usize) -> bool,
) -> bool {
    let sides = listing.sass.uses(at).iter().filter(|each| each.role == Role::Data);
    let sides: Vec<Use> = sides.filter(|each| !each.slot.is_predicate()).copied().collect();
    let of = |reaching: &mut Reaching, each: &Use| -> Vec<usize> {
        let made = reaching.definitions(at, *each).map(|by| by as usize);
        made.filter(|&by| within[by]).collect()
    };
    let loaded = |made: &[usize]| made.iter().any(|&by| is_load(by));
    let made: Vec<Vec<usize>> = sides.iter().map(|each| of(reaching, each)).collect();
    made.iter().any(|made| loaded(made)) && made.iter().all(|made| loaded(made) || made.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(changes: &[(usize, &'static str)]) -> Vec<LinearSearch> {
        let mut code = vec![
            ("S2R R15, SR_CTAID.X", 10.0),
            ("IMAD.WIDE R4, R6, 0x4, R10", 500.0),
            ("LDG.E R0, desc[UR6][R4.64+0x4]", 500.0),
            ("IADD3 R6, R6, 0x1, RZ", 500.0),
            ("ISETP.GT.AND P0, PT, R0, R15, PT", 500.0),
            ("@!P0 BRA 0x110", 500.0),
            ("STG.E desc[UR6][R8.64], R6", 10.0),
            ("EXIT", 10.0),
        ];
        for &(at, text) in changes {
            code[at].0 = text;
        }
        linear_searches(&launch(&code).listing().unwrap())
    }

    #[test]
    fn a_loop_that_ends_beyond_a_value_searches() {
        let found = of(&[]);
        assert_eq!((found.len(), found[0].loads.clone()), (1, vec![2]));
        assert!((found[0].values - 50.0).abs() < 1e-12);
    }

    #[test]
    fn equal_values_pointers_and_bounds_are_no_search_in_order() {
        assert!(of(&[(4, "ISETP.NE.AND P0, PT, R0, R15, PT")]).is_empty(), "an equal value");
        assert!(of(&[(1, "IMAD.WIDE R4, R0, 0x4, R10")]).is_empty(), "along pointers");
        assert!(of(&[(4, "ISETP.GT.AND P0, PT, R6, R15, PT")]).is_empty(), "a loop to an end");
        assert!(of(&[(4, "ISETP.GT.AND P0, PT, R0, R6, PT")]).is_empty(), "against the counter");
        assert!(of(&[(3, "FADD R6, R6, R0")]).is_empty(), "a sum");
    }
}
