//! Kernels that are launched in turn, A, B, A, B, where no turn needs what another made: each channel, image or group by itself.

use std::collections::HashMap;

use super::super::buffers::Buffers;
use super::super::in_order::Work;
use super::super::record::Kernel;
use super::{Names, Row, stretches};

/// A turn has so many launches at most: longer ones are whole steps of a program, which are rarely merged by hand.
const MOST_LAUNCHES: usize = 8;

/// The row of each launch of such turns, by its place among the process's kernels; `order` is what its streams do. What is
/// copied or filled between two launches ends the turns.
pub(super) fn of_process(
    names: &mut Names,
    order: &[Work],
    buffers: &Buffers,
) -> HashMap<u32, Row> {
    let mut found = HashMap::new();
    for launches in stretches(order) {
        let mut rest = &launches[..];
        while let Some((turn, turns)) = longest(rest) {
            let (these, behind) = rest.split_at(turn * turns);
            if turn > 1 && need_nothing_of_each_other(names, buffers, these, turn) {
                let row = Row { launches: turns as u64, turn: turn as u64, only_read: Vec::new() };
                found.extend(these.iter().map(|(at, _)| (*at, row.clone())));
            }
            rest = behind;
        }
    }
    found
}

/// How many launches make up a turn, and how many such turns there are from the first launch on: of what most launches fit, the
/// shortest. A launch that no other is like is a turn by itself. `None` where nothing is left.
fn longest(launches: &[(u32, &Kernel)]) -> Option<(usize, usize)> {
    let shape = |at: usize| launches.get(at).map(|(_, kernel)| kernel.shape);
    let turns = |turn: usize| {
        let repeated =
            (turn..launches.len()).take_while(|&at| shape(at) == shape(at - turn)).count();
        1 + repeated / turn
    };
    let candidates = (1..=MOST_LAUNCHES.min(launches.len())).map(|turn| (turn, turns(turn)));
    let repeated = candidates.filter(|(turn, turns)| *turn == 1 || *turns > 1);
    // `max_by_key` takes the last of equals; the shortest comes last in reverse.
    repeated.rev().max_by_key(|(turn, turns)| turn * turns)
}

/// What the launches of one turn do with a buffer.
#[derive(Debug, Clone, Copy)]
struct Use {
    /// The turn, counted from 0.
    turn: usize,
    /// The first launch of the turn that is given the buffer.
    launch: u32,
    /// That launch may store to it, and is not given it to read as well.
    begins_with_a_store: bool,
    /// Any may.
    is_stored: bool,
    /// A later launch only reads it.
    is_read_later: bool,
}

/// What all turns do with one.
#[derive(Debug, Clone, Copy)]
struct Uses {
    latest: Use,
    /// More than one turn is given it.
    is_shared: bool,
    is_stored: bool,
    /// Each turn that is given it makes it anew before it reads it.
    is_scratch: bool,
}

impl Use {
    /// What begins with this launch.
    fn new(turn: usize, launch: u32, reads: bool) -> Self {
        Self { turn, launch, begins_with_a_store: !reads, is_stored: !reads, is_read_later: false }
    }
}

impl Uses {
    fn new(latest: Use) -> Self {
        Self { latest, is_shared: false, is_stored: false, is_scratch: true }
    }

    /// Counts the latest turn's use.
    fn close(&mut self) {
        let Use { begins_with_a_store, is_stored, is_read_later, .. } = self.latest;
        self.is_stored |= is_stored;
        self.is_scratch &= begins_with_a_store && is_read_later;
    }

    fn add(&mut self, turn: usize, launch: u32, reads: bool) {
        if self.latest.turn != turn {
            self.close();
            self.is_shared = true;
            self.latest = Use::new(turn, launch, reads);
            return;
        }
        self.latest.is_stored |= !reads;
        if self.latest.launch == launch {
            self.latest.begins_with_a_store &= !reads;
        } else {
            self.latest.is_read_later |= reads;
        }
    }
}

/// True where each turn is given memory of its own to store to, and shares with others only what the kernels' names say they
/// all only read, or what each turn stores first and reads then (scratch). With scratch among it, each turn also has an
/// input of its own: a state that is moved on step by step looks like scratch otherwise.
fn need_nothing_of_each_other(
    names: &mut Names,
    buffers: &Buffers,
    launches: &[(u32, &Kernel)],
    turn: usize,
) -> bool {
    let mut uses: HashMap<u64, Uses> = HashMap::new();
    for (number, (at, kernel)) in launches.iter().enumerate() {
        let given = buffers.arguments_of(kernel).filter(|given| !given.is_empty());
        let Some(given) = given else { return false };
        for (argument, buffer) in given {
            let reads = names.only_reads(kernel, argument.parameter);
            let turn = number / turn;
            uses.entry(buffer.address)
                .and_modify(|uses| uses.add(turn, *at, reads))
                .or_insert_with(|| Uses::new(Use::new(turn, *at, reads)));
        }
    }
    let turns = launches.len() / turn;
    let mut has_scratch = false;
    let (mut stores, mut reads) = (vec![false; turns], vec![false; turns]);
    for uses in uses.values_mut() {
        uses.close();
        if !uses.is_shared {
            let own = if uses.is_stored { &mut stores } else { &mut reads };
            own[uses.latest.turn] = true;
        } else if uses.is_stored {
            if !uses.is_scratch {
                return false;
            }
            has_scratch = true;
        }
    }
    stores.iter().all(|stores| *stores) && (!has_scratch || reads.iter().all(|reads| *reads))
}

