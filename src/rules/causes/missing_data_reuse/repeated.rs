//! Which loads fetch again what was fetched before.

use std::collections::{HashMap, HashSet};

use super::BY_DATA;
use crate::evidence::threshold::NOISE;
use crate::evidence::{ModeledLaunch, slow_routines};
use crate::export::SourceRow;
use crate::finding::Location;
use crate::metric::stall::StallReason;
use crate::sass::questions::sharing;
use crate::sass::questions::sharing::gathers::sent_by_values;
use crate::sass::{Family, Listing, Space};

/// Loads whose addresses are the same in several blocks or warps, told from the instructions.
pub(super) struct SharedLoads {
    /// The part of each load's sectors that is fetched again, 0 to 1, by the load's address.
    again: HashMap<u64, f64>,
    /// The share of all waits for data that is for them, 0 to 1.
    pub waits_share: f64,
}

impl SharedLoads {
    /// `None` without instructions, and where no load is known to be repeated.
    pub(super) fn of(launch: &ModeledLaunch) -> Option<Self> {
        let listing = launch.profile.listing()?;
        let (grid, block) = (launch.profile.row.grid, launch.profile.row.block);
        let again: HashMap<u64, f64> = sharing::repetitions(listing, grid, block)
            .filter_map(|(index, copies)| {
                let copies = copies.filter(|&copies| copies > 1.0)?;
                let row = listing.row(index);
                (row.counters.inst_executed > 0.0).then_some((row.address?, 1.0 - 1.0 / copies))
            })
            .collect();
        let waits = listing.blame(StallReason::LongScoreboard);
        let all: f64 = waits.iter().map(|wait| wait.samples).sum();
        let apart = beside_slow_paths(&listing);
        let part = |row: &SourceRow| {
            row.address.filter(|at| !apart.contains(at)).and_then(|at| again.get(&at)).copied()
        };
        let for_them: f64 =
            waits.iter().filter_map(|wait| Some(wait.samples * part(wait.producer)?)).sum();
        let waits_share = if all > 0.0 { for_them / all } else { 0.0 };
        (!again.is_empty()).then_some(Self { again, waits_share })
    }

    /// The part of a load's sectors that is fetched again.
    pub(super) fn part(&self, row: &SourceRow) -> f64 {
        row.address.and_then(|at| self.again.get(&at)).copied().unwrap_or(0.0)
    }

    /// The lines that fetch most again.
    pub(super) fn locations(&self, launch: &ModeledLaunch) -> Vec<Location> {
        launch.places_of("sectors fetched again", |row| {
            self.part(row) * row.counters.l2_sectors_global_ideal
        })
    }
}

/// The addresses of loads in loops whose routines branch around slow paths: several results per thread would be worked
/// out there one after another, each with waits of its own.
fn beside_slow_paths(listing: &Listing) -> HashSet<u64> {
    let loops = slow_routines::loops_with_slow_paths(*listing);
    let entries = listing.entries().filter(|(at, _)| {
        listing.sass.flow.innermost(*at).is_some_and(|around| loops.contains(&around))
    });
    entries.filter_map(|(at, _)| listing.row(at).address).collect()
}

/// Loads whose lanes go where values send them: which of what they fetch repeats depends on the data, and no tile at
/// another line spares it.
#[derive(Default)]
pub(super) struct Gathers {
    addresses: HashSet<u64>,
    /// The sectors that their addresses need.
    pub sectors: f64,
}

impl Gathers {
    pub(super) fn of(launch: &ModeledLaunch) -> Self {
        let Some(listing) = launch.profile.listing() else { return Self::default() };
        let is_load = |at: usize| {
            matches!(listing.sass.entries[at].family, Family::Load(Space::Global | Space::Generic))
        };
        let gathers = sent_by_values(&listing, is_load, |_| true);
        let rows = gathers.into_iter().map(|(at, _)| listing.row(at));
        rows.fold(Self::default(), |mut all, row| {
            all.addresses.extend(row.address);
            all.sectors += row.counters.l2_sectors_global_ideal;
            all
        })
    }

    pub(super) fn has(&self, row: &SourceRow) -> bool {
        row.address.is_some_and(|address| self.addresses.contains(&address))
    }
}

/// True where half or more of what is loaded is at addresses that were loaded themselves: which of it repeats
/// depends on the data, and no tile can be planned for it.
pub(super) fn by_data(launch: &ModeledLaunch) -> bool {
    let Some(listing) = launch.profile.listing() else { return false };
    let (grid, block) = (launch.profile.row.grid, launch.profile.row.block);
    let (mut all, mut unknown) = (0.0, 0.0);
    for (index, copies) in sharing::repetitions(listing, grid, block) {
        let sectors = listing.row(index).counters.l2_sectors_global_ideal;
        all += sectors;
        unknown += if copies.is_none() { sectors } else { 0.0 };
    }
    unknown > 0.0 && unknown >= BY_DATA * all
}

