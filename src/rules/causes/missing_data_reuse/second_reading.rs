//! Rows that one loop reads from DRAM and a later one reads from there again.

use super::removed::needed_by_loads;
use super::{L2_ALL, READ, WRITTEN};
use crate::device::Quantity;
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{Removal, gains};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::hardware::SECTOR_BYTES;
use crate::sass::flow::slice;
use crate::sass::questions::passes;
use crate::term::Term;
use crate::text::{bytes, percent};

/// The part of what loads ask for that DRAM delivers, from which the second reading comes from there as well.
pub(super) const FROM_DRAM: Threshold = Threshold {
    what: "bytes read from DRAM, as a share of what loads ask for, for the second reading of a row to come from \
           DRAM too, more than",
    value: 0.5,
    unit: "share",
    source: "definition: of two readings more than one",
};

/// The finding; `None` where no loop reads again what another has read, or where a cache delivers it.
pub(super) fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let read = launch.need(READ);
    let asked = SECTOR_BYTES * needed_by_loads(launch)?;
    let from_dram = (read / asked).min(1.0);
    if from_dram.is_nan() || from_dram <= FROM_DRAM.value {
        return None;
    }
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let again = passes::second_reading(&listing)?;
    let work = slice::work(&listing);
    let flow = &listing.sass.flow;
    // The arithmetic of the later loop stays, in the earlier one.
    for (index, _) in listing.entries() {
        let in_loop = flow.innermost(index);
        let of_them = again.loads.iter().any(|&load| flow.innermost(load) == in_loop);
        if again.loads.contains(&index) || in_loop.is_some() && of_them && !work[index] {
            removal.remove(index, 1.0);
        }
    }
    let mut effect = removal.effect(launch);
    let moved = read + launch.get(WRITTEN).unwrap_or(0.0);
    let of_dram = (SECTOR_BYTES * again.sectors * from_dram / moved).min(1.0);
    effect.removed.push((Term::Dram, of_dram));
    if let Some(all) = launch.get(L2_ALL).filter(|&all| all > 0.0) {
        let of_l2 = (again.sectors / all).min(1.0);
        effect.removed.extend([(Term::L2, of_l2), (Term::L2Requests, of_l2)]);
    }
    if !gains(launch, &effect) {
        return None;
    }
    let locations = launch.lines_of("sectors read again", |row| {
        let is_row = |&load: &usize| std::ptr::eq(listing.row(load), row);
        if again.loads.iter().any(is_row) { row.counters.l2_sectors_global_ideal } else { 0.0 }
    });
    let [x, y, z] = launch.profile.row.grid.map(f64::from);
    let of_block = SECTOR_BYTES * again.sectors / (x * y * z).max(1.0);
    let shared = launch.profile.device_facts().get(Quantity::SharedBytes);
    let keep = if shared.is_some_and(|fits| of_block <= fits) {
        format!(
            "keep what a block reads in the first loop, {}, in registers or shared memory until the second \
             needs it",
            bytes(of_block)
        )
    } else {
        format!(
            "let a block or a cluster keep what it reads in the first loop, {}",
            bytes(of_block)
        )
    };
    Some(Draft {
        message: format!(
            "The loop at {} reads again what a loop before it has read: {}, {} of all traffic of DRAM, which \
             delivers most of it a second time.",
            place(&locations, "the end"),
            bytes(SECTOR_BYTES * again.sectors),
            percent(of_dram),
        ),
        evidence: vec![
            Evidence::new("bytes_read_again", SECTOR_BYTES * again.sectors, "byte"),
            Evidence::new(READ, read, "byte"),
        ],
        hint: format!(
            "Read each row once: do both in one loop, as a running maximum with a sum that is rescaled when the \
             maximum grows, or a sum beside a sum of squares; or {keep}."
        ),
        locations,
        effect,
    })
}
