//! The gates of `--fail-on`: `rule:NAME`, `rule:NAME>1.2`, `metric:NAME>+10%`, `metric:NAME>1e9`, `metric:NAME<50`.

use std::str::FromStr;

use super::{GateOutcome, Outcome};
use crate::finding::Location;
use crate::metric::{CATALOGUE, canonical};
use crate::rules::RULES;
use crate::text::nearest;
use crate::user_rules::PREFIX;
use crate::{around, rules};

/// A gate.
#[derive(Debug, Clone, PartialEq)]
pub struct FailOn {
    /// As it was written.
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    /// A finding of this rule, worth more than so much.
    Rule { name: String, least: Option<f64> },
    /// The same of a rule on what lies around a program's kernels.
    Around { name: String, least: Option<f64> },
    /// A metric beyond a bound.
    Metric { name: String, is_above: bool, bound: Bound },
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Bound {
    /// A share above or below the baseline's value.
    Relative(f64),
    /// A value in the metric's unit.
    Absolute(f64),
}

/// A finding, as far as gates ask.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub rule: String,
    pub factor: Option<f64>,
    pub place: Option<Location>,
}

/// A launch of the candidate, as far as gates ask.
pub(crate) struct Seen<'a> {
    /// What to call it, empty where there is only one.
    pub kernel: String,
    pub findings: Vec<Found>,
    /// Rules that could not be checked.
    pub skipped: Vec<String>,
    /// The value of a metric here, and in the baseline's launch that goes with this one.
    pub metric: Box<dyn Fn(&str) -> NewAndBase + 'a>,
}

/// A metric's value in the candidate and in the baseline.
pub(crate) type NewAndBase = (Option<f64>, Option<f64>);

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a gate: write rule:NAME, rule:NAME>FACTOR, metric:NAME>+10% (more than the \
                 baseline's), metric:NAME<-10% (less), metric:NAME>VALUE, or metric:NAME<VALUE"
            )
        };
        let (kind, rest) = text.split_once(':').ok_or_else(wrong)?;
        let at = rest.find(['>', '<']);
        let (name, bound) = at.map_or((rest, None), |at| (&rest[..at], Some(&rest[at + 1..])));
        let is_above = at.is_none_or(|at| rest[at..].starts_with('>'));
        let name = name.trim().to_owned();
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
        let kind = match (kind.trim(), bound) {
            _ if name.is_empty() => return Err(wrong()),
            ("rule", None) => Kind::Rule { name, least: None },
            ("rule", Some(factor)) if is_above => {
                Kind::Rule { name, least: Some(number(factor).ok_or_else(wrong)?) }
            }
            ("metric", Some(bound)) => {
                let bound = match bound.trim().strip_suffix('%') {
                    Some(share) if share.trim_start().starts_with(['+', '-']) => {
                        Bound::Relative(number(share).ok_or_else(wrong)? / 100.0)
                    }
                    // A percentage of its own unit: `metric:…pct<50%`.
                    Some(value) => Bound::Absolute(number(value).ok_or_else(wrong)?),
                    None => Bound::Absolute(number(bound).ok_or_else(wrong)?),
                };
                Kind::Metric { name, is_above, bound }
            }
            _ => return Err(wrong()),
        };
        let kind = match kind {
            Kind::Rule { name, least } if around::find(&name).is_some() => {
                Kind::Around { name, least }
            }
            // A user's rules are not read yet where the command line is.
            Kind::Rule { name, .. }
                if rules::find(&name).is_none() && !name.starts_with(PREFIX) =>
            {
                let names = RULES.iter().map(|rule| rule.name);
                let names = names.chain(around::RULES.iter().map(|rule| rule.name));
                let meant = meant(nearest(&name, names));
                return Err(format!(
                    "there is no rule `{name}`{meant}; `adoprof explain` lists them"
                ));
            }
            kind => kind,
        };
        Ok(Self { text: text.to_owned(), kind })
    }
}

impl FailOn {
    /// The rule that it asks for and that there is not.
    pub(crate) fn unknown_rule(&self) -> Option<&str> {
        match &self.kind {
            Kind::Rule { name, .. } if rules::find(name).is_none() => Some(name),
            _ => None,
        }
    }

    /// The metric that it asks for.
    pub(crate) fn metric(&self) -> Option<&str> {
        match &self.kind {
            Kind::Metric { name, .. } => Some(name),
            Kind::Rule { .. } | Kind::Around { .. } => None,
        }
    }

    /// True where a survey alone can judge it: it asks for what lies around kernels.
    pub(crate) fn needs_survey_only(&self) -> bool {
        matches!(self.kind, Kind::Around { .. })
    }

