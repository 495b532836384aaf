//! Narrow accesses at dense addresses, and what a thread would do once for the elements of a vector.

use crate::evidence::ModeledLaunch;
use crate::evidence::removal::{MATTERS, Removal};
use crate::evidence::slow_routines::Runs;
use crate::export::SourceCounters;
use crate::hardware::{SECTOR_BYTES, WIDEST_ACCESS_BYTES};
use crate::sass::questions::neighbours::{OncePerVector, once_per_vector};
use crate::sass::{Family, Listing, Marks, Space};

/// Bytes per lane up to which an access counts as narrow.
pub(crate) const NARROW: u8 = 4;

/// Sectors that an access touches, over those that its bytes fill: at most so far apart.
pub(crate) const DENSE: f64 = 0.25;

/// True for a global access of few bytes per lane that touches the sectors that these fill, and no others.
pub(crate) fn is_narrow(listing: Listing, index: usize) -> bool {
    let entry = &listing.sass.entries[index];
    let is_global =
        matches!(entry.family, Family::Load(Space::Global) | Family::Store(Space::Global));
    if !(is_global && (1..=NARROW).contains(&entry.width)) {
        return false;
    }
    let counters = &listing.row(index).counters;
    let bytes = lanes(counters) * f64::from(entry.width);
    let filled = bytes / SECTOR_BYTES;
    filled > 0.0 && (counters.l2_sectors_global / filled - 1.0).abs() <= DENSE
}

/// Lanes that took part, over all executions.
pub(crate) fn lanes(counters: &SourceCounters) -> f64 {
    if counters.thread_inst_executed_pred_on > 0.0 {
        counters.thread_inst_executed_pred_on
    } else {
        counters.thread_inst_executed
    }
}

/// What goes with narrow accesses if each thread takes the elements of a vector, whatever makes their addresses.
pub(crate) struct Once {
    found: OncePerVector,
    /// Elements of a vector.
    pub elements: f64,
}

impl Once {
    /// For these accesses, as many elements as the widest of them has in 16 bytes. `None` where threads exchange values, as
    /// their elements are laid out for that, and where some access goes to an address of each element's own.
    pub(crate) fn find(launch: &ModeledLaunch, narrow: &Marks) -> Option<Self> {
        let listing = launch.profile.listing()?;
        let widest = narrow.iter().map(|at| listing.sass.entries[at].width).max()?;
        let executed = |at: usize| listing.executed(at) > 0.0;
        let exchanges = |family: Family| {
            matches!(
                family,
                Family::Barrier
                    | Family::Shuffle
                    | Family::Vote
                    | Family::Tensor
                    | Family::AsyncCopy
            ) || matches!(family, Family::Load(space) | Family::Store(space) if space == Space::Shared)
                || matches!(family, Family::Atomic(_) | Family::Reduction(_))
        };
        if listing.entries().any(|(at, entry)| executed(at) && exchanges(entry.family)) {
            return None;
        }
        let elements = WIDEST_ACCESS_BYTES / f64::from(widest);
        let found = once_per_vector(&listing, narrow, launch.profile.row.block, elements)?;
        let is_vector = |at: usize| found.accesses[at] || found.shared[at] || found.common[at];
        let is_global =
            |family| matches!(family, Family::Load(Space::Global) | Family::Store(Space::Global));
        let mut all =
            listing.entries().filter(|&(at, entry)| executed(at) && is_global(entry.family));
        let is_whole = all.all(|(at, _)| is_vector(at));
        (is_whole && !found.accesses.are_none()).then_some(Self { found, elements })
    }

    /// Executed instructions that go with the accesses, these not among them.
    pub(crate) fn beside(&self, listing: Listing) -> f64 {
        self.found.shared.iter().map(|at| listing.executed(at)).sum()
    }

    /// Takes a share of what goes with the accesses.
    pub(crate) fn remove_from(&self, removal: &mut Removal, share: f64) {
        for at in self.found.shared.iter() {
            removal.remove(at, share);
        }
    }

