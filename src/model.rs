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

pub mod counts;
mod term;

use crate::ceiling::{self, Ceilings};
use crate::export::stall::StallReason;
use crate::finding::{Bound, Estimate};
use crate::frame::Launch;

pub use term::Term;

/// Duration under the profiler of a launch that does nothing, ns: the shortest of five one- and
/// two-block kernels on an H200 under ncu 2025.3 (1728 to 1920 ns).
pub const EMPTY_KERNEL_NS: f64 = 1728.0;

/// The share of a predicted gain that may fail to appear: the worst error that GPA (Zhou et al.,
/// CGO 2021), the estimator with the best published figures, reports on its 26 kernels.
pub const WORST_ERROR: f64 = 0.39;

/// The shortest time, as a share of the present time, that counters can tell from nothing.
const SHORTEST: f64 = 0.002;

/// What taking a fault away does to the terms.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effect {
    /// Terms that shrink, each with the share of its busy time that goes (0 to 1).
    pub removed: Vec<(Term, f64)>,
    /// Busy time that comes in the fault's place, as a share of the present duration: work that moves
    /// to another unit.
    pub added: Vec<(Term, f64)>,
    /// Stalls that go with the fault, and the share of each that does (0 to 1).
    pub stalls: Vec<(StallReason, f64)>,
    /// The share of the uncovered latency that more warps would cover (0 to 1).
    pub hidden: f64,
    /// The share of the duration for which idle SMs or an uneven tail account, and would not then
    /// (0 to 1).
    pub idle: f64,
    /// True where the fixed cost of the launch goes.
    pub launch: bool,
    /// How many launches become one that takes no longer than each does now; 0 and 1 for none.
    pub merged: f64,
}

impl Effect {
    /// A fault that inflates one term.
    #[must_use]
    pub fn on(term: Term, share: f64) -> Self {
        Self { removed: vec![(term, share)], ..Self::default() }
    }

    /// A fault that costs only latency: these stalls would go.
    #[must_use]
    pub fn stalls(reasons: impl IntoIterator<Item = StallReason>) -> Self {
        Self {
            stalls: reasons.into_iter().map(|reason| (reason, 1.0)).collect(),
            ..Self::default()
        }
    }

    /// Both faults away: of a term that both inflate, the second takes its share of what the first
    /// leaves; stalls and idle time that both claim go once.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let both = |a: f64, b: f64| 1.0 - (1.0 - a.clamp(0.0, 1.0)) * (1.0 - b.clamp(0.0, 1.0));
        let removed = Term::ALL
            .into_iter()
            .map(|term| (term, both(self.share_of(term), other.share_of(term))))
            .filter(|(_, share)| *share > 0.0)
            .collect();
        let stalls = StallReason::all()
            .map(|reason| (reason, both(self.share_of_stall(reason), other.share_of_stall(reason))))
            .filter(|(_, share)| *share > 0.0)
            .collect();
        Self {
            removed,
            added: self.added.iter().chain(&other.added).copied().collect(),
            stalls,
            hidden: both(self.hidden, other.hidden),
            idle: self.idle.max(other.idle),
            launch: self.launch || other.launch,
            merged: self.merged.max(other.merged),
        }
    }

    /// The busy time that a term gains, as a share of the present duration.
    #[must_use]
    pub fn added_to(&self, term: Term) -> f64 {
        self.added.iter().filter(|(t, _)| *t == term).map(|(_, share)| share.max(0.0)).sum()
    }

    /// The share of a stall that goes, 0 to 1.
    #[must_use]
    pub fn share_of_stall(&self, reason: StallReason) -> f64 {
        let share: f64 = self.stalls.iter().filter(|(r, _)| *r == reason).map(|(_, s)| s).sum();
        share.clamp(0.0, 1.0)
    }

    /// The share of a term that goes, 0 to 1.
    #[must_use]
    pub fn share_of(&self, term: Term) -> f64 {
        let share: f64 = self.removed.iter().filter(|(t, _)| *t == term).map(|(_, s)| s).sum();
        share.clamp(0.0, 1.0)
    }
}

/// What would be left of the time without a fault, as shares of the present time.
struct Left {
    /// The longest term and its busy share.
    longest: (Term, f64),
    /// The launch's own cost, which stays whatever the kernel does.
    fixed: f64,
    /// SMs without a block for want of work: blocks that get shorter leave them idle for less.
    idle: f64,
    /// Latency that more warps do not cover, before the fault's own stalls go.
    waiting: f64,
    /// The share of that latency which the fault's stalls make up.
    gone: f64,
    /// The time that warps would need one after another.
    warps: f64,
}

