use super::*;
use crate::ncu::arguments;
use crate::ncu::level::Level;
use crate::ncu::version::Version;

fn ncu() -> Ncu {
    Ncu {
        program: "/opt/ncu".into(),
        version: Version::new(2025, 3, 1),
        stock_sections: Some("/opt/sections".into()),
    }
}

fn request(selection: Selection) -> CollectRequest {
    CollectRequest::new(selection, "out/report.ncu-rep".into(), "./saxpy".into())
}

fn only(metrics: &[&str]) -> Selection {
    Selection::Explicit {
        sections: vec!["SpeedOfLight".to_owned()],
        metrics: metrics.iter().map(|&name| name.to_owned()).collect(),
    }
}

fn words(command: &NcuCommand) -> Vec<&str> {
    command.args.iter().map(|arg| arg.to_str().unwrap()).collect()
}

/// The value after an option.
fn value<'a>(command: &'a NcuCommand, option: &str) -> Option<&'a str> {
    let words = words(command);
    let at = words.iter().position(|word| *word == option)?;
    words.get(at + 1).copied()
}

#[test]
fn a_program_is_profiled_with_everything_said_outright() {
    let mut request = request(only(&["lts__t_sectors.sum"]));
    request.program_args = vec!["-n".into(), "1024".into()];
    request.kernel = Some("^saxpy$".to_owned());
    request.launch_skip = Some(2);
    request.launch_count = Some(1);
    request.device = Some(0);
    let command = profile(&ncu(), &request);
    assert_eq!(command.program, Path::new("/opt/ncu"));
    #[rustfmt::skip]
    assert_eq!(words(&command), [
        "-f", "-o", "out/report",
        "--target-processes", "all",
        "--replay-mode", "kernel",
        "--clock-control", "none",
        "--cache-control", "all",
        "--print-units", "base",
        "--import-source", "yes",
        "--devices", "0",
        "--launch-skip", "2",
        "--launch-count", "1",
        "-k", "regex:^saxpy$",
        "--section", "SpeedOfLight",
        "--metrics", "gpu__time_duration.sum,lts__t_sectors.sum",
        "./saxpy", "-n", "1024",
    ]);
    assert_eq!(
        command.env,
        [
            ("LC_ALL".into(), "C".into()),
            ("NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT".into(), "1".into()),
        ]
    );
}

#[test]
fn a_step_is_profiled_in_its_range_only() {
    let mut request = request(only(&[]));
    request.scope = Scope::ProfilerRange;
    request.import_source = false;
    let command = profile(&ncu(), &request);
    assert_eq!(value(&command, "--target-processes"), Some("application-only"));
    assert_eq!(value(&command, "--profile-from-start"), Some("off"));
    assert_eq!(value(&command, "--import-source"), Some("no"));
}

#[test]
fn levels_bring_sections_counters_and_our_page() {
    let mut request = request(Selection::Level(Level::Standard));
    request.section_folder = Some("/tmp/ours".into());
    let command = profile(&ncu(), &request);
    let words = words(&command);
    assert_eq!(words.iter().filter(|word| **word == "--section").count(), 14);
    assert!(words.windows(2).any(|pair| pair == ["--section", "Adoprof"]));
    for folder in ["/opt/sections", "/tmp/ours"] {
        assert!(words.windows(2).any(|pair| pair == ["--section-folder", folder]), "{folder}");
    }
    let metrics = value(&command, "--metrics").unwrap();
    assert!(metrics.split(',').any(|name| name == "gpu__time_duration.sum"));

    request.selection = Selection::Level(Level::Full);
    assert_eq!(value(&profile(&ncu(), &request), "--set"), Some("full"));
}

#[test]
fn without_the_stock_sections_ours_would_hide_them() {
    let mut request = request(Selection::Level(Level::Quick));
    request.section_folder = Some("/tmp/ours".into());
    let bare = Ncu { stock_sections: None, ..ncu() };
    let command = profile(&bare, &request);
    assert!(!words(&command).contains(&"--section-folder"));
    assert!(!words(&command).contains(&"Adoprof"));
}

#[test]
fn the_users_options_replace_ours_and_metrics_are_joined() {
    let mut request = request(only(&["a.sum"]));
    request.ncu_args =
        arguments::split("--clock-control base --metrics b.sum --cache-control=none").unwrap();
    let command = profile(&ncu(), &request);
    let words = words(&command);
    assert_eq!(value(&command, "--clock-control"), Some("base"));
    assert_eq!(words.iter().filter(|word| word.starts_with("--clock-control")).count(), 1);
    assert_eq!(words.iter().filter(|word| word.starts_with("--cache-control")).count(), 1);
    assert_eq!(value(&command, "--metrics"), Some("gpu__time_duration.sum,a.sum,b.sum"));
    assert_eq!(words.iter().filter(|word| word.starts_with("--metrics")).count(), 1);
}

#[test]
fn the_report_can_go_elsewhere_and_the_program_keeps_its_own_o() {
    let mut request = request(only(&[]));
    request.program_args = vec!["-o".into(), "mine".into()];
    let command = profile(&ncu(), &request).with_output(Path::new("/tmp/x/report"));
    assert_eq!(command.output(), Some(Path::new("/tmp/x/report")));
    assert!(words(&command).ends_with(&["./saxpy", "-o", "mine"]));
}

#[test]
fn pages_are_csv_in_base_units() {
    let report = Path::new("a.ncu-rep");
    assert_eq!(
        words(&import(&ncu(), report, Page::Raw)),
        ["--import", "a.ncu-rep", "--page", "raw", "--csv", "--print-units", "base"]
    );
    assert_eq!(value(&import(&ncu(), report, Page::Details), "--page"), Some("details"));
    let source = import(&ncu(), report, Page::Source);
    assert_eq!(value(&source, "--page"), Some("source"));
    assert_eq!(value(&source, "--print-source"), Some("cuda,sass"));
    assert_eq!(source.output(), None);
}

#[test]
fn a_dry_run_prints_a_line_for_a_shell() {
    let command = NcuCommand {
        program: "/opt/my tools/ncu".into(),
        args: vec!["-k".into(), "regex:a|b".into(), "./x".into(), "it's".into()],
        env: vec![("LC_ALL".into(), "C".into())],
        cwd: Some("/data/run 1".into()),
    };
    let line = command.to_string();
    assert_eq!(
        line,
        r"cd '/data/run 1' && LC_ALL=C '/opt/my tools/ncu' -k 'regex:a|b' ./x 'it'\''s'"
    );
}

#[test]
fn invocations_are_one_expression() {
    let long = "_Z".to_owned() + &"x".repeat(2000);
    let invocations = Invocations {
        kernels: vec!["_Z3addPfi".to_owned(), "a::b(int*)".to_owned(), long],
        are_demangled: false,
        numbers: vec![0, 7],
    };
    let beginning = "_Z".to_owned() + &"x".repeat(998);
    // ncu counts from 1, and a colon would end the name.
    let expected = format!(r"::regex:^(_Z3addPfi|a..b\(int\*\)|{beginning}.*)$:^(1|8)$");
    assert_eq!(invocations.kernel_id(), expected);
}
