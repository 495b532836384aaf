//! Lines that can't be read, as a newcomer types them: one sentence, and the command that was meant.

use crate::cli::bench::Bench;

#[test]
fn help_offers_the_formats_that_a_command_can_write() {
    let bench = Bench::new();
    for command in ["bench", "history", "ledger", "limiter", "sweep"] {
        let help = bench.run(&[command, "--help"]);
        assert_eq!(help.code, Some(0), "{help:?}");
        let has = |form: &str| help.out.contains(&format!("- {form}:"));
        assert!(["text", "json", "markdown", "csv"].into_iter().all(has), "{help:?}");
        assert!(!["sarif", "junit", "github"].into_iter().any(has), "{help:?}");
    }
    bench.run(&["bench", "--format", "github"]).fails(2, &["the bench has none; use text, json"]);
    let check = bench.run(&["check", "--help"]).out;
    assert!(check.contains("- sarif:") && check.contains("- github:"), "{check}");
}

#[test]
fn help_helps_with_itself() {
    let bench = Bench::new();
    let help = bench.run(&["help", "--help"]);
    assert!(help.code == Some(0) && help.out.contains("Usage: adoprof help"), "{help:?}");
    assert_eq!(bench.run(&["help", "diff", "-h"]).out, bench.run(&["help", "diff"]).out);
}

#[test]
fn one_sentence_says_what_was_meant() {
    let bench = Bench::new();
    bench.write("app", "#!/bin/sh\n");
    bench.write("k.cu", "__global__ void k(float* a) { a[0] = 1; }\n");
    bench.write("my.nsys-rep", "not read\n");
    bench.write("my.ncu-rep", "not read\n");
    bench.write("mine/ladder.toml", "not read\n");
    for (args, command) in [
        (&["run", "--kernel", "v2"][..], "`adoprof step --kernel v2`"),
        (&["run", "./app"], "`adoprof profile -- ./app`"),
        (&["profile", "./app"], "`adoprof profile -- ./app`"),
        (&["profile", "--set", "full", "./app"], "`adoprof profile --collect full -- ./app`"),
        (
            &["profile", "--kernel-name", "regex:a b", "--launch-count", "1", "./app"],
            "`adoprof profile -k 'regex:a b' --launch-count 1 -- ./app`",
        ),
        (
            &["profile", "--replay-mode", "application", "./app"],
            "`adoprof profile --ncu-args '--replay-mode application' -- ./app`",
        ),
        (&["profile", "my.ncu-rep"], "`adoprof analyze my.ncu-rep`"),
        (&["profile", "--", "my.ncu-rep"], "`adoprof analyze my.ncu-rep`"),
        (&["profile", "--", "k.cu"], "`adoprof init k.cu`"),
        (&["capture", "--", "k.cu"], "`adoprof init k.cu`"),
        (&["init", "./app"], "adoprof init -- ./app"),
        (&["analyze", "k.cu"], "`adoprof init k.cu`"),
        (&["analyze", "./app"], "`adoprof profile -- ./app`"),
        (&["analyze", "my.nsys-rep"], "`adoprof profile -- PROGRAM`"),
        (&["diff", "./mine/", "v2"], "`adoprof run --ladder ./mine`"),
        (&["app"], "`adoprof profile -- ./app`"),
        (&["compare", "v1", "v2"], "`adoprof diff v1 v2`"),
        (&["explain", "coalescing"], "`uncoalesced-global-access`"),
        (&["report", "v2", "--chart", "stalls"], "add --format svg or --format png"),
    ] {
        bench.run(args).fails(2, &[command]);
    }
    assert!(!bench.path("report.html").exists());
}
