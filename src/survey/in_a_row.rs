//! Launches of one kernel that follow one another, each with memory of its own: one launch could do the work of all. So could
//! one of each kernel where several are launched in turn, and one of each step where chains of launches are independent.

mod chains;
mod turns;

use std::collections::{BTreeSet, HashMap};

use super::Survey;
use super::buffers::Buffers;
use super::group::Group;
use super::in_order::{Work, in_order};
use super::record::{Kernel, Process};
use crate::kernel_name::only_reads;

/// Launches of one kernel of which none needs what another made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// How many of them follow one another on a stream.
    pub launches: u64,
    /// How many launches make up a turn, one of these included: 1 where nothing is launched between two of them.
    pub turn: u64,
    /// Where the pointers stand, among the bytes of a launch's parameters, that they share: it all holds if nothing is stored through
    /// these, which the names of their types don't tell.
    pub only_read: Vec<u32>,
}

impl Row {
    /// A launch that has no other beside it.
    pub const ALONE: Self = Self { launches: 1, turn: 1, only_read: Vec::new() };

    /// True where it asks for less than another of as many launches: nothing that code must confirm, shorter turns.
    fn is_surer(&self, other: &Self) -> bool {
        (self.only_read.len(), self.turn) < (other.only_read.len(), other.turn)
    }
}

/// The row that launches are in, for each of some groups: of the group's launches, half are among so many or more. Alone where
/// they share memory, so that one may need what another made, and where it is not known what they were given.
#[must_use]
pub fn in_a_row(survey: &Survey, groups: &[Group]) -> Vec<Row> {
    let of_processes: Vec<HashMap<u32, Row>> = survey.processes.iter().map(of_process).collect();
    let of_group = |group: &Group| {
        let mut rows: Vec<Row> = group
            .launches
            .iter()
            .map(|launch| {
                let known = of_processes.get(launch.process as usize);
                known.and_then(|known| known.get(&launch.index)).cloned().unwrap_or(Row::ALONE)
            })
            .collect();
        rows.sort_unstable();
        rows.get(rows.len() / 2).cloned().unwrap_or(Row::ALONE)
    };
    groups.iter().map(of_group).collect()
}

/// The row of each launch of a process that is not alone, by its place among the process's kernels. What is copied or filled on the
/// stream meanwhile ends a row: the next launch may wait for it.
#[must_use]
pub fn of_process(process: &Process) -> HashMap<u32, Row> {
    let order = in_order(process);
    let shape = |launch: &Option<(u32, &Kernel)>| launch.map(|(_, kernel)| kernel.shape);
    let buffers = Buffers::new(process);
    let mut names = Names::new(process);
    let mut found = turns::of_process(&mut names, &order, &buffers);
    for (at, chained) in chains::of_process(&mut names, &order, &buffers) {
        keep_longest(&mut found, at, chained);
    }
    let rows = order.chunk_by(|(stream, _, launch), (next_stream, _, next)| {
        stream == next_stream && launch.is_some() && shape(launch) == shape(next)
    });
    for row in rows {
        let row: Vec<(u32, &Kernel)> = row.iter().filter_map(|(.., launch)| *launch).collect();
        if row.len() < 2 {
            continue;
        }
        let Some(only_read) = shared(&mut names, &buffers, &row) else { continue };
        let of_one_kernel = Row { launches: row.len() as u64, turn: 1, only_read };
        for (at, _) in row {
            keep_longest(&mut found, at, of_one_kernel.clone());
        }
    }
    found
}

/// Notes that a launch is in a row, unless a longer one is known.
fn keep_longest(found: &mut HashMap<u32, Row>, at: u32, row: Row) {
    let best = found.entry(at).or_insert(Row::ALONE);
    if row.launches > best.launches || (row.launches == best.launches && row.is_surer(best)) {
        *best = row;
    }
}

/// The launches that each stream does without a copy or a fill between them.
fn stretches<'o, 'a>(order: &'o [Work<'a>]) -> impl Iterator<Item = Vec<(u32, &'a Kernel)>> + 'o {
    let stretches = order.chunk_by(|(stream, _, launch), (next_stream, _, next)| {
        stream == next_stream && launch.is_some() && next.is_some()
    });
    stretches.map(|stretch| stretch.iter().filter_map(|(.., launch)| *launch).collect())
}

/// What kernels' names say of their parameters, each asked once.
struct Names<'a> {
    process: &'a Process,
    /// By shape and parameter.
    only_read: HashMap<(u32, u32), bool>,
}

impl<'a> Names<'a> {
    fn new(process: &'a Process) -> Self {
        Self { process, only_read: HashMap::new() }
    }

    /// The kernel of a launch.
    fn of(&self, kernel: &Kernel) -> &'a str {
        self.process.shapes.get(kernel.shape as usize).map_or("", |shape| &shape.kernel)
    }

    /// True where a launch's kernel only reads what a parameter points to.
    fn only_reads(&mut self, kernel: &Kernel, parameter: u32) -> bool {
        let name = self.of(kernel);
        let read = self.only_read.entry((kernel.shape, parameter));
        *read.or_insert_with(|| only_reads(name, parameter as usize))
    }
}

