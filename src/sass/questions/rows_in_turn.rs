//! Loops that work out one row of a tile in each turn, from all rows before it, and put it into its place.
//!
//! So a triangular system is solved by hand: lanes and warps multiply the rows that they hold by the next row's coefficients,
//! add the products up over the block, and whoever holds that row selects the sum in place of what it had there. Each turn
//! must wait for the one before it.

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::made_of_data::made_of_data;

/// A loop whose turns make a row each.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsInTurn {
    /// Its executed instructions, ascending.
    pub inside: Vec<usize>,
    /// The selections that put a row into its place.
    pub places: Vec<usize>,
    /// What exchanges values between lanes on the way to a row: shuffles, and loads from shared memory.
    pub exchanges: Vec<usize>,
    /// Barriers of the block in a turn.
    pub barriers: usize,
    /// Turns, on average.
    pub turns: f64,
}

/// The loops with such turns, each by the selections that stand in no smaller loop.
#[must_use]
pub fn rows_in_turn(listing: &Listing) -> Vec<RowsInTurn> {
    let sass = listing.sass;
    let is_exchange = |at: usize| {
        matches!(sass.entries[at].family, Family::Shuffle | Family::Load(Space::Shared))
            && listing.executed(at) > 0.0
    };
    let around = (0..sass.entries.len()).filter(|&at| is_exchange(at));
    let mut loops: Vec<usize> = around.filter_map(|at| sass.flow.innermost(at)).collect();
    loops.sort_unstable();
    loops.dedup();
    if loops.is_empty() {
        return Vec::new();
    }
    let of_data = made_of_data(listing);
    let mut reaching = Reaching::new(sass);
    loops.into_iter().filter_map(|of| in_loop(listing, &mut reaching, &of_data, of)).collect()
}

fn in_loop(
    listing: &Listing,
    reaching: &mut Reaching,
    of_data: &Marks,
    of: usize,
) -> Option<RowsInTurn> {
    let sass = listing.sass;
    let is_inside = |at: usize| listing.executed(at) > 0.0 && sass.flow.innermost(at) == Some(of);
    let inside: Vec<usize> = (0..sass.entries.len()).filter(|&at| is_inside(at)).collect();
    let (mut places, mut rows) = (Vec::new(), Vec::new());
    for &at in &inside {
        if let Some(row) = placed(listing, reaching, of_data, at, is_inside) {
            places.push(at);
            rows.extend(row.into_iter().map(|each| (at, each)));
        }
    }
    if places.is_empty() {
        return None;
    }
    let made = makers(listing, reaching, &rows, &inside);
    let exchanges: Vec<usize> = made
        .iter()
        .filter(|&at| {
            matches!(sass.entries[at].family, Family::Shuffle | Family::Load(Space::Shared))
        })
        .collect();
    let takes_rows = made.iter().filter(|&at| multiplies(sass.entries[at].family)).any(|at| {
        let data = sass.uses(at).iter().filter(|each| each.role == Role::Data);
        data.into_iter().any(|each| {
            reaching.definitions(at, *each).any(|by| places.binary_search(&(by as usize)).is_ok())
        })
    });
    if exchanges.is_empty() || !takes_rows {
        return None;
    }
    let barriers = inside.iter().filter(|&&at| listing.text(at).contains("BAR.")).count();
    let turns = turns(listing, &sass.flow.loops[of]);
    Some(RowsInTurn { inside, places, exchanges, barriers, turns })
}

/// What a new value is made of that is selected in place of what the result was a turn before, by a selection or under a guard,
/// where what decides follows from indices and counters of the loop alone.
fn placed(
    listing: &Listing,
    reaching: &mut Reaching,
    of_data: &Marks,
    at: usize,
    is_inside: impl Fn(usize) -> bool,
) -> Option<Vec<Use>> {
    let sass = listing.sass;
    let is_guarded = sass.entries[at].conditional;
    if !is_guarded && !listing.text(at).contains("SEL") {
        return None;
    }
    let (mut old, mut decided, mut new) = (false, false, Vec::new());
    for each in sass.uses(at).iter().filter(|each| each.role != Role::Address) {
        let mut made: Vec<usize> = Vec::new();
        made.extend(reaching.definitions(at, *each).map(|by| by as usize));
        if !each.slot.is_general() {
            let counts = |&by: &usize| !of_data[by] && is_inside(by);
            if made.is_empty() || !made.iter().all(counts) {
                return None;
            }
            decided = true;
        } else if made.contains(&at) && (each.role == Role::Old || !is_guarded) {
            old = true;
        } else if each.role == Role::Data {
            new.push(*each);
        }
    }
    (old && decided && !new.is_empty()).then_some(new)
}

