//! Functions and lines from an ELF file's DWARF.

use std::borrow::Cow;
use std::collections::HashMap;

use addr2line::Context;
use gimli::{Dwarf, EndianSlice, RunTimeEndian, SectionId};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ReadRef};

use super::named::Named;

/// More debug information than this is not read, bytes: it would take longer than what it tells is worth.
const MOST_BYTES: u64 = 512 << 20;

/// Functions that were inlined at one address; damaged tables could name more.
const MOST_INLINED: usize = 64;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// For each address that the debug information knows, its functions from the innermost on.
pub(super) fn read<'a, R: ReadRef<'a>>(
    elf: &ElfFile64<'a, Endianness, R>,
    addresses: &[u64],
) -> HashMap<u64, Vec<Named>> {
    let is_debug =
        |section: &_| ObjectSection::name(section).is_ok_and(|n| n.starts_with(".debug_"));
    let bytes = elf.sections().filter(is_debug).map(|section| section.size());
    if bytes.fold(0, u64::saturating_add) > MOST_BYTES {
        return HashMap::new();
    }
    let endian = if elf.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let section = |id: SectionId| -> Result<Slice<'a>, gimli::Error> {
        let data = elf.section_by_name(id.name()).and_then(|found| found.uncompressed_data().ok());
        // What is compressed would have to be unpacked; compilers don't compress unless they are asked.
        let data = data.and_then(|data| match data {
            Cow::Borrowed(data) => Some(data),
            Cow::Owned(_) => None,
        });
        Ok(EndianSlice::new(data.unwrap_or(&[]), endian))
    };
    let context = Dwarf::load(section).and_then(Context::from_dwarf);
    let Ok(context) = context else { return HashMap::new() };
    let known = |&address: &u64| {
        let functions = functions(&context, address);
        (!functions.is_empty()).then_some((address, functions))
    };
    addresses.iter().filter_map(known).collect()
}

fn functions(context: &Context<Slice<'_>>, address: u64) -> Vec<Named> {
    let mut functions = Vec::new();
    let Ok(mut frames) = context.find_frames(address).skip_all_loads() else { return functions };
    while let Ok(Some(frame)) = frames.next()
        && functions.len() < MOST_INLINED
    {
        let function = frame.function.as_ref().and_then(|name| name.raw_name().ok());
        let line = frame
            .location
            .as_ref()
            .and_then(|place| Some((place.file?.to_owned(), place.line.filter(|&line| line > 0)?)));
        functions.push(Named { function: function.map(Cow::into_owned), line });
    }
    functions
}
