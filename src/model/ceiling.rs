//! What a device's memory can really achieve, as opposed to its data sheet.

use crate::device::{DeviceFacts, Quantity};
use crate::frame::Launch;

/// The share of the DRAM peak that a kernel with this mix can reach, 0 to 1; `None` where nothing is
/// known of the device. Turning the bus around between reads and writes costs time, so a copy, half of
/// whose bytes are written, reaches less than a kernel that only reads; in between the share is taken as
/// linear in the written part.
///
/// `peak_bytes_per_s` is the device's; `written` the written part of all bytes, 0 to 1. Where the device's
/// rates or its peak are not known, the shares of measured devices serve.
#[must_use]
pub fn dram_share(facts: &DeviceFacts, peak_bytes_per_s: Option<f64>, written: f64) -> Option<f64> {
    let peak = peak_bytes_per_s.filter(|&peak| peak > 0.0);
    let share = |rate, share| {
        let measured = peak.and_then(|peak| Some(facts.get(rate)? / peak));
        measured.or_else(|| facts.get(share))
    };
    let read = share(Quantity::DramReadRate, Quantity::DramReadShare)?;
    let copy = share(Quantity::DramCopyRate, Quantity::DramCopyShare)?;
    let reachable = read - (read - copy) * 2.0 * written.clamp(0.0, 1.0);
    // A device's file may say anything.
    (reachable > 0.0).then(|| reachable.min(1.0))
}

/// Bytes per second of a kernel that only reads device memory: as measured for the device, else the
/// measured devices' share of the launch's DRAM peak. `None` where neither is known.
#[must_use]
pub fn read_bytes_per_s(launch: &Launch) -> Option<f64> {
    let facts = launch.device_facts();
    facts
        .get(Quantity::DramReadRate)
        .or_else(|| Some(dram_peak_bytes_per_s(launch)? * facts.get(Quantity::DramReadShare)?))
}

/// The DRAM peak of the profiled device, bytes per second: the counter's bytes per cycle times the memory
/// clock.
#[must_use]
pub fn dram_peak_bytes_per_s(launch: &Launch) -> Option<f64> {
    let bytes_per_cycle = launch.get("dram__bytes.sum.peak_sustained")?;
    let peak = bytes_per_cycle * launch.get("dram__cycles_elapsed.avg.per_second")?;
    (peak > 0.0).then_some(peak)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-12)
    }

    #[test]
    fn a_copy_reaches_the_copy_rate_and_a_sum_the_read_rate() {
        let h200 = DeviceFacts::of(Some("NVIDIA H200"), None);
        let share = |written| dram_share(&h200, Some(5.0e12), written);
        assert!(near(share(0.0), 0.91));
        assert!(near(share(0.5), 0.858));
        assert!(near(share(0.25), 0.884));
        // A peak below what was measured is taken to be reached.
        assert!(near(dram_share(&h200, Some(4.0e12), 0.0), 1.0));
    }

    #[test]
    fn an_unmeasured_device_gets_the_measured_ones_shares() {
        let unknown = DeviceFacts::of(Some("another"), None);
        for peak in [None, Some(1e12)] {
            assert!(near(dram_share(&unknown, peak, 0.0), 0.9457));
            assert!(near(dram_share(&unknown, peak, 0.5), 0.8917));
        }
        let mut launch = Launch::default();
        assert_eq!(read_bytes_per_s(&launch), None);
        launch.set("dram__bytes.sum.peak_sustained", Some(1000.0));
        launch.set("dram__cycles_elapsed.avg.per_second", Some(1e9));
        assert!(near(read_bytes_per_s(&launch).map(|rate| rate / 1e12), 0.9457));
        launch.row.device = Some("NVIDIA H200".to_owned());
        assert_eq!(read_bytes_per_s(&launch), Some(4.55e12));
    }

    #[test]
    fn without_any_share_nothing_is_said() {
        assert_eq!(dram_share(&DeviceFacts::default(), Some(1e12), 0.0), None);
    }
}
