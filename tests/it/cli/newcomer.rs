//! What a newcomer tries first: options that mean nothing where they stand, widths, thin exports,
//! profiles of unlike things.

use crate::cli::bench::{Bench, Ran, file, ran};

/// The one notice on stderr, beside a result.
fn notice(ran: &Ran) -> &str {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines: Vec<&str> = ran.err.lines().collect();
    let [line] = lines[..] else { panic!("one line: {ran:?}") };
    line.strip_prefix("adoprof: ").expect("in adoprof's name")
}

#[test]
fn options_without_a_meaning_on_a_recording_are_told() {
    let bench = Bench::new();
    let step = ["step", "--kernel", "v2", "--recorded"];
    let plain = bench.run(&step);
    assert_eq!(plain.err, "");
    for (args, named) in [
        (&["--time-only"][..], &["--time-only has no effect"][..]),
        (&["-o", "saved"], &["-o has no effect"]),
        (&["--device", "1"], &["--device"]),
        (&["--collect", "full"], &["--collect"]),
        (
            &["--section", "Occupancy", "--metrics", "a.sum"],
            &["--section and --metrics have no effect"],
        ),
        (&["--ncu-args", "--nvtx", "--ncu", "./ncu"], &["--ncu-args and --ncu have no effect"]),
    ] {
        let told = bench.run(&[&step, args].concat());
        assert!(named.iter().all(|name| notice(&told).contains(name)), "{args:?}: {told:?}");
        assert!(notice(&told).contains("a recording is shown"), "{told:?}");
        assert_eq!(told.out, plain.out, "{args:?}: the recording all the same");
        assert_eq!(bench.run(&[&step, args, &["-q"]].concat()).err, "", "{args:?}: quiet");
    }
    assert!(!bench.path("saved").exists());
    bench
        .run(&["step", "--kernel", "v2", "--size", "N=512"])
        .fails(3, &["`adoprof step --kernel v2 --size N=512`"]);
    let run = bench.run(&["run", "--ladder", "padding", "--recorded", "-o", "saved", "--cpu"]);
    assert!(notice(&run).contains("--cpu and -o have no effect"), "{run:?}");
    // Its recording has the CPU's times.
    assert_eq!(bench.run(&[&step[..], &["--cpu"]].concat()).err, "");
    // For every command, and so for none in particular.
    let variable = ran(bench.command(&step).env("ADOPROF_NCU", "/nowhere/ncu"));
    assert_eq!(variable.err, "");
}

#[test]
fn what_cannot_be_meant_is_refused_on_a_recording_too() {
    let bench = Bench::new();
    for args in [&["step", "--kernel", "v2", "--recorded"][..], &["run", "--recorded"]] {
        let with = |words| bench.run(&[args, &["--ncu-args", words]].concat());
        with("--nvtx-include 'open").fails(2, &["--ncu-args has an open quote"]);
        with("-o here").fails(2, &["--ncu-args must not contain --export"]);
    }
    let sweep = bench.run(&["sweep", "--kernel", "v4", "--over", "N=256", "--ncu-args", "--nvtx"]);
    assert_eq!(sweep.code, Some(2), "{sweep:?}");
    assert!(sweep.err.contains("--profile"), "{sweep:?}");
}

#[test]
fn a_ranking_is_explained_where_there_is_one() {
    let bench = Bench::new();
    let diff = bench.run(&["diff", "v2", "v3", "--explain-ranking", "--format", "json"]);
    assert!(notice(&diff).contains("--explain-ranking has no effect"), "{diff:?}");
    let step = ["step", "--kernel", "v2", "--recorded", "--explain-ranking", "--format"];
    assert_eq!(bench.run(&[&step[..], &["json"]].concat()).err, "");
    assert!(notice(&bench.run(&[&step[..], &["csv"]].concat())).contains("--explain-ranking"));
}

#[test]
fn a_dry_run_needs_no_ncu() {
    let bench = Bench::new();
    let without = |args: &[&str]| ran(bench.command(args).env("PATH", bench.path("nothing")));
    for args in [
        &["step", "--kernel", "v2", "--dry-run", "-o", "saved"][..],
        &["profile", "--dry-run", "--no-survey", "-o", "saved", "--", "./program"],
    ] {
        let dry = without(args);
        // Even without a PATH there may be one in a usual folder.
        let program = if dry.err.is_empty() { "/ncu" } else { " ncu" };
        if !dry.err.is_empty() {
            assert!(
                notice(&dry).contains("`ncu` stands for Nsight Compute's ncu, which was not found"),
                "{dry:?}"
            );
        }
        let first = dry.out.lines().next().unwrap_or_default();
        assert!(first.contains(&format!("{program} -f -o saved/report ")), "{first}");
    }
    assert!(!bench.path("saved").exists());
    let live_only = ["step", "--kernel", "v2", "--dry-run", "--time-only", "--recorded"];
    let dry = bench.run(&live_only);
    assert!(dry.err.contains("--time-only and --recorded have no effect"), "{dry:?}");
}