/// The places with most sectors of loads. A line may store as well, which its counters don't tell.
fn places_of_loads(launch: &ModeledLaunch) -> Vec<Location> {
    const SHARE_OF: &str = "load sectors";
    let lines =
        || launch.profile.top_places(8, SHARE_OF, |counters| counters.l2_sectors_global_ideal);
    let Some(listing) = launch.profile.listing() else { return lines() };
    let is_load = |family| matches!(family, Family::Load(Space::Global | Space::Generic));
    let loads = listing.entries().filter(|(_, entry)| is_load(entry.family));
    let rows = loads.map(|(at, _)| listing.row(at));
    let weighted = rows.map(|row| (row, row.counters.l2_sectors_global_ideal));
    let instructions = launch.profile.top_instructions(8, SHARE_OF, weighted);
    if instructions.is_empty() { lines() } else { instructions }
}

/// The lines whose loads return soonest, until they make up the repeated share of all sectors: data
/// that was fetched before comes from a cache, and warps wait less for it.
pub(super) fn cached_loads(launch: &ModeledLaunch, repeated: f64) -> Vec<Location> {
    let sectors = |location: &Location| {
        launch.row(location).map_or(0.0, |row| row.counters.l2_sectors_global_ideal)
    };
    let wait = |location: &Location| {
        let waits = launch
            .row(location)
            .map_or(0.0, |row| row.counters.stall_samples[StallReason::LongScoreboard as usize]);
        waits / sectors(location).max(1.0)
    };
    let mut lines = places_of_loads(launch);
    lines.sort_by(|a, b| wait(a).total_cmp(&wait(b)));
    let mut covered = 0.0;
    lines
        .into_iter()
        .take_while(|location| {
            let open = covered < repeated - NOISE / 100.0;
            covered += location.share;
            open
        })
        .take(3)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::rules::testing::sass;

    /// The share of the waits that goes with the loads that all blocks share, where an instruction waits for one of these
    /// and for `other`, beside a routine or not.
    fn share(other: &'static str, beside: &[(&'static str, f64)]) -> f64 {
        let mut code = vec![
            ("S2R R0, SR_TID.X", 10.0),
            ("S2R R1, SR_CTAID.X", 10.0),
            ("LDC.64 R2, c[0x0][0x210]", 10.0),
            ("IMAD.WIDE R4, R0, 0x4, R2", 10.0),
            ("IMAD.WIDE R6, R1, 0x4, R4", 10.0),
            ("LDG.E R8, desc[UR4][R4.64]", 80.0), // by the thread alone
            (other, 80.0),
            ("FFMA R12, R8, R10, R12", 80.0),
        ];
        let back = 0x100 + 16 * 5;
        code.extend(beside);
        let branch = format!("@P0 BRA {back:#x}");
        code.extend([(branch.leak() as &str, 80.0), ("EXIT", 10.0)]);
        code.extend([("FADD R16, R13, R13", 0.0), ("RET.REL.NODEC R14 0x100", 0.0)]);
        let mut launch = sass(&[], &code);
        launch.row.grid = [64, 1, 1];
        launch.row.block = [32, 1, 1];
        launch.instructions[7].counters.stall_samples[StallReason::LongScoreboard as usize] = 9.0;
        let model = Model::new(&launch);
        SharedLoads::of(&ModeledLaunch { profile: &launch, model: &model }).unwrap().waits_share
    }

    #[test]
    fn what_blocks_share_is_fetched_again() {
        // Of 64 blocks 63 fetch both loads again.
        let again = share("LDG.E R10, desc[UR4][R4.64+0x80]", &[]);
        assert!((again - 63.0 / 64.0).abs() < 1e-12, "{again}");
        let own = share("LDG.E R10, desc[UR4][R6.64]", &[]);
        assert!(own < again, "a block's own: {own}");
    }

    #[test]
    fn results_beside_a_slow_path_wait_one_after_another() {
        // A division: at 0x180 the test, then the branch around the call.
        let division =
            [("FCHK P1, R12, R13", 80.0), ("@!P1 BRA 0x1b0", 80.0), ("CALL.REL.NOINC 0x1d0", 0.0)];
        assert!(share("LDG.E R10, desc[UR4][R4.64+0x80]", &division).abs() < 1e-12);
    }
}
