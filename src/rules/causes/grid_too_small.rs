//! Too few blocks or threads to fill the device.

use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, WAVES};
use crate::evidence::threshold::UNIT_SATURATED;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::{Bound, Evidence, Location};
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule};
use crate::text::{count, count_of, percent};

const GRID: &str = "launch__grid_size";
const SMS: &str = "launch__sm_count";

/// Below one wave some places for blocks stay empty from beginning to end.
const ONE_WAVE: f64 = 1.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "grid-too-small",
    kind: Kind::Cause,
    summary: "too few blocks or threads to fill the device",
    explanation: "\
A block runs on one SM from beginning to end. A grid with fewer blocks than SMs therefore leaves \
SMs without work, and a grid below one wave leaves slots empty for warps that could hide latency. \
The rule fires with fewer blocks than SMs, or below one wave while no unit is near its limit. \
Divide the problem more finely: give the independent iterations of an outer loop to blocks, split \
long sums among several blocks, or use smaller blocks.",
    examples: &[Example {
        fault: "\
// rectify<<<16, 256>>>: a block per microphone keeps 16 of 132 SMs busy
const float *from = in + (size_t)blockIdx.x * samples;
float *to = out + (size_t)blockIdx.x * samples;
for (int t = threadIdx.x; t < samples; t += blockDim.x)
    to[t] = fabsf(from[t]);",
        repair: "\
// rectify<<<dim3(128, 16), 256>>>: 128 blocks share each microphone
const float *from = in + (size_t)blockIdx.y * samples;
float *to = out + (size_t)blockIdx.y * samples;
int first = blockIdx.x * blockDim.x + threadIdx.x;
for (int t = first; t < samples; t += gridDim.x * blockDim.x)
    to[t] = fabsf(from[t]);",
        note: "\
The time axis is cut into blocks as well: 2048 blocks instead of 16 give every SM work.",
    }],
    section: "LaunchStats",
    thresholds: &[
        Threshold {
            what: "blocks in the grid, fewer than",
            value: 1.0,
            unit: "block/SM",
            source: "derivation: a block can't be split among SMs",
        },
        Threshold {
            what: "waves of blocks, fewer than",
            value: ONE_WAVE,
            unit: "wave",
            source: "ncu's SOLBottleneck rule calls a launch below one wave a small grid",
        },
        crate::evidence::threshold::UNIT_SATURATED_LIMIT,
    ],
    needs: &[GRID, SMS],
    sharpened_by: &[BLOCKS_AT_ONCE, WAVES],
    bound: Some(Bound::Launch),
    said_by_ncu: &[
        SaidByNcu::with("SOLBottleneck", &["grid is too small"], Acts::Idle),
        // Fewer blocks than SMs.
        SaidByNcu::with("LaunchConfiguration", &["multiprocessors", "less than"], Acts::Idle),
        // Fewer than two blocks per SM, where the kernel has barriers: advice without an estimate.
        SaidByNcu::with("LaunchConfiguration", &["__syncthreads"], Acts::Idle).unless(&[
            "multiple of 32",
            "not a multiple",
            "partial wave",
            "less than",
        ]),
    ],
    explains: &[
        "issue-slots-underused",
        "long-scoreboard-stalls",
        "short-scoreboard-stalls",
        "fixed-latency-stalls",
        "barrier-stalls",
        "instruction-cache-misses",
        "constant-cache-misses",
        "lg-throttle",
        "mio-throttle",
    ],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let (blocks, sms) = (launch.need(GRID), launch.need(SMS));
    let saturated = launch.model.busiest().is_some_and(|(_, busy)| 100.0 * busy >= UNIT_SATURATED);
    let waves = launch.waves();
    let too_few_blocks = blocks > 0.0 && blocks < sms;
    let below_a_wave = waves.is_some_and(|waves| waves < ONE_WAVE) && !saturated && sms > 0.0;
    if !(too_few_blocks || below_a_wave) {
        return None;
    }
    let each = launch.blocks_per_sm().filter(|&each| each >= 1.0);
    let threads = launch.quote("launch__block_size");
    let size =
        threads.map_or_else(String::new, |threads| format!(" of {}", count_of(threads, "thread")));
    let fill = each.map_or_else(String::new, |each| {
        format!(
            " An SM holds {}, so {} fill the device.",
            count_of(each, "such block"),
            count(each * sms)
        )
    });
    let (seen, effect) = if too_few_blocks {
        let active = launch.model.idle();
        let seen = if active > 0.0 {
            format!(" On average an SM has work {} of the time.", percent(1.0 - active))
        } else {
            String::new()
        };
        (
            format!("{} of {} SMs never get a block.{seen}", count(sms - blocks), count(sms)),
            // More blocks fill idle SMs first, then the SMs that have one.
            Effect {
                idle: 1.0 - blocks / sms,
                hidden: each.map_or(0.0, |each| 1.0 - 1.0 / each),
                ..Effect::default()
            },
        )
    } else {
        let waves = waves.unwrap_or(ONE_WAVE);
        (
            format!("That is {} of what the device holds at once.", percent(waves)),
            Effect { hidden: 1.0 - waves, ..Effect::default() },
        )
    };
    let locations = outer_loop(launch).into_iter().collect::<Vec<_>>();
    let place = locations.first().map_or_else(
        || "the outermost loop whose iterations are independent".to_owned(),
        |location| format!("the loop at line {}, if they are independent,", location.line),
    );
    Some(Draft {
        message: format!(
            "The grid has {}{size} for {} SMs. {seen}{fill}",
            count_of(blocks, "block"),
            count(sms),
        ),
        evidence: vec![Evidence::new(GRID, blocks, "block"), Evidence::new(SMS, sms, "SM")],
        locations,
        hint: format!(
            "Launch at least {} blocks instead of {}: give the iterations of {place} to blocks (blockIdx.x instead of \
             the loop variable).",
            count(each.unwrap_or(1.0) * sms),
            count(blocks),
        ),
        effect,
    })
}

