//! What a command says, as data: the JSON of the contract. Every report renders this and nothing else.

mod call_site;
mod diff;
pub(crate) mod program;
mod program_group;
mod ranked;
mod ranks;
mod reference;
mod run_device;
mod savings;
mod several;
mod tried;
mod version;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agreement;
use crate::diagnose::{Diagnosis, RankingStep, bottleneck_sentence};
use crate::finding::{Bound, Evidence, Finding, Location, Name, Skipped, Symptom};
use crate::frame::Launch;
use crate::plan::IS_REFERENCE;
use crate::timing::StepInfo;

pub use crate::agreement::{NcuAgreement, NcuOnly};
pub use crate::rules::{asks_for_rebuild, is_roof};
pub use call_site::CallSite;
pub use diff::{Compared, Diff, MetricChange, TimeOf};
pub use program::{DeviceMemory, Lane, Program, ProgramFinding, SurveyedProgram};
pub use program_group::{GroupResidency, ProgramGroup};
pub use ranked::Ranked;
pub use ranks::{RankTime, RankedKernel, Ranks};
pub use reference::*;
pub use run_device::RunDevice;
use savings::Savings;
pub use several::{NamedDocument, SeveralDocuments};
pub use tried::{Tried, gain};
pub use version::Version;

/// The version of the document's shape.
pub const SCHEMA: &str = "adoprof/1";

/// How many rules there are: what a profile lacks, and what no finding means, is measured against it.
#[must_use]
pub fn rule_count() -> usize {
    crate::rules::RULES.len()
}

/// What `step`, `profile` and `analyze` print.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version that wrote it.
    #[serde(default)]
    pub adoprof: Version,
    /// The ladder's step; `None` for programs and for reports from elsewhere.
    pub step: Option<StepInfo>,
    /// What was profiled, longest first where there are several.
    pub launches: Vec<LaunchReport>,
    /// The finding with the largest gain over the whole step's or program's time.
    pub verdict: Option<Verdict>,
    /// The whole program, where it was surveyed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// The program's ranks side by side, where it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Ranks>,
    /// The ladder's step that answers the verdict.
    pub next_step: Option<String>,
    /// The arguments of `adoprof step` that lead to the ladder and the problem that the user chose,
    /// where the step's names alone do not; no part of the JSON.
    #[serde(skip)]
    pub next_arguments: Option<String>,
    /// The comparison with a baseline, where one was asked for.
    pub diff: Option<Diff>,
    /// What changes without new code gave, where `--try` asked for them, in the order of the findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
    /// The UUID of the device on which it ran, where the steps of a run were spread over several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Things to know about this result, each one sentence.
    pub notices: Vec<String>,
    /// Where the profile was saved, as the user would type it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
}

/// What `run` prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDocument {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version that wrote it.
    #[serde(default)]
    pub adoprof: Version,
    /// The ladder's name.
    pub ladder: String,
    /// Each step's document, in the ladder's order.
    pub steps: Vec<Document>,
    /// The devices over which the steps were spread, where there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<RunDevice>,
    /// Things to know about the run as a whole, each one sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// One launch with its diagnosis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchReport {
    /// The kernel's demangled name.
    pub kernel: String,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// The device's name, where known.
    pub device: Option<String>,
    /// The rank whose launch it is, where the program has several: the one in the middle by duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Duration under the profiler, ns.
    pub duration_ns: Option<f64>,
    /// Its share of the time of all launches, 0 to 1; its group's share of that of all kernels of the program,
    /// where that was surveyed.
    pub time_share: f64,
    /// What bounds it.
    pub bound: Bound,
    /// The bottleneck in one sentence; empty where the metrics don't tell.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bottleneck: String,
    /// How busy each unit is at its achievable rate, busiest first, 0 to 1.
    #[serde(default)]
    pub utilization: Vec<Utilization>,
    /// Ranked findings.
    pub findings: Vec<RankedFinding>,
    /// What limits the launch now, without its first fault, and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranking: Vec<RankingStep>,
    /// Rules that could not be checked.
    pub skipped: Vec<Skipped>,
    /// What ncu's own rules said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ncu_rules: Vec<NcuRule>,
    /// What ncu's rules promise and no finding does, with the reason, the largest promise first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ncu_only: Vec<NcuOnly>,
}

