//! Quotients of a block's index: shifts to the right, products with a reciprocal, and what a division does to correct these.

use std::collections::BTreeMap;

use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::number;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::thresholds::ADDRESS_STEPS;

/// How a quotient is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quotient {
    axis: usize,
    /// The binary logarithm of the divisor, 0 where it is not known.
    bits: u8,
    /// The register with the index, of which nothing but the quotient is left; `None` for a correction, whose condition leaves
    /// nothing of it either.
    index: Option<Slot>,
}

/// The quotients among a kernel's instructions.
pub(super) struct Quotients {
    found: BTreeMap<usize, Quotient>,
}

impl Quotients {
    pub(super) fn of(listing: &Listing, reaching: &mut Reaching) -> Self {
        let indices = indices(listing, reaching);
        let mut found = BTreeMap::new();
        if indices.is_empty() {
            return Self { found };
        }
        for (at, _) in listing.entries() {
            if let Some(quotient) = divided(listing, reaching, at, &indices) {
                found.insert(at, quotient);
            }
        }
        let mut all = Self { found };
        let mut has_grown = !all.found.is_empty();
        while has_grown {
            has_grown = false;
            for (at, entry) in listing.entries().filter(|(_, entry)| entry.conditional) {
                if entry.family.is_memory() || all.found.contains_key(&at) {
                    continue;
                }
                if let Some(axis) = all.corrected(listing, reaching, at) {
                    has_grown = true;
                    all.found.insert(at, Quotient { axis, bits: 0, index: None });
                }
            }
        }
        all
    }

    /// The direction of the index that an instruction makes a quotient of.
    pub(super) fn axis_of(&self, at: usize) -> Option<usize> {
        Some(self.found.get(&at)?.axis)
    }

    /// The binary logarithm of what it is divided by, 0 where that is not known.
    pub(super) fn bits_of(&self, at: usize) -> u8 {
        self.found.get(&at).map_or(0, |each| each.bits)
    }

    /// True for a use of which only the quotient is left.
    pub(super) fn leaves_out(&self, at: usize, each: &Use) -> bool {
        self.found.get(&at).is_some_and(|quotient| match quotient.index {
            Some(index) => each.slot == index && each.role == Role::Data,
            None => each.role == Role::Guard,
        })
    }

    /// The direction of a quotient that an instruction corrects: by one where the remainder says so, or by its sign.
    fn corrected(&self, listing: &Listing, reaching: &mut Reaching, at: usize) -> Option<usize> {
        let sass = listing.sass;
        let mut divided = Vec::new();
        for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
            for by in reaching.definitions(at, *each) {
                divided.push(self.axis_of(by as usize)?);
            }
        }
        let axis = *divided.first()?;
        let is_one = divided.iter().all(|&each| each == axis);
        let parsed = Instruction::parse(listing.text(at))?;
        let turns_sign = parsed.operands.iter().skip(1).any(|each| each.text.starts_with("-R"));
        let steps = parsed.holds("0x1") || parsed.holds("-0x1") || parsed.holds("0xffffffff");
        let goes = turns_sign || steps && self.is_by_remainder(listing, reaching, at);
        (is_one && goes).then_some(axis)
    }

    /// True where a quotient takes part in what an instruction's guard compares, as in a remainder.
    fn is_by_remainder(&self, listing: &Listing, reaching: &mut Reaching, at: usize) -> bool {
        let sass = listing.sass;
        let uses = |at: usize, role: Role| {
            sass.uses(at).iter().filter(move |each| each.role == role).map(move |each| (at, *each))
        };
        let mut open: Vec<(usize, Use)> = uses(at, Role::Guard).collect();
        for _ in 0..=ADDRESS_STEPS.whole() {
            let mut makers: Vec<usize> = open
                .drain(..)
                .flat_map(|(at, each)| {
                    reaching.definitions(at, each).map(|by| by as usize).collect::<Vec<_>>()
                })
                .collect();
            makers.sort_unstable();
            makers.dedup();
            if makers.iter().any(|by| self.found.contains_key(by)) {
                return true;
            }
            open.extend(makers.into_iter().flat_map(|by| uses(by, Role::Data)));
        }
        false
    }
}

