//! The ranks of a program: how long each works, and how long it waits for the others.
//!
//! A collective kernel (NCCL's and its like) begins when its own rank comes and ends when all have. The rank that comes
//! last does not wait, so the shortest of a collective's launches is what the transfer itself takes, and what others
//! take longer is their wait.

use std::collections::{BTreeMap, BTreeSet};

use super::Survey;
use super::record::Process;
use super::waits::is_collective;
use crate::kernel_name;

/// A rank that takes so many times the median of the others is a straggler. Chosen, not measured: a tenth is more than
/// clocks make of the same work on devices of one model, and less than what makes a whole program wait.
pub(crate) const STRAGGLES: f64 = 1.1;

/// What all ranks did of one kind: the same kernel in the same grid and blocks; of a collective, the kernel alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// The kernel's name in C++.
    pub kernel: String,
    /// Blocks in x, y and z; zeros for a collective, which may take another number of blocks on each rank.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z; zeros for a collective.
    pub block: [u32; 3],
    /// True where it waits for other ranks.
    pub waits: bool,
}

/// What one rank did of one kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Share {
    /// Launches' durations in their order, ns.
    pub ns: Vec<f64>,
    /// How much of them was waiting for other ranks, ns.
    pub waiting_ns: f64,
}

impl Share {
    /// All launches together, ns.
    pub(crate) fn total_ns(&self) -> f64 {
        self.ns.iter().sum()
    }
}

/// A rank.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OfRank {
    /// Its number.
    pub number: u32,
    /// Its number on its machine.
    pub local: Option<u32>,
    /// The device on which it ran most kernels: its name and UUID.
    pub device: (Option<String>, Option<String>),
    /// Time from its first work on a device to its last, ns.
    pub active_ns: f64,
}

/// All ranks of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ranks {
    /// How many the program says that there are.
    pub world: Option<u32>,
    /// Those that were recorded, by number.
    pub members: Vec<OfRank>,
    /// What they did: for each kind, the share of each rank in the order of `members`.
    pub kinds: Vec<(Kind, Vec<Share>)>,
    /// Collectives that ranks launched in different numbers, whose waits are therefore not known.
    pub unmatched: Vec<String>,
}

impl Ranks {
    /// The ranks of a survey; `None` where it has fewer than two.
    pub(crate) fn of(survey: &Survey) -> Option<Self> {
        let numbers: BTreeSet<u32> = survey.processes.iter().filter_map(number).collect();
        if numbers.len() < 2 {
            return None;
        }
        let of_rank = |wanted: u32| {
            survey.processes.iter().filter(move |process| number(process) == Some(wanted))
        };
        let mut kinds: BTreeMap<Kind, Vec<Share>> = BTreeMap::new();
        for (place, &rank) in numbers.iter().enumerate() {
            for process in of_rank(rank) {
                let of_shapes: Vec<Kind> = process.shapes.iter().map(kind).collect();
                for kernel in &process.kernels {
                    let Some(kind) = of_shapes.get(kernel.shape as usize) else { continue };
                    let nothing = || vec![Share::default(); numbers.len()];
                    let shares = kinds.entry(kind.clone()).or_insert_with(nothing);
                    shares[place].ns.push(kernel.span.ns());
                }
            }
        }
        let mut unmatched = Vec::new();
        for (kind, shares) in kinds.iter_mut().filter(|(kind, _)| kind.waits) {
            if !tell_waits(shares) {
                unmatched.push(kind.kernel.clone());
            }
        }
        let mut kinds: Vec<(Kind, Vec<Share>)> = kinds.into_iter().collect();
        let total = |shares: &[Share]| shares.iter().map(Share::total_ns).sum::<f64>();
        kinds.sort_by(|a, b| total(&b.1).total_cmp(&total(&a.1)));
        let world = survey.processes.iter().filter_map(|process| process.rank?.world).max();
        let members = numbers.iter().map(|&rank| OfRank::new(rank, &of_rank(rank))).collect();
        Some(Self { world, members, kinds, unmatched })
    }

    /// A rank's time in kernels that wait for none, ns.
    pub(crate) fn work_ns(&self, place: usize) -> f64 {
        self.sum(place, false, Share::total_ns)
    }

    /// A rank's time in collectives without the wait, ns.
    pub(crate) fn transfer_ns(&self, place: usize) -> f64 {
        self.sum(place, true, |share| share.total_ns() - share.waiting_ns)
    }

    /// A rank's wait for others, ns.
    pub(crate) fn waiting_ns(&self, place: usize) -> f64 {
        self.sum(place, true, |share| share.waiting_ns)
    }

    fn sum(&self, place: usize, waits: bool, of: impl Fn(&Share) -> f64) -> f64 {
        let kinds = self.kinds.iter().filter(|(kind, _)| kind.waits == waits);
        kinds.filter_map(|(_, shares)| shares.get(place)).map(of).sum()
    }
}

