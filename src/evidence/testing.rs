//! Constructed launches for the tests of evidence and rules.

use crate::export::{SourceCounters, SourceRow};
use crate::frame::Launch;
use crate::metric::stall::StallReason;

/// Metrics of a constructed launch.
pub(crate) type Metrics<'a> = &'a [(&'a str, f64)];

/// A launch with these metrics and nothing else.
pub(crate) fn launch(metrics: Metrics) -> Launch {
    let mut launch = Launch::default();
    for (name, value) in metrics {
        assert!(crate::metric::canonical(name).is_some(), "{name} is not in the catalogue");
        launch.set(name, Some(*value));
    }
    launch
}

/// A source line with its counters.
pub(crate) fn line(number: u32, text: &str, counters: SourceCounters) -> SourceRow {
    SourceRow {
        file: Some("k.cu".into()),
        line: Some(number),
        text: text.to_owned(),
        counters,
        ..SourceRow::default()
    }
}

/// Counters with samples of some stalls.
pub(crate) fn samples(stalls: &[(StallReason, f64)]) -> SourceCounters {
    let mut counters = SourceCounters::default();
    for &(reason, count) in stalls {
        counters.stall_samples[reason as usize] = count;
        counters.samples += count;
    }
    counters
}

/// A launch with these metrics and instructions, each with how often warps executed it: lines 1, 2,
/// … of k.cu, 16 bytes apart from address 0x100.
pub(crate) fn sass(metrics: Metrics, code: &[(&str, f64)]) -> Launch {
    let mut launch = launch(metrics);
    launch.instructions = (0_u64..)
        .zip(code)
        .map(|(index, (text, executed))| SourceRow {
            file: Some("k.cu".into()),
            line: u32::try_from(index + 1).ok(),
            address: Some(0x100 + 16 * index),
            text: (*text).to_owned(),
            counters: SourceCounters {
                inst_executed: *executed,
                thread_inst_executed: 32.0 * executed,
                thread_inst_executed_pred_on: 32.0 * executed,
                ..SourceCounters::default()
            },
            ..SourceRow::default()
        })
        .collect();
    launch
}

/// An instruction that ran once: machine code that can be read.
pub(crate) fn nop() -> SourceRow {
    let counters = SourceCounters { inst_executed: 1.0, ..SourceCounters::default() };
    SourceRow { address: Some(0), text: "NOP".to_owned(), counters, ..SourceRow::default() }
}
