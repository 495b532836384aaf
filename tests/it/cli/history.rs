//! `history` as a user runs it: profiles kept, known again, shown over commits, and damaged files.

use std::path::PathBuf;
use std::process::Command;

use crate::cli::bench::Bench;

/// The files of the store.
fn files(bench: &Bench) -> Vec<PathBuf> {
    fn collect(folder: PathBuf, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                collect(entry.path(), found);
            } else {
                found.push(entry.path());
            }
        }
    }
    let mut found = Vec::new();
    collect(bench.path(".adoprof/history"), &mut found);
    found.sort();
    found
}

#[test]
fn a_profile_is_kept_once_by_its_gpu_program_and_date() {
    let bench = Bench::new();
    let ran = bench.run(&["history", "add", "v1", "v2", "--commit", "first"]);
    assert_eq!((ran.code, ran.out.matches("kept: ado/v").count()), (Some(0), 2), "{ran:?}");
    let kept = files(&bench);
    let relative: Vec<String> = kept.iter().map(|path| path.display().to_string()).collect();
    for (path, step) in relative.iter().zip(["v1", "v2"]) {
        let folder = format!("gpu=nvidia-h200/program=ado-{step}/date=2026-");
        assert!(path.contains(&folder) && path.ends_with(".parquet"), "{path}");
    }
    // Another commit makes it no other profile.
    let again = bench.run(&["history", "add", "v2", "--commit", "second"]);
    assert!(again.out.starts_with("known already: ado/v2 on NVIDIA H200"), "{again:?}");
    assert!(again.out.contains(", of commit first: "), "{again:?}");
    assert_eq!(files(&bench), kept);
    assert!(again.err.contains("kept as of commit first and stays so"), "{again:?}");
    let twice = bench.run(&["history", "add", "v3", "v3", "--commit", "third"]);
    assert!(twice.out.contains("kept: ado/v3") && twice.out.contains("named twice: "), "{twice:?}");
}

#[test]
fn a_profile_that_is_kept_without_a_commit_gets_one_later() {
    let bench = Bench::new();
    // Without a repository there is no commit.
    let add = |commit: &[&str]| bench.run(&[&["history", "add", "v2"], commit].concat());
    assert!(add(&[]).err.contains("there is no git commit here"));
    let now = add(&["--commit", "a1"]);
    assert!(now.out.contains(", now of commit a1: "), "{now:?}");
    assert_eq!(files(&bench).len(), 1);
    let json = bench.run(&["history", "--format", "json"]).json();
    assert_eq!(json["series"][0]["points"][0]["commit"], "a1", "{json}");
    let again = add(&["--commit", "a1"]);
    assert!(again.out.contains(", of commit a1: ") && again.err.is_empty(), "{again:?}");
}

#[test]
fn a_pattern_that_matches_no_kernel_names_those_that_there_are() {
    let bench = Bench::new();
    bench.run(&["history", "add", "v2", "--commit", "one"]);
    bench.run(&["history", "-k", "zzz"]).fails(2, &["no kernel in", "matches `zzz`", "average"]);
}

#[test]
fn the_time_is_that_of_the_step_and_kernels_have_their_own() {
    let bench = Bench::new();
    bench.run(&["history", "add", "v2", "--commit", "one"]);
    let chart = bench.run(&["history", "--format", "svg"]);
    assert!(chart.code == Some(2) && chart.err.contains("of two commits at least"), "{chart:?}");
    let step = bench.run(&["step", "--kernel", "v2", "--recorded", "--format", "json"]).json();
    let document = bench.run(&["history", "--format", "json"]).json();
    let [series] = &document["series"].as_array().unwrap()[..] else { panic!("{document}") };
    assert_eq!(series["points"][0]["value"], step["step"]["time_ns"]["median"]);
    assert_eq!(
        (&series["kernel"], &series["program"]),
        (&serde_json::Value::Null, &"ado/v2".into())
    );
    let kernels = bench.run(&["history", "-k", "average", "--format", "json"]).json();
    assert_eq!(kernels["series"][0]["points"][0]["value"], step["launches"][0]["duration_ns"]);
    let metric =
        bench.run(&["history", "--metric", "launch__block_size", "--format", "json"]).json();
    assert_eq!(metric["series"][0]["points"][0]["value"], 1024.0);
    assert_eq!(metric["series"][0]["points"][0]["commit"], "one");
}