/// Where the pointers stand among the bytes of a launch's parameters that several launches of one kernel were given, but for those of
/// which the kernel's name says that it only reads there. `None` where it is not known what they were given.
fn shared(names: &mut Names, buffers: &Buffers, row: &[(u32, &Kernel)]) -> Option<Vec<u32>> {
    // By address the launch that was given it first, and where else it was given.
    let mut given_to: HashMap<u64, (u32, bool, BTreeSet<u32>)> = HashMap::new();
    for (at, kernel) in row {
        for (argument, buffer) in buffers.arguments_of(kernel).filter(|given| !given.is_empty())? {
            let reads = names.only_reads(kernel, argument.parameter);
            let (owner, is_shared, offsets) =
                given_to.entry(buffer.address).or_insert((*at, false, BTreeSet::new()));
            *is_shared |= owner != at;
            if !reads {
                offsets.insert(argument.offset);
            }
        }
    }
    let shared = given_to.into_values().filter(|(_, is_shared, _)| *is_shared);
    let offsets: BTreeSet<u32> = shared.flat_map(|(.., offsets)| offsets).collect();
    Some(offsets.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::super::group::groups;
    use super::*;
    use crate::survey::record::Fill;
    use crate::survey::samples::{given, shape};

    /// Launches with these shapes and buffers.
    fn made(launches: &[(u32, &[u64])]) -> Process {
        given(&[shape("a", 10), shape("b", 10)], launches)
    }

    /// How many launches of `a` are in a row, whose launches have these shapes and buffers.
    fn of(launches: &[(u32, &[u64])]) -> u64 {
        let survey = Survey { processes: vec![made(launches)], ..Survey::default() };
        let groups = groups(&survey);
        let at = groups.iter().position(|group| group.shape.kernel == "a").unwrap();
        let row = &in_a_row(&survey, &groups)[at];
        if row.only_read.is_empty() { row.launches } else { 1 }
    }

    #[test]
    fn launches_with_memory_of_their_own_are_in_a_row() {
        assert_eq!(of(&[(0, &[0, 1]), (0, &[2, 3]), (0, &[4, 5])]), 3);
        let apart = of(&[(0, &[0, 1]), (1, &[9]), (0, &[2, 3]), (1, &[9]), (0, &[4, 5])]);
        assert_eq!(apart, 3, "another kernel that comes between works on other memory");
        let tied = of(&[(0, &[0, 9]), (1, &[9]), (0, &[2, 9]), (1, &[9]), (0, &[4, 9])]);
        assert_eq!(tied, 1, "it works on what all of them are given");
    }

    #[test]
    fn what_all_of_them_only_read_they_may_share() {
        let of = |name: &str, second: &[u64]| {
            let mut process = made(&[(0, &[0, 1]), (0, second)]);
            process.shapes[0].kernel = name.to_owned();
            of_process(&process).values().filter(|row| row.only_read.is_empty()).count()
        };
        assert_eq!(of("norm(float const*, float*)", &[0, 2]), 2);
        assert_eq!(of("norm(float*, float*)", &[0, 2]), 0);
        assert_eq!(of("norm(float const*, float*)", &[1, 2]), 0, "what the first one stores");
        assert_eq!(of("norm(float const*, float*)", &[3, 0]), 0, "what the first one reads");
    }

    #[test]
    fn what_names_do_not_tell_is_left_to_the_code() {
        let process = made(&[(0, &[0, 9, 1]), (0, &[2, 9, 3]), (0, &[4, 9, 5])]);
        let row = Row { launches: 3, turn: 1, only_read: vec![8] };
        assert_eq!(of_process(&process), (0..3).map(|at| (at, row.clone())).collect());
    }

    #[test]
    fn a_copy_on_the_stream_ends_a_row() {
        let mut process = made(&[(0, &[0, 1]), (0, &[2, 3]), (0, &[4, 5])]);
        let rows = |launches: &[u32]| {
            let row = Row { launches: launches.len() as u64, ..Row::ALONE };
            launches.iter().map(|at| (*at, row.clone())).collect::<HashMap<u32, Row>>()
        };
        assert_eq!(of_process(&process), rows(&[0, 1, 2]));
        let second = process.kernels[1];
        process.fills.push(Fill { span: second.span, place: second.place, bytes: 4 });
        process.fills[0].span.start = second.span.start - 1;
        assert_eq!(of_process(&process), rows(&[1, 2]));
    }

    #[test]
    fn launches_that_share_memory_may_need_one_another() {
        assert_eq!(of(&[(0, &[0, 1]), (0, &[1, 0]), (0, &[0, 1])]), 1, "to and fro");
        assert_eq!(of(&[(0, &[0, 1]), (0, &[1, 2]), (0, &[2, 3])]), 1, "a chain");
        assert_eq!(of(&[(0, &[0, 1]), (0, &[0, 2]), (0, &[0, 3])]), 1, "a state that each changes");
        assert_eq!(of(&[(0, &[]), (0, &[]), (0, &[])]), 1, "nobody knows");
    }
}
