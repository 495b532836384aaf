//! Findings of all launches of a document in one order, by what each would give of the whole time.

use super::program::is_another_run;
use super::{Document, LaunchReport};
use crate::finding::Estimate;

/// A fault of a document, over all its launches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked<'a> {
    /// The rule.
    pub rule: &'a str,
    /// What taking it away would give of the time of all launches together.
    pub estimate: Option<Estimate>,
}

/// What is left of the whole time, as a factor, where a share of it is saved.
fn factor(saved: f64) -> f64 {
    1.0 / (1.0 - saved).max(f64::MIN_POSITIVE)
}

impl Document {
    /// The share of the whole time that a launch takes; 1 where it is the only one. Of a program that was
    /// surveyed, the share of its time that the launch's group takes.
    #[must_use]
    pub fn share(&self, launch: &LaunchReport) -> f64 {
        match &self.program {
            Some(program) => launch.time_share * program.kernel_share(),
            None if self.launches.len() == 1 => 1.0,
            None => launch.time_share,
        }
    }

    /// The part of [`Self::share`] that findings know of. What a launch takes in the program beyond its time under the profiler is
    /// in no counter.
    #[must_use]
    pub fn explained_share(&self, launch: &LaunchReport) -> f64 {
        self.share(launch) * self.explained(launch)
    }

    /// The share of what a launch takes in the program that the profiler saw, 0 to 1: less than all where it ran faster under
    /// the profiler, by itself and with its data in place.
    fn explained(&self, launch: &LaunchReport) -> f64 {
        let index = self.launches.iter().position(|other| std::ptr::eq(other, launch));
        let groups = self.program.iter().flat_map(|program| &program.groups);
        let group = groups.into_iter().find(|group| index.is_some() && group.launch == index);
        match (group.map(|group| group.median_ns), launch.duration_ns) {
            (Some(in_program), Some(profiled)) if is_another_run(profiled, in_program) => {
                (profiled / in_program).min(1.0)
            }
            _ => 1.0,
        }
    }

    /// A gain of one launch as a gain of the whole time: a launch with share s and factor f leaves
    /// 1 − s·(1 − 1/f) of it.
    #[must_use]
    pub fn over_all_launches(&self, launch: &LaunchReport, gain: &Estimate) -> Estimate {
        let share = self.explained_share(launch);
        let whole = |gain: f64| factor(share * (1.0 - 1.0 / gain));
        Estimate { factor: whole(gain.factor), low: whole(gain.low), high: whole(gain.high) }
    }

    /// Every fault once. The findings of a single launch keep their order; of several launches the
    /// verdict comes first and the others follow by what they would save over all launches.
    #[must_use]
    pub fn ranked(&self) -> Vec<Ranked<'_>> {
        if let ([launch], None) = (self.launches.as_slice(), &self.program) {
            let ranked = |finding: &'_ super::RankedFinding| finding.estimated_speedup;
            return launch
                .findings
                .iter()
                .map(|finding| Ranked { rule: &finding.rule, estimate: ranked(finding) })
                .collect();
        }
        // Shares of the whole time that go: likely, at least, at most.
        let mut saved: Vec<(&str, Option<[f64; 3]>)> = Vec::new();
        for launch in &self.launches {
            for finding in &launch.findings {
                let of_launch = finding.estimated_speedup.map(|gain| {
                    [gain.factor, gain.low, gain.high]
                        .map(|gain| self.explained_share(launch) * (1.0 - 1.0 / gain))
                });
                match saved.iter_mut().find(|(rule, _)| *rule == finding.rule) {
                    Some((_, sum)) => *sum = add(*sum, of_launch),
                    None => saved.push((&finding.rule, of_launch)),
                }
            }
        }
        for finding in self.program.iter().flat_map(|program| &program.findings) {
            let gain = finding.estimated_speedup;
            let of_program = [gain.factor, gain.low, gain.high].map(|gain| 1.0 - 1.0 / gain);
            saved.push((&finding.rule, Some(of_program)));
        }
        let verdict = self.verdict.as_ref().map(|verdict| verdict.rule.as_str());
        let key = |(rule, saved): &(&str, Option<[f64; 3]>)| {
            (Some(*rule) == verdict, saved.map_or(0.0, |[likely, ..]| likely))
        };
        saved.sort_by(|a, b| {
            let (a, b) = (key(a), key(b));
            b.0.cmp(&a.0).then(b.1.total_cmp(&a.1))
        });
        saved
            .into_iter()
            .map(|(rule, saved)| Ranked {
                rule,
                estimate: saved.map(|[likely, low, high]| Estimate {
                    factor: factor(likely),
                    low: factor(low),
                    high: factor(high),
                }),
            })
            .collect()
    }
}

fn add(a: Option<[f64; 3]>, b: Option<[f64; 3]>) -> Option<[f64; 3]> {
    match (a, b) {
        (Some(a), Some(b)) => Some([a[0] + b[0], a[1] + b[1], a[2] + b[2]]),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use crate::report::samples;

    #[test]
    fn one_launch_keeps_its_order() {
        let document = samples::recorded_step();
        let rules: Vec<&str> = document.ranked().iter().map(|ranked| ranked.rule).collect();
        assert_eq!(rules, ["uncoalesced-global-access", "shared-memory-pressure"]);
        assert_eq!(document.ranked()[0].estimate.map(|gain| gain.factor), Some(1.8));
    }

    #[test]
    fn several_launches_are_ranked_by_what_they_save_of_the_whole() {
        let mut document = samples::program();
        // Half of the time twice as fast leaves three quarters; 45% at 1.3 saves 10%; 5% at 1.1
        // half a percent.
        let ranked = document.ranked();
        let rules: Vec<&str> = ranked.iter().map(|ranked| ranked.rule).collect();
        assert_eq!(rules, ["uncoalesced-global-access", "barrier-stalls", "partial-wave"]);
        let factor = ranked[0].estimate.map_or(0.0, |gain| gain.factor);
        assert!((factor - 4.0 / 3.0).abs() < 1e-12, "{factor}");
        // The same fault in the third launch adds to it: 0.5·0.5 + 0.45·(1 − 1/1.3) = 0.3538.
        document.launches[2].findings[0].rule = "uncoalesced-global-access".to_owned();
        let factor = document.ranked()[0].estimate.map_or(0.0, |gain| gain.factor);
        assert!((factor - 1.0 / (1.0 - 0.25 - 0.45 * 0.3 / 1.3)).abs() < 1e-12, "{factor}");
    }
}
