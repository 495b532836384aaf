//! The functions of an ELF file at some addresses.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, ReadCache, SymbolKind};

use super::debug_lines;
use super::named::Named;

/// Symbols that are looked at: the largest libraries have a million or two.
const MOST_SYMBOLS: usize = 8_000_000;

/// The longest symbol that is kept, bytes.
const LONGEST_SYMBOL: usize = 32 * 1024;

/// For addresses, in order, what is there, from the innermost function that was inlined to the one that is there. Empty
/// where the file is none of ELF's.
pub(super) fn named(path: &Path, addresses: &[u64], with_lines: bool) -> HashMap<u64, Vec<Named>> {
    // What is no plain file might wait for ever when it is opened.
    let is_plain = std::fs::metadata(path).is_ok_and(|file| file.is_file());
    let Some(file) = is_plain.then(|| File::open(path).ok()).flatten() else {
        return HashMap::new();
    };
    let cache = ReadCache::new(&file);
    let Ok(elf) = ElfFile64::<Endianness, _>::parse(&cache) else { return HashMap::new() };
    let mut names: HashMap<u64, String> = HashMap::new();
    let symbols = elf.symbols().chain(elf.dynamic_symbols());
    for symbol in symbols.take(MOST_SYMBOLS) {
        let (start, end) = (symbol.address(), symbol.address().saturating_add(symbol.size()));
        if symbol.kind() != SymbolKind::Text || !symbol.is_definition() {
            continue;
        }
        let first = addresses.partition_point(|&address| address < start);
        for &address in addresses.get(first..).unwrap_or(&[]) {
            if address >= end {
                break;
            }
            if let Ok(name) = symbol.name_bytes()
                && !name.is_empty()
                && name.len() <= LONGEST_SYMBOL
            {
                let name = || String::from_utf8_lossy(name).into_owned();
                names.entry(address).or_insert_with(name);
            }
        }
    }
    let mut lines = if with_lines { debug_lines::read(&elf, addresses) } else { HashMap::new() };
    let mut found = HashMap::new();
    for &address in addresses {
        let mut functions = lines.remove(&address).unwrap_or_default();
        let name = names.remove(&address);
        if functions.is_empty() && name.is_some() {
            functions.push(Named::default());
        }
        // The symbol is what the linker knows, also where debug information has no name.
        if let Some(last) = functions.last_mut()
            && name.is_some()
        {
            last.function = name;
        }
        if !functions.is_empty() {
            found.insert(address, functions);
        }
    }
    found
}