impl Left {
    /// The waiting that is left at least: the fault's own stalls and queues gone.
    fn shortest(&self) -> f64 {
        self.waiting * (1.0 - self.gone)
    }

    /// The waiting that is left where warps need longer one after another than the units do.
    fn slowest(&self) -> f64 {
        self.shortest().max(self.warps - self.longest.1)
    }

    /// The likely waiting: the geometric middle of the times with either, since what the other waits
    /// owe to the fault is not known.
    fn likely(&self) -> f64 {
        let busy = self.longest.1;
        ((busy + self.shortest()) * (busy + self.slowest())).sqrt() - busy
    }

    /// The time, as a share of the present time, with so much waiting. SMs idle for their share of the
    /// time that blocks take, however long that is.
    fn time(&self, waiting: f64) -> f64 {
        let working = 1.0 - self.fixed - self.idle;
        let scale = if working > 0.0 { (1.0 - self.fixed) / working } else { 1.0 };
        self.fixed + (self.longest.1 + waiting) * scale
    }
}

/// What limits a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A unit's own work.
    Unit(Term),
    /// Resident warps wait, and no unit is busy.
    Latency,
    /// SMs have no block.
    IdleSms,
}

impl Limit {
    /// The limit's name in reports.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Unit(term) => term.title(),
            Self::Latency => "latency",
            Self::IdleSms => "SMs without blocks",
        }
    }
}

/// What limits a launch once some faults are away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NextLimit {
    /// The time then, as a share of the present time.
    pub time: f64,
    /// What would limit it then.
    pub limit: Limit,
    /// The share of that time for which it would.
    pub share: f64,
}

/// The time model of one launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Duration under the profiler, ns, where the profile has it.
    pub time_ns: Option<f64>,
    /// Busy share of each term at its achievable rate, 0 to 1; `None` where no counter was collected.
    busy: [Option<f64>; Term::COUNT],
    /// Share of the SMs' cycles without a resident warp, 0 to 1; 0 where it was not collected.
    idle: f64,
    /// Stall cycles per issued instruction by reason, without `selected` and `not_selected`.
    stall_cycles: [f64; StallReason::COUNT],
    /// Cycles between two instructions of a warp, all of them; `None` where it was not collected.
    warp_latency: Option<f64>,
}

impl Model {
    /// The model of a launch. Terms whose counters were not collected are unknown.
    #[must_use]
    pub fn new(launch: &Launch) -> Self {
        let ceilings = launch.row.device.as_deref().and_then(Ceilings::of);
        let dram_share = dram_share(launch, ceilings);
        let idle = idle_share(launch);
        let busy = Term::ALL.map(|term| {
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
                Term::Fma => ceilings.map_or(1.0, |ceilings| ceilings.fma_share),
                _ => 1.0,
            };
            // Rounded counters of different passes can exceed the peak by a little.
            let share = percent / 100.0 / reachable;
            share.is_finite().then(|| share.clamp(0.0, 1.0))
        });
        let mut stall_cycles = [0.0; StallReason::COUNT];
        for reason in StallReason::all() {
            if !matches!(reason, StallReason::Selected | StallReason::NotSelected) {
                stall_cycles[reason as usize] = launch.stall(reason).unwrap_or(0.0).max(0.0);
            }
        }
        let warp_latency = launch
            .get("smsp__average_warp_latency_per_inst_issued.ratio")
            .filter(|&cycles| cycles >= stall_cycles.iter().sum::<f64>());
        Self { time_ns: launch.duration_ns(), busy, idle, stall_cycles, warp_latency }
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

    /// Share of the time that no unit covers; 0 where nothing is known of the units.
    #[must_use]
    pub fn uncovered(&self) -> f64 {
        self.busiest().map_or(0.0, |(_, busy)| 1.0 - busy)
    }

    /// The part of the uncovered share for which SMs have no resident warp.
    #[must_use]
    pub fn idle(&self) -> f64 {
        self.idle.min(self.uncovered())
    }

    /// The part of the uncovered share in which warps are resident and wait.
    #[must_use]
    pub fn latency(&self) -> f64 {
        self.uncovered() - self.idle()
    }

