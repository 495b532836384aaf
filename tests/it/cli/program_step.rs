//! Steps that are programs, from end to end, with stand-ins for CUPTI, the program and ncu.

use serde_json::json;

use crate::cli::bench::{Bench, Ran, ran, stand_in};
use crate::survey::STAND_INS;

const PAGE: &str = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\"\n\
                    \"\",\"\",\"\",\"\",\"ns\"\n\
                    \"0\",\"add(float *, int)\",\"(128, 1, 1)\",\"(32, 2, 1)\",\"120\"\n\
                    \"1\",\"add(float *, int)\",\"(128, 1, 1)\",\"(64, 2, 1)\",\"110\"\n";

/// A ladder of one step with these keys; `PROGRAM` stands for the stand-in.
fn ladder(bench: &Bench, keys: &str) {
    let program = STAND_INS.program().display().to_string();
    let steps = keys.replace("PROGRAM", &program);
    let head = "name = \"mine\"\ntitle = \"t\"\nmetric = { unit = \"GB/s\", work = \"8 * N\" }\n\
                [parameters]\nN = 100\n";
    let step = "[[steps]]\nname = \"a\"\ntitle = \"a\"\n";
    std::fs::create_dir_all(bench.path("mine")).unwrap();
    bench.write("mine/ladder.toml", format!("{head}{step}{steps}"));
    bench.write("raw.csv", PAGE);
    bench.write("none.csv", "");
}

fn adoprof(bench: &Bench, words: &[&str]) -> Ran {
    let mut command = bench.command(words);
    command
        .env("ADOPROF_NCU", stand_in())
        .env("ADOPROF_CUPTI", STAND_INS.cupti())
        .env("STAND_IN_CUPTI_PATH", STAND_INS.cupti())
        .env("STAND_IN_CASE", "success")
        .env("STAND_IN_ARGV", bench.path("argv"))
        .env("STAND_IN_RAW", bench.path("raw.csv"))
        .env("STAND_IN_DETAILS", bench.path("none.csv"))
        .env("STAND_IN_SOURCE", bench.path("none.csv"));
    ran(&mut command)
}

fn step(bench: &Bench, more: &[&str]) -> Ran {
    let words = ["step", "--ladder", "./mine", "--kernel", "a"];
    adoprof(bench, &[&words, more].concat())
}

#[test]
fn the_launches_that_match_are_timed_and_profiled() {
    let bench = Bench::new();
    // Output of the build lies where the program runs.
    ladder(
        &bench,
        "build = \"sh -c 'cp PROGRAM ./built-{N}'\"\nrun = \"./built-{N} '' {N}\"\nmatch = \"^add\"\n\
         check = { output = \"^the program runs$\" }\n",
    );
    let ran = step(&bench, &["--format", "json", "--size", "N=50"]);
    let document = ran.json();
    assert!(bench.path("mine/built-50").is_file());
    // The stand-in launches `add` eight times for 100 ns each; 400 bytes in 800 ns.
    let step = &document["step"];
    assert_eq!(step["time_ns"], json!({ "median": 800.0, "low": 800.0, "high": 800.0, "n": 3 }));
    assert_eq!((&step["verified"], &step["size"]["N"]), (&json!(true), &json!(50)));
    assert_eq!(step["rate"], json!({ "value": 0.5, "unit": "GB/s" }));
    let program =
        json!({ "command": "./built-50 '' 50", "checked_by": "output", "timed_by": "survey" });
    assert_eq!(step["program"], program);
    let shares = document["launches"].as_array().unwrap().iter().map(|l| l["time_share"].clone());
    assert_eq!(shares.collect::<Vec<_>>(), [0.5, 0.5], "of the time of `add` alone");
    assert_eq!(document["program"], json!(null), "the document is a step's");
    let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
    let id = "--kernel-name-base\nmangled\n--kernel-id\n::regex:^(_Z3addPfi)$:^(2|3)$\n";
    assert!(argv.contains(id), "{argv}");
    assert!(argv.ends_with("/mine/built-50\n\n50\n"), "{argv}");

    // What is saved is enough for what reads it later.
    let saved = format!("./{}", document["saved"].as_str().unwrap());
    let again = bench.run(&["analyze", &saved, "--format", "json"]).json();
    assert_eq!(
        (&again["step"], &again["launches"], &again["verdict"]),
        (&document["step"], &document["launches"], &document["verdict"])
    );
    let diff = bench.run(&["diff", &saved, &saved]);
    assert!(diff.out.contains("the same") || diff.out.contains("230 ns"), "{diff:?}");
}

