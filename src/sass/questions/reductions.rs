//! Loops that combine the values of all lanes in each turn, though only the total of all turns is used.
//!
//! A sum, a maximum, or the place of a maximum can be kept by each lane for itself and combined once, behind the loop. That
//! does not hold where a turn needs the combined value: to store it, to decide what comes next, or to work with it on the
//! lanes' own values, as a normalisation does; but a running maximum may rescale sums of exponentials.

mod rescaled;

use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::live::{self, carried};
use crate::sass::flow::slice::Values;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::made_of_data::made_of_data;
use crate::sass::questions::moved_down::taking_part;
use rescaled::rescaled;

/// A loop whose lanes could be combined behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct CombiningLoop {
    /// The instructions that combine lanes in each turn; those that add a turn's result to the total are not among them.
    pub combining: Vec<usize>,
    /// The shuffles and warp-wide reductions among them.
    pub exchanges: Vec<usize>,
    /// The instructions that add to the total.
    pub adding: Vec<usize>,
    /// The barriers that only they need.
    pub barriers: Vec<usize>,
    /// The loads from global memory in a turn.
    pub loads: Vec<usize>,
    /// Exponentials that come instead, where a running maximum rescales the sums: each lane rescales its own.
    pub rescalings: f64,
    /// The loop's turns, on average.
    pub turns: f64,
}

/// The smallest loops around exchanges between lanes of which only a total is used.
#[must_use]
pub fn in_loops(listing: &Listing) -> Vec<CombiningLoop> {
    let sass = listing.sass;
    let exchanges = listing.entries().filter(|&(at, _)| is_exchange(listing, at));
    let mut around: Vec<usize> = exchanges.filter_map(|(at, _)| sass.flow.innermost(at)).collect();
    around.sort_unstable();
    around.dedup();
    if around.is_empty() {
        return Vec::new();
    }
    let of_data = made_of_data(listing);
    let mut values = Values::new(sass);
    let loops = around.into_iter().filter_map(|of| {
        let mut turn = Turn::new(listing, &mut values, of);
        if turn.is_only_added(&of_data) {
            Some(turn.found())
        } else {
            rescaled(&mut turn, &of_data)
        }
    });
    loops.collect()
}

/// True for a step of a tree over a warp's lanes, or for the whole tree.
fn is_exchange(listing: &Listing, at: usize) -> bool {
    matches!(listing.sass.entries[at].family, Family::Shuffle | Family::Vote)
        && listing.executed(at) > 0.0
        && ["SHFL.BFLY", "SHFL.DOWN", "REDUX"].iter().any(|name| listing.text(at).contains(name))
}

/// True for what leaves a value as it is, but for its sign.
fn is_copy(listing: &Listing, at: usize) -> bool {
    let text = listing.text(at);
    text.contains("MOV") || text.contains("FADD") && text.contains("-RZ")
}

/// What takes the larger or the smaller of two, or tells which it is.
const COMPARISONS: [&str; 2] = ["SETP", "MNMX"];

/// What multiplies.
const PRODUCTS: [&str; 6] = ["FMUL", "FFMA", "DMUL", "DFMA", "MUL2", "FMA2"];

/// What an operand is, seen from the tree over the lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operand {
    /// It follows from an exchange.
    Combined,
    /// It is what an exchange hands over.
    HandedOver,
    /// The lane's own data.
    OfData,
    /// Constants, counters, and what was there before the loop.
    Else,
}

/// A turn of a loop, and what follows in it from exchanges between lanes.
struct Turn<'a, 'b> {
    listing: &'b Listing<'a>,
    values: &'b mut Values<'a>,
    of: usize,
    /// The executed instructions of the loop.
    inside: Marks,
    /// Those that an exchange or something made of one takes part in.
    combined: Marks,
    /// What the exchanges hand over.
    handed_over: Marks,
    /// Those among them that add to what goes from turn to turn.
    adding: Marks,
}

