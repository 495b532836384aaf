//! A comparison under way: quartets come in until the times decide.

use super::estimate::{interval, median};
use super::random::Random;
use super::{Comparison, ERROR, Interval, Margin, SEED, Verdict, looks, margin};
use crate::timing::Quartet;

/// Clocks whose 5th and 95th percentile are so far apart have moved: readings of a steady clock scatter by a fifth
/// of that.
const CLOCK_MOVED: f64 = 0.01;
/// Rounds that a comparison should have, so that looks are not delayed by long rounds.
const WANTED_ROUNDS: f64 = 30.0;
/// Quartets of a round at most.
const MOST_PER_ROUND: usize = 4;

/// How fast quartets come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// How long one takes, ns.
    pub quartet_ns: f64,
    /// How long all of them may take, ns.
    pub budget_ns: f64,
}

/// A comparison under way.
#[derive(Debug)]
pub(crate) struct Trial {
    max_slowdown: f64,
    is_under_a_wave: bool,
    per_round: usize,
    quartets: Vec<Quartet>,
    looks: u32,
    next_look: usize,
    random: Random,
    /// The order of the next quartet, where the one before has set it.
    owed: Option<bool>,
}

impl Trial {
    /// Begins one. Rounds have four quartets where the budget has room for enough of them, else fewer.
    pub(crate) fn new(pace: Pace, max_slowdown: f64, is_under_a_wave: bool) -> Self {
        let fitting = pace.budget_ns / pace.quartet_ns.max(1.0) / WANTED_ROUNDS;
        let per_round = (fitting as usize).clamp(1, MOST_PER_ROUND);
        Self {
            max_slowdown,
            is_under_a_wave,
            per_round,
            quartets: Vec::new(),
            looks: 0,
            next_look: looks::FIRST * per_round,
            random: Random::new(SEED),
            owed: None,
        }
    }

    /// Whether the baseline is to run first and last in the next quartet: by chance, and in every two quartets
    /// once each way, so that no place in the order favours either side.
    pub(crate) fn base_is_outside(&mut self) -> bool {
        if let Some(owed) = self.owed.take() {
            return owed;
        }
        let is_outside = self.random.coin();
        self.owed = Some(!is_outside);
        is_outside
    }

    /// Adds a quartet.
    pub(crate) fn push(&mut self, quartet: Quartet) {
        self.quartets.push(quartet);
    }

    /// How many quartets there are.
    pub(crate) fn len(&self) -> usize {
        self.quartets.len()
    }

    /// Gives quartets the clocks that were read beside them, in their order.
    pub(crate) fn set_clocks(&mut self, clocks: impl IntoIterator<Item = Option<f64>>) {
        for (quartet, clock) in self.quartets.iter_mut().zip(clocks) {
            quartet.clock_hz = clock;
        }
    }

    /// True where it is time to [`look`](Self::look).
    pub(crate) fn is_time_to_look(&self) -> bool {
        self.quartets.len() >= self.next_look
    }

    /// Looks at the times so far. `None` where there are too few for a look.
    pub(crate) fn look(&mut self) -> Option<Comparison> {
        self.looks += 1;
        self.next_look = looks::next(self.quartets.len() / self.per_round) * self.per_round;
        let error = looks::error_of(self.looks, ERROR);
        let margin = margin::margin(&self.quartets, self.max_slowdown, self.is_under_a_wave);
        let time = interval(&self.rounds(|_| Some(1.0))?, error)?;
        let (clock_hz, clock_moved) = self.clock().unzip();
        let moved = clock_moved.is_some_and(|moved| moved > CLOCK_MOVED);
        let in_cycles = || interval(&self.rounds(|quartet| quartet.clock_hz)?, error);
        let cycles = moved.then(in_cycles).flatten();
        Some(Comparison {
            verdict: confirmed(&time, cycles.as_ref(), &margin),
            time,
            cycles,
            margin,
            scatter: margin::scatter(&self.quartets),
            clock_hz,
            clock_moved,
            runs: 2 * self.quartets.len(),
            looks: self.looks,
            seed: SEED,
        })
    }

    /// All times, the baseline's and the candidate's, ns.
    pub(crate) fn times_ns(&self) -> (Vec<f64>, Vec<f64>) {
        let of = |side: fn(&Quartet) -> [f64; 2]| self.quartets.iter().flat_map(side).collect();
        (of(|quartet| quartet.base_ns), of(|quartet| quartet.new_ns))
    }

