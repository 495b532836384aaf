//! Steps that are programs: planned, and their mistakes named with their lines.

use super::{Ladder, Overrides, Tuning, parse_overrides};
use crate::error::{Error, Result};
use crate::plan::{AnswerCheck, TimeSource, TimeUnit};

const MANIFEST: &str = r#"
name = "mine"
title = "t"
bytes = "8 * N"
[parameters]
N = 100
[[steps]]
name = "a"
title = "a"
build = "make -j a EACH={EACH}"
run = "./a --size {N * EACH} 'two words' {{x}}"
match = "^add"
check = { run = "cmp out-{N}.bin ok.bin" }
time = { output = "took ([0-9.]+)", unit = "ms" }
tune = { EACH = 4 }
runs = 7
"#;

fn load(text: &str) -> Result<Ladder> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("ladder.toml"), text).unwrap();
    std::fs::write(dir.path().join("a.cu"), "// a").unwrap();
    Ladder::load(dir.path())
}

#[test]
fn a_program_is_planned_at_a_size_and_a_tuning() {
    let ladder = load(MANIFEST).unwrap();
    let tuning = Tuning { tune: parse_overrides("EACH=2").unwrap(), ..Tuning::default() };
    let plan = ladder.program_plan("a", &parse_overrides("N=50").unwrap(), &tuning).unwrap();
    assert_eq!(plan.build.unwrap().text(), "make -j a 'EACH=2'");
    assert_eq!(plan.run.program, "./a");
    assert_eq!(plan.run.args, ["--size", "100", "two words", "{x}"]);
    let Some(AnswerCheck::Command(check)) = plan.check else { panic!("{:?}", plan.check) };
    assert_eq!(check.args, ["out-50.bin", "ok.bin"]);
    let TimeSource::Output { unit, .. } = plan.time else { panic!("{:?}", plan.time) };
    assert_eq!((unit, plan.runs, plan.bytes, plan.flops), (Some(TimeUnit::Ms), 7, 400, 0));
    assert_eq!(plan.kernels.as_deref(), Some("^add"));
}

#[test]
fn what_only_kernels_know_is_refused() {
    let ladder = load(MANIFEST).unwrap();
    let none = Overrides::new();
    let error = ladder.plan("a", &none, 1).unwrap_err();
    assert!(matches!(&error, Error::Usage(text) if text.contains("is a program")), "{error}");
    for (tuning, words) in [
        (Tuning { block: Some(32), ..Tuning::default() }, "a block can't be set"),
        (Tuning { carveout_percent: Some(50), ..Tuning::default() }, "a carve-out can't be set"),
        (Tuning { flags: vec!["-G".into()], ..Tuning::default() }, "compiler flags can't be set"),
        (Tuning { tune: [("X".to_owned(), 1)].into(), ..Tuning::default() }, "no tunable `X`"),
    ] {
        let error = ladder.program_plan("a", &none, &tuning).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn mistakes_name_their_line() {
    for (old, new, line, words) in [
        ("run = \"./a --size", "run = \"./a --size 'x", 11, "quote of the command"),
        ("run = \"./a --size {N * EACH}", "run = \"./a {M}", 11, "`M`, which is not a parameter"),
        ("run = \"./a --size {N * EACH}", "run = \"./a {SMS}", 11, "leave `SMS` out"),
        ("run = \"./a --size {N * EACH}", "run = \"./a {N", 11, "not an expression"),
        ("make -j a EACH={EACH}", " ", 10, "the command is empty"),
        ("\"^add\"", "\"^(add\"", 12, "`match`: `^(add` is not a regular expression: unclosed"),
        ("{ run = \"cmp", "{ output = \"[\", run = \"cmp", 13, "either `output`"),
        ("{ run = \"cmp out-{N}.bin ok.bin\" }", "{}", 13, "either `output`"),
        ("{ run = \"cmp out-{N}.bin ok.bin\" }", "{ output = \"[\" }", 13, "`check`: `[` is not"),
        ("([0-9.]+)", "[0-9.]+", 14, "the expression has no group"),
        (", unit = \"ms\"", "", 14, "no second group for the unit"),
        ("\"ms\"", "\"fortnight\"", 14, "`fortnight` is not a unit of time: write ns, us"),
        ("runs = 7", "runs = 0", 16, "from 1 to 1000"),
        ("runs = 7", "flags = [\"-G\"]", 16, "flags stand in `build`"),
        ("runs = 7", "host = [\"x\"]", 16, "`x` is not a buffer"),
        ("runs = 7", "repeats = 7", 16, "unknown key `repeats`"),
    ] {
        assert!(MANIFEST.contains(old), "{old}");
        let mistake = load(&MANIFEST.replacen(old, new, 1)).unwrap_err();
        let Error::Manifest { line: got, problem, .. } = &mistake else { panic!("{mistake:?}") };
        assert!(problem.contains(words), "{new}: {problem}");
        assert_eq!(*got, line, "{new}: {problem}");
    }
}

#[test]
fn a_fingerprint_follows_the_files_that_commands_name() {
    let dir = tempfile::tempdir().unwrap();
    let text = MANIFEST.replace("make -j a EACH", "nvcc -o a a.cu -DEACH");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("ladder.toml", &text);
    let fingerprint = || {
        let ladder = Ladder::load(dir.path()).unwrap();
        ladder.fingerprint(ladder.step("a").unwrap())
    };
    write("a.cu", "// one");
    let one = fingerprint();
    write("a", "what the build left");
    assert_eq!(fingerprint(), one, "the built program is made of its sources");
    write("a.cu", "// two");
    assert_ne!(fingerprint(), one);
}
