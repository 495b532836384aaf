//! The pointers that accesses start from: by these the code tells whether a kernel writes what it loads.

use std::collections::BTreeSet;

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, OperandKind};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::passes::{constants, not_written};

/// True where the kernel may write what these loads read, as far as the code tells.
pub(super) fn are_written(listing: &Listing, loads: &[usize]) -> bool {
    if loads.is_empty() {
        return false;
    }
    let mut reaching = Reaching::with_guards(listing.sass);
    let read: BTreeSet<String> =
        loads.iter().flat_map(|&at| pointers(listing, &mut reaching, at)).collect();
    let mut writes = listing.entries().filter(|(at, entry)| {
        let is_write = matches!(
            entry.family,
            Family::Store(Space::Global | Space::Generic)
                | Family::Atomic(Space::Global | Space::Generic)
                | Family::Reduction(Space::Global | Space::Generic)
        );
        is_write && listing.executed(*at) > 0.0
    });
    writes.any(|(at, _)| !pointers(listing, &mut reaching, at).is_disjoint(&read))
        || not_written(listing, loads).len() < loads.len()
}

/// The arguments of 64 bits that an access's address is made of, by their places.
fn pointers(listing: &Listing, reaching: &mut Reaching, access: usize) -> BTreeSet<String> {
    let sass = listing.sass;
    let described = descriptor(listing.text(access));
    let mut found = BTreeSet::new();
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![access];
    while let Some(at) = open.pop() {
        let text = listing.text(at);
        if at != access && is_wide(text) {
            found.extend(constants(text));
        }
        for each in sass.uses(at).iter().filter(|each| match each.role {
            Role::Address => at != access || !described.contains(&Some(each.slot)),
            Role::Data => at != access,
            Role::Guard | Role::Old => false,
        }) {
            let makers = reaching.definitions(at, *each).map(|by| by as usize);
            // What is loaded leads elsewhere.
            open.extend(makers.filter(|&by| {
                let family = sass.entries[by].family;
                (family == Family::Constant || !family.is_memory()) && seen.insert(by)
            }));
        }
    }
    found
}

/// The registers of an access's descriptor, which all accesses share: `UR4` and `UR5` of `desc[UR4][R2.64]`.
fn descriptor(text: &str) -> [Option<Slot>; 2] {
    let name = text.split_once("desc[").and_then(|(_, rest)| Some(rest.split_once(']')?.0));
    let first = name.and_then(Slot::parse);
    [first, first.and_then(|first| first.after(1))]
}

/// True for what reads 64 bits of the arguments, or adds to the lower half of an address.
fn is_wide(text: &str) -> bool {
    Instruction::parse(text).is_some_and(|parsed| match parsed.base() {
        "LDC" | "ULDC" | "LDCU" => parsed.has("64") || parsed.has("128"),
        "IMAD" | "UIMAD" => parsed.has("WIDE"),
        // With a carry for the upper half.
        "IADD3" | "UIADD3" | "LEA" | "ULEA" => {
            parsed.operands.get(1).is_some_and(|each| each.kind == OperandKind::Predicate)
        }
        _ => false,
    })
}
