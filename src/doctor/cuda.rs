//! Driver, devices, and NVRTC.

use super::{CheckResult, Status, machine};

/// A CUDA device as the driver describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Device {
    /// Its name.
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
}

/// What the CUDA libraries say; the launcher implements it.
pub(crate) trait DeviceProbe {
    /// The CUDA version that the driver supports, major and minor.
    ///
    /// # Errors
    /// Why the driver library can't be used, in a few words.
    fn driver(&self) -> Result<(u32, u32), String>;

    /// The devices.
    ///
    /// # Errors
    /// Why they can't be listed, in a few words.
    fn devices(&self) -> Result<Vec<Device>, String>;

    /// NVRTC's version, major and minor.
    ///
    /// # Errors
    /// Why it can't be used, in a few words.
    fn nvrtc(&self) -> Result<(u32, u32), String>;
}

/// The oldest device generation that ncu's present releases and these rules know: Volta.
const OLDEST_DEVICE: (u32, u32) = (7, 0);

pub(super) fn driver(probe: &dyn DeviceProbe) -> CheckResult {
    match probe.driver() {
        Ok((major, minor)) => {
            let module = machine::driver_version().map_or(String::new(), |v| format!("{v}, "));
            CheckResult::ok("driver", format!("{module}CUDA {major}.{minor}"))
        }
        Err(problem) => CheckResult::not_ok(
            "driver",
            Status::Missing,
            problem,
            if machine::in_container() {
                "start the container with --gpus all (NVIDIA Container Toolkit), and with `compute,utility` in \
                 NVIDIA_DRIVER_CAPABILITIES if that is set; `analyze`, `diff` and recorded steps work \
                 without a driver"
            } else {
                "install NVIDIA's driver; `analyze`, `diff` and recorded steps work without a driver"
            },
        ),
    }
}

pub(super) fn devices(probe: &dyn DeviceProbe) -> CheckResult {
    let devices = match probe.devices() {
        Ok(devices) if devices.is_empty() => Err("no CUDA device".to_owned()),
        other => other,
    };
    let devices = match devices {
        Ok(devices) => devices,
        Err(problem) => {
            return CheckResult::not_ok(
                "device",
                Status::Missing,
                problem,
                "run on a machine with a GPU, and check whether CUDA_VISIBLE_DEVICES hides it",
            );
        }
    };
    let found = devices
        .iter()
        .enumerate()
        .map(|(ordinal, device)| {
            let (major, minor) = device.compute_capability;
            format!("{ordinal}: {} ({major}.{minor})", device.name)
        })
        .collect::<Vec<_>>()
        .join("; ");
    if devices.iter().all(|device| device.compute_capability < OLDEST_DEVICE) {
        return CheckResult::not_ok(
            "device",
            Status::Missing,
            found,
            "ncu profiles devices of compute capability 7.0 (Volta) and newer",
        );
    }
    CheckResult::ok("device", found)
}

pub(super) fn nvrtc(probe: &dyn DeviceProbe) -> CheckResult {
    match probe.nvrtc() {
        Ok((major, minor)) => CheckResult::ok("nvrtc", format!("{major}.{minor}")),
        Err(problem) => CheckResult::not_ok(
            "nvrtc",
            Status::Missing,
            problem,
            "steps are compiled with NVRTC: install the CUDA toolkit, or `pip install \
             nvidia-cuda-nvrtc`, and put libnvrtc.so's folder into LD_LIBRARY_PATH; `profile` \
             works without it",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine as it is told.
    struct Probe {
        driver: Result<(u32, u32), String>,
        devices: Result<Vec<Device>, String>,
    }

    impl DeviceProbe for Probe {
        fn driver(&self) -> Result<(u32, u32), String> {
            self.driver.clone()
        }
        fn devices(&self) -> Result<Vec<Device>, String> {
            self.devices.clone()
        }
        fn nvrtc(&self) -> Result<(u32, u32), String> {
            Ok((13, 0))
        }
    }

    fn device(name: &str, compute_capability: (u32, u32)) -> Device {
        Device { name: name.to_owned(), compute_capability }
    }

    #[test]
    fn a_missing_driver_is_missing_and_has_a_remedy() {
        let probe = Probe { driver: Err("no libcuda.so.1".to_owned()), devices: Ok(vec![]) };
        let check = driver(&probe);
        assert_eq!((check.status, check.found.as_str()), (Status::Missing, "no libcuda.so.1"));
        assert!(check.remedy.is_some());
        assert_eq!(devices(&probe).status, Status::Missing);
    }

    #[test]
    fn devices_are_listed_and_old_ones_refused() {
        let mut probe = Probe {
            driver: Ok((13, 0)),
            devices: Ok(vec![device("NVIDIA H200", (9, 0)), device("Tesla P100", (6, 0))]),
        };
        let check = devices(&probe);
        assert_eq!(check.status, Status::Ok);
        assert_eq!(check.found, "0: NVIDIA H200 (9.0); 1: Tesla P100 (6.0)");
        probe.devices = Ok(vec![device("Tesla P100", (6, 0))]);
        assert_eq!(devices(&probe).status, Status::Missing);
    }
}
