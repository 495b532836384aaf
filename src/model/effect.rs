//! What taking a fault away does to the terms.

use crate::metric::stall::StallReason;
use crate::term::Term;

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
    /// The share of the present time that remains at least: what a warp does one after another and that
    /// no other warp can take over (0 to 1).
    pub least: f64,
    /// The share of the present time that is a phase of its own, in which nothing else happens, and that goes
    /// whole (0 to 1).
    pub phase: f64,
    /// True where the fixed cost of the launch goes.
    pub launch: bool,
    /// The share of the pauses before such launches that goes with the launches (0 to 1).
    pub pauses: f64,
    /// How many launches become one; 0 and 1 for none.
    pub merged: f64,
    /// How many rounds their blocks then take, each as long as one launch's now; 0 and 1 where all run
    /// at once.
    pub rounds: f64,
    /// Terms most of whose work nobody needs, whatever of it the change spares: none of them is at a roof.
    pub wasted: Vec<Term>,
    /// What a lesser change takes away that does for the fault too: the range begins with it.
    pub at_least: Option<Box<Effect>>,
    /// The speed-up that no change can exceed: as many times as fast as the parts into which the work is divided.
    pub at_most: Option<f64>,
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
            least: self.least.max(other.least),
            phase: self.phase.max(other.phase),
            launch: self.launch || other.launch,
            pauses: self.pauses.max(other.pauses),
            merged: self.merged.max(other.merged),
            rounds: self.rounds.max(other.rounds),
            wasted: self.wasted.iter().chain(&other.wasted).copied().collect(),
            at_least: None,
            at_most: None,
        }
    }

    /// True where no unit has less to do and no SM that is idle gets work: warps wait less, or more of them wait side by
    /// side.
    #[must_use]
    pub fn only_hides(&self) -> bool {
        let works = |(term, share): &(Term, f64)| *term != Term::BlockScheduler && *share > 0.0;
        !self.removed.iter().any(works)
            && self.idle <= 0.0
            && self.phase <= 0.0
            && !self.launch
            && self.pauses <= 0.0
            && self.merged <= 1.0
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
