//! The shared-memory part of L1's data pipe, busy for another reason than conflicts.

use crate::evidence::{ModeledLaunch, bank_conflicts};
use crate::export::SourceRow;
use crate::finding::{Evidence, Location};
use crate::frame::{Reads, SHARED_ATOMICS};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::sass::Family;
use crate::sass::questions::swap;
use crate::term::Term;

/// Share of the time that the pipe is busy with shared memory, percent.
pub(crate) const BUSY: &str =
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed";
/// Wavefronts of shared memory, those of instructions without an active lane included.
pub(crate) const ALL: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
/// Those of loads.
pub(crate) const LOADS: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
/// Those of stores.
pub(crate) const STORES: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum";
/// Those of atomics.
pub(crate) const ATOMICS: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum";
const TAGS: &str = "memory_l1_tag_requests_global";

/// What tells loads and stores from conflicts, and from instructions whose lanes are all predicated off.
pub(crate) const WAVEFRONTS: Reads = Reads::always(&[
    ALL,
    LOADS,
    STORES,
    ATOMICS,
    bank_conflicts::WAVEFRONTS,
    bank_conflicts::IDEAL,
]);
/// What stands in for the pipe's own counter.
pub(crate) const LOOK_UPS: Reads = Reads::stand_in(&[TAGS]);
/// What tells how long atomics queue, where there are some.
pub(crate) const QUEUED: Reads = Reads::only_where(
    |launch| launch.get(ATOMICS).is_some_and(|atomics| atomics > 0.0),
    &[SHARED_ATOMICS],
);

/// Share of the time, percent, from which the shared-memory part of the pipe counts.
pub(crate) const LEAST_BUSY: f64 = 20.0;

/// Stalls in front of shared memory, and at the barriers between its steps.
const STALLS: [StallReason; 3] =
    [StallReason::ShortScoreboard, StallReason::MioThrottle, StallReason::Barrier];

/// A launch whose shared-memory accesses keep their pipe busy without conflicts.
pub(crate) struct SharedPipe<'a> {
    /// The launch.
    pub launch: &'a ModeledLaunch<'a>,
    /// Share of the time, percent.
    pub busy: f64,
    /// The share of its wavefronts that conflicts and queueing atomics make up, 0 to 1.
    pub conflicts: f64,
    /// The share of its wavefronts in which lanes exchange registers, 0 to 1: a shuffle takes one of the same
    /// pipe, and nothing that is kept in shared memory.
    pub shuffles: f64,
    /// Wavefronts that no load, store, atomic or shuffle accounts for; `None` unless all were collected.
    pub without_access: Option<WithoutAccess>,
}

/// Wavefronts that no load, store, atomic or shuffle accounts for: those of instructions whose lanes are
/// all predicated off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WithoutAccess {
    /// Their share of the shared wavefronts, 0 to 1.
    pub share: f64,
    /// Their number.
    pub wavefronts: f64,
}

/// Share of the wavefronts that neither load nor store, from which idle warps are what keeps the pipe busy.
pub(crate) const IDLE_SWEEP: f64 = 0.5;

impl<'a> SharedPipe<'a> {
    /// The pipe where it is busy enough to count; `None` otherwise.
    pub(crate) fn busy(launch: &'a ModeledLaunch) -> Option<Self> {
        let busy = launch.need(BUSY);
        if busy.is_nan() || busy < LEAST_BUSY {
            return None;
        }
        let shuffles = shuffle_share(launch);
        let conflicts = conflict_share(launch).min(1.0 - shuffles);
        let counts = busy * (1.0 - conflicts - shuffles) >= LEAST_BUSY;
        let without_access = without_access(launch);
        counts.then_some(Self { launch, busy, conflicts, shuffles, without_access })
    }

    /// The wavefronts of idle warps, where they are most of all.
    pub(crate) fn idle_sweep(&self) -> Option<WithoutAccess> {
        self.without_access.filter(|without| without.share >= IDLE_SWEEP)
    }

    /// What goes of L1's data pipe and of the load/store unit with the shared-memory accesses. Conflicts
    /// stay: they are another fault, and go with it. Shuffles stay: they are what accesses are exchanged for.
    pub(crate) fn units(&self) -> Vec<(Term, f64)> {
        let launch = self.launch;
        let needed = 1.0 - self.conflicts - self.shuffles;
        let of_pipe = self.share_of_pipe();
        // Without conflicts an access is one wavefront, so the wavefronts are the unit's instructions.
        let of_lsu = launch
            .model
            .utilization(Term::Lsu)
            .filter(|&busy| busy > 0.0)
            .map(|busy| (self.busy * needed / 100.0 / busy).min(1.0));
        let of_pipe = of_pipe.map(|share| (Term::L1Data, share * needed));
        of_pipe.into_iter().chain(of_lsu.map(|share| (Term::Lsu, share))).collect()
    }