/// The direction whose block index an instruction reads.
pub(super) fn axis(text: &str) -> Option<usize> {
    ["SR_CTAID.X", "SR_CTAID.Y", "SR_CTAID.Z"].iter().position(|name| text.contains(name))
}

/// The instructions that bring a block's index or a copy of it, with its direction.
fn indices(listing: &Listing, reaching: &mut Reaching) -> BTreeMap<usize, usize> {
    let sass = listing.sass;
    let mut found: BTreeMap<usize, usize> = listing
        .entries()
        .filter(|(_, entry)| entry.family == Family::System && !entry.conditional)
        .filter_map(|(at, _)| Some((at, axis(listing.text(at))?)))
        .collect();
    let mut has_grown = !found.is_empty();
    while has_grown {
        has_grown = false;
        for (at, entry) in listing.entries() {
            let [source] = sass.uses(at) else { continue };
            if entry.conditional || found.contains_key(&at) || !is_copy(listing.text(at)) {
                continue;
            }
            if let Some(axis) = of_index(reaching, at, *source, &found) {
                has_grown = true;
                found.insert(at, axis);
            }
        }
    }
    found
}

/// True for a copy of one register; the absolute value of an index is the index.
fn is_copy(text: &str) -> bool {
    Instruction::parse(text).is_some_and(|parsed| {
        let is_move = match parsed.base() {
            "MOV" | "UMOV" | "R2UR" | "IABS" => true,
            "IMAD" | "UIMAD" => parsed.has("MOV"),
            _ => false,
        };
        is_move && !parsed.operands.iter().any(|each| each.text.starts_with('-'))
    })
}

/// The direction of the index that a use sees on every way.
fn of_index(
    reaching: &mut Reaching,
    at: usize,
    each: Use,
    indices: &BTreeMap<usize, usize>,
) -> Option<usize> {
    let mut axes = reaching.definitions(at, each).map(|by| indices.get(&(by as usize)).copied());
    let first = axes.next()??;
    axes.all(|axis| axis == Some(first)).then_some(first)
}

/// The quotient that an instruction makes of an index: by a shift to the right, or as the upper half of a product.
fn divided(
    listing: &Listing,
    reaching: &mut Reaching,
    at: usize,
    indices: &BTreeMap<usize, usize>,
) -> Option<Quotient> {
    let sass = listing.sass;
    let text = listing.text(at);
    let parsed = text.contains(".HI").then(|| Instruction::parse(text))??;
    let operand = |place: usize| parsed.operands.get(place);
    let is_nothing =
        |place: usize| operand(place).is_some_and(|each| matches!(each.text, "RZ" | "URZ"));
    let mut of_operand = |place: usize, bits: u8| {
        let slot = operand(place)?.slot()?;
        let data = |each: &&Use| each.slot == slot && each.role == Role::Data;
        let each = sass.uses(at).iter().find(data)?;
        let axis = of_index(reaching, at, *each, indices)?;
        Some(Quotient { axis, bits, index: Some(slot) })
    };
    if sass.entries[at].conditional {
        return None;
    }
    match parsed.base() {
        "SHF" | "USHF" if parsed.has("R") && parsed.has("HI") && is_nothing(1) => {
            let bits = number::word(operand(2)?.text).filter(|bits| (1..32).contains(bits))?;
            of_operand(3, u8::try_from(bits).ok()?)
        }
        "IMAD" | "UIMAD" if parsed.has("HI") && is_nothing(3) => {
            of_operand(1, 0).or_else(|| of_operand(2, 0))
        }
        _ => None,
    }
}
