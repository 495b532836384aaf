//! Hand-worked cases of the parts that a launch's time is made of. The numbers are chosen so that every
//! step of a formula can be followed on paper.

mod gains;
mod limits;
mod parts;
mod units;

use super::*;

const L1: &str = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";
const L2: &str = "lts__t_sectors.avg.pct_of_peak_sustained_elapsed";
const ISSUE: &str = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";
const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
const ACTIVE: &str = "sm__cycles_active.avg";
const ELAPSED: &str = "gpc__cycles_elapsed.max";
const DURATION: &str = "gpu__time_duration.sum";
const WARP_LATENCY: &str = "smsp__average_warp_latency_per_inst_issued.ratio";
const BARRIER: &str = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio";
const WAIT: &str = "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio";
const LONG: &str = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
const SELECTED: &str = "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio";

fn launch(metrics: &[(&str, f64)]) -> Launch {
    let mut launch = Launch::default();
    for (name, value) in metrics {
        assert!(crate::metric::canonical(name).is_some(), "{name} is not in the catalogue");
        launch.set(name, Some(*value));
    }
    launch
}

fn model(metrics: &[(&str, f64)]) -> Model {
    Model::new(&launch(metrics))
}

/// The same on a device of compute capability 9.0, whose empty kernel is known to take 1728 ns.
fn hopper(metrics: &[(&str, f64)]) -> Model {
    let mut launch = launch(metrics);
    launch.row.compute_capability = Some((9, 0));
    Model::new(&launch)
}

/// L1 busy 60% of the time, the issue slots 40%, SMs without a block 10%, and so 30% of latency; ten
/// stall cycles, half of them at barriers, half fixed latency.
fn sample(more: &[(&str, f64)]) -> Model {
    let metrics = [
        (L1, 60.0),
        (ISSUE, 40.0),
        (ACTIVE, 900.0),
        (ELAPSED, 1000.0),
        (BARRIER, 5.0),
        (WAIT, 5.0),
        (SELECTED, 1.0),
    ];
    model(&[&metrics, more].concat())
}

#[track_caller]
fn assert_near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value}, {expected} by hand");
}
