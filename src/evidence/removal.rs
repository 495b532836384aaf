//! Which executed instructions go with a fault, and what goes with them: their turns on units, their
//! wavefronts, the waiting for them.

mod gone;

pub(crate) use crate::evidence::locations::locations;
use crate::evidence::threshold::{NOISE, NOISE_SOURCE};
use crate::evidence::{ModeledLaunch, Threshold, uneven};
use crate::finding::Location;
use crate::frame::Reads;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::model::counts::{self, GPC_CYCLES, SM_CYCLES};
use crate::sass::code::charge::Charge;
use crate::sass::flow::slice;
use crate::sass::parse::library::Cost;
use crate::sass::{Listing, Marks, Mix};
use crate::term::Term;
use gone::Gone;

/// The part of the time from which a fault counts: of some unit's busy time, or as a gain.
pub(crate) const MATTERS: f64 = NOISE / 100.0;

/// [`MATTERS`] as `explain` prints it.
pub(crate) const MATTERS_LIMIT: Threshold = Threshold {
    what: "share of the time that one unit spends on the fault's instructions, or that would be \
           saved without them, at least",
    value: NOISE,
    unit: "%",
    source: NOISE_SOURCE,
};

/// Instructions that an access's address takes and that go with the access.
pub(crate) const ADDRESSING: Threshold = Threshold {
    what: "constant: instructions that make the address of one access, at most",
    value: 4.0,
    unit: "instruction",
    source: "derivation: a product with the width, an addition of 64 bits in two parts, a \
             comparison with the end; anything beyond is index arithmetic that each element needs",
};

/// The metric that every rule on opcodes needs: it tells whether instructions are scarce at all.
pub(crate) const ISSUE_BUSY: &str = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";

/// What turns instructions that come instead into busy time.
pub(crate) const RATES: Reads = Reads::always(&[SM_CYCLES, "launch__sm_count"]);
/// What stands in for the cycles.
pub(crate) const CYCLES: Reads = Reads::stand_in(&[GPC_CYCLES]);

/// Instructions that go with a fault, and those that come instead.
pub(crate) struct Removal<'a> {
    /// The launch's instructions.
    pub listing: Listing<'a>,
    /// Their mix.
    pub mix: &'a Mix,
    /// What goes of each instruction.
    gone: Vec<Gone>,
    /// Turns of what comes instead, less those of what goes without being named above, by unit.
    instead: [f64; Term::COUNT],
}

impl<'a> Removal<'a> {
    /// Nothing removed yet; `None` without SASS.
    pub(crate) fn new(launch: &ModeledLaunch<'a>) -> Option<Self> {
        let listing = launch.profile.listing()?;
        Some(Self {
            listing,
            mix: listing.mix(),
            gone: vec![Gone::default(); listing.sass.entries.len()],
            instead: [0.0; Term::COUNT],
        })
    }

    /// A share of an instruction's executions goes, and its wavefronts and stalls with them.
    pub(crate) fn remove(&mut self, index: usize, share: f64) {
        let (executions, wavefronts, waits, results) = (share, share, share, share);
        self.gone[index].raise(Gone { executions, wavefronts, waits, results, for_others: 0.0 });
    }

    /// A share of the waits for other warps that are sampled at an instruction goes: at a barrier or a fence that nothing
    /// needs any more, or for warps that come sooner.
    pub(crate) fn remove_waits_for_others(&mut self, index: usize, share: f64) {
        self.gone[index].raise(Gone { for_others: share, ..Gone::default() });
    }

    /// A share of the waits to issue that are sampled at an instruction goes, and nothing else.
    pub(crate) fn remove_waits_at(&mut self, index: usize, share: f64) {
        self.gone[index].raise(Gone { waits: share, ..Gone::default() });
    }

    /// A share of an instruction's executions goes, while L1 has the same bytes to move.
    pub(crate) fn remove_but_l1(&mut self, index: usize, share: f64) {
        let but_l1 = Gone { executions: share, waits: share, results: share, ..Gone::default() };
        self.gone[index].raise(but_l1);
    }

