//! A run over time, a lane per stream and direction of copies: how busy each is in each part of the time.

use std::collections::BTreeMap;

use super::run::{Kind, Run};
use crate::survey::Survey;
use crate::survey::record::Span;

/// Parts into which the time is cut.
pub(crate) const PARTS: usize = 100;

/// At most so many lanes; those with the least work are left out.
const MOST_LANES: usize = 10;

/// A lane.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lane {
    /// What it shows: `stream 7`, `copies to the device`.
    pub name: String,
    /// How busy it is in each part of the time, 0 to 1.
    pub busy: Vec<f64>,
}

/// The time from the device's first work to its last, ns, and its lanes, the busiest first.
#[must_use]
pub(crate) fn lanes(survey: &Survey) -> (f64, Vec<Lane>) {
    let Some(run) = Run::new(survey) else { return (0.0, Vec::new()) };
    let process = run.process;
    let mut spans: BTreeMap<String, Vec<Span>> = BTreeMap::new();
    let several = process.devices.len() > 1;
    for kernel in &process.kernels {
        let stream = kernel.place.stream;
        let name = if several {
            format!("GPU {}, stream {stream}", kernel.place.device)
        } else {
            format!("stream {stream}")
        };
        spans.entry(name).or_default().push(kernel.span);
    }
    for copy in &process.copies {
        let name = match copy.direction {
            1 => "copies to the GPU",
            2 => "copies to the host",
            _ => "copies on the GPU",
        };
        spans.entry(name.to_owned()).or_default().push(copy.span);
    }
    for call in run.calls_in_progress(Kind::Wait) {
        spans.entry("the host waits".to_owned()).or_default().push(call.span);
    }
    let whole = match (run.busy.first(), run.busy.last()) {
        (Some(first), Some(last)) => Span { start: first.start, end: last.end },
        _ => return (0.0, Vec::new()),
    };
    let mut lanes: Vec<Lane> = spans
        .into_iter()
        .map(|(name, spans)| Lane { name, busy: parts(whole, &super::run::merged(spans)) })
        .collect();
    let sum = |lane: &Lane| lane.busy.iter().sum::<f64>();
    lanes.sort_by(|a, b| sum(b).total_cmp(&sum(a)));
    lanes.truncate(MOST_LANES);
    (whole.ns(), lanes)
}

/// How much of each part of the whole the spans cover.
fn parts(whole: Span, spans: &[Span]) -> Vec<f64> {
    let width = whole.ns() / PARTS as f64;
    let mut busy = vec![0.0; PARTS];
    if width <= 0.0 {
        return busy;
    }
    for span in spans {
        let at = |time: u64| time.saturating_sub(whole.start) as f64 / width;
        let (start, end) = (at(span.start).min(PARTS as f64), at(span.end).min(PARTS as f64));
        let mut from = start;
        while from < end {
            let part = from.floor();
            let to = end.min(part + 1.0);
            if let Some(busy) = busy.get_mut(part as usize) {
                *busy += to - from;
            }
            from = to.max(from + 1e-9);
        }
    }
    busy
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::around::testing::{Made, US};
    use crate::survey::samples::shape;

    #[test]
    fn lanes_show_who_works_when() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        made.launch(0, 30 * US);
        made.wait();
        made.host += 40 * US - 6 * US;
        made.launch(0, 30 * US);
        let survey = Survey { wall_ns: 1e6, processes: vec![made.process], notices: Vec::new() };
        let (ns, lanes) = lanes(&survey);
        // 30 µs of work, 1 + 34 + 5 of pause, 30 of work.
        assert!((ns - 100_000.0).abs() < 1e-9, "{ns}");
        assert_eq!(lanes[0].name, "stream 7");
        let busy: Vec<f64> = lanes[0].busy.iter().map(|share| share.round()).collect();
        assert_eq!(busy.iter().filter(|share| **share > 0.5).count(), 60);
        assert_eq!((busy[29], busy[30], busy[69], busy[70]), (1.0, 0.0, 0.0, 1.0));
        assert!(lanes.iter().any(|lane| lane.name == "the host waits"));
    }

    #[test]
    fn the_ten_busiest_lanes_are_shown() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for stream in 1..=11 {
            made.launch(0, 10 * US * u64::from(stream));
            made.process.kernels.last_mut().unwrap().place.stream = stream;
        }
        let survey = Survey { wall_ns: 1e6, processes: vec![made.process], notices: Vec::new() };
        let (_, lanes) = lanes(&survey);
        assert_eq!((lanes.len(), lanes[0].name.as_str()), (10, "stream 11"));
        assert!(lanes.iter().all(|lane| lane.name != "stream 1"));
    }
}
