//! A cubin by hand: functions `k` and `g` in sections of their own, and their line table.

/// Names, each ending in zero; sections and symbols refer to them by offset.
const SECTION_NAMES: &[u8] =
    b"\0.shstrtab\0.strtab\0.symtab\0.debug_line\0.rela.debug_line\0.text.k\0.text.g\0";
const SYMBOL_NAMES: &[u8] = b"\0k\0g\0";
/// Bytes of code of each function: four instructions.
const CODE: usize = 64;
/// `NOP` and `BRA` to itself on sm_90.
const NOP: [u64; 2] = [0x7918, 0x000f_c000_0000_0000];
const BRA: [u64; 2] = [0xffff_fffc_00fc_7947, 0x000f_c000_0383_ffff];

/// A line table of two sequences, each with the address operand 0, and the offsets of those.
///
/// k: 0x00 line 10, 0x10 line 12 with line 5 of `h.cuh` inlined there, 0x20 line 13, ends at 0x40.
/// g: 0x00 line 2, ends at 0x40. The header's numbers are those of nvcc's tables.
fn line_table() -> (Vec<u8>, Vec<u64>) {
    let set_address = [&[0, 9, 2][..], &[0; 8]].concat();
    let header = [
        &[1, 1, 251, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1][..],
        b"./src\0\0",
        b"k.cu\0\x01\0\0",
        b"../src/h.cuh\0\x01\0\0\0",
    ]
    .concat();
    let mut program: Vec<u8> = Vec::new();
    let mut operands = vec![program.len() + 3];
    program.extend(&set_address);
    program.extend([3, 9, 1]); // line 1 + 9, row 1
    program.extend([2, 16, 3, 2, 1]); // address + 16, line 12, row 2
    program.extend([4, 2, 0, 3, 0x90, 2, 0, 3, 0x79, 1]); // file 2 inlined at row 2, line 5, row 3
    program.extend([4, 1, 0, 3, 0x90, 0, 0, 3, 8, 2, 16, 1]); // file 1, line 13, row 4
    program.extend([2, 32, 0, 1, 1]); // end of sequence
    operands.push(program.len() + 3);
    program.extend(&set_address);
    program.extend([3, 1, 1, 2, 0x40, 0, 1, 1]); // line 2, end of sequence
    let before = 10; // unit length, version, header length
    let mut table = u32::try_from(6 + header.len() + program.len()).unwrap().to_le_bytes().to_vec();
    table.extend(2u16.to_le_bytes());
    table.extend(u32::try_from(header.len()).unwrap().to_le_bytes());
    let operands = operands.iter().map(|at| (before + header.len() + at) as u64).collect();
    table.extend(header);
    table.extend(program);
    (table, operands)
}

/// A symbol: a global function of a section, `CODE` bytes from its start.
fn symbol(name: u32, section: u16) -> Vec<u8> {
    let mut bytes = name.to_le_bytes().to_vec();
    bytes.extend([0x12, 0]);
    bytes.extend(section.to_le_bytes());
    bytes.extend(0u64.to_le_bytes());
    bytes.extend((CODE as u64).to_le_bytes());
    bytes
}

fn words(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Name's offset, type, flags, link, info, entry size, content.
type Section = (u32, u32, u64, u32, u32, u64, Vec<u8>);

/// The ELF file.
pub(crate) fn cubin() -> Vec<u8> {
    let (table, operands) = line_table();
    // Symbol number in the high half, relocation type 2 in the low one, as nvcc writes it.
    let relocations = operands
        .iter()
        .zip(1u64..)
        .flat_map(|(&operand, symbol)| words(&[operand, symbol << 32 | 2, 0]))
        .collect();
    let symbols = [vec![0; 24], symbol(1, 6), symbol(3, 7)].concat();
    let sections: [Section; 8] = [
        (0, 0, 0, 0, 0, 0, Vec::new()),
        (1, 3, 0, 0, 0, 0, SECTION_NAMES.to_vec()),
        (11, 3, 0, 0, 0, 0, SYMBOL_NAMES.to_vec()),
        (19, 2, 0, 2, 1, 24, symbols),
        (27, 1, 0, 0, 0, 0, table),
        (39, 4, 0, 3, 4, 24, relocations),
        (56, 1, 6, 0, 0, 0, words(&[NOP, BRA, NOP, NOP].concat())),
        (64, 1, 6, 0, 0, 0, words(&[NOP; 4].concat())),
    ];
    let mut headers = Vec::new();
    let mut content = Vec::new();
    for (name, kind, flags, link, info, entry, data) in sections {
        headers.extend(name.to_le_bytes());
        headers.extend(kind.to_le_bytes());
        headers.extend(words(&[flags, 0, 64 + content.len() as u64, data.len() as u64]));
        headers.extend(link.to_le_bytes());
        headers.extend(info.to_le_bytes());
        headers.extend(words(&[1, entry]));
        content.extend(data);
    }
    let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
    elf.resize(16, 0);
    elf.extend([1, 0, 190, 0, 1, 0, 0, 0]); // relocatable, CUDA, version 1
    elf.extend(words(&[0, 0, 64 + content.len() as u64]));
    elf.extend([90, 5, 90, 0, 64, 0, 0, 0, 0, 0, 64, 0, 8, 0, 1, 0]);
    elf.extend(content);
    elf.extend(headers);
    elf
}