    /// The part of shared memory in the work of L1's data pipe, 0 to 1.
    pub(crate) fn share_of_pipe(&self) -> Option<f64> {
        let launch = self.launch;
        // By the pipe's own counter where it is known: look-ups tell too little of wide accesses.
        let of_counter = launch
            .model
            .utilization(Term::L1Data)
            .filter(|&busy| busy > 0.0)
            .map(|pipe| (self.busy / 100.0 / pipe).min(1.0));
        of_counter.or_else(|| {
            let (shared, tags) = launch.get(ALL).zip(launch.get(TAGS))?;
            (shared + tags > 0.0).then(|| shared / (shared + tags))
        })
    }

    /// True where no unit does more other work than the pipe or the load/store unit does altogether: the
    /// accesses' own instructions also fill issue slots and math pipes, and go with them.
    pub(crate) fn is_on_top(&self, effect: &Effect) -> bool {
        let model = self.launch.model;
        let of_pipe = [Term::L1Data, Term::Lsu]
            .into_iter()
            .filter_map(|term| model.utilization(term))
            .reduce(f64::max);
        let other = model
            .by_share()
            .into_iter()
            .filter(|(term, _)| !matches!(term, Term::L1Data | Term::Lsu))
            .map(|(term, share)| share * (1.0 - effect.share_of(term)))
            .reduce(f64::max);
        match (of_pipe, other) {
            (Some(of_pipe), Some(other)) => of_pipe >= other,
            _ => true,
        }
    }

    /// The lines that wait for shared memory most.
    pub(crate) fn locations(&self) -> Vec<Location> {
        self.launch.profile.top_places(3, "stalls on shared memory", |counters| {
            if counters.wavefronts_shared > 0.0 {
                STALLS.iter().map(|&reason| counters.stall_samples[reason as usize]).sum()
            } else {
                0.0
            }
        })
    }

    /// The numbers that both faults show.
    pub(crate) fn evidence(&self) -> Vec<Evidence> {
        let mut evidence = vec![Evidence::new(BUSY, self.busy, "%")];
        if let (Some(all), Some(without)) = (self.launch.get(ALL), self.without_access) {
            evidence.push(Evidence::new(ALL, all, "wavefront"));
            evidence.push(Evidence::new(
                "other_shared_wavefronts",
                without.wavefronts,
                "wavefront",
            ));
        }
        evidence
    }
}

/// True for a line or instruction that uses shared memory.
fn uses_shared(row: &SourceRow) -> bool {
    row.counters.wavefronts_shared > 0.0
}

/// The share of each stall's samples on rows that use shared memory, in the stalls' order; 0 without samples.
pub(crate) fn stalls_on(rows: &[SourceRow]) -> [f64; StallReason::COUNT] {
    let (mut all, mut theirs) = ([0.0; StallReason::COUNT], [0.0; StallReason::COUNT]);
    for row in rows {
        let samples = &row.counters.stall_samples;
        all.iter_mut().zip(samples).for_each(|(sum, samples)| *sum += samples);
        if uses_shared(row) {
            theirs.iter_mut().zip(samples).for_each(|(sum, samples)| *sum += samples);
        }
    }
    std::array::from_fn(|at| if all[at] > 0.0 { theirs[at] / all[at] } else { 0.0 })
}

/// The share of executed instructions on rows that are picked; `None` where none was executed.
pub(crate) fn executed_on(rows: &[SourceRow], pick: impl Fn(&SourceRow) -> bool) -> Option<f64> {
    let all: f64 = rows.iter().map(|row| row.counters.inst_executed).sum();
    let picked: f64 =
        rows.iter().filter(|row| pick(row)).map(|row| row.counters.inst_executed).sum();
    (all > 0.0).then(|| picked / all)
}

/// True for rows that use shared memory and nothing of global memory.
pub(crate) fn uses_shared_alone(row: &SourceRow) -> bool {
    uses_shared(row) && row.counters.l2_sectors_global == 0.0
}

