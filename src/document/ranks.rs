//! The ranks of a program side by side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel_name;
use crate::survey::ranks::{self, STRAGGLES};

/// The ranks of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranks {
    /// How many ranks the program says that it has; null where it does not say.
    pub world: Option<u32>,
    /// True where times are those under the profiler, because there was no survey: waits are not known then.
    #[serde(default)]
    pub profiled_times: bool,
    /// Each rank, by number.
    pub ranks: Vec<RankTime>,
    /// What they did, the kind with the most time first.
    pub kernels: Vec<RankedKernel>,
}

/// One rank.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankTime {
    /// Its number.
    pub rank: u32,
    /// The device's name, where known.
    pub device: Option<String>,
    /// The device's UUID, where known.
    #[serde(default)]
    pub device_uuid: Option<String>,
    /// Time from its first work on a device to its last, ns.
    pub active_ns: f64,
    /// Time in kernels that wait for no other rank, ns.
    pub work_ns: f64,
    /// Time in collectives without the wait: what the shortest rank took, ns.
    pub transfer_ns: f64,
    /// Time in collectives beyond that: waiting for other ranks, ns.
    pub waiting_ns: f64,
    /// Launches that were profiled.
    pub profiled: usize,
    /// Why nothing of it was profiled, where that was meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What all ranks did of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankedKernel {
    /// The kernel's name in C++.
    pub kernel: String,
    /// Blocks in x, y and z; zeros for a collective, which may have another number on each rank.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z; zeros for a collective.
    pub block: [u32; 3],
    /// True for a collective, which waits for other ranks and so is not replayed alone.
    pub waits: bool,
    /// Each rank's launches, in the order of `ranks`.
    pub launches: Vec<u64>,
    /// Each rank's time, ns.
    pub total_ns: Vec<f64>,
    /// Each rank's wait for others within that, ns.
    pub waiting_ns: Vec<f64>,
    /// The longest rank's time over the shortest's, of those that launched it; 1 is even. For a collective it tells of
    /// waits alone.
    pub spread: f64,
    /// Ranks that take at least a tenth longer per launch than the median of the others.
    pub stragglers: Vec<u32>,
}

impl Ranks {
    /// What a survey says of its ranks.
    pub(crate) fn new(found: &ranks::Ranks) -> Self {
        let of_rank = |(place, rank): (usize, &ranks::OfRank)| RankTime {
            rank: rank.number,
            device: rank.device.0.clone(),
            device_uuid: rank.device.1.clone(),
            active_ns: rank.active_ns,
            work_ns: found.work_ns(place),
            transfer_ns: found.transfer_ns(place),
            waiting_ns: found.waiting_ns(place),
            profiled: 0,
            problem: None,
        };
        let numbers: Vec<u32> = found.members.iter().map(|rank| rank.number).collect();
        let of_kind = |(kind, shares): &(ranks::Kind, Vec<ranks::Share>)| {
            let mut kernel = RankedKernel {
                kernel: kind.kernel.clone(),
                grid: kind.grid,
                block: kind.block,
                waits: kind.waits,
                launches: shares.iter().map(|share| share.ns.len() as u64).collect(),
                total_ns: shares.iter().map(ranks::Share::total_ns).collect(),
                waiting_ns: shares.iter().map(|share| share.waiting_ns).collect(),
                ..RankedKernel::default()
            };
            kernel.compare(&numbers);
            kernel
        };
        Self {
            world: found.world,
            profiled_times: false,
            ranks: found.members.iter().enumerate().map(of_rank).collect(),
            kernels: found.kinds.iter().map(of_kind).collect(),
        }
    }

    /// Why these ranks do not do the same work, as a part of a sentence; `None` where they do: as many launches of each
    /// kernel in the same grid and blocks, none on average longer than on another rank by what makes a straggler, on
    /// devices of one model.
    pub(crate) fn differ(&self, chosen: &[u32]) -> Option<String> {
        let places: Vec<usize> =
            (0..self.ranks.len()).filter(|&at| chosen.contains(&self.ranks[at].rank)).collect();
        let (&first, rest) = places.split_first()?;
        let rank = |at: usize| self.ranks[at].rank;
        for &at in rest {
            let pair = format!("ranks {} and {}", rank(first), rank(at));
            if self.ranks[at].device.is_none() || self.ranks[at].device != self.ranks[first].device
            {
                return Some(format!("{pair} are not known to have devices of one model"));
            }
            if self.kernels.iter().any(|kernel| kernel.launches[at] != kernel.launches[first]) {
                return Some(format!(
                    "{pair} do not launch the same kernels as often in the same grids and blocks"
                ));
            }
        }
        let uneven = |kernel: &&RankedKernel| {
            let totals = || places.iter().map(|&at| kernel.total_ns[at]);
            let (least, most) =
                (totals().fold(f64::INFINITY, f64::min), totals().fold(0.0, f64::max));
            !kernel.waits && most >= STRAGGLES * least && most > 0.0
        };
        self.kernels.iter().find(uneven).map(|kernel| {
            format!(
                "{} takes a tenth longer or more on one rank than on another",
                kernel_name::short(&kernel.kernel, 60)
            )
        })
    }