/// One unit's busy share of the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Utilization {
    /// The unit's name.
    pub unit: Name,
    /// Share of the time busy at its achievable rate, 0 to 1.
    pub share: f64,
}

/// What one of ncu's rules said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NcuRule {
    /// ncu's section identifier.
    pub section: String,
    /// ncu's rule name.
    pub rule: String,
    /// `info`, `optimization`, `warning` or `error`.
    pub kind: Name,
    /// ncu's text.
    pub message: String,
    /// ncu's estimate, percent.
    pub estimate_percent: Option<f64>,
    /// True where the estimate is of the whole kernel's time.
    pub global: bool,
}

/// A finding with its place in the ranking, as the contract spells it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedFinding {
    /// 1 is the next optimization.
    pub rank: usize,
    /// The rule.
    pub rule: String,
    /// The profile's section where a person would look.
    #[serde(default)]
    pub section: String,
    /// What taking the fault away would give.
    pub estimated_speedup: Option<crate::finding::Estimate>,
    /// What was seen.
    pub message: String,
    /// The metrics behind it.
    pub evidence: Vec<Evidence>,
    /// The lines that cause it.
    #[serde(rename = "where")]
    pub locations: Vec<Location>,
    /// What to change.
    pub hint: String,
    /// Symptoms that it explains.
    pub explains: Vec<String>,
    /// The same symptoms with what was seen of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symptoms: Vec<Symptom>,
    /// The ladder's step that removes this fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// What ncu's own rules say of the same fault; `None` where they say nothing of it.
    #[serde(default)]
    pub ncu: Option<NcuAgreement>,
}

/// The finding to act on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Index into `launches`; null where the finding is one about the program.
    pub launch: Option<usize>,
    /// The rule.
    pub rule: String,
    /// The whole program's time now over its time without the fault, where the program was surveyed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_gain: Option<f64>,
}

impl RankedFinding {
    fn new(rank: usize, mut finding: Finding, launch: &Launch) -> Self {
        // A text that was put together has room for as much again, and a hundred thousand launches have millions.
        finding.message.shrink_to_fit();
        finding.hint.shrink_to_fit();
        let ncu = agreement::on_fault(&launch.ncu_rules, &finding.rule);
        Self {
            ncu,
            rank,
            rule: finding.rule,
            section: finding.section,
            estimated_speedup: finding.estimate,
            message: finding.message,
            evidence: finding.evidence,
            locations: finding.locations,
            hint: finding.hint,
            explains: finding.explains,
            symptoms: finding.symptoms,
            answered_by: None,
        }
    }
}

impl Document {
    /// True where the step is the one that its ladder's other steps are checked against.
    pub(crate) fn is_reference(&self) -> bool {
        self.notices.iter().any(|notice| notice.contains(IS_REFERENCE))
    }

    /// The document of diagnosed launches, in the order given; the step, the next step, the diff and
    /// notices are the caller's to add.
    #[must_use]
    pub fn new(mut launches: Vec<LaunchReport>) -> Self {
        let total_ns: f64 = launches.iter().filter_map(|launch| launch.duration_ns).sum();
        for launch in &mut launches {
            let ns = launch.duration_ns.filter(|_| total_ns > 0.0);
            launch.time_share = ns.map_or(0.0, |ns| ns / total_ns);
        }
        let mut document = Self { schema: SCHEMA.to_owned(), launches, ..Self::default() };
        document.find_verdict();
        document
    }

    /// Looks for the verdict again, where estimates were corrected.
    pub fn find_verdict(&mut self) {
        self.verdict = self.best_finding();
    }

