//! Kernels beside one another on a stream that are given the same memory: what the first stores there the second may load at once,
//! and what both load one kernel could load for both.

use std::collections::HashMap;

use super::Survey;
use super::buffers::Buffer;
use super::given::Given;
use super::group::Group;
use super::in_order::in_order;
use crate::handed_on::{HandedOn, Neighbours, Pointers};
use crate::kernel_name::{demangled, only_reads};

/// What the launches before and behind it hand on, for each of some groups: what most of the group's launches have in common.
#[must_use]
pub fn neighbours(survey: &Survey, groups: &[Group]) -> Vec<Neighbours> {
    let of_processes: Vec<HashMap<u32, Neighbours>> =
        survey.processes.iter().map(|process| Given::new(process).neighbours()).collect();
    let of_group = |group: &Group| {
        let all = || {
            group
                .launches
                .iter()
                .filter_map(|launch| of_processes.get(launch.process as usize)?.get(&launch.index))
        };
        let count = group.launches.len();
        Neighbours {
            before: common(all().filter_map(|one| one.before.as_ref()), count),
            after: common(all().filter_map(|one| one.after.as_ref()), count),
            read: common(all().filter_map(|one| one.read.as_ref()), count),
            ..Neighbours::default()
        }
    };
    groups.iter().map(of_group).collect()
}

/// What more than half of so many launches have alike, but for how much it is: of two, the first may stand behind what only prepares
/// its input. Where kernels that compute element by element are strung together in ever other orders, the other kernel may differ: the
/// one that is met most stands for all.
fn common<'a>(found: impl Iterator<Item = &'a HandedOn>, launches: usize) -> Option<HandedOn> {
    let mut alike: Vec<(usize, &HandedOn)> = Vec::new();
    for each in found {
        let known = alike.iter_mut().find(|(_, known)| known.is_like(each));
        match known {
            Some((count, _)) => *count += 1,
            None => alike.push((1, each)),
        }
    }
    let (_, most) = *alike.iter().max_by_key(|(count, _)| *count)?;
    let of_same_places = alike.iter().filter(|(_, each)| each.has_places_of(most));
    let count: usize = of_same_places.map(|(count, _)| *count).sum();
    (2 * count > launches).then(|| most.clone())
}

/// Memory that two launches are given.
struct Shared {
    /// Where its address stands among the parameters of the first and of the second launch.
    first: u32,
    second: u32,
    buffer: Buffer,
    /// True where the name of the first one's kernel does not say that it only reads it.
    may_be_written: bool,
}

impl Shared {
    fn of_first(&self) -> Pointers {
        Pointers { own: self.first, other: self.second, bytes: self.buffer.bytes }
    }

    fn of_second(&self) -> Pointers {
        Pointers { own: self.second, other: self.first, bytes: self.buffer.bytes }
    }
}

impl Given<'_> {
    /// The neighbours of each launch that has some. Behind a copy or a fill on the stream nothing counts, and behind the last
    /// kernel of a round that comes again not the first of the next one.
    fn neighbours(&self) -> HashMap<u32, Neighbours> {
        let mut found: HashMap<u32, Neighbours> = HashMap::new();
        for pair in in_order(self.process).windows(2) {
            let &[(stream, _, Some((one, _))), (same, _, Some((other, _)))] = pair else {
                continue;
            };
            let of = |at: u32| (self.process.kernels[at as usize].shape, self.first[at as usize]);
            let ((shape, begun), (next_shape, next_begun)) = (of(one), of(other));
            if stream != same || next_begun <= begun {
                continue;
            }
            let shared = self.shared(one, other);
            let second = found.entry(other).or_default();
            second.read = self.handed_on(one, shared.iter().map(Shared::of_second));
            // Steps of one kernel each need the whole of the step before, as a rule.
            if shape == next_shape {
                continue;
            }
            let written = || shared.iter().filter(|it| it.may_be_written);
            second.before = self.handed_on(one, written().map(Shared::of_second));
            let only = written().filter(|it| self.is_wanted_by_none_after(other, it.buffer, one));
            found.entry(one).or_default().after = self.handed_on(other, only.map(Shared::of_first));
        }
        found
    }

    /// What two launches are both given.
    fn shared(&self, first: u32, second: u32) -> Vec<Shared> {
        let (of_first, given) = (&self.arguments[first as usize], &self.arguments[second as usize]);
        let mut shared = Vec::new();
        for (argument, buffer) in of_first {
            let only_read = only_reads(self.kernel(first), argument.parameter as usize);
            let same = given.iter().filter(|(_, other)| other.address == buffer.address);
            shared.extend(same.map(|(other, _)| Shared {
                first: argument.offset,
                second: other.offset,
                buffer: *buffer,
                may_be_written: !only_read,
            }));
        }
        shared
    }

    /// True where no launch behind this one is given a buffer before the one that wrote it comes again.
    fn is_wanted_by_none_after(&self, at: u32, buffer: Buffer, writer: u32) -> bool {
        let users = self.users.get(&buffer.address).map_or(&[][..], Vec::as_slice);
        let behind =
            users.iter().position(|user| *user == at).and_then(|place| users.get(place + 1));
        let shape = |at: u32| self.process.kernels[at as usize].shape;
        behind.is_none_or(|&next| shape(next) == shape(writer))
    }

    /// What a launch shares with another one.
    fn handed_on(&self, other: u32, shared: impl Iterator<Item = Pointers>) -> Option<HandedOn> {
        let mut pointers: Vec<Pointers> = shared.collect();
        pointers.sort_unstable();
        let kernel = demangled(self.kernel(other)).into_owned();
        (!pointers.is_empty()).then_some(HandedOn { kernel, pointers })
    }
}