    /// The same, while its results are awaited as long as before.
    pub(crate) fn remove_but_latency(&mut self, index: usize, share: f64) {
        self.gone[index].raise(Gone { executions: share, waits: share, ..Gone::default() });
    }

    /// A share of the waits for an instruction's result goes, and nothing else.
    pub(crate) fn remove_latency(&mut self, index: usize, share: f64) {
        self.gone[index].raise(Gone { results: share, ..Gone::default() });
    }

    /// A share of an instruction's wavefronts goes.
    pub(crate) fn remove_wavefronts(&mut self, index: usize, share: f64) {
        self.gone[index].raise(Gone { wavefronts: share, ..Gone::default() });
    }

    /// So many warp instructions come instead on a unit.
    pub(crate) fn add(&mut self, term: Term, instructions: f64) {
        self.instead[term as usize] += instructions;
        self.instead[Term::Issue as usize] += instructions;
    }

    /// So many turns on a unit are taken on one that has more time for them.
    pub(crate) fn relieve(&mut self, term: Term, turns: f64) {
        self.instead[term as usize] -= turns;
    }

    /// A routine that ran so often is replaced by its fast form. Its instructions are not told apart
    /// from others on their lines; what they made wait is taken from the whole line in proportion.
    pub(crate) fn replace(&mut self, runs: f64, now: Cost, then: Cost) {
        for (term, now, then) in [
            (Term::Fma, now.fma, then.fma),
            (Term::Alu, now.alu, then.alu),
            (Term::Xu, now.xu, then.xu),
            (Term::Fp64, now.fp64, then.fp64),
            (Term::Issue, now.all, then.all),
        ] {
            self.instead[term as usize] -= runs * (now - then);
        }
    }

    /// A share of the waiting at each line goes: so many instructions of those that its arithmetic
    /// executes.
    pub(crate) fn remove_waits(&mut self, saved: &[f64]) {
        if saved.iter().all(|&saved| saved <= 0.0) {
            return;
        }
        let listing = self.listing;
        let arithmetic = || listing.entries().filter(|(_, entry)| !entry.family.is_memory());
        let mut executed = vec![0.0; saved.len()];
        for (index, entry) in arithmetic() {
            executed[entry.line()] += listing.executed(index);
        }
        for (index, entry) in arithmetic() {
            let (saved, all) = (saved[entry.line()], executed[entry.line()]);
            let share = if all > 0.0 { (saved / all).clamp(0.0, 1.0) } else { 0.0 };
            self.gone[index].raise(Gone { waits: share, results: share, ..Gone::default() });
        }
    }

    /// The instructions that stand in the same innermost loop as some picked and executed one, or outside
    /// all loops as it does.
    pub(crate) fn beside(&self, pick: impl Fn(usize) -> bool) -> Marks {
        let place = |index: usize| self.listing.sass.flow.innermost(index);
        let count = self.listing.sass.entries.len();
        let mut picked: Vec<Option<usize>> = Vec::new();
        for index in 0..count {
            if pick(index) && self.listing.executed(index) > 0.0 && !picked.contains(&place(index))
            {
                picked.push(place(index));
            }
        }
        Marks::of(count, |index| picked.contains(&place(index)))
    }

    /// The share of the overhead [`beside`](Self::beside) some accesses that makes their addresses.
    pub(crate) fn addressing(&self, beside: &Marks, access: impl Fn(usize) -> bool) -> f64 {
        let work = slice::work(&self.listing);
        let executed = |at: usize| self.listing.executed(at);
        let accesses: f64 = (0..beside.count()).filter(|&at| access(at)).map(executed).sum();
        let is_overhead = |at: &usize| !work[*at] && !access(*at);
        let overhead: f64 = beside.iter().filter(is_overhead).map(executed).sum();
        (ADDRESSING.value * accesses / overhead.max(1.0)).min(1.0)
    }

    /// Warp instructions that go, those that come instead taken off.
    pub(crate) fn instructions(&self) -> f64 {
        self.removed()[Term::Issue as usize]
    }

