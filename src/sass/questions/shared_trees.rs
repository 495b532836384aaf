//! Trees in shared memory: steps in each of which at most half of a block's lanes add another one's value to their own,
//! while all warps go through every step.

use crate::hardware::WARP_LANES;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::slice::addresses_only_of;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::term::Term;

/// One tree, in a loop or unrolled.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedTree {
    /// Its loads and stores.
    pub accesses: Vec<usize>,
    /// What else its steps take: what combines two values, addresses, guards, and the loop.
    pub rest: Vec<usize>,
    /// The barriers between its steps.
    pub barriers: Vec<usize>,
    /// The unit that combines two values.
    pub combines_on: Option<Term>,
    /// How often warps go through the whole of it.
    pub passes: f64,
    /// Its steps.
    pub steps: f64,
}

/// The trees of a launch, one at most for each innermost loop and for the code outside of loops.
#[must_use]
pub fn shared_trees(listing: &Listing) -> Vec<SharedTree> {
    let meetings = Meetings::of(listing);
    let half = |at: usize| meetings.is_of_half(listing, at);
    by_place(listing, half)
        .into_iter()
        .filter_map(|(place, accesses)| tree(listing, place, accesses, &meetings))
        .collect()
}

/// True where each step in a loop also hands results of its own to global memory, as a wavelet's does: no sum is all that
/// becomes of them, so that there is nothing to reduce. A whole tree within a turn may well hand its sum out.
#[must_use]
pub fn steps_hand_out_results(listing: &Listing) -> bool {
    let sass = listing.sass;
    let of_loop = |of: usize, pick: &dyn Fn(usize) -> bool| -> Vec<usize> {
        let is_of = |at: &usize| {
            sass.flow.innermost(*at) == Some(of) && listing.executed(*at) > 0.0 && pick(*at)
        };
        (0..sass.entries.len()).filter(is_of).collect()
    };
    let is_store = |at: usize| sass.entries[at].family == Family::Store(Space::Global);
    let is_barrier = |at: usize| listing.is_block_barrier(at);
    let meetings = Meetings::of(listing);
    by_place(listing, |at| meetings.is_of_half(listing, at)).into_iter().any(|(place, accesses)| {
        let is_of = |at: &&usize, family: Family| sass.entries[**at].family == family;
        let shared = Space::Shared;
        let written: Vec<usize> =
            accesses.iter().filter(|at| is_of(at, Family::Store(shared))).copied().collect();
        let reads = accesses.iter().any(|at| is_of(&at, Family::Load(shared)));
        reads
            && !written.is_empty()
            && place.is_some_and(|of| {
                let handed_out = of_loop(of, &is_store).len() as f64;
                handed_out >= between_barriers(&written, &of_loop(of, &is_barrier))
            })
    })
}

/// How often warps meet at a barrier, at most: of each loop, and outside of loops.
struct Meetings {
    in_loops: Vec<f64>,
    outside: f64,
}

impl Meetings {
    fn of(listing: &Listing) -> Self {
        let flow = &listing.sass.flow;
        let mut met = Self { in_loops: vec![0.0; flow.loops.len()], outside: 0.0 };
        for (at, _) in listing.entries().filter(|(at, _)| listing.is_block_barrier(*at)) {
            let here = match flow.innermost(at) {
                Some(around) => &mut met.in_loops[around],
                None => &mut met.outside,
            };
            *here = here.max(listing.executed(at));
        }
        met
    }

    fn at(&self, place: Option<usize>) -> f64 {
        place.map_or(self.outside, |around| self.in_loops[around])
    }

    /// True where at most half of the lanes take part in an instruction: of the warps that execute it, or of those that
    /// meet at the barriers around it, since others may branch around what is not theirs.
    fn is_of_half(&self, listing: &Listing, at: usize) -> bool {
        let executed = listing.executed(at);
        let on = listing.row(at).counters.thread_inst_executed_pred_on;
        let come = executed.max(self.at(listing.sass.flow.innermost(at)));
        executed > 0.0 && on > 0.0 && 2.0 * on <= WARP_LANES * come
    }
}

