//! What only a GPU can show. Run with `scripts/test-on-device`, or
//! `cargo test --test device -- --ignored --test-threads=1`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The program: `ADOPROF_BIN` where the tests run on another machine than they were built on.
fn program() -> PathBuf {
    std::env::var_os("ADOPROF_BIN")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_adoprof")), PathBuf::from)
}

fn failing() -> PathBuf {
    let root = std::env::var_os("ADOPROF_ROOT")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    root.join("tests/fixtures/failing")
}

fn adoprof(folder: &Path, args: &[&str]) -> Output {
    Command::new(program()).current_dir(folder).args(args).output().expect("adoprof starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).expect("stdout is one JSON document")
}

/// Runs a step of the failing ladder and returns exit code and complaint.
fn fail(step: &str, more: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let ladder = failing();
    let mut args = vec!["step", "--live", "-q", "--ladder", ladder.to_str().unwrap()];
    args.extend(["--kernel", step, "--collect", "quick"]);
    args.extend(more);
    let output = adoprof(folder.path(), &args);
    let leftovers: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .flatten()
        .flat_map(|entry| walk(&entry.path()))
        .filter(|path| path.is_file())
        .collect();
    assert!(leftovers.is_empty(), "{step} left {leftovers:?}");
    (output.status.code(), stderr(&output))
}

fn walk(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return vec![path.to_owned()] };
    entries.flatten().flat_map(|entry| walk(&entry.path())).collect()
}

#[test]
#[ignore = "needs a GPU and ncu"]
fn a_healthy_machine_passes_the_doctor() {
    let output = adoprof(Path::new("."), &["doctor"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
#[ignore = "needs a GPU and ncu"]
fn wrong_answers_are_kernel_failures_with_the_first_mismatch() {
    let (code, complaint) = fail("wrong", &[]);
    assert_eq!(code, Some(4), "{complaint}");
    assert!(complaint.contains("777") && complaint.contains("1554") && complaint.contains('5'));
    let (code, complaint) = fail("unwritten", &[]);
    assert_eq!(code, Some(4), "{complaint}");
    assert!(complaint.contains("1048575") && complaint.contains("NaN"), "{complaint}");
}

#[test]
#[ignore = "needs a GPU and ncu"]
fn broken_kernels_are_kernel_failures() {
    for (step, words) in [
        ("illegal", "memory"),
        ("syntax", "failing/syntax.cu(4)"),
        ("misnamed", "thrice"),
        ("greedy", "shared memory"),
    ] {
        let (code, complaint) = fail(step, &[]);
        assert_eq!(code, Some(4), "{step}: {complaint}");
        assert!(complaint.contains(words), "{step}: {complaint}");
    }
}

#[test]
#[ignore = "needs a GPU and ncu"]
fn an_endless_kernel_is_given_up() {
    let start = Instant::now();
    let (code, complaint) = fail("endless", &["--timeout", "3s"]);
    assert_eq!(code, Some(3), "{complaint}");
    assert!(complaint.contains("abandoned"), "{complaint}");
    assert!(start.elapsed() < Duration::from_secs(30));
}

#[test]
#[ignore = "needs a GPU and ncu"]
fn a_step_that_would_take_too_long_is_refused_before_it_starts() {
    let folder = tempfile::tempdir().unwrap();
    let output = adoprof(
        folder.path(),
        &["step", "--live", "--kernel", "v1", "--size", "N=1024", "--timeout", "20s"],
    );
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("use --size N="), "{}", stderr(&output));
}

#[test]
#[ignore = "needs a GPU and ncu"]
fn ctrl_c_ends_ncu_and_its_children_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(program())
        .current_dir(folder.path())
        .args(["step", "--live", "--kernel", "v1", "--size", "N=64"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // By then the kernel has been timed and ncu replays it, a tenth of a second a pass.
    let launched = || {
        let list = Command::new("ps").args(["-eo", "args"]).output().unwrap();
        String::from_utf8_lossy(&list.stdout).lines().filter(|l| l.contains("__launch")).count()
    };
    let start = Instant::now();
    while launched() == 0 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(100));
    }
    std::thread::sleep(Duration::from_secs(2));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(3));
    assert_eq!(launched(), 0, "ncu's child is still there");
    let files: Vec<_> = walk(folder.path()).into_iter().filter(|path| path.is_file()).collect();
    assert!(files.is_empty(), "{files:?}");
}