    /// Turns that go from each unit, those that come instead taken off.
    fn removed(&self) -> [f64; Term::COUNT] {
        let mut removed = [0.0; Term::COUNT];
        for (index, gone) in self.gone.iter().enumerate().filter(|(_, gone)| gone.executions > 0.0)
        {
            let entry = &self.listing.sass.entries[index];
            let executed = self.listing.executed(index);
            removed[Term::Issue as usize] += gone.executions * executed;
            if let Some(term) = entry.term {
                removed[term as usize] += f64::from(entry.turns) * gone.executions * executed;
            }
        }
        for (removed, instead) in removed.iter_mut().zip(self.instead) {
            *removed -= instead;
        }
        removed
    }

    /// What goes, as shares of the terms and of the stalls, and what comes instead where a unit gets
    /// more work than it loses: at the unit's rate, or, where the device's is not known, as long for
    /// each instruction as its present ones take.
    pub(crate) fn effect(&self, launch: &ModeledLaunch) -> Effect {
        let mut effect = Effect { stalls: self.stalls(), ..Effect::default() };
        for (term, removed) in Term::ALL.into_iter().zip(self.removed()) {
            let present = self.mix.on(term);
            let net = if present > 0.0 { removed / present } else { 0.0 };
            if net > 0.0 {
                effect.removed.push((term, net.min(1.0)));
            } else if net < 0.0 {
                let busy = launch.model.utilization(term).unwrap_or(0.0);
                let more = counts::of_work(launch.profile, term, -removed);
                effect.added.push((term, more.unwrap_or(-net * busy)));
            }
        }
        let any = |at: usize| self.gone[at].any();
        let weight = |at: usize| if any(at) { self.listing.executed(at) } else { 0.0 };
        effect.least = uneven::stays(launch, &self.listing, weight);
        let gone: f64 = self
            .gone
            .iter()
            .enumerate()
            .filter(|(_, gone)| gone.wavefronts > 0.0)
            .map(|(at, gone)| self.listing.wavefronts(at) * gone.wavefronts)
            .sum();
        if gone > 0.0 {
            let wavefronts = self.listing.sass.counts.wavefronts();
            effect.removed.push((Term::L1Data, (gone / wavefronts).min(1.0)));
        }
        effect
    }

    /// Shares of the stalls: those for a result by who makes it, the others by who waits.
    fn stalls(&self) -> Vec<(StallReason, f64)> {
        let any = |gone: &Gone| gone.waits.max(gone.results).max(gone.for_others) > 0.0;
        if !self.gone.iter().any(any) {
            return Vec::new();
        }
        let counts = &self.listing.sass.counts;
        let mut waits = [0.0; StallReason::COUNT];
        let mut for_others = [0.0; StallReason::COUNT];
        for index in counts.sampled() {
            let gone = self.gone[index];
            if gone.waits.max(gone.for_others) > 0.0 {
                let samples = &self.listing.row(index).counters.stall_samples;
                for (reason, samples) in samples.iter().enumerate() {
                    waits[reason] += samples * gone.waits;
                    for_others[reason] += samples * gone.for_others;
                }
            }
        }
        let mut shares = Vec::new();
        for reason in StallReason::all() {
            let all = counts.stall_samples(reason);
            if all <= 0.0 {
                continue;
            }
            let gone: f64 = match reason {
                StallReason::LongScoreboard | StallReason::ShortScoreboard => {
                    let charges = self.listing.charges(reason);
                    let results = |each: &Charge| self.gone[each.producer].results;
                    charges.iter().map(|each| each.samples * results(each)).sum()
                }
                StallReason::Barrier | StallReason::Membar => for_others[reason as usize],
                // No waits at all.
                StallReason::Selected | StallReason::NotSelected => 0.0,
                _ => waits[reason as usize],
            };
            if gone > 0.0 {
                shares.push((reason, (gone / all).min(1.0)));
            }
        }
        shares
    }

    /// The lines whose instructions go, by their part of all that do: at most three.
    pub(crate) fn locations(&self, launch: &ModeledLaunch, share_of: &str) -> Vec<Location> {
        let weights = |index: usize| self.gone[index].executions * self.listing.executed(index);
        locations(launch, self.listing, weights, share_of)
    }
}

