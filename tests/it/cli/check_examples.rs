//! The examples of `check` in the documentation and in its help, run as they stand there as far as that goes without
//! a GPU.

use std::path::Path;

use crate::cli::bench::{Bench, Ran, ran};
use crate::survey::STAND_INS;

/// The command lines that begin with `adoprof check`, without their comments.
fn commands(text: &str) -> Vec<String> {
    let text = text.replace("\\\n", " ");
    let lines = text.lines().map(str::trim).filter(|line| line.starts_with("adoprof check"));
    // A comment stands apart: by `#` in the documentation, by spaces in the help.
    lines
        .map(|line| {
            let line = line.split(" #").next().unwrap_or(line);
            let words = line.find("--fail-on").map_or(line, |at| &line[..at]);
            match words.find("   ") {
                Some(at) if !line.contains("--no-time") => line[..at].to_owned(),
                _ => line.trim().to_owned(),
            }
        })
        .collect()
}

fn command(bench: &Bench, words: &[String]) -> Ran {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = bench.command(&words);
    command.current_dir(bench.path("here"));
    let pages = ["raw", "details", "source.cuda-sass"].map(|page| format!("pages/v2.{page}.csv"));
    ran(bench.stand_ins_with(&mut command, pages.each_ref().map(String::as_str)))
}

/// A folder with all that the examples name: two profiles alike, two programs, and two versions of a ladder.
fn prepared(example: &str) -> Bench {
    let bench = Bench::new();
    bench.v2("pages/v2");
    std::fs::create_dir_all(bench.path("here")).unwrap();
    let program = STAND_INS.program().display().to_string();
    let words = ["profile", "-o", "base", "--", &program].map(str::to_owned);
    let saved = command(&bench, &words);
    assert_eq!(saved.code, Some(0), "{saved:?}");
    // The stand-in launches each kernel four times at most, which is too few to be judged.
    let text = std::fs::read_to_string(bench.path("here/base/program.json")).unwrap();
    bench.write("here/base/program.json", text.replace("\"launches\":4", "\"launches\":40"));
    if example.contains("./new") {
        for name in ["old", "new"] {
            bench.script(&format!("here/{name}"), &format!("#!/bin/sh\nexec '{program}'\n"));
        }
    } else {
        bench.copy_files(&bench.path("here/base"), "here/new");
    }
    let ado = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/ado");
    for place in ["here/kernels", "main/kernels"] {
        bench.copy_files(&ado, place);
    }
    bench
}

#[test]
fn the_examples_do_what_they_say() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/check.md");
    let page = std::fs::read_to_string(page).unwrap();
    let help = ran(Bench::new().command(&["check", "--help"]).env("COLUMNS", "100"));
    let examples = [commands(&page), commands(&help.out)];
    assert_eq!(examples.each_ref().map(Vec::len), [7, 5], "{examples:?}");
    for example in examples.into_iter().flatten() {
        let bench = prepared(&example);
        let words = shell_words::split(&example.replace("PROFILE", "base/")).unwrap();
        let ran = command(&bench, &words[1..]);
        let expected = i32::from(example.contains("rule:uncoalesced-global-access"));
        assert_eq!(ran.code, Some(expected), "{example}: {ran:?}");
        let verdicts: &[&str] =
            if example.contains("--no-time") { &["1 gate failed"] } else { &["SAME", "FASTER"] };
        assert!(verdicts.iter().any(|word| ran.out.contains(word)), "{example}: {ran:?}");
    }
}
