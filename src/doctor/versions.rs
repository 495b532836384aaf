//! What must be new enough for what: driver, ncu, NVRTC, device.

use super::{CheckResult, Device, Status};
use crate::ncu::Version;

/// Releases of ncu that want a driver, the newest first: the release from which on, and the driver's branch.
const DRIVERS: [(Version, u32); 1] = [(Version::new(2026, 1, 0), 595)];

/// Releases of ncu that know a device, the newest first: compute capability from which on, and the release.
const DEVICES: [((u32, u32), Version); 1] = [((10, 0), Version::new(2025, 1, 0))];

/// Whether ncu fits the driver's release, such as `580.159`.
pub(super) fn ncu_and_driver(ncu: Version, driver: &str) -> Option<CheckResult> {
    let branch: u32 = driver.split('.').next()?.parse().ok()?;
    let (from, wanted) = DRIVERS.iter().find(|(from, _)| ncu >= *from)?;
    (branch < *wanted).then(|| {
        CheckResult::not_ok(
            "ncu and driver",
            Status::Warn,
            format!("ncu {ncu} needs driver {wanted} or newer, and this one is {driver}"),
            format!("install driver {wanted}, or name an ncu older than {from} with --ncu PATH"),
        )
    })
}

/// Whether ncu knows the devices.
pub(super) fn ncu_and_devices(ncu: Version, devices: &[Device]) -> Option<CheckResult> {
    devices.iter().find_map(|device| {
        let (_, wanted) = DEVICES.iter().find(|(from, _)| device.compute_capability >= *from)?;
        (ncu < *wanted).then(|| {
            CheckResult::not_ok(
                "ncu and device",
                Status::Missing,
                format!("ncu {ncu} is older than the {}", device.name),
                format!("install ncu {wanted} or newer"),
            )
        })
    })
}

/// Whether what NVRTC compiles loads on the driver: within a major release of CUDA it does.
pub(super) fn nvrtc_and_driver(nvrtc: (u32, u32), driver: (u32, u32)) -> Option<CheckResult> {
    (nvrtc.0 > driver.0).then(|| {
        CheckResult::not_ok(
            "nvrtc and driver",
            Status::Missing,
            format!(
                "NVRTC {}.{} makes code that a driver for CUDA {}.{} does not load",
                nvrtc.0, nvrtc.1, driver.0, driver.1
            ),
            format!(
                "install a newer driver, or `pip install nvidia-cuda-nvrtc-cu{}` and put its folder first in \
                 LD_LIBRARY_PATH",
                driver.0
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ncu_of_2026_wants_a_newer_driver() {
        let new = Version::new(2026, 1, 1);
        let check = ncu_and_driver(new, "580.159").unwrap();
        assert!(check.found.contains("595") && check.found.contains("580.159"), "{check:?}");
        assert_eq!(ncu_and_driver(new, "595.10"), None);
        assert_eq!(ncu_and_driver(Version::new(2025, 4, 0), "580.159"), None);
        assert_eq!(ncu_and_driver(new, "unknown"), None);
    }

    #[test]
    fn an_ncu_that_is_older_than_the_device_is_told() {
        let device = |compute_capability| Device { name: "X".to_owned(), compute_capability };
        let old = Version::new(2024, 3, 2);
        assert!(ncu_and_devices(old, &[device((9, 0)), device((12, 0))]).is_some());
        assert_eq!(ncu_and_devices(old, &[device((9, 0))]), None);
        assert_eq!(ncu_and_devices(Version::new(2025, 1, 0), &[device((12, 0))]), None);
    }

    #[test]
    fn code_of_a_newer_major_release_does_not_load() {
        assert!(nvrtc_and_driver((13, 0), (12, 8)).unwrap().remedy.unwrap().contains("cu12"));
        assert_eq!(nvrtc_and_driver((12, 9), (12, 4)), None);
        assert_eq!(nvrtc_and_driver((12, 4), (13, 0)), None);
    }
}
