//! Gathers and scatters: accesses whose lanes go where values send them.

use std::cell::OnceCell;

use foldhash::{HashMap, HashMapExt};

use super::Origin;
use super::trace::{Start, trace_from, trace_until};
use crate::sass::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::{ADDRESS_STEPS, MIXED};

/// What sends the lanes of a gather to their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sender {
    /// A value that each lane loaded.
    Loaded,
    /// A position that each lane worked out in floating point and rounded.
    Position,
    /// A number that each lane mixed by exclusive or, as hashes and random numbers are.
    Mixed,
}

/// The accesses of global memory, of those that are picked, whose lanes go where values send them, each
/// to a place of its own: gathers and scatters. A pointer or an offset that all lanes load alike sends none of
/// them elsewhere. Only loaded values count whose own load is dense: where its lanes are a row apart, another
/// order of the threads brings neighbouring values together.
#[must_use]
pub fn sent_by_values(
    listing: &Listing,
    pick: impl Fn(usize) -> bool,
    is_dense: impl Fn(usize) -> bool,
) -> Vec<(usize, Sender)> {
    let mut senders = Senders::new(listing, is_dense);
    let picked = listing.entries().map(|(at, _)| at).filter(|&at| pick(at));
    picked.filter_map(|access| Some((access, senders.of(access)?))).collect()
}

/// What sends the lanes of accesses. Several accesses go by the same pointer, each at a distance of its own, and many
/// pointers by the same loaded value, so that each is told once.
struct Senders<'a, Dense> {
    listing: &'a Listing<'a>,
    reaching: Reaching<'a>,
    is_dense: Dense,
    by_start: HashMap<Start, Option<Sender>>,
    /// Whether the value that a load brings sends lanes.
    by_load: HashMap<usize, bool>,
    /// How many loads there are between the access that was asked for and the one that is looked at.
    behind: usize,
    /// What sends lanes of the values that threads keep in arrays of their own, once that was asked.
    kept: OnceCell<Option<Sender>>,
    /// The same of the values that threads exchange through shared memory.
    exchanged: OnceCell<Option<Sender>>,
}

impl<'a, Dense: Fn(usize) -> bool> Senders<'a, Dense> {
    fn new(listing: &'a Listing<'a>, is_dense: Dense) -> Self {
        let reaching = Reaching::with_guards(listing.sass);
        let (by_start, by_load) = (HashMap::new(), HashMap::new());
        let (kept, exchanged) = (OnceCell::new(), OnceCell::new());
        Self { listing, reaching, is_dense, by_start, by_load, behind: 0, kept, exchanged }
    }

    fn of(&mut self, access: usize) -> Option<Sender> {
        let start = Start::of(self.listing, &mut self.reaching, access);
        if let Some(known) = self.by_start.get(&start) {
            return *known;
        }
        let sender = self.of_start(&start);
        self.by_start.insert(start, sender);
        sender
    }

    fn of_start(&mut self, start: &Start) -> Option<Sender> {
        let (origin, makers) = trace_from(self.listing, &mut self.reaching, start, |_| false);
        if makers.loads.into_iter().any(|load| self.is_of_lanes(load)) {
            return Some(Sender::Loaded);
        }
        if makers.local.into_iter().any(|load| self.is_of_array(load))
            && let Some(sender) = self.of_kept()
        {
            return Some(sender);
        }
        if makers.shared.into_iter().any(|load| self.differs_by_lane(load))
            && let Some(sender) = self.of_exchanged()
        {
            return Some(sender);
        }
        if makers.mixed >= MIXED.whole() && origin.is_of_lanes() {
            return Some(Sender::Mixed);
        }
        makers.rounded.into_iter().any(|at| self.is_position(at)).then_some(Sender::Position)
    }

    /// True for a load from local memory at an index that is worked out: a spilled register has a fixed place.
    fn is_of_array(&self, load: usize) -> bool {
        let text = self.listing.text(load);
        !text.contains("[R1+") && !text.contains("[R1]")
    }

    /// True for a load whose lanes have addresses of their own.
    fn differs_by_lane(&mut self, load: usize) -> bool {
        let (origin, _) = trace_until(self.listing, &mut self.reaching, load, Origin::is_of_lanes);
        origin.is_of_lanes()
    }

    /// What sends lanes of the values that threads store in local memory: which of them an access goes by, an index decides
    /// at run time.
    fn of_kept(&mut self) -> Option<Sender> {
        if let Some(known) = self.kept.get() {
            return *known;
        }
        let sender = self.of_stored(Space::Local);
        *self.kept.get_or_init(|| sender)
    }

    /// What sends lanes of the values that threads exchange through shared memory, as Triton does where a tile's next use wants
    /// another layout.
    fn of_exchanged(&mut self) -> Option<Sender> {
        if let Some(known) = self.exchanged.get() {
            return *known;
        }
        let sender = self.of_stored(Space::Shared);
        *self.exchanged.get_or_init(|| sender)
    }

