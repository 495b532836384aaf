//! Results of several kernels that ncu counted together: ranges, CUDA graphs, lists of commands.

use crate::finding::{Bound, Name};
use crate::frame::Launch;
use crate::rules::Rule;
use crate::text::{count, count_of};

/// What such a result lacks for a rule that asks how one kernel was launched, as `skipped` names it.
const ONE_KERNEL: &str = "counters of one kernel alone";

/// What a launch lacks for a rule. What was launched together has no grid, and is not too short for one launch.
#[must_use]
pub(super) fn missing(rule: &Rule, launch: &Launch) -> Vec<Name> {
    let asks_for_one = || {
        rule.bound == Some(Bound::Launch)
            || rule.needs.iter().any(|metric| metric.starts_with("launch__"))
    };
    if launch.row.is_of_several_kernels() && asks_for_one() {
        return vec![ONE_KERNEL.into()];
    }
    rule.missing(launch)
}

/// How many results there are, and how many are of several kernels.
#[derive(Debug, Default)]
pub(super) struct Several {
    all: usize,
    several: usize,
}

impl Several {
    /// Counts a result.
    pub(super) fn note(&mut self, launch: &Launch) {
        self.all += 1;
        self.several += usize::from(launch.row.is_of_several_kernels());
    }

    /// What a user should know first where results are of several kernels, in one sentence; `None` where none is.
    pub(super) fn remark(&self) -> Option<String> {
        let of = match (self.several, self.all) {
            (0, _) => return None,
            (1, 1) => "this result is".to_owned(),
            (several, all) if several == all => {
                format!("all {} are", count_of(all as f64, "result"))
            }
            (several, all) => {
                format!("{} of {} are", count(several as f64), count_of(all as f64, "result"))
            }
        };
        Some(sentence(&of))
    }
}

fn sentence(of: &str) -> String {
    format!(
        "{of} of several kernels that ncu counted together (a range, a CUDA graph): their counters are mixed, \
         there is no machine code (SASS), and adoprof calls nothing at its limit; collect with \
         --replay-mode kernel (graphs: --graph-profiling node) to see each kernel"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::diagnose;

    /// A launch of a microsecond and a half, as long as an empty kernel on an H200.
    fn short(kernel: &str) -> Launch {
        let mut launch = Launch::default();
        launch.row.kernel = kernel.to_owned();
        launch.row.compute_capability = Some((9, 0));
        launch.row.device = Some("NVIDIA H200".to_owned());
        launch.set("gpu__time_duration.sum", Some(1500.0));
        launch
    }

    #[test]
    fn a_range_is_not_judged_as_one_launch() {
        let found = |kernel: &str| -> Vec<String> {
            diagnose(&short(kernel)).findings.into_iter().map(|finding| finding.rule).collect()
        };
        assert_eq!(found("scale"), ["launch-overhead-bound"]);
        assert!(found("range").is_empty() && found("graph").is_empty());
        let skipped = diagnose(&short("graph")).skipped;
        let of = |rule: &str| skipped.iter().find(|skipped| skipped.rule == rule);
        assert_eq!(of("launch-overhead-bound").unwrap().missing, [ONE_KERNEL]);
        assert_eq!(of("grid-too-small").unwrap().missing, [ONE_KERNEL]);
    }

    #[test]
    fn the_remark_says_how_many_are_meant() {
        let (one, range) = (short("scale"), short("range"));
        let several_remark = |launches: &[&Launch]| {
            let mut counted = Several::default();
            for launch in launches {
                counted.note(launch);
            }
            counted.remark()
        };
        assert_eq!(several_remark(&[&one]), None);
        assert!(several_remark(&[&range]).unwrap().starts_with("this result is of several"));
        assert!(several_remark(&[&one, &range]).unwrap().starts_with("1 of 2 results are of"));
        assert!(several_remark(&[&range, &range]).unwrap().starts_with("all 2 results are of"));
    }
}
