//! What stays of the time in which SMs wait for longer blocks.

use crate::evidence::ModeledLaunch;
use crate::evidence::threshold::NOISE;
use crate::sass::Listing;

/// The share of the time, 0 to 1, that stays whatever goes of some work, given by weight: where blocks differ by the iterations
/// of their loops, work outside of loops is the same for all, and the longest do not get shorter by much without it.
pub(crate) fn stays(
    launch: &ModeledLaunch,
    listing: &Listing,
    weight: impl Fn(usize) -> f64,
) -> f64 {
    let uneven = launch.model.uneven();
    if uneven <= 0.0 {
        return 0.0;
    }
    let in_loop = |at: usize| listing.sass.flow.innermost(at).is_some();
    let (mut all, mut in_loops, mut loops) = (0.0, 0.0, false);
    for (at, _) in listing.entries() {
        let weight = weight(at);
        all += weight;
        if in_loop(at) {
            in_loops += weight;
            loops |= listing.executed(at) > 0.0;
        }
    }
    if loops && 100.0 * in_loops < NOISE * all { uneven } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::sass;
    use crate::model::Model;

    #[test]
    fn blocks_that_go_through_a_loop_more_often_stay_longer_without_what_all_do_alike() {
        let stays = |picked: usize, active: f64| {
            let code = [
                ("IADD3 R5, R5, 0x1, RZ", 900.0),
                ("@P0 BRA 0x100", 900.0),
                ("STS [R7], R4", 100.0),
                ("EXIT", 100.0),
            ];
            let metrics = [
                ("sm__issue_active.avg.pct_of_peak_sustained_elapsed", 20.0),
                ("sm__cycles_active.avg", active),
                ("sm__cycles_elapsed.max", 100.0),
                ("launch__sm_count", 10.0),
                ("launch__grid_size", 3200.0),
            ];
            let launch = sass(&metrics, &code);
            let listing = launch.listing().unwrap();
            let weight = |at: usize| if at == picked { 1.0 } else { 0.0 };
            let model = Model::new(&launch);
            super::stays(&ModeledLaunch { profile: &launch, model: &model }, &listing, weight)
        };
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        // Equal blocks leave SMs idle for a tenth of the time at most: 32 of 320 for each SM.
        assert!(near(stays(2, 40.0), 0.5));
        assert!(near(stays(0, 40.0), 0.0), "the loop itself gets shorter");
        assert!(near(stays(2, 90.0), 0.0), "a last wave");
    }
}
