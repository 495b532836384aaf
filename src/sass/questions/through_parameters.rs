//! Accesses of global memory whose address is made of one of a launch's pointers.

use crate::sass::code::listed_instruction::ListedInstruction;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::number;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// Bytes of a pointer.
const POINTER_BYTES: u32 = 8;

/// Bytes of a register.
const WORD_BYTES: i64 = 4;

/// What the constant bank begins with where a launch's parameters are.
const BANK: &str = "c[0x0][";

/// The executed loads, stores, and asynchronous copies of global memory through pointers that stand at these places of constant bank 0,
/// ascending. Pointers that were themselves loaded from memory are not followed.
#[must_use]
pub fn through(listing: &Listing, pointers: &[u32]) -> Vec<usize> {
    accesses(listing, pointers, |family| {
        matches!(
            family,
            Family::Load(Space::Global) | Family::Store(Space::Global) | Family::AsyncCopy
        )
    })
}

/// The same, and atomics.
#[must_use]
pub fn all_through(listing: &Listing, pointers: &[u32]) -> Vec<usize> {
    accesses(listing, pointers, |family| {
        matches!(
            family,
            Family::Load(Space::Global)
                | Family::Store(Space::Global)
                | Family::Atomic(Space::Global)
                | Family::Reduction(Space::Global)
                | Family::AsyncCopy
        )
    })
}

/// The executed accesses of these families through the pointers.
fn accesses(listing: &Listing, pointers: &[u32], is_meant: impl Fn(Family) -> bool) -> Vec<usize> {
    let sass = listing.sass;
    let mut reaching = Reaching::with_guards(sass);
    // What reads one of the pointers, and nothing else counts.
    let reads = Marks::of(sass.entries.len(), |at| reads_one_of(listing.text(at), pointers));
    let mut found = Vec::new();
    for (at, entry) in listing.entries() {
        if is_meant(entry.family) && listing.executed(at) > 0.0 {
            let goes = reads[at] || is_made_of(listing, &mut reaching, at, &reads);
            found.extend(goes.then_some(at));
        }
    }
    found
}

/// True where an executed instruction reads one of a launch's words, 8 bytes at this place of constant bank 0, or may read it: at a place
/// that is worked out, through an address that may be the bank's, or as part of a descriptor.
#[must_use]
pub fn may_read(listing: &Listing, word: u32) -> bool {
    let reads = |(at, entry): (usize, &ListedInstruction)| {
        let anything = match entry.family {
            Family::Constant => entry.computed_address,
            Family::Load(Space::Generic) | Family::Texture => true,
            Family::AsyncCopy => !listing.text(at).contains("LDGSTS"),
            _ => false,
        };
        listing.executed(at) > 0.0 && (anything || reads_one_of(listing.text(at), &[word]))
    };
    listing.entries().any(reads)
}

/// True where every executed store and atomic of global memory goes through some pointer among the parameters, which begin there in
/// constant bank 0, and none through these. False as well where stores go through pointers that were loaded from memory, or are bulk
/// copies, of which a descriptor says where they go.
#[must_use]
pub fn stores_through_others(listing: &Listing, begin: u32, pointers: &[u32]) -> bool {
    let sass = listing.sass;
    let mut reaching = Reaching::with_guards(sass);
    let of = |pick: &dyn Fn(u32) -> bool| {
        let is_read = |at: usize| {
            let mut words = words_read(listing.text(at));
            words.any(|word| u32::try_from(word).is_ok_and(|word| word >= begin && pick(word)))
        };
        Marks::of(sass.entries.len(), is_read)
    };
    let is_of_these =
        |word: u32| pointers.iter().any(|&begin| (begin..begin + POINTER_BYTES).contains(&word));
    let (these, others) = (of(&is_of_these), of(&|word| !is_of_these(word)));
    let stores = listing.entries().filter(|(at, entry)| {
        let is_store = match entry.family {
            Family::Store(space) | Family::Atomic(space) | Family::Reduction(space) => {
                matches!(space, Space::Global | Space::Generic)
            }
            Family::AsyncCopy => !listing.text(*at).contains("LDGSTS"),
            _ => false,
        };
        is_store && listing.executed(*at) > 0.0
    });
    let mut goes =
        |at: usize, through: &Marks| through[at] || is_made_of(listing, &mut reaching, at, through);
    let mut apart = stores.map(|(at, entry)| {
        entry.family != Family::AsyncCopy && goes(at, &others) && !goes(at, &these)
    });
    apart.all(|apart| apart)
}

