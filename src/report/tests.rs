//! Facts of every report, and the layout of the main ones as snapshots.

mod read_by_programs;

use super::*;
use crate::document::{Compared, RunDocument};

const TEXT: Format = Format(&text::Form);
const JSON: Format = Format(&json::Form);
const MARKDOWN: Format = Format(&markdown::Form);
const CSV: Format = Format(&csv::Form);
const SARIF: Format = Format(&sarif::Form);

fn text(report: impl Fn(&mut dyn Write) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    report(&mut out).expect("a Vec takes everything");
    String::from_utf8(out).expect("UTF-8")
}

fn style(width: usize) -> Style {
    Style { width, ..Style::default() }
}

/// Every text report at that width.
fn reports(width: usize, verbose: bool) -> Vec<String> {
    let style = Style { verbose, ..style(width) };
    let (step, program) = (samples::recorded_step(), samples::program());
    let (run, diff) = (samples::run(), samples::compared());
    vec![
        text(|out| render(&step, TEXT, style, out)),
        text(|out| render(&program, TEXT, style, out)),
        text(|out| render(&run, TEXT, style, out)),
        text(|out| render(&diff, TEXT, style, out)),
    ]
}

#[test]
fn the_layout_is_as_reviewed() {
    for width in [60, 80] {
        for (report, name) in reports(width, false).iter().zip(["step", "program", "run", "diff"]) {
            insta::assert_snapshot!(format!("{name}_{width}"), report);
        }
    }
}

#[test]
fn every_line_fits_the_width() {
    for width in [40, 50, 80, 200] {
        for verbose in [false, true] {
            for report in reports(width, verbose) {
                for line in report.lines().filter(|line| !line.starts_with("the profile is ")) {
                    assert!(crate::text::layout::columns(line) <= width, "{width}: {line:?}");
                    assert_eq!(line, line.trim_end());
                }
            }
        }
    }
}

#[test]
fn a_recording_says_so_in_the_first_line() {
    let first = |report: &String| report.lines().next().unwrap_or_default().to_owned();
    let reports = reports(80, false);
    assert_eq!(first(&reports[0]), "recorded 2026-11-20 on NVIDIA H200, not run here");
    assert_eq!(first(&reports[2]), "recorded 2026-11-20 on NVIDIA H200, not run here");
    let mut live = samples::recorded_step();
    live.step.as_mut().expect("a step").recorded = None;
    let report = text(|out| render(&live, TEXT, style(80), out));
    assert!(!report.contains("recorded"), "{report}");
}

#[test]
fn a_reference_is_not_said_to_be_verified() {
    let mut document = samples::recorded_step();
    for wording in [
        "its answer is taken as right, not checked.",
        "its answer is taken as correct and not checked.",
    ] {
        document.notices = vec![format!("Step `v2` is the reference of the ladder: {wording}")];
        for format in [TEXT, MARKDOWN] {
            let report = text(|out| render(&document, format, style(120), out));
            assert!(!report.contains("verified"), "{report}");
            assert!(
                report.contains("taken as correct: the other steps are checked against it"),
                "{report}"
            );
        }
    }
}

#[test]
fn a_step_shows_its_facts() {
    let report = &reports(120, false)[0];
    for fact in [
        "size    L=1024 M=1024 N=1024",
        "grid    1024 blocks of 1024 threads",
        "verified, no difference from the reference",
        "10.00 ms (9.900 to 10.10, n = 20) without the profiler",
        // 400 GB/s of 4 TB/s.
        "400 GB/s, 10% of the device's copy rate of 4000 GB/s",
        "1. uncoalesced-global-access: 1.80× (1.50 to 2.10)",
        "kernels/ado/v2.cu:23, 89% of excess sectors",
        "seen as lg-throttle",
        "memory → SourceCounters → uncoalesced-global-access → kernels/ado/v2.cu:23",
        "adoprof step --kernel v3",
        "1 rule not checked: metrics are missing (-v shows which): register-spilling",
        "the profile is in .adoprof/ado/v2/2026-11-20T10-00-00",
    ] {
        assert!(report.contains(fact), "{fact}\n{report}");
    }
    // 1.8 s over 10 ms and over 90 ms with transfers; 225 ms likewise.
    let row =
        |name: &str| report.lines().find(|line| line.contains(name)).expect("a row").to_owned();
    for (cpu, kernel, total) in
        [("original", "180×", "20.0×"), ("cache-friendly", "22.5×", "2.50×")]
    {
        let row = row(cpu);
        assert!(row.contains(kernel) && row.contains(total), "{row}");
    }
}