#[test]
fn every_failure_says_what_to_do() {
    let bench = Bench::new();
    for (keys, code, words) in [
        (
            "build = \"sh -c 'echo v1.cu: error: no such thing; exit 2'\"\nrun = \"./x\"\n",
            4,
            &["the build failed", "ended with code 2", "| v1.cu: error: no such thing"][..],
        ),
        (
            "build = \"nvcc-9 x\"\nrun = \"./x\"\n",
            3,
            &["mine/a: there is no program nvcc-9 in PATH"],
        ),
        ("build = \"true\"\nrun = \"./x\"\n", 2, &["no `./x`", "`build` made no such file"]),
        ("run = \"./x\"\n", 2, &["no `./x`", "as `build`"]),
        ("run = \"PROGRAM fails\"\n", 4, &["the program failed", "ended with code 3"]),
        (
            "run = \"PROGRAM\"\ncheck = { output = \"PASS\" }\n",
            4,
            &["wrong answer", "`PASS`", "| the program runs"],
        ),
        (
            "run = \"PROGRAM\"\ncheck = { run = \"sh -c 'echo sum is {N}; exit 1'\" }\n",
            4,
            &["wrong answer", "ended with code 1", "| sum is 100"],
        ),
        (
            "run = \"PROGRAM\"\ntime = { output = \"took (.*) (ms)\" }\n",
            2,
            &["nothing in the program's output matches `time`", "| the program runs"],
        ),
        (
            "run = \"PROGRAM\"\nmatch = \"^sub\"\n",
            2,
            &["no kernel's name matches `match`, `^sub`", "launches add, mul"],
        ),
        ("run = \"PROGRAM no-cuda\"\n", 3, &["can't be timed by a survey", "add `time`"]),
    ] {
        ladder(&bench, keys);
        let ran = step(&bench, &[]);
        assert_eq!(ran.code, Some(code), "{keys}: {ran:?}");
        for word in words {
            assert!(ran.err.contains(word), "{keys}: no `{word}`: {}", ran.err);
        }
        assert!(!bench.path(".adoprof/mine/a").is_dir() || is_empty(&bench, ".adoprof/mine/a"));
    }
}

fn is_empty(bench: &Bench, folder: &str) -> bool {
    std::fs::read_dir(bench.path(folder)).unwrap().next().is_none()
}

#[test]
fn times_come_from_the_output() {
    let bench = Bench::new();
    let run = "run = \"sh -c 'echo run took {N} us; echo run took 300 us; PROGRAM'\"\nruns = 2\n";
    ladder(&bench, &format!("{run}time = {{ output = \"took ([0-9]+) (us)\" }}\n"));
    let ran = step(&bench, &["--format", "json", "--time-only"]);
    let document = ran.json();
    // 100 and 300 µs, twice.
    let time = &document["step"]["time_ns"];
    assert_eq!((&time["median"], &time["n"]), (&json!(200_000.0), &json!(4)));
    assert_eq!(document["step"]["verified"], false);
    assert!(ran.err.contains("no `check`") || document.to_string().contains("no `check`"));
    let ran = step(&bench, &["--format", "json"]);
    assert_eq!(ran.json()["launches"].as_array().unwrap().len(), 2, "profiled after a survey");
    assert!(ran.err.contains("10 launches of 4 kinds count"), "{}", ran.err);
}

