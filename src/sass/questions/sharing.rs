//! Loads whose address is the same in several blocks or warps: the same data, fetched again.
//!
//! A load's address is followed back to the special registers that it is made of. Where a block
//! index takes no part in it, every block along that direction loads the same addresses; likewise
//! with the thread index for the warps of a block.

pub mod beyond_the_end;
mod ends;
pub mod gathers;
mod trace;

use std::collections::hash_map::Entry;

use foldhash::{HashMap, HashMapExt};

use crate::sass::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use trace::{Start, trace_from, trace_until};

/// What an address is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Origin {
    block: [bool; 3],
    thread: [bool; 3],
    /// The lane's number.
    lane: bool,
    /// A general register takes part that no instruction here writes, such as a function's argument.
    given: bool,
    /// Loaded data takes part, or a special register that places the thread in another way.
    unknown: bool,
}

impl Origin {
    /// True where the lanes of a warp may differ in it.
    fn is_of_lanes(&self) -> bool {
        self.lane || self.thread != [false; 3]
    }
}

/// The global loads by their places, with how often each fetches the same addresses: blocks times warps of a
/// block that share them, at least 1; `None` where data takes part in the address so that nothing can be
/// said.
///
/// `grid` is in blocks, `block` in threads.
pub fn repetitions(
    listing: Listing<'_>,
    grid: [u32; 3],
    block: [u32; 3],
) -> impl Iterator<Item = (usize, Option<f64>)> + use<'_> {
    let copies = move |origin: Origin| (!origin.unknown).then(|| copies(origin, grid, block));
    origins(listing).map(move |(index, origin)| (index, copies(origin)))
}

/// The share of the executed global loads, 0 to 1, that ask for one address in all threads of a block that come to them.
#[must_use]
pub fn share_of_block(listing: Listing) -> f64 {
    let (mut all, mut alike) = (0.0, 0.0);
    for (index, origin) in origins(listing) {
        let is_own = origin.unknown || origin.given || origin.is_of_lanes();
        all += listing.executed(index);
        alike += if is_own { 0.0 } else { listing.executed(index) };
    }
    if all > 0.0 { alike / all } else { 0.0 }
}

/// The global loads by their places, with what their addresses are made of.
fn origins(listing: Listing<'_>) -> impl Iterator<Item = (usize, Origin)> + use<'_> {
    let mut reaching = Reaching::with_guards(listing.sass);
    let loads = listing.entries().filter(|(_, entry)| entry.family == Family::Load(Space::Global));
    // Many loads go by the same pointer, each at a distance of its own.
    let mut known: HashMap<Start, Origin> = HashMap::new();
    loads.map(move |(index, _)| {
        let start = Start::of(&listing, &mut reaching, index);
        let origin = match known.entry(start) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                let (origin, _) =
                    trace_from(&listing, &mut reaching, place.key(), |origin| origin.unknown);
                *place.insert(origin)
            }
        };
        (index, origin)
    })
}

/// True for a load of the same address by all threads of a block, as the code tells: a length, a pointer or
/// another number that is nobody's own.
pub(super) fn is_of_block(listing: &Listing, reaching: &mut Reaching, load: usize) -> bool {
    let is_own = |origin: &Origin| origin.unknown || origin.given || origin.is_of_lanes();
    !is_own(&trace_until(listing, reaching, load, is_own).0)
}

/// How the lanes of a warp come to addresses of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LanesApart {
    /// The address is made of the thread's number and of nothing that was loaded.
    ByThread,
    /// Also of a number that is loaded alike by all threads of a block, such as a row.
    InLoadedRow,
}

/// How an access's lanes come to addresses of their own; `None` where they may share them, as each lane's data has it.
#[must_use]
pub fn lanes_apart(listing: &Listing, access: usize) -> Option<LanesApart> {
    let mut reaching = Reaching::with_guards(listing.sass);
    let (origin, makers) = trace_until(listing, &mut reaching, access, |_| false);
    if makers.obscure || origin.given || !(origin.lane || origin.thread[0]) {
        return None;
    }
    if makers.loads.is_empty() {
        return Some(LanesApart::ByThread);
    }
    let of_block = |&load: &usize| is_of_block(listing, &mut reaching, load);
    makers.loads.iter().all(of_block).then_some(LanesApart::InLoadedRow)
}

