//! Threads are launched that do no work for most of the time.

use super::case::{WARP, place};
use super::lanes::{
    ACTIVE, AT_WORK, RESTING, RESTING_LIMIT, UNIFORM, UNIFORM_ENOUGH, UNIFORM_LIMIT, effect,
    effect_of_full_warps, evidence, few, lanes, resting,
};
use super::limits::LANES_LIMIT;
use super::{Case, Draft, Kind, Rule};
use crate::model::Effect;

/// The rule.
pub const RULE: Rule = Rule {
    name: "idle-threads",
    kind: Kind::Cause,
    summary: "threads are launched that do no work for most of the time",
    explanation: "\
Where a condition such as `if (id < w)` holds for some warps and not for others, the rest step \
through the same instructions with every lane predicated off and take issue slots, load/store slots \
and shared-memory wavefronts for nothing. The sign is few lanes at work although warps do not split. \
Launch fewer threads and let each do more, let warps without work leave the loop, or reduce by \
shuffles within a warp.",
    section: "WarpStateStats",
    thresholds: &[LANES_LIMIT, UNIFORM_LIMIT, RESTING_LIMIT],
    needs: &[ACTIVE, AT_WORK, UNIFORM],
    explains: &["issue-slots-underused", "barrier-stalls"],
    check,
};

fn check(case: &Case) -> Option<Draft> {
    let (active, at_work) = lanes(case);
    let uniform = case.need(UNIFORM);
    let predicated = few(at_work) && !few(active) && uniform >= UNIFORM_ENOUGH;
    let left = few(active) && resting(case) >= RESTING;
    if !(predicated || left) {
        return None;
    }
    if left {
        return Some(left_early(case, active.min(at_work)));
    }
    let locations = case.launch.top_lines(3, "lanes predicated off", |counters| {
        counters.thread_inst_executed - counters.thread_inst_executed_pred_on
    });
    Some(Draft {
        message: format!(
            "{:.1} of 32 lanes are active in an average instruction but only {:.1} do work, while \
             {uniform:.1}% of the branches are uniform: whole warps run with all lanes predicated \
             off.",
            case.need(ACTIVE),
            case.need(AT_WORK),
        ),
        evidence: evidence(case),
        hint: format!(
            "Let warps without work skip {} (branch on the warp's index, not the thread's), or \
             launch {:.0}% of the threads and let each handle several elements.",
            place(&locations, "the guarded code"),
            100.0 * at_work / WARP,
        ),
        locations,
        // Warps that step through a part of the code are there for the rest of it.
        effect: Effect { hidden: 0.0, ..effect(case, at_work) },
    })
}

/// The finding where lanes rest because they returned or skip the work.
fn left_early(case: &Case, at_work: f64) -> Draft {
    let locations = case.launch.top_lines(3, "lanes that rest", |counters| {
        WARP * counters.inst_executed - counters.thread_inst_executed
    });
    Draft {
        message: format!(
            "{:.1} of 32 lanes are active in an average instruction: the others have returned or \
             skip the work, and nothing else is theirs to do.",
            case.need(ACTIVE),
        ),
        evidence: evidence(case),
        hint: format!(
            "Launch {:.0}% of the threads: let the threads with work at {} be neighbours that fill \
             their warps, instead of the first few of each group.",
            100.0 * at_work / WARP,
            place(&locations, "the guarded code"),
        ),
        locations,
        effect: effect_of_full_warps(case, at_work),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_sides, launch};
    use super::*;
    use crate::model::Term;

    #[test]
    fn idle_lanes_without_divergence_count() {
        let sweep = launch(&[(ACTIVE, 31.9), (AT_WORK, 16.0), (UNIFORM, 99.8)]);
        let draft = assert_sides(
            &RULE,
            &sweep,
            &[&[(AT_WORK, 24.0)], &[(ACTIVE, 23.9)], &[(UNIFORM, 94.9)]],
        );
        assert!((draft.effect.share_of(Term::Lsu) - 0.5).abs() < 1e-12);
    }
}
