//! `ledger`, `bench` and `--apply` as a user runs them, with the stand-in for ncu.

use crate::cli::bench::Bench;
use serde_json::Value;

const FILE: &str = ".adoprof/ledger.jsonl";

fn lines(bench: &Bench) -> Vec<Value> {
    let text = std::fs::read_to_string(bench.path(FILE)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_profile_keeps_its_hints() {
    let bench = Bench::new();
    let document = bench.profile("success", &["--format", "json"]).json();
    let kept = lines(&bench);
    let found: Vec<&str> = document["launches"][0]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect();
    let rules: Vec<&str> = kept.iter().map(|line| line["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, found, "v2 is at no roof: every finding is a hint");
    let first = &kept[0];
    assert_eq!((&first["kind"], &first["subject"]["of"]), (&"hint".into(), &"program".into()));
    assert_eq!(first["device"], "NVIDIA H200");
    let estimate = &document["launches"][0]["findings"][0]["estimated_speedup"];
    assert_eq!(&first["estimate"], estimate);

    let ledger = bench.run(&["ledger", "--source", "local", "--format", "json"]).json();
    assert_eq!(ledger["records"].as_array().unwrap().len(), found.len());
    assert!(ledger["records"].as_array().unwrap().iter().all(|r| r["outcome"].is_null()));
}

#[test]
fn a_baseline_enters_what_was_gained() {
    let bench = Bench::new();
    bench.copy("rules/ado_v3.raw.csv", "v3.raw.csv");
    // From v3 back to v2: slower, and the sweep's fault is in both.
    let document =
        bench.profile("success", &["--baseline", "v3.raw.csv", "--format", "json"]).json();
    let speedup = document["diff"]["speedup"].as_f64().unwrap();
    let gone: Vec<&str> =
        document["diff"]["gone"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let kept = lines(&bench);
    let hint = |id: &Value| kept.iter().find(|line| line["id"] == *id).unwrap();
    let outcomes: Vec<&Value> = kept.iter().filter(|line| line["kind"] == "outcome").collect();
    assert!(!outcomes.is_empty());
    for outcome in &outcomes {
        let rule = hint(&outcome["of"])["rule"].as_str().unwrap();
        assert_eq!(outcome["gone"].as_bool(), Some(gone.contains(&rule)), "{rule}");
        assert!((outcome["gain"].as_f64().unwrap() / speedup - 1.0).abs() < 1e-6);
    }
    let counting = outcomes.iter().filter(|outcome| outcome["counts"] == true).count();
    assert_eq!(counting, usize::from(!gone.is_empty()), "{gone:?}");
}

#[test]
fn a_corrupt_ledger_stops_nothing_and_is_kept() {
    let bench = Bench::new();
    let foreign = "\u{0}not json\n{\"kind\":\"hint\"}\n{\"half\":";
    bench.write(FILE, foreign);
    let ran = bench.profile("success", &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("\nworth   "));
    assert!(ran.err.contains("3 lines are not in this adoprof's format"), "{}", ran.err);
    let after = std::fs::read_to_string(bench.path(FILE)).unwrap();
    assert!(after.starts_with(foreign) && after.ends_with("}\n"));
    let ledger = bench.run(&["ledger", "--source", "local", "--format", "json"]).json();
    assert!(!ledger["records"].as_array().unwrap().is_empty());
    assert!(ledger["notices"][0].as_str().unwrap().contains("first of them line 1"));
}

#[test]
fn a_folder_in_the_ledgers_place_stops_nothing() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path(FILE)).unwrap();
    let ran = bench.profile("success", &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("were not added to the ledger"), "{}", ran.err);
    let ran = bench.run(&["ledger", "--source", "local"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("continuing without the ledger"), "{}", ran.err);
}

#[test]
fn files_and_recordings_leave_no_hints() {
    let bench = Bench::new();
    bench.v2("v2");
    assert_eq!(bench.run(&["analyze", "v2.raw.csv"]).code, Some(0));
    assert_eq!(bench.run(&["step", "--kernel", "v2", "--recorded"]).code, Some(0));
    assert!(!bench.path(".adoprof").exists());
    let empty = bench.run(&["ledger", "--source", "local"]);
    assert!(empty.out.contains("The ledger is empty"), "{empty:?}");
}

#[test]
fn the_recordings_calibrate_and_apply_says_what_it_did() {
    let bench = Bench::new();
    let ledger = bench.run(&["ledger", "--format", "json"]).json();
    let rules = ledger["rules"].as_array().unwrap();
    let enough: Vec<&Value> =
        rules.iter().filter(|rule| rule["measured"].as_u64().unwrap() >= 5).collect();
    assert!(!enough.is_empty(), "{rules:?}");
    let plain = bench.run(&["step", "--kernel", "v2", "--recorded", "--format", "json"]).json();
    let applied =
        bench.run(&["step", "--kernel", "v2", "--recorded", "--apply", "--format", "json"]);
    let applied = applied.json();
    let said = applied["notices"].to_string();
    let find = |document: &Value, rule: &str| {
        let findings = document["launches"][0]["findings"].as_array().unwrap();
        findings.iter().find(|finding| finding["rule"] == *rule).cloned()
    };
    let mut corrected = 0;
    for rule in rules {
        let name = rule["rule"].as_str().unwrap();
        let Some(before) = find(&plain, name) else { continue };
        let (before, after) =
            (&before["estimated_speedup"], &find(&applied, name).unwrap()["estimated_speedup"]);
        if rule["measured"].as_u64().unwrap() >= 5 {
            corrected += 1;
            let expected =
                (before["factor"].as_f64().unwrap() * rule["bias"].as_f64().unwrap()).max(1.0);
            assert!((after["factor"].as_f64().unwrap() / expected - 1.0).abs() < 1e-9, "{name}");
            assert!(
                said.contains(&format!("{name} ({} measured hints)", rule["measured"])),
                "{said}"
            );
        } else {
            assert_eq!(before, after, "{name}");
        }
    }
    assert!(corrected > 0, "v2's rules have too few measured hints");
    let findings = applied["launches"][0]["findings"].as_array().unwrap();
    let ranks: Vec<u64> = findings.iter().map(|f| f["rank"].as_u64().unwrap()).collect();
    assert!(ranks.iter().copied().eq(1..=ranks.len() as u64));
    assert_eq!(applied["verdict"]["rule"], findings[0]["rule"]);
    assert!(!bench.path(".adoprof").exists(), "reading leaves nothing");
}

#[test]
fn the_bench_judges_the_ladders_in_every_form() {
    let bench = Bench::new();
    let document = bench.run(&["bench", "--ladders", "--format", "json"]).json();
    assert_eq!(document["schema"], "adoprof/1");
    let steps = document["ladders"]["transitions"].as_array().unwrap();
    let second = steps.iter().find(|step| step["ladder"] == "ado" && step["from"] == "v2").unwrap();
    assert_eq!(
        (&second["to"], &second["fault"]),
        (&"v3".into(), &"uncoalesced-global-access".into())
    );
    assert!(steps.iter().all(|step| step["gain"].as_f64().unwrap() >= 1.05));
    let lost = document["ladders"]["lost"].as_array().unwrap();
    for pair in [("r-pairs", "r0"), ("point", "plane")] {
        let loses = |step: &&serde_json::Value| {
            (&step["from"], &step["to"]) == (&pair.0.into(), &pair.1.into())
        };
        assert!(lost.iter().find(loses).unwrap()["gain"].as_f64().unwrap() < 1.0, "{pair:?}");
    }
    assert_eq!(document["cases"], serde_json::json!([]), "only the ladders were asked for");
}

#[test]
fn the_bench_judges_one_set_of_planted_faults_in_every_form() {
    let bench = Bench::new();
    let document = bench.run(&["bench", "--set", "5", "--format", "json"]).json();
    let cases = document["cases"].as_array().unwrap();
    // 16 kernels with planted faults, one of them with two.
    assert_eq!(cases.len(), 17);
    assert!(cases.iter().all(|case| case["set"] == 5));
    let judged = &document["sets"][0]["set"]["judged"];
    assert_eq!((&judged["rules"], &judged["first"]["of"]), (&"0711e8e".into(), &16.into()));
    assert_eq!(document["ladders"], serde_json::Value::Null);
    let csv = bench.run(&["bench", "--faults", "--set", "5", "--format", "csv"]);
    let rows = csv::Reader::from_reader(csv.out.as_bytes())
        .records()
        .filter(|row| &row.as_ref().unwrap()[0] == "planted")
        .count();
    assert_eq!(rows, cases.len());
    let text = bench.run(&["bench", "--set", "5"]).out;
    assert!(text.contains("set 5: 20 kernels") && text.contains("first judged"), "{text}");
    bench.run(&["bench", "--set", "9"]).fails(2, &["has no set 9", "0, 1, 2, 3, 4, 5, 6, 7, 8"]);
}

#[test]
fn ladders_and_planted_faults_are_listed_apart() {
    let bench = Bench::new();
    let ladders = bench.run(&["ladder", "list"]).out;
    assert!(ladders.contains("reduce-int") && !ladders.contains("fault-"), "{ladders}");
    let faults = bench.run(&["ladder", "list", "--faults"]).out;
    assert!(faults.contains("fault-air-columns") && !faults.contains("reduce-int"), "{faults}");
}