    /// The logarithm of each round's ratio of medians; each time is multiplied by what `factor` says of its
    /// quartet. Quartets beyond the last whole round belong to that. `None` where a factor is missing.
    fn rounds(&self, factor: impl Fn(&Quartet) -> Option<f64>) -> Option<Vec<f64>> {
        let count = self.quartets.len() / self.per_round;
        (0..count)
            .map(|round| {
                let end = if round + 1 == count {
                    self.quartets.len()
                } else {
                    (round + 1) * self.per_round
                };
                let (mut base, mut new) = (Vec::new(), Vec::new());
                for quartet in &self.quartets[round * self.per_round..end] {
                    let factor = factor(quartet)?;
                    base.extend(quartet.base_ns.map(|time| time * factor));
                    new.extend(quartet.new_ns.map(|time| time * factor));
                }
                let (base, new) = (median(&mut base), median(&mut new));
                (base > 0.0 && new > 0.0).then(|| (new / base).ln())
            })
            .collect()
    }

    /// The clock's middle value, Hz, and how far it moved, over the means of the rounds.
    fn clock(&self) -> Option<(f64, f64)> {
        let of_round = |quartets: &[Quartet]| {
            let sum = quartets.iter().map(|quartet| quartet.clock_hz).sum::<Option<f64>>()?;
            Some(sum / quartets.len() as f64)
        };
        let mut clocks: Vec<f64> =
            self.quartets.chunks(self.per_round).map(of_round).collect::<Option<_>>()?;
        let middle = median(&mut clocks);
        let last = clocks.len().checked_sub(1)? as f64;
        let at = |share: f64| clocks[(share * last).round() as usize];
        (middle > 0.0).then(|| (middle, (at(0.95) - at(0.05)) / middle))
    }
}

