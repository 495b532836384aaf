//! The variables of a module, from the symbol table of its machine code.

use core::ffi::CStr;

/// An ELF file's bytes, none of which is trusted.
#[derive(Clone, Copy)]
pub struct Elf<'a>(pub &'a [u8]);

/// The kind of a section that has symbols (`SHT_SYMTAB`).
const SYMBOLS: u32 = 2;
/// The kind of a symbol that names data (`STT_OBJECT`).
const OBJECT: u8 = 1;

impl<'a> Elf<'a> {
    /// Calls `each` with the name of every variable.
    pub fn variables(self, mut each: impl FnMut(&'a CStr)) -> Option<()> {
        let sections = self.u64(40)?;
        let (size, count) = (u64::from(self.u16(58)?), u64::from(self.u16(60)?));
        for section in 0..count {
            let at = sections.checked_add(section.checked_mul(size)?)?;
            if self.u32(at + 4)? != SYMBOLS {
                continue;
            }
            let (symbols, bytes) = (self.u64(at + 24)?, self.u64(at + 32)?);
            let names = sections.checked_add(u64::from(self.u32(at + 40)?).checked_mul(size)?)?;
            let names = self.u64(names + 24)?;
            for symbol in 0..bytes / 24 {
                let at = symbols.checked_add(symbol * 24)?;
                let (kind, place) = (self.u8(at + 4)? & 15, self.u16(at + 6)?);
                if kind == OBJECT && place != 0 {
                    each(self.text(names.checked_add(u64::from(self.u32(at)?))?)?);
                }
            }
        }
        Some(())
    }

    fn text(self, at: u64) -> Option<&'a CStr> {
        CStr::from_bytes_until_nul(self.0.get(usize::try_from(at).ok()?..)?).ok()
    }

    fn bytes<const N: usize>(self, at: u64) -> Option<[u8; N]> {
        let at = usize::try_from(at).ok()?;
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn u8(self, at: u64) -> Option<u8> {
        self.bytes::<1>(at).map(|[byte]| byte)
    }

    fn u16(self, at: u64) -> Option<u16> {
        self.bytes(at).map(u16::from_le_bytes)
    }

    fn u32(self, at: u64) -> Option<u32> {
        self.bytes(at).map(u32::from_le_bytes)
    }

    fn u64(self, at: u64) -> Option<u64> {
        self.bytes(at).map(u64::from_le_bytes)
    }
}