#[cfg(test)]
mod tests {
    use super::super::group::groups;
    use super::*;
    use crate::survey::record::{Fill, Process};
    use crate::survey::samples::{given, shape};

    const FIRST: &str = "points(float const*, int*, int)";
    const SECOND: &str = "keys(int const*, long*, int)";

    /// Launches of the two kernels, with these buffers of 256 bytes.
    fn made(launches: &[(u32, &[u64])]) -> Process {
        given(&[shape(FIRST, 10), shape(SECOND, 10), shape("other", 10)], launches)
    }

    /// The neighbours of the first two kernels' launches.
    fn of(process: Process) -> [Neighbours; 2] {
        let survey = Survey { processes: vec![process], ..Survey::default() };
        let groups = groups(&survey);
        let found = neighbours(&survey, &groups);
        [FIRST, SECOND].map(|kernel| {
            let at = groups.iter().position(|group| group.shape.kernel == kernel).unwrap();
            found[at].clone()
        })
    }

    fn with(kernel: &str, own: u32, other: u32) -> HandedOn {
        let pointers = vec![Pointers { own, other, bytes: 0x100 }];
        HandedOn { kernel: kernel.to_owned(), pointers }
    }

    #[test]
    fn what_one_stores_and_the_next_alone_is_given_is_handed_on() {
        let [first, second] = of(made(&[(0, &[0, 1]), (1, &[1, 2]), (2, &[3])]));
        let after = Some(with(SECOND, 8, 0));
        assert_eq!(first, Neighbours { after, ..Neighbours::default() });
        let before = Some(with(FIRST, 0, 8));
        assert_eq!(second, Neighbours { read: before.clone(), before, ..Neighbours::default() });
    }

    #[test]
    fn what_a_third_one_needs_must_still_be_stored() {
        let [first, second] = of(made(&[(0, &[0, 1]), (1, &[1, 2]), (2, &[1])]));
        assert_eq!((first.after, second.before), (None, Some(with(FIRST, 0, 8))));
        // In rounds, the first stores it anew.
        let [first, _] = of(made(&[(0, &[0, 1]), (1, &[1, 2]), (0, &[0, 1]), (1, &[1, 2])]));
        assert_eq!(first.after, Some(with(SECOND, 8, 0)));
    }

    #[test]
    fn an_input_of_both_is_not_handed_on() {
        let [first, second] = of(made(&[(0, &[0, 2, 1]), (1, &[0, 3, 1])]));
        assert_eq!(
            (first.after, second.before),
            (Some(with(SECOND, 16, 16)), Some(with(FIRST, 16, 16)))
        );
        let read = second.read.unwrap();
        let places: Vec<u32> = read.pointers.iter().map(|pointers| pointers.own).collect();
        assert_eq!(places, [0, 16], "what it only reads, and what it may have written");
    }

    #[test]
    fn launches_of_one_kernel_share_what_they_read() {
        let [first, _] = of(made(&[(0, &[0, 1]), (0, &[0, 2]), (0, &[0, 3]), (1, &[4, 5])]));
        assert_eq!(first, Neighbours { read: Some(with(FIRST, 0, 0)), ..Neighbours::default() });
        let [again, _] = of(made(&[(0, &[0, 1]), (0, &[0, 1]), (1, &[4, 5])]));
        assert_eq!(again, Neighbours::default(), "the same round again");
    }

    #[test]
    fn of_other_kernels_that_hand_on_the_same_one_stands_for_all() {
        let one = |kernel: &str, own: u32| with(kernel, own, 0);
        let of = |found: &[HandedOn]| common(found.iter(), 4).map(|it| it.kernel);
        let chain = [one("add", 0), one("scale", 0), one("add", 0)];
        assert_eq!(of(&chain).as_deref(), Some("add"));
        assert_eq!(of(&[one("add", 0), one("scale", 8)]), None, "each through another pointer");
        assert_eq!(of(&chain[..2]), None, "half of them");
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_fill_between_them_and_the_next_round_end_it() {
        let mut process = made(&[(0, &[0, 1]), (1, &[1, 2])]);
        let second = process.kernels[1];
        process.fills.push(Fill { span: second.span, place: second.place, bytes: 4 });
        process.fills[0].span.start = second.span.start - 1;
        assert_eq!(of(process), [Neighbours::default(), Neighbours::default()]);
        // The second one's result is what the first takes in the next round.
        let [first, _] = of(made(&[(0, &[2, 1]), (1, &[1, 2]), (0, &[2, 1]), (1, &[1, 2])]));
        assert_eq!(first.before, None);
    }
}