#[test]
#[ignore = "needs a GPU and ncu"]
fn steps_of_ado_are_right_at_odd_sizes() {
    let folder = tempfile::tempdir().unwrap();
    for step in ["v1", "v2", "v2-coalesced", "v2-shuffle", "v3", "v4", "v5", "v6"] {
        for size in ["N=37,M=515,L=333", "N=1,M=1,L=1", "N=33,M=64,L=1000"] {
            let args = ["step", "--live", "--time-only", "--kernel", step, "--size", size];
            let output = adoprof(folder.path(), &[&args[..], &["--format", "json"]].concat());
            assert_eq!(json(&output)["step"]["verified"], true, "{step} at {size}");
        }
    }
}

#[test]
#[ignore = "needs a GPU and ncu"]
fn the_ladder_climbs_and_ends_at_the_memory_limit() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["run", "--live", "--ladder", "ado", "--main-only", "--format", "json"];
    let document = json(&adoprof(folder.path(), &args));
    let steps = document["steps"].as_array().unwrap();
    let rate = |step: &Value| step["step"]["rate"]["value"].as_f64().unwrap();
    for pair in steps.windows(2) {
        assert!(rate(&pair[1]) > rate(&pair[0]), "{}", pair[1]["step"]["name"]);
    }
    let first = |index: usize| steps[index]["verdict"]["rule"].as_str().unwrap().to_owned();
    assert_eq!(first(0), "grid-too-small");
    let second: Vec<&str> = steps[1]["launches"][0]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .take(2)
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect();
    assert!(second.contains(&"uncoalesced-global-access"), "{second:?}");
    assert_eq!(first(2), "shared-memory-pressure");
    assert_eq!(first(steps.len() - 1), "at-memory-roof");
    let last = &steps[steps.len() - 1]["step"];
    // The input's bytes over the copy rate of the same run, with 15% on top.
    let input_bytes = 4.0 * 1024.0_f64.powi(3);
    let bound_ns = input_bytes / last["copy_bytes_per_s"].as_f64().unwrap() * 1e9;
    let median = last["time_ns"]["median"].as_f64().unwrap();
    assert!(median <= 1.15 * bound_ns, "{median} ns against {bound_ns} ns");
}

#[test]
#[ignore = "needs a GPU and ncu"]
fn any_program_is_profiled() {
    let folder = tempfile::tempdir().unwrap();
    let own = program();
    let own = own.to_str().unwrap();
    let own_launch = ["__launch", "--kernel", "v5", "--size", "N=64,M=64,L=64", "--limit-s", "60"];
    let args = ["profile", "-k", "average", "--launch-count", "1", "--format", "json", "--", own];
    let document = json(&adoprof(folder.path(), &[&args[..], &own_launch[..]].concat()));
    let launches = document["launches"].as_array().unwrap();
    assert_eq!(launches.len(), 1);
    assert_eq!(launches[0]["kernel"], "average_sets");
    assert!(document["saved"].as_str().unwrap().starts_with(".adoprof/programs/"));
}

