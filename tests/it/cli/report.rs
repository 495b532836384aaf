//! The live path reads ncu's report itself, and lets ncu export it only where it can't or is asked to.

use std::process::Command;

use crate::cli::bench::{Bench, Ran, file, ran};

/// `profile` with a stand-in ncu that writes a real report, of step v4 on an H200.
fn profiling(bench: &Bench, args: &[&str]) -> Command {
    let packed = std::fs::read(file("fixtures/report/ado-v4.ncu-repz")).unwrap();
    bench.write("v4.ncu-rep", zstd::decode_all(packed.as_slice()).unwrap());
    let mut command = bench.profiling("success", args);
    command.env("STAND_IN_REPORT", bench.path("v4.ncu-rep"));
    command
}

/// The findings of a document's launches, without the places where it was saved.
fn launches(ran: &Ran) -> serde_json::Value {
    ran.json()["launches"].clone()
}

#[test]
fn a_report_is_read_without_an_export() {
    let bench = Bench::new();
    let mut command = profiling(&bench, &["--format", "json"]);
    // Any export would end badly.
    let profiled = ran(command.env("STAND_IN_IMPORT", "crash"));
    let document = profiled.json();
    assert_eq!(document["launches"][0]["findings"][0]["rule"], "low-memory-parallelism");
    assert!(!document["notices"].to_string().contains("ncu exported"), "{document}");
    let argv = std::fs::read_to_string(bench.path("argv")).unwrap();
    assert!(!argv.contains("--import\n"), "{argv}");

    // What is saved says the same, and so does the report alone.
    let saved = document["saved"].as_str().unwrap();
    assert!(bench.path(saved).join("source.csv.zst").is_file());
    let again = bench.run(&["analyze", &format!("./{saved}"), "--format", "json"]);
    assert_eq!(launches(&again), launches(&profiled));
    let report = bench.run(&["analyze", &format!("{saved}/report.ncu-rep"), "--format", "json"]);
    assert_eq!(launches(&report), launches(&profiled));
}

#[test]
fn what_can_not_be_read_ncu_exports_and_a_notice_says_so() {
    let bench = Bench::new();
    // The stand-in's own report is none.
    let document = bench.profile("success", &["--format", "json"]).json();
    let notices = document["notices"].to_string();
    assert!(notices.contains("ncu exported the report, since adoprof can't read all of it"));
    // One of a version that adoprof does not know.
    let mut command = profiling(&bench, &["--format", "json"]);
    let mut newer = std::fs::read(bench.path("v4.ncu-rep")).unwrap();
    assert_eq!(newer[8..10], [8, 7], "the tag of the format's version, and the version");
    newer[9] = 99;
    bench.write("v4.ncu-rep", newer);
    let document = ran(&mut command).json();
    let notices = document["notices"].to_string();
    assert!(notices.contains("ncu exported the report") && notices.contains("version 99"));
    // Its numbers are those of ncu's pages, which are v2's.
    assert!(document["launches"][0]["kernel"].as_str().unwrap().starts_with("gpu_version2"));
}

#[test]
fn via_csv_compares_both_ways() {
    let bench = Bench::new();
    let document = ran(&mut profiling(&bench, &["--via", "csv", "--format", "json"])).json();
    assert!(document["launches"][0]["kernel"].as_str().unwrap().starts_with("gpu_version2"));
    let notices = document["notices"].to_string();
    assert!(
        notices.contains("the report and ncu's pages differ: finding 1 of gpu_version4 is "),
        "the report is v4's, the pages are v2's: {notices}"
    );
    let dry = bench.profile("success", &["--via", "csv", "--dry-run"]).out;
    for page in ["raw", "details", "source"] {
        assert!(dry.contains(&format!("--page {page} --csv")), "{dry}");
    }
}

#[test]
fn a_diff_of_reports_says_what_was_collected_otherwise() {
    let bench = Bench::new();
    profiling(&bench, &[]);
    let saved = bench.profile("success", &["--format", "json", "-o", "saved"]);
    assert_eq!(saved.code, Some(0), "{saved:?}");
    // The fixture was collected with no clock control, as adoprof collects; one with ncu's default of 2025.
    let none = std::fs::read(bench.path("v4.ncu-rep")).unwrap();
    let clocks = [0xca, 0x01, 4, 8, 0, 16, 0];
    let places: Vec<usize> = none
        .windows(clocks.len())
        .enumerate()
        .filter_map(|(at, window)| (window == clocks).then_some(at))
        .collect();
    assert_eq!(places.len(), 1, "the launch's clock status");
    let mut base = none;
    base[places[0] + 4] = 1;
    bench.write("base.ncu-rep", base);
    let unlike = bench.run(&["diff", "base.ncu-rep", "v4.ncu-rep"]);
    assert!(unlike.out.contains("clock control differs: base against none"), "{unlike:?}");
    let alike = bench.run(&["diff", "v4.ncu-rep", "v4.ncu-rep"]);
    assert!(!alike.out.contains("clock control"), "{alike:?}");
}
