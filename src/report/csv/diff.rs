//! Two profiles side by side as CSV.

use std::io::{self, Write};

use crate::document::Diff;
use crate::report::csv::Table;
use crate::text::printable;

/// One row a metric.
pub(super) fn diff(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    let mut table =
        Table::new(out, &["kernel", "metric", "title", "unit", "base", "new", "direction", "key"])?;
    for change in &diff.metrics {
        table.row(&[
            printable(&change.kernel),
            printable(&change.metric),
            printable(&change.title),
            printable(&change.unit),
            change.base.to_string(),
            change.new.to_string(),
            change.direction.clone(),
            change.key.to_string(),
        ])?;
    }
    table.end()
}