    /// The finding that would save most of the whole time, over all launches that have it: one with share s
    /// and factor f saves s·(1 − 1/f). Rules that come first nowhere stand behind another wherever they
    /// are found, and are no verdict. Of launches that have to be built anew, all of the time is in question.
    fn best_finding(&self) -> Option<Verdict> {
        let gain = |finding: &RankedFinding| {
            finding.estimated_speedup.map_or(0.0, |gain| 1.0 - 1.0 / gain.factor)
        };
        let in_question = |finding: &RankedFinding| {
            if asks_for_rebuild(&finding.rule) { 1.0 } else { gain(finding) }
        };
        // A first finding that promises nothing is no verdict, unless it says to stop.
        let is_worth = |finding: &&RankedFinding| {
            finding.estimated_speedup.is_none_or(|gain| gain.factor >= 1.005)
                || is_roof(&finding.rule)
        };
        let firsts: Vec<&str> = self
            .launches
            .iter()
            .filter_map(|launch| launch.findings.first().filter(is_worth))
            .map(|first| first.rule.as_str())
            .collect();
        let mut best: Option<(f64, usize, &str)> = None;
        for (place, rule) in firsts.iter().enumerate() {
            if firsts[..place].contains(rule) {
                continue;
            }
            let mut savings = Savings::default();
            for (index, launch) in self.launches.iter().enumerate() {
                if let Some(finding) = launch.findings.iter().find(|one| one.rule == *rule) {
                    savings.add(launch, index, self.explained_share(launch) * in_question(finding));
                }
            }
            let saved = savings.all();
            if best.is_none_or(|(largest, ..)| saved > largest) {
                best = Some((saved, savings.place(), rule));
            }
        }
        let around = self.program.as_ref().and_then(|program| program.findings.first());
        let gain = |finding: &ProgramFinding| finding.estimated_speedup.factor;
        if let Some(around) = around
            && best.is_none_or(|(saved, ..)| 1.0 - 1.0 / gain(around) > saved)
        {
            let program_gain = Some(gain(around));
            return Some(Verdict { launch: None, rule: around.rule.clone(), program_gain });
        }
        best.map(|(saved, launch, rule)| Verdict {
            launch: Some(launch),
            rule: rule.to_owned(),
            program_gain: self
                .program
                .as_ref()
                .filter(|_| !asks_for_rebuild(rule))
                .map(|_| 1.0 / (1.0 - saved)),
        })
    }

    /// The rules found in any launch, each once, in the order of launches and ranks.
    #[must_use]
    pub fn rules_found(&self) -> Vec<&str> {
        let mut rules: Vec<&str> = Vec::new();
        for finding in self.launches.iter().flat_map(|launch| &launch.findings) {
            if !rules.contains(&finding.rule.as_str()) {
                rules.push(&finding.rule);
            }
        }
        rules
    }

    /// The rules found around a program's kernels; `None` where nothing was recorded there.
    #[must_use]
    pub fn rules_around(&self) -> Option<Vec<&str>> {
        let program = self.program.as_ref().filter(|program| program.is_surveyed())?;
        Some(program.findings.iter().map(|finding| finding.rule.as_str()).collect())
    }
}

impl LaunchReport {
    /// A launch with its diagnosis; its share of the time is known once all are.
    #[must_use]
    pub fn new(launch: &Launch, diagnosis: Diagnosis) -> Self {
        let model = crate::model::Model::new(launch);
        let bottleneck = bottleneck_sentence(launch, &model, &diagnosis);
        let ncu_only = agreement::ncu_only(launch, &model, &diagnosis.findings, &diagnosis.skipped);
        Self {
            kernel: launch.row.kernel.clone(),
            grid: launch.row.grid,
            block: launch.row.block,
            device: launch.row.device.clone(),
            rank: None,
            duration_ns: launch.duration_ns(),
            time_share: 0.0,
            bound: diagnosis.bound,
            bottleneck,
            utilization: model
                .by_share()
                .into_iter()
                .map(|(term, share)| Utilization { unit: term.title().into(), share })
                .collect(),
            findings: diagnosis
                .findings
                .into_iter()
                .enumerate()
                .map(|(index, finding)| RankedFinding::new(index + 1, finding, launch))
                .collect(),
            ranking: diagnosis.ranking,
            skipped: diagnosis.skipped,
            ncu_rules: launch
                .ncu_rules
                .iter()
                .map(|rule| NcuRule {
                    section: rule.section.clone(),
                    rule: rule.rule.clone(),
                    kind: rule.kind.word().into(),
                    message: rule.message.clone(),
                    estimate_percent: rule.estimate_percent,
                    global: rule.global,
                })
                .collect(),
            ncu_only,
        }
    }
}
