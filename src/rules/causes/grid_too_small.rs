//! Too few blocks or threads to fill the device.

mod hint;
mod lanes;
mod shown;
mod spread;

use crate::evidence::modeled_launch::{BLOCK_SIZE, BLOCKS_AT_ONCE, WAVES};
use crate::evidence::removal::{MATTERS_LIMIT, gains};
use crate::evidence::stalls::WAITS_FOR_OTHERS;
use crate::evidence::threshold::UNIT_SATURATED;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::{Bound, Evidence};
use crate::hardware::WARP_LANES;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Cure, Example, Kind, Rule, Trial};
use crate::sass::questions::independence::{self, Shape, What};
use crate::text::{count, count_of, percent};
use hint::{fewer_elements, hint, second_wave};
use lanes::{shared_out, wider};
use shown::shown;
use spread::{by_elements, filling, parts, spread};

const GRID: &str = "launch__grid_size";
const SMS: &str = "launch__sm_count";
const BLOCK: &str = "launch__block_size";

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
The rule fires with fewer blocks than SMs, or below one wave while no unit is near its limit. It promises only \
as much as there is parallelism to use: independent iterations of a loop, work that blocks fetch from a queue \
by an atomic, rows or columns that each thread takes side by side, or many independent statements in a row. Without any of these, it promises what smaller blocks \
gain by spreading the same warps over more SMs. Divide the problem more finely: give the independent iterations of an outer loop to \
blocks, split long sums among several blocks, or use smaller blocks.",
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
The time axis is divided among blocks as well: 2048 blocks instead of 16 give every SM work.",
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
        MATTERS_LIMIT,
    ],
    needs: &[GRID, SMS],
    sharpened_by: &[BLOCKS_AT_ONCE, WAVES, BLOCK_SIZE, WAITS_FOR_OTHERS],
    bound: Some(Bound::Launch),
    cure: Cure::MoreBlocks,
    trials: &[Trial::Tunables],
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
    in_triton: "\
launch more programs: give each a smaller part (BLOCK), or divide its loop over rows or over \
K among several, which add up with tl.atomic_add or in a second kernel.",
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
    let row = &launch.profile.row;
    let shape = Shape::new(row.block, row.grid, row.compute_capability);
    let work =
        launch.profile.listing().and_then(|listing| independence::shareable(&listing, shape));
    let places = sms * each.unwrap_or(1.0);
    let more = match work {
        Some(work) => parts(work.turns.min(places / blocks)),
        None => f64::INFINITY,
    };
    let idle_sms = || {
        let active = 1.0 - launch.model.idle();
        let seen = format!("{} of {} SMs never get a block.", count(sms - blocks), count(sms));
        if active < 1.0 {
            format!("{seen} On average an SM has work {} of the time.", percent(active))
        } else {
            seen
        }
    };
    let effect = if more <= 1.0 {
        spread(launch, blocks, sms).filter(|effect| gains(launch, effect))
    } else if too_few_blocks {
        Some(filling(blocks, blocks * more, sms, each))
    } else {
        let waves = waves.unwrap_or(ONE_WAVE);
        Some(Effect { hidden: 1.0 - waves.max(1.0 / more), ..Effect::default() })
    };
    let effect = effect.map(|effect| {
        // Warps that take another part of the turns want other constants, each part as often as all warps together
        // now: they don't cover the waits for constants that missed.
        let covered = 1.0 - launch.model.stall_share(&[(StallReason::ImcMiss, 1.0)]);
        let effect = Effect { hidden: effect.hidden * covered, ..effect };
        shared_out(launch, work, more, threads, effect)
    });
    let apart = if too_few_blocks { by_elements(launch, blocks, sms, each) } else { None };
    // Where turns need nothing of one another, what each of them stores is what several do, unrolled.
    let apart = apart.filter(|(apart, _)| more <= 1.0 || !apart.are_stored);
    let apart = apart.filter(|(_, apart)| {
        let factor = |effect| launch.model.without(effect).map_or(1.0, |estimate| estimate.factor);
        effect.as_ref().is_none_or(|effect| factor(apart) > factor(effect))
    });
    let seen = match waves {
        Some(waves) if more > 1.0 && !too_few_blocks => {
            format!("That is {} of what the device holds at once.", percent(waves))
        }
        _ => idle_sms(),
    };
    let (apart, effect) = match apart {
        Some((apart, effect)) => (Some(apart), effect),
        None => (None, effect?),
    };
    let what = match apart {
        Some(apart) => Some(What::Turns(apart.back)),
        None => work.map(|work| work.what),
    };
    let locations = shown(launch, what);
    let alone = if blocks * threads.unwrap_or(WARP_LANES) <= 1.0 {
        "One thread does all the work. "
    } else {
        ""
    };
    let message = format!(
        "{alone}The grid has {}{size} for {} SMs. {seen}{fill}",
        count_of(blocks, "block"),
        count(sms),
    );
    let wider = wider(launch, more);
    Some(Draft {
        message,
        evidence: vec![Evidence::new(GRID, blocks, "block"), Evidence::new(SMS, sms, "SM")],
        hint: match apart {
            Some(apart) => fewer_elements(apart.elements, &locations),
            None => hint(
                blocks,
                threads.filter(|&threads| threads < WARP_LANES),
                wider,
                if more.is_finite() { blocks * more } else { places },
                more,
                work,
                &locations,
            ),
        } + &second_wave(blocks, if wider.is_some() { 1.0 } else { more }, places),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::threshold::LATENCY;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, check, launch, line, samples, sass};

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
    fn a_lonely_thread_wants_whole_warps_beside_it() {
        let draft = check(&RULE, &launch(&[(GRID, 1.0), (SMS, 132.0), (BLOCK, 1.0)])).unwrap();
        assert!(draft.message.starts_with("One thread does all the work."), "{}", draft.message);
        let said = "132 blocks of whole warps (32 threads or more) instead of 1 of 1 thread";
        assert!(draft.hint.contains(said) && draft.hint.contains("threadIdx.x"), "{}", draft.hint);
        let warps = check(&RULE, &launch(&[(GRID, 1.0), (SMS, 132.0), (BLOCK, 32.0)])).unwrap();
        assert!(
            warps.hint.starts_with("Launch at least 132 blocks instead of 1:"),
            "{}",
            warps.hint
        );
        assert!(warps.message.starts_with("The grid has 1 block"), "{}", warps.message);
    }

    #[test]
    fn below_a_wave_warps_are_missing_unless_a_unit_is_full() {
        let thin = launch(&[(GRID, 132.0), (SMS, 132.0), (WAVES, 0.25)]);
        let fma = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
        let draft = assert_sides(&RULE, &thin, &[&[(WAVES, 1.0)], &[(fma, 70.0)]]);
        assert!((draft.effect.hidden - 0.75).abs() < 1e-12);
    }

    #[test]
    fn turns_are_divided_into_whole_parts_that_fill_a_wave_at_most() {
        let found: Vec<f64> = [1.9, 2.0, 2.9, 3.0, 0.5].map(parts).to_vec();
        assert!([1.9, 2.0, 2.0, 3.0, 1.0].iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn one_part_more_than_fits_is_warned_of() {
        assert!(
            second_wave(391.0, 2.0, 1056.0)
                .contains("3 times the present 391 blocks would be 1,173, and 1,056 run at once.")
        );
        assert_eq!(second_wave(352.0, 2.0, 1056.0), "", "that many fit");
        assert_eq!(second_wave(391.0, f64::INFINITY, 1056.0), "");
    }

    #[test]
    fn warps_with_other_constants_do_not_cover_the_waits_for_them() {
        let mut thin = launch(&[(GRID, 132.0), (SMS, 132.0), (WAVES, 0.25)]);
        thin.set(&StallReason::Wait.ratio_metric(), Some(3.0));
        thin.set(&StallReason::ImcMiss.ratio_metric(), Some(1.0));
        assert!((check(&RULE, &thin).unwrap().effect.hidden - 0.75 * 0.75).abs() < 1e-12);
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

    /// 33 blocks of 128 threads on 132 SMs, whose loop of 40 turns has this in it.
    fn with_loop(body: &str, not_selected: f64) -> Launch {
        let mut few = sass(
            &[
                (GRID, 33.0),
                (SMS, 132.0),
                (BLOCK, 128.0),
                (LATENCY, 10.0),
                ("sm__issue_active.avg.pct_of_peak_sustained_elapsed", 20.0),
                ("sm__cycles_active.avg", 25.0),
                ("sm__cycles_elapsed.max", 100.0),
            ],
            &[
                ("MOV R0, RZ", 1.0),
                (body, 40.0),
                ("IADD3 R2, R2, 0x1, RZ", 40.0),
                ("ISETP.NE.AND P0, PT, R2, R9, PT", 40.0),
                ("@P0 BRA 0x110", 40.0),
                ("EXIT", 1.0),
            ],
        );
        few.set(&StallReason::NotSelected.ratio_metric(), Some(not_selected));
        few
    }

    #[test]
    fn a_loop_whose_turns_need_one_another_gives_no_more_threads_work() {
        let sums = check(&RULE, &with_loop("FADD R0, R0, R4", 0.0)).unwrap();
        // The loop is 160 of 162 instructions; 132 places are four times the blocks.
        assert!((sums.effect.idle - 0.75).abs() < 1e-12);
        assert!((sums.effect.least - (1.0 - 160.0 / 162.0 * 0.75)).abs() < 1e-12);
        assert_eq!(sums.effect.at_most, Some(4.0), "as many parts");
        assert_eq!(sums.locations[0].line, 5, "the branch back");
        assert!(sums.hint.contains("132 blocks instead of 33"), "{}", sums.hint);
        assert!(sums.hint.contains("the loop at line 5 (some 40 iterations)"), "{}", sums.hint);
        let mut without_lines = with_loop("FADD R0, R0, R4", 0.0);
        without_lines.instructions.iter_mut().for_each(|row| row.line = None);
        let said =
            "the loop of some 40 iterations that ends at instruction 0x40 (99% of the executed";
        let sums = check(&RULE, &without_lines).unwrap();
        assert!(sums.hint.contains(said), "{}", sums.hint);
        assert!(check(&RULE, &with_loop("FMUL R0, R0, R4", 0.0)).is_none(), "one warp's own time");
    }

    #[test]
    fn smaller_blocks_relieve_what_waits_for_other_warps() {
        // 132 warps: one for each SM. Of 10 cycles four are for others, of which three quarters go.
        let draft = check(&RULE, &with_loop("FMUL R0, R0, R4", 4.0)).unwrap();
        assert!((draft.effect.idle - 0.75).abs() < 1e-12);
        assert!((draft.effect.least - (1.0 - 0.4 * 0.75)).abs() < 1e-12);
        assert!(draft.hint.contains("smaller blocks"), "{}", draft.hint);
    }
}
