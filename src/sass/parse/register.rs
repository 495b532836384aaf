//! Registers and predicates by number.

/// A register or predicate that an instruction can write: `R0` to `R254`, `UR0` to `UR254`, `P0` to
/// `P6`, `UP0` to `UP6`. The constants `RZ`, `URZ`, `PT`, `UPT` are none: nothing waits for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(u16);

const UNIFORM: u16 = 256;
const PREDICATE: u16 = 512;
const UNIFORM_PREDICATE: u16 = 520;

impl Slot {
    /// How many slots there are; every [`Slot::index`] is smaller.
    pub const COUNT: usize = 528;

    /// The stack pointer, the base of a thread's local memory.
    pub const STACK: Self = Self(1);

    /// The slot of a name (`R12`, `UP3`); `None` for constants and anything else.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        // By bytes: it is asked of every word of a listing.
        let (first, count, digits) = match name.as_bytes() {
            [b'U', b'R', digits @ ..] => (UNIFORM, 255, digits),
            [b'U', b'P', digits @ ..] => (UNIFORM_PREDICATE, 8, digits),
            [b'R', digits @ ..] => (0, 255, digits),
            [b'P', digits @ ..] => (PREDICATE, 8, digits),
            _ => return None,
        };
        if !(1..=3).contains(&digits.len()) {
            return None;
        }
        let digit = |byte: u8| byte.is_ascii_digit().then(|| u16::from(byte - b'0'));
        let number = digits.iter().try_fold(0, |sum, &byte| Some(10 * sum + digit(byte)?))?;
        (number < count).then_some(Self(first + number))
    }

    /// All predicates of the warp's lanes, which `PR` stands for.
    pub fn predicates() -> impl Iterator<Item = Self> {
        (PREDICATE..UNIFORM_PREDICATE).map(Self)
    }

    /// A number below [`Slot::COUNT`].
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// True for the registers of a thread's own.
    #[must_use]
    pub fn is_general(self) -> bool {
        self.0 < UNIFORM
    }

    /// True for predicates, uniform ones included.
    #[must_use]
    pub fn is_predicate(self) -> bool {
        self.0 >= PREDICATE
    }

    /// The slot `by` further on in the same file: the upper half of a pair. `None` past the end.
    #[must_use]
    pub fn after(self, by: u16) -> Option<Self> {
        let (next, file) = (self.0.checked_add(by)?, self.0 / UNIFORM);
        (next / UNIFORM == file && next % UNIFORM != 255 && !self.is_predicate())
            .then_some(Self(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_slots_and_constants_have_none() {
        assert_eq!(Slot::parse("R1"), Some(Slot::STACK));
        for (name, index) in [("R254", 254), ("UR3", 259), ("P0", 512), ("UP6", 526)] {
            assert_eq!(Slot::parse(name).map(Slot::index), Some(index), "{name}");
        }
        for name in ["RZ", "URZ", "PT", "UPT", "R255", "P8", "R", "", "Rx", "R+1", "R0001", "PR"] {
            assert_eq!(Slot::parse(name), None, "{name}");
        }
        assert!(Slot::predicates().all(|slot| slot.is_predicate() && slot.index() < Slot::COUNT));
    }

    #[test]
    fn pairs_stay_in_their_file() {
        let slot = |name| Slot::parse(name).unwrap();
        assert_eq!(slot("R4").after(1), Slot::parse("R5"));
        assert_eq!(slot("UR4").after(3), Slot::parse("UR7"));
        assert_eq!(slot("R254").after(1), None);
        assert_eq!(slot("P0").after(1), None);
    }
}
