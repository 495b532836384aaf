//! Base time over new time, of what both sides have.

use std::collections::BTreeMap;

use polars::prelude::DataFrame;

use super::Side;
use super::join::{BASE, NEW};
use crate::document::{Program, TimeOf};
use crate::error::Result;
use crate::frame::columns::METRIC;
use crate::kernel_name;

/// A launch's duration under the profiler.
const DURATION: &str = "gpu__time_duration.sum";

/// The factor and what it is of: a step's time; else that of a program's kernels, surveyed; both measured without the
/// profiler. Otherwise ncu's durations of the launches that were paired, which are all if `is_whole`.
pub(super) fn speedup(
    base: &Side,
    new: &Side,
    paired_ns: (f64, f64),
    is_whole: bool,
) -> Option<(f64, TimeOf)> {
    let measured = |side: &Side| side.document.step.as_ref().map(|step| step.time_ns.median);
    let program = |side: &Side| -> Option<Program> {
        side.document.program.clone().filter(|program| program.launches() > 0)
    };
    let (before, after, of) = if let (Some(before), Some(after)) = (measured(base), measured(new)) {
        (before, after, TimeOf::Step)
    } else if let (Some(base), Some(new)) = (program(base), program(new)) {
        of_programs(&base, &new)
    } else {
        let of = if is_whole { TimeOf::Launches } else { TimeOf::PairedLaunches };
        (paired_ns.0, paired_ns.1, of)
    };
    (before > 0.0 && after > 0.0).then(|| (before / after, of))
}

/// The time of all kernels where both programs launch equally many. Where they don't, their totals are of different
/// work, or of the same work done otherwise, and nobody knows which: as many launches of each kernel as both have
/// take their mean time.
fn of_programs(base: &Program, new: &Program) -> (f64, f64, TimeOf) {
    let total = |program: &Program| program.groups.iter().map(|group| group.total_ns).sum();
    if base.launches() == new.launches() {
        return (total(base), total(new), TimeOf::Kernels);
    }
    let after = by_kernel(new);
    let (mut before_ns, mut after_ns) = (0.0, 0.0);
    for (kernel, (launches, ns)) in by_kernel(base) {
        if let Some(&(others, other_ns)) = after.get(&kernel) {
            let both = launches.min(others);
            before_ns += both * ns / launches;
            after_ns += both * other_ns / others;
        }
    }
    (before_ns, after_ns, TimeOf::Launch)
}

/// How often each kernel was launched, and the time of all its launches, ns.
fn by_kernel(program: &Program) -> BTreeMap<String, (f64, f64)> {
    let mut kernels: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for group in program.groups.iter().filter(|group| group.launches > 0) {
        let (launches, ns) = kernels.entry(kernel_name::base(&group.kernel)).or_default();
        *launches += group.launches as f64;
        *ns += group.total_ns;
    }
    kernels
}

/// The durations of two launches that were paired, ns; nothing where either has none.
pub(super) fn durations(joined: &DataFrame) -> Result<(f64, f64)> {
    let names = joined.column(METRIC)?.str()?;
    let Some(at) = names.iter().position(|name| name == Some(DURATION)) else {
        return Ok((0.0, 0.0));
    };
    let value = |side: &str| -> Result<f64> {
        Ok(joined.column(side)?.f64()?.get(at).filter(|ns| *ns > 0.0).unwrap_or(0.0))
    };
    let (base, new) = (value(BASE)?, value(NEW)?);
    Ok(if base > 0.0 && new > 0.0 { (base, new) } else { (0.0, 0.0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::ProgramGroup;

    fn program(groups: &[(&str, u64, f64)]) -> Program {
        let group = |&(kernel, launches, total_ns): &(&str, u64, f64)| ProgramGroup {
            kernel: kernel.to_owned(),
            launches,
            total_ns,
            ..ProgramGroup::default()
        };
        Program { groups: groups.iter().map(group).collect(), ..Program::default() }
    }

    #[test]
    fn programs_with_equally_many_launches_are_compared_by_all_their_kernels() {
        let base = program(&[("old(int)", 10, 300.0), ("k", 10, 100.0)]);
        let new = program(&[("renamed(int)", 10, 100.0), ("k", 10, 100.0)]);
        assert_eq!(of_programs(&base, &new), (400.0, 200.0, TimeOf::Kernels));
    }

    #[test]
    fn programs_with_other_numbers_of_launches_are_compared_per_launch() {
        // Ten launches of 30 ns in two groups against 4 of 20 ns; two of 5 ns against 6 of 10 ns. The third is new.
        let base = program(&[("k<1>(int)", 4, 80.0), ("k<1>(int)", 6, 220.0), ("m", 2, 10.0)]);
        let new = program(&[("k<2>(int)", 4, 80.0), ("m", 6, 60.0), ("other", 9, 900.0)]);
        // Four of k and two of m.
        let expected = (4.0 * 30.0 + 2.0 * 5.0, 4.0 * 20.0 + 2.0 * 10.0, TimeOf::Launch);
        assert_eq!(of_programs(&base, &new), expected);
        let strangers = of_programs(&base, &program(&[("other", 1, 1.0)]));
        assert_eq!(strangers, (0.0, 0.0, TimeOf::Launch), "nothing in common");
    }
}
