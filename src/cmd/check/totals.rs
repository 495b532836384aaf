//! The times of surveyed programs: all launches of their kernels, each recorded without the profiler.

use crate::document::Program;
use crate::gate::{CheckDocument, Total, recorded_totals};
use crate::timing::RANGE_IN_DEVIATIONS;

/// Fewer launches than these say too little of how far they scatter.
const LEAST_LAUNCHES: u64 = 5;

/// Compares the time of all kernels of two programs.
pub(super) fn compare(document: &mut CheckDocument, [base, new]: [&Program; 2], max_slowdown: f64) {
    let (Some(before), Some(after)) = (total(base), total(new)) else {
        document.notices.push(format!(
            "kernels that a program launched fewer than {LEAST_LAUNCHES} times take most of its kernels' time, so one run \
             does not say how far that scatters: `adoprof check --baseline-program BASE -- NEW` runs both in turn"
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

/// The time of a program's kernels, and how far it is known by one run; `None` where kernels that were launched too seldom
/// to tell take most of it. What was launched less often scatters as far as the worst of the others.
pub(super) fn total(program: &Program) -> Option<Total> {
    let groups =
        || program.groups.iter().filter(|group| group.launches > 0 && group.total_ns > 0.0);
    let (often, seldom): (Vec<_>, Vec<_>) =
        groups().partition(|group| group.launches >= LEAST_LAUNCHES);
    let ns = groups().map(|group| group.total_ns).sum::<f64>();
    let known = often.iter().map(|group| group.total_ns).sum::<f64>();
    if often.is_empty() || known < 0.5 * ns {
        return None;
    }
    let deviation = |low: f64, high: f64| (high - low).max(0.0) / RANGE_IN_DEVIATIONS;
    // The variance of each group's total, with its degrees of freedom.
    let mut parts = Vec::new();
    let (mut worst, mut worst_freedom) = (0.0, LEAST_LAUNCHES as f64 - 1.0);
    for group in &often {
        let launches = group.launches as f64;
        let of_launch = deviation(group.range_ns[0], group.range_ns[1]);
        let relative = of_launch * launches / group.total_ns;
        if relative > worst {
            (worst, worst_freedom) = (relative, launches - 1.0);
        }
        parts.push((launches * of_launch.powi(2), launches - 1.0));
    }
    for group in seldom {
        let variance = (worst * group.total_ns).powi(2) / group.launches as f64;
        parts.push((variance, worst_freedom));
    }
    let variance = parts.iter().map(|(variance, _)| variance).sum::<f64>();
    // Welch and Satterthwaite: Biometrics Bulletin 2 (1946), 110.
    let spread = parts.iter().map(|(variance, freedom)| variance.powi(2) / freedom).sum::<f64>();
    let freedom = if spread > 0.0 { variance.powi(2) / spread } else { worst_freedom };
    Some(Total { ns, error_ns: variance.sqrt(), freedom })
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
        assert!(f64::hypot(alone.freedom - 99.0, alone.ns - 1000.0) < 1e-9, "{alone:?}");
        // Four launches of 200 ns that differ by 10% as the others: √4 × 20 ns, of variances 100 and 1,600.
        let both = of(vec![often.clone(), group(4, 800.0, [200.0, 200.0])]).unwrap();
        assert!((both.error_ns - f64::hypot(10.0, 40.0)).abs() < 1e-9, "{both:?}");
        let freedom = 1700.0_f64.powi(2) / ((1e4 + 2.56e6) / 99.0);
        assert!(f64::hypot(both.freedom - freedom, both.ns - 1800.0) < 1e-9, "{both:?}");
        // Few launches of much time weigh more than many of little.
        let few = of(vec![often.clone(), group(5, 1e6, [1.9e5, 2.1e5])]).unwrap();
        assert!((few.freedom - 4.0).abs() < 0.01, "{few:?}");
        assert_eq!(of(vec![often, group(1, 1001.0, [1001.0; 2])]), None, "most of it ran once");
        assert_eq!(
            of(vec![group(4, 1600.0, [400.0, 400.0])]),
            None,
            "nobody knows how far it scatters"
        );
        assert_eq!(of(Vec::new()), None);
    }
}
