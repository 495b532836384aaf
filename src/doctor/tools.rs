//! What is read besides CUDA: ncu, CUPTI, and the user's files of devices' rates.

use std::path::Path;

use super::{CheckResult, Status};
use crate::ncu::{self, Ncu};

pub(super) fn profiler(found: &crate::error::Result<Ncu>) -> CheckResult {
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

/// Whether there is a CUPTI, without which ncu gives a program's durations.
pub(super) fn cupti(found: Option<&Path>) -> CheckResult {
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

/// What the user's files of devices' rates are like.
pub(super) fn device_files(read: crate::error::Result<()>) -> CheckResult {
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
