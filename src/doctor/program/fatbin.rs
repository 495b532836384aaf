//! The device code in a host file: fat binaries, as `nvcc` puts them into the sections `.nv_fatbin` and
//! `__nv_relfatbin`. Only headers are read until somebody asks for the code itself.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How a fat binary begins.
const MAGIC: u32 = 0xba55_ed50;
/// The shortest head of a fat binary, bytes.
const HEAD: u64 = 16;
/// The shortest head of an image, bytes.
const IMAGE_HEAD: u64 = 64;
/// Fat binaries begin at multiples of this, bytes.
const ALIGNMENT: u64 = 8;

/// Bits of an image's flags.
const DEBUG: u64 = 0x2;
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;
/// Made for one architecture alone (`sm_90a`), or for its family (`sm_100f`).
const SPECIFIC: u64 = 0x10_0000;

/// A larger image is not taken for one, bytes: the largest of libraries have some tens of megabytes.
const LARGEST: u64 = 512 << 20;

/// What an image holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text for the driver's compiler.
    Ptx,
    /// Machine code.
    Cubin,
}

/// Device code for one architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Image {
    /// What it holds.
    pub kind: Kind,
    /// The architecture, 90 of `sm_90`.
    pub architecture: u32,
    /// True where nothing but this architecture takes it.
    pub is_specific: bool,
    /// True where it was compiled with `-G`.
    pub is_debug: bool,
    flags: u64,
    /// Where it lies in the file, stored, and unpacked, bytes.
    start: u64,
    stored: u64,
    size: u64,
}

/// The images of a section that begins somewhere in a file, `most` at most. A section that is damaged gives those
/// before the damage.
///
/// # Errors
/// Where the file can't be read.
pub(super) fn images(file: &File, start: u64, size: u64, most: usize) -> io::Result<Vec<Image>> {
    let end = start.saturating_add(size);
    let (mut at, mut images) = (start, Vec::new());
    while at.saturating_add(HEAD) <= end && images.len() < most {
        let mut head = [0; HEAD as usize];
        file.read_exact_at(&mut head, at)?;
        if number::<4>(&head, 0) != u64::from(MAGIC) {
            // Fat binaries are padded.
            at += ALIGNMENT;
            continue;
        }
        let body = at.saturating_add(number::<2>(&head, 6).max(HEAD));
        let after = body.saturating_add(number::<8>(&head, 8)).min(end);
        let mut place = body;
        while place.saturating_add(IMAGE_HEAD) <= after && images.len() < most {
            let mut head = [0; IMAGE_HEAD as usize];
            file.read_exact_at(&mut head, place)?;
            let head_size = number::<4>(&head, 4).max(IMAGE_HEAD);
            let padded = number::<8>(&head, 8);
            images.extend(image(&head, place.saturating_add(head_size), padded, after));
            place = place.saturating_add(head_size).saturating_add(padded);
        }
        at = after.next_multiple_of(ALIGNMENT);
    }
    Ok(images)
}

/// The image behind a head; `None` for one of another kind, or that goes on behind its fat binary.
fn image(head: &[u8], start: u64, padded: u64, end: u64) -> Option<Image> {
    let kind = match number::<2>(head, 0) {
        1 => Kind::Ptx,
        2 => Kind::Cubin,
        _ => return None,
    };
    let flags = number::<8>(head, 40);
    let packed = number::<4>(head, 16);
    let (stored, size) = match flags & (LZ4 | ZSTD) {
        0 => (padded, padded),
        _ => (packed, number::<8>(head, 56)),
    };
    (start.saturating_add(stored) <= end && size <= LARGEST).then_some(Image {
        kind,
        architecture: number::<4>(head, 28) as u32,
        is_specific: flags & SPECIFIC != 0,
        is_debug: flags & DEBUG != 0,
        flags,
        start,
        stored,
        size,
    })
}

impl Image {
    /// How large it is, unpacked, bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The code itself, unpacked; `None` where it is damaged.
    pub(super) fn code(&self, file: &File) -> Option<Vec<u8>> {
        let mut stored = vec![0; usize::try_from(self.stored).ok()?];
        file.read_exact_at(&mut stored, self.start).ok()?;
        let size = usize::try_from(self.size).ok()?;
        if self.flags & ZSTD != 0 {
            zstd::bulk::decompress(&stored, size).ok()
        } else if self.flags & LZ4 != 0 {
            lz4_flex::block::decompress(&stored, size).ok()
        } else {
            Some(stored)
        }
    }
}

/// A number of so many bytes, the lowest first.
fn number<const SIZE: usize>(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes.get(at..at + SIZE).unwrap_or_default();
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::super::sample::{Stored, fatbin, image};
    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn images_are_found_with_their_code() {
        let first = [
            image(2, 80, 0, b"machine code", Stored::Plain),
            image(1, 90, 0, b"text", Stored::Zstd),
        ];
        let second = [image(2, 90, DEBUG | SPECIFIC, &[7; 300], Stored::Lz4)];
        // Eight zeros between them, as where one is padded.
        let section = [fatbin(&first), vec![0; 8], fatbin(&second)].concat();
        let bytes = [b"host".repeat(2), section.clone(), b"more".to_vec()].concat();
        let file = file(&bytes);
        let found = images(&file, 8, section.len() as u64, 100).unwrap();
        let seen: Vec<(Kind, u32, bool, bool)> = found
            .iter()
            .map(|image| (image.kind, image.architecture, image.is_specific, image.is_debug))
            .collect();
        assert_eq!(
            seen,
            [
                (Kind::Cubin, 80, false, false),
                (Kind::Ptx, 90, false, false),
                (Kind::Cubin, 90, true, true)
            ]
        );
        let code: Vec<Vec<u8>> = found.iter().map(|image| image.code(&file).unwrap()).collect();
        // Plain code is padded to eight bytes.
        assert_eq!(code, [b"machine code\0\0\0\0".to_vec(), b"text".to_vec(), vec![7; 300]]);
        assert_eq!(images(&file, 8, section.len() as u64, 2).unwrap().len(), 2);
    }

    #[test]
    fn damage_ends_the_list_and_claims_allocate_nothing() {
        let whole = fatbin(&[image(2, 90, 0, &[1; 64], Stored::Plain)]);
        for cut in 0..whole.len() {
            let part = &whole[..cut];
            assert!(images(&file(part), 0, cut as u64, 100).is_ok_and(|found| found.is_empty()));
        }
        let mut huge = fatbin(&[image(2, 90, 0, &[1; 64], Stored::Zstd)]);
        // The unpacked size, behind both heads' beginnings.
        huge[16 + 56..16 + 64].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(images(&file(&huge), 0, huge.len() as u64, 100).unwrap().is_empty());
        // A section that ends behind its file.
        assert!(images(&file(&whole), 0, 1 << 40, 100).is_err());
    }
}
