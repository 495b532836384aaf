//! How long each resource is busy during a launch, and what would be left without a fault.
//!
//! For every unit r, busy share b_r = U_r, the unit's own utilization (percent of its sustained peak
//! over elapsed time) over the share of the peak that a kernel can reach. Everything is a share of
//! the duration T, so a profile without a duration has a model too. What no unit covers is
//! u = 1 − max b_r; it has two parts: SMs without a block (the grid, its tail, imbalance), which is
//! 1 − a with a the active share of the SMs' cycles, and latency, the rest.
//!
//! Taking a fault away shrinks the terms it inflates and the part of u that it causes. The new time is
//! the new largest term plus what is left of u, and no more than warps would need one after another with
//! all their other waits; the likely one is the geometric middle of the two. At best all latency goes;
//! at least the terms shrink, latency stays, and the gain falls short by the error that such estimates
//! are known to have. Faults hidden behind another limit thus get the gain that they really have now.
//! Terms are averages over all SMs, so they do not change when the same work spreads over more of them;
//! SMs without a block idle for their share of however long that takes.
//!
//! Nothing gets shorter than an empty kernel, unless the launch itself goes. `docs/model.md` has the
//! formulas, a worked example and the known misses.

mod atomics;
pub mod ceiling;
pub mod counts;
mod effect;
mod full;
mod idle;
mod left;
mod merged;
mod reads;
mod residency;
mod tail;
pub mod thresholds;
mod without;

use crate::device::{DeviceFacts, Quantity};
use crate::finding::{Bound, Estimate};
use crate::frame::Launch;
use crate::metric::stall::StallReason;
use crate::sass::questions::waits_for_few::waits_for_few;
use crate::term::Term;

pub use atomics::QUEUES;
pub use effect::Effect;
pub use left::{Limit, NextLimit};
pub use reads::{NVLINK_BYTES, has_nvlink, reads};
pub use residency::{OCCUPANCY_LIMITS, blocks_per_sm};

use idle::{idle_share, last_wave, without_block};
use left::Left;
use thresholds::TENSOR_FULL;

/// The time model of one launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Duration under the profiler, ns, where the profile has it.
    pub time_ns: Option<f64>,
    /// Duration under the profiler of a launch that does nothing, ns; `None` where the device's is not
    /// known.
    empty_kernel_ns: Option<f64>,
    /// What a launch that stands alone takes longer between two events than under the profiler, ns; 0
    /// where the device's is not known. In a sequence of launches the start of each hides behind the one
    /// before.
    lone_launch_ns: f64,
    /// For how long the device has nothing to do before such a launch, because it comes late, ns.
    pause_ns: f64,
    /// Busy share of each term at its achievable rate, 0 to 1; `None` where no counter was collected.
    busy: [Option<f64>; Term::COUNT],
    /// True where L2's slices do their atomics one after another.
    atomics_in_turn: bool,
    /// Share of the SMs' cycles without a resident warp, 0 to 1; 0 where it was not collected.
    idle: f64,
    /// The part of it that a last wave of equal blocks does not explain.
    uneven: f64,
    /// The share of the SMs that get no block, 0 to 1.
    without_block: f64,
    /// Stall cycles per issued instruction by reason, without `selected` and `not_selected`.
    stall_cycles: [f64; StallReason::COUNT],
    /// The share of the waits at barriers that is for code which few warps run, 0 to 1.
    for_few: f64,
    /// Cycles between two instructions of a warp, all of them; `None` where it was not collected.
    warp_latency: Option<f64>,
}

