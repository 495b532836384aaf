//! The last wave of blocks leaves much of the device idle.

use crate::evidence::modeled_launch::BLOCKS_AT_ONCE;
use crate::evidence::threshold::{NOISE, NOISE_SOURCE};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule, Trial};
use crate::text::{count, percent};

const WAVES: &str = "launch__waves_per_multiprocessor";
const ACTIVE: &str = "sm__cycles_active.avg";
const ELAPSED: &str = "gpc__cycles_elapsed.max";

/// The rule.
pub const RULE: Rule = Rule {
    name: "partial-wave",
    kind: Kind::Cause,
    summary: "the last wave of blocks leaves much of the device idle",
    explanation: "\
Equal blocks run in waves of as many as the device holds. If the last wave is not full, SMs idle while it \
runs: 1.1 waves take as long as two. The rule fires if the number of waves is not whole and SMs did idle. If \
blocks differ in length, or SMs start new blocks one by one, the gap fills and there is no fault. Choose a grid that is a multiple of what the device holds, \
smaller blocks, or a grid-stride loop over a fixed number of blocks.",
    examples: &[Example {
        fault: "\
// log_scale<<<300, 1024>>>: 264 such blocks fit on the device at once, so
// the last 36 frames run in a second wave while most SMs idle
size_t frame = (size_t)blockIdx.x * pixels;
for (int p = threadIdx.x; p < pixels; p += blockDim.x)
    out[frame + p] = log1pf(in[frame + p]);",
        repair: "\
// log_scale<<<264, 1024>>>: one whole wave, which shares all pixels evenly
size_t all = (size_t)frames * pixels;
size_t stride = (size_t)gridDim.x * blockDim.x;
size_t first = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
for (size_t p = first; p < all; p += stride)
    out[p] = log1pf(in[p]);",
        note: "\
The grid is as large as what the device holds (cudaOccupancyMaxActiveBlocksPerMultiprocessor \
times the SMs), and a grid-stride loop gives each block an equal share: one full wave instead of \
one full and one nearly empty.",
    }],
    section: "LaunchStats",
    thresholds: &[
        Threshold {
            what: "time for which SMs are without work, at least",
            value: NOISE,
            unit: "%",
            source: NOISE_SOURCE,
        },
        Threshold {
            what: "time that whole waves would save, at least",
            value: NOISE,
            unit: "%",
            source: NOISE_SOURCE,
        },
    ],
    needs: &[WAVES, ACTIVE, ELAPSED],
    sharpened_by: &[BLOCKS_AT_ONCE],
    trials: &[Trial::Tunables],
    said_by_ncu: &[
        // The tail: whole waves and a partial one.
        SaidByNcu::with("LaunchConfiguration", &["partial wave"], Acts::Idle)
            .unless(&["multiple of 32", "not a multiple"]),
    ],
    explains: &["issue-slots-underused"],
    in_triton: "\
launch as many programs as fit on the device, and let each loop over its tiles with a step \
of tl.num_programs(0).",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let waves = launch.waves()?;
    let idle = 1.0 - launch.need(ACTIVE) / launch.need(ELAPSED);
    let saved = 1.0 - waves / waves.ceil();
    if !(waves > 1.0 && 100.0 * idle >= NOISE && 100.0 * saved >= NOISE) {
        return None;
    }
    let last = waves.fract();
    let whole = match (launch.get("launch__sm_count"), launch.blocks_per_sm()) {
        (Some(sms), Some(each)) => format!("a multiple of {} blocks", count(sms * each)),
        _ => "whole waves of blocks".to_owned(),
    };
    Some(Draft {
        message: format!(
            "The grid makes {waves:.2} waves, and the last one is {} full. SMs have no work for {} of the \
             time; if all blocks took equally long, they would have none for {}.",
            percent(last),
            percent(idle),
            percent(saved),
        ),
        evidence: vec![
            Evidence::new(WAVES, waves, "wave"),
            Evidence::new(ACTIVE, launch.need(ACTIVE), "cycle"),
        ],
        locations: Vec::new(),
        hint: format!(
            "Launch {whole}; or use smaller blocks, which shorten the last wave; or let a fixed number of \
             blocks loop over the work (a grid-stride loop)."
        ),
        effect: Effect { idle: idle.min(saved), ..Effect::default() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, launch};

    #[test]
    fn a_mostly_empty_last_wave_counts_where_sms_idle() {
        // 1.25 waves take the time of two: 37.5% could go; SMs idle for 30%.
        let tail = launch(&[(WAVES, 1.25), (ACTIVE, 700.0), (ELAPSED, 1000.0)]);
        let draft = assert_sides(
            &RULE,
            &tail,
            &[
                &[(ACTIVE, 951.0)],
                &[(WAVES, 2.0)],
                &[(WAVES, 0.5)],
                &[(WAVES, 39.0)],
                &[(WAVES, 38.2)],
            ],
        );
        assert!((draft.effect.idle - 0.3).abs() < 1e-12, "{draft:?}");
    }
}
