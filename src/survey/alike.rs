//! Whether the ranks of a program do the same: what profiling them together takes.

use std::collections::{BTreeMap, BTreeSet};

use super::Survey;
use super::choose::Choice;
use super::record::Process;
use crate::rank::Rank;

/// How many ranks take part where all of them are profiled in lockstep. Each launch that is profiled waits until all
/// ranks have come to theirs, so they must be on one machine, each on a device of its own, and launch the same kernels
/// in the same order.
///
/// # Errors
/// Why they can't be, as a part of a sentence.
pub(crate) fn peers(survey: &Survey, choice: &Choice) -> Result<u32, String> {
    let ranks = by_rank(survey)?;
    let count = ranks.len() as u32;
    if count < 2 {
        return Err("the survey found fewer than two ranks with work for a device".to_owned());
    }
    let world = ranks.iter().filter_map(|(rank, _)| rank.world).max();
    if let Some(world) = world.filter(|world| *world != count) {
        return Err(format!(
            "{count} of {world} ranks have work for a device, and all must take part"
        ));
    }
    let mut locals = BTreeSet::new();
    for (rank, _) in &ranks {
        let Some(local) = rank.local else {
            return Err(format!(
                "the launcher does not tell which ranks share a machine (of rank {}, for one), and lockstep needs all on one",
                rank.number
            ));
        };
        if !locals.insert(local) {
            return Err(
                "the ranks run on several machines, and lockstep needs all on one".to_owned()
            );
        }
    }
    let mut devices: BTreeMap<&str, u32> = BTreeMap::new();
    for (rank, process) in &ranks {
        for uuid in process.devices.values().filter_map(|device| device.uuid.as_deref()) {
            if let Some(other) = devices.insert(uuid, rank.number).filter(|it| *it != rank.number) {
                return Err(format!("ranks {other} and {} share a device", rank.number));
            }
        }
    }
    let (first, process) = &ranks[0];
    let order = launched(process, choice);
    match ranks.iter().find(|(_, process)| launched(process, choice) != order) {
        Some((rank, _)) => Err(format!(
            "ranks {} and {} do not launch the same kernels in the same order",
            first.number, rank.number
        )),
        None => Ok(count),
    }
}

/// Each rank with its process.
fn by_rank(survey: &Survey) -> Result<Vec<(Rank, &Process)>, String> {
    let mut ranks: BTreeMap<u32, (Rank, &Process)> = BTreeMap::new();
    for process in survey.processes.iter().filter(|process| !process.kernels.is_empty()) {
        let Some(rank) = process.rank else {
            return Err("a process that is no rank has work for a device".to_owned());
        };
        if ranks.insert(rank.number, (rank, process)).is_some() {
            return Err(format!(
                "rank {} has several processes with work for a device",
                rank.number
            ));
        }
    }
    Ok(ranks.into_values().collect())
}

/// The launches of a process that a choice selects, in their order: each kernel with its number.
fn launched<'a>(process: &'a Process, choice: &Choice) -> Vec<(&'a str, u32)> {
    let mut so_far: BTreeMap<&str, u32> = BTreeMap::new();
    let mut launched = Vec::new();
    for kernel in &process.kernels {
        let Some(shape) = process.shapes.get(kernel.shape as usize) else { continue };
        let count = so_far.entry(&shape.kernel).or_default();
        if choice.kernels.contains(&shape.kernel) && choice.numbers.contains(count) {
            launched.push((shape.kernel.as_str(), *count));
        }
        *count += 1;
    }
    launched
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::record::Device;
    use crate::survey::samples::{process, shape};

    /// Two ranks that launch these of `work` and a collective in turn.
    fn survey(ranks: [&[(u32, u64)]; 2]) -> Survey {
        let of = |(number, launches): (usize, &[(u32, u64)])| {
            let mut process = process(&[shape("work", 8), shape("ncclDevKernel_x", 1)], launches);
            let number = number as u32;
            process.rank = Some(Rank { number, local: Some(number), world: Some(2) });
            let device = Device {
                name: "A".to_owned(),
                multiprocessors: 1,
                capability: [9, 0],
                uuid: Some(format!("GPU-{number}")),
                memory_bytes: 0,
                memory_bytes_per_s: 0,
            };
            process.devices.insert(0, device);
            process
        };
        Survey { processes: ranks.into_iter().enumerate().map(of).collect(), ..Survey::default() }
    }

    fn choice() -> Choice {
        let kernels = vec!["ncclDevKernel_x".to_owned(), "work".to_owned()];
        Choice { kernels, numbers: vec![1], ..Choice::default() }
    }

    const STEPS: &[(u32, u64)] = &[(0, 9), (1, 9), (0, 9), (1, 9)];

    #[test]
    fn ranks_that_launch_the_same_can_go_in_lockstep() {
        assert_eq!(peers(&survey([STEPS, STEPS]), &choice()), Ok(2));
        // Launches that are not profiled may differ.
        let more = &[STEPS, &[(0, 9), (1, 9)]].concat();
        assert_eq!(peers(&survey([STEPS, more]), &choice()), Ok(2));
    }

    fn rank(survey: &mut Survey) -> &mut Rank {
        survey.processes[1].rank.as_mut().unwrap()
    }

    #[test]
    fn whatever_would_hang_is_refused() {
        let refused = |change: &dyn Fn(&mut Survey)| {
            let mut survey = survey([STEPS, STEPS]);
            change(&mut survey);
            peers(&survey, &choice()).unwrap_err()
        };
        let swapped: Vec<(u32, u64)> = STEPS.iter().rev().copied().collect();
        for other in [&STEPS[..2], &swapped] {
            let reason = peers(&survey([STEPS, other]), &choice()).unwrap_err();
            assert!(reason.contains("ranks 0 and 1 do not launch the same"), "{reason}");
        }
        for (change, said) in [
            (&(|it: &mut Survey| rank(it).world = Some(4)) as &dyn Fn(&mut Survey), "2 of 4 ranks"),
            (&|it: &mut Survey| rank(it).local = Some(0), "several machines"),
            (&|it: &mut Survey| rank(it).local = None, "does not tell"),
            (&|it: &mut Survey| rank(it).number = 0, "several processes"),
            (&|it: &mut Survey| it.processes[1].rank = None, "no rank"),
            (&|it: &mut Survey| drop(it.processes.pop()), "fewer than two"),
            (
                &|it: &mut Survey| it.processes[1].devices = it.processes[0].devices.clone(),
                "ranks 0 and 1 share a device",
            ),
        ] {
            let reason = refused(change);
            assert!(reason.contains(said), "{said}: {reason}");
        }
    }
}
