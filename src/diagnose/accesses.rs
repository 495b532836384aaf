//! What a launch loads and stores through the pointers that it is given.

use crate::frame::Launch;
use crate::hardware::first_parameter;
use crate::sass::questions::through_parameters::{all_through, may_read};
use crate::sass::{Family, Listing};

/// Sectors of L2 that loads and stores ask for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sectors {
    pub loaded: f64,
    pub stored: f64,
}

/// What a launch accesses through the pointers that it is given.
pub(super) struct Accesses<'a> {
    listing: Listing<'a>,
    /// Where the parameters begin in the constant bank.
    begin: u32,
}

impl<'a> Accesses<'a> {
    /// Those of a launch, if the profile has it with its instructions.
    pub(super) fn by(launch: &'a Launch) -> Option<Self> {
        let begin = first_parameter(launch.row.compute_capability?);
        Some(Self { listing: launch.listing()?, begin })
    }

    /// Sectors that it loads and stores through one of its pointers: none where the code does not read the pointer, as of many in a
    /// structure. Nothing is known where it does, and no access through it is found: what looks like a pointer may be none, or the code
    /// may take it in another way, as descriptors do.
    pub(super) fn through(&self, pointer: u32) -> Option<Sectors> {
        let place = self.begin + pointer;
        if !may_read(&self.listing, place) {
            return Some(Sectors::default());
        }
        let found = all_through(&self.listing, &[place]);
        let mut sectors = Sectors::default();
        for &at in &found {
            let each = self.listing.row(at).counters.l2_sectors_global.max(1.0);
            match self.listing.sass.entries[at].family {
                Family::Store(_) => sectors.stored += each,
                Family::Load(_) | Family::AsyncCopy => sectors.loaded += each,
                // An atomic does both.
                _ => {
                    sectors.loaded += each;
                    sectors.stored += each;
                }
            }
        }
        (!found.is_empty()).then_some(sectors)
    }
}

#[cfg(test)]
pub(super) mod testing {
    use crate::frame::Launch;
    use crate::rules::testing::sass;

    /// A launch of a kernel that loads through its first pointer, with its second instruction, and stores through its second, with its
    /// fourth.
    pub(in crate::diagnose) fn made(kernel: &str) -> Launch {
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
}