#[cfg(test)]
mod tests {
    use super::super::super::in_order::in_order;
    use super::super::super::samples::{given, shape};
    use super::*;

    const UNFOLD: (&str, u32) = ("unfold(float const*, float*)", 17);
    const PRODUCT: (&str, u32) = ("product(float const*, float const*, float*)", 5);

    /// The rows of launches of two kernels, by shape and buffers.
    fn of(kernels: [(&str, u32); 2], launches: &[(u32, &[u64])]) -> HashMap<u32, Row> {
        let process = given(&kernels.map(|(name, grid)| shape(name, grid)), launches);
        of_process(&mut Names::new(&process), &in_order(&process), &Buffers::new(&process))
    }

    fn turns_of_two(launches: u64) -> Row {
        Row { launches, turn: 2, only_read: Vec::new() }
    }

    fn rows(launches: u32, row: &Row) -> HashMap<u32, Row> {
        (0..launches).map(|at| (at, row.clone())).collect()
    }

    #[test]
    fn turns_that_share_scratch_and_weights_need_nothing_of_each_other() {
        // Images 0 and 1 by way of scratch 9 and weights 8 to results 2 and 3.
        let found =
            of([UNFOLD, PRODUCT], &[(0, &[0, 9]), (1, &[9, 8, 2]), (0, &[1, 9]), (1, &[9, 8, 3])]);
        assert_eq!(found, rows(4, &turns_of_two(2)));
    }

    #[test]
    fn what_a_turn_hands_on_to_the_next_keeps_them_apart() {
        let nothing = HashMap::new();
        let chain: &[(u32, &[u64])] =
            &[(0, &[0, 9]), (1, &[9, 8, 2]), (0, &[2, 9]), (1, &[9, 8, 3])];
        assert_eq!(of([UNFOLD, PRODUCT], chain), nothing, "the next one's input");
        let sums: &[(u32, &[u64])] =
            &[(0, &[0, 9]), (1, &[9, 8, 2]), (0, &[1, 9]), (1, &[9, 8, 2])];
        assert_eq!(of([UNFOLD, PRODUCT], sums), nothing, "one result of both");
        let moved = ("move(float*)", 17);
        let drawn = ("draw(float const*, float*)", 5);
        let frames: &[(u32, &[u64])] = &[(0, &[9]), (1, &[9, 2]), (0, &[9]), (1, &[9, 3])];
        assert_eq!(
            of([moved, drawn], frames),
            nothing,
            "a state that moves on, which has no input"
        );
        // The first kernel adds to what it was given before.
        let added = ("add(float*, float const*, float const*)", 17);
        let running: &[(u32, &[u64])] =
            &[(0, &[9, 9, 0]), (1, &[9, 8, 2]), (0, &[9, 9, 1]), (1, &[9, 8, 3])];
        assert_eq!(of([added, PRODUCT], running), nothing, "a running sum");
        let unknown: &[(u32, &[u64])] = &[(0, &[]), (1, &[9, 8, 2]), (0, &[1, 9]), (1, &[9, 8, 3])];
        assert_eq!(of([UNFOLD, PRODUCT], unknown), nothing, "what nobody knows");
    }

    #[test]
    fn what_comes_before_and_behind_the_turns_is_no_part_of_them() {
        let turn = |input: u64, result: u64| [vec![input, 9], vec![9, 8, result]];
        let turns: Vec<Vec<u64>> = (0..3).flat_map(|at| turn(at, 20 + at)).collect();
        let mut launches: Vec<(u32, &[u64])> = vec![(1, &[30, 31, 32]), (1, &[30, 31, 33])];
        launches.extend([0, 1].into_iter().cycle().zip(turns.iter().map(Vec::as_slice)));
        launches.push((0, &[40, 41]));
        let found = of([UNFOLD, PRODUCT], &launches);
        let mut places: Vec<u32> = found.keys().copied().collect();
        places.sort_unstable();
        assert_eq!(places, [2, 3, 4, 5, 6, 7]);
        assert!(found.values().all(|row| *row == turns_of_two(3)));
    }
}
