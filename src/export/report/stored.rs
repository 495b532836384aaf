//! The bytes of a report, in memory or in their file: of a report of gigabytes only what is being decoded is held.

use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Where a report's bytes are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stored<'a> {
    /// In memory.
    Held(&'a [u8]),
    /// In a file of so many bytes.
    OnDisk(&'a File, u64),
}

impl<'a> Stored<'a> {
    /// How many bytes there are.
    pub(super) fn len(self) -> u64 {
        match self {
            Self::Held(bytes) => bytes.len() as u64,
            Self::OnDisk(_, size) => size,
        }
    }

    /// A part; `None` where it goes on behind the end, or can't be read.
    pub(super) fn get(self, part: Part) -> Option<Cow<'a, [u8]>> {
        let end = part.start.checked_add(part.size).filter(|end| *end <= self.len())?;
        match self {
            Self::Held(bytes) => {
                let (start, end) = (usize::try_from(part.start).ok()?, usize::try_from(end).ok()?);
                bytes.get(start..end).map(Cow::Borrowed)
            }
            Self::OnDisk(file, _) => {
                let mut bytes = vec![0; usize::try_from(part.size).ok()?];
                file.read_exact_at(&mut bytes, part.start).ok()?;
                Some(Cow::Owned(bytes))
            }
        }
    }
}

/// A part of a report: where it begins, and how many bytes it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub start: u64,
    pub size: u64,
}

/// Parts that are taken from the front.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: Stored<'a>,
    at: u64,
    end: u64,
}

impl<'a> Cursor<'a> {
    /// Over all bytes from here on.
    pub(super) fn new(bytes: Stored<'a>, at: u64) -> Self {
        Self { bytes, at, end: bytes.len() }
    }

    /// True where nothing is left.
    pub(super) fn is_done(&self) -> bool {
        self.at >= self.end
    }

    /// The next part, or nothing at all where fewer bytes are left.
    pub(super) fn take(&mut self, size: u64) -> Option<Part> {
        let start = self.at;
        self.at = start.checked_add(size).filter(|end| *end <= self.end)?;
        Some(Part { start, size })
    }

    /// A cursor over a part, and one over all that is left.
    pub(super) fn within(&self, part: Option<Part>) -> Self {
        part.map_or(*self, |part| Self { at: part.start, end: part.start + part.size, ..*self })
    }

    /// Where the next message lies, with its 32-bit length before it.
    pub(super) fn place(&mut self) -> Option<Part> {
        let before = self.at;
        let size = self.take(4).and_then(|part| self.bytes.get(part));
        let size = size.and_then(|size| Some(u32::from_le_bytes(size.as_ref().try_into().ok()?)));
        let part = size.and_then(|size| self.take(u64::from(size)));
        if part.is_none() {
            self.at = before;
        }
        part
    }

    /// The next message.
    pub(super) fn message(&mut self) -> Option<Cow<'a, [u8]>> {
        let part = self.place()?;
        self.bytes.get(part)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn parts_in_memory_and_on_disk_are_the_same_and_end_with_the_bytes() {
        let bytes = [&3_u32.to_le_bytes()[..], b"one", &2_u32.to_le_bytes(), b"x"].concat();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        for stored in [Stored::Held(&bytes), Stored::OnDisk(&file, bytes.len() as u64)] {
            let mut cursor = Cursor::new(stored, 0);
            assert_eq!(cursor.message().as_deref(), Some(&b"one"[..]));
            // Two bytes are promised, and one is there.
            assert!(cursor.message().is_none() && !cursor.is_done());
            assert_eq!(cursor.take(5), Some(Part { start: 7, size: 5 }));
            assert!(cursor.is_done() && cursor.take(1).is_none());
            let mut within = Cursor::new(stored, 0).within(Some(Part { start: 4, size: 2 }));
            assert_eq!((within.take(3), within.take(2).is_some()), (None, true));
            assert_eq!(stored.get(Part { start: u64::MAX, size: 2 }), None);
        }
        // A file that became shorter since.
        assert_eq!(Stored::OnDisk(&file, 100).get(Part { start: 8, size: 50 }), None);
    }
}
