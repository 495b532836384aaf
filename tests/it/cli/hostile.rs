//! Input made to cost more than it is worth: it is refused or read in part, aloud, within bounds.

use std::time::{Duration, Instant};

use crate::cli::bench::{Bench, Ran, file, ran, stand_in};

/// What any of these may take, with room for a debug build.
const MOST_MEMORY_KB: u64 = 2_000_000;
const MOST_TIME: Duration = Duration::from_secs(100);

/// Runs adoprof with an address space of so much and no more.
fn bounded(bench: &Bench, args: &[&str]) -> Ran {
    let mut command = bench.command(&[]);
    let mut shell = std::process::Command::new("sh");
    let limit = format!("ulimit -v {MOST_MEMORY_KB}; exec \"$@\"");
    shell.args(["-c", &limit, "sh"]).arg(command.get_program()).args(args);
    shell.current_dir(bench.path("")).env("MALLOC_ARENA_MAX", "1").env("RAYON_NUM_THREADS", "2");
    shell.env("POLARS_MAX_THREADS", "2");
    for (name, value) in command.env("CUDA_VISIBLE_DEVICES", "").get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let start = Instant::now();
    let ran = ran(&mut shell);
    assert!(start.elapsed() < MOST_TIME, "{args:?} took {:?}", start.elapsed());
    assert!(!ran.err.contains("panicked") && !ran.err.contains("allocation"), "{ran:?}");
    ran
}

fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 127 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A field with a length, in protobuf's encoding.
fn field(number: usize, body: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(body.len()), body.to_vec()].concat()
}

/// A report of one block with these results.
fn report(results: &[Vec<u8>]) -> Vec<u8> {
    let sized = |bytes: &[u8]| [&(bytes.len() as u32).to_le_bytes(), bytes].concat();
    let payload: Vec<u8> = results.iter().flat_map(|result| sized(result)).collect();
    let strings = field(4, &field(1, b"gpu__time_duration.sum"));
    let count = [vec![2 << 3], varint(results.len())].concat();
    let size = [vec![5 << 3], varint(payload.len())].concat();
    let header = [count, strings, size].concat();
    [b"NVR\0".to_vec(), sized(&[8, 7]), sized(&header), payload].concat()
}

/// A launch of a kernel with these fields behind its name.
fn launch(rest: &[u8]) -> Vec<u8> {
    [field(7, b"k(float *, int)"), rest.to_vec()].concat()
}

#[test]
fn compressed_reports_that_grow_a_thousandfold_stay_small_in_memory() {
    let bench = Bench::new();
    // Values without anything in them, by the million, and instances of one value, which are stepped over.
    let values = launch(&field(13, &[]).repeat(3_000_000));
    let instances = launch(&field(13, &field(3, &[]).repeat(3_000_000)));
    let rules = launch(&field(19, &field(3, &field(1, &[]).repeat(3_000_000))));
    let launches = vec![launch(&[]); 40_000];
    let zeros = vec![0; 1 << 28];
    let nulls = [b"NVR\0".to_vec(), zeros].concat();
    for (name, bytes, says) in [
        ("values", report(&[values]), "damaged"),
        ("instances", report(&[instances]), ""),
        ("rules", report(&[rules]), ""),
        ("launches", report(&launches), "were left out"),
        ("zeros", nulls, "decompresses to more than"),
    ] {
        let plain = format!("{name}.ncu-rep");
        let packed = format!("{name}.ncu-repz");
        let small = zstd::encode_all(bytes.as_slice(), 3).unwrap();
        assert!(small.len() < bytes.len() / 50, "{name}: a bomb has {} bytes", small.len());
        bench.write(&packed, small);
        if bytes.len() < 32 << 20 {
            bench.write(&plain, bytes);
        }
        for name in [plain, packed] {
            if bench.path(&name).exists() {
                let ran = bounded(&bench, &["analyze", &name, "--format", "json"]);
                let said = format!("{}{}", ran.out, ran.err);
                assert!(matches!(ran.code, Some(0 | 2)), "{name}: {:?} {}", ran.code, ran.err);
                assert!(said.contains(says), "{name}: no `{says}`: {}", ran.err);
            }
        }
    }
}

#[test]
fn pages_of_a_saved_profile_that_grow_a_thousandfold_are_refused() {
    let bench = Bench::new();
    assert_eq!(bench.profile("success", &["-o", "saved"]).code, Some(0));
    let raw = "\"ID\",\"Kernel Name\",\"a.sum\"\n".to_owned() + &"0,k,1\n".repeat(8_000_000);
    bench.write("saved/raw.csv.zst", zstd::encode_all(raw.as_bytes(), 3).unwrap());
    let ran = bounded(&bench, &["analyze", "./saved"]);
    ran.fails(2, &["raw.csv.zst", "grows beyond", "MiB"]);
}