impl Model {
    /// The model of a launch. Terms whose counters were not collected are unknown.
    #[must_use]
    pub fn new(launch: &Launch) -> Self {
        let facts = launch.device_facts();
        let dram_share = dram_share(launch, &facts);
        let idle = idle_share(launch);
        let mut busy = Term::ALL.map(|term| {
            let percent = term
                .counters()
                .iter()
                .filter_map(|name| launch.get(name))
                .reduce(f64::max)
                .or_else(|| {
                    let name = term.stand_in()?;
                    // Percent over active cycles: idle SMs' cycles do not count in it.
                    let basis = if name.ends_with("_active") { 1.0 - idle } else { 1.0 };
                    Some(launch.get(name)? * basis)
                });
            let percent = percent.or_else(|| Some(100.0 * counts::utilization(launch, term)?))?;
            let reachable = match term {
                Term::Dram => dram_share,
                Term::Fma => facts.get(Quantity::FmaShare).unwrap_or(1.0),
                Term::Tensor => tensor_share(percent / 100.0),
                Term::Atomic => atomics::share(launch, &facts),
                _ => 1.0,
            };
            // Rounded counters of different passes can exceed the peak by a little.
            let share = percent / 100.0 / reachable;
            share.is_finite().then(|| share.clamp(0.0, 1.0))
        });
        let in_turn = atomics::in_turn(launch, &facts, &busy);
        busy[Term::Atomic as usize] = in_turn.or(busy[Term::Atomic as usize]);
        let mut stall_cycles = [0.0; StallReason::COUNT];
        for reason in StallReason::all() {
            if !matches!(reason, StallReason::Selected | StallReason::NotSelected) {
                stall_cycles[reason as usize] = launch.stall(reason).unwrap_or(0.0).max(0.0);
            }
        }
        let warp_latency = launch
            .get("smsp__average_warp_latency_per_inst_issued.ratio")
            // Of another pass than its parts, it can fall short of their sum by a little.
            .map(|cycles| cycles.max(stall_cycles.iter().sum()));
        let for_few = launch.listing().map_or(0.0, |listing| waits_for_few(&listing));
        Self {
            time_ns: launch.duration_ns(),
            // What was counted together was not launched at once.
            empty_kernel_ns: facts
                .get(Quantity::EmptyKernel)
                .filter(|_| !launch.row.is_of_several_kernels()),
            lone_launch_ns: lone_launch_ns(&facts),
            pause_ns: launch.neighbours.pause_ns as f64,
            busy,
            atomics_in_turn: in_turn.is_some(),
            idle,
            uneven: (idle - last_wave(launch)).max(0.0),
            without_block: without_block(launch),
            stall_cycles,
            for_few,
            warp_latency,
        }
    }

    /// Share of the time that a term is busy at its achievable rate, 0 to 1.
    #[must_use]
    pub fn utilization(&self, term: Term) -> Option<f64> {
        self.busy[term as usize]
    }

    /// Busy time of a term, ns; `None` without its counter or without a duration.
    #[must_use]
    pub fn busy_ns(&self, term: Term) -> Option<f64> {
        Some(self.utilization(term)? * self.time_ns?)
    }

    /// The known terms with their busy shares (0 to 1), busiest first.
    #[must_use]
    pub fn by_share(&self) -> Vec<(Term, f64)> {
        let mut terms: Vec<(Term, f64)> =
            Term::ALL.iter().filter_map(|&term| Some((term, self.utilization(term)?))).collect();
        terms.sort_by(|a, b| b.1.total_cmp(&a.1));
        terms
    }

    /// The busiest term and its share of the time.
    #[must_use]
    pub fn busiest(&self) -> Option<(Term, f64)> {
        self.by_share().into_iter().next()
    }

    /// The busiest of the terms that are a kernel's own work, which starting blocks is not.
    #[must_use]
    pub fn busiest_at_work(&self) -> Option<(Term, f64)> {
        self.by_share().into_iter().find(|(term, _)| *term != Term::BlockScheduler)
    }

    /// Share of an average SM's time that no unit covers; 0 where nothing is known of the units.
    #[must_use]
    pub fn uncovered(&self) -> f64 {
        let of_sms = |term: &Term| Some(self.utilization(*term)? * self.per_sm(*term, self.idle));
        let busiest = Term::ALL.iter().filter_map(of_sms).reduce(f64::max);
        busiest.map_or(0.0, |busy| 1.0 - busy)
    }

    /// The part of the uncovered share in which warps are resident and wait.
    #[must_use]
    pub fn latency(&self) -> f64 {
        self.uncovered() - self.idle()
    }

