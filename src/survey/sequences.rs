//! Launches that follow one another on a stream, and the memory that each was given: what the code of all of them must be known for,
//! to say whether one kernel could do their work.

use std::collections::{HashMap, HashSet};

use super::Survey;
use super::given::Given;
use super::group::{Group, Launch};
use super::in_order::in_order;
use crate::handed_on::{Link, Sequence};

/// Launches in a sequence at least.
const LEAST: usize = 2;

/// Launches in a sequence at most, so that what a profile keeps of a survey stays small; longer ones are cut.
const MOST: usize = 64;

/// Sequences at most, those with the most launches in all.
const MOST_SEQUENCES: usize = 32;

/// The sequences of a survey, each kind once; the groups are those of the survey.
#[must_use]
pub fn sequences(survey: &Survey, groups: &[Group]) -> Vec<Sequence> {
    let mut group_of: HashMap<(u32, u32), usize> = HashMap::new();
    for (number, group) in groups.iter().enumerate() {
        let of = |launch: &Launch| ((launch.process, launch.index), number);
        group_of.extend(group.launches.iter().map(of));
    }
    let mut found: Vec<Sequence> = Vec::new();
    let mut places: HashMap<(Vec<Link>, Vec<u32>), usize> = HashMap::new();
    for (process, number) in survey.processes.iter().zip(0..) {
        let given = Given::new(process);
        let group = |at: u32| group_of.get(&(number, at)).copied();
        for launches in stretches(&given, &group) {
            for piece in launches.chunks(MOST).filter(|piece| piece.len() >= LEAST) {
                let made = sequence(&given, piece);
                let key = (made.launches.clone(), made.wanted.clone());
                let place = *places.entry(key).or_insert(found.len());
                match found.get_mut(place) {
                    Some(known) => known.times += 1,
                    None => found.push(made),
                }
            }
        }
    }
    found.sort_by_key(|each| std::cmp::Reverse(each.times * each.launches.len() as u64));
    found.truncate(MOST_SEQUENCES);
    found
}

/// Launches with nothing between them, each with its group: all of a known group with known memory, and no two of the same kernel with
/// the same memory, which begin a round anew.
fn stretches(given: &Given, group: &impl Fn(u32) -> Option<usize>) -> Vec<Vec<(u32, usize)>> {
    let mut found: Vec<Vec<(u32, usize)>> = Vec::new();
    let mut seen: HashSet<(u32, u64)> = HashSet::new();
    let mut last = None;
    for (stream, _, work) in in_order(given.process) {
        let known = work.and_then(|(at, _)| {
            (!given.arguments[at as usize].is_empty()).then_some((at, group(at)?))
        });
        let alike = |(at, _): (u32, usize)| {
            (given.process.kernels[at as usize].shape, given.first[at as usize])
        };
        let is_new = known.is_some_and(|launch| seen.insert(alike(launch)));
        if !is_new || last != Some(stream) {
            seen.clear();
            seen.extend(known.map(alike));
            found.push(Vec::new());
        }
        if let (Some(launch), Some(stretch)) = (known, found.last_mut()) {
            stretch.push(launch);
        }
        last = known.map(|_| stream);
    }
    found
}

/// What some launches were given, their buffers numbered as they come.
fn sequence(given: &Given, launches: &[(u32, usize)]) -> Sequence {
    let mut numbers: HashMap<u64, u32> = HashMap::new();
    let mut made = Sequence { times: 1, ..Sequence::default() };
    let mut ends: Vec<(u64, u32, u32)> = Vec::new();
    for &(at, group) in launches {
        let mut link = Link { group, given: Vec::new() };
        for (argument, buffer) in &given.arguments[at as usize] {
            let number = *numbers.entry(buffer.address).or_insert_with(|| {
                ends.push((buffer.address, at, at));
                ends.len() as u32 - 1
            });
            ends[number as usize].2 = at;
            link.given.push([argument.offset, number]);
        }
        made.launches.push(link);
    }
    let is_wanted = |&(address, first, last): &(u64, u32, u32)| {
        let shape = |at: u32| given.process.kernels[at as usize].shape;
        let next = given.next_user(address, last);
        next.is_some_and(|next| shape(next) != shape(first))
    };
    let wanted = ends.iter().zip(0..).filter(|(each, _)| is_wanted(each));
    made.wanted = wanted.map(|(_, number)| number).collect();
    made
}

#[cfg(test)]
mod tests {
    use super::super::group::groups;
    use super::*;
    use crate::survey::record::Process;
    use crate::survey::samples::{given, shape};

    fn of(launches: &[(u32, &[u64])], change: impl Fn(&mut Process)) -> Vec<Sequence> {
        let shapes = ["square", "add", "root", "sum"].map(|kernel| shape(kernel, 10));
        let mut process = given(&shapes, launches);
        change(&mut process);
        let survey = Survey { processes: vec![process], ..Survey::default() };
        sequences(&survey, &groups(&survey))
    }

    const ROUND: [(u32, &[u64]); 3] = [(0, &[0, 1]), (1, &[1, 2]), (2, &[2, 3])];

    #[test]
    fn rounds_of_the_same_launches_are_one_sequence() {
        let found = of(&[ROUND, ROUND].concat(), |_| {});
        assert_eq!(found.len(), 1);
        let Sequence { launches, times, wanted } = &found[0];
        assert_eq!((*times, wanted.len()), (2, 0));
        let given: Vec<_> = launches.iter().map(|link| link.given.clone()).collect();
        assert_eq!(given, [[[0, 0], [8, 1]], [[0, 1], [8, 2]], [[0, 2], [8, 3]]]);
    }

    #[test]
    fn what_comes_later_and_stores_it_anew_does_not_want_it() {
        let others: [(u32, &[u64]); 4] = [(3, &[1, 9]), (0, &[0, 1]), (1, &[1, 2]), (2, &[2, 3])];
        let ended = |process: &mut Process| {
            let third = process.kernels[3];
            let mut span = third.span;
            span.start -= 1;
            process.fills.push(crate::survey::record::Fill { span, place: third.place, bytes: 4 });
        };
        let found = of(&[ROUND.as_slice(), &others].concat(), ended);
        let wanted = |launches: usize| {
            let mut such = found.iter().filter(|each| each.launches.len() == launches);
            such.next().unwrap().wanted.clone()
        };
        assert_eq!(wanted(3), [1], "the sum takes it");
        assert_eq!(wanted(4), [0_u32; 0]);
    }

    #[test]
    fn what_a_round_does_again_begins_another_one() {
        let twice: [(u32, &[u64]); 5] =
            [(0, &[0, 1]), (1, &[1, 2]), (0, &[0, 1]), (2, &[1, 2]), (1, &[1, 2])];
        let found = of(&twice, |_| {});
        let lengths: Vec<usize> = found.iter().map(|each| each.launches.len()).collect();
        assert_eq!(lengths, [3, 2]);
    }

    #[test]
    fn a_launch_of_unknown_memory_ends_it() {
        let found = of(&ROUND, |process| {
            process.arguments.remove(&2);
        });
        assert_eq!(found, []);
    }
}