#[test]
fn evidence_and_ncus_rules_need_verbose() {
    let (brief, verbose) = (&reports(100, false)[0], &reports(100, true)[0]);
    for fact in ["1,209,008,128 sector", "SOLBottleneck", "sass__inst_executed_register_spilling"] {
        assert!(!brief.contains(fact), "{fact}");
        assert!(verbose.contains(fact), "{fact}\n{verbose}");
    }
}

#[test]
fn what_only_ncu_promises_is_named_and_verbose_says_why_not() {
    let (brief, verbose) = (&reports(100, false)[0], &reports(100, true)[0]);
    assert!(
        brief.contains("promised only by ncu (-v says why adoprof does not): ThreadDivergence 37%"),
        "{brief}"
    );
    let reason = "ThreadDivergence (estimate: 37% of the time): Made up: why that would not hold.";
    assert!(!brief.contains(reason) && verbose.contains(reason), "{verbose}");
    let markdown = text(|out| render(&samples::recorded_step(), MARKDOWN, style(80), out));
    assert!(
        markdown
            .contains("- ncu: also named by UncoalescedGlobalAccess (estimate: 41% of the time)")
    );
    assert!(markdown.contains("- ncu: no rule names this fault"));
    assert!(markdown.contains(reason));
    // Nothing is said of ncu where the profile has none of its messages.
    assert!(!reports(100, true)[1].contains("ncu "), "{}", reports(100, true)[1]);
}

#[test]
fn what_a_rule_of_ncu_promises_twice_is_named_once() {
    let mut document = samples::recorded_step();
    let mut again = document.launches[0].ncu_only[0].clone();
    again.estimate_percent = 5.0;
    document.launches[0].ncu_only.push(again);
    for verbose in [false, true] {
        let style = Style { verbose, ..style(100) };
        let said = text(|out| render(&document, TEXT, style, out));
        let (_, alone) =
            said.split_once("only by ncu").or(said.split_once("what only ncu")).unwrap();
        assert_eq!(alone.matches("ThreadDivergence").count(), 1, "{said}");
    }
}

#[test]
fn a_rule_that_several_launches_lack_is_named_once() {
    let mut document = samples::program();
    let skipped = samples::recorded_step().launches[0].skipped.clone();
    for launch in &mut document.launches {
        launch.skipped.clone_from(&skipped);
    }
    let markdown = text(|out| render(&document, MARKDOWN, style(80), out));
    assert_eq!(markdown.matches("register-spilling not checked").count(), 1, "{markdown}");
}

#[test]
fn the_verdict_takes_five_lines_whatever_the_names() {
    let mut document = samples::recorded_step();
    let step = document.step.as_mut().expect("a step");
    "fault-achieved-occupancy-altitude".clone_into(&mut step.ladder);
    "planted-fault".clone_into(&mut step.name);
    let rule = "achieved-occupancy-below-theoretical";
    let finding = &mut document.launches[0].findings[0];
    rule.clone_into(&mut finding.rule);
    finding.answered_by = Some("clean".to_owned());
    "kernels/faults/achieved-occupancy-below-theoretical/altitude/altitude_of_pressure.cu"
        .clone_into(&mut finding.locations[0].file);
    document.verdict.as_mut().expect("a verdict").rule = rule.to_owned();
    document.next_step = Some("clean".to_owned());
    for width in [50, 80, 120] {
        let style = Style { quiet: true, ..style(width) };
        let report = text(|out| render(&document, TEXT, style, out));
        let verdict: Vec<&str> = report.lines().take_while(|line| !line.is_empty()).collect();
        assert!(verdict.len() <= 5, "{width}\n{report}");
        for word in ["recorded 2026-11-20", "bound by memory", "1.80×", "altitude/clean"] {
            assert!(verdict.iter().any(|line| line.contains(word)), "{word} at {width}\n{report}");
        }
    }
}

#[test]
fn quiet_leaves_the_verdict() {
    let quiet = Style { quiet: true, ..style(80) };
    let report = text(|out| render(&samples::recorded_step(), TEXT, quiet, out));
    assert!(report.contains("ado/v2 takes 10.00 ms, bound by memory"), "{report}");
    assert!(report.contains("worth   1.80× (1.50 to 2.10)"), "{report}");
    assert!(!report.contains("shared-memory-pressure"));
}

