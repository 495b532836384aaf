//! `profile` of a program in several ranks, with stand-ins for the launchers, the program, CUPTI and ncu.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::bench::{Bench, Ran, ran, stand_in};
use crate::survey::STAND_INS;

/// As PyTorch's launcher does: an interpreter for each rank, with the port of their meeting place.
const TORCHRUN: &str = r#"#!/bin/sh
echo "$PET_MASTER_PORT" >> ports
for rank in 0 1; do
    RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=2 ${PYTHON_EXEC:-/bin/sh} -u "$@" &
done
wait
"#;

/// As those of MPI do: whatever follows the number of ranks.
const MPIRUN: &str = r#"#!/bin/sh
count=$2
shift 2
rank=0
while [ $rank -lt $count ]; do
    OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$count "$@" &
    rank=$((rank + 1))
done
wait
"#;

/// Two kernels that the stand-in launches, and one that waits for other ranks and is not profiled.
fn page(ns: [u32; 2]) -> String {
    let row = |id: usize, grid: u32| {
        format!(
            "\"{id}\",\"add(float *, int)\",\"(128, 1, 1)\",\"({grid}, 2, 1)\",\"{}\"\n",
            ns[id]
        )
    };
    let head = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\"\n";
    format!("{head}\"\",\"\",\"\",\"\",\"ns\"\n{}{}", row(0, 32), row(1, 64))
}

fn profile(bench: &Bench, options: &[&str], env: &[(&str, &str)], program: &[&str]) -> Ran {
    for (name, text) in [("torchrun", TORCHRUN), ("mpirun", MPIRUN)] {
        bench.write(name, text);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(bench.path(name), mode).unwrap();
    }
    bench.write("train.sh", format!("exec {} collective\n", STAND_INS.program().display()));
    bench.write("raw.csv", page([120, 110]));
    bench.write("raw-1.csv", page([190, 160]));
    bench.write("none.csv", "");
    let mut command: Command = bench.command(&["profile", "--ncu", &stand_in()]);
    command
        .args(options)
        .arg("--")
        .args(program)
        .env("TMPDIR", bench.path(""))
        .env("ADOPROF_CUPTI", STAND_INS.cupti())
        .env("STAND_IN_CUPTI_PATH", STAND_INS.cupti())
        .env("STAND_IN_ARGV", bench.path("argv"))
        .env("STAND_IN_RAW", bench.path("raw.csv"))
        .env("STAND_IN_RAW_RANK_1", bench.path("raw-1.csv"))
        .env("STAND_IN_DETAILS", bench.path("none.csv"))
        .env("STAND_IN_SOURCE", bench.path("none.csv"))
        .envs(env.iter().copied());
    ran(&mut command)
}

const JSON: [&str; 4] = ["--coverage", "100%", "--format", "json"];
const TORCH: [&str; 2] = ["./torchrun", "train.sh"];

fn rank(document: &Value, at: usize) -> &Value {
    &document["ranks"]["ranks"][at]
}

#[test]
fn ranks_are_profiled_each_by_itself_and_shown_as_one() {
    for launcher in ["torchrun", "mpirun"] {
        let bench = Bench::new();
        let program = STAND_INS.program().display().to_string();
        let ran = match launcher {
            "torchrun" => profile(&bench, &JSON, &[], &TORCH),
            _ => profile(&bench, &JSON, &[], &["./mpirun", "-n", "2", &program, "collective"]),
        };
        let document = ran.json();
        assert_eq!(document["ranks"]["world"], 2, "{launcher}: {document}");
        // Eight launches of 100 and of 150; two collectives, whose shortest take 100.
        let of = |at: usize| {
            let rank = rank(&document, at);
            ["rank", "work_ns", "transfer_ns", "waiting_ns", "profiled"]
                .map(|name| rank[name].as_f64())
        };
        assert_eq!(of(0), [0.0, 800.0, 200.0, 400.0, 2.0].map(Some), "{launcher}");
        assert_eq!(of(1), [1.0, 1200.0, 200.0, 0.0, 2.0].map(Some), "{launcher}");
        let kernels = document["ranks"]["kernels"].as_array().unwrap();
        let add = kernels.iter().find(|kernel| kernel["grid"][0] == 32).unwrap();
        assert_eq!((&add["spread"], &add["stragglers"][0]), (&1.5.into(), &1.into()));
        let waits: Vec<&Value> = kernels.iter().filter(|kernel| kernel["waits"] == true).collect();
        assert_eq!(waits.len(), 1, "{kernels:?}");
        // One diagnosis: two kinds of launches were profiled on two ranks.
        let launches = document["launches"].as_array().unwrap();
        assert_eq!(launches.len(), 2, "{launches:?}");
        assert_eq!((&launches[0]["rank"], &launches[0]["duration_ns"]), (&0.into(), &120.0.into()));
        let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
        assert!(argv.contains("::regex:^(_Z3addPfi)$:") && !argv.contains("nccl"), "{argv}");
        // ncu lets one process profile at a time, by a lock in this folder: each device has its own.
        let lock = |rank: u32| {
            std::fs::read_to_string(bench.path(&format!("argv.tmpdir-{rank}"))).unwrap()
        };
        assert_ne!(lock(0), lock(1));

        let folder = document["saved"].as_str().unwrap();
        assert!(bench.path(folder).join("rank-0001/report.ncu-rep").exists());
        let again = ran_json(&bench, &["analyze", folder, "--format", "json"]);
        assert_eq!(
            (&again["ranks"], &again["launches"]),
            (&document["ranks"], &document["launches"])
        );
    }
}

