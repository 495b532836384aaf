//! Which squares are added up to one distance, and over what.

use super::Term;
use crate::sass::code::listed_instruction::{Operation, place};
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::number;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::product::is_around;
use std::collections::BTreeMap;

/// The sums of squares.
pub(super) struct Sums {
    /// For each instruction of a sum another one of it, or itself: a tree whose root names the sum.
    up: Vec<u32>,
    members: Marks,
    squares: Marks,
    /// By the roots.
    each: BTreeMap<usize, Sum>,
}

/// How one sum runs.
#[derive(Default)]
pub(super) struct Sum {
    /// The bits of the lane's number over which it is exchanged.
    pub lanes: u32,
    /// The loops over whose turns it is carried.
    pub loops: Vec<usize>,
    /// Where it is carried around a loop.
    carried: Vec<usize>,
    /// What a carried sum begins with.
    begun: Vec<usize>,
    /// Squares that are added to nothing.
    alone: Vec<usize>,
}

impl Sums {
    /// The sums of these squares.
    pub(super) fn new(listing: &Listing, reaching: &mut Reaching, terms: &[Term]) -> Self {
        let sass = listing.sass;
        let count = sass.entries.len();
        let mut squares = Marks::new(count);
        for term in terms {
            squares.insert(term.square);
        }
        let adds = Marks::of(count, |at| listing.executed(at) > 0.0 && adds_up(listing, at));
        let mut members = squares.clone();
        members.spread(&adds, |at, members| {
            data(listing, at)
                .any(|each| reaching.definitions(at, *each).any(|by| members[by as usize]))
        });
        let up = (0_u32..).take(count).collect();
        let mut sums = Self { up, members, squares, each: BTreeMap::new() };
        sums.join(listing, reaching);
        let through_shared = loops_through_shared(listing, reaching, &sums.members);
        for sum in sums.each.values_mut() {
            sum.find_loops(listing);
        }
        for (from, of) in through_shared {
            let root = sums.root(from);
            let sum = sums.each.entry(root).or_default();
            if !sum.loops.contains(&of) {
                sum.loops.push(of);
            }
        }
        sums
    }

    /// The name of the sum that a member belongs to.
    pub(super) fn root(&self, at: usize) -> usize {
        self.up[at] as usize
    }

    /// The same while sums are joined: ways to the root are halved as they are gone.
    fn find(&mut self, mut at: usize) -> usize {
        while self.up[at] as usize != at {
            self.up[at] = self.up[self.up[at] as usize];
            at = self.up[at] as usize;
        }
        at
    }

    /// The sum of a name.
    pub(super) fn sum(&self, root: usize) -> Option<&Sum> {
        self.each.get(&root)
    }

    /// Marks what adds up in a sum, the squares aside, with what is marked already.
    pub(super) fn beside(&self, root: usize, mut marks: Marks) -> Marks {
        for at in self.members.iter().filter(|&at| !self.squares[at] && self.root(at) == root) {
            marks.insert(at);
        }
        marks
    }

    /// Joins what is added up, and notes how.
    fn join(&mut self, listing: &Listing, reaching: &mut Reaching) {
        let sass = listing.sass;
        let mut notes: Vec<(usize, Sum)> = Vec::new();
        for at in self.members.iter().collect::<Vec<_>>() {
            let mut note = Sum::default();
            let mut is_added = false;
            for each in data(listing, at) {
                let made: Vec<usize> =
                    reaching.definitions(at, *each).map(|by| by as usize).collect();
                let of_sum = || made.iter().copied().filter(|&by| self.members[by]);
                is_added |= of_sum().next().is_some();
                if of_sum().any(|by| is_around(sass, at, by)) {
                    note.carried.push(at);
                    note.begun.extend(made.iter().filter(|&&by| !self.members[by]));
                }
                for by in of_sum().collect::<Vec<_>>() {
                    let (one, other) = (self.find(at), self.find(by));
                    let (low, high) = (one.min(other), one.max(other));
                    self.up[high] = self.up[low];
                }
            }
            if self.squares[at] && !is_added {
                note.alone.push(at);
            }
            note.lanes = exchanged(listing, at);
            notes.push((at, note));
        }
        for at in 0..self.up.len() {
            self.up[at] = place(self.find(at));
        }
        for (at, note) in notes {
            let root = self.root(at);
            let sum = self.each.entry(root).or_default();
            sum.lanes |= note.lanes;
            sum.carried.extend(note.carried);
            sum.begun.extend(note.begun);
            sum.alone.extend(note.alone);
        }
    }
}

impl Sum {
    /// The loops that carry the sum on: it doesn't begin in them.
    fn find_loops(&mut self, listing: &Listing) {
        let flow = &listing.sass.flow;
        // A first turn that is taken apart from the others begins with a square.
        let begun = if self.begun.is_empty() { &self.alone } else { &self.begun };
        for (at, each) in flow.loops.iter().enumerate() {
            let is_in = |place: &usize| flow.is_in(each, *place);
            if self.carried.iter().any(is_in) && !begun.iter().any(is_in) {
                self.loops.push(at);
            }
        }
    }
}

fn data<'a>(listing: &Listing<'a>, at: usize) -> impl Iterator<Item = &'a Use> + use<'a> {
    listing.sass.uses(at).iter().filter(|each| each.role == Role::Data)
}

/// True for what may hand on or add up a sum.
fn adds_up(listing: &Listing, at: usize) -> bool {
    let entry = &listing.sass.entries[at];
    match entry.family {
        Family::Fp32Add => entry.operation == Some(Operation::Add),
        Family::Shuffle | Family::Move => true,
        _ => false,
    }
}

/// The bit of the lane's number over which a shuffle exchanges.
fn exchanged(listing: &Listing, at: usize) -> u32 {
    if listing.sass.entries[at].family != Family::Shuffle {
        return 0;
    }
    // `SHFL.BFLY PT, R39, R39, 0x8, 0x1f`
    let parsed = Instruction::parse(listing.text(at));
    let by = parsed.filter(|parsed| !parsed.has("IDX")).and_then(|parsed| {
        let operand = parsed.operands.get(3)?;
        number::word(operand.text).filter(|by| by.is_power_of_two() && *by < u32::BITS)
    });
    by.unwrap_or(0)
}

/// Parts of sums that go through shared memory to others in a loop which adds up what it loads from there.
fn loops_through_shared(
    listing: &Listing,
    reaching: &mut Reaching,
    members: &Marks,
) -> Vec<(usize, usize)> {
    let sass = listing.sass;
    let family = |at: usize| sass.entries[at].family;
    let mut adding: Vec<usize> = Vec::new();
    for (at, _) in listing.entries().filter(|(at, _)| !members[*at] && adds_up(listing, *at)) {
        let Some(of) = sass.flow.innermost(at).filter(|of| !adding.contains(of)) else { continue };
        let (mut carries, mut loads) = (false, false);
        for each in data(listing, at) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                carries |= is_around(sass, at, by);
                loads |= family(by) == Family::Load(Space::Shared);
            }
        }
        if carries && loads {
            adding.push(of);
        }
    }
    let mut found = Vec::new();
    for (at, entry) in listing.entries() {
        let of = sass.flow.innermost(at).filter(|of| adding.contains(of));
        let Some(of) = of.filter(|_| entry.family == Family::Store(Space::Shared)) else {
            continue;
        };
        for each in data(listing, at) {
            let made = reaching.definitions(at, *each).map(|by| by as usize);
            found.extend(made.filter(|&by| members[by]).map(|by| (by, of)));
        }
    }
    found
}