impl<'a, 'b> Turn<'a, 'b> {
    fn new(listing: &'b Listing<'a>, values: &'b mut Values<'a>, of: usize) -> Self {
        let sass = listing.sass;
        let each = &sass.flow.loops[of];
        let is_inside = |at: usize| listing.executed(at) > 0.0 && sass.flow.is_in(each, at);
        let inside = Marks::of(sass.entries.len(), is_inside);
        let combined = Marks::of(sass.entries.len(), |at| inside[at] && is_exchange(listing, at));
        let mut handed_over = Marks::new(sass.entries.len());
        let mut open: Vec<usize> = combined.iter().collect();
        while let Some(at) = open.pop() {
            for each in sass.uses(at) {
                for made in values.definitions(at, *each).map(|made| made as usize) {
                    // A copy, or a magnitude, is the same value.
                    if handed_over.insert(made) && is_copy(listing, made) {
                        open.push(made);
                    }
                }
            }
        }
        let adding = Marks::new(sass.entries.len());
        let mut turn = Self { listing, values, of, inside, combined, handed_over, adding };
        turn.follow();
        turn.add();
        turn
    }

    fn family(&self, at: usize) -> Family {
        self.listing.sass.entries[at].family
    }

    /// Marks all that follows from the exchanges, through shared memory as well.
    fn follow(&mut self) {
        let mut combined = self.combined.clone();
        combined.spread(&self.inside.clone(), |at, combined| self.follows(at, combined));
        self.combined = combined;
    }

    fn follows(&mut self, at: usize, combined: &Marks) -> bool {
        let through_shared = self.family(at) == Family::Load(Space::Shared)
            && combined.iter().any(|by| self.family(by) == Family::Store(Space::Shared));
        let uses: Vec<Use> = taking_part(self.listing, at).copied().collect();
        through_shared
            || uses.iter().any(|each| self.makes(at, *each).iter().any(|&by| combined[by]))
    }

    /// The instructions of the loop that make what is used.
    fn makes(&mut self, at: usize, each: Use) -> Vec<usize> {
        let made = self.values.definitions(at, each).map(|made| made as usize);
        made.filter(|&made| self.inside[made]).collect()
    }

    /// Marks what adds to the values of earlier turns: it reads one that stands behind it in the loop, or that another such
    /// instruction has made.
    fn add(&mut self) {
        let sass = self.listing.sass;
        let slots = carried(sass, live::of(self.listing), &sass.flow.loops[self.of]);
        let may_add =
            Marks::of(sass.entries.len(), |at| self.combined[at] && !is_exchange(self.listing, at));
        let mut adding = self.adding.clone();
        adding.spread(&may_add, |at, adding| {
            sass.uses(at).iter().any(|each| {
                let made = self.makes(at, *each);
                slots.contains(&each.slot) && made.iter().any(|&by| by >= at && self.combined[by])
                    || made.iter().any(|&by| by < at && adding[by])
            })
        });
        self.adding = adding;
    }

    /// True where totals are all that becomes of what the lanes exchange.
    fn is_only_added(&mut self, of_data: &Marks) -> bool {
        let combined: Vec<usize> = self.combined.iter().collect();
        !self.adding.are_none()
            && combined
                .into_iter()
                .all(|at| self.is_of_a_tree(at) && self.keeps_order_free(at, of_data))
    }

    /// True for what a reduction consists of: exchanges, arithmetic, and shared memory. Nothing else may see its values.
    fn is_of_a_tree(&self, at: usize) -> bool {
        let entry = &self.listing.sass.entries[at];
        let shared = matches!(
            entry.family,
            Family::Load(Space::Shared) | Family::Store(Space::Shared) | Family::Shuffle
        );
        let decides = matches!(entry.exit(), Exit::Branch(_) | Exit::MaybeEnd);
        // A root, an exponential, or a product of matrices of the sum of parts is not the sum of theirs.
        !decides
            && (shared || !entry.family.is_memory())
            && !matches!(entry.family, Family::SpecialFunction | Family::Tensor | Family::Fence)
    }