/// The accesses to shared memory of at most half of the lanes, by the innermost loop around them.
fn by_place(listing: &Listing, half: impl Fn(usize) -> bool) -> Vec<(Option<usize>, Vec<usize>)> {
    let sass = listing.sass;
    let is_shared = |at: usize| {
        let family = sass.entries[at].family;
        matches!(family, Family::Load(Space::Shared) | Family::Store(Space::Shared))
    };
    let mut places: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
    for at in (0..sass.entries.len()).filter(|&at| is_shared(at) && half(at)) {
        let place = sass.flow.innermost(at);
        match places.iter_mut().find(|(known, _)| *known == place) {
            Some((_, accesses)) => accesses.push(at),
            None => places.push((place, vec![at])),
        }
    }
    places
}

fn tree(
    listing: &Listing,
    place: Option<usize>,
    accesses: Vec<usize>,
    meetings: &Meetings,
) -> Option<SharedTree> {
    let half = |at: usize| meetings.is_of_half(listing, at);
    let sass = listing.sass;
    let count = sass.entries.len();
    let is_store = |at: &usize| sass.entries[*at].family == Family::Store(Space::Shared);
    let stores: Vec<usize> = accesses.iter().copied().filter(is_store).collect();
    // A step reads what the step before left.
    if stores.is_empty() || stores.len() == accesses.len() {
        return None;
    }
    let picked = Marks::of(count, |at| accesses.contains(&at));
    let own_loop = place.map(|place| &sass.flow.loops[place]).filter(|_| {
        let others = (0..count).filter(|&at| sass.flow.innermost(at) == place && !picked[at]);
        let moves = |at: usize| {
            let family = sass.entries[at].family;
            family.is_memory() && !matches!(family, Family::Fence | Family::Barrier)
        };
        !others.filter(|&at| listing.executed(at) > 0.0).any(moves)
    });
    let (first, last) = (*accesses.first()?, *accesses.last()?);
    let is_theirs = |at: usize| match own_loop {
        Some(_) => sass.flow.innermost(at) == place,
        None => (first..=last).contains(&at) && sass.flow.innermost(at) == place,
    };
    let theirs = || (0..count).filter(|&at| is_theirs(at) && !picked[at]);
    let is_barrier = |at: &usize| sass.entries[*at].family == Family::Barrier;
    let barriers: Vec<usize> = theirs().filter(is_barrier).collect();
    let is_arithmetic = |at: usize| {
        !sass.entries[at].family.is_memory() && sass.entries[at].family != Family::Control
    };
    let rest: Vec<usize> = if own_loop.is_some() {
        theirs().filter(|at| !is_barrier(at)).collect()
    } else {
        let addresses = addresses_only_of(listing, &picked);
        let goes = |at: usize| addresses[at] || is_theirs(at) && is_arithmetic(at) && half(at);
        (0..count).filter(|&at| !picked[at] && !is_barrier(&at) && goes(at)).collect()
    };
    let executed = |of: &[usize]| of.iter().map(|&at| listing.executed(at)).fold(0.0, f64::max);
    let passes = match own_loop {
        Some(of) => listing.executed(of.head) / crate::sass::flow::turns::turns(listing, of),
        None => executed(&stores).max(executed(&barriers)),
    };
    let combines = rest.iter().filter(|&&at| is_arithmetic(at) && half(at));
    let combines_on = combines.filter_map(|&at| sass.entries[at].term).next_back();
    // A step may leave several values, such as a maximum and where it stands; between two steps is one barrier.
    let sum = |of: &[usize]| of.iter().map(|&at| listing.executed(at)).sum::<f64>();
    let steps = match own_loop {
        _ if passes <= 0.0 => 0.0,
        Some(_) if !barriers.is_empty() => sum(&barriers) / passes,
        None if !barriers.is_empty() => between_barriers(&stores, &barriers),
        _ => sum(&stores) / passes,
    };
    // One step is a hand-over.
    (steps > 1.0).then_some(SharedTree { accesses, rest, barriers, combines_on, passes, steps })
}