/// The share of shared wavefronts that are bank conflicts, or atomics in a queue with what they read to try
/// again, 0 where too few to count: each is a fault of its own.
fn conflict_share(launch: &ModeledLaunch) -> f64 {
    let (all, ideal) = bank_conflicts::wavefronts(launch);
    let conflicts = if all > 0.0 { 1.0 - ideal / all } else { 0.0 };
    let queued = launch
        .get(ATOMICS)
        .zip(launch.get(SHARED_ATOMICS))
        .zip(launch.get(ALL).filter(|&all| all > 0.0))
        .map_or(0.0, |((atomics, instructions), all)| (atomics - instructions).max(0.0) / all);
    let retries = launch.profile.listing().map_or(0.0, |listing| swap::shared_retries(&listing));
    let queued = queued.max(retries);
    let conflicts = if 100.0 * conflicts >= bank_conflicts::LEAST_EXCESS {
        conflicts * (1.0 - queued)
    } else {
        0.0
    };
    (conflicts + queued).clamp(0.0, 1.0)
}

/// The share of shared wavefronts that shuffles between lanes take, one each; 0 without machine code.
fn shuffle_share(launch: &ModeledLaunch) -> f64 {
    let shuffles = launch.profile.mix().map_or(0.0, |mix| mix.family(Family::Shuffle));
    let all = launch.get(ALL).filter(|&all| all > 0.0);
    all.map_or(0.0, |all| (shuffles / all).min(1.0))
}

fn without_access(launch: &ModeledLaunch) -> Option<WithoutAccess> {
    let all = launch.get(ALL).filter(|&all| all > 0.0)?;
    // Matrix instructions and bulk copies read and write shared memory by themselves: what they move can't
    // be told from switched-off accesses.
    let moves_by_itself = |family| matches!(family, Family::Tensor | Family::AsyncCopy);
    if launch.profile.mix().is_some_and(|mix| mix.sum(moves_by_itself) > 0.0) {
        return None;
    }
    // A shuffle between lanes takes a wavefront of the same pipe, and does work.
    let shuffles = launch.profile.mix().map_or(0.0, |mix| mix.family(Family::Shuffle));
    let known =
        launch.get(LOADS)? + launch.get(STORES)? + launch.get(ATOMICS).unwrap_or(0.0) + shuffles;
    let wavefronts = (all - known).max(0.0);
    Some(WithoutAccess { share: wavefronts / all, wavefronts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::{launch, sass};
    use crate::model::Model;

    #[test]
    fn the_pipe_counts_from_a_fifth_of_the_time_without_conflicts() {
        let counts = |busy: f64, queued: f64| {
            // Atomics of as many instructions, each of which takes this many wavefronts of 100 beyond one.
            let launch = launch(&[
                (BUSY, busy),
                (ALL, 100.0),
                (ATOMICS, queued + 1.0),
                (SHARED_ATOMICS, 1.0),
            ]);
            let model = Model::new(&launch);
            SharedPipe::busy(&ModeledLaunch { profile: &launch, model: &model }).is_some()
        };
        assert!(counts(20.0, 0.0) && !counts(19.9, 0.0));
        // Half of 40.0 and of 39.8.
        assert!(counts(40.0, 50.0) && !counts(39.8, 50.0));
    }

    #[test]
    fn shuffles_are_no_accesses() {
        let counts = |shuffles: f64| {
            let launch = sass(
                &[(BUSY, 40.0), (ALL, 100.0)],
                &[("SHFL.BFLY PT, R1, R2, 0x1, 0x1f", shuffles), ("EXIT", 1.0)],
            );
            let model = Model::new(&launch);
            SharedPipe::busy(&ModeledLaunch { profile: &launch, model: &model }).is_some()
        };
        // A half of 40% is left, or less.
        assert!(counts(50.0) && !counts(51.0));
    }

    #[test]
    fn shuffles_take_wavefronts_of_the_pipe_and_do_work() {
        let launch = sass(
            &[(ALL, 100.0), (LOADS, 40.0), (STORES, 20.0)],
            &[("SHFL.BFLY PT, R1, R2, 0x1, 0x1f", 30.0), ("EXIT", 1.0)],
        );
        let model = Model::new(&launch);
        let found = without_access(&ModeledLaunch { profile: &launch, model: &model }).unwrap();
        assert!((found.wavefronts - 10.0).abs() < 1e-12 && (found.share - 0.1).abs() < 1e-12);
    }
}
