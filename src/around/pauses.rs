//! Pauses of the device before launches that come late.

use std::collections::HashMap;

use super::run::{Cause, Run};
use crate::survey::Survey;
use crate::survey::group::Group;

/// Launches of a group at least: the first ones take the host longer than those that follow.
const LEAST: usize = 32;

/// What recording a launch adds to the host's time for it, ns: 16 short kernels in turn begin 4.2 µs apart beside an H200, and 7.4 to
/// 8.5 µs apart while they are recorded. Pauses of the device's own, of 1 to 2 µs between two kernels of a stream, are shorter.
const OF_RECORDING_NS: u64 = 4_000;

/// For how long the device has nothing to do before the launches of each group, ns, because the host launches more slowly than the
/// device works: the median, 0 where it does not pause before most of them, or where they are few.
pub(crate) fn pauses(survey: &Survey, groups: &[Group]) -> Vec<u64> {
    let Some(run) = Run::new(survey) else { return vec![0; groups.len()] };
    let late = run.gaps.iter().filter(|gap| gap.cause == Cause::Launch);
    let by_end: HashMap<u64, u64> = late.map(|gap| (gap.span.end, gap.span.ns() as u64)).collect();
    let of = |group: &Group| {
        let kernels = group.launches.iter().filter_map(|launch| {
            let process = survey.processes.get(launch.process as usize)?;
            let is_of_run = std::ptr::eq(process, run.process);
            process.kernels.get(launch.index as usize).filter(|_| is_of_run)
        });
        let mut before: Vec<u64> =
            kernels.map(|kernel| by_end.get(&kernel.span.start).copied().unwrap_or(0)).collect();
        before.sort_unstable();
        let median = before.get(before.len() / 2).filter(|_| before.len() >= LEAST);
        median.map_or(0, |pause| pause.saturating_sub(OF_RECORDING_NS))
    };
    groups.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::around::testing::{Made, US};
    use crate::survey::group::groups;
    use crate::survey::samples::shape;

    /// The pauses before so many launches of a microsecond, where the host takes 6 µs for each, and waits after each time it has
    /// made `waits` of them.
    fn of(launches: usize, waits: usize) -> Vec<u64> {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for at in 1..=launches {
            made.launch(0, US);
            if at % waits == 0 {
                made.wait();
            }
            made.host += US;
        }
        let survey = Survey { wall_ns: 1e6, processes: vec![made.process], ..Survey::default() };
        pauses(&survey, &groups(&survey))
    }

    #[test]
    fn launches_that_set_the_pace_leave_the_device_waiting() {
        assert_eq!(of(32, 100), [US], "5 µs, of which recording takes 4");
        assert_eq!(of(31, 100), [0], "too few to tell");
        assert_eq!(of(32, 1), [0], "the host waits for each");
    }
}
