//! A program's device code: whether this machine's GPU takes it, and whether it can be profiled by line.

mod device_code;
mod fatbin;
mod linked;
#[cfg(test)]
mod sample;

use std::path::{Path, PathBuf};

use super::{CheckResult, Status};
use crate::text::count_of;
use device_code::{DeviceCode, Fits};

/// The check's name for the program itself, and for a library that it is linked with.
const PROGRAM: &str = "program";
const LIBRARY: &str = "library";

/// Looks at the device code of a program and of the libraries that it is linked with. `device` is the GPU's compute
/// capability, where there is one.
#[must_use]
pub(crate) fn checks(program: &Path, device: Option<(u32, u32)>) -> Vec<CheckResult> {
    let Some(path) = found(program) else {
        let found = format!("{} was not found", program.display());
        let remedy = "name a program as a shell would find it";
        return vec![CheckResult::not_ok(PROGRAM, Status::Missing, found, remedy)];
    };
    let mut checks = Vec::new();
    if let Some(code) = DeviceCode::read(&path, device) {
        checks.push(judge(PROGRAM, &path, &code, device, true));
    }
    for library in linked::libraries(&path) {
        if let Some(code) = DeviceCode::read(&library, device) {
            checks.push(judge(LIBRARY, &library, &code, device, is_own(&library)));
        }
    }
    if checks.is_empty() {
        checks.push(CheckResult::ok(
            PROGRAM,
            format!(
                "{} and the libraries that it is linked with hold no device code; what it loads or compiles while \
                 it runs (Python, plugins, NVRTC) shows in `adoprof profile --survey -- PROGRAM`",
                path.display()
            ),
        ));
    }
    checks
}

