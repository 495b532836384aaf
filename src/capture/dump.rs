//! The file that the library inside the program writes; `injection/capture/file.rs` describes it.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// How the file begins.
const MAGIC: &[u8; 8] = b"ADOCAP01";
/// Records other than memory are no larger.
const MOST_SMALL: u64 = 1 << 30;
/// Numbers of the launch's record.
const NUMBERS: usize = 18;

/// A launch as the library saw it.
#[derive(Debug, Default)]
pub(super) struct Dump {
    path: PathBuf,
    /// Grid, block, shared bytes, cooperative, the driver's version, then the function's attributes.
    numbers: [u32; NUMBERS],
    /// Bytes of a thread's stack.
    pub stack_bytes: u64,
    /// Number and value.
    pub attributes: Vec<(u32, Vec<u8>)>,
    /// The parameters' bytes.
    pub parameters: Vec<Vec<u8>>,
    /// Modules with a kernel of this name, the last loaded last.
    pub modules: Vec<Vec<u8>>,
    /// Variables of the module: address and name.
    pub variables: Vec<(u64, String)>,
    /// The memory.
    pub stretches: Vec<Stretch>,
    /// How many words of the memory point into it.
    pub inner_pointers: u64,
    is_whole: bool,
}

/// A stretch of memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Stretch {
    /// Where it lay.
    pub address: u64,
    /// Its size, bytes.
    pub bytes: u64,
    /// True for pinned memory of the host, which is not copied.
    pub is_host: bool,
    /// True for managed memory.
    pub is_managed: bool,
    before: Option<(u64, u64)>,
    after: Option<(u64, u64)>,
}

impl Dump {
    /// Blocks in x, y, z.
    pub(super) fn grid(&self) -> [u32; 3] {
        [self.numbers[0], self.numbers[1], self.numbers[2]]
    }

    /// Threads per block.
    pub(super) fn block(&self) -> [u32; 3] {
        [self.numbers[3], self.numbers[4], self.numbers[5]]
    }

    /// Dynamic shared memory, bytes.
    pub(super) fn shared_bytes(&self) -> u32 {
        self.numbers[6]
    }

    pub(super) fn is_cooperative(&self) -> bool {
        self.numbers[7] != 0
    }

    /// Registers per thread.
    pub(super) fn registers(&self) -> u32 {
        self.numbers[9]
    }

    /// The most dynamic shared memory that the program allowed, bytes.
    pub(super) fn most_shared_bytes(&self) -> i32 {
        self.numbers[11].cast_signed()
    }

    /// The carve-out that the program asked for, percent; -1 for none.
    pub(super) fn carveout_percent(&self) -> i32 {
        self.numbers[12].cast_signed()
    }

    /// Clusters of any size were allowed.
    pub(super) fn any_cluster(&self) -> bool {
        self.numbers[16] == 1
    }

    /// Reads all but the memory.
    ///
    /// # Errors
    /// [`Error::Input`] where the file can't be read or is cut.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| Error::io(path, "read what was captured in", &error);
        let mut file = BufReader::new(File::open(path).map_err(failed)?);
        let mut dump = Self { path: path.to_owned(), ..Self::default() };
        let mut magic = [0; 8];
        file.read_exact(&mut magic).map_err(failed)?;
        if &magic != MAGIC {
            return Err(Error::input(path, "is not what a capture writes"));
        }
        let mut at = magic.len() as u64;
        let mut head = [0; 16];
        while !dump.is_whole {
            file.read_exact(&mut head).map_err(failed)?;
            at += head.len() as u64;
            let mut fields = Fields(&head);
            let (tag, number, length) = (fields.u32(), fields.u32(), fields.u64());
            if let 7 | 8 = tag {
                dump.memory(tag, number, (at, length));
                file.seek_relative(length.cast_signed()).map_err(failed)?;
            } else {
                if length > MOST_SMALL {
                    return Err(Error::input(path, "is damaged"));
                }
                let mut payload = Vec::new();
                file.by_ref().take(length).read_to_end(&mut payload).map_err(failed)?;
                if payload.len() as u64 != length {
                    return Err(Error::input(path, "is cut short"));
                }
                dump.record(tag, number, &payload);
            }
            at += length;
        }
        Ok(dump)
    }

    fn memory(&mut self, tag: u32, number: u32, place: (u64, u64)) {
        let Some(stretch) = self.stretches.get_mut(number as usize) else { return };
        if tag == 7 {
            stretch.before = Some(place);
        } else {
            stretch.after = Some(place);
        }
    }

    fn record(&mut self, tag: u32, number: u32, payload: &[u8]) {
        let mut fields = Fields(payload);
        match tag {
            1 => {
                for place in &mut self.numbers {
                    *place = fields.u32();
                }
                self.stack_bytes = fields.u64();
            }
            2 => self.attributes.push((number, payload.to_vec())),
            3 => {
                let _offset = fields.u64();
                self.parameters.push(fields.0.to_vec());
            }
            4 => self.modules.push(payload.to_vec()),
            5 => {
                let (address, _bytes) = (fields.u64(), fields.u64());
                self.variables.push((address, String::from_utf8_lossy(fields.0).into_owned()));
            }
            6 => self.stretches.push(Stretch {
                address: fields.u64(),
                bytes: fields.u64(),
                is_host: fields.u64() == 1,
                is_managed: fields.u64() == 1,
                ..Stretch::default()
            }),
            9 => {
                self.inner_pointers = fields.u64();
                self.is_whole = true;
            }
            // A newer library than this reader can't be: both are in one binary.
            _ => {}
        }
    }

    /// What a stretch held before and after the launch.
    ///
    /// # Errors
    /// [`Error::Input`] where the file can't be read.
    pub(super) fn contents(&self, stretch: &Stretch) -> Result<(Vec<u8>, Vec<u8>)> {
        Ok((self.bytes(stretch.before)?, self.bytes(stretch.after)?))
    }

    /// True where the launch changed a byte of the memory.
    ///
    /// # Errors
    /// As [`contents`](Self::contents).
    pub(super) fn changes(&self) -> Result<bool> {
        for stretch in &self.stretches {
            let (before, after) = self.contents(stretch)?;
            if before != after {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes the file.
    ///
    /// # Errors
    /// [`Error::Input`] where it stays.
    pub(super) fn remove(&self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(|error| Error::io(&self.path, "remove", &error))
    }

    fn bytes(&self, place: Option<(u64, u64)>) -> Result<Vec<u8>> {
        let Some((at, length)) = place else { return Ok(Vec::new()) };
        let failed =
            |error: std::io::Error| Error::io(&self.path, "read what was captured in", &error);
        let mut file = File::open(&self.path).map_err(failed)?;
        file.seek(SeekFrom::Start(at)).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 != length {
            return Err(Error::input(&self.path, "is cut short"));
        }
        Ok(bytes)
    }
}

/// Fields one after another; those that are missing are 0.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let Some((first, rest)) = self.0.split_first_chunk::<N>() else {
            self.0 = &[];
            return [0; N];
        };
        self.0 = rest;
        *first
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}

