//! Which instructions a stall is for by the control codes: exact, where the register flow only says what is read.

use super::barriers::{Guarded, Waits};
use crate::sass::code::charge::Link;
use crate::sass::code::listing::Listing;
use crate::sass::parse::opcode::Class;
use crate::sass::parse::register::Slot;

impl<'a> Listing<'a> {
    /// How the hardware waits for an instruction. What sets a barrier for its result has no fixed latency, whatever its
    /// family: that depends on the architecture.
    pub(in crate::sass) fn class(&self, at: usize) -> Class {
        let sets = || self.sass.controls.get(at).is_some_and(|codes| codes.write_barrier.is_some());
        match self.sass.entries[at].family.class() {
            Class::Fixed if sets() => Class::Short,
            class => class,
        }
    }

    /// The instructions of a class that one waits for by its control codes, ascending; none where they are not known.
    /// `read` are those of the class whose results it reads.
    ///
    /// Results take longer than the reading of operands, so that the latter is awaited only where no result is.
    pub(super) fn awaited(
        &self,
        waits: &mut Waits<'a>,
        index: usize,
        class: Class,
        read: &[u32],
    ) -> Vec<(usize, Link)> {
        // A fixed latency is awaited without a barrier.
        if class == Class::Fixed {
            return Vec::new();
        }
        let of_class = waits.of(index).iter().filter(|one| self.class(one.at as usize) == class);
        let guarded = of_class.clone().map(|one| one.guarded).min();
        let mut found: Vec<u32> =
            of_class.filter(|one| Some(one.guarded) == guarded).map(|one| one.at).collect();
        if guarded == Some(Guarded::Result) {
            let ahead: Vec<u32> =
                read.iter().copied().filter(|&at| self.is_ahead(at, &found)).collect();
            found.extend(ahead);
        }
        found.sort_unstable();
        found.dedup();
        let defs = self.sass.defs(index);
        let link = |at: u32| {
            if guarded == Some(Guarded::Result) && read.contains(&at) {
                Link::Reads
            } else if self.touches(at as usize, defs) {
                Link::Overwrites
            } else {
                Link::Near
            }
        };
        found.into_iter().map(|at| (at as usize, link(at))).collect()
    }

    /// True of an instruction without a barrier of its own that answers before one of these: shared memory and the
    /// table unit answer in their order, so that one barrier guards those before it too.
    fn is_ahead(&self, at: u32, others: &[u32]) -> bool {
        let family = |at: u32| self.sass.entries[at as usize].family;
        self.class(at as usize) == Class::Short
            && self.sass.controls[at as usize].write_barrier.is_none()
            && others.iter().any(|&other| family(other) == family(at))
    }