/// Steps with variants, at a size that runs in no time: the variants launch, fill an SM at most as far as
/// their step does, and a verdict is reached.
#[test]
#[ignore = "needs a GPU and ncu"]
fn variants_run_and_fill_an_sm_no_further_than_their_step() {
    let folder = tempfile::tempdir().unwrap();
    for (kernel, size, names) in [
        ("ado/v2", "N=264,M=256,L=1024", 5),
        ("ado/v3", "N=264,M=256,L=1024", 4),
        ("ado/v4", "N=264,M=256,L=1024", 3),
        ("padding/p1", "R=65537,K=100", 4),
        ("matmul/m3", "n=1000", 3),
        ("matmul/m8", "n=1000", 3),
        ("reduce/r2", "N=1000003", 3),
        ("stencil/plane", "NX=200,NY=100,NZ=50", 4),
    ] {
        let file = folder.path().join("limiter.json");
        let saved = file.to_str().unwrap();
        let args = [
            "limiter", "--live", "--kernel", kernel, "--size", size, "--format", "json", "-o",
            saved,
        ];
        let result = json(&adoprof(folder.path(), &args));
        assert!(result["verdict"]["limiter"].is_string(), "{kernel}: {result}");
        let variants = result["variants"].as_array().unwrap();
        assert_eq!(variants.len(), names, "{kernel}");
        let held = |entrant: &Value| {
            entrant["blocks_per_sm"].as_u64().unwrap()
                * entrant["threads_per_block"].as_u64().unwrap()
        };
        for variant in variants {
            assert!(variant["time_ns"]["median"].as_f64().unwrap() > 0.0, "{kernel}: {variant}");
            assert!(held(variant) <= held(&result["full"]), "{kernel}: {variant}");
        }
        assert_eq!(result["copies"].as_array().map(Vec::len), Some(2), "{kernel}");
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), result, "{kernel}");
    }
}

/// Sweeps in a folder of its own and returns the points with the exit code.
fn sweep(folder: &Path, kernel: &str, more: &[&str]) -> (Option<i32>, Value) {
    let ladder = failing();
    let mut args = vec!["sweep", "--ladder", ladder.to_str().unwrap(), "--kernel", kernel];
    args.extend(["--format", "json"]);
    args.extend(more);
    let output = adoprof(folder, &args);
    let document = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
    (output.status.code(), document)
}

#[test]
#[ignore = "needs a GPU and ncu"]
fn a_sweep_goes_on_past_points_that_fail() {
    let folder = tempfile::tempdir().unwrap();
    // The grid is made for blocks of 256: with 64 most elements stay unwritten. The third flag does
    // not compile.
    let axes = ["--over", "block=64,256", "--over", "flags=|-ftz=true|--no-such-flag"];
    let (code, document) = sweep(folder.path(), "good", &axes);
    assert_eq!(code, Some(0));
    let ran: Vec<bool> =
        document["points"].as_array().unwrap().iter().map(|p| p["time_ns"].is_object()).collect();
    assert_eq!(ran, [false, false, false, true, true, false], "{document:#}");
    // The second time nothing is run: the same figures to the last digit.
    let (_, again) = sweep(folder.path(), "good", &axes);
    assert_eq!(document["points"], again["points"]);
}

#[test]
#[ignore = "needs a GPU and ncu"]
fn illegal_addresses_and_endless_kernels_fail_their_points_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (code, document) = sweep(folder.path(), "illegal", &["--over", "N=1024,4096"]);
    assert_eq!(code, Some(4), "{document:#}");
    for point in document["points"].as_array().unwrap() {
        assert!(point["error"].as_str().unwrap().contains("memory outside its"), "{point}");
    }
    let start = Instant::now();
    let (code, document) =
        sweep(folder.path(), "endless", &["--over", "carveout=0,100", "--timeout", "4s"]);
    assert_eq!(code, Some(3), "{document:#}");
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
#[ignore = "needs a GPU and ncu"]
fn a_profiled_sweep_names_what_moves_with_the_time() {
    let folder = tempfile::tempdir().unwrap();
    // Less room for blocks on a multiprocessor, less on its way, more time.
    let axes = ["--over", "UNUSED=1,16K,32K,48K", "--over", "BLOCK=64", "--profile"];
    let mut args = vec!["sweep", "--kernel", "increment/i1", "--format", "json"];
    args.extend(axes);
    let document = json(&adoprof(folder.path(), &args));
    let names: Vec<&str> = document["moving"]
        .as_array()
        .unwrap()
        .iter()
        .map(|moving| moving["metric"].as_str().unwrap())
        .collect();
    assert!(names.iter().any(|name| name.contains("warps_active")), "{names:?}");
    assert_eq!(document["best"][0]["best"], 0, "{document:#}");
}