    /// What it comes to on the candidate's launches and on what lies around them; `None` where that was not recorded.
    pub(crate) fn judge(&self, launches: &[Seen], around: Option<&[Found]>) -> GateOutcome {
        if let Kind::Around { name, least } = &self.kind {
            return self.judge_around(name, *least, around);
        }
        let mut outcome = Outcome::Passed;
        let (mut failed, mut unknown, mut place) = (Vec::new(), Vec::new(), None);
        for launch in launches {
            let of = if launch.kernel.is_empty() {
                String::new()
            } else {
                format!("{}: ", launch.kernel)
            };
            match self.of_launch(launch) {
                Ok(None) => {}
                Ok(Some((seen, at))) => {
                    outcome = Outcome::Failed;
                    failed.push(format!("{of}{seen}"));
                    place = place.or(at);
                }
                Err(why) => unknown.push(format!("{of}{why}")),
            }
        }
        if launches.is_empty() {
            unknown.push("the candidate was not profiled".to_owned());
        }
        if outcome == Outcome::Passed && !unknown.is_empty() {
            outcome = Outcome::Unknown;
        }
        let seen = if outcome == Outcome::Failed { failed } else { unknown };
        GateOutcome { gate: self.text.clone(), outcome, seen, place }
    }

    /// What a rule on what lies around kernels comes to.
    fn judge_around(
        &self,
        name: &str,
        least: Option<f64>,
        around: Option<&[Found]>,
    ) -> GateOutcome {
        let (outcome, seen) = match around.map(|found| find(found, name, least)) {
            None => {
                let why =
                    "the candidate was not surveyed, so faults around its kernels are unknown";
                (Outcome::Unknown, vec![why.to_owned()])
            }
            Some(None) => (Outcome::Passed, Vec::new()),
            Some(Some(found)) => (Outcome::Failed, vec![said(found)]),
        };
        GateOutcome { gate: self.text.clone(), outcome, seen, place: None }
    }

    /// What was seen of it in a launch, with the line; `None` where nothing, an error where it can't be seen.
    fn of_launch(&self, launch: &Seen) -> Result<Option<(String, Option<Location>)>, String> {
        match &self.kind {
            Kind::Rule { name, least } => {
                if launch.skipped.contains(name) {
                    return Err(format!(
                        "{name} could not be checked, because metrics are missing"
                    ));
                }
                let found = find(&launch.findings, name, *least);
                Ok(found.map(|found| (said(found), found.place.clone())))
            }
            // Judged once, and not for each launch.
            Kind::Around { .. } => Ok(None),
            Kind::Metric { name, is_above, bound } => {
                let (new, base) = (launch.metric)(name);
                let new = new.ok_or_else(|| not_collected(name))?;
                let limit = match bound {
                    Bound::Absolute(limit) => *limit,
                    Bound::Relative(share) => {
                        let base = base.ok_or_else(|| format!("the baseline has no {name}"))?;
                        base + share * base.abs()
                    }
                };
                let is_beyond = if *is_above { new > limit } else { new < limit };
                let way = if *is_above { "above" } else { "below" };
                let before =
                    base.map_or(String::new(), |base| format!(", {} before", digits(base)));
                let (new, limit) = (digits(new), digits(limit));
                Ok(is_beyond.then(|| (format!("{name} is {new}{before}: {way} {limit}"), None)))
            }
        }
    }
}

/// A number as ncu has it. What was computed from another unit may differ from that by rounding: 0.6831999999999999.
fn digits(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// A metric that ncu has and the catalogue does not is no mistake, so a misspelt one is told only where it has no
/// value.
fn not_collected(name: &str) -> String {
    let is_known = canonical(name).is_some();
    let near = || nearest(name, CATALOGUE.iter().map(|metric| metric.name));
    format!("{name} was not collected{}", meant((!is_known).then(near).flatten()))
}

fn meant(near: Option<&str>) -> String {
    near.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// A finding of a rule that is worth more than so much.
fn find<'a>(findings: &'a [Found], name: &str, least: Option<f64>) -> Option<&'a Found> {
    let is_beyond = |found: &&Found| {
        least.is_none_or(|least| found.factor.is_some_and(|factor| factor > least))
    };
    findings.iter().filter(|found| found.rule == name).find(is_beyond)
}

