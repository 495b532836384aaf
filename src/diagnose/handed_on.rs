//! What kernels hand on to one another, where the code of both is known.

use crate::frame::Launch;
use crate::handed_on::HandedOn;
use crate::hardware::{SECTOR_BYTES, first_parameter};
use crate::kernel_name::same;
use crate::sass::Family;
use crate::sass::parse::access::Space;
use crate::sass::questions::through_parameters::through;

/// Keeps of what launches may hand on to one another what the one stores and the other loads, as far as the profile has both. A
/// survey knows only which pointers they were given: an input of two kernels is no result of the first.
pub fn settle(launches: &mut [Launch]) {
    for at in 0..launches.len() {
        let mut neighbours = std::mem::take(&mut launches[at].neighbours);
        keep(launches, &mut neighbours.before, Family::Store(Space::Global));
        keep(launches, &mut neighbours.after, Family::Load(Space::Global));
        launches[at].neighbours = neighbours;
    }
}

/// Keeps what the other launch accesses so, as much as it is.
fn keep(launches: &[Launch], handed_on: &mut Option<HandedOn>, family: Family) {
    let Some(with) = handed_on else { return };
    let other = launches.iter().find(|launch| same(&launch.row.kernel, &with.kernel));
    let Some(other) = other else { return };
    let Some((listing, capability)) = other.listing().zip(other.row.compute_capability) else {
        return;
    };
    let sectors = |pointer: u32| -> f64 {
        let found = through(&listing, &[first_parameter(capability) + pointer]);
        let such = found.iter().filter(|&&at| listing.sass.entries[at].family == family);
        such.map(|&at| listing.row(at).counters.l2_sectors_global.max(1.0)).sum()
    };
    for pointers in &mut with.pointers {
        // An allocation may hold more than this: what is not stored is not handed on, either.
        let bytes = SECTOR_BYTES * sectors(pointers.other);
        pointers.bytes = pointers.bytes.min(bytes as u64);
    }
    with.pointers.retain(|pointers| pointers.bytes > 0);
    if with.pointers.is_empty() {
        *handed_on = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handed_on::{Neighbours, Pointers};
    use crate::rules::testing::sass;

    /// A kernel that loads from its first pointer and stores to its second.
    fn made(kernel: &str) -> Launch {
        let mut launch = sass(
            &[],
            &[
                ("LDC.64 R2, c[0x0][0x210]", 8.0),
                ("LDG.E R4, desc[UR4][R2.64]", 8.0),
                ("LDC.64 R6, c[0x0][0x218]", 8.0),
                ("STG.E desc[UR4][R6.64], R4", 8.0),
                ("EXIT", 8.0),
            ],
        );
        launch.row.kernel = kernel.to_owned();
        launch.row.compute_capability = Some((9, 0));
        launch
    }

    #[test]
    fn what_the_other_kernel_only_reads_is_not_handed_on() {
        let mut launches = [made("first"), made("second")];
        let with = |kernel: &str, others: &[u32]| {
            let pointers =
                others.iter().map(|&other| Pointers { own: 0, other, bytes: 256 }).collect();
            Some(HandedOn { kernel: kernel.to_owned(), pointers })
        };
        launches[0].instructions[3].counters.l2_sectors_global = 8.0;
        launches[1].neighbours =
            Neighbours { before: with("first", &[0, 8]), after: with("not profiled", &[0]) };
        launches[0].neighbours.after = with("second", &[8]);
        settle(&mut launches);
        assert_eq!(launches[1].neighbours.before, with("first", &[8]), "it stores to its second");
        assert_eq!(launches[1].neighbours.after, with("not profiled", &[0]), "not known");
        assert_eq!(launches[0].neighbours.after, None, "the second only stores there");
    }
}
