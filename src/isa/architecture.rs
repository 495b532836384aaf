//! Which encodings a cubin's instructions have.

/// The architecture that code was built for, as in `sm_90`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Architecture(pub u8);

/// Where an ELF file has its flags, and the version of NVIDIA's ABI.
const FLAGS: std::ops::Range<usize> = 48..52;
const ABI_VERSION: usize = 8;
/// From this version of the ABI on, the architecture stands in the flags' second byte.
const SECOND_BYTE_SINCE: u8 = 8;

impl Architecture {
    /// The architectures whose encodings the table has, oldest first.
    pub const KNOWN: [Self; 10] = [
        Self(75),
        Self(80),
        Self(86),
        Self(89),
        Self(90),
        Self(100),
        Self(103),
        Self(110),
        Self(120),
        Self(121),
    ];

    /// The architecture of a cubin; `None` where the bytes are no ELF file.
    #[must_use]
    pub fn of_cubin(cubin: &[u8]) -> Option<Self> {
        let flags: [u8; 4] = cubin.get(FLAGS)?.try_into().ok()?;
        let is_new = *cubin.get(ABI_VERSION)? >= SECOND_BYTE_SINCE;
        cubin.starts_with(b"\x7fELF").then(|| Self(flags[usize::from(is_new)]))
    }

    /// The known architecture whose encodings this one shares; `None` for those before sm_70, whose
    /// instructions have another size, and for those that are newer than the table.
    #[must_use]
    pub fn encodings(self) -> Option<Self> {
        let known = match self.0 {
            70..=75 => 75,
            80 => 80,
            86..=88 => 86,
            101 => 110,
            other => other,
        };
        Self::KNOWN.into_iter().find(|each| each.0 == known)
    }

    /// Its place among [`Self::KNOWN`].
    pub(super) fn number(self) -> Option<usize> {
        let encodings = self.encodings()?;
        Self::KNOWN.iter().position(|each| *each == encodings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubin_names_its_architecture_in_one_of_two_places() {
        let mut elf = vec![0; 64];
        elf[..4].copy_from_slice(b"\x7fELF");
        elf[48..52].copy_from_slice(&[0x5a, 0x05, 0x5a, 0x00]);
        assert_eq!(Architecture::of_cubin(&elf), Some(Architecture(90)));
        elf[8] = 8;
        elf[48..52].copy_from_slice(&[0x04, 0x78, 0x00, 0x06]);
        assert_eq!(Architecture::of_cubin(&elf), Some(Architecture(120)));
        assert_eq!(Architecture::of_cubin(&elf[..51]), None);
        assert_eq!(Architecture::of_cubin(b"PK"), None);
    }

    #[test]
    fn relatives_share_encodings_and_strangers_have_none() {
        for (architecture, encodings) in [(70, 75), (87, 86), (90, 90), (101, 110)] {
            let found = Architecture(architecture).encodings();
            assert_eq!(found, Some(Architecture(encodings)), "sm_{architecture}");
        }
        for stranger in [0, 52, 61, 95, 130] {
            assert_eq!(Architecture(stranger).encodings(), None, "sm_{stranger}");
        }
    }
}
