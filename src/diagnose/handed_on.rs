//! What kernels hand on to one another, where the code of both is known.

use super::accesses::{Accesses, Sectors};
use super::{chained, overwritten, steps};
use crate::frame::Launch;
use crate::handed_on::{HandedOn, Sequence};
use crate::hardware::SECTOR_BYTES;
use crate::kernel_name::same;

/// Keeps of what launches may hand on to one another what the one stores and the other loads, as far as the profile has both. A
/// survey knows only which pointers they were given: an input of two kernels is no result of the first. Of what both may read,
/// what the other one loads, and does not store; nothing where the profile does not have it. Three or more launches of a sequence
/// that hand on may be a chain.
pub fn settle(launches: &mut [Launch], sequences: &[Sequence]) {
    let steps = steps::of(launches, sequences);
    chained::find(launches, sequences, &steps);
    overwritten::find(launches, sequences, &steps);
    for at in 0..launches.len() {
        let mut neighbours = std::mem::take(&mut launches[at].neighbours);
        keep(launches, &mut neighbours.before, |sectors| sectors.stored);
        keep(launches, &mut neighbours.after, |sectors| sectors.loaded);
        keep_what_is_read(launches, &mut neighbours.read);
        launches[at].neighbours = neighbours;
    }
}

/// Keeps what the other launch accesses so, as much as it is.
fn keep(launches: &[Launch], handed_on: &mut Option<HandedOn>, of: impl Fn(Sectors) -> f64) {
    let Some(with) = handed_on else { return };
    let Some(other) = accesses(launches, with) else { return };
    for pointers in &mut with.pointers {
        // An allocation may hold more than this: what is not stored is not handed on, either.
        let bytes = SECTOR_BYTES * of(other.through(pointers.other).unwrap_or_default());
        pointers.bytes = pointers.bytes.min(bytes as u64);
    }
    with.pointers.retain(|pointers| pointers.bytes > 0);
    handed_on.take_if(|with| with.pointers.is_empty());
}

/// Keeps what the other launch only loads.
fn keep_what_is_read(launches: &[Launch], read: &mut Option<HandedOn>) {
    let other = read.as_ref().and_then(|with| accesses(launches, with));
    let Some(other) = other else {
        *read = None;
        return;
    };
    if let Some(with) = read {
        with.pointers.retain(|pointers| {
            other.through(pointers.other).is_none_or(|sectors| sectors.stored <= 0.0)
        });
    }
    keep(launches, read, |sectors| sectors.loaded);
}

/// What the launch of the other kernel accesses, if the profile has it with its instructions.
fn accesses<'a>(launches: &'a [Launch], with: &HandedOn) -> Option<Accesses<'a>> {
    Accesses::by(launches.iter().find(|launch| same(&launch.row.kernel, &with.kernel))?)
}

#[cfg(test)]
mod tests {
    use super::super::accesses::testing::made;
    use super::*;
    use crate::handed_on::{Neighbours, Pointers};

    #[test]
    fn what_the_other_kernel_only_reads_is_not_handed_on() {
        let mut launches = [made("first"), made("second")];
        let with = |kernel: &str, others: &[u32]| {
            let pointers =
                others.iter().map(|&other| Pointers { own: 0, other, bytes: 256 }).collect();
            Some(HandedOn { kernel: kernel.to_owned(), pointers })
        };
        launches[0].instructions[3].counters.l2_sectors_global = 8.0;
        launches[1].neighbours = Neighbours {
            before: with("first", &[0, 8]),
            after: with("not profiled", &[0]),
            read: with("first", &[0, 8]),
            ..Neighbours::default()
        };
        launches[0].neighbours.after = with("second", &[8]);
        settle(&mut launches, &[]);
        assert_eq!(launches[1].neighbours.before, with("first", &[8]), "it stores to its second");
        assert_eq!(launches[1].neighbours.after, with("not profiled", &[0]), "not known");
        let read = launches[1].neighbours.read.as_ref().unwrap();
        assert_eq!(
            read.pointers.iter().map(|it| it.other).collect::<Vec<_>>(),
            [0],
            "it loads from its first"
        );
        launches[0].neighbours.read = with("not profiled", &[0]);
        settle(&mut launches, &[]);
        assert_eq!(launches[0].neighbours.read, None, "not known, and so not said");
        assert_eq!(launches[0].neighbours.after, None, "the second only stores there");
    }
}