fn ran_json(bench: &Bench, args: &[&str]) -> Value {
    ran(&mut bench.command(args)).json()
}

#[test]
fn each_run_has_a_port_of_its_own() {
    let bench = Bench::new();
    profile(&bench, &JSON, &[], &TORCH).json();
    let text = std::fs::read_to_string(bench.path("ports")).unwrap();
    let ports: Vec<u16> = text.lines().map(|line| line.parse().unwrap()).collect();
    assert!(ports.len() == 2 && ports[0] != ports[1], "the survey's and the profile's: {ports:?}");
    let bench = Bench::new();
    profile(&bench, &JSON, &[("MASTER_ADDR", "node7")], &TORCH).json();
    assert_eq!(std::fs::read_to_string(bench.path("ports")).unwrap(), "\n\n", "not ours to choose");
}

#[test]
fn only_the_ranks_that_are_asked_for_are_profiled() {
    let bench = Bench::new();
    let options = [&JSON[..], &["--ranks", "1"]].concat();
    let document = profile(&bench, &options, &[], &TORCH).json();
    let profiled = |at: usize| rank(&document, at)["profiled"].as_u64();
    assert_eq!((profiled(0), profiled(1)), (Some(0), Some(2)));
    assert_eq!(document["launches"][0]["rank"], 1);
    assert!(document["notices"].to_string().contains("1 of 2 ranks was profiled: 1"), "{document}");
    let ran = profile(&bench, &["--ranks", "5"], &[], &TORCH);
    assert!(ran.code == Some(2) && ran.err.contains("names rank 5"), "{ran:?}");
}

#[test]
fn a_rank_that_fails_spoils_no_other() {
    let bench = Bench::new();
    let env = [("STAND_IN_CASE_RANK_1", "forbidden")];
    let document = profile(&bench, &JSON, &env, &TORCH).json();
    assert!(rank(&document, 0)["problem"].is_null(), "{document}");
    let problem = rank(&document, 1)["problem"].as_str().unwrap();
    assert!(problem.contains("performance counters"), "{problem}");
    assert_eq!(document["launches"].as_array().unwrap().len(), 2);
    let env = [("STAND_IN_CASE", "forbidden")];
    let ran = profile(&bench, &["--coverage", "100%"], &env, &TORCH);
    assert_eq!(ran.code, Some(3), "the survey is shown, and the code is the failure's: {ran:?}");
    assert!(ran.err.contains("no launch was profiled") && ran.out.contains("2 ranks"), "{ran:?}");
}

/// A collector that hangs is asked to end at the limit, and one that does not is ended; its rank is judged by what it
/// left, and the other one's report counts.
#[test]
fn ranks_that_hang_end_at_the_limit() {
    for (case, is_report) in [("hang_writes_up", true), ("hang_stubborn", false)] {
        let bench = Bench::new();
        let pids = bench.path("pids").display().to_string();
        let env = [("STAND_IN_CASE_RANK_1", case), ("STAND_IN_PIDS", &pids)];
        let options = [&JSON[..], &["--timeout", "6s"]].concat();
        let start = Instant::now();
        let document = profile(&bench, &options, &env, &TORCH).json();
        assert!(start.elapsed() < Duration::from_secs(60), "{case}: {:?}", start.elapsed());
        assert_eq!(rank(&document, 0)["profiled"], 2, "{case}: {document}");
        assert_eq!(rank(&document, 1)["problem"].is_null(), is_report, "{case}: {document}");
        let started = std::fs::read_to_string(bench.path("pids")).unwrap();
        for pid in started.split_whitespace() {
            let process = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let is_gone = process.rsplit_once(')').is_none_or(|(_, state)| state.starts_with(" Z"));
            assert!(is_gone, "{case}: {pid} of {started} lives");
        }
    }
}