#[test]
fn columns_are_honoured() {
    let bench = Bench::new();
    for args in [
        &["ladder"][..],
        &["ladder", "show", "ado"],
        &["doctor"],
        &["explain"],
        &["explain", "low-memory-parallelism"],
        &["analyze", "v2"],
        &["diff", "v2", "v3"],
        &["run", "--ladder", "padding", "--recorded"],
        &["limiter", "--kernel", "ado/v4", "--recorded"],
    ] {
        for columns in ["44", "64", "100"] {
            let ran = ran(bench.command(args).env("COLUMNS", columns));
            assert!(!ran.out.is_empty(), "{ran:?}");
            let most: usize = columns.parse().unwrap();
            for line in ran.out.lines() {
                let is_path = line.contains(&*bench.path("").to_string_lossy());
                // Neither a path nor code can be wrapped.
                let is_code = args[0] == "explain" && line.starts_with("    ");
                let fits = line.chars().count() <= most;
                assert!(is_path || is_code || fits, "{columns} {args:?}: {line}");
            }
        }
    }
    for columns in ["0", "99999999999", "-1", "x", ""] {
        let ran = ran(bench.command(&["ladder"]).env("COLUMNS", columns));
        assert_eq!(ran.code, Some(0), "{columns}: {ran:?}");
        assert!(ran.out.contains("ado"), "{columns}");
    }
}

#[test]
fn a_details_page_alone_claims_no_more_than_it_shows() {
    let bench = Bench::new();
    bench.copy("cli/v2.details.csv", "v2.details.csv");
    let text = bench.run(&["analyze", "v2.details.csv"]);
    for part in ["details page alone", "--page raw --csv"] {
        assert!(notice(&text).contains(part), "{text:?}");
    }
    let document = bench.run(&["analyze", "v2.details.csv", "--format", "json"]).json();
    assert!(document["notices"].to_string().contains("details page alone"));
    let launch = &document["launches"][0];
    // The page's own words: 77.39% memory throughput, 39.46% compute throughput.
    assert_eq!(launch["bound"], "memory");
    assert!(launch["bottleneck"].as_str().unwrap().contains("memory throughput 77%"), "{launch}");
    for finding in launch["findings"].as_array().unwrap() {
        assert!(finding["estimated_speedup"].is_null(), "of units that are not known: {finding}");
    }
    // Without the throughputs nothing tells.
    let page = std::fs::read_to_string(bench.path("v2.details.csv")).unwrap();
    let is_throughput =
        |line: &&str| line.contains("Memory Throughput\"") || line.contains("(SM) Throughput");
    let thin: Vec<&str> = page.lines().filter(|line| !is_throughput(line)).collect();
    bench.write("thin.details.csv", thin.join("\n"));
    let thin = bench.run(&["analyze", "thin.details.csv"]);
    let flat = thin.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("bound by something that the collected metrics don't show"), "{thin:?}");
    assert!(!thin.out.to_lowercase().contains("latency:"), "{thin:?}");
    assert!(thin.out.contains("worth   unknown"), "{thin:?}");
    assert!(thin.out.contains("The profile is thin"), "{thin:?}");
    // The raw page beside it is found, whichever of them is named.
    bench.v2("v2");
    let whole = bench.run(&["analyze", "v2.details.csv"]);
    let raw = bench.run(&["analyze", "v2.raw.csv"]);
    assert_eq!((&whole.out, &whole.err), (&raw.out, &raw.err));
    // It lacks one metric of an effect that it shows.
    assert!(notice(&raw).contains("lts__t_requests_srcunit_tex.sum ("));
}

