//! From a launch to its ranked findings.
//!
//! Rules are checked one by one; symptoms go under the causes that explain them; what remains is
//! ranked by what it would give now.

mod accesses;
mod bottleneck;
mod chained;
mod checks;
#[cfg(test)]
mod constructed;
mod handed_on;
mod lacking;
mod lineless;
mod order;
mod overwritten;
mod range;
mod ranking;
mod remarks;
mod several;
mod steps;
pub mod thresholds;
mod triton;
mod unread;
#[cfg(test)]
mod worked;

use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::{Bound, Estimate, Finding, LEAST_GAIN, Skipped, Symptom};
use crate::frame::Launch;
use crate::model::{Effect, Model};
use crate::rules::{self, Cure, Kind, Rule};
use crate::term::Term;
use crate::user_rules::{self, UserRule};

pub use bottleneck::bottleneck_sentence;
pub use handed_on::settle;
#[cfg(test)]
pub(crate) use lacking::lacking_remark;
pub use ranking::RankingStep;
pub use remarks::Remarks;
pub use unread::has_unread_code;

use thresholds::{ABOUT_AS_MUCH, EXPLAINS_GAIN, EXPLAINS_STALL, INFLATES};

/// The outcome for one launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// What bounds the launch.
    pub bound: Bound,
    /// Findings, the largest gain first.
    pub findings: Vec<Finding>,
    /// Rules whose metrics were not collected.
    pub skipped: Vec<Skipped>,
    /// What limits the launch now, without its first fault, and so on.
    pub ranking: Vec<RankingStep>,
}

/// Checks every rule on a launch. Without a duration or utilization counters the rules are checked
/// all the same; findings then have no estimate.
#[must_use]
pub fn diagnose(launch: &Launch) -> Diagnosis {
    diagnose_with(launch, user_rules::installed())
}

/// The same with these rules of users.
#[must_use]
pub(crate) fn diagnose_with(launch: &Launch, added: &[UserRule]) -> Diagnosis {
    let model = Model::new(launch);
    let case = ModeledLaunch { profile: launch, model: &model };
    let (mut drafts, skipped) = checks::check_all(&case, added);
    drop_false_roofs(&mut drafts);
    let tells = bottleneck::tells(launch, &model);
    let is_unread = unread::is_unread(launch);
    // What is not seen may be a fault that inflates the work of the unit at its limit, and most are not seen in code
    // that nothing counted.
    if is_unread || unread::is_uncounted(launch) {
        drafts.retain(|(rule, _)| rule.kind != Kind::Roof);
    }
    let effects: Vec<(&str, Effect)> =
        drafts.iter().map(|(rule, draft)| (rule.name, draft.effect.clone())).collect();
    let mut findings = rank(drafts, &model, is_unread, tells);
    triton::translate(launch, &mut findings);
    let faults = findings.iter().filter_map(|finding| {
        effects.iter().find(|(rule, _)| *rule == finding.rule).map(|(rule, effect)| (*rule, effect))
    });
    let ranking = if tells { ranking::ranking(&model, faults) } else { Vec::new() };
    let bound =
        findings.first().and_then(|first| rules::find(&first.rule)?.bound).unwrap_or_else(|| {
            if tells {
                model.bound()
            } else {
                bottleneck::bound_by_throughputs(launch).unwrap_or(Bound::None)
            }
        });
    Diagnosis { bound, findings, skipped, ranking }
}