/// Those of some accesses whose lanes differ by loaded values alone, as in a look-up in a table: the thread's own place has no part
/// in the address beside them.
#[must_use]
pub fn by_values_alone(listing: &Listing, accesses: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut reaching = Reaching::with_guards(listing.sass);
    let mut known: HashMap<Start, bool> = HashMap::new();
    let goes_by_values = |access: &usize| {
        let start = Start::of(listing, &mut reaching, *access);
        if let Some(&goes) = known.get(&start) {
            return goes;
        }
        let (origin, makers) = trace_from(listing, &mut reaching, &start, Origin::is_of_lanes);
        let goes = !makers.loads.is_empty() && !origin.is_of_lanes() && !origin.given;
        known.insert(start, goes);
        goes
    };
    accesses.filter(goes_by_values).collect()
}

/// The block indices (x, y, z) that the condition of a branch or an exit goes by; `None` where more takes part
/// than indices and what all blocks share.
#[must_use]
pub fn guards_blocks(listing: &Listing, guarded: usize) -> Option<[bool; 3]> {
    blocks_in(listing, guarded, Role::Guard)
}

/// The block indices that what an instruction compares is made of; `None` where more takes part than indices and what
/// all blocks share.
#[must_use]
pub fn compares_blocks(listing: &Listing, comparison: usize) -> Option<[bool; 3]> {
    blocks_in(listing, comparison, Role::Data)
}

/// The block indices that an access's address is made of; `None` where more takes part than indices and what all
/// blocks share.
#[must_use]
pub fn addresses_by_blocks(listing: &Listing, access: usize) -> Option<[bool; 3]> {
    blocks_in(listing, access, Role::Address)
}

fn blocks_in(listing: &Listing, at: usize, role: Role) -> Option<[bool; 3]> {
    let mut reaching = Reaching::with_guards(listing.sass);
    let start = Start::of_role(listing, &mut reaching, at, role);
    let (origin, _) = trace_from(listing, &mut reaching, &start, |origin| origin.unknown);
    (!origin.unknown && !origin.given).then_some(origin.block)
}

