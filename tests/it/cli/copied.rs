//! A built-in ladder that was copied and edited: recordings are of what shipped.

use crate::cli::bench::Bench;

/// A bench with copies of `ado`: one as it is, and two with another v3.
fn bench() -> Bench {
    let bench = Bench::new();
    for name in ["same", "source", "manifest"] {
        assert_eq!(bench.run(&["ladder", "copy", "ado", name]).code, Some(0));
    }
    bench.write("source/v3.cu", "this is not CUDA\n");
    let manifest = std::fs::read_to_string(bench.path("manifest/ladder.toml")).unwrap();
    let (before, step) = manifest.split_once("name = \"v3\"").unwrap();
    let (launch, after) = step.split_once("block = [").unwrap();
    let (_, after) = after.split_once(']').unwrap();
    bench
        .write("manifest/ladder.toml", format!("{before}name = \"v3\"{launch}block = [32]{after}"));
    bench
}

#[test]
fn a_recording_does_not_stand_for_an_edited_step() {
    let bench = bench();
    for (ladder, file) in [("./source", "./source/v3.cu"), ("./manifest", "./manifest/ladder.toml")]
    {
        let command = format!("`adoprof step --ladder {ladder} --kernel v3`");
        let said = ["ado/v3", file, "differs from what was recorded", command.as_str()];
        let step = ["step", "--ladder", ladder, "--kernel", "v3"];
        bench.run(&step).fails(3, &said);
        // Where it is asked for, no device is what is missing.
        bench.run(&[&step[..], &["--recorded"]].concat()).fails(2, &said);
        let check =
            ["check", "--baseline-ladder", "ado", "--baseline", "v3", "--ladder", ladder, "v3"];
        bench.run(&check).fails(3, &said);
        bench.run(&["diff", "--ladder", ladder, "v2", "v3"]).fails(3, &said);
        bench.run(&["analyze", "--ladder", ladder, "v3"]).fails(3, &said);
        bench.run(&["report", "--ladder", ladder, "v3"]).fails(3, &said);
        assert!(!bench.path("report.html").exists());
        bench
            .run(&["limiter", "--ladder", ladder, "--kernel", "v3", "--recorded"])
            .fails(2, &said[..3]);
        let other = bench.run(&["step", "--ladder", ladder, "--kernel", "v2"]);
        assert_eq!(other.code, Some(0), "another step: {other:?}");
    }
    let whole = bench.run(&["run", "--ladder", "./source"]);
    assert!(whole.code == Some(3) && whole.err.contains("./source/v3.cu"), "{whole:?}");
    let page = bench.run(&["report", "--ladder", "./source", "-o", "all.html"]);
    assert!(page.code == Some(3) && page.err.contains("left out: "), "{page:?}");
}

#[test]
fn a_recording_stands_for_a_copy_as_it_is() {
    let bench = bench();
    let step = bench.run(&["step", "--ladder", "./same", "--kernel", "v3", "-q"]);
    assert!(step.code == Some(0) && step.out.starts_with("recorded "), "{step:?}");
    // A step of a folder by its path, as `step --kernel` takes it.
    let diff = bench.run(&["diff", "ado/v3", "./same/v3", "-q"]);
    assert!(diff.code == Some(0) && diff.out.contains("equally fast"), "{diff:?}");
    bench.run(&["diff", "ado/v3", "./same/v9"]).fails(2, &["no step `v9`; did you mean `v6`?"]);
    bench.run(&["diff", "ado/v3", "./same/v3.csv"]).fails(2, &["there is no such file"]);
}

#[test]
fn without_a_recording_the_command_that_makes_a_profile_can_be_run() {
    let bench = bench();
    let renamed = std::fs::read_to_string(bench.path("same/ladder.toml")).unwrap();
    bench.write("same/ladder.toml", renamed.replacen("name = \"ado\"", "name = \"mine\"", 1));
    let command =
        "; on a machine with a GPU, `adoprof step --ladder ./same --kernel v1` profiles it";
    for args in [&["run", "--ladder", "./same"][..], &["report", "--ladder", "./same", "v1"]] {
        let ran = bench.run(args);
        ran.fails(3, &[command]);
        assert_eq!(ran.err.matches("recording").count(), 1, "said once: {ran:?}");
    }
    bench
        .run(&["run", "--size", "N=5"])
        .fails(3, &["of ado/v1 at L=1024,M=1024,N=5", "`adoprof step --kernel v1 --size N=5`"]);
}
