//! `--format json` of commands that diagnose nothing: the same facts as their text, and nothing else on stdout.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::cli::bench::{Bench, stand_in};

/// A document of a command that ends so, with the head that all have.
fn document(bench: &Bench, args: &[&str], code: i32) -> Value {
    let ran = bench.run(&[args, &["--format", "json"]].concat());
    assert_eq!(ran.code, Some(code), "{ran:?}");
    let document: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    assert_eq!(document["schema"], "adoprof/1", "{args:?}");
    assert_eq!(document["adoprof"], env!("CARGO_PKG_VERSION"), "{args:?}");
    document
}

/// What a field of each element of a list is.
fn all<'a>(list: &'a Value, field: &str) -> BTreeSet<&'a str> {
    list.as_array().unwrap().iter().filter_map(|one| one[field].as_str()).collect()
}

#[test]
fn rules_are_records() {
    let bench = Bench::new();
    let rules = document(&bench, &["explain"], 0);
    let names = all(&rules["rules"], "rule");
    let text = bench.run(&["explain"]).out;
    // All lines but the titles before the table, and what to type next after it.
    let listed: BTreeSet<&str> =
        text.lines().skip(1).take_while(|line| !line.is_empty()).filter_map(first_word).collect();
    assert_eq!(names, listed);
    assert_eq!(
        all(&rules["rules"], "kind"),
        BTreeSet::from(["cause", "symptom", "roof", "program"])
    );
    let one = document(&bench, &["explain", "partial-wave"], 0);
    assert_eq!(one["rules"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&one["rules"][0]["rule"], &one["rules"][0]["kind"]),
        (&"partial-wave".into(), &"cause".into())
    );
    assert!(one["rules"][0]["thresholds"][0]["source"].as_str().unwrap().len() > 15);
    let program = document(&bench, &["explain", "small-copies"], 0);
    assert_eq!(program["rules"][0]["kind"], "program");
    let numbers = document(&bench, &["explain", "numbers"], 0);
    assert_eq!(numbers["rules"].as_array().unwrap().len(), 0);
    assert_eq!(numbers["numbers"], rules["numbers"]);
    bench.run(&["explain", "no-such", "--format", "json"]).fails(2, &["there is no rule"]);
}

fn first_word(line: &str) -> Option<&str> {
    line.split(' ').next().filter(|word| !word.is_empty())
}

#[test]
fn ladders_are_records() {
    let bench = Bench::new();
    let shown = document(&bench, &["ladder", "show", "ado"], 0);
    let ado = &shown["ladders"][0];
    let steps: Vec<&str> =
        ado["steps"].as_array().unwrap().iter().filter_map(|step| step["name"].as_str()).collect();
    assert_eq!(steps, ["v1", "v2", "v2-coalesced", "v2-shuffle", "v3", "v4", "v5", "v6"]);
    assert_eq!(ado["size"]["N"], 1024);
    assert_eq!((&ado["fault"], &ado["steps"][2]["from"]), (&Value::Null, &"v2".into()));
    let list = document(&bench, &["ladder"], 0);
    assert_eq!(list, document(&bench, &["ladder", "list"], 0));
    assert_eq!(&list["ladders"][names(&list).iter().position(|name| *name == "ado").unwrap()], ado);
    assert!(names(&list).contains(&"reduce"));
    let faults = document(&bench, &["ladder", "list", "--faults"], 0);
    assert!(faults["ladders"].as_array().unwrap().iter().all(|ladder| ladder["fault"].is_string()));
    assert!(names(&faults).len() > names(&list).len());
}

fn names(list: &Value) -> Vec<&str> {
    list["ladders"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect()
}

#[test]
fn a_manifests_mistakes_have_lines() {
    let bench = Bench::new();
    let copied = document(&bench, &["ladder", "copy", "padding", "mine"], 0);
    assert_eq!(copied["next"], "adoprof run --ladder ./mine");
    let files = copied["written"].as_array().unwrap();
    assert!(files.iter().all(|file| bench.path(file.as_str().unwrap()).is_file()), "{copied}");
    let path = bench.path("mine/ladder.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("title", "titel", 1)).unwrap();
    let checked = document(&bench, &["ladder", "check", "mine"], 2);
    let line = text.lines().position(|line| line.starts_with("title")).unwrap() + 1;
    let mistake = &checked["mistakes"][0];
    assert_eq!((&mistake["file"], &mistake["line"]), (&"mine/ladder.toml".into(), &line.into()));
    assert!(mistake["problem"].as_str().unwrap().contains("unknown key `titel`"), "{checked}");
    std::fs::write(&path, text).unwrap();
    // What was not checked is part of the document; on stderr it would stand twice.
    let ran = bench.run(&["ladder", "check", "mine", "--format", "json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(
        (&ran.json()["ladder"], &ran.json()["mistakes"]),
        (&"padding".into(), &Value::Array(vec![]))
    );
}

#[test]
fn a_machines_checks_have_their_remedies() {
    let bench = Bench::new();
    let ncu = stand_in();
    let ran = bench.run(&["doctor", "--ncu", &ncu, "--format", "json"]);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    let checks = document["checks"].clone();
    let is_missing = checks.as_array().unwrap().iter().any(|check| check["status"] == "missing");
    assert_eq!(ran.code, Some(if is_missing { 3 } else { 0 }), "{ran:?}");
    assert!(
        all(&checks, "name").is_superset(&BTreeSet::from(["driver", "device", "nvrtc", "ncu"]))
    );
    for check in checks.as_array().unwrap() {
        assert_eq!(check["status"] == "ok", check["remedy"].is_null(), "{check}");
    }
}

#[test]
fn what_is_written_is_told_with_the_next_command() {
    let bench = Bench::new();
    let rule = document(&bench, &["rules", "new", "mine"], 0);
    assert_eq!(rule["written"][0], "adoprof-rules/mine.toml");
    assert_eq!(rule["next"], "adoprof rules check adoprof-rules/mine.toml");
    let listed = document(&bench, &["rules"], 0);
    assert_eq!(listed["files"][0]["rules"][0]["rule"], "user:mine");
    assert_eq!(document(&bench, &["rules", "check"], 0)["rules"], 1);
    bench.write("k.cu", "__global__ void k(float* a, int n) { a[threadIdx.x] = n; }\n");
    let init = document(&bench, &["init", "k.cu"], 0);
    assert_eq!(init["next"], "adoprof ladder check ./");
    assert!(bench.path(init["written"][0].as_str().unwrap()).is_file());
}

#[test]
fn a_form_that_is_none_is_refused_with_those_that_there_are() {
    let bench = Bench::new();
    for args in
        [&["explain"][..], &["ladder", "list"], &["doctor"], &["config"], &["rules", "list"]]
    {
        bench
            .run(&[args, &["--format", "sarif"]].concat())
            .fails(2, &["--format does not take `sarif`, but text, json"]);
    }
    // The setting is for commands with findings.
    bench.write("adoprof.toml", "format = \"json\"\n");
    for args in [&["explain", "partial-wave"][..], &["ladder", "list"], &["config"]] {
        assert!(!bench.run(args).out.starts_with('{'), "{args:?}");
    }
}
