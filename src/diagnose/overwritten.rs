//! What a launch of a sequence stores and a later one overwrites, before anything loads it.

use std::collections::HashMap;

use super::steps::{self, Step};
use crate::frame::Launch;
use crate::handed_on::{HandedOn, Pointers, Sequence};
use crate::hardware::SECTOR_BYTES;

/// Says of each launch what is overwritten of what it stores, where that holds for more than half of its group's launches.
pub(super) fn find(launches: &mut [Launch], sequences: &[Sequence], steps: &[Vec<Step>]) {
    let mut found: HashMap<(usize, usize, Pointers), u64> = HashMap::new();
    for (sequence, steps) in sequences.iter().zip(steps) {
        for (place, step) in steps.iter().enumerate() {
            let Some(launch) = step.launch else { continue };
            for (by, pointers) in overwritten(steps, place) {
                let times: &mut u64 = found.entry((launch, by, pointers)).or_default();
                *times = times.saturating_add(sequence.times);
            }
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable();
    for ((launch, by, pointers), times) in found {
        if times > launches[launch].neighbours.launches / 2 {
            let kernel = launches[by].row.kernel.clone();
            for one in steps::of_group(launches, launch) {
                let empty = HandedOn { kernel: kernel.clone(), pointers: Vec::new() };
                one.neighbours.overwritten.get_or_insert(empty).pointers.push(pointers);
            }
        }
    }
}

/// What is overwritten of what a launch stores: by which of the profile's launches, and how much.
fn overwritten(steps: &[Step], at: usize) -> Vec<(usize, Pointers)> {
    let made = steps[at].accesses.iter().filter(|access| access.stores());
    let of_store = |access: &steps::Access| {
        let next = steps[at + 1..].iter().find_map(|step| {
            let (loaded, stored) = step.of(access.buffer);
            (loaded > 0.0 || stored > 0.0).then_some((step, loaded, stored))
        });
        let (step, loaded, stored) = next?;
        let other = step.accesses.iter().find(|it| it.buffer == access.buffer && it.stores())?;
        let bytes = (SECTOR_BYTES * stored.min(access.stored)) as u64;
        (loaded <= 0.0)
            .then_some((step.launch?, Pointers { own: access.own, other: other.own, bytes }))
    };
    made.filter_map(of_store).collect()
}

#[cfg(test)]
mod tests {
    use super::super::accesses::testing;
    use super::*;
    use crate::handed_on::Link;

    /// A kernel that loads through its first pointer, if it does, and stores so many sectors through its second.
    fn made(kernel: &str, group: usize, loads: bool, stored: f64) -> Launch {
        let mut launch = testing::made(kernel);
        if !loads {
            launch.instructions[1].text = "MOV R4, RZ".to_owned();
        }
        launch.neighbours.group = Some(group);
        launch.neighbours.launches = 2;
        launch.instructions[3].counters.l2_sectors_global = stored;
        launch
    }

    /// What is overwritten of what a fill stores to buffer 1, where the next launch is given these.
    fn of(next: [u32; 2], stored: f64) -> Option<HandedOn> {
        let mut launches = [made("fill", 0, false, 64.0), made("pad", 1, true, stored)];
        let link =
            |group, given: [u32; 2]| Link { group, given: vec![[0, given[0]], [8, given[1]]] };
        let sequence = Sequence {
            launches: vec![link(0, [9, 1]), link(1, next)],
            times: 2,
            ..Sequence::default()
        };
        let sequences = [sequence];
        let steps = steps::of(&launches, &sequences);
        find(&mut launches, &sequences, &steps);
        let [fill, pad] = launches;
        assert_eq!(pad.neighbours.overwritten, None);
        fill.neighbours.overwritten
    }

    #[test]
    fn what_the_next_launch_stores_to_the_same_place_is_overwritten() {
        let found = of([0, 1], 48.0).unwrap();
        assert_eq!(found.kernel, "pad");
        assert_eq!(found.pointers, [Pointers { own: 8, other: 8, bytes: 48 * 32 }]);
        assert_eq!(of([0, 1], 640.0).unwrap().pointers[0].bytes, 64 * 32, "no more than it stored");
    }

    #[test]
    fn what_atomics_add_to_is_needed() {
        let mut launches = [
            made("fill", 0, false, 64.0),
            made("count", 1, true, 64.0),
            made("scale", 2, true, 64.0),
        ];
        let find = |launches: &mut [Launch]| {
            let link = |group| Link { group, given: vec![[0, 9], [8, 1]] };
            let sequences = [Sequence {
                launches: (0..3).map(link).collect(),
                times: 2,
                ..Sequence::default()
            }];
            let steps = steps::of(launches, &sequences);
            super::find(launches, &sequences, &steps);
            launches[0].neighbours.overwritten.take().map(|with| with.kernel)
        };
        assert_eq!(find(&mut launches).as_deref(), Some("count"));
        launches[1].instructions[3].text = "RED.E.ADD.STRONG.GPU desc[UR4][R6.64], R4".to_owned();
        let mut atomics = launches.clone();
        assert_eq!(find(&mut atomics), None);
        atomics[1].instructions[3].text = "UBLKCP.S.G [UR6], [UR4], UR8".to_owned();
        let mut unknown = atomics.clone();
        assert_eq!(find(&mut unknown), None, "something that is not followed");
    }

    #[test]
    fn what_is_loaded_or_left_alone_is_not() {
        assert_eq!(of([1, 1], 64.0), None, "loaded, too");
        assert_eq!(of([0, 2], 64.0), None, "elsewhere");
    }
}