#[test]
fn a_time_stands_where_ncu_finds_none_of_the_launches() {
    let bench = Bench::new();
    ladder(&bench, "run = \"PROGRAM\"\nmatch = \"^add\"\n");
    let mut command = bench.command(&["step", "--ladder", "./mine", "--kernel", "a"]);
    command
        .env("ADOPROF_NCU", stand_in())
        .env("ADOPROF_CUPTI", STAND_INS.cupti())
        .env("STAND_IN_CUPTI_PATH", STAND_INS.cupti())
        .env("STAND_IN_CASE", "kernel_filter_no_match")
        .env("STAND_IN_ARGV", bench.path("argv"));
    let ran = ran(&mut command);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.out.contains("mine/a takes 800.0 ns"), "{ran:?}");
    let said = format!("{}{}", ran.out, ran.err).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["were not found in another run", "timed but not profiled"] {
        assert!(said.contains(words), "no `{words}`: {said}");
    }
    let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
    assert!(argv.contains("-k\nregex:^add\n") && argv.contains("--launch-count\n10\n"), "{argv}");
    assert_eq!(std::fs::read_dir(bench.path(".adoprof/mine/a")).unwrap().count(), 1);
}

#[test]
fn what_does_not_apply_to_a_program_is_refused() {
    let bench = Bench::new();
    ladder(&bench, "run = \"PROGRAM\"\ntune = { EACH = 4 }\n");
    for (words, part) in [
        (&["step", "--kernel", "a", "--cpu"][..], "--cpu does not apply to step `a`"),
        (&["step", "--kernel", "a", "--device", "1"], "set CUDA_VISIBLE_DEVICES"),
        (&["run", "--cpu"], "--cpu does not apply to step `a`"),
        (&["limiter", "--kernel", "a"], "step `a` is a program"),
        (&["sweep", "--kernel", "a", "--over", "block=32,64"], "mine/a is a program"),
        (&["step", "--kernel", "a", "--recorded"], "no profile of mine/a at N=100 yet"),
    ] {
        let words = [&words[..1], &["--ladder", "./mine"], &words[1..]].concat();
        adoprof(&bench, &words).fails(2, &[part]);
    }
    let swept = adoprof(
        &bench,
        &["sweep", "--ladder", "./mine", "--kernel", "a", "--over", "EACH=1,2", "--format", "json"],
    );
    let points = swept.json()["points"].as_array().unwrap().len();
    assert_eq!(points, 2, "{swept:?}");
}

#[test]
fn a_ladder_of_programs_is_run_and_compared() {
    let bench = Bench::new();
    ladder(
        &bench,
        "run = \"PROGRAM\"\n[[steps]]\nname = \"b\"\ntitle = \"b\"\nrun = \"PROGRAM\"\nmatch = \"^mul\"\n\
         [[steps]]\nname = \"c\"\ntitle = \"c\"\nrun = \"PROGRAM fails\"\n",
    );
    let ran = adoprof(&bench, &["run", "--ladder", "./mine", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    // Ten launches of 100 ns, two of them of `mul`; the third step fails and the others stand.
    let times: Vec<f64> = document["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["step"]["time_ns"]["median"].as_f64().unwrap())
        .collect();
    assert_eq!((times, ran.code), (vec![1000.0, 200.0], Some(4)), "{}", ran.err);
    let words = ["step", "--ladder", "./mine", "--kernel", "b", "--baseline", "a", "--format"];
    let compared = adoprof(&bench, &[&words[..], &["json"]].concat()).json();
    assert_eq!(compared["diff"]["speedup"], 5.0, "{}", compared["diff"]);
    let diff = bench.run(&["diff", "a", "b", "--ladder", "./mine"]);
    assert!(diff.out.contains("5.00× faster"), "{diff:?}");
    let shown = bench.run(&["ladder", "show", "./mine"]);
    assert!(shown.out.contains("Steps that are programs"), "{shown:?}");
    let dry = adoprof(&bench, &["run", "--ladder", "./mine", "--dry-run"]);
    assert!(dry.out.contains("--kernel-id") && dry.out.contains("# 3 times"), "{dry:?}");
}