impl OfRank {
    fn new<'a>(number: u32, processes: &(impl Iterator<Item = &'a Process> + Clone)) -> Self {
        let (mut active_ns, mut launches) = (0.0, BTreeMap::<u32, usize>::new());
        for process in processes.clone() {
            let first = process.device_spans().map(|span| span.start).min();
            let last = process.device_spans().map(|span| span.end).max();
            let ns = last.zip(first).map_or(0.0, |(last, first)| last.saturating_sub(first) as f64);
            active_ns = ns.max(active_ns);
            for kernel in &process.kernels {
                *launches.entry(kernel.place.device).or_default() += 1;
            }
        }
        let most = launches.into_iter().max_by_key(|(_, count)| *count).map_or(0, |(at, _)| at);
        let device = processes.clone().find_map(|process| process.devices.get(&most));
        let name = device.map(|device| device.name.clone());
        let uuid = device.and_then(|device| device.uuid.clone());
        let local = processes.clone().find_map(|process| process.rank?.local);
        Self { number, local, device: (name, uuid), active_ns }
    }
}

fn number(process: &Process) -> Option<u32> {
    // A launcher that looks at the devices launches nothing.
    process.rank.filter(|_| !process.kernels.is_empty()).map(|rank| rank.number)
}

fn kind(shape: &super::record::Shape) -> Kind {
    let waits = is_collective(&shape.kernel);
    let kernel = kernel_name::demangled(&shape.kernel).into_owned();
    let (grid, block) = if waits { ([0; 3], [0; 3]) } else { (shape.grid, shape.block) };
    Kind { kernel, grid, block, waits }
}

/// Tells each rank's wait from the shortest of each collective; false where the ranks that launched it did so in
/// different numbers, so that nobody can say which launches belong together.
fn tell_waits(shares: &mut [Share]) -> bool {
    let mut counts = shares.iter().map(|share| share.ns.len()).filter(|&count| count > 0);
    let Some(count) = counts.next() else { return true };
    if counts.any(|other| other != count) {
        return false;
    }
    for at in 0..count {
        let of_launch = || shares.iter().filter_map(|share| share.ns.get(at).copied());
        let shortest = of_launch().fold(f64::INFINITY, f64::min);
        for share in shares.iter_mut() {
            share.waiting_ns += share.ns.get(at).map_or(0.0, |ns| ns - shortest);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::Rank;
    use crate::survey::samples::{process, shape};

    const REDUCE: &str = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

    /// Ranks that launch `work` and then the collective in turn, with these durations.
    fn survey(ranks: &[&[(u64, u64)]]) -> Survey {
        let of_rank = |(number, steps): (usize, &&[(u64, u64)])| {
            let launches: Vec<(u32, u64)> =
                steps.iter().flat_map(|&(work, reduce)| [(0, work), (1, reduce)]).collect();
            let mut process = process(&[shape("work", 8), shape(REDUCE, 1)], &launches);
            let number = number as u32;
            process.rank = Some(Rank { number, local: None, world: Some(ranks.len() as u32) });
            process
        };
        let processes = ranks.iter().enumerate().map(of_rank).collect();
        Survey { processes, ..Survey::default() }
    }

    #[test]
    fn the_shortest_of_a_collective_is_its_work() {
        // The second rank works for longer, first by 50, then not at all; the transfer takes 10 and 12.
        let found =
            Ranks::of(&survey(&[&[(100, 60), (100, 12)], &[(150, 10), (100, 12)]])).unwrap();
        assert_eq!((found.world, found.members.len()), (Some(2), 2));
        assert_eq!((found.work_ns(0), found.work_ns(1)), (200.0, 250.0));
        assert_eq!((found.transfer_ns(0), found.transfer_ns(1)), (22.0, 22.0));
        assert_eq!((found.waiting_ns(0), found.waiting_ns(1)), (50.0, 0.0));
        assert!((found.members[0].active_ns - 272.0).abs() < 1e-9);
        assert_eq!(found.kinds[0].0.kernel, "work", "the most time first");
    }

    #[test]
    fn collectives_in_different_numbers_are_not_matched() {
        let found = Ranks::of(&survey(&[&[(100, 60), (100, 12)], &[(150, 10)]])).unwrap();
        assert_eq!(found.unmatched, [REDUCE]);
        assert_eq!((found.waiting_ns(0), found.transfer_ns(0)), (0.0, 72.0));
        // One that only some launch is theirs alone.
        let mut only_two = survey(&[&[(100, 60)], &[(150, 10)], &[(1, 1)]]);
        only_two.processes[2].kernels.truncate(1);
        let found = Ranks::of(&only_two).unwrap();
        assert!(found.unmatched.is_empty());
        assert!((found.waiting_ns(0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn one_rank_is_none() {
        assert_eq!(Ranks::of(&survey(&[&[(1, 1)]])), None);
        let mut nameless = survey(&[&[(1, 1)], &[(1, 1)]]);
        nameless.processes[1].rank = None;
        assert_eq!(Ranks::of(&nameless), None);
    }
}
