//! What the atomic unit of an L2 slice can reach.

mod lines_at_once;

use super::Model;
use super::thresholds::FEW_ADDRESSES;
use crate::device::{DeviceFacts, Quantity};
use crate::frame::Launch;
use crate::metric::stall::StallReason;
use crate::sass::{Family, Listing, Space};
use crate::term::Term;
use lines_at_once::lines_at_once;

const BUSIEST: &str = "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed";
const AVERAGE: &str = "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed";

/// Where warps wait while a queue in front of memory is full: for a place in it, for stores to leave, for data, and, as
/// accesses of shared memory and exchanges between lanes stand in line behind those of global memory, for these as well.
pub const QUEUES: [StallReason; 5] = [
    StallReason::LgThrottle,
    StallReason::MioThrottle,
    StallReason::Drain,
    StallReason::LongScoreboard,
    StallReason::ShortScoreboard,
];

/// What tells how busy the busiest slice is where nothing counted it: L2's slices, and the sectors that atomics
/// were the first to touch.
pub(super) const BY_MEAN: [&str; 4] = [
    "device__attribute_l2s_count",
    "lts__t_sectors_srcunit_tex_op_red_lookup_miss.sum",
    "lts__t_sectors_srcunit_tex_op_atom_dot_alu_lookup_miss.sum",
    "lts__t_sectors_srcunit_tex_op_atom_dot_cas_lookup_miss.sum",
];

/// How busy the atomic unit of the busiest slice is, percent of its peak; at least so much where only the average
/// was counted: all the work falls on no more slices than sectors were touched. ncu empties L2 before a launch,
/// so that the first access to each sector misses.
pub(super) fn busiest(launch: &Launch) -> Option<f64> {
    launch.get(BUSIEST).or_else(|| {
        let slices = launch.get(BY_MEAN[0]).filter(|&slices| slices >= 1.0)?;
        let at_work = touched(launch).min(slices);
        (at_work >= 1.0).then_some(launch.get(AVERAGE)? * slices / at_work)
    })
}

/// The sectors that atomics were the first to touch.
fn touched(launch: &Launch) -> f64 {
    BY_MEAN[1..].iter().filter_map(|name| launch.get(name)).sum()
}

/// The share of the busiest slice's peak that a launch's atomics can reach. On few addresses they go
/// one after another on each; with floats, addresses that share a slice fill each other's gaps (32 in
/// one line reach 97.5%), so that what is busier than one address can be is full. Where slices have
/// alike to do, addresses are many, and the peak itself can be reached; so it is taken to be where no
/// file has a share.
pub(super) fn share(launch: &Launch, facts: &DeviceFacts) -> f64 {
    let (Some(busiest), Some(average)) = (busiest(launch), launch.get(AVERAGE)) else {
        return 1.0;
    };
    if busiest < FEW_ADDRESSES.value * average {
        return 1.0;
    }
    let Some(listing) = launch.listing() else { return 1.0 };
    on_one_address(&listing, facts)
}

/// The share of a slice's peak that such atomics can reach on one address.
fn on_one_address(listing: &Listing, facts: &DeviceFacts) -> f64 {
    let global = listing.entries().filter(|(_, entry)| is_on_global(entry.family));
    let floats = |index: usize| listing.row(index).text.contains(".ADD.F");
    let on_one_address = if global.map(|(index, _)| index).any(floats) {
        Quantity::AtomicFloatShare
    } else {
        Quantity::AtomicIntegerShare
    };
    facts.get(on_one_address).unwrap_or(1.0)
}

fn is_on_global(family: Family) -> bool {
    matches!(family, Family::Atomic(Space::Global | Space::Generic) | Family::Reduction(_))
}