/// Blocks that share an address, times the warps of a block that do. Lanes of one warp are no
/// matter: the load/store unit combines them. A block's warps follow its threads row by row, so only
/// directions in which every row is made of whole warps count.
fn copies(origin: Origin, grid: [u32; 3], block: [u32; 3]) -> f64 {
    let mut copies = 1.0;
    for (used, extent) in origin.block.iter().zip(grid) {
        if !used {
            copies *= f64::from(extent.max(1));
        }
    }
    let rows_are_warps = block[0].is_multiple_of(32);
    if !origin.thread[0] {
        copies *= f64::from((block[0] / 32).max(1));
    }
    for (used, extent) in origin.thread.iter().zip(block).skip(1) {
        if !used && rows_are_warps {
            copies *= f64::from(extent.max(1));
        }
    }
    copies
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    const CODE: &[(&str, f64)] = &[
        ("S2R R0, SR_TID.X", 1.0),
        ("S2UR UR4, SR_CTAID.X", 1.0),
        ("LDC.64 R2, c[0x0][0x210]", 1.0),
        ("IMAD.WIDE R4, R0, 0x4, R2", 1.0),
        ("LDG.E R6, desc[UR8][R4.64]", 1.0), // 4: by the thread alone
        ("IMAD R7, R0, 0x1, UR4", 1.0),
        ("IMAD.WIDE R8, R7, 0x4, R2", 1.0),
        ("LDG.E R10, desc[UR8][R8.64]", 1.0), // 7: by thread and block
        ("IMAD.WIDE R12, R10, 0x4, R2", 1.0),
        ("LDG.E R14, desc[UR8][R12.64]", 1.0), // 9: by data
        ("LDG.E R15, desc[UR8][R2.64]", 1.0),  // 10: one address for all
    ];

    #[test]
    fn a_guard_that_does_not_hold_leaves_what_was_there() {
        let shared = |guard: &str| {
            let access = format!("{guard}LDG.E R6, desc[UR8][R4.64]");
            let code = [
                ("S2R R4, SR_TID.X", 1.0),
                ("@!P2 MOV R4, 0xffffffff", 1.0),
                ("LDC R5, c[0x0][0x214]", 1.0),
                (access.as_str(), 1.0),
            ];
            let launch = launch(&code);
            share_of_block(launch.listing().unwrap())
        };
        assert!(shared("").abs() < 1e-12, "a lane's own number, but for a division by zero");
        assert!((shared("@!P2 ") - 1.0).abs() < 1e-12, "only under the same guard");
    }

    #[test]
    fn blocks_and_warps_share_what_their_index_is_not_in() {
        let launch = launch(CODE);
        let listing = launch.listing().unwrap();
        let shared: Vec<_> = repetitions(listing, [10, 3, 1], [64, 2, 1]).collect();
        // Not by block: 30 blocks; y is not in it: 2 rows.
        assert_eq!(shared[0], (4, Some(60.0)));
        // Block x is in it: 3 blocks share; and the 2 rows.
        assert_eq!(shared[1], (7, Some(6.0)));
        assert_eq!(shared[2], (9, None), "an index that was loaded");
        // All blocks, and all 4 warps.
        assert_eq!(shared[3], (10, Some(120.0)));
        assert_eq!(shared.len(), 4, "nothing of what is no load");
    }

    #[test]
    fn loads_are_alike_by_their_addresses_whoever_comes_to_them() {
        let code = [
            ("S2R R0, SR_TID.X", 1.0),
            ("LDC.64 R2, c[0x0][0x210]", 1.0),
            ("ISETP.GE.AND P0, PT, R0, 0x10, PT", 1.0),
            ("@P0 BRA 0x150", 1.0),
            ("LDG.E R4, desc[UR4][R2.64]", 30.0),
            ("IMAD.WIDE R6, R0, 0x4, R2", 1.0),
            ("LDG.E R5, desc[UR4][R6.64]", 10.0),
            ("LDS R8, [R9]", 10.0),
            ("EXIT", 1.0),
        ];
        let alike = share_of_block(launch(&code).listing().unwrap());
        assert!((alike - 0.75).abs() < 1e-12, "{alike}");
    }

    #[test]
    fn what_no_thread_index_is_in_is_the_blocks() {
        let launch = launch(CODE);
        let listing = launch.listing().unwrap();
        let mut reaching = Reaching::with_guards(listing.sass);
        let of_block = |at| is_of_block(&listing, &mut reaching, at);
        assert_eq!([4, 7, 9, 10].map(of_block), [false, false, false, true]);
    }

    #[test]
    fn what_a_lanes_number_is_in_is_no_blocks() {
        let launch = crate::sass::code::listing::tests::launch(&[
            ("S2R R0, SR_LANEID", 1.0),
            ("LDC.64 R2, c[0x0][0x210]", 1.0),
            ("IMAD.WIDE R4, R0, 0x4, R2", 1.0),
            ("LDG.E R6, desc[UR8][R4.64]", 1.0),
        ]);
        let listing = launch.listing().unwrap();
        assert!(!is_of_block(&listing, &mut Reaching::with_guards(listing.sass), 3));
    }

    #[test]
    fn rows_narrower_than_a_warp_share_it() {
        let launch = launch(CODE);
        let listing = launch.listing().unwrap();
        assert_eq!(repetitions(listing, [1, 1, 1], [16, 16, 1]).nth(1), Some((7, Some(1.0))));
    }

    #[test]
    fn lanes_go_by_their_thread_in_a_row_that_may_be_loaded() {
        let in_row = [
            ("IMAD R16, R15, 0x400, R0", 1.0),
            ("IMAD.WIDE R16, R16, 0x4, R2", 1.0),
            ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR8][R16.64], R14", 1.0), // 13
            ("SHFL.IDX PT, R18, R0, RZ, 0x1f", 1.0),
            ("IMAD R18, R18, 0x20, R0", 1.0),
            ("IMAD.WIDE R18, R18, 0x4, R2", 1.0),
            ("RED.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR8][R18.64], R14", 1.0), // 17
        ];
        let launch = launch(&[CODE, &in_row].concat());
        let apart = |at| lanes_apart(&launch.listing().unwrap(), at);
        let (by_thread, in_row) = (Some(LanesApart::ByThread), Some(LanesApart::InLoadedRow));
        assert_eq!([4, 7, 13].map(apart), [by_thread, by_thread, in_row]);
        assert_eq!([9, 10, 17].map(apart), [None; 3], "by data, all alike, exchanged");
    }

    #[test]
    fn a_guard_goes_by_block_indices_alone_or_by_data() {
        let by = |index: &'static str| {
            let compare = ("ISETP.GE.AND P0, PT, R0, UR4, PT", 1.0);
            let launch = launch(&[(index, 1.0), compare, ("@P0 EXIT", 1.0)]);
            guards_blocks(&launch.listing().unwrap(), 2)
        };
        assert_eq!(by("S2R R0, SR_CTAID.Y"), Some([false, true, false]));
        assert_eq!(by("S2R R0, SR_TID.X"), Some([false; 3]));
        assert_eq!(by("LDG.E R0, desc[UR8][R8.64]"), None);
        assert_eq!(by("NOP"), None, "made elsewhere");
    }
}
