//! Changes without new code, for the findings that ask for them: which ones `step --try` makes.

use crate::device::residency::registers_for_warps;
use crate::document::{Document, RankedFinding};
use crate::error::Result;
use crate::finding::Estimate;
use crate::frame::Launch;
use crate::hardware::WARP_LANES;
use crate::ladder::{Ladder, Overrides, Step};
use crate::rules::{self, Trial};
use crate::sweep::{Axis, Point, grid};

/// Findings of a launch whose changes are tried: those that a person would look at first.
const MOST_FINDINGS: usize = 5;
/// No cap below this is tried: a thread's addresses and counters alone take about as many, and the rest would
/// spill.
const LEAST_REGISTERS: u32 = 16;

/// A change to try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// The rule whose finding asks for it.
    pub rule: String,
    /// In words: `maxrregcount=40`.
    pub text: String,
    /// The step's settings with it.
    pub point: Point,
}

/// What the findings of a step ask for that needs no new code, in their order, each change once and for
/// the first finding that asks for it.
///
/// # Errors
/// Where the ladder does not allow a setting that its manifest declares.
pub(crate) fn changes(
    document: &Document,
    launches: &[Launch],
    ladder: &Ladder,
    step: &Step,
    size: &Overrides,
) -> Result<Vec<Change>> {
    let mut changes: Vec<Change> = Vec::new();
    for (report, launch) in document.launches.iter().zip(launches) {
        for finding in report.findings.iter().take(MOST_FINDINGS) {
            for text in wanted(finding, launch, step) {
                if changes.iter().any(|known| known.text == text) {
                    continue;
                }
                let axis = Axis::parse(&text, ladder, step)?;
                let point = grid::points(&[axis], size)?.remove(0);
                changes.push(Change { rule: finding.rule.clone(), text, point });
            }
        }
    }
    Ok(changes)
}

/// What a finding promises, for the comparison with what a change gave.
pub(crate) fn promise(document: &Document, rule: &str) -> Option<Estimate> {
    let findings = document.launches.iter().flat_map(|launch| &launch.findings);
    findings.filter(|finding| finding.rule == rule).find_map(|finding| finding.estimated_speedup)
}

/// A finding's changes as a sweep takes them: `NAME=VALUE`.
fn wanted(finding: &RankedFinding, launch: &Launch, step: &Step) -> Vec<String> {
    let trials = rules::find(&finding.rule).map(|rule| rule.trials).unwrap_or_default();
    // How a program is compiled and launched stands in its own build; only tunables reach it.
    // Captured machine code is not compiled at all.
    let is_code = step.captured().is_some() && step.source().is_none();
    let applies = |trial: &&Trial| match trial {
        Trial::Tunables => true,
        Trial::Carveout(_) => !step.is_program(),
        _ => !step.is_program() && !is_code,
    };
    trials.iter().filter(applies).flat_map(|trial| settings(*trial, launch, step)).collect()
}

fn settings(trial: Trial, launch: &Launch, step: &Step) -> Vec<String> {
    match trial {
        Trial::FastMath => vec!["fast-math=true".to_owned()],
        Trial::FusedMultiplyAdd => vec!["flags=-fmad=true".to_owned()],
        Trial::RegistersForAnotherBlock => registers_for_another_block(launch)
            .map(|registers| format!("maxrregcount={registers}"))
            .into_iter()
            .collect(),
        Trial::AllRegisters => vec!["maxrregcount=255".to_owned()],
        Trial::Carveout(percent) => vec![format!("carveout={percent}")],
        Trial::LoadCaching(operator) => vec![format!("dlcm={operator}")],
        Trial::Tunables => step
            .tunables()
            .into_iter()
            .flat_map(|(name, value)| {
                let halved = (value > 1).then_some(value / 2);
                let doubled = value.checked_mul(2);
                [halved, doubled].into_iter().flatten().map(move |value| format!("{name}={value}"))
            })
            .collect(),
    }
}

