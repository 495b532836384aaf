//! Lines that can't be read, as a newcomer types them: one sentence, and the command that was meant.

use crate::cli::bench::Bench;

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
