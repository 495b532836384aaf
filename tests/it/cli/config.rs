//! `adoprof.toml` and `adoprof config`.

use crate::cli::bench::{Bench, ran};

#[test]
fn what_holds_is_shown_with_its_place() {
    let bench = Bench::new();
    bench.write("adoprof.toml", "device = 1\n\n[check]\nmax-slowdown = \"3%\"\n");
    let ran = bench.run(&["config"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let line = |key: &str| ran.out.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    assert!(line("device").contains("adoprof.toml:1"), "{}", ran.out);
    assert!(
        line("check.max-slowdown").contains("3%")
            && line("check.max-slowdown").contains("adoprof.toml:4")
    );
    assert!(line("timeout").contains("10m") && line("timeout").contains("built in"), "{}", ran.out);
    let json = bench.run(&["config", "--format", "json"]).json();
    assert_eq!(json["settings"][0]["value"], "1");
}

#[test]
fn a_setting_is_the_default_and_the_option_holds_before_it() {
    let bench = Bench::new();
    let check = ["check", "--recorded", "--baseline", "v2", "v2", "--no-time"];
    let gate = |more: &[&str]| {
        let args: Vec<&str> = check.iter().chain(more).copied().collect();
        bench.run(&args)
    };
    bench.write(
        "adoprof.toml",
        "format = \"json\"\n[check]\nfail-on = [\"rule:shared-memory-pressure\"]\n",
    );
    let of_file = gate(&["--fail-on", "rule:host-memory-access"]);
    assert_eq!(of_file.code, Some(0), "the option holds alone: {of_file:?}");
    assert!(of_file.out.starts_with('{'), "the form of the file: {of_file:?}");
    let text = gate(&["--fail-on", "rule:host-memory-access", "--format", "text"]);
    assert!(!text.out.starts_with('{'), "{text:?}");
    let recorded = bench.run(&["check", "--recorded", "--baseline", "v2", "v2"]);
    assert_eq!(recorded.code, Some(1), "the gate of the file fails: {recorded:?}");
}

#[test]
fn colour_is_a_setting_like_the_others() {
    let bench = Bench::new();
    let is_coloured = |args: &[&str], variables: &[(&str, &str)]| {
        let ran = ran(bench.command(args).envs(variables.iter().copied()));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.out.contains("\u{1b}[")
    };
    let step = ["step", "--kernel", "v2", "--recorded"];
    let never = [&step[..], &["--color", "never"]].concat();
    let auto = [&step[..], &["--color", "auto"]].concat();
    // To a pipe there are no colours.
    assert!(!is_coloured(&step, &[]));
    bench.write("adoprof.toml", "color = \"always\"\n");
    assert!(is_coloured(&step, &[]));
    assert!(!is_coloured(&never, &[]) && !is_coloured(&auto, &[]));
    assert!(!is_coloured(&step, &[("NO_COLOR", "1")]), "the environment holds before the file");
    let shown = |variables: &[(&str, &str)]| {
        let config = ["config", "--format", "json"];
        let settings = ran(bench.command(&config).envs(variables.iter().copied())).json();
        let rows = settings["settings"].as_array().unwrap().clone();
        let row = rows.iter().find(|row| row["key"] == "color").unwrap();
        (row["value"].as_str().unwrap().to_owned(), row["from"].as_str().unwrap().to_owned())
    };
    let pair = |value: &str, from: &str| (value.to_owned(), from.to_owned());
    assert_eq!(shown(&[]), pair("always", "adoprof.toml:1"));
    assert_eq!(shown(&[("NO_COLOR", "1")]), pair("never", "NO_COLOR"));
    bench.write("adoprof.toml", "");
    assert_eq!(shown(&[]), pair("auto", "built in"));
}

#[test]
fn mistakes_are_named_with_file_and_line() {
    let bench = Bench::new();
    for (text, parts) in [
        ("device = 0\ndevise = 1\n", ["adoprof.toml:2:", "did you mean `device`?"]),
        ("timeout = \"soon\"\n", ["adoprof.toml:1:", "90s"]),
        ("\nncu = \"./evil\"\n", ["adoprof.toml:2:", "comes with the project"]),
        ("format = \"xml\"\n", ["adoprof.toml:1:", "no form `xml`"]),
        ("color = \"pink\"\n", ["adoprof.toml:1:", "auto, always, never"]),
        ("[check]\nfail-on = [\"speed\"]\n", ["adoprof.toml:2:", "metric:NAME>+10%"]),
    ] {
        bench.write("adoprof.toml", text);
        bench.run(&["explain", "partial-wave"]).fails(2, &parts);
    }
}

#[test]
fn a_projects_ladder_does_not_run_programs_unasked() {
    let bench = Bench::new();
    bench.write("adoprof.toml", "ladder = \"./mine\"\n");
    bench.write(
        "mine/ladder.toml",
        "name = \"mine\"\ntitle = \"t\"\n[[steps]]\nname = \"p1\"\nrun = \"touch ran\"\ntitle = \"s\"\ntime = { survey = true }\n",
    );
    let ran = bench.run(&["step", "--kernel", "p1", "--time-only"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(!bench.path("ran").exists() && !bench.path("mine/ran").exists(), "nothing ran");
}
