//! The speed-up that taking a fault away would give.
//!
//! Where the device pauses for p before each launch, because the host launches more slowly than the device works, and a change makes
//! one launch of several, so that a share s of these pauses goes, (t + p) / (t / f + p (1 − s)) is gained of a kernel that takes t and
//! gains f itself.

use super::thresholds::{LAUNCH_KNOWN, LEAST_OF_PAUSES, SHORTEST, WORST_ERROR};
use super::{Effect, Estimate, Model, merged};

impl Model {
    /// The speed-up that taking a fault away would give; `None` where no term is known. Where pauses go with it, it is that of the
    /// kernel and of the pauses before it.
    #[must_use]
    pub fn without(&self, effect: &Effect) -> Option<Estimate> {
        let kernel = self.within_kernel(effect)?;
        let pause = self.pause_share();
        if pause <= 0.0 || effect.pauses <= 0.0 {
            return Some(kernel);
        }
        let both = |factor: f64, goes: f64| (1.0 + pause) / (1.0 / factor + pause * (1.0 - goes));
        Some(Estimate {
            factor: both(kernel.factor, effect.pauses),
            low: both(kernel.low, LEAST_OF_PAUSES.value * effect.pauses),
            high: both(kernel.high, effect.pauses),
        })
    }

    /// The pause before the launch, as a multiple of the kernel's own time.
    #[must_use]
    pub fn pause_share(&self) -> f64 {
        self.time_ns.filter(|&ns| ns > 0.0).map_or(0.0, |ns| self.pause_ns / ns)
    }

    /// The speed-up that taking a fault away would give the kernel alone.
    fn within_kernel(&self, effect: &Effect) -> Option<Estimate> {
        if effect.merged > 1.0 {
            let each = Effect { merged: 1.0, ..effect.clone() };
            return Some(merged::estimate(self, &self.left(&each)?, effect));
        }
        let left = self.left(effect)?;
        let launch = self.launch_share();
        let factor = |waiting: f64| {
            let time = left.time(waiting).min(1.0 - effect.phase.clamp(0.0, 1.0));
            let time = if effect.launch {
                (time - launch).max(LAUNCH_KNOWN.value)
            } else {
                time.max(launch)
            };
            (1.0 / time.max(effect.least).max(SHORTEST.value)).max(1.0)
        };
        let (middle, slowest) = (left.likely(), left.slowest());
        let low = 1.0 + (1.0 - WORST_ERROR.value) * (factor(left.waiting.max(slowest)) - 1.0);
        let lesser = effect.at_least.as_ref().and_then(|lesser| self.within_kernel(lesser));
        Some(Estimate {
            factor: factor(middle),
            low: lesser.map_or(low, |lesser| low.min(lesser.low)),
            high: factor(0.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;

    #[test]
    fn pauses_count_where_they_go_with_the_launch() {
        let mut launch = Launch::default();
        launch.set("gpu__time_duration.sum", Some(2000.0));
        launch.set("sm__issue_active.avg.pct_of_peak_sustained_elapsed", Some(50.0));
        launch.neighbours.pause_ns = 4000;
        let model = Model::new(&launch);
        let of =
            |pauses: f64| model.without(&Effect { pauses, ..Effect::default() }).unwrap().factor;
        assert!((of(0.0) - 1.0).abs() < 1e-12);
        assert!((of(0.5) - 1.5).abs() < 1e-12, "of 2 and 4 µs two go");
        assert!((of(1.0) - 3.0).abs() < 1e-12, "the pauses were twice as long as the kernel");
    }
}
