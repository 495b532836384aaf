//! Loops with products that go through tiles of which a mask by position keeps nothing.
//!
//! A causal mask or a window compares a column's index, which the loop counts, with a row's, which the block's index
//! gives. Where the loop begins at the same tile for every block, and ends at the same tile or has a mask with two edges,
//! tiles on the far side of an edge are loaded, multiplied, and then switched off whole.

use super::products::{is_product, members};
use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::questions::sharing::{addresses_by_blocks, compares_blocks, guards_blocks};
use crate::sass::thresholds::MASKED_OFF;

/// A loop whose mask could have shortened it.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskedLoop {
    /// Its executed instructions.
    pub inside: Vec<usize>,
    /// The selections that switch products off.
    pub selections: Vec<usize>,
    /// Its turns, on average.
    pub turns: f64,
    /// True where it ends with the block's rows, but begins at the same tile for all blocks, under a mask with two edges.
    pub ends_with_rows: bool,
}

/// The smallest loops around matrix instructions whose results a mask by position switches off, while they begin at the
/// same tile for all blocks, and end at the same as well, or have a mask with two edges.
#[must_use]
pub fn masked(listing: &Listing) -> Vec<MaskedLoop> {
    let sass = listing.sass;
    let multiplies = (0..sass.entries.len()).filter(|&at| is_product(listing, at));
    let mut around: Vec<usize> = multiplies.filter_map(|at| sass.flow.innermost(at)).collect();
    around.sort_unstable();
    around.dedup();
    let mut reaching = Reaching::with_guards(sass);
    let loops = around.into_iter().filter_map(|of| MaskedLoop::of(listing, &mut reaching, of));
    loops.collect()
}

impl MaskedLoop {
    fn of(listing: &Listing, reaching: &mut Reaching, of: usize) -> Option<Self> {
        let each = &listing.sass.flow.loops[of];
        let inside = members(listing, of);
        let mut mask = Mask::default();
        for &at in inside.iter().filter(|&&at| switches_off(listing.text(at))) {
            mask.add(listing, reaching, &inside, at);
        }
        let by_rows = |by: [bool; 3]| by.iter().zip(mask.rows).any(|(by, rows)| *by && rows);
        if mask.selections.is_empty() || copies(listing, &inside).any(by_rows) {
            return None;
        }
        let ends_with_rows = by_rows(guards_blocks(listing, each.back)?);
        (!ends_with_rows || mask.has_two_edges()).then(|| Self {
            turns: turns(listing, each),
            selections: mask.selections,
            ends_with_rows,
            inside,
        })
    }
}

/// The block indices that the addresses of a loop's copies from global memory go by, of those that can be followed.
fn copies<'a>(listing: &'a Listing, inside: &'a [usize]) -> impl Iterator<Item = [bool; 3]> + 'a {
    let is_copy = |at: &usize| {
        let family = listing.sass.entries[*at].family;
        matches!(family, Family::Load(Space::Global) | Family::AsyncCopy)
    };
    inside.iter().copied().filter(is_copy).filter_map(|at| addresses_by_blocks(listing, at))
}

/// What switches products off by position.
#[derive(Default)]
struct Mask {
    selections: Vec<usize>,
    /// The block indices that give the row.
    rows: [bool; 3],
    /// Comparisons that treat equals as `>` and `<=` do, and those that treat them as `>=` and `<` do.
    strict: usize,
    inclusive: usize,
    /// Comparisons of a distance, taken without its sign, with a constant: those have both edges.
    of_distances: usize,
}

impl Mask {
    /// Notes a selection if it goes by a comparison in the loop that a block's index takes part in.
    fn add(
        &mut self,
        listing: &Listing,
        reaching: &mut Reaching,
        inside: &[usize],
        selection: usize,
    ) {
        let conditions = listing.sass.uses(selection).iter().filter(|each| !each.slot.is_general());
        let made: Vec<usize> = conditions
            .flat_map(|each| reaching.definitions(selection, *each).collect::<Vec<_>>())
            .map(|at| at as usize)
            .collect();
        for at in made.into_iter().filter(|at| inside.binary_search(at).is_ok()) {
            let text = listing.text(at);
            let by = compares_blocks(listing, at)
                .filter(|by| text.contains("ISETP") && *by != [false; 3]);
            let Some(by) = by else { continue };
            (0..3).for_each(|axis| self.rows[axis] |= by[axis]);
            let is_strict = text.contains(".GT") || text.contains(".LE");
            let turns = |each: &Use| {
                let mut made_at = reaching.definitions(at, *each);
                made_at.any(|at| inside.binary_search(&(at as usize)).is_ok())
            };
            *(if is_distance(text) && listing.sass.uses(at).iter().any(turns) {
                &mut self.of_distances
            } else if is_strict {
                &mut self.strict
            } else {
                &mut self.inclusive
            }) += 1;
            if self.selections.last() != Some(&selection) {
                self.selections.push(selection);
            }
        }
    }

