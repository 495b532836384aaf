//! `analyze`, `diff`, `explain`, `ladder` and `doctor` as a user runs them, on real exports.

use crate::cli::bench::{Bench, file};
use serde_json::{Value, json};

const V2: &str = "gpu_version2(const float *, float *, const float *, int, int, int)";

/// The keys of an object, sorted.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> =
        value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Asserts that an object has the contract's keys; more may stand beside them.
fn has(value: &Value, wanted: &[&str]) {
    let there = keys(value);
    for key in wanted {
        assert!(there.contains(key), "no `{key}` in {there:?}");
    }
}

#[test]
fn the_json_is_what_the_contract_says() {
    let bench = Bench::new();
    bench.v2("v2");
    let document = bench.run(&["analyze", "v2.raw.csv", "--format", "json"]).json();
    has(&document, &["schema", "step", "launches", "verdict", "next_step", "diff", "notices"]);
    assert_eq!(document["schema"], "adoprof/1");
    for null in ["step", "next_step", "diff"] {
        assert!(document[null].is_null(), "{null} does not apply to a file from elsewhere");
    }
    assert!(document["notices"].as_array().unwrap().iter().all(Value::is_string));
    let launches = document["launches"].as_array().unwrap();
    assert_eq!(launches.len(), 1);
    let launch = &launches[0];
    has(
        launch,
        &["kernel", "grid", "block", "device", "duration_ns", "time_share", "bound", "findings"],
    );
    assert_eq!(launch["kernel"], V2);
    assert_eq!(launch["grid"], serde_json::json!([1024, 1, 1]));
    assert_eq!(launch["block"], serde_json::json!([1024, 1, 1]));
    assert_eq!(launch["device"], "NVIDIA H200");
    assert_eq!(launch["time_share"], 1.0);
    let duration = launch["duration_ns"].as_f64().unwrap();
    assert!((10.5e6..11.0e6).contains(&duration), "{duration}");
    let bounds = ["memory", "compute", "latency", "launch", "none"];
    assert!(bounds.contains(&launch["bound"].as_str().unwrap()));
    let findings = launch["findings"].as_array().unwrap();
    for (index, finding) in findings.iter().enumerate() {
        finding_keeps_the_contract(finding, index + 1);
    }
    for skipped in launch["skipped"].as_array().unwrap() {
        has(skipped, &["rule", "missing"]);
        assert!(!skipped["missing"].as_array().unwrap().is_empty());
    }
    assert_eq!(keys(&document["verdict"]), ["launch", "rule"]);
    assert_eq!(document["verdict"]["launch"], 0);
    assert_eq!(document["verdict"]["rule"], findings[0]["rule"]);

    let uncoalesced = findings
        .iter()
        .find(|finding| finding["rule"] == "uncoalesced-global-access")
        .expect("v2 reads across rows");
    assert!(uncoalesced["rank"].as_u64().unwrap() <= 2);
    assert_eq!(uncoalesced["where"][0]["line"], 25);
    assert!(uncoalesced["message"].as_str().unwrap().contains("1,073,741,824"));
}

fn finding_keeps_the_contract(finding: &Value, rank: usize) {
    has(
        finding,
        &["rank", "rule", "estimated_speedup", "message", "evidence", "where", "hint", "explains"],
    );
    assert_eq!(finding["rank"], rank);
    let gain = &finding["estimated_speedup"];
    if !gain.is_null() {
        assert_eq!(keys(gain), ["factor", "high", "low"]);
        let number = |key: &str| gain[key].as_f64().unwrap();
        assert!(number("low") <= number("factor") && number("factor") <= number("high"), "{gain}");
    }
    for item in finding["evidence"].as_array().unwrap() {
        has(item, &["metric", "value", "unit"]);
        assert!(item["value"].is_number(), "{item}");
    }
    for place in finding["where"].as_array().unwrap() {
        has(place, &["file", "line", "share", "share_of"]);
        let share = place["share"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&share), "{place}");
    }
    assert!(finding["explains"].as_array().unwrap().iter().all(Value::is_string));
    for text in ["message", "hint"] {
        assert!(!finding[text].as_str().unwrap().is_empty());
    }
}

