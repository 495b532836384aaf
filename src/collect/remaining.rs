//! How long a collection still takes.

use std::time::Duration;

use crate::ncu::Progress;
use crate::text::{count_of, duration};

/// A time is said from here on: before, too little is known.
const LEAST_DONE: f64 = 0.1;

/// What is done of a run whose number of launches is known.
#[derive(Debug, Default)]
pub(super) struct Remaining {
    /// Launches that the run is to profile; `None` where nothing says how many.
    expected: Option<usize>,
    /// Those that it began.
    begun: usize,
    /// The number of the one under way.
    launch: Option<u32>,
    /// When the first began.
    first: Option<Duration>,
}

impl Remaining {
    pub(super) fn new(expected: Option<usize>) -> Self {
        Self { expected, ..Self::default() }
    }

    /// `launch 2 of 5, about 20.0 s left`, some time after the run's start; empty where the number of launches
    /// is not known.
    pub(super) fn words(&mut self, step: &Progress, since_start: Duration) -> String {
        let first = *self.first.get_or_insert(since_start);
        if self.launch != Some(step.launch) {
            self.launch = Some(step.launch);
            self.begun += 1;
        }
        // A program that launches more than it did in the survey has no number that holds.
        let Some(expected) = self.expected.filter(|&expected| self.begun <= expected) else {
            return String::new();
        };
        let done = (self.begun - 1) as f64 + f64::from(step.percent) / 100.0;
        let left = expected as f64 - done;
        let place = format!(", launch {} of {expected}", self.begun);
        if done < LEAST_DONE || left <= 0.0 {
            return place;
        }
        let ns = since_start.saturating_sub(first).as_nanos() as f64 / done * left;
        // Less than a second is over before it is read.
        if ns < 1e9 { place } else { format!("{place}, about {} left", duration(ns)) }
    }
}

/// What a collection is going to replay: `, 5 launches, about 40 passes per launch`.
pub(super) fn price(launches: Option<usize>, passes: Option<u32>) -> String {
    let launches = launches.map(|launches| count_of(launches as f64, "launch"));
    let passes = passes.map(|passes| format!("about {} per launch", super::passes_of(passes)));
    launches.into_iter().chain(passes).fold(String::new(), |text, part| text + ", " + &part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(launch: u32, percent: u8) -> Progress {
        Progress { kernel: "k".to_owned(), launch, percent, passes: None }
    }

    #[test]
    fn what_is_done_says_how_long_the_rest_takes() {
        let mut remaining = Remaining::new(Some(4));
        let s = Duration::from_secs;
        // The program's own start of ten seconds is no part of it.
        assert_eq!(remaining.words(&step(3, 0), s(10)), ", launch 1 of 4");
        assert_eq!(remaining.words(&step(3, 50), s(20)), ", launch 1 of 4, about 70.0 s left");
        assert_eq!(remaining.words(&step(9, 0), s(30)), ", launch 2 of 4, about 60.0 s left");
        for launch in 10..12 {
            remaining.words(&step(launch, 0), s(40));
        }
        assert_eq!(remaining.words(&step(11, 100), s(90)), ", launch 4 of 4");
        assert_eq!(remaining.words(&step(12, 50), s(95)), "", "one more than was meant");
        assert_eq!(Remaining::new(None).words(&step(0, 50), s(5)), "");
    }
}
