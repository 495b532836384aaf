//! `adoprof check` from recordings, and of programs: no device is needed.

use crate::cli::bench::{Bench, Ran, ran, stand_in};
use crate::cli::survey::{CHOSEN, page};
use crate::survey::STAND_INS;

/// Checks recorded steps.
fn recorded(args: &[&str]) -> Ran {
    let args: Vec<&str> = ["check", "--recorded"].into_iter().chain(args.iter().copied()).collect();
    Bench::new().run(&args)
}

fn exits(ran: &Ran, code: i32, words: &[&str]) {
    assert_eq!(ran.code, Some(code), "{ran:?}");
    for word in words {
        assert!(ran.out.contains(word), "no `{word}` in\n{}{}", ran.out, ran.err);
    }
}

#[test]
fn a_slower_step_fails_and_says_what_came() {
    let ran = recorded(&["--baseline", "v3", "v2"]);
    exits(&ran, 1, &["SLOWER", "recorded apart", "different processes", "new"]);
    assert!(ran.err.contains("recording of"), "{}", ran.err);
}

#[test]
fn a_faster_step_and_the_same_step_pass() {
    exits(&recorded(&["--baseline", "v2", "v3"]), 0, &["FASTER"]);
    exits(&recorded(&["--baseline", "v2", "v2"]), 0, &["SAME"]);
}

#[test]
fn unlike_things_are_refused_with_each_difference() {
    let ran = recorded(&["--baseline", "v2", "reduce/r2"]);
    exits(
        &ran,
        5,
        &["not compared", "unlike: problem: ado against reduce", "unlike: size", "--force"],
    );
    let forced = recorded(&["--baseline", "v2", "reduce/r2", "--force"]);
    exits(&forced, 0, &["FASTER", "unlike: problem"]);
}

#[test]
fn gates_judge_counters_without_times() {
    let metric = "metric:l1tex__data_pipe_lsu_wavefronts.sum>+10%";
    // As the help writes it; recordings have what was read and what was written.
    let traffic = ["--no-time", "--fail-on", "metric:dram__bytes.sum>+10%"];
    let as_much = recorded(&[&["--baseline", "v2", "v2"][..], &traffic].concat());
    assert!(
        as_much.code == Some(0) && as_much.out.contains("passed: metric:dram__bytes.sum"),
        "{as_much:?}"
    );
    let same = recorded(&["--baseline", "v2", "v2", "--no-time", "--fail-on", metric]);
    exits(&same, 0, &["passed", "times not compared"]);
    let rule = recorded(&[
        "--baseline",
        "v2",
        "v2",
        "--no-time",
        "--fail-on",
        "rule:shared-memory-pressure",
    ]);
    let other =
        recorded(&["--baseline", "v2", "v2", "--no-time", "--fail-on", "rule:host-memory-access"]);
    exits(&rule, 1, &["failed: rule:shared-memory-pressure", "1 gate failed"]);
    exits(&other, 0, &["passed: rule:host-memory-access"]);
    let unknown =
        recorded(&["--baseline", "v2", "v2", "--no-time", "--fail-on", "metric:no_such>1"]);
    exits(&unknown, 5, &["unknown: metric:no_such>1", "was not collected"]);
    assert!(unknown.err.contains("--ncu-args '--metrics no_such'"), "{}", unknown.err);
}

#[test]
fn what_is_not_timed_is_not_called_faster() {
    let gate =
        ["--baseline", "v2", "v3", "--no-time", "--fail-on", "rule:uncoalesced-global-access"];
    let failed =
        ["--baseline", "v2", "v3", "--no-time", "--fail-on", "rule:shared-memory-pressure"];
    for args in [gate, failed] {
        for form in ["text", "markdown", "junit"] {
            let ran = recorded(&[&args[..], &["--format", form, "-v"]].concat());
            assert!(!ran.out.contains("faster"), "{ran:?}");
        }
        let json = recorded(&[&args[..], &["--format", "json"]].concat()).out;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["cause"]["speedup"], serde_json::Value::Null);
    }
    let timed = recorded(&["--baseline", "v2", "v3", "-v"]);
    assert!(timed.out.contains("faster"), "{timed:?}");
}