/// All that takes part in values within a turn, through shared memory as well.
fn makers(
    listing: &Listing,
    reaching: &mut Reaching,
    values: &[(usize, Use)],
    inside: &[usize],
) -> Marks {
    let sass = listing.sass;
    let is = |at: usize, family: Family| sass.entries[at].family == family;
    let stores: Vec<usize> =
        inside.iter().copied().filter(|&at| is(at, Family::Store(Space::Shared))).collect();
    let mut made = Marks::new(sass.entries.len());
    let mut open: Vec<usize> = Vec::new();
    for &(at, each) in values {
        open.extend(reaching.definitions(at, each).map(|by| by as usize));
    }
    while let Some(at) = open.pop() {
        if inside.binary_search(&at).is_err() || !made.insert(at) {
            continue;
        }
        if is(at, Family::Load(Space::Shared)) {
            open.extend(&stores);
            continue;
        }
        for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
            open.extend(reaching.definitions(at, *each).map(|by| by as usize));
        }
    }
    made
}

/// True for products of floats.
fn multiplies(family: Family) -> bool {
    matches!(
        family,
        Family::Fp32Fma | Family::Fp32Mul | Family::Fp64 | Family::HalfPacked | Family::HalfScalar
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A turn that multiplies R4, adds the products up over lanes, and puts the sum into R4.
    fn found(product: &str, test: &str, place: &str) -> Vec<RowsInTurn> {
        let launch = launch(&[
            ("MOV R10, RZ", 8.0),
            ("LDG.E R5, desc[UR4][R2.64]", 320.0), // 0x110
            (product, 320.0),
            ("SHFL.BFLY PT, R7, R6, 0x1, 0x1f", 320.0),
            ("FADD R6, R6, R7", 320.0),
            (test, 320.0),
            (place, 320.0), // 6
            ("IADD3 R10, R10, 0x1, RZ", 320.0),
            ("ISETP.NE.AND P0, PT, R10, 0x28, PT", 320.0),
            ("@P0 BRA 0x110", 320.0),
            ("STG.E desc[UR4][R12.64], R4", 8.0),
            ("EXIT", 8.0),
        ]);
        rows_in_turn(&launch.listing().unwrap())
    }

    const PRODUCT: &str = "FMUL R6, R4, R5";
    const TEST: &str = "ISETP.NE.AND P1, PT, R10, R9, PT";
    const PLACE: &str = "FSEL R4, R6, R4, !P1";

    #[test]
    fn a_row_is_put_among_those_that_make_the_next_one() {
        let found = found(PRODUCT, TEST, PLACE);
        assert_eq!(found.len(), 1);
        assert_eq!((&found[0].places[..], &found[0].exchanges[..]), (&[6][..], &[3][..]));
        assert!((found[0].turns - 40.0).abs() < 1e-12 && found[0].barriers == 0);
        assert_eq!(self::found(PRODUCT, TEST, "@!P1 FADD R4, R6, R11").len(), 1, "by a guard");
    }

    #[test]
    fn results_that_are_kept_or_chosen_by_data_are_no_rows() {
        assert!(found("FMUL R6, R11, R5", TEST, PLACE).is_empty(), "not taken again");
        assert!(found("FMNMX R6, R4, R5, !PT", TEST, PLACE).is_empty(), "no product");
        let data = "FSETP.GT.AND P1, PT, R6, R9, PT";
        assert!(found(PRODUCT, data, PLACE).is_empty(), "chosen by its value");
        assert!(found(PRODUCT, TEST, "FADD R4, R6, R4").is_empty(), "a state of all turns");
        let always = "@!P2 FADD R4, R6, R11";
        assert!(found(PRODUCT, TEST, always).is_empty(), "decided before the loop");
        assert!(found(PRODUCT, TEST, "FSEL R4, R4, RZ, P1").is_empty(), "taken out, none put in");
    }
}
