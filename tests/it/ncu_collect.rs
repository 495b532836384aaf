//! Collecting and importing against a stand-in ncu that replays real output.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use adoprof::error::{Error, ExitCode};
use adoprof::export::csv::Pages;
use adoprof::ncu::{
    self, CollectRequest, Collected, Level, Limits, Ncu, NcuCommand, Progress, Scope, Selection,
};

static NEVER: AtomicBool = AtomicBool::new(false);

fn no_limits() -> Limits<'static> {
    Limits {
        timeout: Some(Duration::from_secs(60).into()),
        interrupted: &NEVER,
        write_up: Duration::ZERO,
    }
}

fn stand_in() -> Ncu {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand_in/ncu");
    ncu::locate(Some(&program), None).expect("the stand-in answers --version")
}

/// A folder for a report, and the command that collects into it.
struct Bench {
    folder: tempfile::TempDir,
    command: NcuCommand,
}

impl Bench {
    fn new(case: &str) -> Self {
        Self::with(case, |_| {})
    }

    fn with(case: &str, change: impl FnOnce(&mut CollectRequest)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut request = CollectRequest::new(
            Selection::Level(Level::Standard),
            folder.path().join("out/report.ncu-rep"),
            "./program".into(),
        );
        request.env = vec![
            ("STAND_IN_CASE".into(), case.into()),
            ("STAND_IN_PIDS".into(), folder.path().join("pids").into()),
            ("STAND_IN_ARGV".into(), folder.path().join("argv").into()),
        ];
        change(&mut request);
        let command = ncu::profile(&stand_in(), &request);
        Self { folder, command }
    }

    fn collect(&self) -> Result<Collected, Error> {
        ncu::collect(&self.command, no_limits(), &mut |_| {})
    }

    /// What lies in the report's folder.
    fn left(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.folder.path().join("out"))
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default()
    }

    fn pids(&self) -> Vec<u32> {
        std::fs::read_to_string(self.folder.path().join("pids"))
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect()
    }
}

/// True while a process runs; a zombie waiting for its parent does not.
fn runs(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    })
}

