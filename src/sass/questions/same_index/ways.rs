//! The way from an access back to the index in its address.

use std::collections::{BTreeSet, HashMap};

use crate::hardware::SECTOR_BYTES;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, OperandKind};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::{Role, destinations};
use crate::sass::questions::lanes::bytes_to_next_turn;

/// Where an operand comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin<'a> {
    /// These instructions make it.
    Made(Vec<usize>),
    /// It is a constant of the launch.
    Constant(&'a str),
}

/// The way from an address back to the index in it.
pub(super) struct Way<'a> {
    /// The instructions whose results are the index.
    pub(super) index: BTreeSet<usize>,
    /// What the index is added to: an array's address.
    pub(super) base: Vec<Origin<'a>>,
    /// The instructions whose results are the address.
    pub(super) last: Vec<usize>,
    /// The steps between.
    steps: Vec<usize>,
}

/// The ways of a launch's accesses.
pub(super) struct Ways<'a> {
    listing: &'a Listing<'a>,
    reaching: Reaching<'a>,
    /// The integers that follow from what threads load, round or exchange.
    by_values: Marks,
    /// Where blocks meet, ascending.
    barriers: Vec<usize>,
    /// By the barrier behind them, what stores to shared memory hand on.
    handed: HashMap<usize, Option<Exchange<'a>>>,
}

/// Indices, and the array's address that they are added to.
type Exchange<'a> = (BTreeSet<usize>, Vec<Origin<'a>>);

/// What an instruction works on, apart from numbers in the code.
#[derive(Default)]
struct Operands<'a> {
    /// The makers of each operand that goes by values.
    by_values: Vec<Vec<usize>>,
    /// The others.
    others: Vec<Origin<'a>>,
}

impl<'a> Ways<'a> {
    pub(super) fn new(listing: &'a Listing<'a>) -> Self {
        let mut reaching = Reaching::with_guards(listing.sass);
        let by_values = by_values(listing, &mut reaching);
        let barriers = 0..listing.sass.entries.len();
        let barriers = barriers.filter(|&at| listing.is_block_barrier(at)).collect();
        Self { listing, reaching, by_values, barriers, handed: HashMap::new() }
    }