    /// True where it makes no difference whether lanes are combined before or behind the loop.
    fn keeps_order_free(&mut self, at: usize, of_data: &Marks) -> bool {
        let sass = self.listing.sass;
        if self.family(at).is_memory() || self.family(at) == Family::Shuffle {
            return true;
        }
        let adds = self.adding[at];
        let uses: Vec<Use> =
            sass.uses(at).iter().filter(|each| each.role != Role::Old).copied().collect();
        let totals: Vec<bool> = uses
            .iter()
            .map(|each| self.makes(at, *each).iter().any(|&by| self.adding[by]))
            .collect();
        let operands: Vec<Operand> =
            uses.iter().map(|each| self.operand(at, *each, of_data)).collect();
        // Which turns count must follow from the values alone.
        let by_condition = |(each, operand): (&Use, &Operand)| {
            each.slot.is_predicate() && *operand != Operand::Combined
        };
        if adds && uses.iter().zip(&operands).any(by_condition) {
            return false;
        }
        let values = || (0..uses.len()).filter(|&place| !uses[place].slot.is_predicate());
        let is = |place: usize, operand: Operand| operands[place] == operand;
        if values().any(|place| is(place, Operand::OfData))
            || values().any(|place| is(place, Operand::HandedOver))
                && !self.meets_exchanged(at, of_data)
        {
            return false;
        }
        let of_tree = |place: usize| is(place, Operand::Combined) || is(place, Operand::HandedOver);
        let text = self.listing.text(at);
        if COMPARISONS.iter().any(|name| text.contains(name)) {
            // A comparison with anything else does not distribute over parts.
            return values().filter(|&place| of_tree(place)).count() > 1;
        }
        if PRODUCTS.iter().any(|name| text.contains(name)) {
            let mut factors = values().take(2);
            return !factors.all(|place| of_tree(place) && !totals[place]) || values().count() < 2;
        }
        true
    }

    /// What one operand is, seen from the tree.
    fn operand(&mut self, at: usize, each: Use, of_data: &Marks) -> Operand {
        let made = self.makes(at, each);
        let is_data = |by: usize| of_data[by] || self.family(by).is_memory();
        if made.iter().any(|&by| self.combined[by]) {
            Operand::Combined
        } else if !made.is_empty() && made.iter().all(|&by| self.handed_over[by]) {
            Operand::HandedOver
        } else if made.iter().any(|&by| is_data(by)) {
            Operand::OfData
        } else {
            Operand::Else
        }
    }

    /// True where an operand comes straight from an exchange, or where a lane takes either its own value or that with what
    /// it was handed.
    fn meets_exchanged(&mut self, at: usize, of_data: &Marks) -> bool {
        let uses: Vec<Use> = self.listing.sass.uses(at).to_vec();
        let made: Vec<usize> = uses.iter().flat_map(|each| self.makes(at, *each)).collect();
        if made.iter().any(|&by| is_exchange(self.listing, by)) {
            return true;
        }
        // Which lanes add may go by where they stand, not by what they have.
        let goes_by_place = uses
            .iter()
            .filter(|each| each.slot.is_predicate())
            .all(|each| self.operand(at, *each, of_data) == Operand::Else);
        self.listing.text(at).contains("SEL")
            && goes_by_place
            && made.iter().any(|&by| self.combined[by] && self.meets_exchanged_itself(by))
    }

    fn meets_exchanged_itself(&mut self, at: usize) -> bool {
        let uses: Vec<Use> = self.listing.sass.uses(at).to_vec();
        uses.into_iter()
            .any(|each| self.makes(at, each).iter().any(|&by| is_exchange(self.listing, by)))
    }

    fn loads(&self) -> Vec<usize> {
        // Those of a loop within have no barrier around them now.
        let is_own = |at: usize| self.listing.sass.flow.innermost(at) == Some(self.of);
        let is_load = |at: usize| self.family(at) == Family::Load(Space::Global);
        self.inside.iter().filter(|&at| is_own(at) && is_load(at)).collect()
    }