#[test]
fn every_form_holds_the_check() {
    let of = |form: &str| recorded(&["--baseline", "v3", "v2", "--format", form]);
    let json: serde_json::Value = serde_json::from_str(&of("json").out).unwrap();
    assert_eq!(
        (&json["verdict"], &json["exit_code"], &json["passed"]),
        (&"SLOWER".into(), &1.into(), &false.into())
    );
    assert_eq!(json["timed"], "apart");
    assert!(json["comparison"]["time"]["low"].as_f64().unwrap() > 1.03);
    exits(&of("junit"), 1, &["<testsuites", "failures=\"1\"", "<failure", "SLOWER"]);
    exits(&of("github"), 1, &["::error ", "SLOWER"]);
    exits(&of("markdown"), 1, &["### adoprof:", "SLOWER", "<details open>"]);
    exits(&of("csv"), 1, &["ratio", "SLOWER"]);
    exits(&of("sarif"), 1, &["slower-than-baseline"]);
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let bench = Bench::new();
    for (args, words) in [
        (&["check", "v2"][..], "--baseline"),
        (&["check", "--baseline", "v2"], "required"),
        (&["check", "--baseline", "v2", "v3", "--fail-on", "speed"], "metric:NAME>+10%"),
        (&["check", "--baseline", "v2", "v3", "--no-time"], "--fail-on"),
        (&["check", "--baseline", "v2", "v3", "--max-slowdown", "fast"], "0.5%"),
        (&["check", "--baseline-program", "true"], "PROGRAM"),
        (&["check", "--baseline", "v2", "v3", "--max-slowdown", "-1%"], "can't be negative"),
        (&["check", "--baseline", "v4", "v3", "--max-slowdown", "5"], "write 5%"),
        (
            &["check", "--baseline", "v2", "v3", "--fail-on", "rule:partial-wav"],
            "did you mean `partial-wave`?",
        ),
    ] {
        let ran = bench.run(args);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains(words), "no `{words}`: {ran:?}");
    }
}

#[test]
fn a_program_is_gated_by_its_whole_time_where_it_has_no_kernels() {
    let bench = Bench::new();
    let check = |base: &str, new: &[&str]| {
        let mut args = vec!["check", "--max-time", "4s", "--max-slowdown", "50%"];
        args.extend(["--baseline-program", base, "--"]);
        args.extend(new);
        bench.run(&args)
    };
    let slower = check("sleep 0.02", &["sleep", "0.1"]);
    exits(&slower, 1, &["SLOWER", "sleep 0.02"]);
    assert!(slower.err.contains("recorded no kernels"), "{}", slower.err);
    let failed = check("true", &["false"]);
    assert_eq!(failed.code, Some(4), "{failed:?}");
}

/// Checks the stand-in for a program against itself by gates alone.
fn gated(what: &str, gate: &str) -> Ran {
    gated_in(&Bench::new(), what, gate)
}

fn gated_in(bench: &Bench, what: &str, gate: &str) -> Ran {
    let program = STAND_INS.program().display().to_string();
    let mut command = bench.command(&["check", "--no-time", "--ncu", &stand_in()]);
    command
        .args(["--fail-on", gate, "--baseline-program", &program, "--", &program, what])
        .env("STAND_IN_ARGV", bench.path("argv"));
    let ran = ran(bench.stand_ins(&mut command, &page(&CHOSEN)));
    assert_eq!(
        bench.path("argv.profile").exists(),
        gate.starts_with("metric"),
        "ncu runs for counters alone"
    );
    ran
}

#[test]
fn what_a_gate_asks_for_is_collected() {
    let bench = Bench::new();
    // The stand-in's pages lack it all the same.
    let ran = gated_in(&bench, "", "metric:sm__inst_made_up.sum>1");
    exits(&ran, 5, &["unknown: metric:sm__inst_made_up.sum>1", "was not collected"]);
    assert!(ran.err.contains("ncu was asked for sm__inst_made_up.sum"), "{}", ran.err);
    let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
    let metrics = argv.lines().skip_while(|word| *word != "--metrics").nth(1).unwrap();
    assert!(metrics.split(',').any(|name| name == "sm__inst_made_up.sum"), "{metrics}");
    gated_in(&bench, "", "metric:gpu__time_duration.sum>1e9");
    let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
    assert!(!argv.contains("made_up"), "{argv}");
}

