//! The kernel's machine code, and what of it can't be replayed.

use object::read::elf::{ElfFile64, SectionHeader};
use object::{Endianness, Object, ObjectSection};

use crate::isa::Isa;
use crate::isa::architecture::Architecture;
use crate::isa::encoding::{SIZE, instructions};

/// The module that was launched: of several with a kernel of this name the one whose kernel takes so many
/// registers, and of those the one loaded last.
pub(super) fn module<'a>(modules: &'a [Vec<u8>], kernel: &str, registers: u32) -> Option<&'a [u8]> {
    let fits = |module: &&Vec<u8>| {
        let own = section(module, kernel).map(|(_, registers)| registers);
        own == Some(registers)
    };
    modules.iter().rev().find(fits).or(modules.last()).map(Vec::as_slice)
}

/// The kernel's code, and its registers per thread.
fn section<'a>(module: &'a [u8], kernel: &str) -> Option<(&'a [u8], u32)> {
    let elf = ElfFile64::<Endianness>::parse(module).ok()?;
    let section = elf.section_by_name(&format!(".text.{kernel}"))?;
    let header = section.elf_section_header();
    let registers = header.sh_info(Endianness::Little) >> 24;
    Some((section.data().ok()?, registers))
}

/// The first instruction of a kernel that reads a texture or a surface, whose handles mean nothing elsewhere.
pub(super) fn texture_instruction(module: &[u8], kernel: &str) -> Option<String> {
    let (code, _) = section(module, kernel)?;
    let isa = Isa::of(Architecture::of_cubin(module)?)?;
    let mut text = String::new();
    for (at, encoding) in instructions(code).enumerate() {
        text.clear();
        isa.write(encoding, (at * SIZE) as u64, &mut text);
        if let Some(word) = text.split_whitespace().find(|word| is_texture(word)) {
            return Some(word.to_owned());
        }
    }
    None
}

/// True for instructions of textures and surfaces.
fn is_texture(word: &str) -> bool {
    const FAMILIES: [&str; 10] =
        ["TEX", "TLD", "TLD4", "TMML", "TXD", "TXQ", "SULD", "SUST", "SUATOM", "SURED"];
    let family = word.split('.').next().unwrap_or_default().trim_end_matches(';');
    FAMILIES.contains(&family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn textures_and_surfaces_are_told_from_other_words() {
        for word in ["TEX.LL.NODEP", "TLD.LZ", "SUST.D.BA.2D.STRONG.SM.TRAP", "TXQ;"] {
            assert!(is_texture(word), "{word}");
        }
        for word in ["LDG.E", "TEXTURE", "R2", "SHFL.IDX", ""] {
            assert!(!is_texture(word), "{word}");
        }
    }

    #[test]
    fn what_is_no_code_has_no_kernels() {
        let modules = [b"code".to_vec()];
        // There is but one, so it is taken.
        assert_eq!(module(&modules, "k", 32), Some(b"code".as_slice()));
        assert_eq!(module(&[], "k", 32), None);
        assert_eq!(texture_instruction(b"code", "k"), None);
    }
}
