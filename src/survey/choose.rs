//! Which launches to collect in full: one typical launch of each group that matters.
//!
//! ncu takes one expression for kernels' names and one for their invocations' numbers, so that it collects
//! every named kernel at every named number. The numbers are chosen so that this is little more than what is
//! wanted.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Survey;
use super::group::{Group, Launch};

/// A launch is typical of its group where its duration is this near to the median.
const TYPICAL: f64 = 0.05;

/// Numbers to choose among per group; the first ones, because a profiled program reaches them sooner.
const MOST_NUMBERS: usize = 2000;

/// How much of a program to explain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// This share of the kernels' time, 0 to 1.
    pub coverage: f64,
    /// But at most so many groups.
    pub top: usize,
}

/// What to collect.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// The chosen groups' indices, as they were handed in.
    pub groups: Vec<usize>,
    /// Their kernels' names (mangled), each once.
    pub kernels: Vec<String>,
    /// The invocations' numbers: how many launches of the same kernel came before in the same process.
    pub numbers: Vec<u32>,
    /// The launches that this selects, in the order of processes and launches.
    pub launches: Vec<Chosen>,
}

/// A launch that will be collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    /// The launch.
    pub launch: Launch,
    /// The index of its group, chosen or not.
    pub group: usize,
}

/// The groups with the most time, until the extent is reached.
#[must_use]
pub fn covered(groups: &[Group], extent: Extent) -> Vec<usize> {
    covered_of(groups, extent, |_| true)
}

/// The same of those that may be profiled: the extent is then one of their time.
#[must_use]
pub(crate) fn covered_of(
    groups: &[Group],
    extent: Extent,
    may_be: impl Fn(&Group) -> bool,
) -> Vec<usize> {
    let mut explained = 0.0;
    let mut chosen = Vec::new();
    let candidates = || groups.iter().enumerate().filter(|(_, group)| may_be(group));
    let all: f64 = candidates().map(|(_, group)| group.share).sum();
    for (index, group) in candidates().take(extent.top) {
        // Sums of shares miss 1 by rounding.
        if explained >= (extent.coverage - 1e-9) * all && !chosen.is_empty() {
            break;
        }
        explained += group.share;
        chosen.push(index);
    }
    chosen
}

/// One typical launch of each of some groups, with as little beside them as possible.
#[must_use]
pub fn choose(survey: &Survey, groups: &[Group], chosen: &[usize]) -> Choice {
    let numbers_of = numbers(survey);
    let number = |launch: Launch| numbers_of[launch.process as usize][launch.index as usize];
    let kernels: BTreeSet<&str> =
        chosen.iter().map(|&index| groups[index].shape.kernel.as_str()).collect();
    // How many launches a number selects.
    let mut cost: HashMap<u32, usize> = HashMap::new();
    for (process, numbers) in survey.processes.iter().zip(&numbers_of) {
        for (kernel, number) in process.kernels.iter().zip(numbers) {
            let name = process.shapes.get(kernel.shape as usize).map(|shape| shape.kernel.as_str());
            if name.is_some_and(|name| kernels.contains(name)) {
                *cost.entry(*number).or_default() += 1;
            }
        }
    }
    let mut wanted: Vec<BTreeSet<u32>> =
        chosen.iter().map(|&index| typical(survey, &groups[index], number)).collect();
    let mut taken = BTreeSet::new();
    while !wanted.is_empty() {
        let mut serves: BTreeMap<u32, usize> = BTreeMap::new();
        for number in wanted.iter().flatten() {
            *serves.entry(*number).or_default() += 1;
        }
        // The most groups per launch; among equals the earliest.
        let per_launch = |number: u32, groups: usize| {
            groups as f64 / cost.get(&number).copied().unwrap_or(1) as f64
        };
        let best = serves.iter().fold(None, |best: Option<(u32, f64)>, (&number, &groups)| {
            let worth = per_launch(number, groups);
            best.filter(|(_, most)| *most >= worth).or(Some((number, worth)))
        });
        let Some((number, _)) = best else { break };
        taken.insert(number);
        wanted.retain(|numbers| !numbers.contains(&number));
    }
    let group_of: HashMap<(u32, u32), usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(index, group)| group.launches.iter().map(move |launch| (index, launch)))
        .filter(|(_, launch)| taken.contains(&number(**launch)))
        .map(|(index, launch)| ((launch.process, launch.index), index))
        .collect();
    let mut launches: Vec<Chosen> = group_of
        .into_iter()
        .filter(|(_, group)| kernels.contains(groups[*group].shape.kernel.as_str()))
        .map(|((process, index), group)| Chosen { launch: Launch { process, index }, group })
        .collect();
    launches.sort_by_key(|chosen| (chosen.launch.process, chosen.launch.index));
    Choice {
        groups: chosen.to_vec(),
        kernels: kernels.into_iter().map(str::to_owned).collect(),
        numbers: taken.into_iter().collect(),
        launches,
    }
}

/// For each process and launch, how many launches of the same kernel came before it.
fn numbers(survey: &Survey) -> Vec<Vec<u32>> {
    let of_process = |process: &super::record::Process| {
        let mut so_far: HashMap<&str, u32> = HashMap::new();
        let number = |kernel: &super::record::Kernel| {
            let shape = process.shapes.get(kernel.shape as usize);
            let count = so_far.entry(shape.map_or("", |shape| &shape.kernel)).or_default();
            *count += 1;
            *count - 1
        };
        process.kernels.iter().map(number).collect()
    };
    survey.processes.iter().map(of_process).collect()
}

/// Numbers of launches that are typical of a group; the first launch of a kernel only where there is no
/// other, because it also warms caches up.
fn typical(survey: &Survey, group: &Group, number: impl Fn(Launch) -> u32) -> BTreeSet<u32> {
    let ns = |launch: &&Launch| {
        survey.processes[launch.process as usize].kernels[launch.index as usize].span.ns()
    };
    let near = |launch: &&Launch| (ns(launch) - group.median_ns).abs() <= TYPICAL * group.median_ns;
    let mut numbers: BTreeSet<u32> =
        group.launches.iter().filter(near).map(|launch| number(*launch)).collect();
    if numbers.len() > 1 {
        numbers.remove(&0);
    }
    numbers.into_iter().take(MOST_NUMBERS).collect()
}

#[cfg(test)]
#[path = "choose_tests.rs"]
mod tests;
