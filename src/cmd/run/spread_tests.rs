//! Runs over devices with a stand-in for the process of a step.

use clap::Parser;

use super::*;
use crate::cli::{Cli, Command};

fn args(text: &[&str]) -> RunArgs {
    match Cli::try_parse_from(["adoprof", "run"].iter().chain(text)).unwrap().command {
        Command::Run(args) => args,
        other => panic!("{other:?}"),
    }
}

#[test]
fn steps_are_spread_over_devices_and_the_first_runs_on_each() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log").display().to_string();
    let args = args(&["--ladder", &log, "--size", "N=4"]);
    let steps = vec!["v1", "wrong", "unprofiled", "crash", "v2", "v3", "v4"];
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand_in/step");
    let spread = Spread { own, ..Spread::new(&args, steps.clone()).unwrap() };
    let device = |number, speed: &str| RunDevice {
        number,
        uuid: format!("GPU-run-test-{speed}-{}", std::process::id()),
        ..RunDevice::default()
    };
    let mut devices = vec![device(0, "fast"), device(3, "slow")];
    let results = spread.run(&mut devices, &Progress::new(true, false));
    assert_eq!(results.len(), steps.len());
    for (place, result) in &results {
        match (steps[*place], result) {
            ("wrong", Err(Error::Kernel(said))) => assert_eq!(said, "the answer is wrong"),
            ("crash", Err(Error::Kernel(said))) => assert!(said.contains("signal: 11"), "{said}"),
            ("unprofiled", Ok((_, Some(Error::Environment(_))))) => {}
            (step, Ok((document, None))) => {
                assert_eq!(document.step.as_ref().unwrap().name, step);
                let own = document.device.as_ref();
                assert!(devices.iter().any(|device| own == Some(&device.uuid)), "{own:?}");
            }
            other => panic!("{other:?}"),
        }
    }
    let of = |device: &RunDevice| device.first_step_ns.map(|time| time.median.to_bits());
    assert_eq!(
        (of(&devices[0]), of(&devices[1])),
        (Some(10_f64.to_bits()), Some(11_f64.to_bits()))
    );
    let ran = std::fs::read_to_string(&log).unwrap();
    let count = |text: &str| ran.lines().filter(|line| line.contains(text)).count();
    assert_eq!((count(" v1 whole N=4"), count(" v1 timed N=4"), ran.lines().count()), (1, 1, 8));
    assert!(count("-fast-") > 1 && count("-slow-") > 1, "{ran}");
    for device in &devices {
        let temporary = std::env::temp_dir();
        let _ = std::fs::remove_file(temporary.join(format!("adoprof-{}.lock", device.uuid)));
        let _ = std::fs::remove_dir_all(crate::launch::device_folder(&device.uuid).unwrap());
    }
}

#[test]
fn a_steps_process_gets_the_runs_options() {
    let words = |text: &[&str]| {
        let words = common(&args(text));
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let given = words(&[
        "--ladder",
        "./x",
        "--section",
        "A,B",
        "--ncu-args",
        "--nvtx",
        "--timeout",
        "90s",
        "--cpu",
        "--ncu",
        "/n",
    ]);
    assert_eq!(
        given,
        [
            "--ladder",
            "./x",
            "--ncu=/n",
            "--ncu-args=--nvtx",
            "--collect=auto",
            "--section=A,B",
            "--via=report",
            "--timeout=90s",
            "--cpu"
        ]
    );
    let line = ["adoprof", "--quiet", "__step", "--kernel", "v1"].map(str::to_owned);
    let parsed = Cli::try_parse_from(line.into_iter().chain(given)).unwrap().command;
    assert!(
        matches!(parsed, Command::StepOfRun(step) if step.cpu && step.profiling.section.len() == 2)
    );
}