#[test]
fn every_format_tells_the_same_first_finding() {
    let bench = Bench::new();
    bench.v2("v2");
    let run = |format: &str| {
        let ran = bench.run(&["analyze", "v2.raw.csv", "--format", format]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(!ran.out.contains('\u{1b}'), "no escape codes into a pipe");
        ran.out
    };
    let json: Value = serde_json::from_str(&run("json")).unwrap();
    let first = json["verdict"]["rule"].as_str().unwrap();
    assert!(run("text").contains(&format!("1. {first}")));
    assert!(run("markdown").contains(&format!("1. **{first}**")));

    let csv = run("csv");
    let mut table = csv::Reader::from_reader(csv.as_bytes());
    let head: Vec<String> = table.headers().unwrap().iter().map(str::to_owned).collect();
    let at = |name: &str| head.iter().position(|column| column == name).unwrap();
    let row = table.records().next().unwrap().unwrap();
    assert_eq!((&row[at("rank")], &row[at("rule")], &row[at("kernel")]), ("1", first, V2));

    let sarif: Value = serde_json::from_str(&run("sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], first);
}

#[test]
fn a_raw_page_brings_its_siblings_and_a_glob_is_one_profile() {
    let bench = Bench::new();
    bench.v2("v2");
    bench.copy("cli/v2.details.csv", "v2.details-all.csv");
    bench.write("v2.session.csv", "\"Session Attribute\",\"Value\"\n\"Process Name\",\"x\"\n");
    let alone = bench.run(&["analyze", "v2.raw.csv", "--format", "json"]).json();
    let glob = bench
        .run(&[
            "analyze",
            "v2.details-all.csv",
            "v2.details.csv",
            "v2.raw.csv",
            "v2.session.csv",
            "v2.source.cuda-sass.csv",
            "--format",
            "json",
        ])
        .json();
    assert_eq!(alone["launches"], glob["launches"]);
    assert_eq!(alone["launches"][0]["ncu_rules"].as_array().unwrap().len(), 2, "of the details");

    std::fs::remove_file(bench.path("v2.source.cuda-sass.csv")).unwrap();
    let without = bench.run(&["analyze", "v2.raw.csv", "--format", "json"]).json();
    assert_eq!(without["verdict"], alone["verdict"]);
    let lines = |document: &Value| document["launches"][0].to_string().contains("\"line\":25");
    assert!(lines(&alone) && !lines(&without));
}

#[test]
fn a_compressed_report_is_read_without_ncu() {
    let report = file("fixtures/report/ado-v4.ncu-repz").display().to_string();
    let bench = Bench::new();
    let document = bench.run(&["analyze", &report, "--format", "json"]).json();
    let launch = &document["launches"][0];
    assert!(launch["kernel"].as_str().unwrap().starts_with("gpu_version4("));
    assert_eq!(launch["device"], "NVIDIA H200");
    assert!(!launch["findings"].as_array().unwrap().is_empty());
    let of_a_line = launch["findings"].to_string();
    assert!(of_a_line.contains("\"line\":50"), "lines come from the report's own cubin");
}

#[test]
fn several_launches_come_longest_first_and_can_be_filtered() {
    let multi = file("fixtures/csv/multi.raw.csv").display().to_string();
    let bench = Bench::new();
    let document = bench.run(&["analyze", &multi, "--format", "json"]).json();
    let launches = document["launches"].as_array().unwrap();
    assert_eq!(launches.len(), 5);
    let times: Vec<f64> =
        launches.iter().map(|launch| launch["duration_ns"].as_f64().unwrap()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    let shares: f64 = launches.iter().map(|launch| launch["time_share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");

    let some = bench.run(&["analyze", &multi, "--kernel", "^void templ<", "--format", "json"]);
    let some = some.json();
    assert_eq!(some["launches"].as_array().unwrap().len(), 2);
    bench.run(&["analyze", &multi, "-k", "nothing"]).fails(2, &["nothing", "ok(int *)"]);
    bench.run(&["analyze", &multi, "-k", "a("]).fails(2, &["-k: `a(`", "unclosed group"]);
}

#[test]
fn several_stems_are_several_profiles_of_one_result() {
    let bench = Bench::new();
    bench.v2("a/v2");
    bench.copy("rules/ado_v3.raw.csv", "a/v3.raw.csv");
    let args = ["analyze", "a/v3.raw.csv", "a/v2.raw.csv"];
    let with = |format: &str| bench.run(&[&args[..], &["--format", format]].concat());
    let json = with("json").json();
    assert_eq!(keys(&json), ["adoprof", "notices", "profiles", "schema"]);
    let profiles = json["profiles"].as_array().unwrap();
    let names: Vec<&str> = profiles.iter().map(|p| p["profile"].as_str().unwrap()).collect();
    assert_eq!(names, ["a/v3", "a/v2"], "in the order given");
    for profile in profiles {
        has(profile, &["schema", "step", "launches", "verdict", "next_step", "diff", "notices"]);
    }
    let csv = with("csv").out;
    let mut table = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(&table.headers().unwrap()[0], "profile");
    assert!(table.records().all(|row| ["a/v2", "a/v3"].contains(&&row.unwrap()[0])));
    let sarif = with("sarif").json();
    assert_eq!(sarif["runs"][0]["results"][0]["properties"]["profile"], "a/v3");
    let text = bench.run(&args).out;
    assert!(text.starts_with("== a/v3\n") && text.contains("\n== a/v2\n"), "{text}");
}

#[test]
fn a_baseline_adds_the_diff_and_diff_shows_it_alone() {
    let bench = Bench::new();
    bench.v2("v2");
    bench.copy("rules/ado_v3.raw.csv", "v3.raw.csv");
    let document = bench
        .run(&["analyze", "v3.raw.csv", "--baseline", "v2.raw.csv", "--format", "json"])
        .json();
    let alone = bench.run(&["diff", "v2.raw.csv", "v3.raw.csv", "--format", "json"]).json();
    assert_eq!(document["diff"], alone);
    let gone = alone["gone"].as_array().unwrap();
    assert!(gone.contains(&Value::from("uncoalesced-global-access")), "{gone:?}");

    let back = bench.run(&["diff", "v3.raw.csv", "v2.raw.csv", "--format", "json"]).json();
    assert_eq!(back["come"], alone["gone"]);
    for format in ["text", "markdown", "csv", "sarif"] {
        let ran = bench.run(&["diff", "v2.raw.csv", "v3.raw.csv", "--format", format]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(!ran.out.is_empty());
    }
}

#[test]
fn a_profile_is_itself_a_baseline_without_a_change() {
    let bench = Bench::new();
    bench.v2("v2");
    let diff = bench.run(&["diff", "v2.raw.csv", "v2.raw.csv", "--format", "json"]).json();
    let none = serde_json::json!([]);
    assert_eq!((&diff["gone"], &diff["come"]), (&none, &none));
    for metric in diff["metrics"].as_array().unwrap() {
        assert_eq!((&metric["direction"], &metric["base"]), (&"same".into(), &metric["new"]));
    }
    assert!(diff["metrics_compared"].as_u64().unwrap() > 100, "{}", diff["metrics_compared"]);
}

#[test]
fn explain_lists_the_rules_and_tells_of_one() {
    let bench = Bench::new();
    let list = bench.run(&["explain"]);
    assert_eq!((list.code, list.err.as_str()), (Some(0), ""));
    for rule in ["grid-too-small", "uncoalesced-global-access", "at-memory-roof", "lg-throttle"] {
        assert!(list.out.contains(rule), "{rule}");
        let one = bench.run(&["explain", rule]);
        assert_eq!(one.code, Some(0));
        assert!(one.out.starts_with(rule), "{one:?}");
    }
    bench.run(&["explain", "uncoalesced"]).fails(2, &["did you mean `uncoalesced-global-access`?"]);
    bench.run(&["explain", "shared"]).fails(
        2,
        &["shared-bank-conflicts", "shared-memory-pressure", "occupancy-limited-by-shared-memory"],
    );
    bench.run(&["explain", "zzz"]).fails(2, &["no rule `zzz`; `adoprof explain` lists"]);
}

#[test]
fn ladders_are_listed_and_shown() {
    let bench = Bench::new();
    for args in [&["ladder"][..], &["ladder", "list"]] {
        let list = bench.run(args);
        assert_eq!(list.code, Some(0));
        assert!(list.out.contains("ado") && list.out.contains("v6"), "{list:?}");
    }
    let show = bench.run(&["ladder", "show", "ado"]);
    for part in ["v2-coalesced", "uncoalesced-global-access", "N = 1024"] {
        assert!(show.out.contains(part), "{part}");
    }
    let own = file("fixtures/ladder/scan").display().to_string();
    assert!(bench.run(&["ladder", "show", &own]).out.contains("prefix sums"));
    bench.run(&["ladder", "show", "nosuch"]).fails(2, &["nosuch", "`ado`", "./nosuch"]);
}

#[test]
fn doctor_says_what_is_missing_and_how_to_mend_it() {
    let bench = Bench::new();
    let ran = bench.run(&["doctor", "--ncu", "/nowhere/ncu"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(ran.err, "");
    for part in
        ["device", "nvrtc", "/nowhere/ncu, which is not an executable program", "-> install Nsight"]
    {
        assert!(ran.out.contains(part), "no `{part}`: {}", ran.out);
    }
    assert_eq!(ran.out.matches("install Nsight Compute").count(), 1, "{}", ran.out);
    let found = bench.run(&["doctor", "--ncu", &crate::cli::bench::stand_in()]);
    assert!(found.out.contains("2025.3.1"), "{}", found.out);
    assert_eq!(found.code, Some(3), "there is still no device");
}

#[test]
fn an_empty_page_costs_no_more_than_itself() {
    let bench = Bench::new();
    bench.v2("reports/v2");
    let whole = bench.run(&["analyze", "./reports", "--format", "json"]).json();
    bench.write("reports/v2.details.csv", "");
    let ran = bench.run(&["analyze", "./reports", "--format", "json"]);
    let document = ran.json();
    let notice = document["notices"][0].as_str().unwrap();
    assert!(notice.contains("v2.details.csv") && notice.contains("is empty"), "{notice}");
    assert_eq!(document["verdict"], whole["verdict"]);
    bench.write("alone/v2.details.csv", "");
    bench.run(&["analyze", "./alone"]).fails(2, &["v2.details.csv"]);
}

#[test]
fn what_ncu_printed_for_people_is_diagnosed() {
    let bench = Bench::new();
    let printed = std::fs::read_to_string(file("fixtures/csv/printed.txt")).unwrap();
    // As a terminal has it: ncu's progress before, a second launch with one metric behind.
    let text = format!(
        "==PROF== Connected to process 1515 (/x/ado)\n==PROF== Profiling \"gpu_version4\" - 0: 0%....100% - 40 passes\n\
         result 42\n{printed}  scale<float>(float *) (16, 1, 1)x(64, 1, 1), Context 1, Stream 7, Device 0, CC 9.0\n    \
         Section: Command line profiler metrics\n    --------------------- ----------- ------------\n    \
         Metric Name           Metric Unit Metric Value\n    --------------------- ----------- ------------\n    \
         gpu__time_duration.sum        us         2.50\n    --------------------- ----------- ------------\n"
    );
    bench.write("log.txt", &text);
    let document = bench.run(&["analyze", "log.txt", "--format", "json"]).json();
    let launches = document["launches"].as_array().unwrap();
    assert_eq!(launches.len(), 2, "{document}");
    let first = &launches[0];
    assert_eq!((&first["grid"], &first["block"]), (&json!([1024, 1, 1]), &json!([32, 32, 1])));
    // Printed as 1.35 msecond.
    assert!((first["duration_ns"].as_f64().unwrap() - 1.35e6).abs() < 1.0, "{first}");
    let dram = &first["utilization"][0];
    assert!(dram["unit"] == "DRAM" && dram["share"].as_f64().unwrap() > 0.65, "{dram}");
    assert!((launches[1]["duration_ns"].as_f64().unwrap() - 2500.0).abs() < 1e-6);
    assert_eq!(launches[1]["kernel"], "scale<float>(float *)");
    // Copied without its end, or with its numbers cut.
    for length in [printed.len() / 2, 400, 250] {
        bench.write("cut.txt", &printed[..length]);
        let ran = bench.run(&["analyze", "cut.txt", "--format", "json"]);
        assert!(
            ran.code == Some(0)
                || (ran.code == Some(2) && ran.err.contains("cut.txt: the printed page")),
            "{ran:?}"
        );
    }
}

#[test]
fn a_folder_stands_for_its_profiles_and_what_is_damaged_is_left_out() {
    let bench = Bench::new();
    bench.v2("reports/v2");
    bench.copy("rules/ado_v3.raw.csv", "reports/v3.raw.csv");
    bench.write("reports/junk.ncu-rep", "junk");
    let ran = bench.run(&["analyze", "./reports", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.out.matches("\"launches\": [").count(), 2, "{ran:?}");
    assert!(ran.err.contains("left out: ") && ran.err.contains("junk.ncu-rep"), "{ran:?}");
    bench.run(&["diff", "./reports", "ado/v1"]).fails(2, &["holds 3 profiles"]);
}

#[test]
fn a_path_that_is_not_there_is_told_beside_what_is() {
    let bench = Bench::new();
    bench.v2("v2");
    bench.copy("rules/ado_v3.raw.csv", "v3.raw.csv");
    let said = "left out: nowhere.ncu-rep: there is no such file";
    for (paths, named) in [
        (&["v2.raw.csv", "nowhere.ncu-rep"][..], "notices"),
        (&["v2.raw.csv", "nowhere.ncu-rep", "v3.raw.csv"], "profiles"),
    ] {
        let words = [&["analyze"][..], paths].concat();
        let text = bench.run(&words);
        assert!(text.code == Some(2) && text.err.contains(said), "{text:?}");
        assert!(text.out.contains("uncoalesced-global-access"), "what is there is shown: {text:?}");
        let json = bench.run(&[&words[..], &["--format", "json"]].concat());
        assert!(json.code == Some(2) && json.err.contains(said), "{json:?}");
        let document: serde_json::Value = serde_json::from_str(&json.out).unwrap();
        assert!(document.get(named).is_some(), "{document}");
        let notices = document["notices"].as_array().unwrap().iter();
        let found = notices.filter(|text| text.as_str().unwrap().starts_with(said)).count();
        assert_eq!(found, 1, "{document}");
        let sarif = bench.run(&[&words[..], &["--format", "sarif"]].concat());
        assert!(sarif.out.contains(said), "{sarif:?}");
    }
    // A profile without the kernel that is asked for could be read all the same.
    let words = ["analyze", "v2.raw.csv", "v3.raw.csv", "-k", "gpu_version2"];
    let other = bench.run(&words);
    assert!(other.code == Some(0) && other.err.contains("left out"), "{other:?}");
}

#[test]
fn a_folder_of_saved_profiles_stands_for_all_of_them() {
    let bench = Bench::new();
    let recorded = file("../profiles/ado");
    for step in ["v2", "v3"] {
        for entry in std::fs::read_dir(recorded.join(step)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            bench.write(&format!("saved/{step}/{name}"), std::fs::read(&path).unwrap());
        }
    }
    bench.write("saved/notes/read.me", "no profile");
    bench.write("saved/.git/x.ncu-rep", "hidden");
    let all = bench.run(&["analyze", "./saved", "--format", "json"]);
    let each = bench.run(&["analyze", "./saved/v2", "./saved/v3", "--format", "json"]);
    assert_eq!((all.code, each.code), (Some(0), Some(0)), "{all:?}");
    assert_eq!(all.out, each.out);
    assert!(all.err.contains("./saved: hidden folders (.git)"), "{}", all.err);
    let above = bench.run(&["analyze", ".", "--format", "json"]);
    assert_eq!(above.out.matches("\"launches\": [").count(), 2, "{above:?}");
    bench.run(&["diff", "./saved", "ado/v1"]).fails(2, &["holds 2 profiles"]);
    bench.run(&["analyze", "./saved/notes"]).fails(2, &["no saved profile in this folder"]);
    bench.write("hidden/.adoprof/x.ncu-rep", "junk");
    let hidden = bench.run(&["analyze", "./hidden"]);
    assert_eq!(hidden.code, Some(2), "{hidden:?}");
    assert!(hidden.err.contains("hidden folders (.adoprof)"), "{hidden:?}");
    assert!(hidden.err.contains("no saved profile in this folder"), "{hidden:?}");
}

#[test]
fn of_many_unreadable_profiles_the_first_are_named() {
    let bench = Bench::new();
    bench.copy("rules/ado_v3.raw.csv", "all/v3.raw.csv");
    bench.copy("csv/multi.raw.csv", "all/below/multi.raw.csv");
    for number in 0..30 {
        bench.write(&format!("all/{number:02}.ncu-rep"), "junk");
    }
    let ran = bench.run(&["analyze", "./all", "--kernel", "gpu_version", "--format", "json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.err.matches("is not an Nsight Compute report").count(), 10, "{}", ran.err);
    // Twenty reports, and the page without such a kernel.
    assert!(ran.err.contains("left out: 21 profiles more; name one to see why"), "{}", ran.err);
    bench.run(&["analyze", "./all", "--kernel", "nosuch"]).fails(2, &["00.ncu-rep"]);
}

#[test]
fn a_details_page_alone_names_no_unit_and_says_what_it_lacks() {
    let bench = Bench::new();
    bench.copy("cli/v2.details.csv", "v2.details.csv");
    let ran = bench.run(&["analyze", "v2.details.csv", "-q"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("ncu's details page alone"), "{ran:?}");
    assert!(!ran.out.contains("L2 ") && !ran.out.contains("DRAM "), "{ran:?}");
}
