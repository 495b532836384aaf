//! Frames as files, and what shells want to know of the command line.

use std::process::Command;

use crate::cli::bench::{Bench, ran};

#[test]
fn a_table_goes_to_stdout_and_all_of_them_to_a_folder() {
    let bench = Bench::new();
    bench.v2("v2");
    let metrics = bench.run(&["frames", "v2.raw.csv", "--table", "metrics"]);
    let mut lines = metrics.out.lines();
    assert_eq!(lines.next(), Some("profile,launch,section,metric,unit,value,text"), "{metrics:?}");
    let duration = lines.find(|line| line.contains(",gpu__time_duration.sum,")).unwrap();
    assert!(duration.starts_with("v2.raw.csv,0,") || duration.starts_with("v2,0,"), "{duration}");
    let ran = bench.run(&["frames", "v2.raw.csv", "--format", "parquet", "-o", "tables"]);
    assert_eq!(ran.out.lines().count(), 5, "{ran:?}");
    for table in ["launches", "metrics", "ncu-rules", "lines", "instructions"] {
        let bytes = std::fs::read(bench.path(&format!("tables/{table}.parquet"))).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{table}");
    }
    // A pipe takes bytes as they are.
    let piped = bench
        .command(&["frames", "v2.raw.csv", "--table", "lines", "--format", "parquet"])
        .output()
        .unwrap();
    assert_eq!(piped.stdout, std::fs::read(bench.path("tables/lines.parquet")).unwrap());
    let nowhere = bench.run(&["frames", "v2.raw.csv"]);
    assert_eq!((nowhere.code, nowhere.out.as_str()), (Some(2), ""), "{nowhere:?}");
    let none = bench.run(&["frames", "v2.raw.csv", "-k", "nothing", "--table", "launches"]);
    assert_eq!(none.out.lines().count(), 1, "the names of the columns alone: {none:?}");
}