/// `partial-wave was found, worth 1.30×`.
fn said(found: &Found) -> String {
    let worth = found.factor.map_or(String::new(), |factor| format!(", worth {factor:.2}×"));
    format!("{} was found{worth}", found.rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRIC: &str = "dram__bytes.sum";
    const RULE: &str = "uncoalesced-global-access";

    fn launch(new: Option<f64>, base: Option<f64>, factor: Option<f64>) -> Seen<'static> {
        let found = Found { rule: RULE.to_owned(), factor, place: None };
        Seen {
            kernel: String::new(),
            findings: factor.is_some().then_some(found).into_iter().collect(),
            skipped: vec!["register-spilling".to_owned()],
            metric: Box::new(move |name| if name == METRIC { (new, base) } else { (None, None) }),
        }
    }

    fn outcome(gate: &str, launch: Seen) -> Outcome {
        gate.parse::<FailOn>().unwrap().judge(&[launch], None).outcome
    }

    #[test]
    fn metrics_are_held_against_the_baseline_or_a_value() {
        for (bound, new, expected) in [
            (">+10%", 110.0, Outcome::Passed),
            (">+10%", 110.5, Outcome::Failed),
            ("<-10%", 90.0, Outcome::Passed),
            ("<-10%", 89.0, Outcome::Failed),
            (">0", 1.0, Outcome::Failed),
            (">1e3", 999.0, Outcome::Passed),
            ("<50%", 49.0, Outcome::Failed),
            (">+0%", 100.0, Outcome::Passed),
        ] {
            let gate = format!("metric:{METRIC}{bound}");
            assert_eq!(
                outcome(&gate, launch(Some(new), Some(100.0), None)),
                expected,
                "{gate} {new}"
            );
        }
    }

    #[test]
    fn a_share_of_a_negative_baseline_is_one_of_its_size() {
        let gate = format!("metric:{METRIC}>+10%");
        let of = |new| outcome(&gate, launch(Some(new), Some(-100.0), None));
        assert_eq!((of(-90.0), of(-89.0)), (Outcome::Passed, Outcome::Failed));
    }

    #[test]
    fn what_fails_on_one_launch_fails_though_another_is_unknown() {
        let gate: FailOn = format!("metric:{METRIC}>1").parse().unwrap();
        let launches = [launch(None, None, None), launch(Some(2.0), None, None)];
        assert_eq!(gate.judge(&launches, None).outcome, Outcome::Failed);
    }

    #[test]
    fn what_was_not_measured_is_unknown() {
        let none = || launch(None, None, None);
        assert_eq!(outcome(&format!("metric:{METRIC}>1"), none()), Outcome::Unknown);
        assert_eq!(
            outcome(&format!("metric:{METRIC}>+1%"), launch(Some(1.0), None, None)),
            Outcome::Unknown
        );
        assert_eq!(outcome("rule:register-spilling", none()), Outcome::Unknown);
        let gate: FailOn = "rule:register-spilling".parse().unwrap();
        assert_eq!(gate.judge(&[], None).outcome, Outcome::Unknown, "nothing was profiled");
    }

    #[test]
    fn a_rule_fails_where_it_is_found_and_worth_enough() {
        let rule = format!("rule:{RULE}");
        let of = |factor| launch(None, None, factor);
        assert_eq!(outcome(&rule, of(Some(1.1))), Outcome::Failed);
        assert_eq!(outcome(&rule, of(None)), Outcome::Passed);
        assert_eq!(outcome(&format!("{rule}>1.2"), of(Some(1.1))), Outcome::Passed);
        assert_eq!(outcome(&format!("{rule}>1.2"), of(Some(1.3))), Outcome::Failed);
    }

    #[test]
    fn what_lies_around_kernels_is_judged_by_the_survey() {
        let found = |factor| Found { rule: "small-copies".to_owned(), factor, place: None };
        let of = |gate: &str, around: Option<&[Found]>| {
            let gate = gate.parse::<FailOn>().unwrap();
            assert!(gate.needs_survey_only());
            gate.judge(&[launch(None, None, Some(2.0))], around).outcome
        };
        let copies = [found(Some(1.2))];
        assert_eq!(of("rule:small-copies", Some(&copies)), Outcome::Failed);
        assert_eq!(of("rule:small-copies>1.1", Some(&copies)), Outcome::Failed);
        assert_eq!(of("rule:small-copies>1.2", Some(&copies)), Outcome::Passed);
        assert_eq!(of("rule:many-short-launches", Some(&copies)), Outcome::Passed);
        assert_eq!(of("rule:small-copies", Some(&[])), Outcome::Passed);
        assert_eq!(of("rule:small-copies", None), Outcome::Unknown, "there was no survey");
        assert!(!format!("rule:{RULE}").parse::<FailOn>().unwrap().needs_survey_only());
    }

    #[test]
    fn what_is_no_gate_is_refused_with_what_one_looks_like() {
        for text in
            ["", "rule:", "time>1", "metric:x", "metric:x>", "metric:x>much", "rule:partial-wave<2"]
        {
            let error = text.parse::<FailOn>().unwrap_err();
            assert!(error.contains("metric:NAME>+10%"), "{text}: {error}");
        }
        assert!("rule:no-such".parse::<FailOn>().unwrap_err().contains("no rule `no-such`"));
        for (wrong, right) in [("partial-wav", "partial-wave"), ("smal-copies", "small-copies")] {
            let error = format!("rule:{wrong}").parse::<FailOn>().unwrap_err();
            assert!(error.contains(&format!("did you mean `{right}`?")), "{error}");
        }
    }

    #[test]
    fn a_misspelt_metric_is_told_where_it_has_no_value() {
        let seen = |gate: &str| {
            let gate: FailOn = gate.parse().unwrap();
            gate.judge(&[launch(None, None, None)], None).seen.join("")
        };
        let wrong = seen("metric:dram__bytes_raed.sum>1");
        assert!(wrong.ends_with("collected; did you mean `dram__bytes_read.sum`?"), "{wrong}");
        // One that is spelt right was left out by whoever collected.
        assert!(seen("metric:dram__bytes_read.sum>1").ends_with("was not collected"));
    }
}