    /// The share of the waits at barriers that is for code which at most half of the warps run, 0 to 1.
    #[must_use]
    pub fn barriers_for_few(&self) -> f64 {
        self.for_few
    }

    /// The share of the duration that an empty launch would take too; 0 without a duration, or
    /// where nothing is known of the device's empty launch.
    #[must_use]
    pub fn launch_share(&self) -> f64 {
        let share = self.empty_kernel_ns.zip(self.time_ns).map(|(empty, ns)| empty / ns);
        share.map_or(0.0, |share| share.min(1.0))
    }

    /// The share of all stall cycles that given stalls make up, 0 to 1; `selected` and
    /// `not_selected` are no stalls.
    #[must_use]
    pub fn stall_share(&self, stalls: &[(StallReason, f64)]) -> f64 {
        let total: f64 = self.stall_cycles.iter().sum();
        if total <= 0.0 {
            return 0.0;
        }
        let part: f64 =
            stalls.iter().map(|&(reason, share)| share * self.stall_cycles[reason as usize]).sum();
        (part / total).clamp(0.0, 1.0)
    }

    /// What limits the launch once a fault is away; `None` where no term is known.
    #[must_use]
    pub fn next_limit(&self, effect: &Effect) -> Option<NextLimit> {
        let left = self.left(effect)?;
        let waiting = left.likely();
        let (term, busy) = left.longest;
        let time = left.time(waiting).min(1.0 - effect.phase.clamp(0.0, 1.0));
        let time = time.max(self.launch_share()).max(effect.least);
        let time = time.max(f64::MIN_POSITIVE);
        let idle = (time - busy - waiting).max(0.0);
        let (limit, share) = if busy >= idle.max(waiting) {
            (Limit::Unit(term), busy)
        } else if idle > waiting {
            (Limit::IdleSms, idle)
        } else {
            (Limit::Latency, waiting)
        };
        Some(NextLimit { time, limit, share: share / time })
    }

    /// The parts of the time without a fault.
    fn left(&self, effect: &Effect) -> Option<Left> {
        let idle = (self.idle() - effect.idle.clamp(0.0, 1.0)).max(0.0);
        let longest = Term::ALL
            .iter()
            .filter_map(|&term| {
                let kept = self.utilization(term)? * (1.0 - effect.share_of(term));
                Some((term, (kept + effect.added_to(term)) * self.per_sm(term, idle)))
            })
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        let merged = effect.merged.max(1.0);
        let rounds = effect.rounds.max(1.0).min(merged) / merged;
        let fixed = self.launch_share().min(idle);
        let stays = self.stays_full(effect);
        let hidden = if stays { 0.0 } else { effect.hidden.clamp(0.0, 1.0) };
        Some(Left {
            longest,
            fixed: fixed / merged,
            idle: (idle - fixed) * rounds,
            waiting: self.latency() * (1.0 - hidden) * rounds,
            gone: if stays { 0.0 } else { self.gone(effect) },
            warps: self.warps_without(effect) * rounds,
            hiding: if effect.only_hides() && effect.hidden <= 0.0 {
                self.full_pipe().min(1.0 - self.idle())
            } else {
                0.0
            },
        })
    }

    /// The stalls that go with a fault: those it names, and the queue in front of the units whose work
    /// goes. A request finds a unit that is busy a share U of the time busy with that probability, so
    /// that part of the waits in front of it is queueing, and goes as far as its work does.
    fn relieved(&self, effect: &Effect, unit: impl Fn(Term) -> bool) -> Vec<(StallReason, f64)> {
        StallReason::all()
            .map(|reason| {
                let queue = Term::ALL
                    .into_iter()
                    .filter(|term| unit(*term) && term.waits().contains(&reason))
                    .filter_map(|term| Some(self.utilization(term)? * effect.share_of(term)))
                    .fold(0.0, f64::max);
                (reason, effect.share_of_stall(reason).max(queue))
            })
            .collect()
    }

