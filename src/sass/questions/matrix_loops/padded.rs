//! Tiles of operands of which a part is beyond the matrix and filled with zeros.
//!
//! A copy whose lanes are switched off leaves zeros in shared memory, and the products take them like any others. What the
//! copies fetch, over what they have room for, is the part of the tile that holds data.

use std::collections::BTreeMap;

use super::staged::StagedLoop;
use crate::hardware::{SECTOR_BYTES, WARP_LANES};
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// The share of the bytes that a loop's copies of operands have room for which is data, 0 to 1; `None` where no copy can be
/// switched off.
///
/// Copies run some turns ahead: those before the loop bring the first tiles, and the last ones in it nothing. So the data of
/// all is held against the room of those in the loop. Asynchronous copies count by their sectors, loads by their lanes.
#[must_use]
pub fn filled(listing: &Listing, of: &StagedLoop) -> Option<f64> {
    let operands = by_line(listing, of);
    let sum = |part: fn(&Room) -> f64| operands.values().map(part).sum::<f64>();
    let (data, all) = (sum(|room| room.data), sum(|room| room.all));
    (all > 0.0).then(|| (data / all).min(1.0))
}

/// The same of the operand that has the least, where operands are copied on lines of their own.
#[must_use]
pub fn emptiest(listing: &Listing, of: &StagedLoop) -> Option<f64> {
    let operands = by_line(listing, of);
    let shares = operands.values().filter(|room| room.all > 0.0).map(|room| room.data / room.all);
    shares.reduce(f64::min).filter(|_| operands.len() > 1)
}

/// What copies have room for, in bytes, and what they bring.
#[derive(Default)]
struct Room {
    data: f64,
    all: f64,
}

fn by_line(listing: &Listing, of: &StagedLoop) -> BTreeMap<usize, Room> {
    let sass = listing.sass;
    let mut reaching = Reaching::new(sass);
    let mut is_copy = |at: usize| {
        sass.entries[at].family == Family::AsyncCopy && can_be_off(listing, &mut reaching, at)
    };
    let width = |at: usize| f64::from(sass.entries[at].width);
    let lanes_on = |at: usize| listing.row(at).counters.thread_inst_executed_pred_on;
    let mut operands: BTreeMap<usize, Room> = BTreeMap::new();
    // Loads that run ahead are off in the last turn.
    let by_lanes =
        of.in_turn.iter().copied().filter(|&at| {
            sass.entries[at].family != Family::AsyncCopy && sass.entries[at].conditional
        });
    for at in by_lanes {
        let room = operands.entry(sass.entries[at].line()).or_default();
        room.data += lanes_on(at) * width(at);
        room.all += listing.executed(at) * WARP_LANES * width(at);
    }
    let inside: Vec<usize> = of.copies.iter().copied().filter(|&at| is_copy(at)).collect();
    // A tile with fewer pieces than there are lanes guards its copies: only a copy's own condition leaves zeros.
    for &at in &inside {
        operands.entry(sass.entries[at].line()).or_default().all += lanes_on(at) * width(at);
    }
    let ahead = listing.entries().map(|(at, _)| at).filter(|&at| {
        sass.entries[at].family == Family::AsyncCopy && sass.flow.innermost(at).is_none()
    });
    if !inside.is_empty() {
        for at in inside.iter().copied().chain(ahead) {
            // Lanes that are off may count as accesses to where their addresses point, but bring no bytes.
            let counters = &listing.row(at).counters;
            let ideal = Some(counters.l2_sectors_global_ideal).filter(|&ideal| ideal > 0.0);
            let sectors = ideal
                .map_or(counters.l2_sectors_global, |ideal| counters.l2_sectors_global.min(ideal));
            operands.entry(sass.entries[at].line()).or_default().data += SECTOR_BYTES * sectors;
        }
    }
    operands
}

/// True for a copy that names a condition, without which it fills zeros in. One that asks for the turn alone, as where copies run
/// ahead, is the same for all lanes and tells nothing of the tile: such copies may bring few sectors because lanes ask for the
/// same ones.
fn can_be_off(listing: &Listing, reaching: &mut Reaching, at: usize) -> bool {
    let text = listing.text(at).trim_end_matches([' ', ';']);
    let last = text.rsplit(',').next().unwrap_or_default().trim();
    let condition = last.trim_start_matches('!');
    condition.starts_with('P') && condition != "PT" && !is_of_turn_alone(listing, reaching, at)
}

