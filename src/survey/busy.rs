//! Time that spans cover together.

use super::record::Span;

/// The time in which at least one of the spans is under way, ns.
pub(super) fn union_ns(mut spans: Vec<Span>) -> f64 {
    spans.sort_unstable_by_key(|span| span.start);
    let (mut covered, mut until) = (0, 0);
    for span in spans {
        covered += span.end.saturating_sub(span.start.max(until));
        until = until.max(span.end);
    }
    covered as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_counts_once() {
        let span = |start, end| Span { start, end };
        // 10–30 and 20–50 make 40, 60–70 makes 10, and 62–65 and 66–69 lie within it.
        let spans = vec![span(60, 70), span(10, 30), span(62, 65), span(66, 69), span(20, 50)];
        assert_eq!((union_ns(Vec::new()), union_ns(spans)), (0.0, 50.0));
    }
}
