//! What is left of the time without a fault, and what limits the launch then.

use crate::term::Term;

/// What would be left of the time without a fault, as shares of the present time.
pub(super) struct Left {
    /// The longest term and its busy share.
    pub longest: (Term, f64),
    /// The launch's own cost, which stays whatever the kernel does.
    pub fixed: f64,
    /// SMs without a block because there is no work: blocks that get shorter leave them idle for less.
    pub idle: f64,
    /// Latency that more warps do not cover, before the fault's own stalls go.
    pub waiting: f64,
    /// The share of that latency which the fault's stalls make up.
    pub gone: f64,
    /// The time that warps would need one after another.
    pub warps: f64,
    /// The time below which a change that only shortens waits does not bring it: no pipe of the SM gets busier than
    /// tuned kernels make it. 0 for other changes; more warps do fill a pipe.
    pub hiding: f64,
}

impl Left {
    /// The waiting that is left at least: the fault's own stalls and queues gone.
    pub(super) fn shortest(&self) -> f64 {
        (self.waiting * (1.0 - self.gone)).max(self.hiding - self.longest.1)
    }

    /// The waiting that is left where warps need longer one after another than the units do.
    pub(super) fn slowest(&self) -> f64 {
        self.shortest().max(self.warps - self.longest.1)
    }

    /// The likely waiting: the geometric middle of the times with either, since what the other waits
    /// owe to the fault is not known.
    pub(super) fn likely(&self) -> f64 {
        let busy = self.longest.1;
        ((busy + self.shortest()) * (busy + self.slowest())).sqrt() - busy
    }

    /// The time, as a share of the present time, with so much waiting. SMs idle for their share of the
    /// time that blocks take, however long that is.
    pub(super) fn time(&self, waiting: f64) -> f64 {
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
