//! Files of rules against launches made by hand.

use std::path::Path;

use super::read::read;
use crate::diagnose::diagnose_with;
use crate::export::{LaunchRow, SourceCounters, SourceRow};
use crate::frame::Launch;
use crate::user_rules::UserRule;

/// The L1 data pipe is busy 80% of the time, the issue slots 50%: 20% is latency.
fn launch() -> Launch {
    let mut launch = Launch::default();
    launch.row =
        LaunchRow { kernel: "saxpy(int)".to_owned(), grid: [8, 1, 1], ..LaunchRow::default() };
    for (name, value) in [
        ("gpu__time_duration.sum", 1e6),
        ("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", 80.0),
        ("sm__issue_active.avg.pct_of_peak_sustained_elapsed", 50.0),
    ] {
        launch.set(name, Some(value));
    }
    for (address, text, executed, line) in [
        (0, "LDG.E R1, [R2.64]", 30.0, 4),
        (16, "LDG.E.128 R4, [R2.64]", 10.0, 5),
        (32, "EXIT", 60.0, 6),
    ] {
        launch.instructions.push(SourceRow {
            address: Some(address),
            line: Some(line),
            file: Some("a.cu".into()),
            text: text.to_owned(),
            counters: SourceCounters { inst_executed: executed, ..SourceCounters::default() },
            ..SourceRow::default()
        });
    }
    launch
}

fn rules(rest: &str) -> Vec<UserRule> {
    let text = format!("[[rule]]\nname = 'r'\nsummary = 's'\nhint = 'h'\n{rest}\n");
    let contents = read(Path::new("r.toml"), &text);
    assert!(contents.mistakes.is_empty(), "{:?}", contents.mistakes);
    contents.rules
}

fn finding(rest: &str) -> Option<crate::finding::Finding> {
    let found = diagnose_with(&launch(), &rules(rest)).findings;
    found.into_iter().find(|finding| finding.rule == "user:r")
}

#[test]
fn the_estimate_is_the_models() {
    // Half of the L1 data pipe's work goes, and no latency: 0.5 for the issue slots, 0.2 of latency.
    let rest = "when = 'busy.l1 > 0.7'\nmessage = 'm'\nwhat-if.removes = { l1 = '50%' }";
    let estimate = finding(rest).unwrap().estimate.unwrap();
    let effect = crate::model::Effect::on(crate::term::Term::L1Data, 0.5);
    let known = crate::model::Model::new(&launch()).without(&effect).unwrap();
    assert!((estimate.factor - known.factor).abs() < 1e-12, "{estimate:?}");
    assert!((estimate.factor - 1.0 / 0.7).abs() < 1e-9, "{estimate:?}");
    // What is busy less promises nothing.
    let rest = "when = 'busy.l1 > 0.7'\nmessage = 'm'\nwhat-if.removes = { issue = 1 }";
    assert!((finding(rest).unwrap().estimate.unwrap().factor - 1.0).abs() < 1e-9);
    assert_eq!(finding("when = 'busy.l1 > 0.7'\nmessage = 'm'").unwrap().estimate, None);
    assert_eq!(finding("when = 'busy.l1 > 0.9'\nmessage = 'm'"), None);
}

#[test]
fn opcodes_are_counted_and_their_lines_named() {
    let rest = "when = 'sass(\"LDG\") == 40 and sass_listed(\"LDG.E.128\") == 1 and sass.global_loads == 40'\n\
                message = '{sass_share(\"LDG.E.128\"):percent} of {sass.total}'\nlines = { sass = 'LDG' }";
    let finding = finding(rest).unwrap();
    assert_eq!(finding.message, "10% of 100.");
    let lines: Vec<(u32, f64)> = finding.locations.iter().map(|at| (at.line, at.share)).collect();
    assert_eq!(lines, [(4, 0.75), (5, 0.25)]);
    let names: Vec<&str> = finding.evidence.iter().map(|one| &*one.metric).collect();
    assert!(names.contains(&"sass(\"LDG\")") && names.contains(&"sass.global_loads"), "{names:?}");
}

#[test]
fn none_is_zero_and_not_minus_zero() {
    // Three instructions of which none is a shuffle or an FMA: a count over none is infinite, and so more than any.
    for none in ["sass.shuffles", "sass(\"SHFL\")"] {
        let rest = format!("when = 'sass.total / {none} > 0.5'\nmessage = '{{{none}}}'");
        let finding = finding(&rest).expect(none);
        assert_eq!(finding.message, "0.");
        assert!(finding.evidence.iter().all(|one| one.value.is_sign_positive()), "{finding:?}");
    }
    assert!(finding("when = 'sass.total / sass.shuffles < 0'\nmessage = 'm'").is_none());
}

#[test]
fn a_percentage_by_a_hundred_is_a_share_in_a_what_if() {
    let of = |share: &str| {
        let rest = format!(
            "when = 'busy.l1 > 70%'\nmessage = 'm'\nwhat-if.removes = {{ l1 = '{share}' }}"
        );
        finding(&rest).unwrap().estimate.unwrap().factor
    };
    let pipe = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";
    // 80% each time.
    let known = of("0.8");
    for share in ["80%", pipe, &format!("{pipe} / 100")] {
        assert!((of(share) - known).abs() < 1e-12, "{share}: {} and {known}", of(share));
    }
}

#[test]
fn a_rule_is_about_its_kernels_alone() {
    assert!(finding("when = 'grid.x == 8'\nmessage = 'm'\nkernel = '^sax'").is_some());
    assert!(finding("when = 'grid.x == 8'\nmessage = 'm'\nkernel = 'gemm'").is_none());
}

#[test]
fn what_a_profile_does_not_tell_is_skipped_and_what_is_asked_for_is_not() {
    let skipped = |rest: &str| {
        let skipped = diagnose_with(&launch(), &rules(rest)).skipped;
        skipped.into_iter().find(|one| one.rule == "user:r").map(|one| one.missing)
    };
    let missing = skipped("when = 'busy.dram > 0.5 and lts__t_sectors.sum > 1'\nmessage = 'm'");
    assert_eq!(missing.unwrap(), ["lts__t_sectors.sum", "busy.dram"]);
    let asked =
        "when = 'has(lts__t_sectors.sum) or default(dram__bytes_read.sum, 2) > 1'\nmessage = 'm'";
    assert_eq!(skipped(asked), None);
    assert!(finding(asked).is_some());
}

#[test]
fn a_roof_gives_way_to_a_rule_that_inflates_its_unit() {
    let mut at_roof = launch();
    at_roof.set("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", Some(93.0));
    at_roof.row.device = Some("NVIDIA H200".to_owned());
    let found = |rules: &[UserRule]| -> Vec<String> {
        diagnose_with(&at_roof, rules).findings.into_iter().map(|finding| finding.rule).collect()
    };
    let before = found(&[]);
    assert_eq!(before.first().map(String::as_str), Some("at-memory-roof"), "{before:?}");
    let after =
        found(&rules("when = 'busy.dram > 0.5'\nmessage = 'm'\nwhat-if.removes = { dram = 0.5 }"));
    assert!(!after.contains(&"at-memory-roof".to_owned()) && after[0] == "user:r", "{after:?}");
}
