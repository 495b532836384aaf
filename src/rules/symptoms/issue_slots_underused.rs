//! The schedulers idle, and no sharper rule explains it.

use crate::evidence::threshold::{ISSUE, ISSUE_LOW, ISSUE_LOW_LIMIT};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule};

const MOST: &str = "smsp__warps_active.avg.peak_sustained";
const ACTIVE: &str = "smsp__warps_active.avg.per_cycle_active";
const ELIGIBLE: &str = "smsp__warps_eligible.avg.per_cycle_active";

/// The rule.
pub const RULE: Rule = Rule {
    name: "issue-slots-underused",
    kind: Kind::Symptom,
    summary: "the schedulers idle, and no more specific rule explains it",
    explanation: "\
Each scheduler of an SM can issue one instruction per cycle, from any of its resident warps that \
is ready. Where none is ready, the slot is lost. That alone is no fault: a kernel at the memory \
roof has idle schedulers. The stall rules say what the warps wait for, and the causes say why.",
    examples: &[Example {
        fault: "\
// a grid-stride kernel on one block of two warps per SM
classify<<<sms, 64>>>(found, readings, n);",
        repair: "\
// eight blocks of eight warps per SM: each scheduler has 16 to choose from
classify<<<sms * 8, 256>>>(found, readings, n);",
        note: "\
More resident warps give each scheduler something to issue while others wait; the kernel itself \
does not change, since its grid-stride loop fits any grid.",
    }],
    section: "SchedulerStats",
    thresholds: &[ISSUE_LOW_LIMIT],
    needs: &[ISSUE, ACTIVE, ELIGIBLE],
    said_by_ncu: &[SaidByNcu::any("IssueSlotUtilization", Acts::Latency)],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let (issue, active, eligible) =
        (launch.need(ISSUE), launch.need(ACTIVE), launch.need(ELIGIBLE));
    if !(issue > 0.0 && issue < ISSUE_LOW) {
        return None;
    }
    let most =
        launch.quote(MOST).map_or_else(String::new, |most| format!(" (of at most {most:.0})"));
    Some(Draft {
        message: format!(
            "A scheduler issues one instruction every {:.1} cycles; on average it has {active:.2} \
             active{most} and {eligible:.2} eligible warps.",
            100.0 / issue,
        ),
        evidence: vec![
            Evidence::new(ISSUE, issue, "%"),
            Evidence::new(ACTIVE, active, "warp"),
            Evidence::new(ELIGIBLE, eligible, "warp"),
        ],
        locations: launch.stalled_places(&WAITS, "stall samples"),
        hint: "Shorten what the warps wait for most (see their stall reasons), or keep more warps \
               ready: more blocks, or more independent instructions in each thread."
            .to_owned(),
        effect: Effect::default(),
    })
}

/// Waits, as opposed to `selected` and `not_selected`.
const WAITS: [StallReason; 8] = [
    StallReason::LongScoreboard,
    StallReason::ShortScoreboard,
    StallReason::LgThrottle,
    StallReason::MioThrottle,
    StallReason::Barrier,
    StallReason::Wait,
    StallReason::Membar,
    StallReason::NoInstruction,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, launch};

    #[test]
    fn fewer_than_six_issues_in_ten_cycles_count() {
        let idle = launch(&[(ISSUE, 25.0), (ACTIVE, 16.0), (ELIGIBLE, 0.69), (MOST, 16.0)]);
        let draft = assert_sides(&RULE, &idle, &[&[(ISSUE, 60.0)], &[(ISSUE, 0.0)]]);
        assert!(
            draft.message.contains(
                "every 4.0 cycles; on average it has 16.00 active (of at most 16) and 0.69"
            )
        );
    }
}