    /// What sends lanes of the values that are stored in such memory. What goes through it more than once is not followed.
    fn of_stored(&mut self, space: Space) -> Option<Sender> {
        let listing = self.listing;
        let stores = listing.entries().filter(|(at, entry)| {
            entry.family == Family::Store(space) && listing.executed(*at) > 0.0
        });
        let stores = stores.map(|(at, _)| at);
        let start = Start::of_all(listing, &mut self.reaching, stores, Role::Data);
        let (origin, makers) = trace_from(listing, &mut self.reaching, &start, |_| false);
        if makers.loads.into_iter().any(|load| self.is_of_lanes(load)) {
            return Some(Sender::Loaded);
        }
        if makers.mixed >= MIXED.whole() && origin.is_of_lanes() {
            return Some(Sender::Mixed);
        }
        let is_position = makers.rounded.into_iter().any(|at| self.is_position(at));
        (is_position && !origin.given).then_some(Sender::Position)
    }

    /// True for a load whose lanes may bring different values: a dense one, or one whose lanes go where values send them
    /// themselves, so that no order of the threads makes it dense.
    fn is_of_lanes(&mut self, load: usize) -> bool {
        if let Some(known) = self.by_load.get(&load) {
            return *known;
        }
        // A load that is reached from itself, in a loop, sends nobody by itself; nor is a chain of many followed to its end.
        self.by_load.insert(load, false);
        let found = if (self.is_dense)(load) {
            let (origin, behind) =
                trace_until(self.listing, &mut self.reaching, load, Origin::is_of_lanes);
            origin.is_of_lanes() || !behind.loads.is_empty()
        } else if self.behind < ADDRESS_STEPS.whole() {
            self.behind += 1;
            let sender = self.of(load);
            self.behind -= 1;
            sender.is_some()
        } else {
            false
        };
        self.by_load.insert(load, found);
        found
    }

    /// True where each lane rounds a float of its own.
    fn is_position(&mut self, rounded: usize) -> bool {
        let start = Start::of_role(self.listing, &mut self.reaching, rounded, Role::Data);
        let (origin, behind) = trace_from(self.listing, &mut self.reaching, &start, |_| false);
        origin.is_of_lanes() && behind.floats && start.is_float(self.listing)
    }
}