/// The pieces of the code between barriers in which something is stored; all ascending.
fn between_barriers(stores: &[usize], barriers: &[usize]) -> f64 {
    let mut pieces: Vec<usize> =
        stores.iter().map(|store| barriers.partition_point(|barrier| barrier < store)).collect();
    pieces.dedup();
    pieces.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::sass::code::listing::tests::launch;

    fn of(code: &[(&str, f64, f64)]) -> Vec<SharedTree> {
        shared_trees(&counted(code).listing().unwrap())
    }

    /// Instructions with their executions and the lanes of each that are on.
    fn counted(code: &[(&str, f64, f64)]) -> Launch {
        let texts: Vec<(&str, f64)> =
            code.iter().map(|(text, executed, _)| (*text, *executed)).collect();
        let mut launch = launch(&texts);
        for (row, (_, executed, lanes)) in launch.instructions.iter_mut().zip(code) {
            row.counters.thread_inst_executed_pred_on = executed * lanes;
        }
        launch
    }

    #[test]
    fn an_unrolled_tree_has_a_step_for_each_store() {
        let code = [
            ("STS [R8], R7", 8.0, 32.0),
            ("BAR.SYNC 0x0", 8.0, 32.0),
            ("@!P0 LDS R0, [R8]", 8.0, 16.0),
            ("@!P0 LDS R3, [R8+0x80]", 8.0, 16.0),
            ("@!P0 FADD R3, R0, R3", 8.0, 16.0),
            ("@!P0 STS [R8], R3", 8.0, 16.0),
            ("BAR.SYNC 0x0", 8.0, 32.0),
            ("@!P1 LDS R0, [R8]", 8.0, 8.0),
            ("@!P1 LDS R3, [R8+0x40]", 8.0, 8.0),
            ("@!P1 FADD R3, R0, R3", 8.0, 8.0),
            ("@!P1 STS [R8], R3", 8.0, 8.0),
            ("EXIT", 8.0, 32.0),
        ];
        let found = of(&code);
        assert_eq!(found.len(), 1);
        let tree = &found[0];
        assert_eq!(tree.accesses, [2, 3, 5, 7, 8, 10], "what fills it stays");
        assert_eq!((tree.rest.clone(), tree.barriers.clone()), (vec![4, 9], vec![6]));
        assert!((tree.passes - 8.0).abs() < 1e-12 && (tree.steps - 2.0).abs() < 1e-12);
        assert_eq!(tree.combines_on, Some(Term::Fma));
        let mut more = code;
        for each in &mut more[2..6] {
            each.2 = 17.0;
        }
        assert!(of(&more).is_empty(), "one step is no tree");
    }

    #[test]
    fn a_loop_is_gone_through_by_every_warp() {
        let found = of(&[
            ("STS [R8], R7", 8.0, 32.0),
            ("BAR.SYNC 0x0", 24.0, 32.0),
            ("@!P0 LDS R0, [R8]", 24.0, 9.0),
            ("@!P0 LDS R3, [R9]", 24.0, 9.0),
            ("@!P0 FADD R3, R0, R3", 24.0, 9.0),
            ("@!P0 STS [R8], R3", 24.0, 9.0),
            ("@P1 BRA 0x110", 24.0, 32.0),
            ("EXIT", 8.0, 32.0),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].rest.clone(), found[0].barriers.clone()), (vec![4, 6], vec![1]));
        assert!((found[0].passes - 8.0).abs() < 1e-12 && (found[0].steps - 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_wavelets_steps_hand_out_results_and_a_sums_do_not() {
        let steps = |between: &'static str| {
            let code = [
                ("@!P0 LDS R0, [R8]", 24.0, 9.0),
                ("@!P0 LDS R3, [R8+0x4]", 24.0, 9.0),
                ("BAR.SYNC 0x0", 24.0, 32.0),
                ("@!P0 STS [R9], R3", 24.0, 9.0),
                (between, 24.0, 9.0),
                ("@P1 BRA 0x100", 24.0, 32.0),
                ("EXIT", 8.0, 32.0),
            ];
            steps_hand_out_results(&counted(&code).listing().unwrap())
        };
        assert!(steps("@!P0 STG.E desc[UR4][R4.64], R0"));
        assert!(!steps("@!P0 FADD R3, R0, R3"));
    }
}