/// The first loop of the kernel's source, which is the outermost one of the first nest.
fn outer_loop(launch: &ModeledLaunch) -> Option<Location> {
    launch
        .profile
        .lines
        .iter()
        .filter(|row| row.counters.inst_executed > 0.0)
        .filter(|row| row.text.trim_start().starts_with("for"))
        .min_by_key(|row| row.line)
        .map(|row| Location {
            file: row.file.as_deref().unwrap_or_default().to_owned(),
            line: row.line.unwrap_or_default(),
            share: 1.0,
            share_of: "launch".to_owned(),
            text: row.text.trim().to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::stall::StallReason;
    use crate::rules::testing::{assert_sides, check, launch, line, samples};

    const WAVES: &str = "launch__waves_per_multiprocessor";

    #[test]
    fn fewer_blocks_than_sms_leave_sms_idle() {
        let few = launch(&[(GRID, 1.0), (SMS, 132.0), ("launch__block_size", 1024.0)]);
        let draft = assert_sides(&RULE, &few, &[&[(GRID, 132.0)], &[(GRID, 0.0)]]);
        assert!(
            draft.message.contains("1 block of 1,024 threads for 132 SMs"),
            "{}",
            draft.message
        );
        assert!((draft.effect.idle - 131.0 / 132.0).abs() < 1e-12);
    }

    #[test]
    fn below_a_wave_warps_are_missing_unless_a_unit_is_full() {
        let thin = launch(&[(GRID, 132.0), (SMS, 132.0), (WAVES, 0.25)]);
        let fma = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
        let draft = assert_sides(&RULE, &thin, &[&[(WAVES, 1.0)], &[(fma, 70.0)]]);
        assert!((draft.effect.hidden - 0.75).abs() < 1e-12);
    }

    #[test]
    fn the_outermost_loop_is_named() {
        let mut few = launch(&[(GRID, 1.0), (SMS, 132.0)]);
        let counters = crate::export::SourceCounters {
            inst_executed: 1.0,
            ..samples(&[(StallReason::Wait, 1.0)])
        };
        few.lines = vec![
            line(16, "for (int i = 0; i < l; i++){", counters),
            line(13, "  for (int k = 0; k < n; k++){", counters),
        ];
        let draft = check(&RULE, &few).unwrap();
        assert_eq!(draft.locations[0].line, 13);
        assert!(draft.hint.contains("line 13"));
    }
}