/// The most registers per thread with which an SM holds one more block than now.
fn registers_for_another_block(launch: &Launch) -> Option<u32> {
    let blocks = launch.get("launch__occupancy_limit_registers")?;
    let threads = launch.get("launch__block_size")?;
    let warps = (blocks + 1.0) * (threads / WARP_LANES).ceil();
    let registers = registers_for_warps(&launch.device_facts(), warps as u32)?;
    (LEAST_REGISTERS..256).contains(&registers).then_some(registers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn cap(blocks: f64, threads: f64) -> Option<u32> {
        let mut launch = Launch::default();
        launch.set("launch__occupancy_limit_registers", Some(blocks));
        launch.set("launch__block_size", Some(threads));
        registers_for_another_block(&launch)
    }

    #[test]
    fn the_cap_lets_one_more_block_in() {
        // 3 blocks of 8 warps are 6 warps of each part: 16,384 / (6 × 32) = 85.3, in multiples of 8.
        assert_eq!(cap(2.0, 256.0), Some(80));
        // 6 blocks of 8 warps, 12 of each part: 42.7.
        assert_eq!(cap(5.0, 256.0), Some(40));
        // 4 blocks of 3 warps, 3 of each part: 170.7.
        assert_eq!(cap(3.0, 96.0), Some(168));
        // 100 threads are 4 warps: 4 blocks have 16, 4 of each part.
        assert_eq!(cap(3.0, 100.0), Some(128));
        // 2 blocks of 32 warps leave 32 each, 3 of them 21.3.
        assert_eq!(cap(2.0, 1024.0), Some(16));
        assert_eq!(cap(5.0, 1024.0), None, "fewer than 16");
        assert_eq!(cap(1.0, 0.0), None);
    }

    fn document(rules: &[&str]) -> Document {
        let findings = rules.iter().enumerate();
        let findings = findings.map(|(at, rule)| samples::finding(at + 1, rule, 1.5)).collect();
        let launches = vec![samples::launch("k", 1.0, 1.0, findings)];
        Document { launches, ..Document::default() }
    }

    #[test]
    fn findings_ask_in_their_order_and_each_change_once() {
        let ladder = Ladder::builtin("increment").unwrap();
        let step = ladder.step("i5").unwrap();
        let of =
            document(&["barrier-stalls", "slow-math-functions", "partial-wave", "lg-throttle"]);
        let changes = changes(&of, &[Launch::default()], &ladder, step, &Overrides::new()).unwrap();
        let said: Vec<(&str, &str)> =
            changes.iter().map(|change| (change.rule.as_str(), change.text.as_str())).collect();
        // BLOCK is 256 in the manifest.
        let default = step.tunables()["BLOCK"];
        let (half, twice) = (format!("BLOCK={}", default / 2), format!("BLOCK={}", 2 * default));
        assert_eq!(
            said,
            [
                ("barrier-stalls", half.as_str()),
                ("barrier-stalls", &twice),
                ("slow-math-functions", "fast-math=true")
            ]
        );
        assert_eq!(changes[2].point.tuning.flags, ["--use_fast_math"]);
        assert_eq!(changes[0].point.tuning.tune["BLOCK"], default / 2);
    }

    #[test]
    fn of_a_program_only_tunables_are_tried_halved_and_doubled() {
        let manifest = r#"
            name = "mine"
            title = "t"
            bytes = "8 * N"
            [parameters]
            N = 100
            [[steps]]
            name = "a"
            title = "a"
            run = "./a {ONE} {TWO}"
            check = { run = "true" }
            time = { output = "([0-9]+)", unit = "ms" }
            tune = { ONE = 1, TWO = 2 }
        "#;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ladder.toml"), manifest).unwrap();
        let ladder = Ladder::load(folder.path()).unwrap();
        let step = ladder.step("a").unwrap();
        // The rule has trials of all kinds that a step of kernels can make.
        let of = document(&["missing-data-reuse", "slow-math-functions"]);
        let found = changes(&of, &[Launch::default()], &ladder, step, &Overrides::new()).unwrap();
        let texts: Vec<&str> = found.iter().map(|change| change.text.as_str()).collect();
        assert_eq!(texts, ["ONE=2", "TWO=1", "TWO=4"], "there is no half of 1");
        let ladder = Ladder::builtin("increment").unwrap();
        let step = ladder.step("i5").unwrap();
        let found = changes(&of, &[Launch::default()], &ladder, step, &Overrides::new()).unwrap();
        let texts: Vec<&str> = found.iter().map(|change| change.text.as_str()).collect();
        assert_eq!(texts[..2], ["carveout=0", "dlcm=ca"]);
    }

    #[test]
    fn the_first_five_findings_are_tried() {
        let ladder = Ladder::builtin("increment").unwrap();
        let step = ladder.step("i5").unwrap();
        let texts = |before: usize| {
            let of =
                document(&[&vec!["lg-throttle"; before][..], &["slow-math-functions"]].concat());
            changes(&of, &[Launch::default()], &ladder, step, &Overrides::new()).unwrap().len()
        };
        assert_eq!((texts(4), texts(5)), (1, 0));
    }
}
