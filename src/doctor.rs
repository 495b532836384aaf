//! What is missing on this machine and how to get it.
//!
//! [`examine`] looks, [`render`] prints, [`exit_code`] tells scripts. What only the CUDA driver
//! knows comes in through [`DeviceProbe`], so that this module needs no device.

mod check;
mod cuda;
mod lock;
mod machine;
mod program;
mod smi;
mod space;
mod table;
mod tools;
mod versions;

pub(crate) use check::{CheckResult, Status};
pub(crate) use cuda::{Device, DeviceProbe};
pub(crate) use machine::driver_version as driver_release;
pub(crate) use program::checks as program_checks;
pub(crate) use table::render;

use std::path::{Path, PathBuf};

use crate::document::{self, DoctorDocument, MachineCheck, SCHEMA};
use crate::error::ExitCode;
use crate::ncu::{self, Version};
use crate::survey::cupti;

/// What the folder for temporary files is called.
const TEMPORARY: &str = "temporary files";

/// Looks at everything that live runs need. `ncu` is what `--ncu` names; `folders` are written to
/// by adoprof (where runs are saved, the cache) and need not exist yet.
#[must_use]
pub(crate) fn examine(
    probe: &dyn DeviceProbe,
    ncu: Option<&Path>,
    folders: &[(&'static str, PathBuf)],
) -> Vec<CheckResult> {
    let ncu = ncu::locate(ncu, None);
    let mut checks =
        vec![cuda::driver(probe), cuda::devices(probe), cuda::nvrtc(probe), tools::profiler(&ncu)];
    checks.extend(fits(probe, ncu.ok().map(|ncu| ncu.version)));
    checks.push(machine::counters(machine::Facts::read()));
    checks.push(machine::dcgm(&machine::process_names()));
    checks.extend(smi::checks(smi::devices().as_deref()));
    checks.push(tools::cupti(cupti::anywhere().as_deref()));
    checks.push(tools::device_files(crate::device::check()));
    let temporary = std::env::temp_dir();
    let mut folders: Vec<(&'static str, &Path)> =
        folders.iter().map(|(name, folder)| (*name, folder.as_path())).collect();
    folders.push((TEMPORARY, &temporary));
    checks.extend(folders.iter().map(|(name, folder)| machine::writable(name, folder)));
    checks.push(space::free(&folders));
    checks.push(space::executable(&temporary));
    checks.push(lock::check(&temporary));
    checks
}

/// What does not fit together: driver, ncu, NVRTC, devices.
fn fits(probe: &dyn DeviceProbe, ncu: Option<Version>) -> Vec<CheckResult> {
    let driver = probe.driver().ok();
    let release = machine::driver_version();
    let nvrtc = probe.nvrtc().ok().zip(driver);
    let devices = probe.devices().unwrap_or_default();
    let of_driver = ncu.zip(release.as_deref());
    [
        nvrtc.and_then(|(nvrtc, driver)| versions::nvrtc_and_driver(nvrtc, driver)),
        of_driver.and_then(|(ncu, driver)| versions::ncu_and_driver(ncu, driver)),
        ncu.and_then(|ncu| versions::ncu_and_devices(ncu, &devices)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The process's exit code: [`ExitCode::Environment`] if something that live runs need is missing.
#[must_use]
pub(crate) fn exit_code(checks: &[CheckResult]) -> ExitCode {
    if checks.iter().any(|check| check.status == Status::Missing) {
        ExitCode::Environment
    } else {
        ExitCode::Success
    }
}

/// All checks as a document, those that are minor too.
#[must_use]
pub(crate) fn document(checks: &[CheckResult]) -> DoctorDocument {
    let check = |check: &CheckResult| MachineCheck {
        name: check.name,
        status: check.status.word(),
        found: check.found.clone(),
        remedy: check.remedy.clone(),
    };
    DoctorDocument {
        schema: SCHEMA,
        adoprof: document::Version::default(),
        checks: checks.iter().map(check).collect(),
        measured: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_fails() {
        let ok = CheckResult::ok("a", "x");
        let warn = CheckResult::not_ok("b", Status::Warn, "y", "z");
        let missing = CheckResult::not_ok("c", Status::Missing, "y", "z");
        assert_eq!(exit_code(&[ok.clone(), warn.clone()]), ExitCode::Success);
        assert_eq!(exit_code(&[ok, missing, warn]), ExitCode::Environment);
    }
}