/// Takes away roofs that are none: some fault inflates the work of the unit that is at its limit, or the
/// code was compiled without optimization, which may give that unit work that nobody needs.
fn drop_false_roofs(drafts: &mut Vec<(&'static Rule, Draft)>) {
    let is_debug_build = drafts.iter().any(|(rule, _)| rule.cure == Cure::Rebuild);
    let inflated: Vec<Term> = Term::ALL
        .into_iter()
        .filter(|&term| {
            drafts.iter().any(|(rule, draft)| {
                rule.kind == Kind::Cause
                    && (draft.effect.share_of(term) >= INFLATES.value
                        || draft.effect.wasted.contains(&term))
            })
        })
        .collect();
    drafts.retain(|(rule, draft)| {
        let is_inflated = || draft.effect.removed.iter().any(|(term, _)| inflated.contains(term));
        rule.kind != Kind::Roof || !is_debug_build && !is_inflated()
    });
}

/// Puts symptoms under the findings that explain them and orders the rest: a roof first, then code that was
/// compiled without optimization, then everything else by its gain.
///
/// A roof comes first even where some cause is expected to give a few percent: it stands only where
/// no cause inflates the unit that is at its limit, so whatever the others give comes out of the
/// remaining 15% and is never more than 1.18x. They follow with their own estimates, so nothing is
/// hidden.
fn rank(
    drafts: Vec<(&'static Rule, Draft)>,
    model: &Model,
    is_unread: bool,
    tells: bool,
) -> Vec<Finding> {
    let found: Vec<Found> = drafts
        .into_iter()
        .map(|(rule, draft)| {
            let mut bounds = None;
            let estimate = match rule.kind {
                Kind::Roof => Some(Estimate::NONE),
                Kind::Cause | Kind::Symptom if !rule.promises => None,
                // A cause that can't be taken away as it is: what a lesser change gives is not known.
                Kind::Cause if draft.effect == Effect::default() => None,
                // Where the busiest unit may be one that is not known, so may be the gain.
                Kind::Cause | Kind::Symptom => {
                    let known = model.without(&draft.effect).filter(|_| tells);
                    bounds = known;
                    let known = known.map(|known| range::reaching(rule, &draft.effect, known));
                    known.map(|known| if is_unread { unread::widened(known) } else { known })
                }
            };
            let has_own_cause = (rule.has_own_cause)(model);
            Found { rule, draft, estimate, bounds, has_own_cause }
        })
        .collect();
    let explained: Vec<bool> =
        found.iter().map(|one| found.iter().any(|other| other.explains(one))).collect();
    let symptoms_of = |reason: &Found| -> Vec<Symptom> {
        found
            .iter()
            .filter(|one| reason.explains(one))
            .map(|one| Symptom {
                rule: one.rule.name.to_owned(),
                message: one.draft.message.clone(),
            })
            .collect()
    };
    let symptoms: Vec<Vec<Symptom>> = found.iter().map(symptoms_of).collect();
    let mut causes: Vec<(Found, Vec<Symptom>)> = found
        .into_iter()
        .zip(symptoms)
        .zip(explained)
        .filter(|(_, explained)| !explained)
        .map(|(cause, _)| cause)
        .collect();
    order::order(&mut causes);
    explain_far_ranges(&mut causes);
    causes.into_iter().map(|(cause, symptoms)| cause.into_finding(symptoms)).collect()
}

/// Says of findings whose range ends far above the estimate what decides that.
fn explain_far_ranges(causes: &mut [(Found, Vec<Symptom>)]) {
    let waits = |one: &Found| {
        let effect = &one.draft.effect;
        one.gain() >= LEAST_GAIN && (effect.hidden > 0.0 || !effect.stalls.is_empty())
    };
    let about_waiting = causes.iter().map(|(one, _)| one).filter(|one| waits(one));
    let most = about_waiting.max_by(|a, b| a.gain().total_cmp(&b.gain()));
    let most = most.map(|one| (one.rule.name, one.gain()));
    for (one, _) in causes {
        let (Some(known), Some(shown)) = (one.bounds, one.estimate) else { continue };
        let other = most.filter(|&(name, gain)| name != one.rule.name && gain > one.gain());
        let other = other.map(|(name, _)| name);
        if let Some(why) = range::why_so_far(&one.draft.effect, known, shown, other) {
            one.draft.message.push_str(&why);
        }
    }
}

/// What a rule found, with what it is worth.
struct Found {
    rule: &'static Rule,
    draft: Draft,
    estimate: Option<Estimate>,
    /// The same as the model alone has it.
    bounds: Option<Estimate>,
    /// True for a symptom that only a cause of the same stall explains.
    has_own_cause: bool,
}

impl Found {
    /// What it is worth, as a factor; 1 where that is not known.
    fn gain(&self) -> f64 {
        self.estimate.map_or(1.0, |estimate| estimate.factor)
    }

    /// What it counts in the order of the findings. Estimates are not exact enough to tell apart two that promise about
    /// as much; then work that goes is surer than waits that are only hidden, since the work's own waits go with it.
    fn weight(&self) -> f64 {
        let gain = self.gain();
        let hides = match self.rule.cure {
            Cure::MoreWarps | Cure::MoreLoads | Cure::MoreIndependence => true,
            Cure::MoreBlocks | Cure::Rebuild | Cure::Other => self.rule.kind == Kind::Symptom,
        };
        if hides && self.draft.effect.only_hides() {
            1.0 + (gain - 1.0) / ABOUT_AS_MUCH.value
        } else {
            gain
        }
    }

    /// True where this is what a symptom comes from: a roof always, a cause where it is worth a good
    /// part of what the symptom is.
    fn explains(&self, symptom: &Self) -> bool {
        let gain = |one: &Self| one.estimate.map(|estimate| estimate.factor - 1.0);
        let weighs = match (gain(self), gain(symptom)) {
            (Some(own), Some(its)) => own >= EXPLAINS_GAIN.value * its,
            _ => true,
        };
        // Where most of the work in front of which warps wait is waste, they wait for that, whatever of it can go.
        let wastes = !self.draft.effect.wasted.is_empty();
        // A cause that takes a good part of the very stall away is behind it whatever else it gives.
        let same =
            symptom.draft.effect.stalls.iter().any(|&(reason, _)| {
                self.draft.effect.share_of_stall(reason) >= EXPLAINS_STALL.value
            });
        symptom.rule.kind == Kind::Symptom
            && self.rule.explains.contains(&symptom.rule.name)
            && (self.rule.kind == Kind::Roof
                || (weighs || wastes) && !symptom.has_own_cause
                || same)
    }

    fn into_finding(self, symptoms: Vec<Symptom>) -> Finding {
        Finding {
            rule: self.rule.name.to_owned(),
            section: self.rule.section.to_owned(),
            estimate: self.estimate,
            message: self.draft.message,
            evidence: self.draft.evidence,
            locations: self.draft.locations,
            hint: self.draft.hint,
            explains: symptoms.iter().map(|symptom| symptom.rule.clone()).collect(),
            symptoms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::stall::StallReason;

    /// Latency-bound: half of the time waits for data, most of which more loads would cover.
    fn order(occupancy_pct: f64, possible_blocks: f64) -> Vec<String> {
        let mut launch = Launch::default();
        for (name, value) in [
            ("sm__maximum_warps_per_active_cycle_pct", occupancy_pct),
            ("launch__occupancy_limit_registers", possible_blocks),
            ("launch__occupancy_limit_shared_mem", 2.0),
            ("launch__occupancy_limit_blocks", possible_blocks),
            ("launch__occupancy_limit_warps", possible_blocks),
            ("sm__issue_active.avg.pct_of_peak_sustained_elapsed", 40.0),
            ("smsp__issue_active.avg.pct_of_peak_sustained_active", 40.0),
            ("smsp__issue_active.avg.per_cycle_active", 0.4),
            ("smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 90.0),
            ("smsp__average_warp_latency_per_inst_issued.ratio", 100.0),
        ] {
            launch.set(name, Some(value));
        }
        diagnose(&launch).findings.into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn missing_warps_stand_before_missing_loads_where_twice_as_many_fit() {
        let (warps, loads) = ("occupancy-limited-by-shared-memory", "low-memory-parallelism");
        // 50% of the slots: twice the warps fit. 52%: less than twice.
        assert_eq!(order(50.0, 4.0)[..2], [warps, loads]);
        assert_eq!(order(52.0, 4.0)[..2], [loads, warps]);
        // Eight times as many would give more than the loads: first already.
        assert_eq!(order(12.5, 16.0)[..2], [warps, loads]);
    }

    #[test]
    fn work_that_goes_stands_before_waits_that_are_hidden_where_both_give_about_as_much() {
        let found = |name: &str, effect: Effect, factor: f64| {
            let rule = rules::find(name).unwrap();
            let estimate = Some(Estimate { factor, low: 1.0, high: 2.0 });
            Found {
                rule,
                draft: Draft { effect, ..Draft::default() },
                estimate,
                bounds: None,
                has_own_cause: false,
            }
        };
        let waits = || Effect::stalls([StallReason::Wait]);
        let chain = |factor| found("low-instruction-parallelism", waits(), factor).weight();
        let doubles = found("unexpected-fp64", Effect::on(Term::Fp64, 1.0), 1.4).weight();
        assert!(chain(1.47) < doubles && chain(1.49) > doubles, "0.48 are 1.2 times 0.4");
        let shallow = found("pipeline-too-shallow", waits(), 1.41).weight();
        assert!(shallow > doubles, "a fault of its own kind, whatever it takes away");
        let with_work = Effect { removed: vec![(Term::L2, 0.1)], ..waits() };
        assert!(found("low-memory-parallelism", with_work, 1.41).weight() > doubles);
    }

    #[test]
    fn nothing_is_at_its_limit_in_code_that_nothing_counted() {
        let found = |executed: f64| {
            let dram = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
            let code = [("LDG.E R4, desc[UR4][R2.64]", executed), ("EXIT", executed)];
            let launch = crate::evidence::testing::sass(&[(dram, 93.0)], &code);
            diagnose(&launch).findings.first().map(|first| first.rule.clone())
        };
        assert_eq!(found(1.0).as_deref(), Some("at-memory-roof"));
        assert_eq!(found(0.0), None);
    }

    #[test]
    fn a_cause_that_nothing_takes_away_promises_nothing() {
        let mut launch = Launch::default();
        launch.set("sm__issue_active.avg.pct_of_peak_sustained_elapsed", Some(40.0));
        let model = Model::new(&launch);
        let promised = |effect: Effect| {
            let rule = rules::find("local-memory-array").unwrap();
            let draft = Draft { effect, ..Draft::default() };
            rank(vec![(rule, draft)], &model, false, true)[0].estimate
        };
        assert_eq!(promised(Effect::default()), None);
        assert!(promised(Effect::on(Term::Issue, 0.5)).is_some());
    }

    #[test]
    fn a_unit_that_moves_mostly_waste_is_at_no_roof() {
        let left = |wasted: Vec<Term>| {
            let roof = Draft { effect: Effect::on(Term::L2, 0.0), ..Draft::default() };
            let fault =
                Draft { effect: Effect { wasted, ..Effect::default() }, ..Draft::default() };
            let rule = |name| rules::find(name).unwrap();
            let mut drafts =
                vec![(rule("at-memory-roof"), roof), (rule("uncoalesced-global-access"), fault)];
            drop_false_roofs(&mut drafts);
            drafts.len()
        };
        assert_eq!((left(vec![Term::L2]), left(vec![Term::Dram])), (1, 2));
    }

    #[test]
    fn barriers_at_which_warps_wait_for_a_few_are_no_symptom_of_other_waits() {
        let found = |name: &str, effect: Effect, has_own_cause: bool| {
            let rule = rules::find(name).unwrap();
            let estimate = Some(Estimate { factor: 1.5, low: 1.0, high: 2.0 });
            let draft = Draft { effect, ..Draft::default() };
            Found { rule, draft, estimate, bounds: None, has_own_cause }
        };
        let barrier = Effect::stalls([StallReason::Barrier]);
        let pressure = found("shared-memory-pressure", Effect::default(), false);
        assert!(pressure.explains(&found("barrier-stalls", barrier.clone(), false)));
        assert!(!pressure.explains(&found("barrier-stalls", barrier.clone(), true)));
        let sweep = found("shared-memory-pressure", barrier.clone(), false);
        assert!(
            sweep.explains(&found("barrier-stalls", barrier, true)),
            "it takes the barriers away"
        );
    }
}
