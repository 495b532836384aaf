//! A whole program, as data: what its survey found, and which of its launches were profiled.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call_site::CallSite;
use super::program_group::ProgramGroup;
use super::{Document, LaunchReport};
use crate::around::pauses::pauses;
use crate::around::{self, lanes};
use crate::export::LaunchRow;
use crate::finding::{Estimate, Evidence};
use crate::handed_on::{Neighbours, Sequence};
use crate::survey::Survey;
use crate::survey::group::{Group, most_reached};
use crate::survey::handed_on::neighbours;
use crate::survey::in_a_row::{Row, in_a_row};
use crate::survey::memory::Reach;

/// A launch whose time under the profiler is this many times its time without, or the other way round,
/// was another run: of 569 recorded steps all but three lie between 0.75 and 1.33.
const OTHER_RUN: f64 = 1.5;

/// True where a launch's time under the profiler and its time without it, both in ns, are those of two different runs.
#[must_use]
pub(crate) fn is_another_run(profiled: f64, unprofiled: f64) -> bool {
    let ratio = (profiled / unprofiled).max(unprofiled / profiled);
    ratio.is_finite() && ratio >= OTHER_RUN
}

/// A program's run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// Its command line.
    pub command: String,
    /// Its time from start to end, surveyed and not profiled, ns.
    pub wall_ns: f64,
    /// True where that is a part of a longer run: some seconds of a running process.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_window: bool,
    /// Time in which a device did anything, ns.
    pub gpu_busy_ns: f64,
    /// Time in which a kernel was under way, ns.
    pub kernel_busy_ns: f64,
    /// Time from the device's first work to its last, ns.
    #[serde(default)]
    pub active_ns: f64,
    /// Kinds of launches, the one with the most time first.
    pub groups: Vec<ProgramGroup>,
    /// What lies around the kernels, ranked; rank 1 gives most.
    #[serde(default)]
    pub findings: Vec<ProgramFinding>,
    /// How busy streams, copies and waits are over the active time, the busiest first.
    #[serde(default)]
    pub lanes: Vec<Lane>,
    /// How much memory the program had allocated, per device; empty where that was not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<DeviceMemory>,
}

/// How much of a device's memory a program had allocated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceMemory {
    /// The device's number in the program.
    pub device: u32,
    /// What the device has, bytes; null where that was not recorded.
    pub total_bytes: Option<u64>,
    /// The most that one of the program's processes had allocated at once, all managed memory included, bytes.
    pub peak_bytes: u64,
}

impl DeviceMemory {
    fn of(survey: &Survey) -> Vec<Self> {
        let mut devices: BTreeMap<u32, Self> = BTreeMap::new();
        for process in &survey.processes {
            for (&device, record) in &process.devices {
                let peak_bytes = process.memory.peak(device);
                let total_bytes = Some(record.memory_bytes).filter(|&bytes| bytes > 0);
                let entry =
                    devices.entry(device).or_insert(Self { device, total_bytes, peak_bytes });
                entry.peak_bytes = entry.peak_bytes.max(peak_bytes);
            }
        }
        devices.into_values().filter(|device| device.peak_bytes > 0).collect()
    }
}

/// A finding about a program as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramFinding {
    /// 1 gives most.
    pub rank: usize,
    /// The rule.
    pub rule: String,
    /// What taking the fault away would give of the whole program's time.
    pub estimated_speedup: Estimate,
    /// What was seen.
    pub message: String,
    /// The figures behind it.
    pub evidence: Vec<Evidence>,
    /// What to change.
    pub hint: String,
    /// From where the calls were made that cause it, the place with the most of them first; empty where that is not
    /// known.
    #[serde(rename = "where", default, skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<CallSite>,
}

fn findings(survey: &Survey) -> Vec<ProgramFinding> {
    let mut found = around::findings(survey);
    let callers: Vec<around::Callers> =
        found.iter_mut().map(|finding| std::mem::take(&mut finding.callers)).collect();
    let sites = CallSite::of_findings(survey, &callers);
    let finding =
        |(index, (finding, sites)): (usize, (around::Finding, Vec<CallSite>))| ProgramFinding {
            rank: index + 1,
            rule: finding.rule.to_owned(),
            estimated_speedup: finding.estimate,
            message: finding.message,
            evidence: finding.evidence,
            hint: finding.hint.to_owned(),
            sites,
        };
    found.into_iter().zip(sites).enumerate().map(finding).collect()
}

