//! Chains: launches of a sequence that one kernel could do the work of, since each works element by element on what those before
//! it stored.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::steps::{self, Access, Step};
use super::thresholds::{CHAINED, CHAINED_READINGS, STORES_ANEW};
use crate::frame::Launch;
use crate::handed_on::{Chain, Pointers, Sequence};
use crate::hardware::SECTOR_BYTES;
use crate::kernel_name::short;

/// Says of each launch in which chain it is, by what most of its group's launches have in common.
pub(super) fn find(launches: &mut [Launch], sequences: &[Sequence], steps: &[Vec<Step>]) {
    let mut tally: HashMap<usize, Tally> = HashMap::new();
    for (sequence, steps) in sequences.iter().zip(steps) {
        let mut chains = of_sequence(launches, sequence, steps);
        for (place, step) in steps.iter().enumerate() {
            let Some(launch) = step.launch else { continue };
            let launches = launches[launch].neighbours.launches;
            let tally = tally.entry(launch).or_insert_with(|| Tally::of(launches));
            if let Some(chain) = chains.remove(&place) {
                tally.note(chain, sequence.times);
            }
        }
    }
    for (at, found) in tally {
        let chain = found.most();
        steps::of_group(launches, at).for_each(|one| one.neighbours.chain.clone_from(&chain));
    }
}

/// The chains that launches of a group are in.
#[derive(Default)]
struct Tally {
    /// Launches of the group.
    launches: u64,
    /// How many of them are in a chain of such kernels.
    chains: HashMap<(usize, Vec<String>), u64>,
    /// How many load so much through a pointer that was stored before.
    loaded: HashMap<Pointers, u64>,
    /// How many store so much through a pointer that is loaded behind.
    stored: HashMap<Pointers, u64>,
}

impl Tally {
    fn of(launches: u64) -> Self {
        Self { launches, ..Self::default() }
    }

    fn note(&mut self, chain: Chain, times: u64) {
        let count_one = |count: &mut u64| *count = count.saturating_add(times);
        count_one(self.chains.entry((chain.launches, chain.kernels)).or_default());
        let count = |by: &mut HashMap<Pointers, u64>, pointers: Vec<Pointers>| {
            for each in pointers {
                count_one(by.entry(each).or_default());
            }
        };
        count(&mut self.loaded, chain.loaded);
        count(&mut self.stored, chain.stored);
    }

    /// The chain of most of the launches that are in one, the shortest of several, with what is loaded and stored so by more than
    /// half of all.
    fn most(self) -> Option<Chain> {
        let chains = self.chains.into_iter().map(|(chain, count)| (count, Reverse(chain)));
        let (_, Reverse((launches, kernels))) = chains.max()?;
        let of_most = |by: HashMap<Pointers, u64>| -> Vec<Pointers> {
            let most = by.into_iter().filter(|(_, count)| *count > self.launches / 2);
            let mut pointers: Vec<Pointers> = most.map(|(pointers, _)| pointers).collect();
            pointers.sort_unstable();
            pointers
        };
        let (loaded, stored) = (of_most(self.loaded), of_most(self.stored));
        let is_of_it = !loaded.is_empty() || !stored.is_empty();
        is_of_it.then_some(Chain { launches, kernels, loaded, stored })
    }
}

/// The chains of a sequence, by the places of their launches in it.
fn of_sequence(launches: &[Launch], sequence: &Sequence, steps: &[Step]) -> HashMap<usize, Chain> {
    let mut found = HashMap::new();
    let mut from = 0;
    while from < steps.len() {
        let run = from..run_from(steps, from);
        for members in linked(steps, run.clone()) {
            if members.len() >= CHAINED.whole() {
                let part = |&at: &usize| Some((at, part(launches, sequence, steps, &members, at)?));
                found.extend(members.iter().filter_map(part));
            }
        }
        from = run.end.max(from + 1);
    }
    found
}

