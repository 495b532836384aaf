//! A document with its estimates corrected by the ledger.

use super::calibration::{Calibration, LEAST_HINTS};
use crate::document::{Document, ProgramFinding};
use crate::rules::{self, Kind};
use crate::text::count_of;

/// Corrects the estimates of every rule that has enough measured hints, ranks the findings again, and
/// says so in a notice. Roofs promise nothing and stay as they are.
pub(crate) fn apply(document: &mut Document, calibration: &Calibration) {
    let mut corrected: Vec<String> = Vec::new();
    let mut kept: Vec<String> = Vec::new();
    for launch in &mut document.launches {
        for finding in &mut launch.findings {
            let Some(gain) = finding.estimated_speedup.filter(|_| class(&finding.rule) > 0) else {
                continue;
            };
            let rule = finding.rule.clone();
            match calibration.correct(&rule, &gain) {
                Some(better) => {
                    finding.estimated_speedup = Some(better);
                    let n = calibration.measured(&rule).unwrap_or_default();
                    add(
                        &mut corrected,
                        format!("{rule} ({})", count_of(n as f64, "measured hint")),
                    );
                }
                None => add(&mut kept, rule),
            }
        }
        let factor = |finding: &crate::document::RankedFinding| {
            finding.estimated_speedup.map_or(1.0, |gain| gain.factor)
        };
        // As diagnose ranks: roofs, then everything else by the gain.
        launch.findings.sort_by(|a, b| {
            class(&a.rule).cmp(&class(&b.rule)).then(factor(b).total_cmp(&factor(a)))
        });
        for (index, finding) in launch.findings.iter_mut().enumerate() {
            finding.rank = index + 1;
        }
    }
    if let Some(program) = &mut document.program {
        for finding in &mut program.findings {
            let rule = finding.rule.clone();
            match calibration.correct(&rule, &finding.estimated_speedup) {
                Some(better) => {
                    finding.estimated_speedup = better;
                    let n = calibration.measured(&rule).unwrap_or_default();
                    add(
                        &mut corrected,
                        format!("{rule} ({})", count_of(n as f64, "measured hint")),
                    );
                }
                None => add(&mut kept, rule),
            }
        }
        let factor = |finding: &ProgramFinding| finding.estimated_speedup.factor;
        program.findings.sort_by(|a, b| factor(b).total_cmp(&factor(a)));
        for (index, finding) in program.findings.iter_mut().enumerate() {
            finding.rank = index + 1;
        }
    }
    document.find_verdict();
    if !corrected.is_empty() {
        document
            .notices
            .push(format!("estimates corrected by the ledger (--apply): {}", corrected.join(", ")));
    }
    if !kept.is_empty() {
        document.notices.push(format!(
            "estimates left as they are, because fewer than {LEAST_HINTS} hints of the rule were \
             measured: {}",
            kept.join(", ")
        ));
    }
}

fn add(to: &mut Vec<String>, text: String) {
    if !to.contains(&text) {
        to.push(text);
    }
}

fn class(rule: &str) -> u8 {
    match rules::find(rule).map(|rule| rule.kind) {
        Some(Kind::Roof) => 0,
        Some(Kind::Cause | Kind::Symptom) | None => 1,
    }
}
