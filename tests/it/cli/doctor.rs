//! `doctor` on machines that stand-ins make.

use std::os::unix::fs::PermissionsExt;

use self::sample::{Stored, elf, fatbin, image};
use crate::cli::bench::{Bench, Ran, ran, stand_in};

#[path = "../../../src/doctor/program/sample.rs"]
mod sample;

/// What `nvidia-smi -q` says of a device, in a few lines.
fn answer(mig: &str, slowed: &str) -> String {
    format!(
        "#!/bin/sh\n[ \"$1\" = -q ] || exit 9\ncat <<'END'\nGPU 00000000:18:00.0\n    MIG Mode\n        \
         Current : {mig}\n    Clocks Event Reasons\n        Idle : Active\n        SW Power Cap : {slowed}\nEND\n"
    )
}

/// `doctor` where `nvidia-smi` answers so, and temporary files go to `tmp`.
fn doctor(bench: &Bench, smi: &str, args: &[&str]) -> Ran {
    bench.write("bin/nvidia-smi", smi);
    let program = bench.path("bin/nvidia-smi");
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir_all(bench.path("tmp")).unwrap();
    let path = std::env::join_paths([bench.path("bin"), "/usr/bin".into(), "/bin".into()]).unwrap();
    let mut words = vec!["doctor", "--ncu"];
    let ncu = stand_in();
    words.push(&ncu);
    words.extend(args);
    ran(bench.command(&words).env("PATH", path).env("TMPDIR", bench.path("tmp")))
}

#[test]
fn what_the_devices_are_held_down_by_is_told_with_its_remedy() {
    let bench = Bench::new();
    let mut ran = doctor(&bench, &answer("Enabled", "Active"), &[]);
    // Commands may be wrapped.
    ran.out = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["mig", "nvidia-smi -i N -mig 0", "clocks", "device 0: SW Power Cap", "-pl WATTS"] {
        assert!(ran.out.contains(part), "no `{part}`: {}", ran.out);
    }
    assert!(!ran.out.contains("too hot"), "{}", ran.out);
}

#[test]
fn what_is_well_takes_no_lines_unless_asked_for() {
    let bench = Bench::new();
    let well = answer("Disabled", "Not Active");
    let short = doctor(&bench, &well, &[]);
    let all = doctor(&bench, &well, &["-v"]);
    let is_listed = |ran: &Ran, name: &str| {
        ran.out
            .lines()
            .any(|line| line.strip_prefix("ok ").is_some_and(|rest| rest.trim().starts_with(name)))
    };
    for name in ["mig", "vgpu", "clocks", "ncu's lock", "temporary files"] {
        assert!(!is_listed(&short, name) && is_listed(&all, name), "{name}: {short:?} {all:?}");
    }
    assert!(short.out.contains("2025.3.1") && all.out.contains("2025.3.1"), "{short:?}");
}

#[test]
fn who_holds_the_lock_of_ncu_is_named() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("tmp")).unwrap();
    let file = std::fs::File::create(bench.path("tmp/nsight-compute-lock")).unwrap();
    file.lock().unwrap();
    // Some sandboxes have no list of locks.
    if std::fs::read_to_string("/proc/locks").is_ok_and(|locks| !locks.is_empty()) {
        let ran = doctor(&bench, &answer("Disabled", "Not Active"), &[]);
        let process = std::process::id().to_string();
        assert!(ran.out.contains("ncu's lock") && ran.out.contains(&process), "{ran:?}");
    }
}

#[test]
fn a_folder_for_temporary_files_that_is_not_there_is_named() {
    let bench = Bench::new();
    let ran = ran(bench.command(&["doctor"]).env("TMPDIR", "/proc/none"));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.out.contains("temporary files") && ran.out.contains("TMPDIR=DIR"), "{ran:?}");
}

/// The output with single blanks: what is long is wrapped.
fn words(ran: &Ran) -> String {
    ran.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_programs_device_code_is_looked_into() {
    let bench = Bench::new();
    let well = answer("Disabled", "Not Active");
    let lines = elf(&[(".text._Z1kv", b"code"), (".debug_line", b"lines")]);
    let none = elf(&[(".text._Z1av", b"code"), (".text._Z1bv", b"code")]);
    let ptx = image(1, 90, 0, b"text", Stored::Plain);
    let debug = 2;
    let of = |name: &str, images: &[Vec<u8>]| {
        bench.write(name, "");
        std::fs::write(bench.path(name), elf(&[(".nv_fatbin", &fatbin(images))])).unwrap();
        let program = format!("./{name}");
        words(&doctor(&bench, &well, &["--", &program]))
    };
    let with_lines = of("lines", &[image(2, 90, 0, &lines, Stored::Zstd), ptx]);
    let says = "lines: sm_90 and PTX for compute_90, with line information";
    assert!(with_lines.contains(says), "{with_lines}");
    assert!(!with_lines.contains("-lineinfo"), "{with_lines}");
    let without = of("none", &[image(2, 90, 0, &none, Stored::Lz4)]);
    let says = "none: sm_90, 2 functions without line information";
    assert!(without.contains(says) && without.contains("compile with -lineinfo"), "{without}");
    let of_debugger = of("debug", &[image(2, 86, debug, &lines, Stored::Plain)]);
    assert!(of_debugger.contains("compiled for the debugger (-G)"), "{of_debugger}");
    assert!(of_debugger.contains("compile without -G"), "{of_debugger}");
    bench.write("script", "#!/bin/sh\n");
    let script = words(&doctor(&bench, &well, &["--", "./script"]));
    assert!(script.contains("hold no device code"), "{script}");
    let missing = words(&doctor(&bench, &well, &["--", "./missing"]));
    assert!(missing.contains("./missing was not found"), "{missing}");
}