/// A line of the program's timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lane {
    /// What it shows.
    pub name: String,
    /// How busy it is in each of equal parts of the active time, 0 to 1.
    pub busy: Vec<f64>,
}

/// What a saved profile keeps of the survey that it began with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SurveyedProgram {
    /// The program; its groups name no launches yet.
    pub program: Program,
    /// For each launch that was meant to be profiled, in the order of their launch, its group's index.
    pub chosen: Vec<usize>,
    /// Launches that follow one another, with what each was given; empty where none do, or where that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sequences: Vec<Sequence>,
}

impl Program {
    /// What a survey says of a program.
    #[must_use]
    pub fn new(command: String, survey: &Survey, groups: &[Group]) -> Self {
        let (active_ns, lanes) = lanes::lanes(survey);
        // Two digits tell as much as a line of text can show.
        let round = |share: f64| (share.min(1.0) * 100.0).round() / 100.0;
        let lanes = lanes
            .into_iter()
            .map(|lane| Lane { name: lane.name, busy: lane.busy.into_iter().map(round).collect() })
            .collect();
        Self {
            command,
            wall_ns: survey.wall_ns,
            is_window: false,
            gpu_busy_ns: survey.gpu_busy_ns(),
            kernel_busy_ns: survey.kernel_busy_ns(),
            active_ns,
            groups: groups.iter().map(|group| ProgramGroup::new(survey, group)).collect(),
            findings: findings(survey),
            lanes,
            memory: DeviceMemory::of(survey),
        }
    }

    /// Says how much memory each group's launches could reach; the groups' launches are those of the survey.
    pub(crate) fn add_reach(&mut self, survey: &Survey, groups: &[Group]) {
        for (group, of) in self.groups.iter_mut().zip(groups) {
            let reach = most_reached(survey, of.launches.iter().copied());
            group.reachable_bytes = reach.map(Reach::bytes);
        }
    }

    /// Says how many of each group's launches one launch could do the work of; the groups are those of the survey.
    pub(crate) fn add_rows(&mut self, survey: &Survey, groups: &[Group]) {
        for (group, row) in self.groups.iter_mut().zip(in_a_row(survey, groups)) {
            group.in_a_row = Some(row.launches).filter(|launches| *launches > 1);
            group.turn = Some(row.turn).filter(|turn| *turn > 1);
            group.if_only_read = row.only_read;
        }
    }

    /// Says what each group's launches share with those beside them; the groups are those of the survey.
    pub(crate) fn add_neighbours(&mut self, survey: &Survey, groups: &[Group]) {
        for (group, found) in self.groups.iter_mut().zip(neighbours(survey, groups)) {
            (group.before, group.after, group.read) = (found.before, found.after, found.read);
        }
    }

    /// Says how long the device pauses before each group's launches; the groups are those of the survey.
    pub(crate) fn add_pauses(&mut self, survey: &Survey, groups: &[Group]) {
        for (group, pause_ns) in self.groups.iter_mut().zip(pauses(survey, groups)) {
            group.pause_ns = Some(pause_ns).filter(|&ns| ns > 0);
        }
    }

    /// The share of the program's time in which kernels run, 0 to 1: what a share of the kernels' time is
    /// multiplied with to be one of the program's.
    #[must_use]
    pub fn kernel_share(&self) -> f64 {
        if self.wall_ns > 0.0 { (self.kernel_busy_ns / self.wall_ns).min(1.0) } else { 1.0 }
    }

    /// True where what lies around the kernels was recorded, and not only how long kernels take.
    #[must_use]
    pub fn is_surveyed(&self) -> bool {
        self.active_ns > 0.0
    }

    /// How many kernels the program launched.
    #[must_use]
    pub fn launches(&self) -> u64 {
        self.groups.iter().map(|group| group.launches).sum()
    }
}

impl SurveyedProgram {
    /// The launches of this kernel, grid and block that the program makes in a row and one could do the work of; alone where it
    /// makes none, or where that is not known.
    #[must_use]
    pub fn in_a_row(&self, launch: &LaunchRow) -> Row {
        // Where some take longer than others, what holds for all.
        let row = |group: &ProgramGroup| Row {
            launches: group.in_a_row.unwrap_or(1),
            turn: group.turn.unwrap_or(1),
            only_read: group.if_only_read.clone(),
        };
        self.groups_like(launch).into_iter().map(row).min().unwrap_or(Row::ALONE)
    }

