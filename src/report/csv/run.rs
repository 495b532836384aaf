//! A ladder's run as CSV.

use std::io::{self, Write};

use crate::document::RunDocument;
use crate::report::csv::{Table, number};
use crate::report::words::steps::{Gain, rows};
use crate::text::printable;

/// One row a step.
pub(super) fn run(run: &RunDocument, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(
        out,
        &[
            "step",
            "title",
            "size",
            "verified",
            "time_ns",
            "low_ns",
            "high_ns",
            "rate",
            "rate_unit",
            "speedup_previous",
            "speedup_first",
            "by_rate",
            "bound",
            "rule",
            "factor",
            "low",
            "high",
            "hint",
            "next",
            "next_gained",
            "fault",
            "device",
        ],
    )?;
    for row in rows(run) {
        let step = row.step;
        let outcome = row.outcome.as_ref();
        let by_rate = [row.over_previous, row.over_first].iter().flatten().any(|gain| gain.by_rate);
        let gained = |gain: Option<Gain>| number(gain.map(|gain| gain.factor));
        table.row(&[
            printable(&step.name),
            printable(&step.title),
            printable(&step.size_words()),
            step.verified.to_string(),
            step.time_ns.median.to_string(),
            step.time_ns.low.to_string(),
            step.time_ns.high.to_string(),
            number(step.rate.as_ref().map(|rate| rate.value)),
            step.rate.as_ref().map(|rate| printable(&rate.unit)).unwrap_or_default(),
            gained(row.over_previous),
            gained(row.over_first),
            by_rate.to_string(),
            row.bound.map(|bound| bound.word().to_owned()).unwrap_or_default(),
            row.finding.map(|finding| printable(&finding.rule)).unwrap_or_default(),
            number(row.estimate.map(|gain| gain.factor)),
            number(row.estimate.map(|gain| gain.low)),
            number(row.estimate.map(|gain| gain.high)),
            row.finding.map(|finding| printable(&finding.hint)).unwrap_or_default(),
            outcome.map(|outcome| printable(&outcome.next.name)).unwrap_or_default(),
            gained(outcome.and_then(|outcome| outcome.gained)),
            outcome.and_then(|outcome| outcome.fault).map_or("", |fate| fate.word()).to_owned(),
            row.device.map(printable).unwrap_or_default(),
        ])?;
    }
    table.end()
}