/// True where neither the thread, nor the block, nor anything loaded takes part in a copy's condition.
fn is_of_turn_alone(listing: &Listing, reaching: &mut Reaching, copy: usize) -> bool {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open: Vec<(usize, Use)> = sass
        .uses(copy)
        .iter()
        .filter(|each| each.slot.is_predicate() && each.role != Role::Guard)
        .map(|each| (copy, *each))
        .collect();
    let mut is_made = false;
    while let Some((at, each)) = open.pop() {
        for by in reaching.definitions(at, each).map(|by| by as usize) {
            is_made = true;
            let text = listing.text(by);
            if text.contains("SR_") || sass.entries[by].family.is_memory() {
                return false;
            }
            if seen.insert(by) {
                open.extend(sass.uses(by).iter().map(|each| (by, *each)));
            }
        }
    }
    is_made
}

#[cfg(test)]
mod tests {
    use super::super::staged::staged;
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A loop of 20 turns whose copies of 16 bytes per lane fetch so many sectors each, one turn ahead.
    fn of(copy: &str, sectors: f64) -> Option<f64> {
        let mut launch = launch(&[
            (copy, 1.0),
            ("LDGDEPBAR", 1.0),
            ("DEPBAR.LE SB0, 0x0", 20.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 20.0),
            (copy, 20.0),
            ("LDGDEPBAR", 20.0),
            ("LDSM.16.M88.4 R8, [R21]", 20.0),
            ("HMMA.16816.F32 R12, R8, R10, R12", 20.0),
            ("@P0 BRA 0x120", 20.0),
            ("EXIT", 1.0),
        ]);
        for row in &mut launch.instructions {
            row.counters.thread_inst_executed_pred_on = 32.0 * row.counters.inst_executed;
        }
        launch.instructions[0].counters.l2_sectors_global = sectors;
        launch.instructions[4].counters.l2_sectors_global = 19.0 * sectors;
        let listing = launch.listing().unwrap();
        filled(&listing, &staged(&listing)[0])
    }

    #[test]
    fn lanes_beyond_the_matrix_leave_zeros_in_the_tile() {
        let copy = "LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64], P1";
        assert!((of(copy, 10.0).unwrap() - 0.625).abs() < 1e-12, "10 of 16 sectors");
        assert!(
            (of(copy, 16.0).unwrap() - 1.0).abs() < 1e-12,
            "the last turn's copies bring nothing"
        );
        assert_eq!(of("LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64]", 10.0), None, "never off");
    }

    #[test]
    fn copies_that_are_off_in_the_last_turns_alone_tell_nothing_of_the_tile() {
        let of = |bound: &str| {
            let mut launch = launch(&[
                ("S2R R6, SR_TID.X", 1.0),
                ("IADD3 R7, R6, 0x1, RZ", 1.0),
                ("MOV R8, RZ", 1.0),
                ("IADD3 R8, R8, 0x1, RZ", 20.0), // 0x130
                (bound, 20.0),
                ("LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64], P1", 20.0),
                ("LDGDEPBAR", 20.0),
                ("DEPBAR.LE SB0, 0x0", 20.0),
                ("BAR.SYNC.DEFER_BLOCKING 0x0", 20.0),
                ("LDSM.16.M88.4 R12, [R21]", 20.0),
                ("HMMA.16816.F32 R24, R12, R14, R24", 20.0),
                ("@P0 BRA 0x130", 20.0),
                ("EXIT", 1.0),
            ]);
            for row in &mut launch.instructions {
                row.counters.thread_inst_executed_pred_on = 32.0 * row.counters.inst_executed;
            }
            launch.instructions[5].counters.l2_sectors_global = 20.0 * 4.0;
            let listing = launch.listing().unwrap();
            filled(&listing, &staged(&listing)[0])
        };
        assert_eq!(of("ISETP.LT.AND P1, PT, R8, 0x12, PT"), None, "four lanes for each sector");
        assert_eq!(of("ISETP.LT.AND P1, PT, R7, R8, PT"), Some(0.25));
    }
}