fn wait_until(what: &str, done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_good_run_gives_a_report_passes_and_the_programs_output() {
    let bench = Bench::new("success");
    let mut steps: Vec<Progress> = Vec::new();
    let collected =
        ncu::collect(&bench.command, no_limits(), &mut |step| steps.push(step.clone())).unwrap();
    assert_eq!(collected.report, bench.folder.path().join("out/report.ncu-rep"));
    assert_eq!(std::fs::read_to_string(&collected.report).unwrap(), "stand-in report\n");
    assert_eq!(bench.left(), [collected.report]);
    assert_eq!(collected.passes, Some(34));
    assert_eq!(collected.program_output, "result 42\n");
    assert_eq!(collected.program_exit, None);
    assert!(collected.notices.is_empty());
    let done: Vec<_> = steps.iter().filter_map(|step| Some((step.launch, step.passes?))).collect();
    assert_eq!(done, [(0, 34), (1, 10)]);
    assert!(steps.iter().any(|step| step.kernel == "ok(int *)" && step.percent == 50));
}

#[test]
fn every_request_is_one_that_ncu_accepts() {
    for level in [Level::Quick, Level::Standard, Level::Full] {
        let sections = ncu::section::deploy().unwrap();
        let bench = Bench::with("success", |request| {
            request.selection = Selection::Level(level);
            request.scope = Scope::ProfilerRange;
            request.kernel = Some("a b|c".to_owned());
            request.launch_skip = Some(1);
            request.launch_count = Some(2);
            request.device = Some(0);
            request.section_folder = Some(sections.path().to_owned());
            request.ncu_args =
                ncu::arguments::split("--clock-control base --metrics x.sum").unwrap();
        });
        bench.collect().unwrap();
        let argv = std::fs::read_to_string(bench.folder.path().join("argv")).unwrap();
        assert!(argv.lines().any(|word| word == "regex:a b|c"));
    }
}

#[test]
fn options_that_ncu_does_not_know_are_usage_errors() {
    let bench = Bench::with("success", |request| request.ncu_args = vec!["--nonsense".to_owned()]);
    let error = bench.collect().unwrap_err();
    assert!(matches!(&error, Error::Usage(text) if text.contains("--nonsense")), "{error}");
}

#[test]
fn an_older_report_is_replaced_only_by_a_good_one() {
    let bench = Bench::new("kernel_illegal_address");
    let place = bench.folder.path().join("out/report.ncu-rep");
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(&place, "older").unwrap();
    bench.collect().unwrap_err();
    assert_eq!(std::fs::read_to_string(&place).unwrap(), "older");
    assert_eq!(bench.left(), std::slice::from_ref(&place));

    let mut good = bench.command.clone();
    good.env.push(("STAND_IN_CASE".into(), "success".into()));
    ncu::collect(&good, no_limits(), &mut |_| {}).unwrap();
    assert_eq!(std::fs::read_to_string(&place).unwrap(), "stand-in report\n");
}

#[test]
fn a_failing_program_with_a_report_is_a_notice() {
    for (case, code) in [("app_exit_7", 7), ("app_abort", 6)] {
        let collected = Bench::new(case).collect().unwrap();
        assert_eq!(collected.program_exit, Some(code));
        assert!(collected.notices[0].contains(&format!("code {code}")));
    }
    let slow = Bench::new("slow").collect().unwrap();
    assert_eq!(slow.passes, Some(34));
    assert!(slow.notices.is_empty(), "every slow kernel makes ncu say so: {:?}", slow.notices);
}

#[test]
fn each_fault_has_its_exit_code_and_leaves_nothing() {
    for (case, code, part) in [
        ("no_kernels", ExitCode::Usage, "launched no kernel"),
        ("kernel_filter_no_match", ExitCode::Usage, "which are ok"),
        ("kernel_illegal_address", ExitCode::Kernel, "bad(int *)"),
        ("missing_binary", ExitCode::Usage, "./program"),
        ("readonly_output", ExitCode::Usage, "out/report"),
        ("report_exists", ExitCode::Usage, "exists already"),
        ("unknown_section", ExitCode::Usage, "NoSuchSection"),
        ("forbidden", ExitCode::Environment, "NVreg_RestrictProfilingToAdminUsers=0"),
        ("no_driver", ExitCode::Environment, "CUDA driver"),
    ] {
        let bench = Bench::new(case);
        let error = bench.collect().unwrap_err();
        assert_eq!(error.exit_code(), code, "{case}: {error}");
        assert!(error.to_string().contains(part), "{case}: {error}");
        assert!(bench.left().is_empty(), "{case} left {:?}", bench.left());
    }
}

#[test]
fn a_timeout_ends_ncu_and_all_its_children() {
    for (case, hint) in [("hang", false), ("hang_stubborn", false), ("hang_slow", true)] {
        let bench = Bench::new(case);
        let limits = Limits {
            timeout: Some(Duration::from_secs(3).into()),
            interrupted: &NEVER,
            write_up: Duration::ZERO,
        };
        let error = ncu::collect(&bench.command, limits, &mut |_| {}).unwrap_err();
        assert!(
            matches!(&error, Error::Interrupted(text) if text.contains("--timeout")),
            "{error}"
        );
        assert_eq!(error.to_string().contains("--replay-mode range"), hint, "{case}: {error}");
        let pids = bench.pids();
        assert_eq!(
            pids.len(),
            4,
            "ncu, its child, one that left the group, one whose parent ended"
        );
        for pid in pids {
            wait_until(&format!("{case}: the end of {pid}"), || !runs(pid));
        }
        assert!(bench.left().is_empty(), "{case} left {:?}", bench.left());
    }
}

#[test]
fn an_interrupt_ends_ncu_and_all_its_children() {
    let bench = Bench::new("hang");
    let interrupted = AtomicBool::new(false);
    let limits = Limits { timeout: None, interrupted: &interrupted, write_up: Duration::ZERO };
    let error = std::thread::scope(|scope| {
        let run = scope.spawn(|| ncu::collect(&bench.command, limits, &mut |_| {}));
        wait_until("the start of the children", || bench.pids().len() == 4);
        assert!(bench.pids().into_iter().all(runs));
        interrupted.store(true, Ordering::Relaxed);
        run.join().unwrap().unwrap_err()
    });
    assert!(
        matches!(&error, Error::Interrupted(text) if text.starts_with("interrupted")),
        "{error}"
    );
    for pid in bench.pids() {
        wait_until(&format!("the end of {pid}"), || !runs(pid));
    }
    assert!(bench.left().is_empty(), "left {:?}", bench.left());
}

#[test]
fn a_run_that_is_stopped_keeps_what_was_finished() {
    let bench = Bench::new("hang_writes_up");
    // Not before the stand-in listens, however busy the machine is.
    let interrupted = AtomicBool::new(false);
    let limits =
        Limits { timeout: None, interrupted: &interrupted, write_up: Duration::from_secs(30) };
    let mut asked_at = None;
    let collected = ncu::collect(&bench.command, limits, &mut |_| {
        interrupted.store(true, Ordering::Relaxed);
        asked_at.get_or_insert_with(Instant::now);
    })
    .unwrap();
    assert!(
        asked_at.is_some_and(|at| at.elapsed() < Duration::from_secs(20)),
        "it does not wait once ncu is gone"
    );
    assert!(collected.cut_short && collected.report.is_file());
    assert!(collected.notices[0].starts_with("interrupted"), "{:?}", collected.notices);
    for pid in bench.pids() {
        wait_until(&format!("the end of {pid}"), || !runs(pid));
    }
}

#[test]
fn a_kernel_that_fails_takes_no_other_launch_along() {
    let collected = Bench::new("fails_later").collect().unwrap();
    assert_eq!(collected.failed_launch, Some(1));
    assert!(
        collected.notices.iter().any(|text| text.contains("bad(int *)")),
        "{:?}",
        collected.notices
    );
}

#[test]
fn a_failing_program_shows_its_last_lines() {
    let collected = Bench::new("exits_with_words").collect().unwrap();
    assert_eq!(collected.program_exit, Some(3));
    let last = ncu::last_lines(&collected.program_output);
    let lines: Vec<&str> = last.lines().map(|line| line.trim_start_matches("  | ")).collect();
    assert_eq!(
        (lines.len(), lines[0], lines[9]),
        (10, "working on part 3", "cannot open weights.bin")
    );
}

#[test]
fn a_child_that_outlives_ncu_does_not_hold_the_run_up() {
    let bench = Bench::new("leaves_child");
    let collected = bench.collect().unwrap();
    assert!(collected.report.is_file());
    for pid in bench.pids() {
        // It was the program's to leave; the test cleans up after itself.
        let _ = std::process::Command::new("kill").arg(pid.to_string()).status();
    }
}

/// A report and an ncu whose pages hold these texts.
fn pages(texts: [&str; 3], import: &str) -> Result<(Pages, Vec<String>), Error> {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("a.ncu-rep");
    std::fs::write(&report, "report").unwrap();
    let mut script = format!("#!/bin/sh\nexport STAND_IN_IMPORT='{import}'\n");
    for (name, text) in ["RAW", "DETAILS", "SOURCE"].into_iter().zip(texts) {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        script.extend(["export STAND_IN_", name, "='", &file.to_string_lossy(), "'\n"]);
    }
    let ncu = stand_in();
    script.extend(["exec '", &ncu.program.to_string_lossy(), "' \"$@\"\n"]);
    let program = folder.path().join("ncu");
    // Another program puts it in place: a file that a test thread had open for writing while another
    // one forked is busy, and can't be run.
    let draft = folder.path().join("draft");
    std::fs::write(&draft, script).unwrap();
    let install =
        std::process::Command::new("install").args(["-m", "755"]).args([&draft, &program]).status();
    assert!(install.unwrap().success());
    ncu::import_pages(&Ncu { program, ..ncu }, &report, no_limits())
}

#[test]
fn the_three_pages_come_back_each_in_its_place() {
    let raw = "==WARNING== something about a home\n\"ID\",\"Kernel Name\"\n\"0\",\"k\"\n";
    let source = "\"File Path\",\"a.cu\"\n\"1\",\"// ==ERROR== in a comment\"\n";
    let (pages, notices) = pages([raw, "\"ID\"\n", source], "").unwrap();
    assert_eq!(pages.raw, raw);
    assert_eq!(pages.details, "\"ID\"\n");
    assert_eq!(pages.source, source);
    assert!(notices.is_empty());
}

#[test]
fn reports_that_ncu_can_not_read_are_input_errors() {
    for (import, part) in
        [("junk", "is not an ncu report"), ("truncated", "cut short"), ("crash", "crashed")]
    {
        let error = pages(["", "", ""], import).unwrap_err();
        assert_eq!(error.exit_code(), ExitCode::Usage);
        assert!(error.to_string().contains(part), "{error}");
    }
    let missing = ncu::import_pages(&stand_in(), Path::new("/nowhere/a.ncu-rep"), no_limits());
    assert!(missing.unwrap_err().to_string().contains("there is no such report"));
}

#[test]
fn a_failing_source_page_is_a_notice() {
    let (pages, notices) =
        pages(["\"ID\"\n", "\"ID\"\n", "==ERROR== No source view.\n"], "").unwrap();
    assert_eq!(pages.source, "");
    assert!(notices[0].contains("No source view"), "{notices:?}");
}