/// Where the launches end, from this one on, of which each takes what those before it stored element by element.
fn run_from(steps: &[Step], from: usize) -> usize {
    let mut stored: HashMap<u32, f64> = HashMap::new();
    for (at, step) in steps.iter().enumerate().skip(from) {
        let is_read_often = |access: &Access| {
            let whole = stored.get(&access.buffer);
            whole.is_some_and(|whole| access.loaded > CHAINED_READINGS.value * whole)
        };
        if step.launch.is_none() || step.accesses.iter().any(is_read_often) {
            return at;
        }
        let made = step.accesses.iter().filter(|access| access.stored > 0.0);
        stored.extend(made.map(|access| (access.buffer, access.stored)));
    }
    steps.len()
}

/// The launches of a run, those together of which one loads what another stored.
fn linked(steps: &[Step], run: std::ops::Range<usize>) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut writer: HashMap<u32, usize> = HashMap::new();
    for at in run {
        let step = &steps[at];
        let loaded = step.accesses.iter().filter(|access| access.loads());
        let before: HashSet<usize> =
            loaded.filter_map(|access| writer.get(&access.buffer).copied()).collect();
        let (mut own, others): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|set| set.iter().any(|at| before.contains(at)));
        found = others;
        let mut joined: Vec<usize> = own.drain(..).flatten().collect();
        joined.push(at);
        joined.sort_unstable();
        found.push(joined);
        let stored = step.accesses.iter().filter(|access| access.stores());
        writer.extend(stored.map(|access| (access.buffer, at)));
    }
    found
}

/// The part of a launch in a chain, if it loads something of it or stores something for it alone.
fn part(
    launches: &[Launch],
    sequence: &Sequence,
    steps: &[Step],
    members: &[usize],
    at: usize,
) -> Option<Chain> {
    let step = &steps[at];
    let pointers = |access: &Access, sectors: f64| Pointers {
        own: access.own,
        other: 0,
        bytes: (SECTOR_BYTES * sectors) as u64,
    };
    let from_chain = |access: &Access| {
        let by = last_writer(steps, at, access.buffer).filter(|by| members.contains(by))?;
        access.loads().then(|| pointers(access, steps[by].of(access.buffer).1))
    };
    let loaded: Vec<Pointers> = step.accesses.iter().filter_map(from_chain).collect();
    let for_chain = |access: &Access| {
        let is_for_it = access.stores() && is_for_chain_alone(sequence, steps, members, at, access);
        is_for_it.then(|| pointers(access, access.stored))
    };
    let stored: Vec<Pointers> = step.accesses.iter().filter_map(for_chain).collect();
    let mut kernels: Vec<String> = Vec::new();
    for launch in members.iter().filter_map(|&at| steps[at].launch) {
        let name = short(&launches[launch].row.kernel, 40);
        if !kernels.contains(&name) {
            kernels.push(name);
        }
    }
    let is_of_it = !loaded.is_empty() || !stored.is_empty();
    is_of_it.then_some(Chain { launches: members.len(), kernels, loaded, stored })
}

/// The last launch before this one that stored to a buffer, or may have.
fn last_writer(steps: &[Step], at: usize, buffer: u32) -> Option<usize> {
    steps[..at].iter().rposition(|step| step.of(buffer).1 > 0.0)
}

/// True where what a launch stores is loaded by later launches of its chain, and by nothing else.
fn is_for_chain_alone(
    sequence: &Sequence,
    steps: &[Step],
    members: &[usize],
    at: usize,
    access: &Access,
) -> bool {
    let buffer = access.buffer;
    let mut is_loaded = false;
    for (place, step) in steps.iter().enumerate().skip(at + 1) {
        let (loaded, stored) = step.of(buffer);
        if loaded > 0.0 {
            if loaded.is_infinite() || !members.contains(&place) {
                return false;
            }
            is_loaded = true;
        }
        if stored >= STORES_ANEW.value * access.stored {
            return is_loaded;
        }
    }
    // It is left behind the last one: of use to nobody where the first launch stores it anew.
    let first = steps.iter().find_map(|step| {
        let (loaded, stored) = step.of(buffer);
        (loaded > 0.0 || stored > 0.0).then_some(loaded > 0.0)
    });
    is_loaded && first == Some(false) && !sequence.wanted.contains(&buffer)
}

