//! `adoprof sweep` and `run --devices` where there is no device: what is wrong with the command is said first.

use crate::cli::bench::Bench;

#[test]
fn a_sweep_needs_a_device() {
    let bench = Bench::new();
    bench
        .run(&["sweep", "--kernel", "v4", "--over", "N=16,32"])
        .fails(3, &["a sweep needs a CUDA device", "adoprof doctor"]);
    assert!(!bench.path(".adoprof").exists(), "nothing was run, nothing is left");
}

#[test]
fn mistakes_come_before_the_device() {
    let bench = Bench::new();
    let values: Vec<String> = (1..=1001).map(|value| value.to_string()).collect();
    let many = format!("N={}", values.join(","));
    for (over, more, words) in [
        ("Q=1", "", "not something that ado/v4 can be swept over"),
        ("maxrregcount=many", "", "`many`"),
        ("N=16", "--size=N=32", "in --size and in --over"),
        ("N=16", "--size=K=32", "no parameter `K`"),
        ("N=16", "--format=sarif", "SARIF holds findings"),
        (many.as_str(), "", "1,001 points"),
    ] {
        let mut args = vec!["sweep", "--kernel", "v4", "--over", over];
        args.extend(Some(more).filter(|more| !more.is_empty()));
        bench.run(&args).fails(2, &[words]);
    }
}

/// `run` takes the same option, and shows no recording in place of devices that it was told to use.
#[test]
fn a_run_over_devices_needs_devices() {
    let bench = Bench::new();
    let ran = bench.run(&["run", "--ladder", "ado", "--devices", "0,1"]);
    assert!(ran.code == Some(3) && ran.out.is_empty(), "{ran:?}");
    for (other, words) in [
        (["--device", "1"], "cannot be used with '--device"),
        (["--recorded", "--quiet"], "cannot be used with '--recorded"),
    ] {
        let ran = bench.run(&[&["run", "--devices", "all"], &other[..]].concat());
        assert!(ran.code == Some(2) && ran.err.contains(words), "{ran:?}");
    }
    let ran = bench.run(&["run", "--ladder", "ado", "--devices", "all", "--dry-run"]);
    assert!(ran.code == Some(0) && ran.err.contains("the same on each of --devices"), "{ran:?}");
    let ran = bench.run(&["run", "--devices", "first"]);
    assert!(ran.code == Some(2) && ran.err.contains("numbers of devices such as 0,1"), "{ran:?}");
}

#[test]
fn the_help_shows_how() {
    let help = Bench::new().run(&["sweep", "--help"]);
    assert_eq!(help.code, Some(0));
    for words in ["BLOCK=64,128", "maxrregcount", "carveout", "--profile", "Examples:"] {
        assert!(help.out.contains(words), "{words} is missing in\n{}", help.out);
    }
}
