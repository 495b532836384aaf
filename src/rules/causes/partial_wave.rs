//! The last wave of blocks leaves much of the device idle.

use crate::evidence::modeled_launch::BLOCKS_AT_ONCE;
use crate::evidence::occupancy::{BY_BLOCKS, BY_SHARED, BY_WARPS};
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
runs: 1.1 waves take as long as two. The rule fires if the number of waves is not whole, some SMs get a block more \
than others, and SMs did idle. If blocks differ in length, or SMs start new blocks one by one, the gap fills and there is no \
fault; if all SMs get as many blocks and yet idle, blocks differ in length, which no number of them mends. Choose a grid that is a multiple of what the device holds, \
smaller blocks, or a grid-stride loop over a fixed number of blocks. A block of the last wave waits less in queues, \
since it shares its SM with fewer others, and where DRAM or another unit is full a tail costs next to nothing; the \
estimate counts both.",
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
    let last = waves.fract();
    if !(waves > 1.0 && last > 0.0 && 100.0 * idle >= NOISE) {
        return None;
    }
    // The SM with most blocks of the last wave has one more than others; where that is not known, as many as ever.
    let fullest = launch.blocks_per_sm().map_or(1.0, |each| (last * each).ceil() / each);
    let took = launch.model.partial_wave(last, fullest);
    // All waves evenly full would take `last` instead of what the last one took. The launch's cost stays.
    let saved = (1.0 - launch.model.launch_share()) * (took - last) / (waves.floor() + took);
    let saved = saved.min(idle).min(short_of_a_block(launch, last, took) / (waves.floor() + took));
    if 100.0 * saved < NOISE {
        return None;
    }
    let whole = match (launch.get("launch__sm_count"), launch.blocks_per_sm()) {
        (Some(sms), Some(each)) => format!("a multiple of {} blocks", count(sms * each)),
        _ => "whole waves of blocks".to_owned(),
    };
    Some(Draft {
        message: format!(
            "The grid makes {waves:.2} waves. The last one is {} full and takes about {} of a full one's time. SMs \
             have no work for {} of the time; whole waves would save {}.",
            percent(last),
            percent(took),
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
             blocks loop over the work in pieces much smaller than a block's now (a grid-stride loop: pieces \
             as large leave the same tail).{}",
            room_for_one_more(launch, waves).unwrap_or_default(),
        ),
        effect: Effect { idle: saved, ..Effect::default() },
    })
}

/// The time, in full waves, that an average SM has no work while those with a block more of the last wave finish it, where all
/// blocks take equally long. SMs that idle for longer do so because blocks differ, which no number of them mends.
fn short_of_a_block(launch: &ModeledLaunch, last: f64, took: f64) -> f64 {
    let Some(each) = launch.blocks_per_sm() else { return took };
    let more = last * each;
    let fewest = more.floor() / each;
    let took_fewest = if fewest > 0.0 { launch.model.partial_wave(last, fewest) } else { 0.0 };
    (more.ceil() - more) * (took - took_fewest)
}

/// The other way, where one block more per SM makes a single wave and registers are what it lacks.
fn room_for_one_more(launch: &ModeledLaunch, waves: f64) -> Option<String> {
    let each = launch.blocks_per_sm()?;
    let threads = launch.quote("launch__block_size")?;
    let limits_others = [BY_SHARED, BY_BLOCKS, BY_WARPS]
        .iter()
        .filter_map(|name| launch.get(name))
        .reduce(f64::min);
    let fits = limits_others.is_some_and(|others| others > each) && waves * each <= each + 1.0;
    fits.then(|| {
        format!(
            " Or have an SM hold {} blocks instead of {}, by fewer registers (__launch_bounds__({threads}, {})), \
             as long as nothing spills: all blocks then run in one wave.",
            count(each + 1.0),
            count(each),
            count(each + 1.0),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::modeled_launch::{GRID, SMS};
    use crate::evidence::occupancy::BY_REGISTERS;
    use crate::metric::stall::StallReason;
    use crate::rules::testing::{assert_sides, check, launch};

    #[test]
    fn a_last_wave_with_the_units_to_itself_costs_less() {
        // Of 100 SMs with 4 blocks each, 50 get one more, and the others have no work meanwhile; L1, busy for all of the
        // time that SMs are active, is what warps wait for. A quarter of the blocks takes a quarter of the time of a wave.
        let long = StallReason::LongScoreboard.ratio_metric();
        let mut tail = launch(&[
            (WAVES, 1.13),
            (GRID, 450.0),
            (SMS, 100.0),
            (BY_REGISTERS, 4.0),
            (BY_WARPS, 8.0),
            ("launch__block_size", 256.0),
            (ACTIVE, 7.5e5),
            (ELAPSED, 1e6),
            ("smsp__average_warp_latency_per_inst_issued.ratio", 101.0),
            (&long, 100.0),
        ]);
        let draft = check(&RULE, &tail).unwrap();
        assert!((draft.effect.idle - 0.25).abs() < 1e-12, "{draft:?}");
        assert!(draft.message.contains("12% full and takes about 100%"), "{}", draft.message);
        assert!(draft.hint.contains("5 blocks instead of 4"), "{}", draft.hint);
        let l1 = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";
        tail.set(l1, Some(75.0));
        let draft = check(&RULE, &tail).unwrap();
        let took = 26.0 / 101.0;
        assert!((draft.effect.idle - 0.5 * took / (1.0 + took)).abs() < 1e-12, "{draft:?}");
        // Where DRAM is full an eighth of the blocks takes an eighth of the time: no tail is left.
        tail.set("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", Some(75.0));
        tail.set(BY_REGISTERS, Some(8.0));
        tail.set(GRID, Some(1000.0));
        assert!(check(&RULE, &tail).is_none());
    }

    #[test]
    fn sms_that_all_have_as_many_blocks_idle_for_another_reason() {
        let of = |blocks: f64| {
            let tail = launch(&[
                (WAVES, blocks / 1000.0),
                (GRID, blocks),
                (SMS, 100.0),
                (BY_REGISTERS, 10.0),
                ("launch__block_size", 64.0),
                (ACTIVE, 600.0),
                (ELAPSED, 1000.0),
            ]);
            check(&RULE, &tail).map(|draft| draft.effect.idle)
        };
        assert_eq!(of(1500.0), None, "five more each");
        // Half of the SMs have a tenth block, whose wave takes as long as another; SMs without one have none to do.
        assert!((of(1050.0).unwrap() - 0.25).abs() < 1e-12, "{:?}", of(1050.0));
    }

    #[test]
    fn one_block_more_is_advised_where_it_makes_one_wave() {
        let said = |blocks: f64, by_warps: f64| {
            let tail = launch(&[
                (WAVES, blocks / 400.0),
                (GRID, blocks),
                (SMS, 100.0),
                (BY_REGISTERS, 4.0),
                (BY_WARPS, by_warps),
                ("launch__block_size", 256.0),
                (ACTIVE, 500.0),
                (ELAPSED, 1000.0),
            ]);
            check(&RULE, &tail).unwrap().hint.contains("__launch_bounds__(256, 5)")
        };
        assert!(said(450.0, 5.0));
        assert!(!said(850.0, 5.0), "a second wave stays");
        assert!(!said(450.0, 4.0), "no room for more warps");
    }

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