#[cfg(test)]
pub(super) mod samples {
    use super::*;

    /// A file as the library writes it: one parameter that points to a stretch of 16 bytes, whose first byte the
    /// launch changes, and a second stretch that it leaves alone.
    pub(in crate::capture) fn bytes() -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        let mut record = |tag: u32, number: u32, payload: &[u8]| {
            file.extend(tag.to_le_bytes());
            file.extend(number.to_le_bytes());
            file.extend((payload.len() as u64).to_le_bytes());
            file.extend(payload);
        };
        let mut launch = Vec::new();
        for number in
            [4_u32, 2, 1, 128, 1, 1, 64, 0, 13_000, 40, 0, 49_152, u32::MAX, 0, 0, 0, 1, 0]
        {
            launch.extend(number.to_le_bytes());
        }
        launch.extend(2048_u64.to_le_bytes());
        record(1, 0, &launch);
        record(2, 4, &[2; 64]);
        let words =
            |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        record(3, 0, &words(&[0, 0x7f00_0000_0008]));
        record(3, 1, &[&words(&[8]), [7, 0, 0, 0].as_slice()].concat());
        record(4, 0, b"code");
        record(5, 0, &[&words(&[0x7f00_0010_0000, 8]), b"table".as_slice()].concat());
        record(6, 0, &words(&[0x7f00_0010_0000, 8, 2, 0, 0]));
        record(7, 0, &[3; 8]);
        record(6, 1, &words(&[0x7f00_0000_0000, 16, 2, 0, 0]));
        record(7, 1, &[1; 16]);
        record(8, 0, &[3; 8]);
        let mut after = [1; 16];
        after[0] = 9;
        record(8, 1, &after);
        record(9, 0, &words(&[5]));
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(bytes: &[u8]) -> Result<(Dump, tempfile::TempDir)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.captured");
        std::fs::write(&path, bytes).unwrap();
        Dump::open(&path).map(|dump| (dump, folder))
    }

    #[test]
    fn a_launch_is_read_with_its_memory() {
        let (dump, _folder) = opened(&samples::bytes()).unwrap();
        assert_eq!((dump.grid(), dump.block(), dump.shared_bytes()), ([4, 2, 1], [128, 1, 1], 64));
        assert_eq!(
            (dump.registers(), dump.most_shared_bytes(), dump.carveout_percent()),
            (40, 49_152, -1)
        );
        assert!(dump.any_cluster() && !dump.is_cooperative());
        assert_eq!((dump.stack_bytes, dump.inner_pointers), (2048, 5));
        assert_eq!(dump.parameters, [vec![8, 0, 0, 0, 0, 0x7f, 0, 0], vec![7, 0, 0, 0]]);
        assert_eq!(dump.variables, [(0x7f00_0010_0000, "table".to_owned())]);
        let (before, after) = dump.contents(&dump.stretches[1]).unwrap();
        assert_eq!((before[0], after[0], after.len()), (1, 9, 16));
        assert_eq!(dump.contents(&dump.stretches[0]).unwrap(), (vec![3; 8], vec![3; 8]));
        assert!(dump.changes().unwrap());
        let stretches = vec![dump.stretches[0].clone()];
        assert!(!Dump { stretches, ..dump }.changes().unwrap());
    }

    #[test]
    fn a_cut_or_foreign_file_is_an_error() {
        let whole = samples::bytes();
        for end in [0, 7, 8, 30, 200, whole.len() - 1] {
            assert!(opened(&whole[..end]).is_err(), "{end}");
        }
        assert!(opened(b"ADOSRV01 and more of it").is_err());
    }
}
