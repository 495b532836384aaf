//! Warps wait for each other at barriers.

use crate::evidence::stalls::Stall;
use crate::evidence::threshold::{
    ISSUE, LATENCY, STALL_GAIN_LIMIT, STALL_ISSUE_LIMIT, STALL_SHARE_LIMIT,
};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::SaidByNcu;
use crate::rules::{Example, Kind, Rule, Trial};
use crate::sass::questions::waits_for_few::waits_for_blocks;
use crate::sass::{Family, Listing};
use crate::text::percent;

const STALL: Stall = Stall {
    reason: StallReason::Barrier,
    waiting: "waiting at barriers for the rest of the block",
    hint: "\
See whether the barrier at {place} can go (exchange values within a warp by shuffles), or give \
each warp an equal share of the work before it.",
    otherwise: "the hottest spot",
};

/// The share of the waits at barriers that is for code which at most half of the warps run, from which
/// the barriers have a cause of their own.
const FOR_FEW: f64 = 0.5;

/// The rule.
pub const RULE: Rule = Rule {
    name: "barrier-stalls",
    kind: Kind::Symptom,
    summary: "warps wait for each other at barriers",
    explanation: "\
A warp that reaches a barrier waits until every warp of its block is there. Long waits mean that \
the warps of a block have uneven work between barriers, or that barriers are frequent. Look first \
at the work before the barrier: its slowest warp sets the pace. Smaller blocks, warp-level \
primitives instead of block-wide steps, or fewer barriers help.",
    examples: &[Example {
        fault: "\
for (int f = 0; f < frames; ++f) {        // a warp reads its own values
    level[t] = fabsf(in[f * 256 + t]);
    __syncthreads();
    float top = 0.0f;
    for (int k = 0; k < 32; ++k) top = fmaxf(top, level[t / 32 * 32 + k]);
    out[f * 256 + t] = level[t] / (top + 1e-6f);
    __syncthreads();
}",
        repair: "\
for (int f = 0; f < frames; ++f) {
    level[t] = fabsf(in[f * 256 + t]);
    __syncwarp();
    float top = 0.0f;
    for (int k = 0; k < 32; ++k) top = fmaxf(top, level[t / 32 * 32 + k]);
    out[f * 256 + t] = level[t] / (top + 1e-6f);
    __syncwarp();
}",
        note: "\
Only lanes of one warp exchange values, so __syncwarp() is enough and no warp waits for the \
seven others.",
    }],
    section: "WarpStateStats",
    thresholds: &[
        STALL_SHARE_LIMIT,
        STALL_GAIN_LIMIT,
        STALL_ISSUE_LIMIT,
        Threshold {
            what: "share of these waits that is for code which few of the block's warps run: from \
                   it on, only a cause that removes the barrier explains the stall",
            value: FOR_FEW,
            unit: "share",
            source: "definition: more than half",
        },
    ],
    needs: &["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", LATENCY, ISSUE],
    trials: &[Trial::Tunables],
    said_by_ncu: &[SaidByNcu::stall(&["cta barrier"], &[StallReason::Barrier])],
    // Uneven work of a block's warps is no symptom of what makes all warps slow.
    has_own_cause: |model| model.barriers_for_few() >= FOR_FEW,
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    // Warps that share out registers by their roles wait for one another by design: those that copy for
    // those that multiply, and the other way round.
    if launch.profile.listing().is_some_and(has_roles) {
        return None;
    }
    let mut draft = crate::evidence::stalls::check(launch, &STALL)?;
    let for_blocks = launch.profile.listing().map_or(0.0, |listing| waits_for_blocks(&listing));
    if for_blocks > 0.0 {
        draft.message = format!(
            "{} {} of these waits are for warps that wait for another block, and stay.",
            draft.message,
            percent(for_blocks)
        );
        let stalls = vec![(STALL.reason, 1.0 - for_blocks)];
        draft.effect = Effect { stalls, ..Effect::default() };
    }
    Some(draft)
}

/// True where warps give registers to others: those that copy to those that multiply.
fn has_roles(listing: Listing) -> bool {
    listing.entries().any(|(index, entry)| {
        entry.family == Family::Uniform
            && listing.executed(index) > 0.0
            && listing.text(index).contains("USETMAXREG")
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn fires_from_a_large_share_while_slots_are_free() {
        crate::rules::testing::assert_stall_rule(&super::RULE, super::STALL.reason);
    }

    #[test]
    fn warps_with_roles_wait_for_one_another_by_design() {
        let fires = |code: &str| {
            let mut launch = crate::rules::testing::stalled(super::STALL.reason);
            launch.instructions = crate::rules::testing::sass(&[], &[(code, 1.0)]).instructions;
            crate::rules::testing::check(&super::RULE, &launch).is_some()
        };
        assert!(fires("BAR.SYNC.DEFER_BLOCKING 0x0"));
        assert!(!fires("USETMAXREG.DEALLOC.CTAPOOL 0x28"));
    }
}