/// True where an effect is worth a finding: it frees some unit for a part of the time that is more
/// than noise, or gives as much.
pub(crate) fn matters(launch: &ModeledLaunch, effect: &Effect) -> bool {
    let frees = |(term, share): &(Term, f64)| {
        launch.model.utilization(*term).is_some_and(|busy| busy * share >= MATTERS)
    };
    effect.removed.iter().any(frees) || gains(launch, effect)
}

/// True where the launch would be faster without the fault, by more than noise.
pub(crate) fn gains(launch: &ModeledLaunch, effect: &Effect) -> bool {
    let estimate = launch.model.without(effect);
    estimate.is_some_and(|estimate| 1.0 - 1.0 / estimate.factor >= MATTERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::rules::testing::sass;

    #[test]
    fn four_instructions_per_access_make_its_address() {
        let of_overhead = |additions: usize| {
            let mut code = vec![("LDG.E R4, desc[UR4][R2.64]", 10.0)];
            code.extend(vec![("IADD3 R2, R2, 0x4, RZ", 10.0); additions]);
            code.extend([("FADD R0, R0, R4", 10.0), ("STG.E desc[UR4][R6.64], R0", 1.0)]);
            let launch = sass(&[], &code);
            let model = Model::new(&launch);
            let removal = Removal::new(&ModeledLaunch { profile: &launch, model: &model }).unwrap();
            let all = Marks::of(code.len(), |_| true);
            removal.addressing(&all, |index| code[index].0.starts_with("LDG"))
        };
        // The additions are the overhead; the load's address takes four of them at most.
        assert!((of_overhead(8) - 0.5).abs() < 1e-12, "{}", of_overhead(8));
        assert!((of_overhead(5) - 0.8).abs() < 1e-12, "{}", of_overhead(5));
        assert!((of_overhead(3) - 1.0).abs() < 1e-12, "{}", of_overhead(3));
    }

    #[test]
    fn what_comes_instead_takes_as_long_as_the_device_says_or_as_what_is_there() {
        let fma = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
        let added = |compute_capability| {
            let metrics =
                [(fma, 2.0), ("sm__cycles_elapsed.avg", 1000.0), ("launch__sm_count", 10.0)];
            let mut launch = sass(&metrics, &[("FFMA R0, R1, R2, R0", 10.0), ("EXIT", 1.0)]);
            launch.row.compute_capability = compute_capability;
            let model = Model::new(&launch);
            let launch = ModeledLaunch { profile: &launch, model: &model };
            let mut removal = Removal::new(&launch).unwrap();
            removal.add(Term::Fma, 100.0);
            removal.effect(&launch).added_to(Term::Fma)
        };
        // 100 instructions, four per cycle on 10 SMs for 1000 cycles.
        assert!((added(Some((9, 0))) - 0.0025).abs() < 1e-12);
        // Ten times as many as there are, which take 2% of the time.
        assert!((added(None) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn waits_at_barriers_are_for_others() {
        let mut launch = sass(&[], &[("BAR.SYNC.DEFER_BLOCKING 0x0", 10.0), ("EXIT", 1.0)]);
        let samples = &mut launch.instructions[0].counters.stall_samples;
        samples[StallReason::Barrier as usize] = 5.0;
        samples[StallReason::Wait as usize] = 5.0;
        let model = Model::new(&launch);
        let launch = ModeledLaunch { profile: &launch, model: &model };
        let mut removal = Removal::new(&launch).unwrap();
        removal.remove(0, 1.0);
        assert_eq!(removal.effect(&launch).stalls, [(StallReason::Wait, 1.0)]);
        removal.remove_waits_for_others(0, 0.5);
        let both = [(StallReason::Barrier, 0.5), (StallReason::Wait, 1.0)];
        let mut stalls = removal.effect(&launch).stalls;
        stalls.sort_by_key(|(reason, _)| *reason != StallReason::Barrier);
        assert_eq!(stalls, both);
    }
}
