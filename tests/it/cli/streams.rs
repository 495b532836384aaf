//! What goes where: results to stdout, the rest to stderr, and nothing that a terminal obeys.

use std::process::Stdio;

use crate::cli::bench::Bench;

const FORMATS: [&str; 5] = ["text", "json", "markdown", "csv", "sarif"];

/// A raw page with a kernel, and a source page with text, that try to rule the terminal.
fn hostile(bench: &Bench) {
    bench.v2("v2");
    let evil = "\u{1b}[31mevil\u{1b}]0;title\u{7}\u{202e}(int)";
    let replace = |name: &str, what: &str, with: &str| {
        let text = std::fs::read_to_string(bench.path(name)).unwrap();
        assert!(text.contains(what), "{what} in {name}");
        bench.write(name, text.replace(what, with));
    };
    for page in ["v2.raw.csv", "v2.details.csv", "v2.source.cuda-sass.csv"] {
        let name = "gpu_version2(const float *, float *, const float *, int, int, int)";
        replace(page, name, evil);
    }
    replace("v2.source.cuda-sass.csv", "ado.cu", "a\u{1b}[2Jdo.cu");
    replace("v2.details.csv", "(text left out)", "\u{1b}[1mbold");
}

fn is_harmless(text: &str) -> bool {
    !text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}')
}

#[test]
fn hostile_names_do_not_reach_the_terminal() {
    let bench = Bench::new();
    hostile(&bench);
    bench.copy("rules/ado_v3.raw.csv", "v3.raw.csv");
    for format in FORMATS {
        for args in [&["analyze", "v2.raw.csv", "-v"][..], &["diff", "v2.raw.csv", "v3.raw.csv"]] {
            let ran = bench.run(&[args, &["--format", format]].concat());
            assert_eq!(ran.code, Some(0), "{ran:?}");
            if args[0] == "analyze" {
                assert!(ran.out.contains("evil"), "{format}: the name itself is shown");
            }
            assert!(is_harmless(&ran.err), "{ran:?}");
            // JSON writes control characters as escapes; the reordering mark is a letter to it.
            let out = match format {
                "json" | "sarif" => ran.out.replace('\u{202e}', ""),
                _ => ran.out,
            };
            assert!(is_harmless(&out), "{format} {args:?}");
        }
    }
    let none = bench.run(&["analyze", "v2.raw.csv", "-k", "zzz"]);
    assert!(none.err.contains("evil") && is_harmless(&none.err), "{none:?}");
}

#[test]
fn hostile_arguments_come_back_harmless() {
    let bench = Bench::new();
    for args in [
        &["analyze", "./\u{1b}[31mx.csv"][..],
        &["step", "--kernel", "\u{1b}[31mv2"],
        &["step", "--kernel", "v2", "--size", "\u{1b}=1"],
        &["explain", "\u{1b}[31mx"],
        &["ladder", "show", "\u{1b}[31mx"],
    ] {
        let ran = bench.run(args);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(is_harmless(&ran.err), "{ran:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let bench = Bench::new();
    bench.v2("v2");
    for args in [&["explain"][..], &["analyze", "-q", "v2.raw.csv"], &["ladder", "show", "ado"]] {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_adoprof"))
            .args(args)
            .current_dir(bench.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
        assert_eq!(output.stderr, b"", "{args:?}");
    }
}

#[test]
fn a_full_disk_behind_stdout_is_a_failure() {
    let bench = Bench::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_adoprof"))
        .arg("explain")
        .current_dir(bench.path(""))
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"), "{output:?}");
}

#[test]
fn notices_go_to_stderr_and_quiet_drops_them() {
    let bench = Bench::new();
    bench.v2("v2");
    let details = std::fs::read_to_string(bench.path("v2.details.csv")).unwrap();
    bench.write("v2.details.csv", &details[..details.len() - 40]);
    for format in FORMATS {
        let ran = bench.run(&["analyze", "v2.raw.csv", "--format", format]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let holds_notices = matches!(format, "json" | "markdown" | "sarif");
        assert_eq!(ran.out.contains("cut short"), holds_notices, "{format}: {}", ran.out);
        assert_eq!(ran.err.contains("cut short"), !holds_notices, "{format}: {}", ran.err);
        let quiet = bench.run(&["analyze", "v2.raw.csv", "-q", "--format", format]);
        assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""), "{format}");
    }
    let progress = bench.profile("app_exit_7", &["-q", "--format", "json"]);
    assert_eq!(progress.err, "");
    assert_eq!(progress.json()["launches"].as_array().unwrap().len(), 1);
}

#[test]
fn output_into_a_pipe_has_no_colour_whatever_the_terminal_is_called() {
    let bench = Bench::new();
    bench.v2("v2");
    let plain = bench.run(&["analyze", "v2.raw.csv"]).out;
    assert!(!plain.contains('\u{1b}'));
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "xterm-256color")] {
        let ran =
            crate::cli::bench::ran(bench.command(&["analyze", "v2.raw.csv"]).env(name, value));
        assert_eq!(ran.out, plain, "{name}");
    }
    let help = bench.run(&["--help"]);
    assert_eq!((help.code, help.err.as_str()), (Some(0), ""));
    assert!(!help.out.contains('\u{1b}'));
}

#[test]
fn wrong_usage_is_told_in_adoprofs_name() {
    let bench = Bench::new();
    for args in [
        &["step"][..],
        &["step", "--kernel", "v2", "--live", "--recorded"],
        &["nosuch"],
        &["analyze"],
        &["profile"],
        &["analyze", "x.csv", "--format", "yaml"],
        &["profile", "--timeout", "0", "--", "x"],
        &[],
    ] {
        let ran = bench.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}: {ran:?}");
        assert!(args.is_empty() || ran.err.starts_with("adoprof: "), "{args:?}: {ran:?}");
    }
}

#[test]
fn the_environment_decides_on_colours_and_width() {
    let bench = Bench::new();
    bench.v2("v2");
    let out = |environment: &[(&str, &str)]| {
        let mut command = bench.command(&["analyze", "v2.raw.csv"]);
        let ran = command.envs(environment.iter().copied()).output().unwrap();
        String::from_utf8(ran.stdout).unwrap()
    };
    let plain = out(&[]);
    assert!(is_harmless(&plain));
    for (environment, coloured) in [
        (&[("FORCE_COLOR", "1")][..], true),
        (&[("CLICOLOR_FORCE", "1")], true),
        (&[("FORCE_COLOR", "0"), ("CLICOLOR_FORCE", "1")], false),
        (&[("FORCE_COLOR", "1"), ("NO_COLOR", "1")], false),
        (&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        (&[("FORCE_HYPERLINK", "1")], false),
    ] {
        let said = out(environment);
        assert_eq!(said.contains("\u{1b}[1m"), coloured, "{environment:?}");
        assert!(!said.contains("\u{1b}]8"), "a pipe has no links: {environment:?}");
    }
    let narrow = out(&[("COLUMNS", "50")]);
    assert!(narrow.lines().all(|line| line.chars().count() <= 50), "{narrow}");
    assert!(plain.lines().any(|line| line.chars().count() > 50));
}