#[test]
fn the_longest_launch_stands_first_and_small_ones_are_not_told_in_full() {
    let report = &reports(120, false)[1];
    let row = |name: &str| report.lines().position(|line| line.contains(name)).expect("a row");
    assert!(row("  reduce<") < row("  gather "));
    assert!(row("  gather ") < row("  scale "));
    assert!(report.contains("launch 2: gather"));
    assert!(!report.contains("launch 0: scale"), "5% of the time");
    assert!(reports(120, true)[1].contains("launch 0: scale"));
    assert!(report.contains("1.33× (1.24 to 1.41) over all launches for removing"));
}

#[test]
fn a_run_says_whether_the_hint_was_right() {
    let report = &reports(120, false)[2];
    assert!(report.contains(
        "v3 gained 2.00×, within the estimated range; the fault is gone; new: at-memory-roof."
    ));
    assert!(report.contains("~160×"), "v1 ran at another size:\n{report}");
    assert!(report.contains("~: the problem sizes differ"));
}

#[test]
fn a_diff_keeps_metrics_without_title_for_verbose() {
    let (brief, verbose) = (&reports(100, false)[3], &reports(100, true)[3]);
    assert!(brief.contains("ado/v2 → ado/v3: 2.00× faster"));
    // The duration, the sectors, the hit rate and the requests; the registers did not move.
    assert!(brief.contains("4 metrics moved in all (-v shows them)"), "{brief}");
    // 1.2e9 sectors of 32 bytes.
    assert!(brief.contains("L2 traffic") && brief.contains("38.4 GB"), "{brief}");
    assert!(!brief.contains("idc__requests.sum"));
    assert!(verbose.contains("idc__requests.sum"));
    let line = brief.lines().find(|line| line.contains("L1 hit rate")).expect("a row");
    assert!(line.contains("−86%") && line.contains("▼ worse"), "{line}");
}

#[test]
fn no_escape_leaves_without_colour_and_none_from_names_with_it() {
    let mut document = samples::recorded_step();
    let hostile = "k\u{1b}]0;title\u{7}\u{1b}[2J\u{202e}<\u{9b}31m>";
    let launch = &mut document.launches[0];
    for text in [&mut launch.kernel, &mut launch.bottleneck] {
        hostile.clone_into(text);
    }
    launch.device = Some(hostile.to_owned());
    let finding = &mut launch.findings[0];
    for text in [&mut finding.message, &mut finding.hint, &mut finding.section] {
        hostile.clone_into(text);
    }
    hostile.clone_into(&mut finding.locations[0].file);
    hostile.clone_into(&mut finding.locations[0].text);
    finding.symptoms[0].message = hostile.to_owned();
    finding.evidence[0].metric = hostile.to_owned().into();
    document.saved = Some(hostile.to_owned());
    document.next_step = Some(hostile.to_owned());
    document.step.as_mut().expect("a step").title = hostile.to_owned();
    for format in [TEXT, JSON, MARKDOWN, CSV, SARIF] {
        let verbose = Style { verbose: true, ..style(80) };
        let report = text(|out| render(&document, format, verbose, out));
        let control = |c: char| c.is_control() && c != '\n';
        // JSON escapes ASCII controls itself; C1 ones are plain text to it, and to its readers.
        let found = match format {
            format if format == JSON || format == SARIF => report.contains(['\u{1b}', '\u{7}']),
            _ => report.contains(control) || report.contains('\u{202e}'),
        };
        assert!(!found, "{format:?}: {report:?}");
    }
    let coloured = Style { colour: true, ..style(80) };
    let report = text(|out| render(&document, TEXT, coloured, out));
    assert!(report.contains("\u{1b}[1m"), "rule names are bold");
    for after in report.split('\u{1b}').skip(1) {
        let ours = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"];
        assert!(ours.iter().any(|code| after.starts_with(code)), "{after:?}");
    }
}

#[test]
fn long_names_are_cut_in_tables() {
    let report = &reports(100, false)[1];
    let row = report.lines().find(|line| line.contains("  reduce<")).expect("a row");
    assert!(row.contains('…') && !row.contains("Policy<float, 4>, Policy"), "{row}");
}

#[test]
fn empty_documents_are_reported_too() {
    let empty = Document::default();
    let none = RunDocument {
        schema: String::new(),
        adoprof: crate::document::Version::default(),
        ladder: "ado".to_owned(),
        steps: vec![Document::default()],
        ..RunDocument::default()
    };
    for format in [TEXT, JSON, MARKDOWN, CSV, SARIF] {
        for report in [
            text(|out| render(&empty, format, Style::default(), out)),
            text(|out| render(&none, format, Style::default(), out)),
            text(|out| render(&Compared::default(), format, Style::default(), out)),
        ] {
            assert!(report.ends_with('\n'));
        }
    }
}
