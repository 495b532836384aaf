//! What is missing on this machine and how to get it.
//!
//! [`examine`] looks, [`render`] prints, [`exit_code`] tells scripts. What only the CUDA driver
//! knows comes in through [`DeviceProbe`], so that this module needs no device.

mod lock;
mod machine;
mod program;
mod smi;
mod space;
mod versions;

pub(crate) use machine::driver_version as driver_release;
pub(crate) use program::checks as program_checks;

use std::path::{Path, PathBuf};

use crate::error::ExitCode;
use crate::ncu::{self, Ncu, Version};
use crate::survey::cupti;
use crate::text::layout::wrap;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// All is well.
    Ok,
    /// Something works less well than it could.
    Warn,
    /// Something that live runs need is not there.
    Missing,
}

impl Status {
    /// The word in the table.
    #[must_use]
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warning",
            Self::Missing => "missing",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckResult {
    /// What was looked at.
    pub name: &'static str,
    /// How it is.
    pub status: Status,
    /// What was found, in a few words.
    pub found: String,
    /// What to do; `None` where nothing needs doing.
    pub remedy: Option<String>,
    /// True where nobody asks for it while all is well.
    pub is_minor: bool,
}

impl CheckResult {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, found: found.into(), remedy: None, is_minor: false }
    }

    /// What is well and shown only to who asks for more.
    fn minor(name: &'static str, found: impl Into<String>) -> Self {
        Self { is_minor: true, ..Self::ok(name, found) }
    }

    fn not_ok(
        name: &'static str,
        status: Status,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let remedy = Some(remedy.into());
        Self { name, status, found: found.into(), remedy, is_minor: false }
    }
}

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
    let mut checks = vec![driver(probe), devices(probe), nvrtc(probe), profiler(&ncu)];
    checks.extend(fits(probe, ncu.ok().map(|ncu| ncu.version)));
    checks.push(machine::counters(machine::Facts::read()));
    checks.push(machine::dcgm(&machine::process_names()));
    checks.extend(smi::checks(smi::devices().as_deref()));
    checks.push(cupti(cupti::anywhere().as_deref()));
    checks.push(device_files(crate::device::check()));
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

/// Whether there is a CUPTI, without which ncu gives a program's durations.
fn cupti(found: Option<&Path>) -> CheckResult {
    match found {
        Some(path) => CheckResult::minor("cupti", path.display().to_string()),
        None => CheckResult::not_ok(
            "cupti",
            Status::Warn,
            "not found in a toolkit, among Python's packages, or on the library path",
            "without it, `profile` surveys a program by the CUPTI of the program's own Python, or with ncu, \
             which is slower: install the CUDA toolkit, or `pip install nvidia-cuda-cupti`, or name \
             libcupti.so with ADOPROF_CUPTI",
        ),
    }
}

fn driver(probe: &dyn DeviceProbe) -> CheckResult {
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

fn devices(probe: &dyn DeviceProbe) -> CheckResult {
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

fn nvrtc(probe: &dyn DeviceProbe) -> CheckResult {
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

fn profiler(found: &crate::error::Result<Ncu>) -> CheckResult {
    match found {
        Ok(ncu) => {
            let found = format!("{} ({})", ncu.version, ncu.program.display());
            if ncu.stock_sections.is_some() {
                CheckResult::ok("ncu", found)
            } else {
                CheckResult::not_ok(
                    "ncu",
                    Status::Warn,
                    format!("{found}, but its section files were not found"),
                    "reports lack adoprof's own page in Nsight Compute's window; install the whole \
                     package to have it",
                )
            }
        }
        Err(error) => {
            let text = error.to_string();
            let found = text.strip_suffix(ncu::locate::REMEDY).unwrap_or(&text);
            let found = found.trim_end_matches([';', ' ']);
            CheckResult::not_ok("ncu", Status::Missing, found, ncu::locate::REMEDY)
        }
    }
}

/// What the user's files of devices' rates are like.
fn device_files(read: crate::error::Result<()>) -> CheckResult {
    let Some(folder) = crate::device::user_folder().filter(|folder| folder.exists()) else {
        return CheckResult::minor("devices", "the files that ship with adoprof");
    };
    match read {
        Ok(()) => CheckResult::ok(
            "devices",
            format!("your files in {}, then the shipped ones", folder.display()),
        ),
        Err(error) => CheckResult::not_ok(
            "devices",
            Status::Missing,
            error.to_string(),
            "correct that line, or delete the file: `adoprof doctor --measure` writes a new one",
        ),
    }
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

/// The checks as aligned lines within the width, each remedy below its check; those that are minor only
/// where `all` are asked for.
#[must_use]
pub(crate) fn render(checks: &[CheckResult], width: usize, all: bool) -> String {
    let checks: Vec<&CheckResult> = checks.iter().filter(|check| all || !check.is_minor).collect();
    let names = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    let indent = 9 + names + 2;
    let mut text = String::new();
    let mut write = |lead: String, words: &str| {
        let columns = lead.chars().count();
        let mut lead = lead;
        for line in wrap(words, width.saturating_sub(columns)) {
            text.push_str(format!("{lead}{line}").trim_end());
            text.push('\n');
            lead = " ".repeat(columns);
        }
    };
    for check in checks {
        write(format!("{:<8} {:<names$}  ", check.status.word(), check.name), &check.found);
        if let Some(remedy) = &check.remedy {
            write(format!("{:indent$}-> ", ""), remedy);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn only_what_is_missing_fails() {
        let ok = CheckResult::ok("a", "x");
        let warn = CheckResult::not_ok("b", Status::Warn, "y", "z");
        let missing = CheckResult::not_ok("c", Status::Missing, "y", "z");
        assert_eq!(exit_code(&[ok.clone(), warn.clone()]), ExitCode::Success);
        assert_eq!(exit_code(&[ok, missing, warn]), ExitCode::Environment);
    }

    #[test]
    fn the_table_lines_up() {
        let checks = [
            CheckResult::ok("driver", "580.159, CUDA 13.0"),
            CheckResult::minor("the lock of ncu", "free"),
            CheckResult::not_ok("ncu", Status::Missing, "none\u{1b}[31m", "install it"),
        ];
        assert_eq!(
            render(&checks, 80, false),
            "ok       driver  580.159, CUDA 13.0\n\
             missing  ncu     none\u{fffd}[31m\n                 -> install it\n"
        );
    }

    #[test]
    fn what_is_well_and_minor_is_shown_to_who_asks() {
        let checks = [CheckResult::ok("ncu", "2025.3.1"), CheckResult::minor("mig", "off")];
        assert_eq!(render(&checks, 80, false), "ok       ncu  2025.3.1\n");
        assert_eq!(render(&checks, 80, true), "ok       ncu  2025.3.1\nok       mig  off\n");
    }

    #[test]
    fn long_remedies_go_on_below_their_beginning() {
        let checks = [CheckResult::not_ok("ncu", Status::Missing, "none", "install it or name it")];
        assert_eq!(
            render(&checks, 30, false),
            "missing  ncu  none\n              -> install it or\n                 name it\n"
        );
    }
}
