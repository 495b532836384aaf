//! The queue for local and global memory instructions is full.

use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::evidence::{Draft, ModeledLaunch};
use crate::metric::stall::StallReason;
use crate::rules::said_by_ncu::SaidByNcu;
use crate::rules::{Example, Kind, Rule};
use crate::text::{count, percent};

const STALL: Stall = Stall {
    reason: StallReason::LgThrottle,
    waiting: "waiting because the queue for local and global memory instructions is full",
    hint: "\
Issue fewer memory instructions at {place}: use wider ones (float4), dense addresses so that each \
is served quickly, or arithmetic in between.",
    otherwise: "the hottest spot",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "lg-throttle",
    kind: Kind::Symptom,
    summary: "the queue for local and global memory instructions is full",
    explanation: "\
Local and global memory instructions wait in one queue in front of L1. It fills where they follow \
one another closely, and sooner where each takes long because its lanes touch many lines. Local \
accesses come from register spills and from arrays indexed at run time; the finding says how the \
requests divide between local and global memory.",
    examples: &[Example {
        fault: "\
const float *p = particle + 4 * i;        // four loads in a row
float speed2 = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
energy[i] = 0.5f * p[3] * speed2;",
        repair: "\
float4 p = reinterpret_cast<const float4 *>(particle)[i];   // one
float speed2 = p.x * p.x + p.y * p.y + p.z * p.z;
energy[i] = 0.5f * p.w * speed2;",
        note: "\
One load of 16 bytes takes one place in the queue instead of four; the array must be aligned to \
16 bytes.",
    }],
    section: "WarpStateStats",
    thresholds: THRESHOLDS,
    needs: &[
        "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
        LATENCY,
        ISSUE,
    ],
    said_by_ncu: &[SaidByNcu::stall(&["local and global", "queue"], &[StallReason::LgThrottle])],
    check,
    ..Rule::DEFAULT
};

const GLOBAL: [&str; 2] = [
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
];
const LOCAL: [&str; 2] = [
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
];

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut draft = crate::evidence::stalls::check(launch, &STALL)?;
    draft.message.push_str(&split(launch));
    Some(draft)
}

/// How the queue's requests split between global and local memory; empty where that was not
/// collected.
fn split(launch: &ModeledLaunch) -> String {
    let sum = |names: [&str; 2]| {
        let known: Vec<f64> = names.iter().filter_map(|name| launch.quote(name)).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>())
    };
    match (sum(GLOBAL), sum(LOCAL)) {
        (Some(global), Some(0.0)) if global > 0.0 => {
            format!(" All {} requests go to global memory, none to local memory.", count(global))
        }
        (Some(global), Some(local)) if local > 0.0 => format!(
            " Of {} requests {} go to local memory: spilled registers or arrays indexed at run time.",
            count(global + local),
            percent(local / (global + local)),
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing;

    #[test]
    fn fires_from_a_large_share_while_slots_are_free() {
        testing::assert_stall_rule(&RULE, StallReason::LgThrottle);
    }

    #[test]
    fn says_which_space_fills_the_queue() {
        let mut launch = testing::stalled(StallReason::LgThrottle);
        launch.set(GLOBAL[0], Some(900.0));
        launch.set(LOCAL[0], Some(0.0));
        let message = testing::check(&RULE, &launch).map(|draft| draft.message).unwrap_or_default();
        assert!(message.contains("All 900 requests go to global"), "{message}");
        launch.set(LOCAL[1], Some(100.0));
        let message = testing::check(&RULE, &launch).map(|draft| draft.message).unwrap_or_default();
        assert!(message.contains("Of 1,000 requests 10% go to local"), "{message}");
    }
}
