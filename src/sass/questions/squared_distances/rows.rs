//! Which sums are distances between rows that each meet several of the other side's, as in a product.

use super::Term;
use super::sums::{Sum, Sums};
use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::goes_by::{By, Sources, TURN, UNKNOWN};
use std::collections::{BTreeMap, BTreeSet};

/// Terms of one distance.
pub(super) struct Distance {
    /// The sum's name.
    pub sum: usize,
    /// Places among all terms.
    pub terms: Vec<usize>,
    /// How many terms the distance has in all, or most of them.
    pub depth: f64,
}

/// The distances between rows of two matrices.
pub(super) fn results(
    listing: &Listing,
    reaching: &mut Reaching,
    terms: &[Term],
    sums: &Sums,
    block: [u32; 3],
) -> Vec<Distance> {
    // Terms of a sum in one place are made one after another; a loop and what is left over of it are two places.
    let mut apart: BTreeMap<Option<usize>, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
    for (at, term) in terms.iter().enumerate() {
        let place = listing.sass.flow.innermost(term.square);
        let root = sums.root(term.square);
        apart.entry(place).or_default().entry(root).or_default().push(at);
    }
    let mut found = Vec::new();
    for (place, of_sums) in apart {
        let Some(grid) = Grid::new(terms, &of_sums) else { continue };
        let axes = Axes::new(listing, reaching, place, block);
        let Some(axes) = axes else { continue };
        for (sum, of_sum) in of_sums {
            let Some(how) = sums.sum(sum) else { continue };
            if !axes.is_product(terms, &of_sum, how, grid.shared) {
                continue;
            }
            let depth = differences(terms, &of_sum) as f64 * axes.terms(how);
            found.push(Distance { sum, terms: of_sum, depth });
        }
    }
    // What an unrolled loop leaves over belongs to the same distances.
    let mut deepest: BTreeMap<usize, f64> = BTreeMap::new();
    for part in &found {
        let known = deepest.entry(part.sum).or_default();
        *known = known.max(part.depth);
    }
    for part in &mut found {
        part.depth = deepest[&part.sum];
    }
    found
}

/// What the sums in one place have in common.
struct Grid {
    /// Whether a row of the first side meets several of the second, and the other way round.
    shared: [bool; 2],
}

/// How many differences the terms of a sum have: lanes may square one to hand it on, and once more to add it up.
fn differences(terms: &[Term], of_sum: &[usize]) -> usize {
    of_sum.iter().map(|&at| terms[at].difference).collect::<BTreeSet<usize>>().len()
}

type Row = BTreeSet<(usize, Slot)>;

impl Grid {
    /// `None` where two sums have some of their values in common and others not, as where windows slide, where terms of
    /// one sum have a value in common, such as a mean, or where a load brings both sides.
    fn new(terms: &[Term], sums: &BTreeMap<usize, Vec<usize>>) -> Option<Self> {
        let mut loads: [BTreeSet<usize>; 2] = Default::default();
        let mut rows: [Vec<Row>; 2] = Default::default();
        for of_sum in sums.values() {
            for side in [0, 1] {
                let of = || of_sum.iter().map(|&at| &terms[at].sides[side]);
                let row: Row = of().map(|each| each.value).collect();
                if row.len() < differences(terms, of_sum) {
                    return None;
                }
                rows[side].push(row);
                loads[side].extend(of().map(|each| each.load));
            }
        }
        if !loads[0].is_disjoint(&loads[1]) {
            return None;
        }
        let [first, second] = [number(&rows[0])?, number(&rows[1])?];
        let meets_several = |one: &[usize], other: &[usize]| {
            let mut met: BTreeMap<usize, usize> = BTreeMap::new();
            one.iter().zip(other).any(|(one, other)| *met.entry(*one).or_insert(*other) != *other)
        };
        Some(Self { shared: [meets_several(&first, &second), meets_several(&second, &first)] })
    }
}

/// Numbers rows: those with the same values have the same one. `None` where two have only some values in common.
fn number(rows: &[Row]) -> Option<Vec<usize>> {
    let mut row_of: BTreeMap<(usize, Slot), usize> = BTreeMap::new();
    let mut numbers = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let known = row.first().and_then(|value| row_of.get(value)).copied();
        let fits = match known {
            Some(known) => rows[known] == *row,
            None => row.iter().all(|value| !row_of.contains_key(value)),
        };
        if !fits {
            return None;
        }
        if known.is_none() {
            row_of.extend(row.iter().map(|value| (*value, at)));
        }
        numbers.push(known.unwrap_or(at));
    }
    Some(numbers)
}

/// What the addresses of loads go by: bits of the thread's index, the others' numbers, and turns of loops.
struct Axes<'a> {
    listing: Listing<'a>,
    /// The loops around the place, each with a bit.
    loops: Vec<(usize, By)>,
    of_loads: BTreeMap<usize, By>,
    /// True where a warp's lanes are counted by the lowest bits of `threadIdx.x`.
    lanes_are_bits: bool,
}

/// The bits above those of `threadIdx.x`, of which a block has at most 1024: of the other indices in turn, and of loops.
const NAMES: [&str; 5] = ["SR_TID.Y", "SR_TID.Z", "SR_CTAID.X", "SR_CTAID.Y", "SR_CTAID.Z"];