    /// The share of the stall cycles that goes at best: what is [relieved](Self::relieved), and the waits
    /// at barriers for warps that wait for it.
    fn gone(&self, effect: &Effect) -> f64 {
        let mut relieved = self.relieved(effect, |_| true);
        // Warps that wait for a few wait as long whatever goes from their own work.
        let of_others = self.share_of_others(&relieved) * (1.0 - self.for_few);
        for (reason, share) in &mut relieved {
            if *reason == StallReason::Barrier {
                *share = share.max(of_others);
            }
        }
        self.stall_share(&relieved)
    }

    /// The share of a warp's own cycles, those it does not spend at barriers, that goes with given stalls.
    /// A warp at a barrier waits for the last of its block, and that one spends its cycles as all do.
    fn share_of_others(&self, stalls: &[(StallReason, f64)]) -> f64 {
        let at_barriers = self.stall_cycles[StallReason::Barrier as usize];
        let all = self.warp_latency.unwrap_or_else(|| self.stall_cycles.iter().sum());
        let gone: f64 = stalls
            .iter()
            .filter(|(reason, _)| *reason != StallReason::Barrier)
            .map(|&(reason, share)| share * self.stall_cycles[reason as usize])
            .sum();
        if all > at_barriers { (gone / (all - at_barriers)).min(1.0) } else { 0.0 }
    }

    /// The time, as a share of the present time, that warps need one after another without the stalls
    /// that the fault names or causes beyond L1, and without its instructions, with every other wait
    /// as it is now: W warps with
    /// L cycles between two instructions issue W/L a cycle. 0 where L is not known.
    fn warps_without(&self, effect: &Effect) -> f64 {
        let Some(latency) = self.warp_latency.filter(|&latency| latency > 0.0) else { return 0.0 };
        // Beyond L1 all accesses of an SM go one way, so that what is in front of a full unit there
        // holds up everything behind it.
        let gone: f64 = self
            .relieved(effect, Term::is_beyond_l1)
            .into_iter()
            .map(|(reason, share)| self.stall_cycles[reason as usize] * share)
            .sum();
        let each = (1.0 - gone / latency) * (1.0 - effect.share_of(Term::Issue));
        let hidden = 1.0 - effect.hidden.clamp(0.0, 1.0);
        (1.0 - self.idle()) * each * hidden
    }

    /// What bounds the launch: the busiest unit, or what no unit covers where that is longer:
    /// latency, or the launch itself (SMs without blocks, or the fixed cost).
    #[must_use]
    pub fn bound(&self) -> Bound {
        let Some((term, busy)) = self.busiest() else { return Bound::None };
        let (latency, launch) = (self.latency(), self.idle().max(self.launch_share()));
        if busy >= latency.max(launch) {
            term.bound()
        } else if launch > latency {
            Bound::Launch
        } else {
            Bound::Latency
        }
    }
}

/// The share of the tensor pipe's peak that a kernel can reach which keeps it busy for this share of the
/// time.
fn tensor_share(busy: f64) -> f64 {
    if busy >= TENSOR_FULL.value { busy } else { 1.0 }
}

/// What one block that does nothing takes longer between two events than under the profiler, ns.
fn lone_launch_ns(facts: &DeviceFacts) -> f64 {
    let between_events = facts.get(Quantity::EmptyBlockEvents);
    let profiled = facts.get(Quantity::EmptyBlockProfiled);
    between_events.zip(profiled).map_or(0.0, |(events, profiled)| (events - profiled).max(0.0))
}

/// The share of the DRAM peak that this launch could reach on its device, given how much it writes.
fn dram_share(launch: &Launch, facts: &DeviceFacts) -> f64 {
    let peak_bytes_per_s = ceiling::dram_peak_bytes_per_s(launch);
    let written = launch
        .get("dram__bytes_write.sum")
        .zip(launch.get("dram__bytes_read.sum"))
        .filter(|(written, read)| written + read > 0.0)
        .map_or(0.0, |(written, read)| written / (written + read));
    ceiling::dram_share(facts, peak_bytes_per_s, written).unwrap_or(1.0)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod worked;