impl Start {
    /// False where integer arithmetic on a float's bits made it, as in a division of integers, whose reciprocal is
    /// rounded.
    fn is_float(&self, listing: &Listing) -> bool {
        !self.made_at.iter().any(|&at| {
            let family = listing.sass.entries[at as usize].family;
            matches!(family, Family::Integer | Family::IntegerMultiply | Family::Uniform)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    const LOADS: &[(&str, f64)] = &[
        ("S2R R0, SR_TID.X", 1.0),
        ("S2UR UR4, SR_CTAID.X", 1.0),
        ("LDC.64 R2, c[0x0][0x210]", 1.0),
        ("IMAD.WIDE R4, R0, 0x4, R2", 1.0),
        ("LDG.E R6, desc[UR8][R4.64]", 1.0), // 4: by the thread alone
        ("IMAD R7, R0, 0x1, UR4", 1.0),
        ("IMAD.WIDE R8, R7, 0x4, R2", 1.0),
        ("LDG.E R10, desc[UR8][R8.64]", 1.0), // 7: by thread and block
        ("IMAD.WIDE R12, R10, 0x4, R2", 1.0),
        ("LDG.E R14, desc[UR8][R12.64]", 1.0), // 9: by data
    ];

    fn sender(code: &[(&str, f64)], access: usize) -> Option<Sender> {
        let launch = launch(code);
        let found = sent_by_values(&launch.listing().unwrap(), |at| at == access, |_| true);
        found.first().map(|(_, sender)| *sender)
    }

    #[test]
    fn lanes_that_go_where_their_data_says_are_told_from_a_shared_pointer() {
        assert_eq!((sender(LOADS, 4), sender(LOADS, 7)), (None, None), "by thread and block");
        assert_eq!(sender(LOADS, 9), Some(Sender::Loaded), "by a value that each lane loaded");
        let further = [("IMAD.WIDE R16, R14, 0x4, R2", 1.0), ("LDG.E R18, desc[UR8][R16.64]", 1.0)];
        let found_by_another = sender(&[LOADS, &further[..]].concat(), 11);
        assert_eq!(found_by_another, Some(Sender::Loaded));
        // A pointer that all lanes load alike, plus the lane.
        let shared: &[(&str, f64)] = &[
            ("S2R R0, SR_TID.X", 1.0),
            ("LDC.64 R2, c[0x0][0x210]", 1.0),
            ("LDG.E.64 R4, desc[UR8][R2.64]", 1.0),
            ("IMAD.WIDE R6, R0, 0x4, R4", 1.0),
            ("LDG.E R8, desc[UR8][R6.64]", 1.0),
        ];
        assert_eq!(sender(shared, 4), None);
    }

    #[test]
    fn positions_in_an_array_of_the_threads_own_are_followed() {
        let of = |place: &'static str| {
            let code = [
                ("S2R R0, SR_TID.X", 1.0),
                ("LDC.64 R2, c[0x0][0x210]", 1.0),
                ("IMAD.WIDE R4, R0, 0x4, R2", 1.0),
                ("LDG.E R6, desc[UR8][R4.64]", 1.0),
                ("STL [R1+0x8], R6", 1.0),
                (place, 1.0),
                ("IMAD.WIDE R12, R10, 0x4, R2", 1.0),
                ("LDG.E R14, desc[UR8][R12.64]", 1.0),
            ];
            sender(&code, 7)
        };
        assert_eq!(of("LDL R10, [R18+0x8]"), Some(Sender::Loaded));
        assert_eq!(of("LDL R10, [R1+0x10]"), None, "a spilled register");
    }

    #[test]
    fn values_that_lanes_exchange_through_shared_memory_are_followed() {
        let of = |place: &'static str| {
            let code = [
                ("S2R R0, SR_TID.X", 1.0),
                ("LDC.64 R2, c[0x0][0x210]", 1.0),
                ("IMAD.WIDE R4, R0, 0x4, R2", 1.0),
                ("LDG.E R6, desc[UR8][R4.64]", 1.0),
                ("STS [R0+UR5], R6", 1.0),
                ("LOP3.LUT R16, R0, 0x1c, RZ, 0xc0, !PT", 1.0),
                (place, 1.0),
                ("IMAD.WIDE R12, R10, 0x4, R2", 1.0),
                ("LDG.E R14, desc[UR8][R12.64]", 1.0),
            ];
            sender(&code, 8)
        };
        assert_eq!(of("LDS R10, [R16+UR5]"), Some(Sender::Loaded));
        assert_eq!(of("LDS R10, [UR5]"), None, "all lanes read the same");
    }

    #[test]
    fn a_mixed_number_sends_lanes_elsewhere() {
        let of = |second: &'static str| {
            let code = [
                ("S2R R0, SR_TID.X", 1.0),
                ("LDC.64 R2, c[0x0][0x210]", 1.0),
                ("SHF.R.U32.HI R4, RZ, 0x3, R0", 1.0),
                ("LOP3.LUT R5, R0, R4, RZ, 0x3c, !PT", 1.0),
                ("IMAD R6, R5, 0x9e3779b1, RZ", 1.0),
                ("SHF.R.U32.HI R7, RZ, 0xf, R6", 1.0),
                (second, 1.0),
                ("IMAD.WIDE R10, R8, 0x4, R2", 1.0),
                ("LDG.E R12, desc[UR8][R10.64]", 1.0),
            ];
            sender(&code, 8)
        };
        assert_eq!(of("LOP3.LUT R8, R6, R7, RZ, 0x3c, !PT"), Some(Sender::Mixed));
        assert_eq!(
            of("LOP3.LUT R8, R6, R7, RZ, 0xc0, !PT"),
            None,
            "one alone permutes, as tiles are swizzled"
        );
    }

    /// A load at a rounded float, which these instructions make in `R6` from the thread's number `R0` and from
    /// `R4`, a float that all lanes load alike.
    fn rounded(made: [(&'static str, f64); 2]) -> Option<Sender> {
        let before = [
            ("S2R R0, SR_TID.X", 1.0),
            ("LDC.64 R2, c[0x0][0x210]", 1.0),
            ("LDG.E R4, desc[UR8][R2.64]", 1.0),
        ];
        let after = [
            ("F2I.FLOOR.NTZ R8, R6", 1.0),
            ("IADD3 R9, R8, R0, RZ", 1.0),
            ("IMAD.WIDE R10, R9, 0x4, R2", 1.0),
            ("LDG.E R12, desc[UR8][R10.64]", 1.0),
        ];
        sender(&[&before[..], &made, &after].concat(), 8)
    }

    #[test]
    fn a_position_that_each_lane_rounds_sends_it_elsewhere() {
        let float = ("I2FP.F32.S32 R5, R0", 1.0);
        assert_eq!(rounded([float, ("FMUL R6, R5, R4", 1.0)]), Some(Sender::Position));
        assert_eq!(rounded([float, ("MUFU.SIN R6, R5", 1.0)]), Some(Sender::Position));
        let of_all = rounded([("I2FP.F32.S32 R5, R4", 1.0), ("FMUL R6, R5, R4", 1.0)]);
        assert_eq!(of_all, None, "a size, the same for all lanes");
        let index = rounded([("I2FP.F32.S32 R5, R0", 1.0), ("FMUL R6, R5, 0.03125", 1.0)]);
        assert_eq!(index, None, "an index divided by a number");
        let bits = rounded([("FMUL R5, R0, R4", 1.0), ("VIADD R6, R5, 0xffffffe", 1.0)]);
        assert_eq!(bits, None, "the reciprocal in a division of integers");
    }
}
