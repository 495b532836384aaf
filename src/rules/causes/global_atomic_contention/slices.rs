//! What the slices of L2 have to do with atomics.

use super::MEAN;
use crate::evidence::ModeledLaunch;
use crate::model::thresholds::FEW_ADDRESSES;

/// How busy the busiest slice is, percent, and of what it can reach, beside an average one.
pub(super) fn said(launch: &ModeledLaunch, hot: f64, reached: f64) -> String {
    match launch.quote(MEAN).filter(|&mean| mean > 0.0) {
        Some(mean) if hot > 0.0 => format!(
            " The atomic unit of the busiest L2 slice works at {hot:.0}% of its peak rate{}, that of \
             an average slice at {mean:.1}%: {}.",
            if reached >= hot + 1.0 && !launch.model.atomics_in_turn() {
                format!(" ({reached:.0}% of what such atomics can reach on few addresses)")
            } else {
                String::new()
            },
            if hot >= FEW_ADDRESSES.value * mean {
                "a few addresses take most of the atomics"
            } else {
                "the atomics are spread evenly"
            },
        ),
        _ => String::new(),
    }
}

/// Why slices that are seldom busy hold up everything.
pub(super) fn in_turn(busy: f64) -> String {
    format!(
        " Still they hold up all other accesses: only few of the addresses are in use at a time, so that the slices \
         work one after another, which takes {busy:.0}% of the time."
    )
}