/// What the times say, where the cycles of a clock that moved say the same.
fn confirmed(time: &Interval, cycles: Option<&Interval>, margin: &Margin) -> Verdict {
    let verdict = time.verdict(margin.used());
    match cycles {
        Some(cycles) if cycles.verdict(margin.used()) != verdict => Verdict::Undecided,
        _ => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { quartet_ns: 1e5, budget_ns: 3e9 };

    fn trial(quartets: impl IntoIterator<Item = Quartet>) -> Trial {
        let mut trial = Trial::new(PACE, 0.005, false);
        for quartet in quartets {
            trial.push(quartet);
        }
        trial
    }

    #[test]
    fn rounds_are_as_long_as_the_budget_has_room_for() {
        let per_round =
            |quartet_ns| Trial::new(Pace { quartet_ns, budget_ns: 3e9 }, 0.005, false).per_round;
        // 3 s over 30 rounds are 100 ms each.
        assert_eq!([1e6, 2.6e7, 3e7, 4.9e7, 9e7, 5e8].map(per_round), [4, 3, 3, 2, 1, 1]);
    }

    #[test]
    fn each_order_comes_once_in_two_quartets() {
        let mut trial = Trial::new(PACE, 0.005, false);
        let orders: Vec<bool> = (0..40).map(|_| trial.base_is_outside()).collect();
        assert!(orders.chunks(2).all(|pair| pair[0] != pair[1]));
        let firsts = orders.iter().step_by(2).filter(|order| **order).count();
        assert!((4..=16).contains(&firsts), "{firsts}");
    }

    #[test]
    fn a_round_is_a_ratio_of_medians() {
        // One round of four quartets: the baseline's eight times have the median 100, the candidate's 103.
        let quartet = |base, new| Quartet { base_ns: base, new_ns: new, clock_hz: None };
        let trial = trial([
            quartet([100.0, 100.0], [103.0, 103.0]),
            quartet([90.0, 100.0], [103.0, 900.0]),
            quartet([100.0, 700.0], [90.0, 103.0]),
            quartet([99.0, 101.0], [102.0, 104.0]),
        ]);
        let rounds = trial.rounds(|_| Some(1.0)).unwrap();
        assert_eq!(rounds.len(), 1);
        assert!((rounds[0].exp() - 1.03).abs() < 1e-12);
    }

    #[test]
    fn a_clock_that_moved_must_agree() {
        let interval = |low, high| Interval { ratio: 1.0, low, high, confidence: 0.99 };
        let margin = Margin { max_slowdown: 0.005, noise: 0.0, timer: 0.0, between_runs: 0.0 };
        let slow = interval(1.01, 1.02);
        let same = interval(0.999, 1.001);
        assert_eq!(confirmed(&slow, None, &margin), Verdict::Slower);
        assert_eq!(confirmed(&slow, Some(&slow), &margin), Verdict::Slower);
        assert_eq!(confirmed(&slow, Some(&same), &margin), Verdict::Undecided);
    }

    #[test]
    fn a_steady_clock_has_not_moved() {
        let quartet = |clock_hz| Quartet { base_ns: [1e5; 2], new_ns: [1e5; 2], clock_hz };
        let steady = trial((0..80).map(|_| quartet(Some(1.98e9))));
        assert_eq!(steady.clock(), Some((1.98e9, 0.0)));
        // 20 rounds, the last ten at 1.5 GHz: the middle is between both, a quarter of the way apart.
        let moved = trial((0..80).map(|at| quartet(Some(if at < 40 { 2e9 } else { 1.5e9 }))));
        let (middle, share) = moved.clock().unwrap();
        assert!((middle - 1.75e9).abs() < 1.0 && (share - 0.5 / 1.75).abs() < 1e-9);
        assert_eq!(trial([quartet(None)]).clock(), None);
    }

    #[test]
    fn what_is_beyond_the_last_whole_round_belongs_to_it() {
        let quartet = |new| Quartet { base_ns: [100.0; 2], new_ns: [new; 2], clock_hz: Some(2.0) };
        // One of four beside three more: of fourteen times the middle ones are 110.
        let trial = trial([101.0, 101.0, 101.0, 110.0, 110.0, 110.0, 110.0].map(quartet));
        let rounds = trial.rounds(|_| Some(1.0)).unwrap();
        assert!(rounds.len() == 1 && (rounds[0].exp() - 1.1).abs() < 1e-12, "{rounds:?}");
        // Cycles of one clock have the ratio of the times.
        assert_eq!(trial.rounds(|quartet| quartet.clock_hz).unwrap().len(), 1);
        let cycles = trial.rounds(|quartet| quartet.clock_hz).unwrap();
        assert!((cycles[0].exp() - 1.1).abs() < 1e-12, "{cycles:?}");
    }

    #[test]
    fn a_look_counts_runs_and_reads_the_clock_where_it_moved() {
        let look = |moves: bool| {
            let clock = |at: i32| if moves && at >= 24 { 1.5e9 } else { 2e9 };
            let quartet =
                |at| Quartet { base_ns: [1e5; 2], new_ns: [1e5; 2], clock_hz: Some(clock(at)) };
            let mut trial = trial((0..48).map(quartet));
            let comparison = trial.look().unwrap();
            // Twelve rounds of four: the next look is at eighteen.
            assert!(!trial.is_time_to_look());
            (48..71).for_each(|at| trial.push(quartet(at)));
            assert!(!trial.is_time_to_look());
            trial.push(quartet(71));
            assert!(trial.is_time_to_look());
            comparison
        };
        assert_eq!(look(false).runs, 96);
        // The first look may err with a half of a hundredth.
        assert!((look(false).time.confidence - 0.995).abs() < 1e-12);
        assert!(look(false).cycles.is_none() && look(true).cycles.is_some());
    }

    #[test]
    fn the_first_look_is_at_ten_rounds_and_a_clock_moves_by_a_hundredth() {
        let cycles = |share: f64| {
            let quartet = |at| Quartet {
                base_ns: [1e5; 2],
                new_ns: [1e5; 2],
                clock_hz: Some(if at < 20 { 1e9 } else { 1e9 * (1.0 + share) }),
            };
            let mut trial = trial((0..39).map(quartet));
            assert!(!trial.is_time_to_look());
            trial.push(quartet(39));
            assert!(trial.is_time_to_look());
            trial.look().unwrap().cycles.is_some()
        };
        // Over a middle of a clock half a hundredth higher, 0.99% and 1.01%.
        assert!(cycles(0.01 * 1.02) && !cycles(0.01 * 0.98));
    }

    #[test]
    fn single_rounds_of_another_clock_are_no_move() {
        // One round of forty: beyond the 95th percentile.
        let quartet = |at| Quartet {
            base_ns: [1e5; 2],
            new_ns: [1e5; 2],
            clock_hz: Some(if at < 4 { 1e9 } else { 2e9 }),
        };
        assert_eq!(trial((0..160).map(quartet)).clock(), Some((2e9, 0.0)));
    }
}