#[test]
fn a_profile_that_tells_nothing_is_not_called_faultless() {
    let bench = Bench::new();
    bench.write(
        "thin.raw.csv",
        "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"a.sum\"\n\"\",\"\",\"\",\"\",\"\"\n\
         \"0\",\"k\",\"(32, 1, 1)\",\"(1, 1, 1)\",\"7\"\n",
    );
    let thin = bench.run(&["analyze", "thin.raw.csv"]);
    assert_eq!(thin.code, Some(0), "{thin:?}");
    assert!(thin.out.contains("no rule could be checked"), "{thin:?}");
    assert!(thin.out.contains("1 block of 32 threads"), "{thin:?}");
}

#[test]
fn a_folder_by_a_bare_name_is_read_where_no_step_has_it() {
    let bench = Bench::new();
    let recording = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/ado/v2");
    bench.copy_files(&recording, "mine");
    bench.copy_files(&recording, "v3");
    for args in [
        &["analyze", "mine"][..],
        &["analyze", "./mine"],
        &["diff", "mine", "v3"],
        &["history", "add", "mine", "--commit", "one"],
    ] {
        let ran = bench.run(args);
        assert!(ran.code == Some(0) && !ran.out.is_empty(), "{ran:?}");
    }
    let step = bench.run(&["analyze", "v3", "-q"]).out;
    assert!(step.contains("ado/v3 takes"), "a step goes before a folder: {step}");
    bench
        .run(&["analyze", "yours"])
        .fails(2, &["no step `yours`", "no file or folder of that name"]);
}

#[test]
fn a_quiet_comparison_is_its_verdict() {
    let bench = Bench::new();
    let recording = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles/ado/v3");
    bench.copy_files(&recording, "mine");
    for args in [
        &["step", "--kernel", "v3", "--baseline", "v2", "-q"][..],
        &["analyze", "mine", "--baseline", "v2", "-q"],
    ] {
        let ran = bench.run(args);
        let faster: Vec<&str> = ran.out.lines().filter(|line| line.contains(" faster")).collect();
        assert!(matches!(faster[..], [line] if line.starts_with("ado/v2 → ")), "{ran:?}");
    }
}

#[test]
fn a_locale_without_other_letters_gets_none() {
    let bench = Bench::new();
    for args in [&["diff", "v3", "v4"][..], &["step", "--kernel", "v2"], &["run", "--recorded"]] {
        let ran = ran(bench.command(args).env("LC_ALL", "C"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let other = ran.out.lines().chain(ran.err.lines()).find(|line| !line.is_ascii());
        assert_eq!(other, None, "{args:?}");
    }
}

#[test]
fn unlike_profiles_are_told_apart() {
    let bench = Bench::new();
    let diff = bench.run(&["diff", "ado/v2", "reduce/r3"]);
    for part in [
        "ladder ado against reduce",
        "none is compared",
        "average_then_sweep against",
        "No metric was",
    ] {
        let flat = diff.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(part), "no `{part}`: {}", diff.out);
    }
    let json = bench.run(&["diff", "ado/v2", "reduce/r3", "--format", "json"]).json();
    assert_eq!((&json["schema"], &json["metrics_compared"]), (&"adoprof/1".into(), &0.into()));
    let steps = bench.run(&["diff", "v2", "v3"]).out;
    assert!(steps.contains("block 1024 against 32×32"), "{steps}");
}

#[test]
fn a_symptom_is_told_once_a_launch() {
    let bench = Bench::new();
    let text = |more: &[&str]| {
        let args = [&["step", "--kernel", "v2", "--recorded"][..], more].concat();
        bench.run(&args).out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // By name where the findings are short, with what was seen of it once where all is asked for.
    let (short, all) = (text(&[]), text(&["-v"]));
    assert!(short.contains("issue-slots-underused"), "{short}");
    assert!(!short.contains("A scheduler issues"), "{short}");
    assert_eq!(all.matches("A scheduler issues").count(), 1, "{all}");
}

#[test]
fn one_thing_is_no_plural() {
    let bench = Bench::new();
    let multi = file("fixtures/csv/multi.raw.csv").display().to_string();
    let text = bench.run(&["analyze", &multi, "-v"]).out;
    assert!(text.contains("1 block of 32 threads"), "{text}");
    let v1 = bench.run(&["step", "--kernel", "v1", "--recorded"]).out;
    for text in [text, v1] {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for noun in ["blocks", "launches", "threads", "rules", "metrics", "passes", "warps"] {
            let wrong = format!(" 1 {noun}");
            let decimal = |at: usize| flat[..at].ends_with(['.', ',', '×']);
            let found = flat.match_indices(&wrong).find(|&(at, _)| !decimal(at));
            assert!(found.is_none(), "{wrong}: {text}");
        }
    }
}