#[cfg(test)]
mod tests {
    use super::super::accesses::testing;
    use super::*;
    use crate::handed_on::Link;

    /// A kernel that loads 64 sectors through its first pointer and stores as many through its second.
    fn made(kernel: &str, group: usize) -> Launch {
        let mut launch = testing::made(kernel);
        launch.neighbours.group = Some(group);
        launch.neighbours.launches = 3;
        launch.instructions[1].counters.l2_sectors_global = 64.0;
        launch.instructions[3].counters.l2_sectors_global = 64.0;
        launch
    }

    /// Square, add, and root, and what they hand on where each of them is given these two buffers.
    fn chains(
        given: [[u32; 2]; 3],
        change: impl Fn(&mut [Launch; 3], &mut Sequence),
    ) -> [Option<Chain>; 3] {
        let mut launches = [made("square", 0), made("add", 1), made("root", 2)];
        let links = given
            .into_iter()
            .zip(0..)
            .map(|([first, second], group)| Link { group, given: vec![[0, first], [8, second]] });
        let mut sequence = Sequence { launches: links.collect(), times: 3, ..Sequence::default() };
        change(&mut launches, &mut sequence);
        let sequences = [sequence];
        let steps = steps::of(&launches, &sequences);
        find(&mut launches, &sequences, &steps);
        launches.map(|launch| launch.neighbours.chain)
    }

    fn through(own: u32) -> Vec<Pointers> {
        vec![Pointers { own, other: 0, bytes: 64 * 32 }]
    }

    const IN_A_ROW: [[u32; 2]; 3] = [[0, 1], [1, 2], [2, 3]];

    #[test]
    fn launches_that_hand_on_element_by_element_are_a_chain() {
        let [first, second, third] = chains(IN_A_ROW, |_, _| {}).map(Option::unwrap);
        assert_eq!(
            (first.launches, &first.kernels[..]),
            (3, &["square", "add", "root"].map(str::to_owned)[..])
        );
        assert_eq!((first.loaded, first.stored), (vec![], through(8)));
        assert_eq!((second.loaded, second.stored), (through(0), through(8)));
        assert_eq!((third.loaded, third.stored), (through(0), vec![]), "a result");
    }

    #[test]
    fn launches_with_nothing_between_them_are_none() {
        assert_eq!(chains([[0, 1], [0, 2], [0, 3]], |_, _| {}), [None, None, None]);
        assert_eq!(chains([[0, 1], [1, 2], [0, 3]], |_, _| {}), [None, None, None], "two of three");
    }

    #[test]
    fn what_is_loaded_more_than_once_ends_it() {
        let of = |sectors: f64| {
            let found = chains(IN_A_ROW, |launches, _| {
                launches[2].instructions[1].counters.l2_sectors_global = sectors;
            });
            found[0].is_some()
        };
        assert!(of(70.0), "rows that are not aligned");
        assert!(!of(71.0), "neighbours' elements");
    }

    #[test]
    fn code_that_is_not_known_ends_it() {
        let found = chains(IN_A_ROW, |launches, _| launches[1].neighbours.group = None);
        assert_eq!(found, [None, None, None]);
    }

    #[test]
    fn what_is_wanted_behind_it_is_stored_all_the_same() {
        let [first, second, _] = chains(IN_A_ROW, |_, sequence| sequence.wanted = vec![2]);
        assert_eq!(first.unwrap().stored, through(8));
        assert_eq!(second.unwrap().stored, vec![]);
    }

    #[test]
    fn what_was_there_before_may_be_needed_in_the_next_round() {
        let [first, second, third] = chains([[0, 1], [1, 0], [0, 3]], |_, _| {});
        assert_eq!(first.unwrap().stored, through(8));
        assert_eq!(second.unwrap().stored, vec![], "the first launch loads it");
        assert_eq!(third.unwrap().loaded, through(0));
    }
}
