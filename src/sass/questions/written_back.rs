//! Values that are loaded, changed only where a condition holds, and stored back to where they were.
//!
//! Where nothing else reads the value, as in filling masked elements with a constant, it need not be loaded: the constant can be
//! stored under the condition, and what stays the same need not be written at all.

use std::collections::BTreeSet;

use foldhash::{HashMap, HashMapExt};

use crate::sass::Instruction;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::OperandKind;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// A store of values to where they were loaded from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenBack {
    /// The load.
    pub load: usize,
    /// The store.
    pub store: usize,
    /// The selections between what was loaded and constants, ascending.
    pub selects: Vec<usize>,
}

/// The executed stores to the very addresses that what they store was loaded from, which differs from it only where selections
/// have put constants in its place, and of which nothing else is made.
#[must_use]
pub fn written_back(listing: &Listing) -> Vec<WrittenBack> {
    let sass = listing.sass;
    let mut reaching = Reaching::with_guards(sass);
    let mut loads: HashMap<Place, usize> = HashMap::new();
    let mut pairs = Vec::new();
    for (at, entry) in listing.entries().filter(|(at, _)| listing.executed(*at) > 0.0) {
        match entry.family {
            Family::Load(Space::Global) => {
                if let Some(place) = Place::of(listing, &mut reaching, at) {
                    loads.entry(place).or_insert(at);
                }
            }
            Family::Store(Space::Global) if !loads.is_empty() => {
                let place = Place::of(listing, &mut reaching, at);
                pairs.extend(place.and_then(|place| Some((*loads.get(&place)?, at))));
            }
            _ => {}
        }
    }
    if pairs.is_empty() {
        return Vec::new();
    }
    let candidates: BTreeSet<usize> = pairs.iter().map(|(load, _)| *load).collect();
    let readers = readers(listing, &mut reaching, &candidates);
    let found = pairs.into_iter().filter_map(|(load, store)| {
        let (selects, passed) = selects(listing, &mut reaching, load, store)?;
        let is_passed = |at: &usize| *at == store || passed.contains(at);
        let stays = readers.get(&load).is_some_and(|all| all.iter().all(is_passed));
        stays.then_some(WrittenBack { load, store, selects })
    });
    found.collect()
}

/// Where an access goes, and how much it moves: its address as it is written, with what made its registers.
#[derive(PartialEq, Eq, Hash)]
struct Place {
    text: String,
    bytes: u8,
    made_at: Vec<Vec<u32>>,
}

impl Place {
    fn of(listing: &Listing, reaching: &mut Reaching, at: usize) -> Option<Self> {
        let instruction = Instruction::parse(listing.text(at))?;
        let operand = instruction.operands.iter().find(|each| each.kind == OperandKind::Memory)?;
        let address = listing.sass.uses(at).iter().filter(|each| each.role == Role::Address);
        let made_at = address.map(|each| reaching.definitions(at, *each).collect()).collect();
        Some(Self { text: operand.text.to_owned(), bytes: listing.sass.entries[at].width, made_at })
    }
}

/// The executed instructions that read what these loads bring.
fn readers(
    listing: &Listing,
    reaching: &mut Reaching,
    loads: &BTreeSet<usize>,
) -> HashMap<usize, Vec<usize>> {
    let mut readers: HashMap<usize, Vec<usize>> = HashMap::new();
    for at in (0..listing.sass.entries.len()).filter(|&at| listing.executed(at) > 0.0) {
        for each in listing
            .sass
            .uses(at)
            .iter()
            .filter(|each| each.slot.is_general() && each.role != Role::Old)
        {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                if loads.contains(&by) {
                    readers.entry(by).or_default().push(at);
                }
            }
        }
    }
    readers
}

/// The selections between what was loaded and constants that make what is stored, each register of it from the same one of what was
/// loaded, and all instructions on the way; `None` where anything else makes it, or no selection.
fn selects(
    listing: &Listing,
    reaching: &mut Reaching,
    load: usize,
    store: usize,
) -> Option<(Vec<usize>, BTreeSet<usize>)> {
    let sass = listing.sass;
    let (mut found, mut passed) = (BTreeSet::new(), BTreeSet::new());
    let loaded = sass.defs(load);
    let data = sass.uses(store).iter().filter(|each| each.role == Role::Data);
    for (place, each) in data.enumerate() {
        let mut loads = false;
        let mut seen = Marks::new(sass.entries.len());
        let mut open = vec![(store, *each)];
        while let Some((at, each)) = open.pop() {
            for by in reaching.definitions(at, each).map(|by| by as usize).collect::<Vec<_>>() {
                if by == load {
                    // Another register of it would change places.
                    if loaded.get(place) != Some(&each.slot) {
                        return None;
                    }
                    loads = true;
                    continue;
                }
                let base = Instruction::base_of(listing.text(by)).unwrap_or_default();
                let selects = matches!(base, "SEL" | "FSEL");
                if !(selects
                    || matches!(base, "MOV" | "CS2R")
                    || listing.text(by).contains("IMAD.MOV"))
                {
                    return None;
                }
                if selects {
                    found.insert(by);
                }
                if seen.insert(by) {
                    passed.insert(by);
                    let data = sass.uses(by).iter();
                    let data =
                        data.filter(|each| each.role == Role::Data && each.slot.is_general());
                    open.extend(data.map(|each| (by, *each)));
                }
            }
        }
        if !loads {
            return None;
        }
    }
    (!found.is_empty()).then(|| (found.into_iter().collect(), passed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn found(condition: &str, change: &str, store: &str) -> Vec<WrittenBack> {
        let code = [
            ("LDC.64 R2, c[0x0][0x210]", 8.0),
            ("LDG.E R6, desc[UR4][R8.64]", 8.0),
            ("LDG.E R4, desc[UR4][R2.64]", 8.0),
            (condition, 8.0),
            (change, 8.0),
            (store, 8.0),
            ("EXIT", 8.0),
        ];
        written_back(&launch(&code).listing().unwrap())
    }

    const BY_MASK: &str = "ISETP.NE.AND P0, PT, R6, RZ, PT";
    const FILLED: &str = "SEL R4, R4, 0xff800000, P0";
    const BACK: &str = "STG.E desc[UR4][R2.64], R4";

    #[test]
    fn what_a_mask_leaves_is_written_back() {
        let masked = WrittenBack { load: 2, store: 5, selects: vec![4] };
        assert_eq!(found(BY_MASK, FILLED, BACK), [masked]);
        assert!(found(BY_MASK, FILLED, "STG.E desc[UR4][R10.64], R4").is_empty(), "elsewhere");
        assert!(found("FSETP.GT.AND P0, PT, R4, RZ, PT", FILLED, BACK).is_empty(), "by itself");
        assert!(found(BY_MASK, "FADD R4, R4, R6", BACK).is_empty(), "a sum");
        assert!(found(BY_MASK, "SEL R4, R4, R6, P0", BACK).is_empty(), "another value");
        assert!(found("FADD R10, R4, R6", FILLED, BACK).is_empty(), "a sum is wanted, too");
    }
}