/// A saved profile of the stand-in for a program, as if each of its kernels had been launched ten times as often and
/// for so many times as long.
fn surveyed(bench: &Bench, folder: &str, times_as_long: u32) {
    let program = STAND_INS.program().display().to_string();
    let mut command = bench.command(&["profile", "--ncu", &stand_in(), "-o", folder]);
    let ran = ran(bench.stand_ins(command.args(["--", &program]), &page(&CHOSEN)));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    if times_as_long > 0 {
        let file = format!("{folder}/program.json");
        let text = std::fs::read_to_string(bench.path(&file)).unwrap();
        let mut survey: serde_json::Value = serde_json::from_str(&text).unwrap();
        for group in survey["program"]["groups"].as_array_mut().unwrap() {
            group["launches"] = (10 * group["launches"].as_u64().unwrap()).into();
            let ns = group["total_ns"].as_f64().unwrap();
            group["total_ns"] = (10.0 * ns * f64::from(times_as_long)).into();
        }
        bench.write(&file, survey.to_string());
    }
}

#[test]
fn surveyed_programs_are_compared_by_the_time_of_their_kernels() {
    let bench = Bench::new();
    for (folder, times) in [("base", 1), ("slow", 2), ("seldom", 0)] {
        surveyed(&bench, folder, times);
    }
    let check = |base: &str, new: &str| {
        bench.run(&["check", "--baseline", &format!("./{base}"), &format!("./{new}")])
    };
    let same = check("base", "base");
    exits(&same, 0, &["SAME", "+0.00%", "1 run of each, recorded apart"]);
    assert!(same.err.contains("one surveyed run of each program;"), "{}", same.err);
    // Ten times 1000 ns, and twice that.
    exits(&check("base", "slow"), 1, &["SLOWER, +100.00%", "10.00 µs", "20.00 µs"]);
    let seldom = check("base", "seldom");
    exits(&seldom, 5, &["UNDECIDED"]);
    assert!(seldom.err.contains("fewer than 5 times"), "{}", seldom.err);
    assert!(seldom.err.contains("--baseline-program BASE -- NEW"), "{}", seldom.err);
    let survey = std::fs::read_to_string(bench.path("slow/program.json")).unwrap();
    let mut survey: serde_json::Value = serde_json::from_str(&survey).unwrap();
    let command = format!("{} --steps 50", survey["program"]["command"].as_str().unwrap());
    survey["program"]["command"] = command.into();
    bench.write("slow/program.json", survey.to_string());
    let other = check("base", "slow");
    exits(&other, 5, &["arguments: none against --steps 50"]);
    bench.v2("v2");
    let report = check("base", "v2.raw.csv");
    exits(&report, 5, &["UNDECIDED"]);
    assert!(report.err.contains("`adoprof profile -- PROGRAM` records them"), "{}", report.err);
}

#[test]
fn a_program_is_gated_by_its_survey_and_by_its_counters() {
    // The stand-in's copies take nanoseconds of a program that takes milliseconds.
    exits(&gated("", "rule:small-copies"), 0, &["passed: rule:small-copies", "times not compared"]);
    exits(
        &gated("no-cuda", "rule:small-copies"),
        5,
        &["unknown: rule:small-copies", "was not surveyed"],
    );
    let time = "metric:gpu__time_duration.sum";
    exits(&gated("", &format!("{time}>125")), 1, &["failed", "mul: gpu__time_duration.sum is 130"]);
    exits(&gated("", &format!("{time}>+1%")), 0, &["passed"]);
    let gate = format!("{time}>1");
    let args = ["check", "--no-time", "--ncu", "/nowhere/ncu", "--fail-on", &gate];
    let program = ["--baseline-program", "true", "--", "true"];
    let without_ncu = Bench::new().run(&[&args[..], &program].concat());
    assert_eq!(without_ncu.code, Some(3), "{without_ncu:?}");
    assert!(without_ncu.err.contains("could not be profiled for --fail-on"), "{without_ncu:?}");
}
