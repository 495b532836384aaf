//! The times of surveyed programs: all launches of their kernels, each recorded without the profiler.

use crate::document::Program;
use crate::gate::{CheckDocument, Total, recorded_totals};

/// Fewer launches than these say too little of how far they scatter.
const LEAST_LAUNCHES: u64 = 5;
/// From the 5th to the 95th percentile of a normal distribution, in standard deviations.
const RANGE_IN_DEVIATIONS: f64 = 3.29;

/// Compares the time of all kernels of two programs.
pub(super) fn compare(document: &mut CheckDocument, [base, new]: [&Program; 2], max_slowdown: f64) {
    let (Some(before), Some(after)) = (total(base), total(new)) else {
        document.notices.push(format!(
            "a program launched no kernel {LEAST_LAUNCHES} times, so one run does not say how far its time scatters: \
             `adoprof check --baseline-program BASE -- NEW` runs both in turn"
        ));
        return;
    };
    (document.base_ns, document.new_ns) = (Some(before.timing()), Some(after.timing()));
    document.comparison = recorded_totals(before, after, max_slowdown);
    let counts = [base.launches(), new.launches()];
    let launches = if counts[0] == counts[1] {
        String::new()
    } else {
        format!(", {} and {} launches", counts[0], counts[1])
    };
    document.notices.push(format!(
        "the times are those of all kernels in one surveyed run of each program{launches}; \
         `adoprof check --baseline-program BASE -- NEW` runs both in turn, which tells smaller differences"
    ));
}

/// The time of a program's kernels, and how far it is known by one run; `None` where no kernel was launched often
/// enough to tell. What was launched less often scatters as far as the worst of the others.
pub(super) fn total(program: &Program) -> Option<Total> {
    let groups =
        || program.groups.iter().filter(|group| group.launches > 0 && group.total_ns > 0.0);
    let (often, seldom): (Vec<_>, Vec<_>) =
        groups().partition(|group| group.launches >= LEAST_LAUNCHES);
    let deviation = |low: f64, high: f64| (high - low).max(0.0) / RANGE_IN_DEVIATIONS;
    let (mut worst, mut variance, mut launches) = (0.0_f64, 0.0, 0);
    for group in &often {
        let of_launch = deviation(group.range_ns[0], group.range_ns[1]);
        let mean = group.total_ns / group.launches as f64;
        worst = worst.max(of_launch / mean);
        variance += group.launches as f64 * of_launch.powi(2);
        launches += group.launches;
    }
    if often.is_empty() {
        return None;
    }
    for group in seldom {
        variance += (worst * group.total_ns).powi(2) / group.launches as f64;
    }
    let ns = groups().map(|group| group.total_ns).sum();
    Some(Total { ns, error_ns: f64::sqrt(variance), launches: launches as usize })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::ProgramGroup;

    fn group(launches: u64, total_ns: f64, range_ns: [f64; 2]) -> ProgramGroup {
        ProgramGroup { launches, total_ns, range_ns, ..ProgramGroup::default() }
    }

    #[test]
    fn a_total_is_as_uncertain_as_its_launches_together() {
        // 100 launches of 10 ns, each with a deviation of 1 ns: that of their sum is 10 ns.
        let often = group(100, 1000.0, [10.0 - 1.645, 10.0 + 1.645]);
        let of = |groups: Vec<ProgramGroup>| total(&Program { groups, ..Program::default() });
        let alone = of(vec![often.clone()]).unwrap();
        assert!((alone.error_ns - 10.0).abs() < 1e-9, "{alone:?}");
        assert_eq!((alone.ns, alone.launches), (1000.0, 100));
        // Four launches of 400 ns that differ by 10% as the others: √4 × 40 ns.
        let both = of(vec![often, group(4, 1600.0, [400.0, 400.0])]).unwrap();
        assert!((both.error_ns - f64::hypot(10.0, 80.0)).abs() < 1e-9, "{both:?}");
        assert_eq!((both.ns, both.launches), (2600.0, 100));
        assert_eq!(
            of(vec![group(4, 1600.0, [400.0, 400.0])]),
            None,
            "nobody knows how far it scatters"
        );
        assert_eq!(of(Vec::new()), None);
    }
}
