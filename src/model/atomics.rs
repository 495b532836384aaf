//! What the atomic unit of an L2 slice can reach.

use super::thresholds::FEW_ADDRESSES;
use crate::device::{DeviceFacts, Quantity};
use crate::frame::Launch;
use crate::sass::{Family, Space};

const BUSIEST: &str = "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed";
const AVERAGE: &str = "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed";

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
        let touched: f64 = BY_MEAN[1..].iter().filter_map(|name| launch.get(name)).sum();
        let at_work = touched.min(slices);
        (at_work >= 1.0).then_some(launch.get(AVERAGE)? * slices / at_work)
    })
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
    let global = listing.entries().filter(|(_, entry)| {
        matches!(
            entry.family,
            Family::Atomic(Space::Global | Space::Generic) | Family::Reduction(_)
        )
    });
    let floats = |index: usize| listing.row(index).text.contains(".ADD.F");
    let on_one_address = if global.map(|(index, _)| index).any(floats) {
        Quantity::AtomicFloatShare
    } else {
        Quantity::AtomicIntegerShare
    };
    facts.get(on_one_address).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
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
