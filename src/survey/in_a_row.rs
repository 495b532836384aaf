//! Launches of one kernel that follow one another, each with memory of its own: one launch could do the work of all. So could
//! one of each kernel where several are launched in turn.

mod turns;

use std::collections::HashMap;

use super::Survey;
use super::buffers::Buffers;
use super::group::Group;
use super::in_order::in_order;
use super::record::{Kernel, Process};
use crate::kernel_name::only_reads;

/// Launches of one kernel of which none needs what another made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// How many of them follow one another on a stream.
    pub launches: u64,
    /// How many launches make up a turn, one of these included: 1 where nothing is launched between two of them.
    pub turn: u64,
}

impl Row {
    /// A launch that has no other beside it.
    pub const ALONE: Self = Self { launches: 1, turn: 1 };
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
                known.and_then(|known| known.get(&launch.index)).copied().unwrap_or(Row::ALONE)
            })
            .collect();
        rows.sort_unstable();
        rows.get(rows.len() / 2).copied().unwrap_or(Row::ALONE)
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
    let mut found = turns::of_process(process, &order, &buffers);
    let rows = order.chunk_by(|(stream, _, launch), (next_stream, _, next)| {
        stream == next_stream && launch.is_some() && shape(launch) == shape(next)
    });
    for row in rows {
        let row: Vec<(u32, &Kernel)> = row.iter().filter_map(|(.., launch)| *launch).collect();
        if row.len() > 1 && have_memory_of_their_own(process, &buffers, &row) {
            let row_of_one = Row { launches: row.len() as u64, turn: 1 };
            for (at, _) in row {
                found
                    .entry(at)
                    .and_modify(|best| *best = row_of_one.max(*best))
                    .or_insert(row_of_one);
            }
        }
    }
    found
}

/// True where no two of some launches of one kernel were given the same buffer, but for what the kernel's name says that it only
/// reads.
fn have_memory_of_their_own(process: &Process, buffers: &Buffers, row: &[(u32, &Kernel)]) -> bool {
    let shape = row.first().and_then(|(_, kernel)| process.shapes.get(kernel.shape as usize));
    let name = shape.map_or("", |shape| &shape.kernel);
    let mut only_read: HashMap<u32, bool> = HashMap::new();
    // By address the launch that was given it, and whether it only reads there.
    let mut given_to: HashMap<u64, (u32, bool)> = HashMap::new();
    row.iter().all(|(at, kernel)| {
        let given = buffers.arguments_of(kernel).filter(|given| !given.is_empty());
        given.is_some_and(|given| {
            given.iter().all(|(argument, buffer)| {
                let number = argument.parameter;
                let reads =
                    *only_read.entry(number).or_insert_with(|| only_reads(name, number as usize));
                let (owner, so_far) = given_to.entry(buffer.address).or_insert((*at, true));
                *so_far &= reads;
                *owner == *at || *so_far
            })
        })
    })
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
        in_a_row(&survey, &groups)[at].launches
    }

    #[test]
    fn launches_with_memory_of_their_own_are_in_a_row() {
        assert_eq!(of(&[(0, &[0, 1]), (0, &[2, 3]), (0, &[4, 5])]), 3);
        let apart = of(&[(0, &[0, 1]), (1, &[9]), (0, &[2, 3]), (1, &[9]), (0, &[4, 5])]);
        assert_eq!(
            apart, 1,
            "another kernel comes between, and works on the same memory each time"
        );
    }

    #[test]
    fn what_all_of_them_only_read_they_may_share() {
        let of = |name: &str, second: &[u64]| {
            let mut process = made(&[(0, &[0, 1]), (0, second)]);
            process.shapes[0].kernel = name.to_owned();
            of_process(&process).len()
        };
        assert_eq!(of("norm(float const*, float*)", &[0, 2]), 2);
        assert_eq!(of("norm(float*, float*)", &[0, 2]), 0);
        assert_eq!(of("norm(float const*, float*)", &[1, 2]), 0, "what the first one stores");
        assert_eq!(of("norm(float const*, float*)", &[3, 0]), 0, "what the first one reads");
    }

    #[test]
    fn a_copy_on_the_stream_ends_a_row() {
        let mut process = made(&[(0, &[0, 1]), (0, &[2, 3]), (0, &[4, 5])]);
        let rows = |launches: &[u32]| {
            let row = Row { launches: launches.len() as u64, turn: 1 };
            launches.iter().map(|at| (*at, row)).collect::<HashMap<u32, Row>>()
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
