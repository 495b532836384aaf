//! `profile -- PROGRAM` with its survey, from end to end, with stand-ins for CUPTI, the program and ncu.

use serde_json::{Value, json};

use crate::cli::bench::{Bench, Ran, ran, stand_in};
use crate::survey::STAND_INS;

/// A raw page of launches, each with its kernel, blocks in x and duration.
pub(crate) fn page(launches: &[(&str, u32, u32)]) -> String {
    let mut page = String::from(
        "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\"\n\
         \"\",\"\",\"\",\"\",\"ns\"\n",
    );
    for (id, (kernel, grid, ns)) in launches.iter().enumerate() {
        let cells =
            [&id.to_string(), *kernel, "(128, 1, 1)", &format!("({grid}, 2, 1)"), &ns.to_string()];
        page += &cells.map(|cell| format!("\"{cell}\"")).join(",");
        page.push('\n');
    }
    page
}

/// Profiles the stand-in for a program; `profiled` is what ncu then collects.
fn profile(bench: &Bench, options: &[&str], what: &str, profiled: &[(&str, u32, u32)]) -> Ran {
    let (ncu, case) = (stand_in(), "success");
    profile_by(&ncu, case, bench, options, what, profiled)
}

/// The same by another ncu, or one that fails.
fn profile_by(
    ncu: &str,
    case: &str,
    bench: &Bench,
    options: &[&str],
    what: &str,
    profiled: &[(&str, u32, u32)],
) -> Ran {
    bench.write("raw.csv", page(profiled));
    bench.write("none.csv", "");
    let program = STAND_INS.program().display().to_string();
    let mut command = bench.command(&["profile", "--ncu", ncu]);
    command
        .args(options)
        .args(["--", &program, what])
        .env("ADOPROF_CUPTI", STAND_INS.cupti())
        .env("STAND_IN_CUPTI_PATH", STAND_INS.cupti())
        .env("STAND_IN_CASE", case)
        .env("STAND_IN_ARGV", bench.path("argv"))
        .env("STAND_IN_RAW", bench.path("raw.csv"))
        .env("STAND_IN_DETAILS", bench.path("none.csv"))
        .env("STAND_IN_SOURCE", bench.path("none.csv"));
    ran(&mut command)
}

/// The stand-in launches `add` eight times in two grids in turn, and `mul` once in each.
pub(crate) const CHOSEN: [(&str, u32, u32); 3] =
    [("add(float *, int)", 32, 120), ("add(float *, int)", 64, 110), ("mul(float *)", 32, 130)];

fn launches_of_groups(document: &Value) -> Vec<(String, u64, Value)> {
    let groups = document["program"]["groups"].as_array().unwrap();
    let of = |group: &Value| {
        let kernel = group["kernel"].as_str().unwrap().to_owned();
        (kernel, group["grid"][0].as_u64().unwrap(), group["launch"].clone())
    };
    groups.iter().map(of).collect()
}

