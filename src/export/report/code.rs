//! The machine code of a cubin, as the text that ncu's source page shows for it.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use object::{Object, ObjectSection, ObjectSymbol};

use super::messages::text;
use crate::isa::Isa;
use crate::isa::architecture::Architecture;
use crate::isa::control::Control;
use crate::isa::encoding::{SIZE, instructions};

/// How often each byte of a cubin is listed at most.
const MOST_OVERLAP: usize = 4;

/// A function: where its instructions lie in the cubin, and their text once somebody asks.
#[derive(Debug, Default)]
struct Function {
    place: Range<usize>,
    lines: OnceLock<Vec<Line>>,
}

/// An instruction, as a listing shows it, and what it does not show.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) control: Control,
}

/// The functions of one cubin.
#[derive(Debug, Default)]
pub(super) struct Code<'a> {
    isa: Option<Isa>,
    cubin: &'a [u8],
    /// How many bytes are still disassembled: functions lie side by side, and of a damaged cubin in which
    /// thousands overlap no more is listed than of a whole one.
    left: AtomicUsize,
    functions: HashMap<String, Function>,
    /// Where functions lay, by their linker names, where the cubin itself says so.
    loaded: BTreeMap<u64, String>,
}

impl<'a> Code<'a> {
    /// Takes the functions out of a cubin. One that is damaged, or of an architecture whose instructions
    /// are not known, gives none: the counters are worth having without text.
    #[must_use]
    pub(super) fn read(cubin: &'a [u8]) -> Self {
        let mut code = Self::default();
        let Ok(elf) = object::read::elf::ElfFile64::<object::Endianness>::parse(cubin) else {
            return code;
        };
        code.isa = Architecture::of_cubin(cubin).and_then(Isa::of);
        for symbol in elf.symbols() {
            if let (Some(section), Ok(name)) = (symbol.section_index(), symbol.name_bytes())
                && symbol.kind() == object::SymbolKind::Text
                && let Ok(section) = elf.section_by_index(section)
                && let Some((offset, size)) = section.file_range()
                // Cubins in reports of older versions of ncu are those that the driver had loaded: a symbol has the
                // function's address instead of its place in the section, where each function stands alone.
                && let is_loaded = symbol.address() >= size
                && let Some(begin) = offset.checked_add(if is_loaded { 0 } else { symbol.address() })
                && let Some(end) = offset.checked_add(size)
                && let (Ok(begin), Ok(end)) = (usize::try_from(begin), usize::try_from(end))
                && begin <= end
                && end <= cubin.len()
            {
                // The listing goes on to the end of the section, over what the compiler put behind the
                // function: routines of its own, and padding.
                let function = Function { place: begin..end, ..Function::default() };
                code.functions.insert(text(name), function);
                if is_loaded {
                    code.loaded.insert(symbol.address(), text(name));
                }
            }
        }
        code.cubin = cubin;
        code.left = AtomicUsize::new(MOST_OVERLAP * cubin.len());
        code
    }

    /// Where functions lay, by address, where the cubin says so: those of older versions of ncu do.
    pub(super) fn loaded(&self) -> &BTreeMap<u64, String> {
        &self.loaded
    }

    /// The instructions of a function that lay at an address, `size` bytes at most, with their addresses.
    /// Nothing where the function or the architecture is not known.
    pub(super) fn listing(
        &self,
        function: &str,
        start: u64,
        size: u64,
    ) -> impl Iterator<Item = (u64, &Line)> {
        let function = self.isa.zip(self.functions.get(function));
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let lines = function.map(|(isa, function)| {
            let bytes = self.cubin.get(function.place.clone()).unwrap_or_default();
            let lines = || {
                let left = self.left.load(Ordering::Relaxed);
                self.left.store(left.saturating_sub(bytes.len()), Ordering::Relaxed);
                disassembled(isa, &bytes[..bytes.len().min(left)], start)
            };
            function.lines.get_or_init(lines).as_slice()
        });
        let most = size / SIZE;
        let addresses = (start..).step_by(SIZE);
        addresses.zip(lines.unwrap_or_default()).take(most)
    }
}

fn disassembled(isa: Isa, bytes: &[u8], start: u64) -> Vec<Line> {
    let mut text = String::new();
    let mut lines = Vec::with_capacity(bytes.len() / SIZE);
    for (encoding, address) in instructions(bytes).zip((start..).step_by(SIZE)) {
        text.clear();
        isa.write(encoding, address, &mut text);
        lines.push(Line { text: text.clone(), control: Control::of(encoding) });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn functions_are_listed_from_where_they_lay() {
        let cubin = sample::cubin();
        let code = Code::read(&cubin);
        let listing: Vec<_> = code
            .listing("k", 0x1000, 32)
            .map(|(address, line)| (address, line.text.as_str()))
            .collect();
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

    #[test]
    fn of_functions_that_overlap_each_byte_is_listed_four_times() {
        let cubin = sample::cubin();
        let mut code = Code::read(&cubin);
        let names = ["a", "b", "c", "d", "e"];
        for name in names {
            let function = Function { place: 0..cubin.len(), ..Function::default() };
            code.functions.insert(name.to_owned(), function);
        }
        let listed = names.map(|name| code.listing(name, 0, u64::MAX).count());
        let all = cubin.len() / SIZE;
        assert_eq!(listed, [all, all, all, all, 0]);
    }
}