    /// The way back from an access; `None` where no index is found.
    pub(super) fn of(&mut self, access: usize) -> Option<Way<'a>> {
        let sass = self.listing.sass;
        let low = low(self.listing, access, Role::Address)?;
        let last = makers(&mut self.reaching, access, low);
        let mut open: Vec<(usize, bool)> = last.iter().map(|&at| (at, false)).collect();
        let (index, base, steps) = (BTreeSet::new(), Vec::new(), Vec::new());
        let mut way = Way { index, base, last, steps };
        let mut seen = Marks::new(sass.entries.len());
        while let Some((at, has_base)) = open.pop() {
            if !self.by_values[at] || !seen.insert(at) {
                continue;
            }
            let operands = self.operands(at);
            let is_one = operands.by_values.len() == 1;
            if !is_one && !is_root(self.listing, at) {
                way.index.insert(at);
                continue;
            }
            if is_root(self.listing, at) {
                match self.exchanged(at).filter(|_| !has_base) {
                    Some((index, base)) => {
                        way.index.extend(index);
                        way.base.extend(base);
                    }
                    None => _ = way.index.insert(at),
                }
                continue;
            }
            way.steps.push(at);
            // A pointer that moves on adds a stride, and what is added before the array's address is a part of the index.
            let is_base = !has_base
                && !operands.others.is_empty()
                && !self.carries(at, &operands.by_values[0]);
            if is_base {
                way.base.extend(operands.others);
            }
            let index = operands.by_values.into_iter().flatten();
            open.extend(index.map(|at| (at, has_base || is_base)));
        }
        (!way.index.is_empty()).then_some(way)
    }

    /// What addresses that lanes hand one another through shared memory are made of, as Triton does to lay them out anew: the indices,
    /// with what tells whose a lane takes, and the array's address. `None` for other loads.
    fn exchanged(&mut self, load: usize) -> Option<Exchange<'a>> {
        let sass = self.listing.sass;
        if sass.entries[load].family != Family::Load(Space::Shared) {
            return None;
        }
        let start = sass.flow.blocks[sass.flow.block_of[load] as usize].start;
        let place = self.barriers.partition_point(|&at| at < load).checked_sub(1)?;
        let barrier = self.barriers[place];
        if barrier < start {
            return None;
        }
        let before = place.checked_sub(1).map_or(start, |before| self.barriers[before].max(start));
        if !self.handed.contains_key(&barrier) {
            let handed = self.handed_on(before, barrier);
            self.handed.insert(barrier, handed);
        }
        let (mut index, base) = self.handed[&barrier].clone()?;
        let whose = low(self.listing, load, Role::Address)?;
        index.extend(makers(&mut self.reaching, load, whose));
        Some((index, base))
    }

    /// What the stores to shared memory between two places have in common of the addresses that they hand on.
    fn handed_on(&mut self, begin: usize, end: usize) -> Option<Exchange<'a>> {
        let sass = self.listing.sass;
        let is_store = |&at: &usize| sass.entries[at].family == Family::Store(Space::Shared);
        let (mut index, mut bases) = (BTreeSet::new(), BTreeSet::new());
        for store in (begin..end).filter(is_store) {
            let data = low(self.listing, store, Role::Data)?;
            for maker in makers(&mut self.reaching, store, data) {
                let operands = self.operands(maker);
                let [of_value] = operands.by_values.as_slice() else { return None };
                index.extend(of_value);
                bases.insert(operands.others);
            }
        }
        let mut bases = bases.into_iter();
        let base = bases.next().filter(|base| !base.is_empty() && bases.next().is_none())?;
        Some((index, base))
    }

    fn operands(&mut self, at: usize) -> Operands<'a> {
        let mut found = Operands::default();
        let Some(instruction) = Instruction::parse(self.listing.text(at)) else { return found };
        let uses = self.listing.sass.uses(at);
        let family = self.listing.sass.entries[at].family;
        for operand in instruction.operands.iter().skip(destinations(&instruction, family)) {
            if operand.kind == OperandKind::Constant {
                found.others.push(Origin::Constant(operand.text));
                continue;
            }
            let slot = operand.slot().filter(|slot| !slot.is_predicate());
            let read = uses.iter().find(|each| Some(each.slot) == slot && each.role == Role::Data);
            let Some(read) = read.copied() else { continue };
            let makers = makers(&mut self.reaching, at, read);
            if makers.iter().any(|&maker| self.by_values[maker]) {
                found.by_values.push(makers);
            } else {
                found.others.push(Origin::Made(makers));
            }
        }
        found
    }

    /// True where an instruction's operand is its own result of the turn before, or a copy of it.
    fn carries(&mut self, at: usize, operand: &[usize]) -> bool {
        operand.contains(&at)
            || operand.iter().any(|&copy| {
                self.listing.sass.entries[copy].family == Family::Move
                    && self.operands(copy).by_values.iter().any(|makers| makers.contains(&at))
            })
    }

    /// The elements that the innermost loop goes through a plane apart by one index; 1 outside of such loops.
    pub(super) fn planes(&self, access: usize, way: &Way) -> f64 {
        let flow = &self.listing.sass.flow;
        let Some(around) = flow.innermost(access).map(|of| &flow.loops[of]) else { return 1.0 };
        let is_inside = |at: &usize| flow.is_in(around, *at);
        let moves = way.steps.iter().any(is_inside) && !way.index.iter().any(is_inside);
        let is_apart = || {
            let bytes = bytes_to_next_turn(self.listing, around, access);
            bytes.is_some_and(|bytes| f64::from(bytes.cast_signed()).abs() >= SECTOR_BYTES)
        };
        if moves && is_apart() { turns(self.listing, around) } else { 1.0 }
    }
}

/// The lower of the registers that an access uses so.
fn low(listing: &Listing, access: usize, role: Role) -> Option<Use> {
    let mut uses = listing.sass.uses(access).iter();
    uses.find(|each| each.role == role && each.slot.is_general()).copied()
}

fn makers(reaching: &mut Reaching, at: usize, each: Use) -> Vec<usize> {
    reaching.definitions(at, each).map(|maker| maker as usize).collect()
}

/// What a thread loads, exchanges, or rounds: no index arithmetic leads further back.
fn is_root(listing: &Listing, at: usize) -> bool {
    let family = listing.sass.entries[at].family;
    family.is_memory()
        || family == Family::Shuffle
        || family == Family::Convert && listing.text(at).contains("F2I")
}

/// The integers that follow from roots.
fn by_values(listing: &Listing, reaching: &mut Reaching) -> Marks {
    let sass = listing.sass;
    let mut found = Marks::of(sass.entries.len(), |at| is_root(listing, at));
    let is_open = |at: usize| {
        let family = sass.entries[at].family;
        matches!(family, Family::Integer | Family::IntegerMultiply | Family::Move | Family::Convert)
    };
    let open = Marks::of(sass.entries.len(), is_open);
    found.spread(&open, |at, found| {
        let data = |each: &&Use| each.role == Role::Data && each.slot.is_general();
        sass.uses(at).iter().filter(data).any(|each| {
            let mut by = reaching.definitions(at, *each);
            by.any(|by| found[by as usize])
        })
    });
    found
}