#[test]
fn a_slower_commit_of_a_repository_is_named() {
    let bench = Bench::new();
    let git = |words: &[&str], date: &str| {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@example.org",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(words)
            .envs([("GIT_COMMITTER_DATE", date), ("GIT_AUTHOR_DATE", date)])
            .current_dir(bench.path("."))
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "-q"], "");
    let raw =
        std::fs::read_to_string(crate::cli::bench::file("fixtures/rules/ado_v2.raw.csv")).unwrap();
    let saved = std::fs::read_to_string("profiles/ado/v2/profile.json").unwrap();
    let mut hashes = Vec::new();
    for n in 0..8_u32 {
        // Up to 0.7% up and down around 1 ms, no two times alike, and 30% more from the sixth commit on.
        let noise = 1.0 + 0.002 * f64::from(n * 5 % 8) - 0.007;
        let time = 1e6 * noise * if n < 5 { 1.0 } else { 1.3 };
        let mut meta: serde_json::Value = serde_json::from_str(&saved).unwrap();
        for (key, share) in [("median", 1.0), ("low", 0.999), ("high", 1.001)] {
            meta["step"]["time_ns"][key] = (time * share).into();
        }
        bench.write("profile/profile.json", meta.to_string());
        bench.write("profile/raw.csv", &raw);
        git(
            &["commit", "-q", "--allow-empty", "-m", "x"],
            &format!("2026-11-{:02}T10:00:00Z", n + 1),
        );
        hashes.push(git(&["rev-parse", "HEAD"], ""));
        let ran = bench.run(&["history", "add", "./profile"]);
        assert!(ran.out.starts_with("kept: "), "{ran:?}");
    }
    let document = bench.run(&["history", "--format", "json"]).json();
    let series = &document["series"][0];
    let commits: Vec<&str> = series["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["commit"].as_str().unwrap())
        .collect();
    assert_eq!(commits, hashes, "in the order of their times");
    let [jump] = &series["jumps"].as_array().unwrap()[..] else { panic!("{series}") };
    assert_eq!(
        (&jump["commit"], &jump["after"]),
        (&hashes[5].as_str().into(), &hashes[4].as_str().into())
    );
    assert_eq!(jump["worse"], true);
    let text = bench.run(&["history"]);
    assert!(text.out.contains(&format!("jumped at {}", &hashes[5][..12])), "{text:?}");
    let svg = bench.run(&["history", "--format", "svg", "-o", "-"]).out;
    assert_eq!(svg.matches(r#"class="commit""#).count(), 8, "{svg}");
    assert!(
        svg.contains(&format!(">{} +3", &hashes[5][..12])),
        "30%, give or take the noise: {svg}"
    );
    assert_eq!(svg.matches(r#"class="loss""#).count(), 1);
    let png = bench.run(&["history", "--format", "png"]);
    assert_eq!(png.out, "history.png\n", "{png:?}");
    assert!(std::fs::read(bench.path("history.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(bench.run(&["history", "-o", "x"]).err.contains("-o is for the chart"));
}

#[test]
fn damaged_files_are_left_out_aloud_and_kept_anew() {
    let bench = Bench::new();
    bench.run(&["history", "add", "v1", "v2", "--commit", "one"]);
    let kept = files(&bench);
    let whole = std::fs::read(&kept[0]).unwrap();
    std::fs::write(&kept[0], &whole[..whole.len() / 2]).unwrap();
    bench.write(".adoprof/history/other.parquet", "no table");
    let ran = bench.run(&["history", "--format", "csv"]);
    assert_eq!((ran.code, ran.out.lines().count()), (Some(0), 2), "{ran:?}");
    assert_eq!(ran.err.matches("left out: ").count(), 2, "{ran:?}");
    let again = bench.run(&["history", "add", "v1", "--commit", "one"]);
    assert!(
        again.out.starts_with("kept: ado/v1") && again.err.contains("replacing a damaged file"),
        "{again:?}"
    );
    let ran = bench.run(&["history", "--format", "csv"]);
    assert_eq!(ran.out.lines().count(), 3, "{ran:?}");
}

#[test]
fn what_can_not_be_is_said_in_a_sentence() {
    let bench = Bench::new();
    bench.run(&["history"]).fails(2, &[".adoprof/history", "holds no profiles yet", "history add"]);
    bench
        .run(&["history", "--metric", "launch__block_sise"])
        .fails(2, &["did you mean `launch__block_size`"]);
    bench
        .run(&["history", "add", "v1", "--commit", "two words"])
        .fails(2, &["--commit takes a commit or a label"]);
    bench.run(&["history", "--store", "gs://x"]).fails(2, &["neither"]);
    bench.write("file", "x");
    bench.run(&["history", "add", "v1", "--commit", "a", "--store", "file"]).fails(2, &["file"]);
    bench.write(".adoprof/history/a.parquet", "x");
    bench.run(&["history"]).fails(2, &["a.parquet", "is not a complete Parquet file"]);
    bench.run(&["history", "--format", "sarif"]).fails(2, &["SARIF holds findings"]);
}

#[test]
fn the_settings_name_the_store() {
    let bench = Bench::new();
    bench.write("adoprof.toml", "[history]\nstore = \"kept\"\n");
    bench.run(&["history", "add", "v2", "--commit", "one"]);
    assert!(bench.path("kept").is_dir());
    assert_eq!(bench.run(&["history", "--format", "csv"]).out.lines().count(), 2);
}