/// The share of the time (0 to 1) for which some slice's atomic unit is at what it can reach, where atomics go to few
/// addresses and these change in the course of the launch, as where blocks of one row after another add to the row's
/// sum. The slices then work in turn, and none is busy for long, which looks like idle units and slow memory. But
/// while accesses queue some unit is full; what of that no other unit is busy for, the atomics are. They are not busy
/// for longer than all slices' work takes one after another, or, where the places of the blocks that run at once are
/// known, with as many at work as these have lines (on an H100 floats reach 1.40 additions per cycle on 4 lines, which
/// is what 4.2 slices can do, and 25.5 on 528). `None` where that is not known, or no longer than the
/// busiest slice's own work takes.
pub(super) fn in_turn(
    launch: &Launch,
    facts: &DeviceFacts,
    busy: &[Option<f64>; Term::COUNT],
) -> Option<f64> {
    let (busiest, average) = (busiest(launch)?, launch.get(AVERAGE)?);
    if average <= 0.0 {
        return None;
    }
    let listing = launch.listing()?;
    let slices = launch.get(BY_MEAN[0])?;
    let busy_now = busy[Term::Atomic as usize].unwrap_or(1.0);
    let is_even = busiest < FEW_ADDRESSES.value * average;
    // Over a launch a few addresses may well take their turns evenly: fewer than warps come to them.
    if is_even && touched(launch) > listing.executed(0) {
        return None;
    }
    if is_even && let Some(lines) = lines_at_once(launch, &listing) {
        let reachable = on_one_address(&listing, facts);
        let in_turn = average / 100.0 * slices / reachable / lines.min(slices);
        return Some(in_turn.min(1.0)).filter(|&share| share > busy_now);
    }
    let waits = waits(launch, facts)?;
    // Where slices have alike to do, only a full queue tells, or fences that wait for it: warps between them have too few atomics
    // under way to fill it.
    let queued = if is_even { waits.for_a_place + waits.at_fences } else { waits.in_queues() };
    let one_after_another = average / 100.0 * slices / share(launch, facts);
    let others = Term::ALL
        .into_iter()
        .filter(|&term| {
            term != Term::Atomic && term.waits().iter().any(|wait| QUEUES.contains(wait))
        })
        .filter_map(|term| busy[term as usize])
        .fold(0.0, f64::max);
    let in_turn = (queued - others).min(one_after_another).min(1.0);
    Some(in_turn).filter(|&share| share > busy_now)
}

impl Model {
    /// True where L2's slices do their atomics one after another, so that none is busy for long though one is at any
    /// time.
    #[must_use]
    pub fn atomics_in_turn(&self) -> bool {
        self.atomics_in_turn
    }
}

/// Shares (0 to 1) of the warps' waiting.
struct Waits {
    /// For a place in a queue in front of memory, and for stores to leave.
    for_a_place: f64,
    /// For data, beyond what memory takes to deliver them where nobody else asks.
    for_others: f64,
    /// At fences, for all that came before and for the old values of atomics, beyond the same.
    at_fences: f64,
}

impl Waits {
    /// There is a queue for at least that share of the time.
    fn in_queues(&self) -> f64 {
        self.for_a_place + self.for_others
    }
}

/// What warps wait for in front of memory. `None` without machine code, or where nothing is known of the device's memory.
fn waits(launch: &Launch, facts: &DeviceFacts) -> Option<Waits> {
    use StallReason::{Drain, LgThrottle, LongScoreboard, MioThrottle, NotSelected, Selected};
    let stall = |reason| launch.stall(reason).unwrap_or(0.0).max(0.0);
    let all: f64 = StallReason::all()
        .filter(|reason| !matches!(reason, Selected | NotSelected))
        .map(stall)
        .sum();
    let listing = launch.listing()?;
    let total = listing.total();
    // If each asks by itself; several at once wait less.
    let unloaded = |latency: Quantity, asks: fn(Family) -> bool| {
        let asking = listing.entries().filter(|(_, entry)| asks(entry.family));
        let asking: f64 = asking.map(|(index, _)| listing.executed(index)).sum();
        Some(facts.get(latency)? * asking / total)
    };
    let for_data = stall(LongScoreboard) - unloaded(Quantity::DramLatency, asks_memory)?;
    let on_the_sm = unloaded(Quantity::SharedLatency, asks_the_sm)
        .map_or(0.0, |unloaded| stall(StallReason::ShortScoreboard) - unloaded);
    let for_a_place = stall(LgThrottle) + stall(MioThrottle) + stall(Drain);
    let is_fence = |family| family == Family::Fence;
    let at_fences = stall(StallReason::Membar) - unloaded(Quantity::DramLatency, is_fence)?;
    let of_old_values = stall(LongScoreboard) * samples_at(&listing, LongScoreboard, is_fence)
        - unloaded(Quantity::DramLatency, is_atomic)?;
    (total > 0.0 && all > 0.0).then(|| Waits {
        for_a_place: for_a_place / all,
        for_others: (for_data.max(0.0) + on_the_sm.max(0.0)) / all,
        at_fences: (at_fences.max(0.0) + of_old_values.max(0.0)) / all,
    })
}

