//! A part of a run, by time since the device's first work.

use super::Survey;
use super::record::{Kernel, Process, Span};

/// From when to when; each end may be open.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Phase {
    /// Time since the device's first work, ns.
    pub from_ns: f64,
    /// The same of its end, which is no longer part of it; `None` for the program's end.
    pub to_ns: Option<f64>,
}

impl Phase {
    /// The same on the clock of a survey's records; `None` where no device did anything.
    #[must_use]
    pub fn span(self, survey: &Survey) -> Option<Span> {
        let spans = || survey.processes.iter().flat_map(Process::device_spans);
        let first = spans().map(|span| span.start).min()?;
        let last = spans().map(|span| span.end).max()?;
        let after = |ns: f64| first.saturating_add(ns as u64);
        let end = self.to_ns.map_or(u64::MAX, after).min(last.saturating_add(1));
        Some(Span { start: after(self.from_ns), end })
    }
}

/// True for what starts in a span.
pub(crate) fn starts_in(phase: Option<Span>, kernel: &Kernel) -> bool {
    phase.is_none_or(|phase| is_in(phase, kernel.span))
}

fn is_in(phase: Span, span: Span) -> bool {
    phase.start <= span.start && span.start < phase.end
}

/// What a survey has of a phase, and its time as the program's. Numbers of launches within it are not those
/// of the whole survey.
#[must_use]
pub(crate) fn part(survey: &Survey, phase: Span) -> Survey {
    let mut part = survey.clone();
    part.wall_ns = phase.ns();
    for process in &mut part.processes {
        process.start = process.start.max(phase.start);
        process.kernels.retain(|one| is_in(phase, one.span));
        process.copies.retain(|one| is_in(phase, one.span));
        process.fills.retain(|one| is_in(phase, one.span));
        process.calls.retain(|one| is_in(phase, one.span));
        process.waits.retain(|one| is_in(phase, one.span));
        process.migrations.retain(|one| is_in(phase, one.span));
        process.compilations.retain(|one| is_in(phase, one.span));
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::samples::{process, shape};

    /// Four launches of 100 ns from 1000 ns on.
    fn survey() -> Survey {
        let process = process(&[shape("a", 1)], &[(0, 100); 4]);
        Survey { wall_ns: 9e9, processes: vec![process], ..Survey::default() }
    }

    #[test]
    fn a_phase_counts_from_the_devices_first_work() {
        let survey = survey();
        let span = |from_ns, to_ns| Phase { from_ns, to_ns }.span(&survey).unwrap();
        assert_eq!(span(100.0, Some(300.0)), Span { start: 1100, end: 1300 });
        // An open or a late end is that of the device's last work.
        assert_eq!(span(0.0, None), Span { start: 1000, end: 1401 });
        assert_eq!(span(0.0, Some(1e9)), Span { start: 1000, end: 1401 });
        assert_eq!(Phase::default().span(&Survey::default()), None);
    }

    #[test]
    fn what_starts_in_a_phase_belongs_to_it() {
        let survey = survey();
        let part = part(&survey, Span { start: 1100, end: 1300 });
        let starts: Vec<u64> = part.processes[0].kernels.iter().map(|k| k.span.start).collect();
        assert_eq!((starts, part.wall_ns), (vec![1100, 1200], 200.0));
        assert_eq!(part.processes[0].start, 1100);
    }
}
