//! What changes without new code gave.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::Estimate;
use crate::timing::Timing;

/// A change without new code, made for a finding and timed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// The rule whose finding asks for it.
    pub rule: String,
    /// What was changed: `maxrregcount=40`, `TILE=32`, `fast-math=true`.
    pub change: String,
    /// What the finding says that its fault costs, for comparison; null where it has no estimate.
    pub promised: Option<Estimate>,
    /// Kernel time with the change, measured without the profiler; null where it failed.
    pub time_ns: Option<Timing>,
    /// The time without the change over the time with it, both from runs of this command; null where it
    /// failed.
    pub measured: Option<Estimate>,
    /// True where the answer was checked and is right.
    pub verified: bool,
    /// Why it failed: it did not compile, or the answer was wrong; null where it ran.
    pub error: Option<String>,
}

impl Tried {
    /// True where the change is faster beyond the spread of both times.
    #[must_use]
    pub fn gains(&self) -> bool {
        self.measured.is_some_and(|measured| measured.low > 1.0)
    }

    /// True where the change is slower beyond the spread of both times.
    #[must_use]
    pub fn loses(&self) -> bool {
        self.measured.is_some_and(|measured| measured.high < 1.0)
    }
}

/// The time of one over that of another; from the slowest of one over the fastest of the other to the
/// reverse.
#[must_use]
pub fn gain(before: &Timing, after: &Timing) -> Option<Estimate> {
    let ratio = |a: f64, b: f64| (a > 0.0 && b > 0.0).then(|| a / b);
    Some(Estimate {
        factor: ratio(before.median, after.median)?,
        low: ratio(before.low, after.high)?,
        high: ratio(before.high, after.low)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(median: f64, low: f64, high: f64) -> Timing {
        Timing { median, low, high, n: 10 }
    }

    fn tried(before: Timing, after: Timing) -> Tried {
        Tried {
            rule: "register-spilling".to_owned(),
            change: "carveout=0".to_owned(),
            promised: None,
            time_ns: Some(after),
            measured: gain(&before, &after),
            verified: true,
            error: None,
        }
    }

    #[test]
    fn a_gain_is_one_beyond_the_spread_of_both_times() {
        let gained = tried(timing(20.0, 19.0, 21.0), timing(10.0, 9.5, 10.5));
        let measured = gained.measured.unwrap();
        assert!((measured.factor - 2.0).abs() < 1e-12);
        assert!((measured.low - 19.0 / 10.5).abs() < 1e-12);
        assert!((measured.high - 21.0 / 9.5).abs() < 1e-12);
        assert!(gained.gains() && !gained.loses());
        let same = tried(timing(20.0, 19.0, 21.0), timing(19.5, 18.5, 20.5));
        assert!(!same.gains() && !same.loses());
        assert!(tried(timing(10.0, 9.5, 10.5), timing(20.0, 19.0, 21.0)).loses());
        assert_eq!(gain(&timing(0.0, 0.0, 0.0), &timing(1.0, 1.0, 1.0)), None);
    }
}