    /// True for a window: a compiler writes its two edges as comparisons that differ in what they do with equals, and
    /// each with about half of the scores; or as one of the distance without its sign.
    fn has_two_edges(&self) -> bool {
        let (fewer, more) = (self.strict.min(self.inclusive), self.strict.max(self.inclusive));
        2 * fewer >= more && fewer > 0 || self.of_distances > more
    }
}

/// True for a comparison without sign with a constant: below zero, a difference is larger than any. With the largest number
/// that has a sign it asks for the sign alone.
fn is_distance(text: &str) -> bool {
    let mut constants = text.split(',').filter_map(|word| word.trim().strip_prefix("0x"));
    let is_width = |digits: &str| {
        let digits = digits.trim_end_matches([' ', ';']);
        i32::from_str_radix(digits, 16).is_ok_and(|width| width < i32::MAX)
    };
    text.contains(".U32") && !text.contains(".EX") && constants.any(is_width)
}

/// True for a choice between a value and a constant that an exponential makes zero.
fn switches_off(text: &str) -> bool {
    let is_lowest = |word: &str| {
        let word = word.trim_matches([',', ';']);
        word == "-INF" || word.parse::<f64>().is_ok_and(|number| number <= MASKED_OFF.value)
    };
    text.contains("FSEL") && text.split_whitespace().any(is_lowest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A loop of 40 turns from `start`, whose products a comparison with `row` switches off.
    fn of(start: &'static str, row: &'static str, choice: &'static str) -> usize {
        let launch = launch(&[
            ("S2R R3, SR_CTAID.X", 8.0),
            (start, 8.0),
            ("S2R R4, SR_TID.X", 8.0),
            (row, 8.0),
            ("HMMA.16816.F32 R24, R8, R12, RZ", 320.0),
            ("ISETP.GE.AND P1, PT, R5, R2, PT", 320.0),
            (choice, 320.0),
            ("IADD3 R2, R2, 0x40, RZ", 320.0),
            ("ISETP.GE.AND P0, PT, R2, c[0x0][0x210], PT", 320.0),
            ("@!P0 BRA 0x140", 320.0),
            ("EXIT", 8.0),
        ]);
        masked(&launch.listing().unwrap()).first().map_or(0, |each| {
            assert!((each.turns - 40.0).abs() < 1e-12);
            each.selections.len()
        })
    }

    #[test]
    fn a_distance_without_its_sign_is_a_window() {
        let of = |comparison: &'static str| {
            let launch = launch(&[
                ("S2R R3, SR_CTAID.X", 8.0),
                ("MOV R2, RZ", 8.0),
                ("S2R R4, SR_TID.X", 8.0),
                ("IMAD R5, R3, 0x40, R4", 8.0),
                ("IMAD R6, R3, 0x40, RZ", 8.0),
                ("HMMA.16816.F32 R24, R8, R12, RZ", 320.0), // 0x150
                ("IADD3 R7, R5, -R2, RZ", 320.0),
                (comparison, 320.0),
                ("FSEL R24, R24, -INF, P1", 320.0),
                ("IADD3 R2, R2, 0x40, RZ", 320.0),
                ("ISETP.GE.AND P0, PT, R2, R6, PT", 320.0),
                ("@!P0 BRA 0x150", 320.0),
                ("EXIT", 8.0),
            ]);
            masked(&launch.listing().unwrap()).first().map(|each| each.ends_with_rows)
        };
        assert_eq!(of("ISETP.LT.U32.AND P1, PT, R7, 0x800, PT"), Some(true));
        assert_eq!(
            of("ISETP.GE.AND P1, PT, R7, RZ, PT"),
            None,
            "one edge, and the loop ends there"
        );
    }

    #[test]
    fn a_loop_from_end_to_end_under_a_mask_by_row() {
        let (zero, row) = ("MOV R2, RZ", "IMAD R5, R3, 0x40, R4");
        let choice = "FSEL R24, R24, -INF, P1";
        assert_eq!(of(zero, row, choice), 1);
        assert_eq!(of(zero, row, "FSEL R24, R24, -1.00000001504746621988e+30, P1"), 1);
        assert_eq!(
            of("IMAD R2, R3, 0x40, RZ", row, choice),
            0,
            "it starts where the block's rows do"
        );
        assert_eq!(of(zero, "IMAD R5, R4, 0x1, RZ", choice), 0, "the same mask for all blocks");
        assert_eq!(of(zero, row, "FSEL R24, R24, 1, P1"), 0, "no mask");
    }
}