    /// How much faster the launch would be with vectors alone, as the model says.
    pub(crate) fn gain(&self, launch: &ModeledLaunch) -> Option<f64> {
        let mut removal = Removal::new(launch)?;
        let share = 1.0 - 1.0 / self.elements;
        for at in self.found.accesses.iter() {
            removal.remove_but_latency(at, share);
        }
        self.remove_from(&mut removal, share);
        let effect = removal.effect(launch);
        launch.model.without(&effect).map(|estimate| estimate.factor)
    }
}

/// True where integer divisions take a part of the instructions that counts: they have a rule of their own.
pub(crate) fn divides(launch: &ModeledLaunch) -> bool {
    let Some(mut removal) = Removal::new(launch) else { return false };
    let _ = Runs::replace(&mut removal, |_, routine| routine.is_integer());
    removal.instructions() >= MATTERS * removal.mix.total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::removal::ISSUE_BUSY;
    use crate::model::Model;
    use crate::rules::testing::sass;

    /// Loads and stores of bytes at indices that take steps to make, and something between: elements of a vector and what goes,
    /// or nothing.
    fn found(between: &[(&str, f64)]) -> Option<(f64, f64, bool)> {
        let mut code = vec![("S2R R0, SR_TID.X", 10.0), ("IMAD R5, R0, 0x1, RZ", 10.0)];
        code.extend(between);
        code.extend([
            ("IMAD.WIDE R2, R5, 0x1, RZ", 10.0),
            ("LDG.E.U8 R6, desc[UR4][R2.64]", 10.0),
            ("LOP3.LUT R6, R6, 0x1, RZ, 0x3c, !PT", 10.0),
            ("STG.E.U8 desc[UR4][R2.64], R6", 10.0),
            ("EXIT", 10.0),
        ]);
        let mut launch = sass(&[(ISSUE_BUSY, 90.0)], &code);
        launch.row.block = [128, 1, 1];
        for (row, (text, _)) in launch.instructions.iter_mut().zip(&code) {
            row.counters.thread_inst_executed = 320.0;
            row.counters.l2_sectors_global = if text.contains("U8") { 10.0 } else { 0.0 };
        }
        let model = Model::new(&launch);
        let launch = ModeledLaunch { profile: &launch, model: &model };
        let listing = launch.profile.listing()?;
        let narrow = Marks::of(code.len(), |at| is_narrow(listing, at));
        let once = Once::find(&launch, &narrow)?;
        Some((once.elements, once.beside(listing), divides(&launch)))
    }

    #[test]
    fn what_makes_addresses_goes_with_the_accesses() {
        let (elements, beside, divides) = found(&[]).unwrap();
        assert!((elements - 16.0).abs() < 1e-12 && !divides);
        assert!((beside - 40.0).abs() < 1e-12, "{beside}: index, address and the end");
        let more = found(&[("IADD3 R5, R5, c[0x0][0x170], RZ", 10.0)]).unwrap();
        assert!((more.1 - 50.0).abs() < 1e-12, "{}", more.1);
        assert!(found(&[("I2F.RP R10, UR9", 10.0)]).unwrap().2, "a division");
    }

    #[test]
    fn threads_that_exchange_values_or_gather_keep_their_elements() {
        assert_eq!(found(&[("BAR.SYNC.DEFER_BLOCKING 0x0", 10.0)]), None);
        assert_eq!(found(&[("SHFL.BFLY PT, R9, R5, 0x1, 0x1f", 10.0)]), None);
        assert_eq!(found(&[("STS [R5], R0", 10.0)]), None);
        let gather = [
            ("IMAD.WIDE R8, R5, 0x4, RZ", 10.0),
            ("LDG.E R7, desc[UR4][R8.64]", 10.0),
            ("IMAD.WIDE R8, R7, 0x4, RZ", 10.0),
            ("LDG.E R7, desc[UR4][R8.64]", 10.0),
        ];
        assert_eq!(found(&gather), None);
    }
}
