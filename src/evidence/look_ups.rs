//! Lines that L1 looks up: its data pipe takes a wavefront for each.

use crate::export::SourceRow;
use crate::hardware::SECTORS_PER_LINE;

/// The look-ups that a row's requests need at least: one per request, and one per four dense sectors.
pub(crate) fn needed(row: &SourceRow) -> f64 {
    let counters = &row.counters;
    let dense = counters.l2_sectors_global_ideal / SECTORS_PER_LINE;
    // A line's instruction count includes arithmetic; only an instruction's own is its requests.
    let requests = if row.is_instruction() { counters.inst_executed } else { 0.0 };
    dense.max(requests).min(counters.l1_tag_requests_global)
}
