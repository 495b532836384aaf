//! How long whole commands take, beside ncu's own export of the same report.
//!
//! `cargo bench --bench startup`. With `ADOPROF_TEST_NCU` naming an ncu (see `scripts/fetch-ncu`), the
//! alternative is measured in the same run: ncu's `--import` of the report that `analyze` reads.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const RUNS: usize = 30;

/// Runs a command often and prints the fastest, the median and the slowest wall time.
fn measure(name: &str, mut command: impl FnMut() -> Command, runs: usize) {
    let mut times_ms: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            let status = command()
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap_or_else(|error| panic!("{name} does not start: {error}"));
            assert!(status.success(), "{name} failed");
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times_ms.sort_by(f64::total_cmp);
    println!(
        "{name:<52} min {:8.1} ms   median {:8.1} ms   max {:8.1} ms   n {runs}",
        times_ms[0],
        times_ms[runs / 2],
        times_ms[runs - 1]
    );
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let report = root.join("tests/fixtures/report/ado-v4.ncu-repz");
    let adoprof = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adoprof"));
        command.args(args).current_dir(root);
        command
    };
    measure("adoprof --help", || adoprof(&["--help"]), RUNS);
    measure(
        "adoprof step --kernel v2 --recorded",
        || adoprof(&["step", "--kernel", "v2", "--recorded"]),
        RUNS,
    );
    measure("adoprof run --ladder ado --recorded", || adoprof(&["run", "--recorded"]), RUNS);
    let name = report.to_string_lossy().into_owned();
    measure("adoprof analyze REPORT", || adoprof(&["analyze", &name]), RUNS);

    let Some(ncu) = std::env::var_os("ADOPROF_TEST_NCU") else {
        println!("ncu --import: not measured, ADOPROF_TEST_NCU names no ncu");
        return;
    };
    // ncu before 2026 reads the uncompressed form only.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let plain = folder.path().join("report.ncu-rep");
    let bytes = std::fs::read(&report).expect("the fixture is there");
    std::fs::write(&plain, zstd::decode_all(&*bytes).expect("the fixture is whole"))
        .expect("the temporary folder can be written");
    for page in ["raw", "source"] {
        measure(
            &format!("ncu --import REPORT --page {page} --csv"),
            || {
                let mut command = Command::new(&ncu);
                command
                    .args(["--import".as_ref(), plain.as_os_str()])
                    .args(["--page", page, "--csv"])
                    .env("NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT", "1");
                command
            },
            5,
        );
    }
}