/// The bit of the first of [`NAMES`].
const FIRST_NAME: u32 = 10;

impl<'a> Axes<'a> {
    fn new(
        listing: &Listing<'a>,
        reaching: &mut Reaching,
        place: Option<usize>,
        block: [u32; 3],
    ) -> Option<Self> {
        let flow = &listing.sass.flow;
        // Those around it are no smaller.
        let holds = |at: &usize| {
            place.is_some_and(|place| {
                let (inner, outer) = (&flow.loops[place], &flow.loops[*at]);
                inner.lies_in(outer)
            })
        };
        let around: Vec<usize> = (0..flow.loops.len()).filter(holds).collect();
        let bits = (FIRST_NAME..UNKNOWN.trailing_zeros()).map(|bit| 1 << bit);
        let loops: Vec<(usize, By)> =
            around.into_iter().zip(bits.clone().skip(NAMES.len())).collect();
        let none = Loop { head: 0, back: 0, blocks: Vec::new() };
        let mut seen = vec![0; listing.sass.entries.len()];
        let from = loops.iter().map(|(of, bit)| (&flow.loops[*of], *bit));
        for (of, bit) in std::iter::once((&none, 0)).chain(from) {
            let mut sources = Sources::new(listing, of);
            for at in 0..seen.len() {
                let text = listing.text(at);
                let named =
                    NAMES.into_iter().zip(bits.clone()).find(|(name, _)| text.contains(name));
                if let Some((_, bit)) = named {
                    sources.name(at, bit);
                }
            }
            let values = sources.values(block[0], &Marks::new(seen.len()))?;
            for (seen, value) in seen.iter_mut().zip(values) {
                let turn = if value & TURN > 0 { bit } else { 0 };
                *seen |= value & !TURN | turn;
            }
        }
        let mut of_loads = BTreeMap::new();
        for (at, entry) in listing.entries() {
            if !matches!(entry.family, Family::Load(_)) {
                continue;
            }
            let mut by = 0;
            for each in listing.sass.uses(at).iter().filter(|each| each.role == Role::Address) {
                by |= reaching.definitions(at, *each).fold(0, |by, made| by | seen[made as usize]);
            }
            let is_shared = entry.family == Family::Load(Space::Shared);
            for (of, bit) in &loops {
                if is_shared && flow.is_in(&flow.loops[*of], at) && is_staged(listing, *of) {
                    by |= bit;
                }
            }
            of_loads.insert(at, by);
        }
        Some(Self {
            listing: *listing,
            loops,
            of_loads,
            lanes_are_bits: block[0].is_multiple_of(32),
        })
    }

    /// True where each side has rows of its own that meet several of the other, and features over which the sum runs.
    fn is_product(&self, terms: &[Term], of_sum: &[usize], how: &Sum, shared: [bool; 2]) -> bool {
        let of = |side: usize| {
            let loads = of_sum.iter().map(|&at| terms[at].sides[side].load);
            loads.fold(0, |by, load| by | self.of_loads.get(&load).copied().unwrap_or(UNKNOWN))
        };
        let by = [of(0), of(1)];
        let along = self.along(how);
        let innermost = self.listing.sass.flow.innermost(terms[of_sum[0]].square);
        let of_turn = self
            .loops
            .iter()
            .filter(|(of, _)| Some(*of) == innermost && how.loops.contains(of))
            .fold(0, |by, (_, bit)| by | bit);
        let features = of_turn | if self.lanes_are_bits { how.lanes } else { 0 };
        let goes_along = |by: By| by & UNKNOWN > 0 || by & features == features;
        if how.lanes > 0 && !self.lanes_are_bits || !by.into_iter().all(goes_along) {
            return false;
        }
        let own = |one: By, other: By| other & UNKNOWN == 0 && one & !other & !along & !UNKNOWN > 0;
        // A row meets several of the other side where these have an index that it hasn't.
        let [first, second] = by;
        (shared[0] || own(second, first)) && (shared[1] || own(first, second))
    }

    /// What a sum runs over.
    fn along(&self, how: &Sum) -> By {
        let loops = self.loops.iter().filter(|(of, _)| how.loops.contains(of));
        loops.fold(how.lanes, |by, (_, bit)| by | bit)
    }

    /// How many terms of one distance one instruction makes.
    fn terms(&self, how: &Sum) -> f64 {
        let flow = &self.listing.sass.flow;
        let loops = self.loops.iter().filter(|(of, _)| how.loops.contains(of));
        let turns: f64 = loops.map(|(of, _)| turns(&self.listing, &flow.loops[*of])).product();
        turns * f64::from(1_u32 << how.lanes.count_ones())
    }
}

/// True where a loop fills shared memory anew in each turn.
fn is_staged(listing: &Listing, of: usize) -> bool {
    let flow = &listing.sass.flow;
    let (mut stores, mut waits) = (false, false);
    for at in flow.places(&flow.loops[of]).filter(|&at| listing.executed(at) > 0.0) {
        let family = listing.sass.entries[at].family;
        stores |= matches!(family, Family::Store(Space::Shared) | Family::AsyncCopy);
        waits |= listing.is_block_barrier(at);
    }
    stores && waits
}
