//! Rounds of blocks, and what fewer warps can't shorten.

use crate::evidence::ModeledLaunch;
use crate::evidence::stalls::FOR_OTHERS;
use crate::evidence::threshold::LATENCY;
use crate::sass::questions::bystanders;

/// The share of the rounds of blocks that goes where the same work takes so much fewer warps; 0 where it is not known.
/// Warps that are all resident run at once: of fewer, each takes as long.
pub(crate) fn rounds_saved(launch: &ModeledLaunch, wasted: f64) -> f64 {
    launch.waves().map_or(0.0, |waves| 1.0 - (waves * (1.0 - wasted)).max(1.0) / waves.max(1.0))
}

/// The share of the time that stays however few warps do the work, since they run at once already: a warp's own
/// instructions take as long, but for its turns behind others. 0 where the waits or the rounds of blocks are not known.
pub(crate) fn one_after_another(launch: &ModeledLaunch, wasted: f64) -> f64 {
    let known = behind_others(launch).filter(|_| launch.waves().is_some());
    known.map_or(0.0, |behind| (1.0 - rounds_saved(launch, wasted)) * (1.0 - behind))
}

/// The share of the time that a warp at work waits for its turn behind others of its SM (0 to 1). That lasts as long as
/// they are there: those that have nothing to do leave when the average SM does, and nobody waits for them from then on.
/// `None` where the waits are not known.
pub(crate) fn behind_others(launch: &ModeledLaunch) -> Option<f64> {
    let all = launch.get(LATENCY).filter(|&all| all > 0.0)?;
    let for_others: f64 = FOR_OTHERS.iter().map(|&reason| launch.stall(reason)).sum();
    let stay = launch.profile.listing().and_then(|listing| bystanders::find(&listing));
    let stay = stay.map_or(1.0, |without_work| 1.0 - without_work.share);
    let there = (1.0 - launch.model.idle()).max(stay);
    Some((for_others / all).min(1.0) * there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::sass;
    use crate::metric::stall::StallReason;
    use crate::model::Model;

    #[test]
    fn nobody_waits_for_warps_that_left() {
        let behind = |at_work: f64| {
            let not_selected = StallReason::NotSelected.ratio_metric();
            let mut launch = sass(
                &[(LATENCY, 10.0), (&not_selected, 5.0), (ISSUE, 3.0)],
                &[
                    ("@P0 EXIT", 100.0),
                    ("LDG.E R4, desc[UR4][R2.64]", at_work),
                    ("STG.E desc[UR4][R2.64], R4", at_work),
                    ("EXIT", at_work),
                ],
            );
            launch.set("sm__cycles_active.avg", Some(20.0));
            launch.set("sm__cycles_elapsed.max", Some(100.0));
            for row in &mut launch.instructions {
                row.counters.thread_inst_executed_pred_on = 32.0 * row.counters.inst_executed;
            }
            let model = Model::new(&launch);
            behind_others(&ModeledLaunch { profile: &launch, model: &model }).unwrap()
        };
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(behind(1.0), 0.5 * 0.2), "as long as the average SM has warps");
        assert!(near(behind(40.0), 0.5 * 0.4), "those that work may be on one SM");
        assert!(near(behind(100.0), 0.5), "all work");
    }

    const ISSUE: &str = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";
}
