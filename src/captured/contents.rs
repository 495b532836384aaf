//! What memory held, compressed.

use std::io::Read;
use std::path::Path;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::files::write_atomically;

/// Pieces are compressed side by side; a reader takes them as one.
const PIECE: usize = 16 << 20;
/// The fastest that still makes zeros and small numbers short.
const LEVEL: i32 = 1;

/// Writes what a stretch of memory holds.
///
/// # Errors
/// [`Error::Input`] where the file can't be written.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let pieces: Vec<_> =
        bytes.par_chunks(PIECE).map(|piece| zstd::bulk::compress(piece, LEVEL)).collect();
    let pieces: std::io::Result<Vec<Vec<u8>>> = pieces.into_iter().collect();
    let pieces = pieces.map_err(|error| Error::io(path, "compress", &error))?;
    write_atomically(path, &pieces.concat())
}

/// Reads what a stretch of so many bytes holds.
///
/// # Errors
/// [`Error::Input`] where the file can't be read or holds more or less.
pub(crate) fn read(path: &Path, bytes: u64) -> Result<Vec<u8>> {
    let damaged = |error: &std::io::Error| Error::io(path, "read", error);
    let file = std::fs::File::open(path).map_err(|error| damaged(&error))?;
    let decoder = zstd::stream::read::Decoder::new(file).map_err(|error| damaged(&error))?;
    let mut contents = Vec::new();
    decoder.take(bytes + 1).read_to_end(&mut contents).map_err(|error| damaged(&error))?;
    if contents.len() as u64 != bytes {
        return Err(Error::input(
            path,
            format!("does not hold {bytes} bytes: capture the launch again"),
        ));
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_longer_than_a_piece_come_back_and_other_lengths_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0.zst");
        let bytes: Vec<u8> = (0..PIECE + 1000).map(|at| (at / 999) as u8).collect();
        write(&path, &bytes).unwrap();
        let length = bytes.len() as u64;
        assert!(read(&path, length).unwrap() == bytes);
        assert!(std::fs::metadata(&path).unwrap().len() < length / 10);
        assert!(read(&path, length - 1).is_err() && read(&path, length + 1).is_err());
    }
}
