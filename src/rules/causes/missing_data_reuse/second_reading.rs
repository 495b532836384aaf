//! Rows that one loop reads and a later one reads again, from DRAM or from a cache.

use super::removed::needed_by_loads;
use super::{L2_ALL, READ, WRITTEN};
use crate::device::Quantity;
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::{MATTERS, Removal, gains};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::hardware::SECTOR_BYTES;
use crate::sass::Listing;
use crate::sass::flow::slice;
use crate::sass::questions::{passes, rereadings, sharing};
use crate::term::Term;
use crate::text::{bytes, percent};

/// The part of the second reading that DRAM delivers, from which it comes from there.
pub(super) const AGAIN: Threshold = Threshold {
    what: "share of a row's second reading that comes from DRAM, which delivers more than what is new to each block, for \
           DRAM to count as its source, at least",
    value: 0.5,
    unit: "share",
    source: "definition: most of it",
};

/// The finding; `None` where no load reads again what another has read.
pub(super) fn check(launch: &ModeledLaunch) -> Option<Draft> {
    in_two_loops(launch).or_else(|| from_cache(launch))
}

/// The finding where two loops read the same rows, and DRAM delivers them twice or both work out the same of them.
fn in_two_loops(launch: &ModeledLaunch) -> Option<Draft> {
    let read = launch.need(READ);
    let moved = read + launch.get(WRITTEN).unwrap_or(0.0);
    let asked = SECTOR_BYTES * needed_by_loads(launch)?;
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let again = passes::second_reading(&listing)?;
    let is_again = |at: usize| again.loads.contains(&at);
    let twice = delivered_again(launch, listing, read, is_again, again.sectors);
    let made_again = passes::worked_out_again(&listing, &again);
    // What is asked for once need not be read again.
    let is_delivered =
        read > AGAIN.value * asked && twice >= AGAIN.value * SECTOR_BYTES * again.sectors;
    let executed = |places: &[usize]| places.iter().map(|&at| listing.executed(at)).sum::<f64>();
    let is_much_work = executed(&made_again) >= MATTERS * listing.total();
    if !is_delivered && !is_much_work {
        return None;
    }
    for &at in &made_again {
        removal.remove(at, 1.0);
    }
    let work = slice::work(&listing);
    let flow = &listing.sass.flow;
    // What else the later loop works out stays, in the earlier one.
    for (index, _) in listing.entries() {
        let in_loop = flow.innermost(index);
        let of_them = again.loads.iter().any(|&load| flow.innermost(load) == in_loop);
        if again.loads.contains(&index) || in_loop.is_some() && of_them && !work[index] {
            removal.remove(index, 1.0);
        }
    }
    let mut effect = removal.effect(launch);
    let of_dram = if moved > 0.0 { (twice / moved).min(1.0) } else { 0.0 };
    effect.removed.push((Term::Dram, of_dram));
    if let Some(all) = launch.get(L2_ALL).filter(|&all| all > 0.0) {
        let of_l2 = (again.sectors / all).min(1.0);
        effect.removed.extend([(Term::L2, of_l2), (Term::L2Requests, of_l2)]);
    }
    if !gains(launch, &effect) {
        return None;
    }
    let locations = launch.places_of("sectors read again", |row| {
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
            "The loop at {} reads again what an earlier loop has read: {}.{}{}",
            place(&locations, "the end"),
            bytes(SECTOR_BYTES * again.sectors),
            if is_delivered {
                format!(
                    " DRAM delivers most of it a second time, {} of all its traffic.",
                    percent(of_dram)
                )
            } else {
                String::new()
            },
            if is_much_work {
                format!(
                    " It also works out again what the earlier one made of it, {} of the executed instructions.",
                    percent(executed(&made_again) / listing.total())
                )
            } else {
                String::new()
            },
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

/// The finding where a thread loads again what it has had in a register, and a cache delivers most of it.
fn from_cache(launch: &ModeledLaunch) -> Option<Draft> {
    let read = launch.need(READ);
    let moved = read + launch.get(WRITTEN).unwrap_or(0.0);
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let again = rereadings::rereadings(&listing)?;
    let is_again = |at: usize| again.loads.binary_search(&at).is_ok();
    let twice = delivered_again(launch, listing, read, is_again, again.sectors);
    let asked = asked(launch, listing);
    again.loads.iter().for_each(|&at| removal.remove(at, 1.0));
    let mut effect = removal.effect(launch);
    if twice > 0.0 {
        effect.removed.push((Term::Dram, (twice / moved).min(1.0)));
    }
    if !gains(launch, &effect) {
        return None;
    }
    let locations = launch.places_of("sectors read again", |row| {
        let is_row = |&load: &usize| std::ptr::eq(listing.row(load), row);
        if again.loads.iter().any(is_row) { row.counters.l2_sectors_global_ideal } else { 0.0 }
    });
    let row = &launch.profile.row;
    let threads: f64 = row.grid.iter().chain(&row.block).map(|&size| f64::from(size)).product();
    let of_thread = SECTOR_BYTES * again.sectors / threads.max(1.0);
    let at = place(&locations, "the end");
    Some(Draft {
        message: format!(
            "The loads at {at} bring again what the same threads have loaded before: {}, {} of all that loads ask for. A barrier, \
             a store or a loop stands between, so that the compiler does not keep it.",
            bytes(SECTOR_BYTES * again.sectors),
            percent(again.sectors / asked),
        ),
        evidence: vec![
            Evidence::new("bytes_read_again", SECTOR_BYTES * again.sectors, "byte"),
            Evidence::new(READ, read, "byte"),
        ],
        hint: format!(
            "Keep in registers what the earlier loads brought, at most {} per thread, and use it again at {at}: in an array whose \
             indices the compiler knows, or in Triton by one block as long as the row in place of loops over parts of it. That takes \
             registers; more threads per row take fewer each.",
            bytes(of_thread),
        ),
        locations,
        effect,
    })
}

/// The sectors that global loads need.
fn asked(launch: &ModeledLaunch, listing: Listing) -> f64 {
    let (grid, block) = (launch.profile.row.grid, launch.profile.row.block);
    let loads = sharing::repetitions(listing, grid, block);
    loads.map(|(at, _)| listing.row(at).counters.l2_sectors_global_ideal).sum()
}

/// Bytes that DRAM delivers beyond what must come from there: what blocks share comes once at best, what they have for
/// themselves once for each. At most what the second readings ask for.
fn delivered_again(
    launch: &ModeledLaunch,
    listing: Listing,
    read: f64,
    is_again: impl Fn(usize) -> bool,
    again_sectors: f64,
) -> f64 {
    let (grid, block) = (launch.profile.row.grid, launch.profile.row.block);
    let once: f64 = sharing::repetitions(listing, grid, block)
        .filter(|(at, _)| !is_again(*at))
        .map(|(at, copies)| {
            listing.row(at).counters.l2_sectors_global_ideal / copies.unwrap_or(1.0).max(1.0)
        })
        .sum();
    (read - SECTOR_BYTES * once).clamp(0.0, SECTOR_BYTES * again_sectors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::rules::testing::sass;

    const DRAM: &str = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";

    /// Two loops over the same row, whose loads need 200 sectors each; DRAM delivers so many bytes.
    fn two_passes(read: f64) -> Option<Draft> {
        let mut launch = sass(
            &[(READ, read), (L2_ALL, 500.0), (DRAM, 80.0)],
            &[
                ("S2R R0, SR_TID.X", 10.0),
                ("LDC.64 R2, c[0x0][0x210]", 10.0),
                ("IMAD.WIDE R4, R0, 0x4, R2", 10.0),
                ("LDG.E R6, desc[UR8][R4.64]", 50.0),
                ("FMNMX R7, R6, R7, !PT", 50.0),
                ("IADD3 R4, R4, 0x400, RZ", 50.0),
                ("@P0 BRA 0x130", 50.0),
                ("IMAD.WIDE R12, R0, 0x4, R2", 10.0),
                ("LDG.E R13, desc[UR8][R12.64]", 50.0),
                ("FADD R14, R14, R13", 50.0),
                ("IADD3 R12, R12, 0x400, RZ", 50.0),
                ("@P0 BRA 0x180", 50.0),
                ("STG.E desc[UR8][R20.64], R14", 10.0),
                ("EXIT", 10.0),
            ],
        );
        for index in [3, 8] {
            launch.instructions[index].counters.l2_sectors_global_ideal = 200.0;
        }
        let model = Model::new(&launch);
        check(&ModeledLaunch { profile: &launch, model: &model })
    }

    #[test]
    fn a_row_that_dram_delivers_twice_is_read_once() {
        // 400 sectors are asked for, and as many come from DRAM.
        let draft = two_passes(12_800.0).unwrap();
        assert!((draft.effect.share_of(Term::Dram) - 0.5).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::L2) - 0.4).abs() < 1e-12, "200 of 500 sectors");
        // Load, counter and branch of the second loop, of 460 instructions; its sum stays.
        assert!((draft.effect.share_of(Term::Issue) - 150.0 / 460.0).abs() < 1e-12);
        assert!(
            draft.message.contains("line 9") && draft.message.contains("50%"),
            "{}",
            draft.message
        );
        // Three quarters of the second reading: 4,800 of 11,200 bytes.
        let three_quarters = two_passes(11_200.0).unwrap().effect.share_of(Term::Dram);
        assert!((three_quarters - 4_800.0 / 11_200.0).abs() < 1e-12);
    }

    /// A load of 400 sectors, a barrier, and the same load again; DRAM delivers so many bytes.
    fn behind_a_barrier(load: &'static str, read: f64) -> Option<Draft> {
        let mut launch = sass(
            &[(READ, read), (L2_ALL, 800.0), (DRAM, 80.0)],
            &[
                ("S2R R0, SR_TID.X", 100.0),
                ("S2R R1, SR_CTAID.X", 100.0),
                ("LDC.64 R2, c[0x0][0x210]", 100.0),
                ("IMAD R0, R1, 0x100, R0", 100.0),
                ("IMAD.WIDE R4, R0, 0x4, R2", 100.0),
                ("LDG.E R6, desc[UR8][R4.64]", 100.0),
                ("BAR.SYNC.DEFER_BLOCKING 0x0", 100.0),
                (load, 100.0),
                ("FADD R14, R6, R13", 100.0),
                ("LDC.64 R20, c[0x0][0x220]", 100.0),
                ("STG.E desc[UR8][R20.64], R14", 100.0),
                ("EXIT", 100.0),
            ],
        );
        (launch.row.grid, launch.row.block) = ([10, 1, 1], [256, 1, 1]);
        for index in [5, 7] {
            launch.instructions[index].counters.l2_sectors_global_ideal = 400.0;
        }
        let model = Model::new(&launch);
        check(&ModeledLaunch { profile: &launch, model: &model })
    }

    #[test]
    fn what_a_thread_has_had_in_a_register_is_not_loaded_again() {
        let again = "LDG.E R13, desc[UR8][R4.64]";
        // A quarter of what comes from DRAM comes for the second time.
        let draft = behind_a_barrier(again, 12_800.0 / 0.75).unwrap();
        assert!((draft.effect.share_of(Term::Dram) - 0.25).abs() < 1e-12, "{:?}", draft.effect);
        let said = &draft.message;
        assert!(said.contains("line 8") && said.contains("12.8 kB, 50% of all"), "{said}");
        assert!(draft.hint.contains("5.00 B per thread"), "{}", draft.hint);
        assert!(
            behind_a_barrier(again, 12_800.0).is_none(),
            "DRAM is the limit, and has nothing more to do"
        );
        assert!(behind_a_barrier("LDG.E R13, desc[UR8][R4.64+0x400]", 12_800.0 / 0.75).is_none());
    }

    #[test]
    fn what_a_cache_delivers_again_is_another_finding() {
        // 6,400 bytes are new, and half of as many come again.
        assert!(two_passes(9_500.0).is_none());
        assert!(two_passes(9_600.0).is_some());
    }
}