/// The program as a shell finds it.
fn found(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.is_file().then(|| program.to_owned());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// True where the user is likely to have built the library: it lies in no folder of the system or of a package.
fn is_own(library: &Path) -> bool {
    let packaged = ["site-packages", "dist-packages", "conda", "envs"];
    !["/usr", "/lib", "/lib64", "/opt"].iter().any(|folder| library.starts_with(folder))
        && !library.iter().any(|part| packaged.iter().any(|name| part == *name))
}

/// What there is to say of one file; of what the user did not build, only that it does not fit.
fn judge(
    name: &'static str,
    path: &Path,
    code: &DeviceCode,
    device: Option<(u32, u32)>,
    is_own: bool,
) -> CheckResult {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let (mut found, mut remedies) = (vec![architectures(code)], Vec::new());
    let mut status = Status::Ok;
    if let Some((major, minor)) = device {
        let architecture = format!("{major}{minor}");
        let build =
            format!("build with -gencode arch=compute_{architecture},code=sm_{architecture}");
        match code.fits(device.unwrap_or_default()) {
            Fits::Ready => {}
            Fits::Compiled => {
                status = Status::Warn;
                found.push(format!(
                    "no machine code for this GPU (sm_{architecture}): the driver compiles the PTX when the program \
                     starts"
                ));
                remedies.push(build);
            }
            Fits::Not => {
                status = Status::Missing;
                found.push(format!("nothing that this GPU (sm_{architecture}) can run"));
                remedies.push(build);
            }
        }
    }
    let lines = (code.functions > 0).then(|| match code.with_lines {
        0 => format!("{} without line information", count_of(code.functions as f64, "function")),
        all if all == code.functions => "with line information".to_owned(),
        some => format!(
            "{} of {} with line information",
            crate::text::count(some as f64),
            count_of(code.functions as f64, "function")
        ),
    });
    found.extend(lines);
    if code.is_debug {
        found.push("compiled for the debugger (-G), without optimization".to_owned());
    }
    if is_own && code.is_debug {
        status = status.max(Status::Warn);
        remedies.push(
            "compile without -G, and with -lineinfo: what a debug build shows is not what limits a release".to_owned(),
        );
    } else if is_own && code.with_lines < code.functions {
        status = status.max(Status::Warn);
        remedies.push(
            "compile with -lineinfo, which costs no speed (CMake: \
             -DCMAKE_CUDA_FLAGS=-lineinfo), so that findings name source lines"
                .to_owned(),
        );
    }
    let found = format!("{file}: {}", found.join(", "));
    if status == Status::Ok {
        let is_minor = name == LIBRARY;
        return CheckResult { is_minor, ..CheckResult::ok(name, found) };
    }
    let remedy = if remedies.is_empty() {
        "take a build of it that fits".to_owned()
    } else {
        remedies.join("; ")
    };
    CheckResult::not_ok(name, status, found, remedy)
}

/// `sm_80, sm_90a and PTX for compute_80`.
fn architectures(code: &DeviceCode) -> String {
    let machine: Vec<String> = code
        .machine
        .iter()
        .map(|(of, is_specific)| format!("sm_{of}{}", if *is_specific { "a" } else { "" }))
        .collect();
    let ptx: Vec<String> = code.ptx.iter().map(|of| format!("compute_{of}")).collect();
    match (machine.is_empty(), ptx.is_empty()) {
        (false, false) => format!("{} and PTX for {}", machine.join(", "), ptx.join(", ")),
        (true, _) => format!("PTX for {}", ptx.join(", ")),
        (false, true) => machine.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sample::{Stored, elf, fatbin, image};

    fn check(flags: u64, sections: &[(&str, &[u8])], device: Option<(u32, u32)>) -> CheckResult {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("solver");
        let images = [
            image(2, 80, flags, &elf(sections), Stored::Zstd),
            image(1, 80, flags, b"", Stored::Plain),
        ];
        std::fs::write(&path, elf(&[(".nv_fatbin", &fatbin(&images))])).unwrap();
        let [check] = <[CheckResult; 1]>::try_from(checks(&path, device)).unwrap();
        check
    }

    const CODE: (&str, &[u8]) = (".text._Z1kv", b"code");
    const LINES: (&str, &[u8]) = (".debug_line", b"lines");

    #[test]
    fn each_flaw_has_the_flag_that_mends_it() {
        let remedy = |check: &CheckResult| check.remedy.clone().unwrap_or_default();
        let well = check(0, &[CODE, LINES], Some((8, 6)));
        assert_eq!((well.status, remedy(&well)), (Status::Ok, String::new()));
        assert_eq!(well.found, "solver: sm_80 and PTX for compute_80, with line information");
        let lineless = check(0, &[CODE], None);
        assert_eq!(lineless.status, Status::Warn);
        assert!(
            remedy(&lineless).contains("-lineinfo")
                && lineless.found.contains("1 function without")
        );
        let debug = check(2, &[CODE, LINES], Some((8, 0)));
        assert!(debug.status == Status::Warn && remedy(&debug).contains("without -G"));
        let compiled = check(0, &[CODE, LINES], Some((9, 0)));
        assert_eq!(compiled.status, Status::Warn);
        assert!(
            remedy(&compiled).contains("code=sm_90") && compiled.found.contains("compiles the PTX")
        );
        let unfit = check(0, &[CODE, LINES], Some((7, 5)));
        assert_eq!(unfit.status, Status::Missing);
        assert!(unfit.found.contains("nothing that this GPU (sm_75) can run"));
    }

    #[test]
    fn what_has_no_device_code_is_said_to_have_none() {
        let [shell] = <[CheckResult; 1]>::try_from(checks(Path::new("sh"), None)).unwrap();
        assert!(shell.status == Status::Ok && shell.found.contains("no device code"), "{shell:?}");
        let missing = checks(Path::new("/no/such/program"), None);
        assert_eq!(missing[0].status, Status::Missing);
    }

    #[test]
    fn libraries_of_packages_are_not_the_users() {
        for path in
            ["/usr/lib/libx.so", "/opt/cuda/lib64/libx.so", "/home/a/v/lib/site-packages/x/libx.so"]
        {
            assert!(!is_own(Path::new(path)), "{path}");
        }
        assert!(is_own(Path::new("/home/a/build/libx.so")));
    }
}
