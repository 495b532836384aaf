//! Files by hand: an ELF file of these sections, and fat binaries.

/// How an image is stored.
#[derive(Clone, Copy)]
pub(super) enum Stored {
    Plain,
    Zstd,
    Lz4,
}

/// An image with its head: 1 PTX, 2 a cubin.
pub(super) fn image(
    kind: u16,
    architecture: u32,
    flags: u64,
    code: &[u8],
    stored: Stored,
) -> Vec<u8> {
    let (bytes, flag) = match stored {
        Stored::Plain => (code.to_vec(), 0),
        Stored::Zstd => (zstd::bulk::compress(code, 3).unwrap(), 0x8000),
        Stored::Lz4 => (lz4_flex::block::compress(code), 0x2000),
    };
    let padded = bytes.len().next_multiple_of(8);
    let is_packed = flag != 0;
    let mut head = Vec::new();
    head.extend(kind.to_le_bytes());
    head.extend(0x101_u16.to_le_bytes());
    head.extend(64_u32.to_le_bytes());
    head.extend((padded as u64).to_le_bytes());
    head.extend((if is_packed { bytes.len() as u32 } else { 0 }).to_le_bytes());
    head.extend([0; 8]);
    head.extend(architecture.to_le_bytes());
    head.extend([0; 8]);
    head.extend((flags | flag).to_le_bytes());
    head.extend([0; 8]);
    head.extend((if is_packed { code.len() as u64 } else { 0 }).to_le_bytes());
    head.extend(&bytes);
    head.resize(64 + padded, 0);
    head
}

/// A fat binary of these images.
pub(super) fn fatbin(images: &[Vec<u8>]) -> Vec<u8> {
    let body = images.concat();
    let mut bytes = 0xba55_ed50_u32.to_le_bytes().to_vec();
    bytes.extend(1_u16.to_le_bytes());
    bytes.extend(16_u16.to_le_bytes());
    bytes.extend((body.len() as u64).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// An ELF file with these sections.
pub(super) fn elf(sections: &[(&str, &[u8])]) -> Vec<u8> {
    const HEAD: usize = 64;
    let mut names = b"\0.shstrtab\0".to_vec();
    let mut body = Vec::new();
    let mut table = vec![0; HEAD];
    let mut row = |name: usize, kind: u32, start: usize, size: usize| {
        let mut row = Vec::new();
        row.extend((name as u32).to_le_bytes());
        row.extend(kind.to_le_bytes());
        row.extend([0; 16]);
        row.extend((start as u64).to_le_bytes());
        row.extend((size as u64).to_le_bytes());
        row.extend([0; 24]);
        table.extend(row);
    };
    for (name, content) in sections {
        row(names.len(), 1, HEAD + body.len(), content.len());
        names.extend(name.as_bytes());
        names.push(0);
        body.extend(*content);
        body.resize(body.len().next_multiple_of(8), 0);
    }
    row(1, 3, HEAD + body.len(), names.len());
    body.extend(&names);
    let count = sections.len() as u16 + 2;
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    for half in [3_u16, 62] {
        file.extend(half.to_le_bytes());
    }
    file.extend(1_u32.to_le_bytes());
    file.extend([0; 16]);
    file.extend(((HEAD + body.len()) as u64).to_le_bytes());
    file.extend([0; 4]);
    for half in [64_u16, 0, 0, 64, count, count - 1] {
        file.extend(half.to_le_bytes());
    }
    assert_eq!(file.len(), HEAD);
    [file, body, table].concat()
}