#[test]
fn reports_named_by_ranks_are_one_diagnosis() {
    let bench = Bench::new();
    for rank in 0..3 {
        bench.copy("report/ado-v4.ncu-repz", &format!("all/train_rank{rank}.ncu-repz"));
    }
    let document = ran_json(&bench, &["analyze", "all", "--format", "json"]);
    let ranks = document["ranks"]["ranks"].as_array().unwrap();
    assert_eq!(ranks.len(), 3, "{document}");
    let kernel = &document["ranks"]["kernels"][0];
    assert_eq!(
        (&kernel["spread"], &kernel["stragglers"]),
        (&1.0.into(), &Value::Array(Vec::new()))
    );
    assert_eq!(document["launches"].as_array().unwrap().len(), 1, "one of three alike");
    assert_eq!(document["ranks"]["profiled_times"], true);
}

/// A third kernel, which waits for other ranks.
fn with_collective(page: &str) -> String {
    format!(
        "{page}\"2\",\"ncclDevKernel_AllReduce(float *)\",\"(128, 1, 1)\",\"(64, 2, 1)\",\"90\"\n"
    )
}

fn argv(bench: &Bench, rank: u32) -> Vec<String> {
    let text = std::fs::read_to_string(bench.path(&format!("argv.profile-{rank}"))).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The value behind an option.
fn value<'a>(argv: &'a [String], option: &str) -> Option<&'a str> {
    let at = argv.iter().position(|word| word == option)?;
    argv.get(at + 1).map(String::as_str)
}

#[test]
fn kernels_that_wait_for_other_ranks_are_profiled_in_lockstep() {
    let bench = Bench::new();
    let folder = bench.path("meet").display().to_string();
    bench.write("three.csv", with_collective(&page([120, 110])));
    let three = bench.path("three.csv").display().to_string();
    let env = [
        ("STAND_IN_LOCKSTEP", folder.as_str()),
        ("STAND_IN_RAW", &three),
        ("STAND_IN_RAW_RANK_1", &three),
    ];
    let options = [&JSON[..], &["--lockstep"]].concat();
    let mut ports = Vec::new();
    for _ in 0..2 {
        let document = profile(&bench, &options, &env, &TORCH).json();
        for at in 0..2 {
            assert_eq!(rank(&document, at)["profiled"], 3, "{document}");
            assert!(rank(&document, at)["problem"].is_null(), "{document}");
        }
        let notices = document["notices"].to_string();
        assert!(notices.contains("profiled on all 2 ranks in lockstep"), "{notices}");
        assert!(!notices.contains("would wait"), "{notices}");
        let of = |rank| argv(&bench, rank);
        let (one, two) = (of(0), of(1));
        for words in [&one, &two] {
            assert_eq!(value(words, "--communicator"), Some("tcp"));
            assert_eq!(value(words, "--communicator-tcp-num-peers"), Some("2"));
            assert!(words.iter().any(|word| word == "--lockstep-kernel-launch"), "{words:?}");
            assert!(value(words, "--kernel-id").unwrap().contains("nccl"), "{words:?}");
        }
        let port = value(&one, "--communicator-tcp-port").unwrap().to_owned();
        assert_eq!(Some(port.as_str()), value(&two, "--communicator-tcp-port"));
        ports.push(port);
        // ncu put a number behind each report's name; each is its own rank's.
        let saved = bench.path(document["saved"].as_str().unwrap());
        assert!(saved.join("rank-0001/report.ncu-rep").exists(), "{}", saved.display());
    }
    assert_ne!(ports[0], ports[1], "an ncu that stayed may hold the first one");
}

/// Where it can't be done, these kernels are left out as ever, and the reason is told.
#[test]
fn lockstep_that_is_not_possible_is_told() {
    let bench = Bench::new();
    let program = STAND_INS.program().display().to_string();
    let folder = bench.path("meet").display().to_string();
    let can = [("STAND_IN_LOCKSTEP", folder.as_str())];
    let mpirun = ["./mpirun", "-n", "2", &program, "collective"];
    let options = [&JSON[..], &["--lockstep"]].concat();
    for (env, command, reason) in [
        (&[][..], &TORCH[..], "ncu 2025.3.1 has no --lockstep-kernel-launch"),
        (&can[..], &mpirun[..], "the launcher does not tell which ranks share a machine"),
        (&can[..], &["sh", "./torchrun", "train.sh"][..], "knows no launcher"),
    ] {
        let document = profile(&bench, &options, env, command).json();
        let notices = document["notices"].to_string();
        assert!(notices.contains("--lockstep is not possible here: "), "{notices}");
        assert!(notices.contains(reason) && notices.contains("would wait"), "{notices}");
        let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
        assert!(!argv.contains("nccl") && !argv.contains("--communicator"), "{argv}");
    }
    let own = ["--lockstep", "--ncu-args", "--communicator tcp"];
    let ran = profile(&bench, &own, &can, &TORCH);
    assert!(ran.code == Some(2) && ran.err.contains("leave them out of --ncu-args"), "{ran:?}");
    for ranks in ["0", "sample:2"] {
        let ran = profile(&bench, &["--lockstep", "--ranks", ranks], &can, &TORCH);
        assert!(ran.code == Some(2) && ran.err.contains("leave --ranks out"), "{ran:?}");
    }
}