#[test]
fn one_launch_of_each_kind_that_matters_is_profiled() {
    let bench = Bench::new();
    let ran = profile(&bench, &["--format", "json"], "", &CHOSEN);
    let document = ran.json();
    let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
    // 90% of the time: both grids of `add` and one of `mul`, the second and third launches of each.
    let id = "--kernel-name-base\nmangled\n--kernel-id\n::regex:^(_Z3addPfi|_Z3mulPf)$:^(2|3)$\n";
    assert!(argv.contains(id) && !argv.contains("--launch-count"), "{argv}");
    for part in ["10 launches of 4 kinds", "profiling 3 launches of 3 kinds", "90% of the kernels"]
    {
        assert!(ran.err.contains(part), "no `{part}`: {}", ran.err);
    }
    // Of the launches that are profiled, the second of `mul` comes after the six gigabytes.
    let price = "; ncu saves up to 9.00 GB of memory per launch, and restores before each further pass what the \
                 launch changed; where the copy does not fit beside the program in the GPU's 16.0 GB, ncu keeps it in \
                 host memory or in a file";
    assert!(ran.err.contains(price), "{}", ran.err);
    assert_eq!(
        document["program"]["memory"],
        json!([{ "device": 0, "total_bytes": 16_000_000_000_u64, "peak_bytes": 9_000_000_000_u64 }])
    );
    let reach = |at: usize| &document["program"]["groups"][at]["reachable_bytes"];
    assert_eq!([reach(0), reach(1)], [9_000_000_000_u64; 2]);
    let (add, mul) = ("add(float*, int)".to_owned(), "mul(float*)".to_owned());
    assert_eq!(
        launches_of_groups(&document),
        [
            (add.clone(), 32, json!(0)),
            (add, 64, json!(1)),
            (mul.clone(), 32, json!(2)),
            (mul, 64, Value::Null)
        ]
    );
    let shares: Vec<f64> = document["launches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|launch| launch["time_share"].as_f64().unwrap())
        .collect();
    assert_eq!(shares, [0.4, 0.4, 0.1], "of the kernels' time without the profiler");
    assert_eq!(document["program"]["kernel_busy_ns"], 1000.0);
    assert_eq!(document["program"]["gpu_busy_ns"], 1500.0);

    let saved = format!("./{}", document["saved"].as_str().unwrap());
    let again = bench.run(&["analyze", &saved, "--format", "json"]).json();
    assert_eq!(
        (&again["program"], &again["launches"]),
        (&document["program"], &document["launches"])
    );
}

#[test]
fn less_is_profiled_where_less_is_asked_for() {
    let bench = Bench::new();
    let ran = profile(&bench, &["--top", "1"], "", &CHOSEN[..1]);
    assert!(ran.err.contains("profiling 1 launch of 1 kind, which takes"), "{ran:?}");
    let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
    assert!(argv.contains("::regex:^(_Z3addPfi)$:^(2)$"), "{argv}");
    for (option, value) in [("--coverage", "101%"), ("--coverage", "x"), ("--top", "0")] {
        assert_eq!(profile(&bench, &[option, value], "", &[]).code, Some(2), "{option} {value}");
    }
    // With a filter there is no survey, and nothing to choose from.
    let filtered = profile(&bench, &["-k", "add", "--coverage", "50%"], "", &[]);
    assert_eq!(filtered.code, Some(2), "{filtered:?}");
}

#[test]
fn a_survey_alone_needs_no_ncu() {
    let bench = Bench::new();
    let ran = profile(&bench, &["--survey", "--ncu", "/nowhere/ncu"], "fails", &[]);
    assert_eq!(ran.code, Some(2), "ncu twice");
    let ran = profile(&bench, &["--survey"], "fails", &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("add ") && ran.out.contains("surveyed only"), "{}", ran.out);
    for part in ["ended with code 3", "last lines: the program runs", "CUPTI lost 3 records"] {
        assert!(ran.err.contains(part), "no `{part}`: {}", ran.err);
    }
    // 128 threads of 40 registers: 48 warps of the 64, on 132 SMs of 12 blocks each.
    for part in ["occupancy", "75% by registers (40)", "waves"] {
        assert!(ran.out.contains(part), "no `{part}`: {}", ran.out);
    }
    assert!(!bench.path("argv").exists() && !bench.path(".adoprof").exists());
    profile(&bench, &["--survey"], "no-cuda", &[]).fails(3, &["nothing was surveyed: "]);
}

#[test]
fn the_survey_stands_where_ncu_can_not_profile() {
    let bench = Bench::new();
    for (ncu, case, why) in
        [("/nowhere/ncu", "success", "/nowhere/ncu"), (&*stand_in(), "forbidden", "counters")]
    {
        let ran = profile_by(ncu, case, &bench, &["--format", "json"], "", &[]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        let document: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(launches_of_groups(&document).len(), 4);
        let residency = &document["program"]["groups"][0]["residency"];
        assert_eq!(residency["blocks_per_sm"], 12, "{residency}");
        // Static 1024 and dynamic 2048 bytes.
        assert_eq!(residency["shared_bytes"], 3072);
        assert_eq!(residency["limited_by"], "registers");
        let notice = document["notices"][0].as_str().unwrap();
        assert!(notice.contains("no launch was profiled") && notice.contains(why), "{notice}");
    }
    assert!(bench.left(".adoprof").is_empty(), "no profile without a launch");
    profile_by("/nowhere/ncu", "success", &bench, &[], "no-cuda", &[]).fails(3, &["/nowhere/ncu"]);
}

#[test]
fn markdown_has_the_groups_and_what_lies_around_them() {
    let bench = Bench::new();
    let ran = profile(&bench, &["--survey", "--format", "markdown"], "", &[]);
    assert!(ran.out.contains("| `add` | 32×2 × 128 | 4 | 400 ns | 40% |"), "{}", ran.out);
    assert!(ran.out.contains("| `mul` | 64×2 × 128 | 1 | 100 ns | 10% |"), "{}", ran.out);
}

#[test]
fn filters_go_without_a_survey() {
    let bench = Bench::new();
    for options in [
        &["-k", "add"][..],
        &["--launch-count", "3"],
        &["--launch-skip", "0"],
        &["--no-survey"],
        &["--nvtx", "step/"],
        &["--ncu-args", "--nvtx-include x"],
    ] {
        let ran = profile(&bench, options, "", &CHOSEN);
        assert!(!ran.err.contains("surveyed"), "{options:?}: {ran:?}");
    }
}

#[test]
fn a_program_that_can_not_be_surveyed_is_profiled_all_the_same() {
    let bench = Bench::new();
    let ran = profile(&bench, &["--format", "json"], "no-cuda", &CHOSEN);
    let document = ran.json();
    assert_eq!(
        (&document["program"], document["launches"].as_array().unwrap().len()),
        (&Value::Null, 3)
    );
    let notices = document["notices"].to_string();
    assert!(notices.contains("the survey found no kernels: "), "{notices}");
    let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
    assert!(argv.contains("--launch-count\n10\n"), "{argv}");
}

#[test]
fn without_cupti_the_durations_come_from_ncu() {
    let bench = Bench::new();
    let program = STAND_INS.program().display().to_string();
    bench.write("raw.csv", page(&CHOSEN));
    bench.write("none.csv", "");
    let ran = ran(bench
        .command(&["profile", "--ncu", &stand_in(), "--format", "json", "--", &program])
        .env("ADOPROF_CUPTI", "/nowhere/libcupti.so")
        .env("STAND_IN_CASE", "success")
        .env("STAND_IN_ARGV", bench.path("argv"))
        .env("STAND_IN_RAW", bench.path("raw.csv"))
        .env("STAND_IN_DETAILS", bench.path("none.csv"))
        .env("STAND_IN_SOURCE", bench.path("none.csv")));
    let document = ran.json();
    // The same page serves both runs: 120, 110 and 130 ns.
    let groups = launches_of_groups(&document);
    let grids: Vec<u64> = groups.iter().map(|(_, grid, _)| *grid).collect();
    assert_eq!((grids, groups[0].0.as_str()), (vec![32, 32, 64], "mul(float *)"));
    assert_eq!(document["program"]["kernel_busy_ns"], 360.0);
    assert_eq!(document["program"]["findings"], json!([]), "ncu runs one kernel at a time");
    let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
    let id = r"::regex:^(add\(float \*, int\)|mul\(float \*\))$:^(1|2)$";
    assert!(
        argv.contains(&format!("--kernel-name-base\ndemangled\n--kernel-id\n{id}\n")),
        "{argv}"
    );
    let notices = document["notices"].to_string();
    assert!(notices.contains("ADOPROF_CUPTI names does not open"), "{notices}");
    assert!(notices.contains("kernel durations come from ncu"), "{notices}");
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let bench = Bench::new();
    let ran = bench.run(&["profile", "--ncu", &stand_in(), "--", "./nope"]);
    ran.fails(2, &["./nope", "does not exist"]);
}

#[test]
fn a_program_is_looked_for_in_path_by_its_name() {
    let bench = Bench::new();
    let program = STAND_INS.program();
    let name = program.file_name().unwrap().to_str().unwrap();
    let survey = |path: &std::path::Path| {
        let path = std::env::join_paths([path, "/usr/bin".as_ref(), "/bin".as_ref()]).unwrap();
        ran(bench
            .command(&["profile", "--survey", "--format", "json", "--", name])
            .env("PATH", path)
            .env("ADOPROF_CUPTI", STAND_INS.cupti())
            .env("STAND_IN_CUPTI_PATH", STAND_INS.cupti()))
    };
    assert_eq!(survey(program.parent().unwrap()).json()["program"]["groups"][0]["launches"], 4);
    survey(&bench.path("nowhere")).fails(2, &["no program", "in PATH", &format!("write ./{name}")]);
}

#[test]
fn kernels_that_wait_for_other_ranks_are_listed_and_not_profiled() {
    let bench = Bench::new();
    let chosen = &CHOSEN[..2];
    let ran = profile(&bench, &["--coverage", "100%", "--format", "json"], "collective", chosen);
    let document = ran.json();
    let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
    assert!(argv.contains("::regex:^(_Z3addPfi)$:") && !argv.contains("nccl"), "{argv}");
    let notices = document["notices"].to_string();
    for part in ["1 kernel with 20%", "ncclDevKernel_AllReduce", "--include-communication"] {
        assert!(notices.contains(part), "no `{part}`: {notices}");
    }
    let groups = launches_of_groups(&document);
    assert_eq!(groups.len(), 4, "their time is shown: {groups:?}");
    assert!(groups[2].0.contains("nccl") && groups[2].2.is_null(), "{groups:?}");

    let options = ["--coverage", "100%", "--include-communication"];
    let ran = profile(&bench, &options, "collective", chosen);
    assert!(!ran.err.contains("wait for"), "{ran:?}");
    let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
    assert!(argv.contains("|_Z3addPfi)$") || argv.contains("(_Z23nccl"), "{argv}");
}

#[test]
fn a_program_of_collectives_alone_is_only_surveyed() {
    let bench = Bench::new();
    let ran = profile(&bench, &[], "collectives", &CHOSEN);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("ncclDevKernel_All"), "{ran:?}");
    assert!(ran.err.contains("100% of the kernels' time not profiled"), "{ran:?}");
    assert!(!bench.path("argv.profile").exists(), "ncu would wait for ever");
}

#[test]
fn where_the_chosen_launches_do_not_come_again_collectives_stay_out() {
    let bench = Bench::new();
    let ran = profile_by(&stand_in(), "no_kernels", &bench, &[], "collective", &[]);
    assert_ne!(ran.code, Some(0), "{ran:?}");
    let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
    assert!(argv.contains("--launch-count\n10\n-k\nregex:^(add)$\n"), "{argv}");
}

#[test]
fn a_phase_limits_the_choice_and_not_the_numbers() {
    let bench = Bench::new();
    // The GPU works from 1000 ns on; the sixth to eighth kernels start at 7000, 8000 and 9000 ns.
    let options = ["--phase", "6us..9us", "--coverage", "100%", "--format", "json"];
    let ran = profile(&bench, &options, "", &CHOSEN[..2]);
    let document = ran.json();
    let launches: u64 = document["program"]["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["launches"].as_u64().unwrap())
        .sum();
    assert_eq!(launches, 3);
    assert_eq!(document["program"]["kernel_busy_ns"], 300.0);
    // The fifth kernel of all is the first `mul`, so of `add` these are the fifth to seventh launches.
    let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
    let numbers = argv.split_once("(_Z3addPfi)$:^(").expect(&argv).1;
    let numbers = numbers.split_once(")$").unwrap().0;
    assert!(numbers.split('|').all(|number| ["5", "6", "7"].contains(&number)), "{numbers}");
    assert!(document["notices"].to_string().contains("that --phase chose"), "{document}");

    profile(&bench, &["--phase", "1s.."], "", &CHOSEN).fails(2, &["no kernel starts"]);
    for options in [&["--phase", "5s..1s"][..], &["--phase", "1s..", "-k", "add"]] {
        let ran = profile(&bench, options, "", &CHOSEN);
        assert!(ran.code == Some(2) && ran.err.contains("--phase"), "{ran:?}");
    }
}

#[test]
fn a_range_of_nvtx_is_ncus_to_find() {
    let bench = Bench::new();
    let ran = profile(&bench, &["--nvtx", "step/"], "", &CHOSEN);
    let argv = std::fs::read_to_string(bench.path("argv.profile")).unwrap();
    assert!(argv.contains("--nvtx\n--nvtx-include\nstep/\n"), "{argv}");
    assert!(ran.err.contains("--nvtx skips the survey"), "{ran:?}");
    let again = profile(&bench, &["--nvtx", "step/", "--ncu-args=--nvtx"], "", &CHOSEN);
    assert!(!again.err.contains("more than once"), "{again:?}");
}

#[test]
fn the_time_limit_is_one_of_survey_and_profile_together() {
    let bench = Bench::new();
    let ncu = stand_in();
    let ran = profile_by(&ncu, "hang", &bench, &["--timeout", "6s"], "lingers", &CHOSEN);
    let limit = "when it and the runs before it had taken 6.00 s together";
    assert!(ran.err.contains(limit), "{ran:?}");
    // The survey is not lost.
    assert!(ran.err.contains("10 launches of 4 kinds") && ran.out.contains("mul"), "{ran:?}");
}

#[test]
fn a_program_that_does_not_end_is_surveyed_up_to_the_limit() {
    for options in [
        &["--timeout", "2s", "--format", "json"][..],
        &["--survey", "--timeout", "2s", "--format", "json"],
    ] {
        let bench = Bench::new();
        let ran = profile(&bench, options, "hangs", &CHOSEN);
        let document = ran.json();
        let notices = document["notices"].to_string();
        assert!(
            notices.contains("the survey took longer than 2.00 s and was stopped"),
            "{notices}"
        );
        assert_eq!(launches_of_groups(&document).len(), 4, "{document}");
        assert!(!bench.path("argv.profile").exists(), "no time is left to profile anything");
    }
}

#[test]
fn a_finding_around_the_kernels_says_where_the_program_makes_the_calls() {
    let bench = Bench::new();
    let line = crate::call_sites::line_of_the_launch();
    let ran = profile(&bench, &["--survey", "--format", "json"], "idles", &[]);
    let finding = &ran.json()["program"]["findings"][0];
    assert_eq!(finding["rule"], "gpu-idle-between-launches");
    let place = &finding["where"][0];
    assert!(place["file"].as_str().unwrap().ends_with("tests/stand_in/program.rs"), "{place}");
    assert_eq!((&place["line"], &place["module"]), (&json!(line), &json!("program")));
    assert!(place["function"].as_str().unwrap().ends_with("::launches_one"), "{place}");
    assert_eq!(
        (&place["share"], &place["share_of"]),
        (&json!(1.0), &json!("idle time before these calls"))
    );

    let text = profile(&bench, &["--survey"], "idles", &[]).out;
    let said = format!("program.rs:{line} in ");
    assert!(text.lines().any(|text| text.contains("called") && text.contains(&said)), "{text}");
    for format in ["markdown", "csv", "sarif"] {
        let out = profile(&bench, &["--survey", "--format", format], "idles", &[]).out;
        assert!(out.contains("program.rs") && out.contains(&line.to_string()), "{format}: {out}");
    }
    let sarif = profile(&bench, &["--survey", "--format", "sarif"], "idles", &[]).json();
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startLine"], line);
}
