//! `profile -- PROGRAM` from end to end, with the stand-in ncu.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cli::bench::{Bench, ran, stand_in};

#[test]
fn a_program_is_profiled_diagnosed_and_saved() {
    let bench = Bench::new();
    let ran = bench.profile("success", &["--format", "json"]);
    let document = ran.json();
    let saved = document["saved"].as_str().unwrap();
    assert!(saved.starts_with(".adoprof/programs/program/"), "{saved}");
    for name in ["profile.json", "raw.csv.zst", "source.csv.zst", "report.ncu-rep"] {
        assert!(bench.path(saved).join(name).is_file(), "{name}");
    }
    assert!(ran.err.contains("34 passes"), "{ran:?}");
    assert!(!ran.out.contains("result 42"), "the program's output is no result");
    let argv = std::fs::read_to_string(bench.path("argv")).unwrap();
    assert!(argv.contains("./program\nan argument\n") || argv.contains("--import"), "{argv}");

    let again = bench.run(&["analyze", &format!("./{saved}"), "--format", "json"]).json();
    assert_eq!(again["launches"], document["launches"]);
    let files = bench.run(&["analyze", "pages/v2.raw.csv", "--format", "json"]).json();
    assert_eq!(files["launches"], document["launches"]);
}

#[test]
fn verbose_shows_what_ncu_and_the_program_printed() {
    let bench = Bench::new();
    let ran = bench.profile("success", &["-v"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.err.contains("result 42") && !ran.out.contains("result 42"), "{ran:?}");
}

#[test]
fn a_baseline_is_compared_with() {
    let bench = Bench::new();
    bench.copy("rules/ado_v3.raw.csv", "v3.raw.csv");
    let document =
        bench.profile("success", &["--baseline", "v3.raw.csv", "--format", "json"]).json();
    let come = document["diff"]["come"].to_string();
    assert!(come.contains("uncoalesced-global-access"), "{come}");
    let missing = bench.profile("success", &["--baseline", "./nope.csv"]);
    missing.fails(2, &["nope.csv"]);
    assert_eq!(
        bench.left(".adoprof/programs").len(),
        5,
        "only the first run saved: {:?}",
        bench.left("")
    );
}

#[test]
fn a_dry_run_prints_ncus_lines_and_does_nothing() {
    let bench = Bench::new();
    let ran = bench.profile("success", &["--dry-run", "-k", "a b", "--ncu-args", "--nvtx"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 3, "a collection, how it is read, what may follow");
    assert!(lines[1].starts_with("# ") && lines[1].contains("--via csv"), "{lines:?}");
    assert!(lines[2].starts_with("# ") && lines[2].contains("shared-atomic-contention"));
    for part in ["--section", "'regex:a b'", "--nvtx", "--clock-control none", "'an argument'"] {
        assert!(lines[0].contains(part), "no `{part}`: {}", lines[0]);
    }
    assert!(!bench.path(".adoprof").exists() && !bench.path("argv").exists());
}

#[test]
fn kernels_without_lines_have_their_instructions() {
    let bench = Bench::new();
    bench.copy("rules/ado_v2.source.cuda-sass.csv", "lined.csv");
    let lines = std::fs::read_to_string(bench.path("lined.csv")).unwrap();
    let warning =
        "==WARNING== No lineinfo available to show CUDA-C source related to 'gpu_version2'.\n";
    bench.write("none.csv", warning);
    // The sass view of the same launch: each instruction's row without its line.
    let sass: String = lines
        .lines()
        .filter_map(|line| match line.strip_prefix("\"Line No\",\"Source\",") {
            Some(header) => Some(header.to_owned()),
            None => line.strip_prefix("\"\",\"\",").map(str::to_owned),
        })
        .map(|line| line + "\n")
        .collect();
    let name =
        "\"Kernel Name\",\"gpu_version2(const float *, float *, const float *, int, int, int)\",\n";
    let header = sass.find("\"Address\"").unwrap();
    let (_, sass) = sass.split_at(header);
    bench.write("sass.csv", format!("{name}{sass}"));
    let mut command = bench.profiling("success", &["--format", "json"]);
    command
        .env("STAND_IN_SOURCE", bench.path("none.csv"))
        .env("STAND_IN_SASS", bench.path("sass.csv"));
    let document = ran(&mut command).json();
    let finding = &document["launches"][0]["findings"][0];
    let with_lines = bench.profile("success", &["--format", "json"]).json();
    assert_eq!(finding["rule"], with_lines["launches"][0]["findings"][0]["rule"]);
    let saved = document["saved"].as_str().unwrap();
    let again = bench.run(&["analyze", &format!("./{saved}"), "--format", "json"]).json();
    assert_eq!(again["launches"], document["launches"]);
}

#[test]
fn a_program_that_fails_is_diagnosed_and_its_last_words_are_shown() {
    let bench = Bench::new();
    let ran = bench.profile("exits_with_words", &["--format", "json"]);
    assert!(ran.json()["notices"].to_string().contains("ended with code 3"), "{ran:?}");
    assert!(ran.err.contains("  | cannot open weights.bin\n"), "{ran:?}");
    assert!(!ran.err.contains("working on part 1\n"), "the last ten: {ran:?}");
}

#[test]
fn an_export_without_launches_keeps_the_report_and_no_profile() {
    let bench = Bench::new();
    bench.write("broken.csv", "\"ID\",\"Kernel Name\",\"a.sum\"\n\"\",\"\",\"\"\n");
    bench.write("none.csv", "");
    let mut command = bench.profiling("success", &[]);
    command
        .env("STAND_IN_RAW", bench.path("broken.csv"))
        .env("STAND_IN_DETAILS", bench.path("none.csv"))
        .env("STAND_IN_SOURCE", bench.path("none.csv"));
    let ran = ran(&mut command);
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.err.contains(".ncu-rep") && ran.err.contains("adoprof analyze"), "{ran:?}");
    let left = bench.left(".adoprof");
    assert!(
        matches!(&left[..], [report] if report.extension().is_some_and(|e| e == "ncu-rep")),
        "{left:?}"
    );
}

/// A raw page of one launch.
fn page(kernel: &str, metrics: &[(&str, &str)]) -> String {
    let line = |first: [&str; 4], of: fn(&(&str, &str)) -> String| {
        let cells = first.map(str::to_owned).into_iter().chain(metrics.iter().map(of));
        cells.map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(",") + "\n"
    };
    line(["ID", "Kernel Name", "Block Size", "Grid Size"], |metric| metric.0.to_owned())
        + &line(["", "", "", ""], |_| String::new())
        + &line(["0", kernel, "(256, 1, 1)", "(64, 1, 1)"], |metric| metric.1.to_owned())
}

/// A run of `auto` on a launch whose shared atomics take 900 wavefronts; a second run sees `kernel`.
fn twice(bench: &Bench, kernel: &str) -> crate::cli::bench::Ran {
    let first = [
        ("gpu__time_duration.sum", "1000000"),
        ("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", "60"),
        ("l1tex__data_pipe_lsu_wavefronts.sum", "1000"),
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", "900"),
    ];
    bench.write("one.csv", page("count", &first));
    let second =
        [("gpu__time_duration.sum", "2000000"), ("smsp__inst_executed_op_shared_atom.sum", "100")];
    bench.write("two.csv", page(kernel, &second));
    bench.write("none.csv", "");
    let mut command = bench.profiling("success", &["--format", "json"]);
    ran(command
        .env("STAND_IN_RAW", bench.path("one.csv"))
        .env("STAND_IN_RAW_2", bench.path("two.csv"))
        .env("STAND_IN_DETAILS", bench.path("none.csv"))
        .env("STAND_IN_SOURCE", bench.path("none.csv")))
}

#[test]
fn what_the_first_run_leaves_open_a_second_one_tells() {
    let bench = Bench::new();
    let ran = twice(&bench, "count");
    let document = ran.json();
    let launch = &document["launches"][0];
    assert_eq!(launch["findings"][0]["rule"], "shared-atomic-contention", "{launch}");
    assert!(document.to_string().contains("1000000"), "the duration is the first run's");
    assert!(ran.err.contains("once more for shared-atomic-contention: 1 metric"), "{ran:?}");
    assert!(ran.err.contains("34 + 34 passes in two runs"), "{ran:?}");
    let saved = document["saved"].as_str().unwrap();
    for name in ["report.ncu-rep", "report-2.ncu-rep"] {
        assert!(bench.path(saved).join(name).is_file(), "{name}");
    }
    let meta = std::fs::read_to_string(bench.path(saved).join("profile.json")).unwrap();
    let meta: serde_json::Value = serde_json::from_str(&meta).unwrap();
    let environment = &meta["environment"];
    assert_eq!((&environment["collected"], &environment["passes"]), (&"auto".into(), &68.into()));
    let again = bench.run(&["analyze", &format!("./{saved}"), "--format", "json"]).json();
    assert_eq!(again["launches"], document["launches"]);
}

#[test]
fn a_second_run_of_other_launches_is_left_out() {
    let bench = Bench::new();
    let ran = twice(&bench, "another");
    let document = ran.json();
    let notices = document["notices"].to_string();
    assert!(
        notices.contains("the second run, for") && notices.contains("shared-atomic"),
        "{notices}"
    );
    assert_eq!(document["launches"].as_array().unwrap().len(), 1);
    assert!(!document["launches"][0]["findings"].to_string().contains("atomic"));
    assert!(ran.err.contains(": 34 passes, "), "{ran:?}");
}

#[test]
fn other_levels_run_once() {
    let bench = Bench::new();
    let ran = bench.profile("success", &["--collect", "quick"]);
    assert_eq!((ran.code, ran.err.contains("once more")), (Some(0), false), "{ran:?}");
    let lines = bench.profile("success", &["--collect", "full", "--dry-run"]).out;
    assert_eq!(lines.lines().count(), 2, "{lines}");
}

#[test]
fn a_program_that_fails_after_its_kernels_is_worth_a_notice() {
    let bench = Bench::new();
    for (case, code) in [("app_exit_7", "code 7"), ("app_abort", "code 6")] {
        let text = bench.profile(case, &[]);
        assert_eq!(text.code, Some(0), "{text:?}");
        assert!(text.err.contains(code) && !text.out.contains(code), "{text:?}");
        let json = bench.profile(case, &["--format", "json"]).json();
        assert!(json["notices"].to_string().contains(code), "{json}");
    }
    let notices = |case| bench.profile(case, &["--format", "json"]).json()["notices"].clone();
    assert_eq!(notices("slow"), notices("success"), "a slow launch that ended is no news");
}

#[test]
fn a_program_that_launches_nothing_may_say_why() {
    let ran = Bench::new().profile("no_kernels_with_words", &[]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.err.contains("launched no kernel") && ran.err.contains("  | cannot open weights.bin"),
        "{ran:?}"
    );
}

#[test]
fn faults_have_their_exit_code_and_leave_nothing() {
    let bench = Bench::new();
    for (case, code, parts) in [
        ("no_kernels", 2, &["launched no kernel"][..]),
        ("kernel_filter_no_match", 2, &["which are ok"]),
        ("kernel_illegal_address", 4, &["bad(int *)", "compute-sanitizer"]),
        ("missing_binary", 2, &["./program", "does not exist"]),
        ("readonly_output", 2, &["can't be written", "-o"]),
        ("unknown_section", 2, &["NoSuchSection"]),
        ("forbidden", 3, &["NVreg_RestrictProfilingToAdminUsers=0", "SYS_ADMIN", "root"]),
        ("no_driver", 3, &["CUDA driver"]),
    ] {
        bench.profile(case, &[]).fails(code, parts);
        assert!(bench.left(".adoprof").is_empty(), "{case} left {:?}", bench.left(".adoprof"));
    }
    for import in ["junk", "truncated"] {
        ran(bench.profiling("success", &[]).env("STAND_IN_IMPORT", import)).code.unwrap();
        assert!(bench.left(".adoprof").is_empty(), "{import} left {:?}", bench.left(".adoprof"));
    }
}

#[test]
fn options_that_make_no_sense_are_refused_before_anything_runs() {
    let bench = Bench::new();
    for (args, parts) in [
        (&["-k", "a("][..], &["-k: `a(`", "unclosed group"][..]),
        (&["--ncu-args", "'open"], &["--ncu-args", "quote"]),
        (&["--ncu-args", "-o elsewhere"], &["-o"]),
    ] {
        bench.profile("success", args).fails(2, parts);
        assert!(bench.left(".adoprof").is_empty());
        assert!(!bench.path("argv").exists(), "ncu was not run");
    }
    bench.profile("success", &["--ncu-args", "--nonsense"]).fails(2, &["--nonsense"]);
}

#[test]
fn an_ncu_that_is_missing_foreign_or_too_old() {
    let bench = Bench::new();
    bench.script("program", "exit 0");
    let with = |ncu: &str| bench.run(&["profile", "--ncu", ncu, "--", "./program"]);
    with("/nowhere/ncu").fails(3, &["/nowhere/ncu", "install Nsight Compute"]);
    with("/bin/sh").fails(3, &["is not Nsight Compute's ncu"]);
    bench.profile("old", &[]).fails(3, &["2021.3.1", "2022.3.0"]);
    let named = ran(bench.command(&["profile", "--", "./program"]).env("ADOPROF_NCU", "/nowhere"));
    named.fails(3, &["/nowhere", "--ncu PATH"]);
    let dry = bench.run(&["step", "--kernel", "v2", "--dry-run", "--ncu", "/nowhere/ncu"]);
    dry.fails(3, &["/nowhere/ncu"]);
    assert!(bench.left(".adoprof").is_empty());
}

#[test]
fn a_time_limit_ends_the_run_and_leaves_nothing() {
    let bench = Bench::new();
    for (case, hint) in [("hang", false), ("hang_slow", true)] {
        let ran = bench.profile(case, &["--timeout", "3s", "-o", "out/here"]);
        ran.fails(3, &["3.00 s", "--timeout"]);
        assert_eq!(ran.err.contains("--replay-mode range"), hint, "{ran:?}");
        assert!(bench.left("out").is_empty(), "{:?}", bench.left("out"));
    }
}

#[test]
fn places_that_can_not_be_written_are_refused_first() {
    let bench = Bench::new();
    bench.write("occupied/file", "mine");
    bench.write("file", "mine");
    for (place, part) in [
        ("/proc/adoprof/x", "/proc"),
        ("file/x", "file"),
        ("occupied", "is not empty"),
        ("file", "is not empty"),
    ] {
        bench.profile("success", &["-o", place]).fails(2, &[part, "-o"]);
        assert!(!bench.path("argv").exists(), "{place}: ncu was not run");
    }
    assert_eq!(std::fs::read(bench.path("occupied/file")).unwrap(), b"mine");
    std::fs::create_dir(bench.path("fresh")).unwrap();
    assert_eq!(bench.profile("success", &["-o", "fresh"]).code, Some(0), "an empty one will do");
    bench.profile("success", &["-o", "fresh"]).fails(2, &["is not empty"]);
}

/// Waits for the stand-in to hang with its children.
fn wait_for_children(bench: &Bench) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while std::fs::read_to_string(bench.path("pids")).unwrap_or_default().trim().is_empty() {
        assert!(Instant::now() < deadline, "the stand-in did not start");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn two_runs_in_one_folder_and_ctrl_c() {
    let bench = Bench::new();
    bench.v2("pages/v2");
    let mut first = Command::new(env!("CARGO_BIN_EXE_adoprof"))
        .args(["profile", "--no-survey", "--ncu", &stand_in(), "-o", "out/here", "--", "./program"])
        .current_dir(bench.path(""))
        .env("STAND_IN_CASE", "hang")
        .env("STAND_IN_PIDS", bench.path("pids"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_children(&bench);
    bench.profile("success", &["-o", "out/here"]).fails(2, &["another adoprof run", "-o"]);
    assert_eq!(bench.profile("success", &["-o", "out/there"]).code, Some(0));
    assert!(first.try_wait().unwrap().is_none(), "the first run goes on");

    let signalled = Command::new("kill").args(["-INT", &first.id().to_string()]).status().unwrap();
    assert!(signalled.success());
    let output = first.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(output.stdout, b"");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.lines().last().unwrap().starts_with("adoprof: interrupted"), "{said}");
    let left = bench.left("out");
    assert!(left.iter().all(|path| path.starts_with(bench.path("out/there"))), "{left:?}");
    assert_eq!(bench.profile("success", &["-o", "out/here"]).code, Some(0), "the place is free");
}

#[test]
fn runs_of_one_second_get_folders_of_their_own() {
    let bench = Bench::new();
    bench.v2("pages/v2");
    let runs: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| bench.profile("success", &["-q"]))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(runs.iter().all(|run| run.code == Some(0)), "{runs:?}");
    let saved = std::fs::read_dir(bench.path(".adoprof/programs/program")).unwrap().count();
    assert_eq!(saved, 4);
}

#[test]
fn a_program_that_is_not_there_is_said_before_an_ncu_that_is_not() {
    let bench = Bench::new();
    for options in [&["--survey"][..], &["--no-survey"], &[]] {
        let words = [&["profile", "--ncu", "./no-ncu"], options, &["--", "./nothing"]].concat();
        bench.run(&words).fails(2, &["./nothing does not exist"]);
    }
}
