//! Factors, promises and counts as the benches print them.

use crate::bench::Tally;
use crate::finding::Estimate;
use crate::report::words::number::factor;
use crate::text::percent;

/// A factor without its sign.
pub(super) fn bare(value: f64) -> String {
    factor(value).trim_end_matches('×').to_owned()
}

/// `1.50 (1.30–1.70)`.
pub(super) fn estimate(gain: &Estimate) -> String {
    if gain.low >= gain.high {
        return bare(gain.factor);
    }
    format!("{} ({}–{})", bare(gain.factor), bare(gain.low), bare(gain.high))
}

/// `34 of 40 (85%)`.
pub(super) fn tally(tally: Tally) -> String {
    let share = tally.share().map_or_else(String::new, |share| format!(" ({})", percent(share)));
    if tally.all == 0 { "—".to_owned() } else { format!("{} of {}{share}", tally.of, tally.all) }
}