#[test]
fn a_hang_in_lockstep_ends_at_the_limit_and_says_what_to_do() {
    let bench = Bench::new();
    let folder = bench.path("meet").display().to_string();
    let env = [("STAND_IN_LOCKSTEP", folder.as_str()), ("STAND_IN_CASE_RANK_1", "misses")];
    let options = ["--coverage", "100%", "--lockstep", "--timeout", "6s"];
    let start = Instant::now();
    let ran = profile(&bench, &options, &env, &TORCH);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.err.contains("run it again without --lockstep"), "{ran:?}");
    assert!(ran.out.contains("2 ranks"), "the survey is shown: {ran:?}");
}

#[test]
fn ranks_that_do_the_same_work_share_the_metrics() {
    let bench = Bench::new();
    bench.write("alike.sh", format!("exec {} alike\n", STAND_INS.program().display()));
    let with = |metric: &str| {
        let lines: Vec<String> = page([120, 110])
            .lines()
            .zip([&format!("\"{metric}\""), "\"\"", "\"7\"", "\"8\""])
            .map(|(line, cell)| format!("{line},{cell}\n"))
            .collect();
        lines.concat()
    };
    bench.write("one.csv", with("lts__t_sectors.sum"));
    bench.write("two.csv", with("smsp__inst_executed.sum"));
    let path = |name: &str| bench.path(name).display().to_string();
    let (one, two) = (path("one.csv"), path("two.csv"));
    let env = [("STAND_IN_RAW", one.as_str()), ("STAND_IN_RAW_RANK_1", &two)];
    let options = [&JSON[..], &["--split-ranks"]].concat();
    let document = profile(&bench, &options, &env, &["./torchrun", "alike.sh"]).json();
    let notices = document["notices"].to_string();
    assert!(notices.contains("the ranks do the same work and shared the collection"), "{notices}");
    // Each section is one rank's; durations and cycles are everybody's.
    let (first, second) = (argv(&bench, 0), argv(&bench, 1));
    let has = |argv: &[String], section: &str| argv.iter().any(|word| word == section);
    assert!(has(&first, "SourceCounters") && !has(&second, "SourceCounters"), "{second:?}");
    assert!(has(&second, "WarpStateStats") && !has(&first, "WarpStateStats"), "{first:?}");
    for argv in [&first, &second] {
        let metrics = value(argv, "--metrics").unwrap();
        for shared in ["gpu__time_duration.sum", "sm__cycles_elapsed.max"] {
            assert!(metrics.split(',').any(|metric| metric == shared), "{metrics}");
        }
    }
    // One profile has what both collected.
    let saved = document["saved"].as_str().unwrap();
    let profiled = |at: usize| rank(&document, at)["profiled"].as_u64();
    assert_eq!((profiled(0), profiled(1)), (Some(2), Some(0)), "{document}");
    let folder = format!("{saved}/rank-0000");
    let args = ["frames", "--table", "metrics", "--format", "csv", &folder];
    let metrics = ran(&mut bench.command(&args)).out;
    for metric in ["lts__t_sectors.sum", "smsp__inst_executed.sum"] {
        assert!(metrics.contains(metric), "{metrics}");
    }
    assert!(bench.path(saved).join("parts/rank-0001.ncu-rep").exists());
    let again = ran_json(&bench, &["analyze", saved, "--format", "json"]);
    assert_eq!(again["launches"], document["launches"]);
}

#[test]
fn ranks_that_differ_share_nothing() {
    let bench = Bench::new();
    let options = [&JSON[..], &["--split-ranks"]].concat();
    let document = profile(&bench, &options, &[], &TORCH).json();
    let notices = document["notices"].to_string();
    assert!(notices.contains("--split-ranks changes nothing"), "{notices}");
    assert!(notices.contains("takes a tenth longer or more"), "{notices}");
    let profiled = |at: usize| rank(&document, at)["profiled"].as_u64();
    assert_eq!((profiled(0), profiled(1)), (Some(2), Some(2)), "{document}");
    assert_eq!(value(&argv(&bench, 0), "--metrics"), value(&argv(&bench, 1), "--metrics"));
}