    fn found(&self) -> CombiningLoop {
        let listing = self.listing;
        let is_shared = |at: &usize| {
            matches!(self.family(*at), Family::Load(Space::Shared) | Family::Store(Space::Shared))
        };
        let all_of_tree = self.inside.iter().filter(is_shared).all(|at| self.combined[at]);
        let barriers = self.inside.iter().filter(|&at| all_of_tree && listing.is_block_barrier(at));
        let of = &listing.sass.flow.loops[self.of];
        let (adding, combining): (Vec<usize>, Vec<usize>) =
            self.combined.iter().partition(|&at| self.adding[at]);
        CombiningLoop {
            exchanges: combining.iter().copied().filter(|&at| is_exchange(listing, at)).collect(),
            combining,
            adding,
            barriers: barriers.collect(),
            loads: self.loads(),
            rescalings: 0.0,
            turns: turns(listing, of),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A loop of 20 turns that loads a value per lane, and in which `turn` follows.
    fn of(turn: &[&'static str]) -> Vec<CombiningLoop> {
        let mut code = vec![("MOV R6, RZ", 8.0), ("LDG.E R4, desc[UR4][R2.64]", 160.0)];
        code.extend(turn.iter().map(|text| (*text, 160.0)));
        code.extend([
            ("IADD3 R2, R2, 0x80, RZ", 160.0),
            ("ISETP.GE.AND P0, PT, R2, R9, PT", 160.0),
            ("@!P0 BRA 0x110", 160.0),
            ("STG.E desc[UR4][R10.64], R6", 8.0),
            ("EXIT", 8.0),
        ]);
        in_loops(&launch(&code).listing().unwrap())
    }

    #[test]
    fn a_sum_over_lanes_and_turns_can_wait_for_the_end() {
        let found = of(&[
            "SHFL.BFLY PT, R5, R4, 0x1, 0x1f",
            "FADD R5, R4, R5",
            "SHFL.BFLY PT, R7, R5, 0x2, 0x1f",
            "FADD R7, R5, R7",
            "FADD R6, R6, R7",
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].combining, [2, 3, 4, 5], "what adds to the total stays");
        assert_eq!((&found[0].exchanges[..], &found[0].adding[..]), (&[2, 4][..], &[6][..]));
        assert!((found[0].turns - 20.0).abs() < 1e-12);
    }

    #[test]
    fn an_unrolled_loop_adds_in_several_registers() {
        let found = of(&[
            "LDG.E R14, desc[UR4][R2.64+0x80]",
            "FADD R12, |R4|, -RZ",
            "SHFL.BFLY PT, R5, R12, 0x1, 0x1f",
            "FMNMX R5, |R4|, R5, !PT",
            "FMNMX R8, R6, R5, !PT",
            "SHFL.BFLY PT, R7, R14, 0x1, 0x1f",
            "FMNMX R7, R14, R7, !PT",
            "FMNMX R6, R8, R7, !PT",
        ]);
        assert_eq!(
            (&found[0].combining[..], &found[0].adding[..]),
            (&[4, 5, 7, 8][..], &[6, 9][..])
        );
    }

    #[test]
    fn a_tree_through_shared_memory_takes_its_barriers_along() {
        let found = of(&[
            "SHFL.BFLY PT, R5, R4, 0x1, 0x1f",
            "FMNMX R5, R4, R5, !PT",
            "STS [R20], R5",
            "BAR.SYNC.DEFER_BLOCKING 0x0",
            "LDS R7, [R21]",
            "FMNMX R6, R6, R7, !PT",
        ]);
        assert_eq!(
            (&found[0].combining[..], &found[0].barriers[..]),
            (&[2, 3, 4, 6][..], &[5][..])
        );
    }

    #[test]
    fn a_turn_that_needs_the_result_combines_for_itself() {
        let sum = ["SHFL.BFLY PT, R5, R4, 0x1, 0x1f", "FADD R5, R4, R5"];
        let with = |last: &[&'static str]| of(&[&sum[..], last].concat());
        assert_eq!(with(&["FADD R6, R6, R5"]).len(), 1);
        assert!(with(&["STG.E desc[UR4][R12.64], R5", "FADD R6, R6, R5"]).is_empty(), "stored");
        assert!(with(&["FADD R7, R4, -R5", "FADD R6, R6, R7"]).is_empty(), "a deviation");
        assert!(with(&["MUFU.SQRT R7, R5", "FADD R6, R6, R7"]).is_empty(), "a norm");
        assert!(with(&["FFMA R6, R5, R5, R6"]).is_empty(), "a square");
        assert!(with(&["FMNMX R7, RZ, R5, !PT", "FADD R6, R6, R7"]).is_empty(), "cut off");
        assert!(with(&["@P3 FADD R6, R6, R5"]).is_empty(), "only some turns");
        assert!(with(&["MOV R7, R5"]).is_empty(), "no total");
    }
}
