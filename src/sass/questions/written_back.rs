//! Values that are loaded, changed only where a condition holds, and stored back to where they were.
//!
//! Where the condition does not go by the value itself, as in filling masked elements with a constant, nothing needs to be
//! loaded: the constant can be stored under the condition, and what stays the same need not be written at all.

use std::collections::BTreeSet;

use crate::sass::Instruction;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
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
/// have put constants in its place, by conditions that do not go by it.
#[must_use]
pub fn written_back(listing: &Listing) -> Vec<WrittenBack> {
    let sass = listing.sass;
    let mut reaching = Reaching::with_guards(sass);
    let of = |family: Family| {
        listing
            .entries()
            .filter(move |(at, entry)| entry.family == family && listing.executed(*at) > 0.0)
    };
    let loads: Vec<usize> = of(Family::Load(Space::Global)).map(|(at, _)| at).collect();
    let stores: Vec<usize> = of(Family::Store(Space::Global)).map(|(at, _)| at).collect();
    if loads.is_empty() || stores.is_empty() {
        return Vec::new();
    }
    let mut place = |at: usize| -> Option<(&str, u8, Vec<Vec<u32>>)> {
        let instruction = Instruction::parse(listing.text(at))?;
        let operand = instruction.operands.iter().find(|each| each.kind == OperandKind::Memory)?;
        let address = sass.uses(at).iter().filter(|each| each.role == Role::Address);
        let made = address.map(|each| reaching.definitions(at, *each).collect()).collect();
        Some((operand.text, sass.entries[at].width, made))
    };
    let from: Vec<_> = loads.iter().map(|&at| (at, place(at))).collect();
    let to: Vec<_> = stores.iter().map(|&at| (at, place(at))).collect();
    let mut found = Vec::new();
    for (store, place) in to {
        let load =
            from.iter().find(|(load, other)| *load < store && place.is_some() && *other == place);
        if let Some(&(load, _)) = load
            && let Some(selects) = selects(listing, &mut reaching, load, store)
        {
            found.push(WrittenBack { load, store, selects });
        }
    }
    found
}

/// The selections between what was loaded and constants that make what is stored; `None` where anything else does, or none.
fn selects(
    listing: &Listing,
    reaching: &mut Reaching,
    load: usize,
    store: usize,
) -> Option<Vec<usize>> {
    let sass = listing.sass;
    let mut found = BTreeSet::new();
    let mut seen = Marks::new(sass.entries.len());
    let mut loads = false;
    let mut conditions = Vec::new();
    let data = sass.uses(store).iter().filter(|each| each.role == Role::Data);
    let mut open: Vec<(usize, Use)> = data.map(|each| (store, *each)).collect();
    while let Some((at, each)) = open.pop() {
        for by in reaching.definitions(at, each).map(|by| by as usize).collect::<Vec<_>>() {
            if by == load {
                loads = true;
                continue;
            }
            let base = Instruction::base_of(listing.text(by)).unwrap_or_default();
            let takes = match base {
                "SEL" | "FSEL" => {
                    found.insert(by);
                    true
                }
                "PRMT" | "MOV" | "CS2R" => true,
                "IMAD" => listing.text(by).contains("MOV"),
                _ => false,
            };
            if !takes {
                return None;
            }
            if seen.insert(by) {
                for each in sass.uses(by).iter().filter(|each| each.role != Role::Old) {
                    if each.slot.is_predicate() {
                        conditions.push((by, *each));
                    } else {
                        open.push((by, *each));
                    }
                }
            }
        }
    }
    let is_free =
        conditions.into_iter().all(|(at, each)| !goes_by(listing, reaching, (at, each), load));
    (loads && is_free && !found.is_empty()).then(|| found.into_iter().collect())
}

/// True where a value is made of what a load brings.
fn goes_by(listing: &Listing, reaching: &mut Reaching, of: (usize, Use), load: usize) -> bool {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![of];
    while let Some((at, each)) = open.pop() {
        for by in reaching.definitions(at, each).map(|by| by as usize).collect::<Vec<_>>() {
            if by == load {
                return true;
            }
            if seen.insert(by) && !sass.entries[by].family.is_memory() {
                open.extend(sass.uses(by).iter().map(|each| (by, *each)));
            }
        }
    }
    false
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
    }
}