#[test]
fn steps_stand_below_one_another() {
    let bench = Bench::new();
    let launches = bench.run(&["frames", "v1", "v2", "--table", "launches"]).out;
    let profiles: Vec<&str> =
        launches.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(profiles, ["ado/v1", "ado/v2"]);
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let bench = Bench::new();
    let script = bench.run(&["completions", "bash"]);
    assert!(script.out.contains("--baseline") && !script.out.contains("__launch"));
    bench.write("adoprof.bash", &script.out);
    // The shell itself takes it, and completes a subcommand.
    let line = "source adoprof.bash; COMP_WORDS=(adoprof analy); COMP_CWORD=1; \
                _adoprof adoprof analy adoprof; echo ${COMPREPLY[@]}";
    let completed =
        Command::new("bash").args(["-c", line]).current_dir(bench.path("")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&completed.stdout).trim(), "analyze", "{completed:?}");

    assert_eq!(bench.run(&["man", "man1"]).code, Some(0));
    let pages: Vec<String> = bench
        .left("man1")
        .iter()
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    for page in ["adoprof.1", "adoprof-step.1", "adoprof-watch.1", "adoprof-ladder-copy.1"] {
        assert!(pages.iter().any(|name| name == page), "no {page}: {pages:?}");
    }
    assert!(!pages.iter().any(|name| name.contains("__")), "{pages:?}");
    let page = std::fs::read_to_string(bench.path("man1/adoprof-analyze.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("baseline"), "{page}");
}

#[test]
fn the_option_decides_on_colours_before_the_environment() {
    let bench = Bench::new();
    bench.v2("v2");
    for (option, variable, coloured) in [
        ("--color=always", ("NO_COLOR", "1"), true),
        ("--color=never", ("FORCE_COLOR", "1"), false),
        ("--color=auto", ("FORCE_COLOR", "1"), true),
        ("--color=auto", ("NO_COLOR", "1"), false),
    ] {
        let mut command = bench.command(&["analyze", "v2.raw.csv", option]);
        let out = ran(command.env(variable.0, variable.1)).out;
        assert_eq!(out.contains("\u{1b}["), coloured, "{option} {variable:?}");
    }
    assert_eq!(bench.run(&["analyze", "v2.raw.csv", "--color", "blue"]).code, Some(2));
}

/// Runs a command line on a terminal of 24 rows, and returns what it showed.
fn on_terminal(bench: &Bench, words: &str, pager: &str) -> String {
    let line = format!("stty rows 24 cols 80; {} {words}", env!("CARGO_BIN_EXE_adoprof"));
    let mut command = Command::new("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(bench.path(""))
        .env("TERM", "xterm")
        .env("LC_ALL", "C.UTF-8")
        .env("ADOPROF_PAGER", pager)
        .env("CUDA_VISIBLE_DEVICES", "")
        .env("HOME", bench.path("home"));
    ran(&mut command).out
}

#[test]
fn only_long_texts_on_a_terminal_are_paged() {
    let bench = Bench::new();
    bench.v2("v2");
    let pager = "sh -c 'echo THE PAGER; cat > paged'";
    assert!(on_terminal(&bench, "explain", pager).contains("THE PAGER"));
    let text = std::fs::read_to_string(bench.path("paged")).unwrap();
    assert!(text.contains("uncoalesced-global-access") && text.lines().count() > 24);
    for (words, pager) in [
        ("explain --no-pager", pager),
        ("explain", "cat"),
        ("explain", ""),
        ("explain", "/no/such/pager"),
        // Eleven lines.
        ("analyze v2.raw.csv --quiet", pager),
    ] {
        let shown = on_terminal(&bench, words, pager);
        assert!(!shown.contains("THE PAGER") && shown.lines().count() > 3, "{words}: {shown}");
    }
    // A pipe has no pager.
    assert_eq!(bench.run(&["explain"]).code, Some(0));
}

/// 80 columns, as `on_terminal` sets them.
#[test]
fn a_terminal_of_80_columns_shows_a_ladders_times_in_one_line() {
    let bench = Bench::new();
    let shown = on_terminal(&bench, "run --ladder ado --recorded --quiet", "");
    let line = shown.lines().find(|line| line.starts_with("time ")).expect("a line of heights");
    assert!(line.trim_end().ends_with(" 27.0 ms → 959 µs (logarithmic)"), "{line}");
    // 27.0, 11.0, 7.67, 3.62, 1.09, 0.959 ms: of the logarithms' range 1, 0.73, 0.62, 0.40, 0.04, 0; a tenth and nine
    // tenths of these in eighths.
    assert!(line.contains(" █▆▅▄▁▁ "), "{line}");
    let piped = bench.run(&["run", "--ladder", "ado", "--recorded", "--quiet"]).out;
    assert!(piped.contains("v6") && !piped.contains('█'), "{piped}");
}

#[test]
fn without_utf_8_bars_are_drawn_by_ascii() {
    let bench = Bench::new();
    bench.v2("v2");
    let bars = |variable: (&str, &str)| {
        let mut command = bench.command(&["analyze", "v2.raw.csv"]);
        command.env_remove("LC_ALL").env_remove("LC_CTYPE").env("LANG", "en_US.UTF-8");
        let out = ran(command.env(variable.0, variable.1)).out;
        (out.matches('█').count(), out.matches('#').count())
    };
    let (blocks, _) = bars(("LANG", "en_US.UTF-8"));
    let (none, signs) = bars(("LC_ALL", "C"));
    assert!(blocks > 40 && none == 0 && signs >= blocks, "{blocks} {none} {signs}");
    assert_eq!(bars(("LANG", "C")).0, 0);
    assert_eq!(bars(("LC_CTYPE", "C.UTF-8")).0, blocks);
}

#[test]
fn pixels_are_not_for_a_terminal() {
    let bench = Bench::new();
    let shown = on_terminal(&bench, "report v2 --format png --chart stalls -o -", "");
    assert!(shown.contains("a PNG is not for a terminal") && !shown.contains("IHDR"), "{shown}");
}
