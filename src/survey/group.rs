//! Launches of one kind, put together.

use std::collections::HashMap;

use super::Survey;
use super::memory::Reach;
use super::phase::starts_in;
use super::record::{Shape, Span};

/// Neighbours in a group's sorted durations that are this far apart may do work of different sizes: a
/// kernel of one grid may run over more or less data. Launches that do the same differ by far less on an idle
/// device.
const CLASS_RATIO: f64 = 1.5;

/// A class of its own has at least this many launches: the first one or two are slow in any program.
const LEAST_OF_CLASS: usize = 3;

/// A class of its own has at least this share of its group's time, so that a group falls apart only where
/// that matters; it does, too, where launches of a smaller share are so many that the median would be theirs.
const LEAST_SHARE_OF_CLASS: f64 = 0.05;

/// A launch: the index of its process in [`Survey::processes`] and its own in the process's kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// Which process.
    pub process: u32,
    /// Which of its kernels.
    pub index: u32,
}

/// Launches of the same kernel and code, grid, block and class of duration.
#[derive(Debug, Clone)]
pub struct Group {
    /// What they have in common.
    pub shape: Shape,
    /// They themselves, the shortest first.
    pub launches: Vec<Launch>,
    /// Their time together, ns.
    pub total_ns: f64,
    /// Their share of the time of all kernels, 0 to 1.
    pub share: f64,
    /// The duration in the middle, ns.
    pub median_ns: f64,
    /// Durations between which nine in ten lie, ns.
    pub range_ns: [f64; 2],
}

/// The groups of a survey, the one with the most time first.
#[must_use]
pub fn groups(survey: &Survey) -> Vec<Group> {
    groups_within(survey, None)
}

/// The groups of the launches that start in a phase. Launches keep their numbers in the whole survey.
#[must_use]
pub(crate) fn groups_within(survey: &Survey, phase: Option<Span>) -> Vec<Group> {
    let mut members: HashMap<&Shape, Vec<(f64, Launch)>> = HashMap::new();
    for (number, process) in survey.processes.iter().enumerate() {
        for (index, kernel) in process.kernels.iter().enumerate() {
            let Some(shape) = process.shapes.get(kernel.shape as usize) else { continue };
            if !starts_in(phase, kernel) {
                continue;
            }
            let launch = Launch { process: number as u32, index: index as u32 };
            members.entry(shape).or_default().push((kernel.span.ns(), launch));
        }
    }
    let mut groups = Vec::new();
    for (shape, mut launches) in members {
        // Launches of one duration stay in their order.
        launches.sort_by(|a, b| a.0.total_cmp(&b.0));
        for class in classes(&launches) {
            groups.push(Group::new(shape, class));
        }
    }
    let total: f64 = groups.iter().map(|group| group.total_ns).sum();
    for group in &mut groups {
        group.share = if total > 0.0 { group.total_ns / total } else { 0.0 };
    }
    groups.sort_by(|a, b| b.total_ns.total_cmp(&a.total_ns).then_with(|| a.shape.cmp(&b.shape)));
    groups
}

impl Group {
    /// Of launches with their durations, the shortest first; there is at least one.
    fn new(shape: &Shape, launches: &[(f64, Launch)]) -> Self {
        let at = |share: f64| {
            let index = (share * (launches.len() - 1) as f64).round() as usize;
            launches[index].0
        };
        Self {
            shape: shape.clone(),
            total_ns: launches.iter().map(|(ns, _)| ns).sum(),
            share: 0.0,
            median_ns: at(0.5),
            range_ns: [at(0.05), at(0.95)],
            launches: launches.iter().map(|(_, launch)| *launch).collect(),
        }
    }
}

/// Launches cut where their durations jump.
fn classes(launches: &[(f64, Launch)]) -> Vec<&[(f64, Launch)]> {
    let total: f64 = launches.iter().map(|(ns, _)| ns).sum();
    let is_large =
        |count: usize, ns: f64| count >= LEAST_OF_CLASS && ns >= LEAST_SHARE_OF_CLASS * total;
    let mut classes = Vec::new();
    let (mut first, mut of_class, mut after) = (0, 0.0, total);
    for at in 1..launches.len() {
        let (last, next) = (launches[at - 1].0, launches[at].0);
        of_class += last;
        after -= last;
        let holds_median =
            at - first >= LEAST_OF_CLASS && 2 * (at - first) > launches.len() - first;
        let cuts = (is_large(at - first, of_class) || holds_median)
            && is_large(launches.len() - at, after);
        if next > CLASS_RATIO * last && cuts {
            classes.push(&launches[first..at]);
            (first, of_class) = (at, 0.0);
        }
    }
    classes.push(&launches[first..]);
    classes
}

/// The most memory that one of some launches could reach; `None` where no allocation was recorded.
#[must_use]
pub fn most_reached(survey: &Survey, launches: impl Iterator<Item = Launch>) -> Option<Reach> {
    let of_launch = |launch: Launch| {
        let process = survey.processes.get(launch.process as usize)?;
        let kernel = process.kernels.get(launch.index as usize)?;
        process.memory.at(kernel.place.device, kernel.span.start)
    };
    launches.filter_map(of_launch).max_by_key(|reach| reach.bytes())
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
