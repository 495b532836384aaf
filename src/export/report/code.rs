//! The machine code of a cubin, as the text that ncu's source page shows for it.

use std::collections::HashMap;
use std::sync::OnceLock;

use object::{Object, ObjectSection, ObjectSymbol};

use super::messages::text;
use crate::isa::Isa;
use crate::isa::architecture::Architecture;
use crate::isa::encoding::{SIZE, instructions};

/// A function: its instructions' bytes, and their text once somebody asks.
#[derive(Debug, Default)]
struct Function {
    bytes: Vec<u8>,
    text: OnceLock<Vec<String>>,
}

/// The functions of one cubin.
#[derive(Debug, Default)]
pub(super) struct Code {
    isa: Option<Isa>,
    functions: HashMap<String, Function>,
}

impl Code {
    /// Takes the functions out of a cubin. One that is damaged, or of an architecture whose instructions
    /// are not known, gives none: the counters are worth having without text.
    #[must_use]
    pub(super) fn read(cubin: &[u8]) -> Self {
        let mut code = Self::default();
        let Ok(elf) = object::read::elf::ElfFile64::<object::Endianness>::parse(cubin) else {
            return code;
        };
        code.isa = Architecture::of_cubin(cubin).and_then(Isa::of);
        for symbol in elf.symbols() {
            if let (Some(section), Ok(name)) = (symbol.section_index(), symbol.name_bytes())
                && symbol.kind() == object::SymbolKind::Text
                && let Ok(section) = elf.section_by_index(section)
                && let Ok(data) = section.data()
                && let Some(bytes) =
                    usize::try_from(symbol.address()).ok().and_then(|start| data.get(start..))
            {
                // The listing goes on to the end of the section, over what the compiler put behind the
                // function: routines of its own, and padding.
                let function = Function { bytes: bytes.to_vec(), ..Function::default() };
                code.functions.insert(text(name), function);
            }
        }
        code
    }

    /// The instructions of a function that lay at an address, `size` bytes at most: their addresses and
    /// their text. Nothing where the function or the architecture is not known.
    pub(super) fn listing(
        &self,
        function: &str,
        start: u64,
        size: u64,
    ) -> impl Iterator<Item = (u64, &str)> {
        let function = self.isa.zip(self.functions.get(function));
        let texts = function.map(|(isa, function)| {
            function.text.get_or_init(|| disassembled(isa, &function.bytes, start)).as_slice()
        });
        let most = usize::try_from(size / SIZE as u64).unwrap_or(usize::MAX);
        let addresses = (start..).step_by(SIZE);
        addresses.zip(texts.unwrap_or_default().iter().map(String::as_str)).take(most)
    }
}

fn disassembled(isa: Isa, bytes: &[u8], start: u64) -> Vec<String> {
    let mut line = String::new();
    let mut texts = Vec::with_capacity(bytes.len() / SIZE);
    for (encoding, address) in instructions(bytes).zip((start..).step_by(SIZE)) {
        line.clear();
        isa.write(encoding, address, &mut line);
        texts.push(line.clone());
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn functions_are_listed_from_where_they_lay() {
        let code = Code::read(&sample::cubin());
        let listing: Vec<_> = code.listing("k", 0x1000, 32).collect();
        assert_eq!(listing, [(0x1000, "NOP"), (0x1010, "BRA 0x1010")]);
        assert_eq!(code.listing("k", 0x1000, u64::MAX).count(), 4);
        assert_eq!(code.listing("h", 0x1000, 32).count(), 0);
    }

    #[test]
    fn damaged_cubins_and_unknown_architectures_have_no_text() {
        let whole = sample::cubin();
        for end in 0..whole.len() {
            let _ = Code::read(&whole[..end]).listing("k", 0, 64).count();
        }
        let mut older = whole;
        older[48..52].copy_from_slice(&[52, 0, 0, 0]);
        assert_eq!(Code::read(&older).listing("k", 0, 64).count(), 0);
    }
}