    /// The groups of this kernel, grid and block. Of instances of one template those of this instance, where their names tell.
    fn groups_like(&self, launch: &LaunchRow) -> Vec<&ProgramGroup> {
        let fits = |group: &&ProgramGroup| group.fits(&launch.kernel, launch.grid, launch.block);
        let mut alike: Vec<&ProgramGroup> = self.program.groups.iter().filter(fits).collect();
        if alike.iter().any(|group| group.is_of(&launch.kernel)) {
            alike.retain(|group| group.is_of(&launch.kernel));
        }
        alike
    }

    /// What launches of this kernel, grid and block share with those beside them; of several kinds, what those share that take most
    /// of the time.
    #[must_use]
    pub(crate) fn neighbours(&self, launch: &LaunchRow) -> Neighbours {
        let Some(group) = self.groups_like(launch).into_iter().next() else {
            return Neighbours::default();
        };
        Neighbours {
            group: self.program.groups.iter().position(|each| std::ptr::eq(each, group)),
            launches: group.launches,
            pause_ns: group.pause_ns.unwrap_or(0),
            before: group.before.clone(),
            after: group.after.clone(),
            read: group.read.clone(),
            ..Neighbours::default()
        }
    }

    /// The group of each profiled launch, in the report's order. Where what was profiled is what was chosen,
    /// that is known; where the program went another way this time, the kernel's name and shape decide.
    #[must_use]
    pub fn groups_of(&self, launches: &[LaunchReport]) -> Vec<Option<usize>> {
        let fits = |launch: &LaunchReport, group: usize| {
            let group = self.program.groups.get(group);
            group.is_some_and(|group| group.fits(&launch.kernel, launch.grid, launch.block))
        };
        let mut left: Vec<Option<usize>> = self.chosen.iter().copied().map(Some).collect();
        launches
            .iter()
            .map(|launch| {
                let is_of = |group: usize| self.program.groups[group].is_of(&launch.kernel);
                let is_this = |group: &Option<usize>, strictly: bool| {
                    group.is_some_and(|group| fits(launch, group) && (!strictly || is_of(group)))
                };
                let place = (left.iter().position(|group| is_this(group, true)))
                    .or_else(|| left.iter().position(|group| is_this(group, false)));
                let found = place.and_then(|place| left.get_mut(place));
                // One of a group that was not meant: of those that fit, the one whose launches take as long.
                found.and_then(Option::take).or_else(|| {
                    let ns = launch.duration_ns.unwrap_or(0.0).max(1.0);
                    let distance = |group: &usize| {
                        let median = self.program.groups[*group].median_ns.max(1.0);
                        (median / ns).ln().abs()
                    };
                    (0..self.program.groups.len())
                        .filter(|&group| fits(launch, group))
                        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
                })
            })
            .collect()
    }
}

impl Document {
    /// Says of which group each launch is typical: a launch then has its group's share of the kernels' time,
    /// and what is gained is gained of the program's. Launches beyond the first of a group are left out, and
    /// those with the most time come first.
    ///
    /// `groups` has the group of each of the document's launches.
    pub fn attach(&mut self, mut program: Program, groups: &[Option<usize>]) {
        let mut launches: Vec<(Option<usize>, LaunchReport)> = Vec::new();
        for (launch, group) in self.launches.drain(..).zip(groups) {
            let is_known = |(other, _): &(Option<usize>, _)| group.is_some() && other == group;
            if !launches.iter().any(is_known) {
                launches.push((*group, launch));
            }
        }
        // Groups stand by their time; what belongs to none comes last.
        launches.sort_by_key(|(group, _)| group.unwrap_or(usize::MAX));
        for (index, (group, launch)) in launches.iter_mut().enumerate() {
            launch.time_share = 0.0;
            if let Some(group) = group.and_then(|group| program.groups.get_mut(group)) {
                launch.time_share = group.share;
                group.launch = Some(index);
            }
        }
        self.launches = launches.into_iter().map(|(_, launch)| launch).collect();
        self.program = Some(program);
        self.find_verdict();
    }

    /// The same for a ladder's step that is a program: the step's time is that of its launches alone, so what
    /// they gain is all that there is to gain.
    pub fn attach_step(&mut self, program: Program, groups: &[Option<usize>]) {
        self.attach(program, groups);
        self.program = None;
        self.find_verdict();
    }
}

#[cfg(test)]
mod tests;
