//! What is said of a sweep, whatever the form.

use crate::report::words::number::{bare, factor};
use crate::sweep::axis::shown;
use crate::sweep::{Conclusion, Moving, PointResult, SweepDocument};
use crate::text::{duration, percent, significant};

/// Tied points that a sentence names.
const MOST_TIED: usize = 4;

/// The axes' values at a point.
pub(crate) fn values(document: &SweepDocument, point: &PointResult) -> Vec<String> {
    let value = |name: &String| point.settings.get(name).map_or("", |value| shown(value));
    document.axes.iter().map(|axis| value(&axis.name).to_owned()).collect()
}

/// Time, spread and rate.
pub(crate) fn cells(point: &PointResult) -> [String; 3] {
    let Some(time) = point.time_ns else {
        return ["failed".to_owned(), String::new(), String::new()];
    };
    let rate = point.rate.as_ref();
    [
        duration(time.median),
        format!("{} to {}", duration(time.low), duration(time.high)),
        rate.map(|rate| format!("{} {}", significant(rate.value, 3), rate.unit))
            .unwrap_or_default(),
    ]
}

/// True where the points that ran have not all the same size.
pub(crate) fn differing_sizes(document: &SweepDocument) -> bool {
    let sizes = document.points.iter().filter(|point| point.time_ns.is_some());
    let mut sizes = sizes.map(|point| &point.size);
    sizes.next().is_some_and(|first| sizes.any(|size| size != first))
}

/// What is concluded of a group of points.
pub(crate) fn sentence(document: &SweepDocument, best: &Conclusion) -> String {
    let point = |place: usize| {
        let cells = document.points.get(place).map(cells).unwrap_or_default();
        let by_rate = best.size.is_empty() && !cells[2].is_empty();
        let figure = if by_rate { &cells[2] } else { &cells[0] };
        format!("{} ({figure})", document.label(place))
    };
    let next = best.next.zip(best.factor);
    let sentence = match (next, best.clear) {
        (Some((next, gain)), true) => format!(
            "Best: {}, {} faster than the next, {}; {}.",
            point(best.best),
            factor(gain),
            point(next),
            margin(best)
        ),
        (None, _) if best.tied.is_empty() => format!("Only {} ran.", point(best.best)),
        (next, _) => {
            let mut names: Vec<String> = std::iter::once(best.best)
                .chain(best.tied.iter().copied())
                .take(MOST_TIED)
                .map(point)
                .collect();
            let more = (best.tied.len() + 1).saturating_sub(names.len());
            let last =
                if more > 0 { format!("{more} more") } else { names.pop().unwrap_or_default() };
            let lead = next.map(|(next, gain)| {
                format!(" The first is {} faster than {}.", factor(gain), point(next))
            });
            format!(
                "No clear winner: {} and {last} differ by no more than their spread.{}",
                names.join(", "),
                lead.unwrap_or_default()
            )
        }
    };
    if best.size.is_empty() || !differing_sizes(document) {
        return sentence;
    }
    let axes = document.axes.iter().map(|axis| &axis.name);
    let size: Vec<String> =
        axes.filter_map(|name| Some(format!("{name} = {}", best.size.get(name)?))).collect();
    format!("{}: {sentence}", size.join(", "))
}

/// `the margin of 20% is 4.0 times the noise of 5%`.
fn margin(best: &Conclusion) -> String {
    let (margin, noise) = (best.margin.unwrap_or(0.0), best.noise.unwrap_or(0.0));
    format!(
        "the margin of {} is {} times the noise of {}",
        percent(margin),
        significant(margin / noise.max(f64::MIN_POSITIVE), 2),
        percent(noise)
    )
}

/// An error's first line, and the first line of a compiler's log where that is what it announces.
pub(crate) fn brief(error: &str) -> String {
    let mut lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    match lines.next() {
        Some(second) if first.ends_with(':') => format!("{first} {second}"),
        _ => first.to_owned(),
    }
}

/// Title, ρ, and the values at the fastest and the slowest point.
pub(crate) fn moving_cells(moving: &Moving) -> Vec<String> {
    let value = |value: f64| bare(value, &moving.unit);
    vec![
        moving.title.clone(),
        format!("{:+.2}", moving.rho),
        value(moving.at_fastest),
        value(moving.at_slowest),
    ]
}
