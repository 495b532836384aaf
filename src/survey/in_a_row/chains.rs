//! Launches that work on memory of their own in chains, each launch on what the one before it in its chain made, while the chains
//! need nothing of each other: every state, tensor or image by itself, in whatever order they are launched.

use std::collections::{HashMap, HashSet};

use super::super::buffers::Buffers;
use super::super::in_order::Work;
use super::super::record::Kernel;
use super::{Names, Row, stretches};

/// The row of each launch of such chains, by its place among the process's kernels; `order` is what its streams do. What is
/// copied or filled between two launches ends the chains, and so does a launch of which it is not known what it was given.
pub(super) fn of_process(
    names: &mut Names,
    order: &[Work],
    buffers: &Buffers,
) -> HashMap<u32, Row> {
    let mut found = HashMap::new();
    for launches in stretches(order) {
        let given: Vec<Launch> = launches
            .into_iter()
            .map(|(at, kernel)| Launch { at, kernel, given: given(names, buffers, kernel) })
            .collect();
        for known in given.split(|launch| launch.given.is_none()) {
            found.extend(rows(names, known));
        }
    }
    found
}

/// A launch, and what it was given, if that is known.
struct Launch<'a> {
    at: u32,
    kernel: &'a Kernel,
    given: Option<Vec<Given>>,
}

/// A buffer that a launch was given, and whether it may store there.
struct Given {
    address: u64,
    is_stored: bool,
}

fn given(names: &mut Names, buffers: &Buffers, kernel: &Kernel) -> Option<Vec<Given>> {
    let given = buffers.arguments_of(kernel).filter(|given| !given.is_empty())?;
    let each = given.into_iter().map(|(argument, buffer)| Given {
        address: buffer.address,
        is_stored: !names.only_reads(kernel, argument.parameter),
    });
    Some(each.collect())
}

/// The rows of launches in chains: as many launches of a kernel as there are, over those of the chain that has most of them.
fn rows(names: &Names, launches: &[Launch]) -> Vec<(u32, Row)> {
    let chains = Chains::new(launches);
    let turn = launches.len().checked_div(chains.count).unwrap_or(0) as u64;
    let mut of_kernel: HashMap<&str, HashMap<usize, u64>> = HashMap::new();
    for (launch, chain) in launches.iter().zip(&chains.of_launch) {
        *of_kernel.entry(names.of(launch.kernel)).or_default().entry(*chain).or_default() += 1;
    }
    let together = |by_chain: HashMap<usize, u64>| {
        by_chain.values().sum::<u64>() / by_chain.values().max().copied().unwrap_or(1)
    };
    let together: HashMap<&str, u64> =
        of_kernel.into_iter().map(|(name, by_chain)| (name, together(by_chain))).collect();
    let row = |launch: &Launch| {
        let launches = together[names.of(launch.kernel)];
        (launches >= 2).then_some((launch.at, Row { launches, turn, only_read: Vec::new() }))
    };
    launches.iter().filter_map(row).collect()
}

/// Launches, each with the number of its chain.
struct Chains {
    of_launch: Vec<usize>,
    count: usize,
}

impl Chains {
    /// Joins launches that were given the same buffer, unless all of them only read it.
    fn new(launches: &[Launch]) -> Self {
        let all = launches.iter().flat_map(|launch| launch.given.iter().flatten());
        let stored: HashSet<u64> =
            all.filter(|given| given.is_stored).map(|given| given.address).collect();
        let mut parents: Vec<usize> = (0..launches.len()).collect();
        let mut first: HashMap<u64, usize> = HashMap::new();
        for (at, launch) in launches.iter().enumerate() {
            let given = launch.given.iter().flatten();
            for each in given.filter(|each| stored.contains(&each.address)) {
                let with = *first.entry(each.address).or_insert(at);
                let (one, other) = (root(&mut parents, at), root(&mut parents, with));
                parents[one.max(other)] = one.min(other);
            }
        }
        let of_launch: Vec<usize> = (0..parents.len()).map(|at| root(&mut parents, at)).collect();
        let count = of_launch.iter().collect::<HashSet<_>>().len();
        Self { of_launch, count }
    }
}

/// The first launch of a launch's chain; what is passed on the way gets shorter.
fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}

#[cfg(test)]
mod tests {
    use super::super::super::in_order::in_order;
    use super::super::super::samples::{given, shape};
    use super::*;

    /// The rows of launches of `gate`, of `noise`, and of `gate` with another grid, by shape and buffers.
    fn of(launches: &[(u32, &[u64])]) -> HashMap<u32, Row> {
        let shapes =
            [shape("gate(float*)", 10), shape("noise(float*)", 10), shape("gate(float*)", 7)];
        let process = given(&shapes, launches);
        of_process(&mut Names::new(&process), &in_order(&process), &Buffers::new(&process))
    }

    fn launches_of(rows: &HashMap<u32, Row>, at: u32) -> u64 {
        rows.get(&at).map_or(1, |row| row.launches)
    }

    #[test]
    fn states_that_each_move_on_by_themselves_can_move_together() {
        // Three states: the first has two gates and noise, the second three gates, the third two.
        let one_by_one: &[(u32, &[u64])] = &[
            (0, &[0]),
            (1, &[0]),
            (0, &[0]),
            (0, &[1]),
            (0, &[1]),
            (0, &[1]),
            (0, &[2]),
            (0, &[2]),
        ];
        let rows = of(one_by_one);
        // Seven gates, three of which are of one state.
        assert_eq!(rows[&0], Row { launches: 2, turn: 2, only_read: Vec::new() });
        assert_eq!(launches_of(&rows, 1), 1, "one state has noise");
        let mut in_steps = one_by_one.to_vec();
        in_steps.sort_by_key(|(kernel, state)| (*kernel, state[0] % 2));
        assert_eq!(launches_of(&of(&in_steps), 0), 2, "in whatever order");
    }

    #[test]
    fn the_grid_may_differ() {
        let rows = of(&[(0, &[0]), (2, &[1]), (0, &[2]), (2, &[3])]);
        assert!((0..4).all(|at| launches_of(&rows, at) == 4), "{rows:?}");
    }

    #[test]
    fn one_chain_is_none() {
        assert_eq!(of(&[(0, &[0]), (0, &[0]), (0, &[0])]), HashMap::new());
        let handed_on: &[(u32, &[u64])] = &[(0, &[0, 1]), (0, &[1, 2]), (0, &[2, 3])];
        assert_eq!(of(handed_on), HashMap::new());
    }

    #[test]
    fn a_launch_that_may_have_been_given_anything_ends_the_chains() {
        let rows = of(&[(0, &[0]), (0, &[1]), (1, &[]), (0, &[2]), (0, &[3]), (0, &[4])]);
        assert_eq!((launches_of(&rows, 0), launches_of(&rows, 3)), (2, 3));
    }
}