    /// The share of the duration that an empty launch would take too; 0 without a duration.
    #[must_use]
    pub fn launch_share(&self) -> f64 {
        self.time_ns.map_or(0.0, |ns| (EMPTY_KERNEL_NS / ns).min(1.0))
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

    /// The speed-up that taking a fault away would give; `None` where no term is known.
    #[must_use]
    pub fn without(&self, effect: &Effect) -> Option<Estimate> {
        let left = self.left(effect)?;
        let merged = effect.merged.max(1.0);
        // One launch that does the work of several takes at least as long as each does now.
        let launch = if merged > 1.0 { 1.0 / merged } else { self.launch_share() };
        let factor = |waiting: f64| {
            let time = left.time(waiting);
            let time = if effect.launch && merged <= 1.0 {
                // What an empty launch does not explain is not known to a twentieth.
                (time - launch).max(0.05)
            } else {
                time.max(launch)
            };
            // Less than a five-hundredth of the present time is beyond what counters resolve.
            (1.0 / time.max(SHORTEST)).max(1.0)
        };
        let (middle, slowest) = (left.likely(), left.slowest());
        Some(Estimate {
            factor: factor(middle),
            low: 1.0 + (1.0 - WORST_ERROR) * (factor(left.waiting.max(slowest)) - 1.0),
            high: factor(0.0),
        })
    }

    /// What limits the launch once a fault is away; `None` where no term is known.
    #[must_use]
    pub fn next_limit(&self, effect: &Effect) -> Option<NextLimit> {
        let left = self.left(effect)?;
        let waiting = left.likely();
        let (term, busy) = left.longest;
        let time = left.time(waiting).max(self.launch_share()).max(1e-3);
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
        let longest = Term::ALL
            .iter()
            .filter_map(|&term| {
                let kept = self.utilization(term)? * (1.0 - effect.share_of(term));
                Some((term, kept + effect.added_to(term)))
            })
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        let merged = effect.merged.max(1.0);
        let fixed = self.launch_share().min(self.idle());
        let idle = (self.idle() - effect.idle.clamp(0.0, 1.0)).max(0.0);
        Some(Left {
            longest,
            fixed: fixed.min(idle) / merged,
            idle: (idle - fixed).max(0.0) / merged,
            waiting: self.latency() * (1.0 - effect.hidden.clamp(0.0, 1.0)) / merged,
            gone: self.stall_share(&self.relieved(effect, |_| true)),
            warps: self.warps_without(effect) / merged,
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

/// Share of the SMs' cycles without a resident warp: 1 − active / elapsed.
fn idle_share(launch: &Launch) -> f64 {
    let elapsed =
        launch.get("gpc__cycles_elapsed.max").or_else(|| launch.get("sm__cycles_elapsed.max"));
    match (launch.get("sm__cycles_active.avg"), elapsed) {
        (Some(active), Some(elapsed)) if elapsed > 0.0 => (1.0 - active / elapsed).clamp(0.0, 1.0),
        _ => 0.0,
    }
}

/// The share of the DRAM peak that this launch could reach on its device, given how much it writes.
fn dram_share(launch: &Launch, ceilings: Option<&Ceilings>) -> f64 {
    let peak_bytes_per_s = ceiling::dram_peak_bytes_per_s(launch);
    let written = launch
        .get("dram__bytes_write.sum")
        .zip(launch.get("dram__bytes_read.sum"))
        .filter(|(written, read)| written + read > 0.0)
        .map_or(0.0, |(written, read)| written / (written + read));
    ceiling::dram_share(ceilings, peak_bytes_per_s, written)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One unit 60% busy, another 40%, SMs active 90% of the time, half of the stalls at barriers.
    fn launch() -> Launch {
        let mut launch = Launch::default();
        for (name, value) in [
            ("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", 60.0),
            ("sm__issue_active.avg.pct_of_peak_sustained_elapsed", 40.0),
            ("sm__cycles_active.avg", 900.0),
            ("gpc__cycles_elapsed.max", 1000.0),
            ("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 5.0),
            ("smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", 5.0),
            ("smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", 1.0),
        ] {
            launch.set(name, Some(value));
        }
        launch
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn time_is_the_busiest_unit_plus_idle_sms_plus_latency() {
        let model = Model::new(&launch());
        assert_eq!(model.busiest().map(|(term, _)| term), Some(Term::L1Data));
        assert!(near(model.idle(), 0.1) && near(model.latency(), 0.3));
        assert_eq!(model.bound(), Bound::Memory);
        assert_eq!(model.busy_ns(Term::L1Data), None, "no duration, no nanoseconds");
    }

    #[test]
    fn a_gain_ends_at_the_next_unit() {
        let model = Model::new(&launch());
        // 0.6 shrinks to 0.06, issue's 0.4 is next, and 0.3 latency; SMs idle for a tenth of it.
        let estimate = model.without(&Effect::on(Term::L1Data, 0.9)).unwrap();
        assert!(near(estimate.factor, 0.9 / 0.7));
        assert!(near(estimate.high, 0.9 / 0.4), "latency gone, SMs idle for a tenth as before");
        assert!(near(estimate.low, 1.0 + 0.61 * (0.9 / 0.7 - 1.0)));
        // A fault of a unit that is not the limit gives nothing.
        assert!(near(model.without(&Effect::on(Term::Issue, 0.9)).unwrap().factor, 1.0));
    }

    #[test]
    fn stalls_and_warps_act_on_latency_and_blocks_on_idle_sms() {
        let model = Model::new(&launch());
        let barrier = Effect::stalls([StallReason::Barrier]);
        assert!(near(model.without(&barrier).unwrap().factor, 0.9 / 0.75));
        let hidden = Effect { hidden: 0.5, ..Effect::default() };
        assert!(near(model.without(&hidden).unwrap().factor, 0.9 / 0.75));
        let idle = Effect { idle: 0.5, ..Effect::default() };
        assert!(near(model.without(&idle).unwrap().factor, 1.0 / 0.9));
    }

    #[test]
    fn what_limits_next_is_the_longest_part_of_what_is_left() {
        let model = Model::new(&launch());
        let now = model.next_limit(&Effect::default()).unwrap();
        assert_eq!(now.limit, Limit::Unit(Term::L1Data));
        assert!(near(now.time, 1.0) && near(now.share, 0.6));
        // L1 shrinks to 0.06, issue's 0.4 is the longest: (0.4 + 0.3 latency) / 0.9.
        let l1 = Effect::on(Term::L1Data, 0.9);
        let next = model.next_limit(&l1).unwrap();
        assert_eq!(next.limit, Limit::Unit(Term::Issue));
        assert!(near(next.time, 0.7 / 0.9) && near(next.share, 0.4 * 0.9 / 0.7));
        // Issue halved too: (0.2 + 0.3) / 0.9.
        let both = l1.and(&Effect::on(Term::Issue, 0.5));
        let last = model.next_limit(&both).unwrap();
        assert_eq!(last.limit, Limit::Latency);
        assert!(near(last.time, 0.5 / 0.9) && near(last.share, 0.3 * 0.9 / 0.5));
    }

    #[test]
    fn two_faults_of_one_term_take_their_shares_in_turn() {
        let twice = Effect::on(Term::L1Data, 0.5).and(&Effect::on(Term::L1Data, 0.5));
        assert!(near(twice.share_of(Term::L1Data), 0.75));
    }

    #[test]
    fn work_that_moves_to_another_unit_counts_there() {
        let model = Model::new(&launch());
        let moved = Effect { added: vec![(Term::Fp64, 0.5)], ..Effect::on(Term::L1Data, 1.0) };
        // FP64 was not collected here, so only what is known counts: issue's 0.4.
        assert!(near(model.without(&moved).unwrap().factor, 0.9 / 0.7));
        let moved = Effect { added: vec![(Term::Issue, 0.1)], ..Effect::on(Term::L1Data, 1.0) };
        assert!(near(model.without(&moved).unwrap().factor, 0.9 / 0.8));
    }

    #[test]
    fn nothing_is_shorter_than_an_empty_launch_unless_the_launch_goes() {
        let mut launch = launch();
        launch.set("gpu__time_duration.sum", Some(EMPTY_KERNEL_NS * 2.0));
        let model = Model::new(&launch);
        let all =
            Effect { removed: Term::ALL.map(|term| (term, 1.0)).to_vec(), ..Effect::default() };
        assert!(near(model.without(&all).unwrap().high, 2.0));
        let fused = Effect { launch: true, ..Effect::default() };
        assert!(near(model.without(&fused).unwrap().factor, 2.0));
    }

    #[test]
    fn merged_launches_share_what_no_unit_covers() {
        let model = Model::new(&launch());
        let merged = Effect { launch: true, merged: 4.0, ..Effect::default() };
        // 0.6 busy and 0.3 / 4 latency for each, with SMs idle for a fortieth; a quarter at least.
        assert!(near(model.without(&merged).unwrap().factor, 0.975 / 0.675));
    }

    #[test]
    fn without_counters_there_is_no_estimate() {
        let model = Model::new(&Launch::default());
        assert_eq!(model.without(&Effect::default()), None);
        assert_eq!(model.bound(), Bound::None);
    }
}
