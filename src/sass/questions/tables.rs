//! Tables that each thread builds for itself: local arrays in which every thread stores the same constants before
//! it looks entries up.

use super::{alike, arrays, neutral};
use crate::sass::Instruction;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::OperandKind;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// A local array that is a constant table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The stores that build it, in the listing's order.
    pub stores: Vec<usize>,
    /// True where lanes of a warp may look up entries of their own; else all look up the same.
    pub lanes_differ: bool,
}

/// What a local array is a table of: all that is stored in it are constants, at places that the compiler knows and
/// under no condition, and all that computes an address loads.
#[must_use]
pub fn of(listing: &Listing, array: &arrays::Array) -> Option<Table> {
    let entries = &listing.sass.entries;
    let family = |at: usize| entries[at].family;
    // By an address that may point anywhere, or in a function, something else may be stored.
    let is_elsewhere = |family| {
        matches!(family, Family::Store(Space::Generic) | Family::Atomic(Space::Generic))
            || family == Family::Reduction(Space::Generic)
    };
    let is_open =
        listing.entries().any(|(_, entry)| is_elsewhere(entry.family) || entry.callee().is_some());
    if is_open || array.accesses.iter().any(|&at| family(at) != Family::Load(Space::Local)) {
        return None;
    }
    let places = array.start..array.start + array.bytes;
    let stores: Vec<usize> = listing
        .entries()
        .filter(|(_, entry)| entry.family == Family::Store(Space::Local) && !entry.computed_address)
        .map(|(at, _)| at)
        .filter(|&at| arrays::place(listing.text(at)).is_none_or(|place| places.contains(&place)))
        .collect();
    let first = *stores.first()?;
    let mut reaching = Reaching::new(listing.sass);
    let is_built = |at: usize| {
        // As often as the first: no branch leads around it.
        let always = !entries[at].conditional && listing.executed(at) >= listing.executed(first);
        always && is_constant(listing, &mut reaching, at)
    };
    if !stores.iter().copied().all(is_built) {
        return None;
    }
    let own = alike::of_threads_own(listing);
    let lanes_differ = array.accesses.iter().any(|&at| {
        let mut uses = listing.sass.uses(at).iter().filter(|each| each.role == Role::Address);
        uses.any(|each| {
            let mut made_at = reaching.definitions(at, *each);
            made_at.len() == 0 || made_at.any(|made_at| own[made_at as usize])
        })
    });
    Some(Table { stores, lanes_differ })
}

/// True where a store's value is made of constants alone, and of the same on every way that leads there.
fn is_constant(listing: &Listing, reaching: &mut Reaching, store: usize) -> bool {
    let sass = listing.sass;
    let is_narrow = sass.entries[store].width <= 2;
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![store];
    while let Some(at) = open.pop() {
        let entry = &sass.entries[at];
        if at != store {
            let passes_on = neutral::passes_on(entry.family) || entry.family == Family::Uniform;
            if entry.conditional || !passes_on || reads_parameter(listing.text(at)) {
                return false;
            }
        }
        // The upper half of the other operand is kept, of which a narrow store takes nothing.
        let values = if is_narrow && takes_lower_half(listing.text(at)) { 1 } else { usize::MAX };
        let is_address = |role: Role| at != store && role == Role::Address;
        if sass.uses(at).iter().any(|each| is_address(each.role)) {
            return false;
        }
        for each in sass.uses(at).iter().filter(|each| each.role == Role::Data).take(values) {
            let mut made_at = reaching.definitions(at, *each);
            let (Some(made_at), 0) = (made_at.next(), made_at.len()) else { return false };
            if seen.insert(made_at as usize) {
                open.push(made_at as usize);
            }
        }
    }
    true
}

/// True where an instruction reads bank 0, in which a launch's parameters are: they are alike for all threads, but the
/// compiler does not know them.
fn reads_parameter(text: &str) -> bool {
    text.contains("c[0x0]")
}

/// True for `PRMT R0, R7, 0x7610, R0`: the lower half of a register under the upper half of another.
fn takes_lower_half(text: &str) -> bool {
    Instruction::parse(text).is_some_and(|instruction| {
        let operand = |at: usize| instruction.operands.get(at);
        let is_register = |at: usize| {
            operand(at).is_some_and(|each| each.kind == OperandKind::Register && each.text != "RZ")
        };
        instruction.base() == "PRMT"
            && is_register(1)
            && operand(2).is_some_and(|selector| selector.text == "0x7610")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// Two entries, the second made so, looked up by such an index.
    fn table(second: &[&str], index: &str) -> Option<Table> {
        let mut lines = vec![
            "LDC R1, c[0x0][0x28]",
            "S2R R8, SR_TID.X",
            "S2R R9, SR_CTAID.X",
            "VIADD R1, R1, 0xfffffff8",
            "IMAD.MOV.U32 R0, RZ, RZ, 0x41",
            "STL.U8 [R1], R0",
        ];
        lines.extend(second);
        let access = format!("IMAD.IADD R5, R1, 0x1, {index}");
        lines.extend([access.as_str(), "LDL.U8 R5, [R5]", "STG.E [R2], R5", "EXIT"]);
        let counted: Vec<(&str, f64)> = lines.iter().map(|line| (*line, 8.0)).collect();
        let launch = launch(&counted);
        let listing = launch.listing().unwrap();
        of(&listing, &arrays::find(&listing)[0])
    }

    #[test]
    fn constants_that_every_thread_stores_are_a_table() {
        let both = ["HFMA2.MMA R7, -RZ, RZ, 0, 4.3e-06", "STL.U8 [R1+0x1], R7"];
        assert_eq!(table(&both, "R8"), Some(Table { stores: vec![5, 7], lanes_differ: true }));
        assert_eq!(table(&both, "R9"), Some(Table { stores: vec![5, 7], lanes_differ: false }));
        // The upper half of R6 is what some earlier code left there.
        let moved = ["MOV R7, 0x42", "PRMT R6, R7, 0x7610, R6", "STL.U8 [R1+0x1], R6"];
        assert!(table(&moved, "R8").is_some());
        assert!(table(&["LDC R7, c[0x4][0x8]", "STL.U8 [R1+0x1], R7"], "R8").is_some());
    }

    #[test]
    fn what_differs_or_changes_is_none() {
        for second in [
            &["STL.U8 [R1+0x1], R8"][..],
            &["LDG.E.U8 R7, desc[UR4][R2.64]", "STL.U8 [R1+0x1], R7"],
            &["LDC R7, c[0x0][0x210]", "STL.U8 [R1+0x1], R7"],
            &["LDC R7, c[0x3][R8]", "STL.U8 [R1+0x1], R7"],
            &["MOV R7, 0x42", "@P0 MOV R7, 0x43", "STL.U8 [R1+0x1], R7"],
            &["@P0 STL.U8 [R1+0x1], R0"],
            &["IADD3 R4, R1, R8, RZ", "STL.U8 [R4], RZ"],
            &["STL.U8 [R1+0x1], RZ", "ST.E.U8 desc[UR4][R2.64], R0"],
        ] {
            assert_eq!(table(second, "R8"), None, "{second:?}");
        }
        // What is stored elsewhere in the frame does not matter: it has 8 bytes.
        assert!(table(&["STL [R1+0x8], R8"], "R8").is_some());
    }
}
