//! The ladders in `examples/`, as far as they go without a GPU: read, checked, written anew by `init`, and run
//! with stand-ins for the compiler, for Numba, for CUPTI and for ncu.

use std::path::{Path, PathBuf};

use adoprof::ladder::{Ladder, Overrides};

use crate::cli::bench::{Bench, Ran, ran};
use crate::survey::STAND_INS;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// Copies an example into the folder, where it may be built.
fn copy(bench: &Bench, name: &str) {
    bench.copy_files(&examples().join(name), name);
}

/// A program in `bin/`, which comes first in PATH.
fn program(bench: &Bench, name: &str, script: &str) {
    let program = STAND_INS.program().display().to_string();
    bench.script(&format!("bin/{name}"), &script.replace("PROGRAM", &program));
}

const PAGE: &str = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\"\n\
                    \"\",\"\",\"\",\"\",\"ns\"\n\
                    \"0\",\"add(float *, int)\",\"(128, 1, 1)\",\"(32, 2, 1)\",\"120\"\n";

fn run(bench: &Bench, words: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    let mut command = bench.command(words);
    command.env("PATH", format!("{}:{path}", bench.path("bin").display()));
    ran(bench.stand_ins(&mut command, PAGE))
}

/// The medians of a run's steps, ns, and whether each was verified.
fn times(ran: &Ran) -> Vec<(String, f64, bool)> {
    let document: serde_json::Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let steps = document["steps"].as_array().unwrap().iter().map(|document| &document["step"]);
    let time = |step: &serde_json::Value| step["time_ns"]["median"].as_f64().unwrap();
    let name = |step: &serde_json::Value| step["name"].as_str().unwrap().to_owned();
    steps.map(|step| (name(step), time(step), step["verified"] == true)).collect()
}

#[test]
fn no_example_has_a_mistake() {
    let bench = Bench::new();
    let mut checked = 0;
    for entry in std::fs::read_dir(examples()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            let ran = bench.run(&["ladder", "check", path.to_str().unwrap()]);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            let shown = bench.run(&["ladder", "show", path.to_str().unwrap()]);
            assert_eq!(shown.code, Some(0), "{shown:?}");
            checked += 1;
        }
    }
    assert_eq!(checked, 3, "one of each kind");
}

#[test]
fn the_kernels_of_transpose_are_planned_as_they_are_written() {
    let ladder = Ladder::load(&examples().join("transpose")).unwrap();
    let size = Overrides::from([("ROWS".to_owned(), 100), ("COLUMNS".to_owned(), 40)]);
    let plan = ladder.plan("padded", &size, 132).unwrap();
    // 40 columns and 100 rows in tiles of 32, each of 32 rows of 33 floats.
    assert_eq!((plan.launches[0].grid, plan.launches[0].shared_bytes), ([2, 4, 1], 4224));
    assert_eq!(plan.flags, ["-DWIDTH=33"]);
    assert_eq!(ladder.next_for("uncoalesced-global-access", "naive").unwrap().name(), "tile");
    assert_eq!(ladder.next_for("shared-bank-conflicts", "tile").unwrap().name(), "padded");
}

#[test]
fn init_begins_a_ladder_for_each_kind_of_source() {
    let bench = Bench::new();
    copy(&bench, "transpose");
    copy(&bench, "histogram");
    for (file, steps, said) in [
        ("transpose/transpose.cu", &["transpose", "transpose_tile", "copy"][..], ""),
        ("histogram/histogram.cu", &["base"], "histogram.cu has a `main`"),
    ] {
        let ran = bench.run(&["init", "--force", file]);
        assert!(ran.code == Some(0) && ran.err.contains(said), "{ran:?}");
        let ladder = Ladder::load(bench.path(file).parent().unwrap()).unwrap();
        let names: Vec<&str> = ladder.steps().iter().map(adoprof::ladder::Step::name).collect();
        assert_eq!(names, steps);
        let words: Vec<_> =
            ladder.steps().iter().filter_map(adoprof::ladder::Step::program_words).collect();
        assert_eq!(words.len(), usize::from(steps == ["base"]));
    }
}

#[test]
fn histogram_is_built_run_checked_and_timed() {
    let bench = Bench::new();
    copy(&bench, "histogram");
    let manifest = std::fs::read_to_string(bench.path("histogram/ladder.toml")).unwrap();
    // The stand-in launches `add`.
    let manifest = manifest.replace("^histogram$", "^add$");
    bench.write("histogram/ladder.toml", &manifest);
    // The first three values of the generator are 60, 94 and 129: 1 x 1664525 + 1013904223 = 0x3c88596c, and
    // so on. Built with -DSHARED, the stand-in counts nothing.
    program(
        &bench,
        "nvcc",
        "#!/bin/sh\nright=1\nwhile [ $# -gt 0 ]; do\n case $1 in -o) out=$2 ;; -DSHARED) right=0 ;; esac\n shift\ndone\n\
         printf '#!/bin/sh\\nawk -v right=%s \"BEGIN { for (i = 0; i < 256; i++) print (right && \
         (i == 60 || i == 94 || i == 129)) ? 1 : 0 }\" > counts.txt\\nexec PROGRAM\\n' \
         $right > \"$out\"\nchmod +x \"$out\"\n",
    );
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: the check of examples/histogram needs python3");
        return;
    }
    let words = ["run", "--ladder", "./histogram", "--size", "N=3", "--format", "json"];
    let ran = run(&bench, &words);
    // Eight launches of 100 ns; the second step's answer is wrong.
    assert_eq!(times(&ran), [("global".to_owned(), 800.0, true)], "{ran:?}");
    assert_eq!(ran.code, Some(4));
    assert!(ran.err.contains("3 of 256 counts are wrong"), "{}", ran.err);
    assert!(bench.path("histogram/global").is_file() && bench.path("histogram/shared").is_file());
}

#[test]
fn smooth_says_its_time_and_its_answer_itself() {
    let bench = Bench::new();
    copy(&bench, "smooth");
    let manifest = std::fs::read_to_string(bench.path("smooth/ladder.toml")).unwrap();
    let manifest = manifest.replace("match = \"plain\"", "match = \"add\"");
    let manifest = manifest.replace("match = \"tiled\"", "match = \"add\"");
    bench.write("smooth/ladder.toml", &manifest);
    program(
        &bench,
        "python3",
        "#!/bin/sh\ncase $2 in plain) t='4.0 6.0' ;; *) t='1.0 1.5' ;; esac\n\
         for t in $t; do echo \"kernel took $t ms\"; done\necho 'PASS: the largest error is 1.0e-07'\nexec PROGRAM\n",
    );
    let ran = run(&bench, &["run", "--ladder", "./smooth", "--format", "json"]);
    let expected = [("plain".to_owned(), 5e6, true), ("tiled".to_owned(), 1.25e6, true)];
    assert_eq!((times(&ran), ran.code), (expected.into(), Some(0)), "{}", ran.err);
}

#[test]
fn every_command_names_a_file_of_its_example() {
    for name in ["histogram", "smooth"] {
        let ladder = Ladder::load(&examples().join(name)).unwrap();
        for step in ladder.steps() {
            let source = step.source().unwrap();
            assert!(source.text.contains("plain") || source.text.contains("__global__"));
            let words = step.program_words().unwrap();
            assert!(words[0].contains(source.name.rsplit('/').next().unwrap()), "{words:?}");
        }
    }
}