#[test]
fn pages_of_tiny_rows_are_read_up_to_a_limit_that_is_said() {
    let bench = Bench::new();
    let rows = "1,k\n".repeat(500_000);
    bench.write("tiny.raw.csv", format!("ID,Kernel Name\n{rows}"));
    let ran = bounded(&bench, &["analyze", "tiny.raw.csv", "--format", "csv"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("were left out: "), "{}", ran.err);
}

#[test]
fn pipes_and_devices_are_no_input() {
    let bench = Bench::new();
    bench.write("ladder/k.cu", "");
    for place in ["pipe.ncu-rep", "folder/pipe.ncu-rep", "ladder/ladder.toml"] {
        std::fs::create_dir_all(bench.path(place).parent().unwrap()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(bench.path(place)).status();
        assert!(made.unwrap().success());
    }
    for name in ["./pipe.ncu-rep", "/dev/zero"] {
        bench.run(&["analyze", name]).fails(2, &[name, "a pipe or a device"]);
        bench.run(&["diff", name, name]).fails(2, &[name, "a pipe or a device"]);
    }
    bench.run(&["analyze", "./folder"]).fails(2, &["folder"]);
    let ladder = ["step", "--ladder", "./ladder", "--kernel", "k"];
    bench.run(&ladder).fails(2, &["ladder.toml", "a pipe or a device"]);
}

#[test]
fn links_do_not_lead_out_of_a_ladder() {
    let bench = Bench::new();
    let manifest = std::fs::read_to_string(file("fixtures/ladder/scan/ladder.toml")).unwrap();
    bench.write("ladders/scan/ladder.toml", manifest);
    bench.write("secret", "SECRET");
    std::os::unix::fs::symlink(bench.path("secret"), bench.path("ladders/scan/scan.cu")).unwrap();
    let ran = bench.run(&["step", "--ladder", "./ladders/scan", "--kernel", "log", "--dry-run"]);
    ran.fails(2, &["scan.cu", "symbolic link"]);
    // The same, where a link leads to a place of the ladder's own.
    std::fs::remove_file(bench.path("ladders/scan/scan.cu")).unwrap();
    bench.copy("ladder/scan/scan.cu", "ladders/scan/real.cu");
    std::os::unix::fs::symlink("real.cu", bench.path("ladders/scan/scan.cu")).unwrap();
    let ran = bench.run(&["step", "--ladder", "./ladders/scan", "--kernel", "log", "--dry-run"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn a_dry_run_refuses_what_a_run_would() {
    let bench = Bench::new();
    let (size, ncu) = ("N=99999999999,M=99999999", stand_in());
    for run in [&["step", "--kernel", "v2"][..], &["run"]] {
        let args = [run, &["--size", size, "--dry-run", "--ncu", &ncu]].concat();
        bench.run(&args).fails(2, &["N = 99999999999"]);
    }
}

#[test]
fn no_line_of_a_report_is_a_command_to_a_ci() {
    let bench = Bench::new();
    let raw = std::fs::read_to_string(file("fixtures/rules/ado_v2.raw.csv")).unwrap();
    let raw = raw.replace("gpu_version2", "::error::gpu_version2");
    assert!(raw.contains("::error::"));
    bench.write("x.raw.csv", raw);
    for format in ["text", "markdown", "csv", "json", "sarif"] {
        let ran = bench.run(&["analyze", "x.raw.csv", "--format", format]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let is_command = |line: &&str| line.trim_start().starts_with("::");
        assert_eq!(format!("{}{}", ran.out, ran.err).lines().find(is_command), None, "{format}");
    }
}

#[test]
fn errors_name_a_few_of_a_thousand_kernels() {
    let bench = Bench::new();
    let rows: Vec<String> =
        (0..1000).map(|at| format!("\"{at}\",\"kernel_{at}\",\"1\"\n")).collect();
    let raw = format!("\"ID\",\"Kernel Name\",\"a.sum\"\n{}", rows.concat());
    bench.write("many.raw.csv", raw);
    let ran = bench.run(&["analyze", "many.raw.csv", "--kernel", "nosuch"]);
    ran.fails(2, &["kernel_0, ", "and 980 more"]);
    assert!(ran.err.len() < 1000, "{}", ran.err.len());
}
