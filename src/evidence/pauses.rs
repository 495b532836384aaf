//! Pauses of the device before launches, in words.

use crate::evidence::ModeledLaunch;
use crate::evidence::threshold::NOISE;
use crate::text::duration;

/// Says that an estimate counts the pauses before a kernel's launches; nothing where these are short beside the kernel.
pub(crate) fn said(launch: &ModeledLaunch) -> String {
    if 100.0 * launch.model.pause_share() < NOISE {
        return String::new();
    }
    format!(
        " Before such a launch the device has nothing to do for {}, because the host launches more slowly than the device works; the \
         estimate counts that.",
        duration(launch.profile.neighbours.pause_ns as f64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::launch;
    use crate::model::Model;

    #[test]
    fn pauses_that_are_short_beside_the_kernel_are_not_said() {
        let of = |pause_ns| {
            let mut profile = launch(&[("gpu__time_duration.sum", 2000.0)]);
            profile.neighbours.pause_ns = pause_ns;
            said(&ModeledLaunch { profile: &profile, model: &Model::new(&profile) })
        };
        assert_eq!(of(99), "");
        assert!(
            of(100).starts_with(" Before such a launch the device has nothing to do for 100 ns")
        );
    }
}