    /// True where an instruction reads or writes one of these.
    pub(super) fn touches(&self, at: usize, slots: &[Slot]) -> bool {
        self.sass.uses(at).iter().any(|each| slots.contains(&each.slot))
            || self.sass.defs(at).iter().any(|slot| slots.contains(slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::stall::StallReason;
    use crate::sass::flow::barriers::tests::{Coded, coded};

    use StallReason::{LongScoreboard, ShortScoreboard};

    /// By the codes, and by the registers alone.
    fn both(code: &[Coded], waiting: usize, reason: StallReason) -> [Vec<(usize, Link)>; 2] {
        let with = coded(code);
        let mut without = with.clone();
        without.instructions.iter_mut().for_each(|row| row.control = None);
        [with, without].map(|launch| launch.listing().unwrap().producers(waiting, reason))
    }

    #[test]
    fn of_two_loads_the_one_is_awaited_that_was_not_awaited_before() {
        let code = [
            ("LDG.E R4, desc[UR4][R2.64]", Some(0), None, 0), // 0
            ("LDG.E R5, desc[UR4][R8.64]", Some(1), None, 0), // 1
            ("FADD R0, R0, R4", None, None, 0b01),            // 2
            ("FMUL R6, R4, R5", None, None, 0b10),            // 3
        ];
        let [codes, registers] = both(&code, 3, LongScoreboard);
        assert_eq!(codes, [(1, Link::Reads)], "R4 is there");
        assert_eq!(registers, [(0, Link::Reads), (1, Link::Reads)]);
    }

    #[test]
    fn a_barrier_that_two_loads_share_is_awaited_for_both() {
        let code = [
            ("LDG.E R4, desc[UR4][R2.64]", Some(0), None, 0),
            ("LDG.E R5, desc[UR4][R8.64]", Some(0), None, 0),
            ("FADD R0, R0, R4", None, None, 0b1),
        ];
        let [codes, registers] = both(&code, 2, LongScoreboard);
        assert_eq!(codes, [(0, Link::Reads), (1, Link::Near)]);
        assert_eq!(registers, [(0, Link::Reads)]);
    }

    #[test]
    fn a_wait_before_a_branch_is_for_a_load_that_it_does_not_read() {
        let code = [
            ("LDG.E R4, desc[UR4][R2.64]", Some(0), None, 0), // 0
            ("LDG.E R5, desc[UR4][R8.64]", Some(1), None, 0), // 1
            ("@P0 BRA 0x140", None, None, 0b01),              // 2: to 4
            ("FADD R0, R0, R5", None, None, 0b10),            // 3
            ("FMUL R6, R4, R5", None, None, 0b10),            // 4
        ];
        let [codes, registers] = both(&code, 2, LongScoreboard);
        assert_eq!((codes, registers), (vec![(0, Link::Near)], vec![(1, Link::Near)]));
        // On the way past the branch R5 was awaited, on the other it was not.
        assert_eq!(both(&code, 4, LongScoreboard)[0], [(1, Link::Reads)]);
    }

    #[test]
    fn a_store_makes_others_wait_until_it_has_read_and_is_no_load() {
        let code = [
            ("LDG.E R4, desc[UR4][R2.64]", Some(0), None, 0), // 0
            ("STG.E desc[UR4][R8.64], R6", None, Some(1), 0), // 1
            ("LDG.E R6, desc[UR4][R2.64+0x10]", Some(2), None, 0b10), // 2
            ("STG.E desc[UR4][R8.64+0x10], R4", None, Some(1), 0b01), // 3
            ("FADD R4, R4, R6", None, None, 0b110),           // 4
        ];
        // R6 is overwritten when the store has read it.
        let [codes, registers] = both(&code, 2, LongScoreboard);
        assert_eq!(codes, [(1, Link::Overwrites)]);
        assert_eq!(registers, [(1, Link::Overwrites)]);
        // It waits for the store to have read R4, too; the load takes longer.
        assert_eq!(both(&code, 4, LongScoreboard)[0], [(2, Link::Reads)]);
    }

    #[test]
    fn what_answers_in_order_needs_one_barrier() {
        let code = [
            ("LDS R4, [R2]", None, None, 0),
            ("LDS R5, [R2+0x4]", Some(0), None, 0),
            ("FADD R0, R0, R4", None, None, 0b1),
        ];
        assert_eq!(both(&code, 2, ShortScoreboard)[0], [(0, Link::Reads), (1, Link::Near)]);
        assert_eq!(both(&code, 2, LongScoreboard)[0], []);
    }

    #[test]
    fn what_sets_a_barrier_has_no_fixed_latency() {
        let code = [
            ("R2UR UR4, R2", Some(0), None, 0),
            ("MOV R5, R3", None, None, 0),
            ("IADD3 R6, R5, UR4, RZ", None, None, 0b1),
        ];
        let [codes, registers] = both(&code, 2, ShortScoreboard);
        assert_eq!((codes, registers), (vec![(0, Link::Reads)], vec![]));
        let [codes, registers] = both(&code, 2, StallReason::Wait);
        assert_eq!(codes, [(1, Link::Reads)]);
        assert_eq!(registers, [(0, Link::Reads), (1, Link::Reads)]);
    }
}