/// True where an access's address is made of what some instructions read.
fn is_made_of(listing: &Listing, reaching: &mut Reaching, access: usize, of: &Marks) -> bool {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![access];
    while let Some(at) = open.pop() {
        for each in sass.uses(at).iter().filter(|each| at != access || each.role == Role::Address) {
            for maker in reaching.definitions(at, *each) {
                let maker = maker as usize;
                if of[maker] {
                    return true;
                }
                // Data says nothing of where it was loaded from.
                if !sass.entries[maker].family.is_memory() && seen.insert(maker) {
                    open.push(maker);
                }
            }
        }
    }
    false
}

/// True where an instruction reads one of these pointers from the constant bank, or half of it.
fn reads_one_of(text: &str, pointers: &[u32]) -> bool {
    words_read(text).any(|place| {
        let of = |pointer: &u32| {
            (i64::from(*pointer)..i64::from(*pointer + POINTER_BYTES)).contains(&place)
        };
        pointers.iter().any(of)
    })
}

/// Where the words stand in constant bank 0 that an instruction reads from it.
fn words_read(text: &str) -> impl Iterator<Item = i64> {
    let opcode = text.split(' ').find(|word| !word.starts_with('@')).unwrap_or_default();
    let bytes = if opcode.contains(".128") {
        16
    } else if opcode.contains(".64") {
        8
    } else {
        4
    };
    let operands = text.split(BANK).skip(1).filter_map(|behind| behind.split(']').next());
    let places = operands.filter_map(number::signed);
    places.flat_map(move |place| (0..bytes / WORD_BYTES).map(move |at| place + at * WORD_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn accesses_are_told_apart_by_the_pointers_that_they_begin_with() {
        let launch = launch(&[
            ("S2R R9, SR_TID.X", 8.0),
            ("LDC.64 R6, c[0x0][0x210]", 8.0),
            ("ULDC.64 UR4, c[0x0][0x208]", 8.0),
            ("IMAD.WIDE R6, R9, 0xc, R6", 8.0),
            ("LDG.E R8, desc[UR4][R6.64]", 8.0),
            ("IADD3 R2, P0, R8, c[0x0][0x220], RZ", 8.0),
            ("IMAD.X R3, RZ, RZ, c[0x0][0x224], P0", 8.0),
            ("LDG.E R0, desc[UR4][R2.64]", 8.0),
            ("LDC.64 R4, c[0x0][0x218]", 8.0),
            ("IMAD.WIDE R4, R9, 0x8, R4", 8.0),
            ("STG.E desc[UR4][R4.64], R0", 8.0),
            ("EXIT", 8.0),
        ]);
        let listing = launch.listing().unwrap();
        assert_eq!(through(&listing, &[0x210]), [4], "what was loaded there leads elsewhere");
        assert_eq!(through(&listing, &[0x218]), [10], "by where it stores, not by what");
        assert_eq!(through(&listing, &[0x218, 0x220]), [7, 10]);
        assert_eq!(through(&listing, &[0x228]), [] as [usize; 0]);
        assert!(stores_through_others(&listing, 0x210, &[0x210, 0x220]));
        assert!(!stores_through_others(&listing, 0x210, &[0x218]));
    }

    #[test]
    fn a_word_that_nothing_reads_is_told_from_one_that_something_may_read() {
        let of = |other: &'static str| {
            let launch = launch(&[("LDC.64 R6, c[0x0][0x210]", 8.0), (other, 8.0), ("EXIT", 8.0)]);
            may_read(&launch.listing().unwrap(), 0x218)
        };
        assert!(!of("LDC R4, c[0x0][0x220]"));
        assert!(of("LDC.128 R4, c[0x0][0x210]"));
        assert!(of("LDC R4, c[0x0][R2]"), "a place that is worked out");
        assert!(of("LD.E R4, [R6.64]"), "the bank has an address");
        assert!(of("UTMALDG.2D [UR8], [UR4]"), "of a descriptor");
        assert!(!of("LDGSTS.E [R7], desc[UR6][R14.64]"));
    }

    #[test]
    fn a_store_through_a_loaded_pointer_may_go_anywhere() {
        let of = |address: &'static str| {
            let launch = launch(&[
                ("LDC.64 R6, c[0x0][0x210]", 8.0),
                ("LDG.E.64 R8, desc[UR4][R6.64]", 8.0),
                (address, 8.0),
                ("EXIT", 8.0),
            ]);
            stores_through_others(&launch.listing().unwrap(), 0x210, &[0x218])
        };
        assert!(of("STG.E desc[UR4][R6.64], R0"));
        assert!(!of("STG.E desc[UR4][R8.64], R0"));
        assert!(!of("UTMASTG.2D [UR8], [UR4]"));
    }
}
