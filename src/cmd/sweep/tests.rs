//! Sweeps with a stand-in for the process of a point.

use std::collections::BTreeMap;
use std::path::Path;

use super::walk::{Sweep, free_folder};
use super::*;
use crate::sweep::Point;

#[test]
fn the_sweep_fails_only_where_every_point_does() {
    let point = |code: Option<u8>| PointResult {
        error: Some("no".to_owned()),
        exit_code: code,
        ..PointResult::default()
    };
    let ran = PointResult::default();
    assert_eq!(exit_code(&[point(Some(4)), ran.clone()], false), ExitCode::Success);
    assert_eq!(exit_code(&[point(Some(4)), point(Some(3))], false), ExitCode::Kernel);
    assert_eq!(exit_code(&[point(Some(2)), point(None)], false), ExitCode::Kernel);
    assert_eq!(exit_code(&[point(Some(3)), point(Some(3))], false), ExitCode::Environment);
    assert_eq!(exit_code(&[ran], true), ExitCode::Environment);
}

#[test]
fn profiles_do_not_overwrite_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let first = free_folder(dir.path(), "N=1");
    std::fs::create_dir(&first).unwrap();
    let second = free_folder(dir.path(), "N=1");
    assert!(first != second && second.display().to_string().ends_with("_2"));
    assert_ne!(free_folder(dir.path(), "N=2"), first);
}

fn args(text: &[&str]) -> SweepArgs {
    use clap::Parser;
    let fixed = ["adoprof", "sweep", "--kernel", "i5", "--over", "N=1"];
    match crate::cli::Cli::try_parse_from(fixed.iter().chain(text)).unwrap().command {
        crate::cli::Command::Sweep(args) => args,
        other => panic!("{other:?}"),
    }
}

/// Walks over sizes with the stand-in; returns the results and the sizes that were run.
fn walk(folder: &Path, sizes: &[u64], more: &[&str]) -> (Vec<PointResult>, String) {
    walk_on(folder, sizes, more, &mut [])
}

/// The same on several devices.
fn walk_on(
    folder: &Path,
    sizes: &[u64],
    more: &[&str],
    devices: &mut [SweepDevice],
) -> (Vec<PointResult>, String) {
    let log = folder.join("log").display().to_string();
    let _ = std::fs::remove_file(&log);
    let args = args(more);
    let points: Vec<(BTreeMap<String, u64>, Point)> =
        sizes.iter().map(|n| (BTreeMap::from([("N".to_owned(), *n)]), Point::default())).collect();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand_in/point");
    let mut sweep = Sweep {
        args: &args,
        process: PointProcess {
            own,
            ladder_argument: &log,
            step: "i5",
            device: 0,
            uuid: None,
            timeout: args.timeout,
        },
        journal: Journal::open(&folder.join("s.jsonl"), Identity::default()).unwrap(),
        profiles: folder.join("s.profiles"),
    };
    let (results, stopped) = sweep.walk(&points, devices, &Printer::new(true, false)).unwrap();
    assert!(!stopped);
    (results, std::fs::read_to_string(&log).unwrap_or_default().replace('\n', " "))
}

#[test]
fn bad_points_do_not_end_a_sweep_and_good_ones_are_not_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let (results, ran) = walk(folder.path(), &[2, 3, 5, 1], &[]);
    assert_eq!(ran, "N=2 N=3 N=5 N=1 ");
    let codes: Vec<_> = results.iter().map(|point| point.exit_code).collect();
    assert_eq!(codes, [Some(4), None, Some(3), None]);
    assert_eq!(results[0].error.as_deref(), Some("x.cu does not compile:\nline 3: no"));
    assert!(results[1].error.as_ref().unwrap().contains("crashed (signal: 11"), "{results:?}");
    assert_eq!(results[3].time_ns.unwrap().median.to_string(), "7");
    assert_eq!(notices(&results), ["noticed"]);
    // What ran, and what does not compile, is known; a crash and a lack are tried again.
    let (again, ran) = walk(folder.path(), &[2, 3, 5, 1, 6], &[]);
    assert_eq!(ran, "N=3 N=5 N=6 ");
    assert_eq!((&again[0], &again[3]), (&results[0], &results[3]));
    let (_, ran) = walk(folder.path(), &[1, 2], &["--fresh"]);
    assert_eq!(ran, "N=1 N=2 ");
}

#[test]
fn a_point_that_hangs_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let (results, _) = walk(folder.path(), &[4, 1], &["--timeout", "0.3s"]);
    assert!(results[0].error.as_ref().unwrap().contains("took longer than 300 ms"), "{results:?}");
    assert_eq!(results[0].exit_code, Some(3));
    assert!(results[1].error.is_none());
}

#[test]
fn points_are_spread_over_devices_and_the_first_runs_on_each() {
    let folder = tempfile::tempdir().unwrap();
    let device = |number| SweepDevice {
        number,
        name: "NVIDIA Stand-in".to_owned(),
        uuid: format!("GPU-sweep-test-{number}-{}", std::process::id()),
        first_point_ns: None,
    };
    let mut devices = vec![device(0), device(1)];
    let sizes = [1, 6, 2, 16, 26, 36, 46];
    let (results, ran) = walk_on(folder.path(), &sizes, &[], &mut devices);
    let order: Vec<u64> = results.iter().map(|point| point.size["N"]).collect();
    assert_eq!(order, sizes, "in the order of the grid, whoever ran them");
    let count = |size: &str| ran.split(' ').filter(|of| *of == size).count();
    assert_eq!((count("N=1"), count("N=6"), count("N=46")), (2, 1, 1), "{ran}");
    for device in &devices {
        assert_eq!(device.first_point_ns.map(|time| time.median.to_bits()), Some(7_f64.to_bits()));
        let own = results.iter().filter(|point| point.device.as_ref() == Some(&device.uuid));
        assert!(own.count() > 0, "{results:?}");
    }
    assert!(results.iter().all(|point| point.device.is_some()));
    assert_eq!(difference(&devices), None, "the same time on both");
    // All is known: nothing runs.
    let (again, ran) = walk_on(folder.path(), &[1, 6], &[], &mut devices.clone());
    assert_eq!((ran.as_str(), &again[..]), ("", &results[..2]));
    devices[1].first_point_ns.as_mut().unwrap().median = 7.7;
    let said = difference(&devices).unwrap();
    assert!(said.contains("device 1 took 1.10× as long as device 0"), "{said}");
    for device in &devices {
        let temporary = std::env::temp_dir();
        let _ = std::fs::remove_file(temporary.join(format!("adoprof-{}.lock", device.uuid)));
        let _ = std::fs::remove_dir_all(crate::launch::device_folder(&device.uuid).unwrap());
    }
}