    /// Kernels in which a rank straggles, the one with the most time first.
    pub fn straggling(&self) -> impl Iterator<Item = &RankedKernel> {
        self.kernels.iter().filter(|kernel| !kernel.stragglers.is_empty())
    }
}

impl RankedKernel {
    /// Finds the spread and the stragglers.
    pub(crate) fn compare(&mut self, ranks: &[u32]) {
        let mean = |at: usize| self.total_ns[at] / self.launches[at] as f64;
        let launched: Vec<usize> =
            (0..ranks.len()).filter(|&at| self.launches.get(at).is_some_and(|n| *n > 0)).collect();
        let totals = || launched.iter().map(|&at| self.total_ns[at]);
        let (least, most) = (totals().fold(f64::INFINITY, f64::min), totals().fold(0.0, f64::max));
        self.spread = if least > 0.0 && launched.len() > 1 { most / least } else { 1.0 };
        self.stragglers.clear();
        if self.waits {
            return;
        }
        for &at in &launched {
            let mut others: Vec<f64> =
                launched.iter().filter(|&&other| other != at).map(|&other| mean(other)).collect();
            others.sort_by(f64::total_cmp);
            let median = others.get(others.len().saturating_sub(1) / 2);
            if median.is_some_and(|median| *median > 0.0 && mean(at) >= STRAGGLES * median) {
                self.stragglers.push(ranks[at]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(total_ns: &[f64], launches: &[u64]) -> RankedKernel {
        let (total_ns, launches) = (total_ns.to_vec(), launches.to_vec());
        let mut kernel = RankedKernel { launches, total_ns, ..RankedKernel::default() };
        let ranks: Vec<u32> = (0..kernel.launches.len() as u32).map(|rank| rank + 4).collect();
        kernel.compare(&ranks);
        kernel
    }

    #[test]
    fn ranks_that_do_the_same_differ_in_nothing() {
        let rank = |rank| RankTime { rank, device: Some("A".to_owned()), ..RankTime::default() };
        let alike = Ranks {
            ranks: vec![rank(0), rank(1), rank(2)],
            kernels: vec![kernel(&[100.0, 105.0, 150.0], &[2; 3])],
            ..Ranks::default()
        };
        assert_eq!(alike.differ(&[0, 1]), None);
        assert!(alike.differ(&[0, 1, 2]).unwrap().contains("a tenth longer or more"));
        let waits = |mut ranks: Ranks| {
            ranks.kernels[0].waits = true;
            ranks.differ(&[0, 1, 2])
        };
        assert_eq!(waits(alike.clone()), None, "who waits longer does no other work");
        let mut other = alike.clone();
        other.kernels[0].launches[1] = 3;
        assert!(other.differ(&[0, 1]).unwrap().contains("as often"));
        let mut other = alike;
        other.ranks[1].device = Some("B".to_owned());
        assert!(other.differ(&[0, 1]).unwrap().contains("devices of one model"));
    }

    #[test]
    fn a_straggler_is_slower_than_the_others() {
        let one = kernel(&[100.0, 101.0, 130.0, 99.0], &[1; 4]);
        assert_eq!(one.stragglers, [6]);
        assert!((one.spread - 130.0 / 99.0).abs() < 1e-12);
        assert_eq!(kernel(&[100.0, 112.0], &[1; 2]).stragglers, [5], "of two, the slower one");
        assert!(kernel(&[100.0, 105.0], &[1; 2]).stragglers.is_empty());
        // Twice as many launches in twice the time are not slower; those of one rank alone have no other.
        assert!(kernel(&[100.0, 200.0], &[1, 2]).stragglers.is_empty());
        let alone = kernel(&[100.0, 0.0], &[1, 0]);
        assert_eq!((alone.stragglers.len(), alone.spread), (0, 1.0));
    }
}
