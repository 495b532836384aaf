//! What the rules say of the ADO steps as profiled on an H200 (ncu 2025.3.1, N = M = L = 1024; the
//! first step with N = 32), and whether the ranges hold what the next step really gave.
//!
//! The fixtures are the exports' columns that the catalogue reads, and their source lines and
//! memory instructions.

use std::path::{Path, PathBuf};

use adoprof::diagnose::{Diagnosis, bottleneck_sentence, diagnose};
use adoprof::export::csv::pages;
use adoprof::finding::{Bound, Finding};
use adoprof::frame::{Frames, Launch};
use adoprof::model::Model;

/// Steps and their profiled durations, ms.
const SECOND_MS: f64 = 10.761;
const THIRD_MS: f64 = 7.106;
const FOURTH_MS: f64 = 1.354;

fn step(name: &str) -> (Launch, Diagnosis) {
    let files: Vec<(PathBuf, Vec<u8>)> = ["raw.csv", "source.cuda-sass.csv"]
        .iter()
        .map(|page| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/fixtures/rules")
                .join(format!("ado_{name}.{page}"));
            let bytes = std::fs::read(&path).unwrap();
            (path, bytes)
        })
        .collect();
    let frames = Frames::new(pages::read(&files).unwrap()).unwrap();
    let launch = Launch::all(&frames).unwrap().remove(0);
    let diagnosis = diagnose(&launch);
    (launch, diagnosis)
}

fn sentence(launch: &Launch, diagnosis: &Diagnosis) -> String {
    bottleneck_sentence(launch, &Model::new(launch), diagnosis)
}

fn holds(finding: &Finding, measured: f64) -> bool {
    finding.estimate.is_some_and(|range| range.low <= measured && measured <= range.high)
}

#[test]
fn the_first_step_needs_more_blocks() {
    let (launch, diagnosis) = step("v1");
    let first = &diagnosis.findings[0];
    assert_eq!((first.rule.as_str(), diagnosis.bound), ("grid-too-small", Bound::Launch));
    assert!(first.hint.contains("264 blocks"), "two fit each of 132 SMs: {}", first.hint);
    assert_eq!(first.locations[0].line, 13, "the loop over the sets");
    // 53.128 ms for 32 sets against 10.761 ms for 1024.
    assert!(holds(first, 53.128 / 32.0 * 1024.0 / SECOND_MS));
    assert!(sentence(&launch, &diagnosis).starts_with("Small grid (1 block on 132 SMs)"));
}

#[test]
fn the_second_step_has_the_strided_line_and_the_sweep() {
    let (launch, diagnosis) = step("v2");
    let first_two: Vec<&str> =
        diagnosis.findings.iter().take(2).map(|finding| finding.rule.as_str()).collect();
    assert!(first_two.contains(&"shared-memory-pressure"), "{first_two:?}");
    let strided = diagnosis.findings[..2]
        .iter()
        .find(|finding| finding.rule == "uncoalesced-global-access")
        .unwrap();
    let text =
        &launch.lines.iter().find(|row| row.line == Some(strided.locations[0].line)).unwrap().text;
    assert!(text.contains("v += in["), "{text}");
    assert!(strided.message.contains("1,073,741,824 sectors where 134,217,728 would do (8:1)"));
    assert!(strided.message.contains("in L1, not L2"), "{}", strided.message);
    assert!(holds(strided, SECOND_MS / THIRD_MS), "{:?}", strided.estimate);
    let sentence = sentence(&launch, &diagnosis);
    assert!(sentence.starts_with("Memory") && sentence.contains("L1 data pipe"), "{sentence}");
}

#[test]
fn the_third_step_has_the_sweep_on_top() {
    let (launch, diagnosis) = step("v3");
    let first = &diagnosis.findings[0];
    assert_eq!(first.rule, "shared-memory-pressure");
    let text =
        &launch.lines.iter().find(|row| row.line == Some(first.locations[0].line)).unwrap().text;
    assert!(text.contains("if (id < w) s[id] += s[id+w]"), "{text}");
    // 1,062,694,453 wavefronts less 76,582,727 loads and 76,938,204 stores.
    assert!(first.message.contains("909,173,522 of 1,062,694,453"), "{}", first.message);
    assert!(holds(first, THIRD_MS / FOURTH_MS), "{:?}", first.estimate);
    assert!(diagnosis.findings.iter().all(|finding| finding.rule != "uncoalesced-global-access"));
}

#[test]
fn the_fourth_step_waits_for_memory_and_is_not_at_the_roof() {
    let (launch, diagnosis) = step("v4");
    let first = diagnosis.findings[0].rule.as_str();
    assert!(["low-memory-parallelism", "missing-data-reuse"].contains(&first), "{first}");
    assert!(diagnosis.findings.iter().all(|finding| !finding.rule.ends_with("-roof")));
    // 66.27% of the peak of 4.81 TB/s, of which 4.55 can be reached.
    let sentence = sentence(&launch, &diagnosis);
    assert!(sentence.contains("DRAM, is busy 70%"), "{sentence}");
}

#[test]
fn every_rule_is_checked_on_a_full_collection() {
    for name in ["v1", "v2", "v3", "v4"] {
        assert_eq!(step(name).1.skipped, [], "{name}");
    }
}
