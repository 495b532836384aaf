//! What kernels beside one another pass through memory, and what one kernel for both would spare.

use crate::evidence::removal::Removal;
use crate::evidence::{ModeledLaunch, Threshold};
use crate::handed_on::HandedOn;
use crate::hardware::SECTOR_BYTES;
use crate::model::Effect;
use crate::sass::flow::slice;
use crate::sass::questions::through_parameters::through;
use crate::sass::{Family, Listing};
use crate::term::Term;

/// Sectors that L1 asks of L2.
pub(crate) const FROM_L1: &str = "lts__t_sectors_srcunit_tex.sum";
/// Bytes that DRAM reads.
pub(crate) const READ: &str = "dram__bytes_read.sum";
/// Bytes that DRAM writes.
pub(crate) const WRITTEN: &str = "dram__bytes_write.sum";

/// How often the next kernel may read it.
pub(crate) const READINGS: Threshold = Threshold {
    what: "times that L2 delivers what the kernel before has stored or loaded, for one kernel to do the work of both, at most",
    value: 2.0,
    unit: "time",
    source: "derivation: a kernel for both uses an element where it is made or loaded, and along the edges of tiles makes it twice at most; what is \
             fetched more often serves many blocks, each of which would have to make it or load it for itself",
};

/// What L2 may hold from one kernel to the next.
pub(crate) const HELD: Threshold = Threshold {
    what: "constant: bytes that L2 may still hold when the next kernel begins, at most; of more, most comes from DRAM",
    value: 50e6,
    unit: "byte",
    source: "the L2 of an H100 (NVIDIA, H100 Tensor Core GPU Architecture, 2022); it only widens the range",
};

/// What goes to or comes from a kernel beside this one.
pub(crate) struct Passed<'a> {
    /// The other kernel, and the memory.
    pub with: &'a HandedOn,
    /// The loads or stores.
    pub accesses: Vec<usize>,
    /// The share of each that one kernel for both would do without, 0 to 1; what remains goes through shared memory.
    once: f64,
    /// The share of the launches that it holds of, 0 to 1.
    of_launches: f64,
    /// Sectors that L2 delivers or takes for it, on average.
    pub sectors: f64,
}

impl Passed<'_> {
    /// The same where it holds of a share of the launches only.
    pub(crate) fn in_some(self, share: f64) -> Self {
        Self { of_launches: share * self.of_launches, sectors: share * self.sectors, ..self }
    }
}

/// What L2 delivers and takes.
pub(crate) struct Traffic {
    /// Sectors that L1 asks for in all.
    pub asked: f64,
    /// Sectors that loads and stores ask for by their addresses.
    of_loads: f64,
    of_stores: f64,
    /// The part of what loads ask for that L1 does not have.
    misses: f64,
}

impl Traffic {
    pub(crate) fn new(listing: &Listing, asked: f64) -> Self {
        let sum = |stores: bool| -> f64 {
            let all = listing.entries().filter(|(_, entry)| is_store(entry.family) == stores);
            all.map(|(at, _)| sectors(listing, at)).sum()
        };
        let (of_loads, of_stores) = (sum(false), sum(true));
        let misses = ((asked - of_stores) / of_loads.max(1.0)).clamp(0.0, 1.0);
        Self { asked, of_loads, of_stores, misses }
    }

    /// Sectors that L2 delivers for some loads.
    pub(crate) fn delivered(&self, listing: &Listing, loads: &[usize]) -> f64 {
        self.misses * loads.iter().map(|&at| sectors(listing, at)).sum::<f64>()
    }

    /// Their part of what all loads ask for, 0 to 1.
    pub(crate) fn part_of_loads(&self, listing: &Listing, loads: &[usize]) -> f64 {
        let asked: f64 = loads.iter().map(|&at| sectors(listing, at)).sum();
        (asked / self.of_loads.max(1.0)).min(1.0)
    }
}

const fn is_store(family: Family) -> bool {
    matches!(family, Family::Store(_))
}

/// Sectors that an access asks L2 for.
pub(crate) fn sectors(listing: &Listing, at: usize) -> f64 {
    listing.row(at).counters.l2_sectors_global
}

/// The loads or stores of what is handed on, where one kernel could do without.
pub(crate) fn passed<'a>(
    listing: &Listing,
    traffic: &Traffic,
    with: &'a HandedOn,
    begin: u32,
    stores: bool,
) -> Option<Passed<'a>> {
    let pointers: Vec<u32> = with.pointers.iter().map(|pointers| begin + pointers.own).collect();
    let mut accesses = through(listing, &pointers);
    accesses.retain(|&at| is_store(listing.sass.entries[at].family) == stores);
    let asked: f64 = accesses.iter().map(|&at| sectors(listing, at)).sum();
    let sectors = if stores { asked } else { asked * traffic.misses };
    let whole = with.bytes() / SECTOR_BYTES;
    let counts = sectors > 0.0 && (stores || sectors <= READINGS.value * whole);
    let once = if stores { 1.0 } else { (whole / asked).min(1.0) };
    counts.then_some(Passed { with, accesses, once, of_launches: 1.0, sectors })
}

