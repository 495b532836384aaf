//! What the rules say of other people's programs, from which their ranges come: `src/outside/said.toml` is
//! what they say today.
//!
//! Needs the programs' profiles, which are not in the repository: `export ADOPROF_PROGRAMS=DIR`. Without
//! them the test runner lists this test as ignored. `ADOPROF_BLESS=1` writes the file anew; run it
//! twice, because the ranges that it notes follow from the estimates that it notes.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const FILE: &str = "src/outside/said.toml";
const HEAD: &str = "\
# What the rules promise today of the changes in programs.toml, and how long their kernels take in the profiles,\n\
# which are not in the repository. Written by `ADOPROF_PROGRAMS=DIR ADOPROF_BLESS=1 cargo test programs`, and\n\
# without the programs that were kept back.\n";

#[test]
#[cfg_attr(not(has_programs), ignore = "needs the programs' profiles: ADOPROF_PROGRAMS")]
fn ranges_come_from_what_is_said_today() {
    let output = Command::new(env!("CARGO_BIN_EXE_adoprof"))
        .args(["bench", "--programs", "--format", "json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let changes: toml::Table =
        toml::from_str(include_str!("../../src/outside/programs.toml")).unwrap();
    let mut text = HEAD.to_owned();
    for kernel in document["programs"]["kernels"].as_array().unwrap() {
        let (program, name) = (&kernel["program"], &kernel["kernel"]);
        for tried in kernel["tried"].as_array().unwrap() {
            let estimate = &tried["estimate"];
            let rule = tried["rule"].as_str().unwrap();
            if kernel["kept_back"] == true || estimate.is_null() || !asked(&changes, kernel, rule) {
                continue;
            }
            let [factor, low, high] =
                ["factor", "low", "high"].map(|end| estimate[end].as_f64().unwrap());
            let rank = tried["rank"].as_u64().unwrap();
            let time_ns = kernel["time_ns"].as_f64().unwrap();
            write!(
                text,
                "\n[[said]]\nprogram = {program}\nkernel = {name}\nrule = \"{rule}\"\nrank = {rank}\n\
                 estimate = {{ factor = {factor:.3}, low = {low:.3}, high = {high:.3} }}\n\
                 time_ns = {time_ns:.1}\n"
            )
            .unwrap();
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if text == std::fs::read_to_string(&path).unwrap() {
        return;
    }
    assert!(
        std::env::var_os("ADOPROF_BLESS").is_some(),
        "{FILE} is stale; run `ADOPROF_BLESS=1 cargo test programs`"
    );
    std::fs::write(path, text).unwrap();
}

/// The figures of docs/programs.md stand between two fences, as `bench --programs` ends.
#[test]
#[cfg_attr(not(has_programs), ignore = "needs the programs' profiles: ADOPROF_PROGRAMS")]
fn the_page_shows_todays_figures() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_adoprof")).args(["bench", "--programs"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let head = printed.find("tuned by").and_then(|at| printed[..at].rfind('\n')).unwrap() + 1;
    let today = printed[head..].trim_end();
    let page = include_str!("../../docs/programs.md");
    let shown = page.split("```text\n").nth(1).unwrap().split("\n```").next().unwrap();
    assert_eq!(shown, today, "docs/programs.md is stale");
}

/// True where a change was made because this rule asked for it.
fn asked(changes: &toml::Table, kernel: &Value, rule: &str) -> bool {
    let list = |table: &toml::Value, key: &str| table[key].as_array().unwrap().clone();
    let programs = changes["programs"].as_array().unwrap();
    let program = programs.iter().find(|one| one["name"].as_str() == kernel["program"].as_str());
    let kernels = list(program.unwrap(), "kernels");
    let kernel = kernels.iter().find(|one| one["kernel"].as_str() == kernel["kernel"].as_str());
    list(kernel.unwrap(), "changes")
        .iter()
        .any(|change| change.get("rule").and_then(toml::Value::as_str) == Some(rule))
}