/// The share of a stall's samples (0 to 1) at such instructions.
fn samples_at(listing: &Listing, reason: StallReason, pick: fn(Family) -> bool) -> f64 {
    let picked = listing.entries().filter(|(_, entry)| pick(entry.family));
    let there: f64 = picked.map(|(index, _)| listing.samples(index, reason)).sum();
    let all = listing.sass.counts.stall_samples(reason);
    if all > 0.0 { there / all } else { 0.0 }
}

fn is_atomic(family: Family) -> bool {
    matches!(family, Family::Atomic(Space::Global | Space::Generic))
}

/// True for what waits for memory beyond the SM.
fn asks_memory(family: Family) -> bool {
    matches!(
        family,
        Family::Load(Space::Global | Space::Generic | Space::Local)
            | Family::Atomic(Space::Global | Space::Generic)
            | Family::AsyncCopy
            | Family::Texture
    )
}

/// True for what waits for units of the SM that stand behind the same queue as its memory.
fn asks_the_sm(family: Family) -> bool {
    matches!(
        family,
        Family::Load(Space::Shared)
            | Family::Atomic(Space::Shared)
            | Family::Shuffle
            | Family::SpecialFunction
            | Family::System
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::OCCUPANCY_LIMITS;
    use crate::sass::code::listing::tests::launch;

    fn share_of(text: &str, busiest: f64, average: f64) -> f64 {
        on("NVIDIA H200", text, busiest, average)
    }

    fn on(device: &str, text: &str, busiest: f64, average: f64) -> f64 {
        let mut launch = launch(&[(text, 10.0), ("EXIT", 1.0)]);
        launch.set(BUSIEST, Some(busiest));
        launch.set(AVERAGE, Some(average));
        share(&launch, &DeviceFacts::of(Some(device), None))
    }

    #[test]
    fn the_busiest_slice_is_known_from_the_average_and_the_sectors_touched() {
        let of = |values: [Option<f64>; 3]| {
            let mut launch = Launch::default();
            launch.set(AVERAGE, Some(2.0));
            for (name, value) in BY_MEAN.iter().zip(values) {
                launch.set(name, value);
            }
            busiest(&launch)
        };
        assert_eq!(of([Some(40.0), Some(1.0), None]), Some(80.0), "one of 40 slices has it all");
        assert_eq!(of([Some(40.0), Some(3.0), Some(1.0)]), Some(20.0));
        assert_eq!(of([Some(40.0), Some(100.0), None]), Some(2.0), "all may be at work");
        assert_eq!(of([Some(40.0), Some(0.0), None]), None, "the cache was not empty");
        assert_eq!(of([None, Some(1.0), None]), None);
    }

    #[test]
    fn slices_work_in_turn_where_accesses_queue_and_nothing_else_is_busy() {
        let busy = |slices: f64, others: f64, waiting: f64, average: f64| {
            let mut launch = launch(&[
                ("LDG.E R4, desc[UR4][R2.64]", 10.0),
                ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R6.64], R4", 10.0),
                ("EXIT", 10.0),
            ]);
            launch.row.device = Some("NVIDIA H200".to_owned());
            launch.set(BY_MEAN[0], Some(slices));
            launch.set(BUSIEST, Some(9.0));
            launch.set(AVERAGE, Some(average));
            launch.set(Term::Dram.counters()[0], Some(others));
            launch.set(&StallReason::LongScoreboard.ratio_metric(), Some(waiting));
            launch.set(&StallReason::Wait.ratio_metric(), Some(230.0));
            let model = Model::new(&launch);
            (model.utilization(Term::Atomic).unwrap(), model.atomics_in_turn())
        };
        let near = |(share, in_turn): (f64, bool), expected: f64, turns: bool| {
            (share - expected).abs() < 1e-6 && in_turn == turns
        };
        // A load in three instructions may wait 230 cycles per instruction for DRAM where it is alone.
        // L2 itself is busy with them 0.45% of the time.
        let queue = (4600.0 - 230.0) / 4830.0 - 0.0045;
        assert!(near(busy(80.0, 0.0, 4600.0, 0.45), queue, true));
        assert!(near(busy(40.0, 0.0, 4600.0, 0.45), 0.54, true), "all slices' work, 3 * 18%");
        // One slice's work is 27%, at a third of the peak.
        assert!(near(busy(80.0, 0.0, 230.0, 0.45), 0.27, false), "no queue");
        let (share, in_turn) = busy(80.0, 40.0, 4600.0, 0.45);
        assert!(
            share < queue - 0.4 && share > 0.27 && in_turn,
            "DRAM has a queue as well: {share}"
        );
        assert!(near(busy(80.0, 80.0, 4600.0, 0.45), 0.27, false), "DRAM's queue");
        assert!(near(busy(80.0, 0.0, 4600.0, 2.3), 0.09, false), "many addresses");
    }

    #[test]
    fn neighbouring_blocks_that_add_to_one_line_take_turns() {
        let busy = |address: &'static str| {
            let mut launch = launch(&[
                ("S2R R4, SR_CTAID.X", 2000.0),
                ("LDC.64 R2, c[0x0][0x210]", 2000.0),
                (address, 2000.0),
                ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R6.64], R9", 2000.0),
                ("LDG.E R9, desc[UR4][R2.64]", 2000.0),
                ("EXIT", 2000.0),
            ]);
            launch.row.device = Some("NVIDIA H200".to_owned());
            launch.row.grid = [2000, 1, 1];
            launch.set("launch__sm_count", Some(16.0));
            launch.set(OCCUPANCY_LIMITS[0], Some(16.0));
            launch.set(BY_MEAN[0], Some(80.0));
            launch.set(BUSIEST, Some(3.0));
            launch.set(AVERAGE, Some(2.0));
            let model = Model::new(&launch);
            (model.utilization(Term::Atomic).unwrap(), model.atomics_in_turn())
        };
        // 256 blocks add to eight lines: eight slices of 80 are at work, each at a third of the peak.
        let (share, in_turn) = busy("IMAD.WIDE.U32 R6, R4, 0x4, R2");
        assert!((share - 0.02 * 80.0 * 3.0 / 8.0).abs() < 1e-9 && in_turn, "{share}");
        // A line for each: all slices are.
        let (share, in_turn) = busy("IMAD.WIDE.U32 R6, R4, 0x80, R2");
        assert!((share - 0.06).abs() < 1e-9 && in_turn, "{share}");
    }

    #[test]
    fn exchanges_between_lanes_stand_in_the_same_queue() {
        let busy = |short: f64, lsu: f64| {
            let mut launch = launch(&[
                ("SHFL.DOWN PT, R4, R5, 0x1, 0x1f", 10.0),
                ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R6.64], R4", 10.0),
                ("EXIT", 10.0),
            ]);
            launch.row.device = Some("NVIDIA H200".to_owned());
            launch.set(BY_MEAN[0], Some(80.0));
            launch.set(BUSIEST, Some(9.0));
            launch.set(AVERAGE, Some(0.45));
            launch.set(Term::Lsu.counters()[0], Some(lsu));
            launch.set(&StallReason::MioThrottle.ratio_metric(), Some(50.0));
            launch.set(&StallReason::ShortScoreboard.ratio_metric(), Some(short));
            launch.set(&StallReason::Wait.ratio_metric(), Some(50.0));
            Model::new(&launch).utilization(Term::Atomic).unwrap()
        };
        // A shuffle in three instructions may wait 23.04 cycles by itself.
        let queue = 150.0 - 23.04 / 3.0;
        assert!((busy(100.0, 0.0) - queue / 200.0).abs() < 0.005, "{}", busy(100.0, 0.0));
        assert!((busy(1.0, 0.0) - 50.0 / 101.0).abs() < 0.005, "no longer than by itself");
        assert!((busy(100.0, 90.0) - 0.27).abs() < 1e-6, "the load/store unit's own queue");
    }

    #[test]
    fn one_address_takes_its_turns() {
        let integers = "REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R5";
        let floats = "REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R5";
        let doubles = "ATOMG.E.ADD.F64.RN.STRONG.GPU PT, R4, desc[UR4][R2.64], R8";
        for (text, share) in [(integers, 0.8), (floats, 1.0 / 3.0), (doubles, 1.0 / 3.0)] {
            assert!((share_of(text, 40.0, 10.0) - share).abs() < 1e-12, "{text}");
            assert!((share_of(text, 39.9, 10.0) - 1.0).abs() < 1e-12, "{text}, many addresses");
        }
    }

    #[test]
    fn a_device_that_nobody_measured_is_taken_to_be_like_the_measured_one() {
        let floats = "RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R5";
        let share = on("NVIDIA GeForce GTX 1660 SUPER", floats, 33.3, 2.8);
        assert!((share - 1.0 / 3.0).abs() < 1e-12, "{share}");
    }
}