/// What one kernel for both would spare this one: what goes through memory, and, as one thread then does what two did, its part of the
/// blocks, and of what counts, compares, and makes addresses. Of a chain's launches, one thread does what as many did.
pub(crate) fn effect(
    launch: &ModeledLaunch,
    traffic: &Traffic,
    loaded: Option<&Passed>,
    stored: Option<&Passed>,
    chained: Option<usize>,
) -> Option<Effect> {
    let mut removal = Removal::new(launch)?;
    for each in [loaded, stored].into_iter().flatten() {
        for &at in &each.accesses {
            removal.remove(at, each.of_launches * each.once);
            removal.remove_latency(at, each.of_launches);
        }
    }
    let of = |passed: Option<&Passed>| passed.map_or(0.0, |passed| passed.sectors);
    let part = |sectors: f64, all: f64| (sectors / all.max(1.0)).min(1.0);
    let loaded_part = part(of(loaded), traffic.of_loads * traffic.misses);
    let stored_part = part(of(stored), traffic.of_stores);
    let with_others = loaded_part + stored_part;
    let shared = match chained {
        Some(launches) => 1.0 - 1.0 / launches as f64,
        None => with_others / (1.0 + with_others),
    };
    let work = slice::work(&removal.listing);
    for (at, _) in removal.listing.entries().filter(|(at, _)| !work[*at]) {
        removal.remove(at, shared);
    }
    let mut effect = removal.effect(launch);
    // Of the launches that become one, one keeps its pause.
    let become_one = chained.unwrap_or_else(|| 1 + [loaded, stored].iter().flatten().count());
    effect.pauses = 1.0 - 1.0 / become_one as f64;
    let share = ((of(loaded) + of(stored)) / traffic.asked).min(1.0);
    effect.removed.extend([(Term::L2, share), (Term::L2Requests, share)]);
    // A kernel that only stores what the next one takes, as a fill does, goes whole.
    let is_fill = traffic.of_loads <= 0.0 && of(stored) >= traffic.of_stores;
    effect.removed.push((Term::BlockScheduler, if is_fill { 1.0 } else { shared }));
    let (Some(read), Some(written)) = (launch.get(READ), launch.get(WRITTEN)) else {
        return Some(effect);
    };
    let (reads, writes) = (read * loaded_part, written * stored_part);
    let dram = |bytes: f64| (Term::Dram, (bytes / (read + written).max(1.0)).min(1.0));
    // Behind the kernel that stored it, L2 may still hold it; ncu measures with L2 emptied.
    if loaded.is_some_and(|passed| passed.with.bytes() <= HELD.value) {
        let mut least = effect.clone();
        least.removed.push(dram(writes));
        effect.at_least = Some(Box::new(least));
    }
    effect.removed.push(dram(reads + writes));
    Some(effect)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{FROM_L1, READ, WRITTEN};
    use crate::evidence::removal::ISSUE_BUSY;
    use crate::evidence::testing::sass;
    use crate::frame::Launch;

    /// 64 sectors loaded from the first parameter, and 32 stored to the second.
    pub(crate) fn made() -> Launch {
        let code = [
            ("S2R R9, SR_TID.X", 8.0),
            ("LDC.64 R2, c[0x0][0x210]", 8.0),
            ("IMAD.WIDE R2, R9, 0x8, R2", 8.0),
            ("LDG.E.64 R4, desc[UR4][R2.64]", 8.0),
            ("LDC.64 R6, c[0x0][0x218]", 8.0),
            ("IMAD.WIDE R6, R9, 0x4, R6", 8.0),
            ("STG.E desc[UR4][R6.64], R4", 8.0),
            ("EXIT", 8.0),
        ];
        let dram = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
        let mut launch = sass(
            &[
                (ISSUE_BUSY, 10.0),
                (dram, 85.0),
                (FROM_L1, 96.0),
                (READ, 64.0 * 32.0),
                (WRITTEN, 32.0 * 32.0),
            ],
            &code,
        );
        launch.row.compute_capability = Some((9, 0));
        launch.instructions[3].counters.l2_sectors_global = 64.0;
        launch.instructions[6].counters.l2_sectors_global = 32.0;
        launch
    }
}
