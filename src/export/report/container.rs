//! The container: a magic number, a file header, then blocks of length-prefixed messages.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;

use super::messages::{BlockHeader, FileHeader, SessionDetails, SourceData, text};
use super::stored::{Cursor, Part, Stored};
use super::wire::decode;

/// How a report begins.
pub const MAGIC: &[u8; 4] = b"NVR\0";
/// How a zstd frame begins.
const ZSTD_MAGIC: &[u8; 4] = &[0x28, 0xb5, 0x2f, 0xfd];
/// The version of the format in all reports of ncu 2022 to 2025.
const KNOWN_VERSION: u64 = 7;
/// Reports shrink about tenfold; what grows far beyond that is no report but a bomb.
const LARGEST_EXPANSION: u64 = 200;
/// Small files may grow to this whatever their ratio, bytes.
const ALWAYS_ALLOWED: u64 = 16 << 20;
/// The largest report that is read, bytes.
const LARGEST: u64 = 8 << 30;
/// Descriptions of sessions take some kilobytes, bytes.
const LARGEST_SESSIONS: usize = 1 << 20;
/// A launch has at least a name, a grid and a block, bytes.
const SMALLEST_RESULT: u64 = 16;

/// What a result counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Workload {
    /// One kernel's launch.
    Kernel,
    /// A range of the program, replayed as a whole.
    Range,
    /// A list of commands.
    CommandList,
    /// A CUDA graph.
    Graph,
}

/// A result that is not decoded yet: decoded it takes several times the memory, and one at a time will do.
#[derive(Debug, Clone, Copy)]
pub(super) struct EncodedResult {
    /// The block that it lies in, from 1.
    pub block: usize,
    /// What it counted.
    pub workload: Workload,
    /// The process that launched it, where the block says so.
    pub process: Option<u64>,
    /// Where its message lies.
    pub message: Part,
}

/// A piece of a module.
#[derive(Debug)]
pub(super) struct Source {
    /// The process that loaded the module, where the block says so: each process numbers its modules by itself.
    pub process: Option<u64>,
    /// The piece.
    pub data: SourceData,
}

/// The whole messages of a report.
#[derive(Debug, Default)]
pub(super) struct Container {
    /// Modules, in pieces.
    pub sources: Vec<Source>,
    /// Kernel launches and other workloads, in order.
    pub results: Vec<EncodedResult>,
    /// The string table of all blocks together.
    pub strings: Vec<Arc<str>>,
    /// Pieces of the session's description.
    pub sessions: Vec<SessionDetails>,
    /// How many bytes these pieces and those that were left out take.
    session_bytes: usize,
    /// The processes that launched something.
    pub processes: BTreeSet<u64>,
    /// Results of kinds that are not known, which are not read.
    pub other_results: u64,
    /// What is wrong with the file's end or with single blocks, each one clause.
    pub damage: Vec<String>,
    /// The format's version where it is newer than the known one.
    pub newer_version: Option<u64>,
}

/// True where the bytes begin as a report does, compressed or not.
#[must_use]
pub fn is_report(bytes: &[u8]) -> bool {
    if !bytes.starts_with(ZSTD_MAGIC) {
        return bytes.starts_with(MAGIC);
    }
    let mut head = [0; MAGIC.len()];
    zstd::stream::read::Decoder::with_buffer(bytes)
        .is_ok_and(|mut decoder| decoder.read_exact(&mut head).is_ok() && head == *MAGIC)
}

/// What is said of a block that does not hold what it says.
pub(super) fn damaged_block(number: usize) -> String {
    format!("block {number} is cut off or damaged")
}

/// The report's bytes, decompressed where they are compressed, and what was wrong with that.
pub(super) fn plain(bytes: &[u8]) -> (Cow<'_, [u8]>, Option<String>) {
    if !bytes.starts_with(ZSTD_MAGIC) {
        return (Cow::Borrowed(bytes), None);
    }
    let limit = largest_decompressed(bytes.len() as u64);
    let mut out = Vec::new();
    let read = zstd::stream::read::Decoder::with_buffer(bytes)
        .and_then(|decoder| decoder.take(limit).read_to_end(&mut out));
    // What was decompressed before an error stays in `out`: whole blocks of it are kept.
    let damage = match read {
        Err(error) => Some(format!("the zstd stream is damaged ({error})")),
        Ok(_) if out.len() as u64 == limit => {
            Some(format!("it decompresses to more than {} MiB; the rest was not read", limit >> 20))
        }
        Ok(_) => None,
    };
    (Cow::Owned(out), damage)
}

/// The most bytes that a compressed report of so many bytes is read of.
fn largest_decompressed(compressed: u64) -> u64 {
    compressed.saturating_mul(LARGEST_EXPANSION).clamp(ALWAYS_ALLOWED, LARGEST)
}

impl Container {
    /// Takes apart what [`plain`] gives of a report; `None` where it is not one.
    ///
    /// A declared size is believed only where so many bytes are left, so nothing is allocated for
    /// bytes that don't exist.
    #[must_use]
    pub(super) fn read(bytes: Stored<'_>, damage: Option<String>) -> Option<Self> {
        let size = MAGIC.len() as u64;
        bytes.get(Part { start: 0, size }).filter(|magic| magic.as_ref() == MAGIC)?;
        let mut container = Self { damage: damage.into_iter().collect(), ..Self::default() };
        let mut cursor = Cursor::new(bytes, size);
        match cursor.message().and_then(|header| decode::<FileHeader>(&header, &[], 0)) {
            Some(header) => {
                container.newer_version =
                    (header.version > KNOWN_VERSION).then_some(header.version);
            }
            _ => container.damage.push("its file header is damaged".to_owned()),
        }
        let mut number = 0;
        let mut readable = container.damage.is_empty();
        while readable && !cursor.is_done() {
            number += 1;
            readable = container.block(number, &mut cursor);
        }
        Some(container)
    }

    /// One block; false where the next one can't be found.
    fn block(&mut self, number: usize, cursor: &mut Cursor<'_>) -> bool {
        let header = cursor.message();
        // An empty string still takes a vector here, and a place in the table.
        let header = header.and_then(|header| decode::<BlockHeader>(&header, &[&[4, 1]], 96));
        let Some(header) = header else {
            self.damage.push(format!("block {number} is cut off or damaged in its header"));
            return false;
        };
        let names = header.strings.unwrap_or_default().strings;
        self.strings.extend(names.iter().map(|name| Arc::from(text(name))));
        let session = header.session.unwrap_or_default();
        self.session_bytes = self.session_bytes.saturating_add(session.len());
        if !session.is_empty() && self.session_bytes <= LARGEST_SESSIONS {
            self.sessions.extend(decode::<SessionDetails>(&session, &[&[6, 3], &[8]], 112));
        }
        // In the order in which they lie in the payload.
        let results = [
            (Workload::Kernel, header.results),
            (Workload::Range, header.range_results),
            (Workload::CommandList, header.cmdlist_results),
            (Workload::Graph, header.graph_results),
        ];
        let has_results = results.iter().any(|(_, count)| *count > 0);
        let process = header.process.map(|process| process.id);
        self.processes.extend(process.filter(|_| has_results));
        let payload = cursor.take(header.payload_size);
        // Of a payload that is cut off, the whole entries are as good as ever.
        let mut entries = cursor.within(payload);
        let whole = self.entries((number, process), header.sources, results, &mut entries);
        if whole && payload.is_some() {
            // What newer releases put behind the kinds that are known.
            while entries.place().is_some() {
                self.other_results += 1;
            }
        }
        if !whole || payload.is_none() {
            self.damage.push(damaged_block(number));
        }
        payload.is_some()
    }

    /// The entries of a payload; false where one is missing or makes no sense.
    fn entries(
        &mut self,
        (block, process): (usize, Option<u64>),
        sources: u64,
        results: [(Workload, u64); 4],
        payload: &mut Cursor<'_>,
    ) -> bool {
        let mut whole = true;
        // Each turn takes 4 bytes at least, so a count beyond the payload ends with it.
        for _ in 0..sources {
            let Some(entry) = payload.message() else { return false };
            match decode::<SourceData>(&entry, &[&[8, 1], &[9, 1]], 48) {
                Some(data) => self.sources.push(Source { process, data }),
                None => whole = false,
            }
        }
        for (workload, count) in results {
            for _ in 0..count {
                let Some(message) = payload.place() else { return false };
                // This keeps zeros from counting as millions of launches.
                if message.size < SMALLEST_RESULT {
                    return false;
                }
                self.results.push(EncodedResult { block, workload, process, message });
            }
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::super::messages::{Process, Version};
    use super::super::sample::{self, Block};
    use super::*;

    fn container(bytes: &[u8]) -> Container {
        Container::read(Stored::Held(bytes), None).unwrap()
    }

    #[test]
    fn a_report_may_grow_two_hundredfold_from_16_mib_to_8_gib() {
        assert_eq!(largest_decompressed(1_000_000), 200_000_000);
        assert_eq!(largest_decompressed(1), 16_777_216);
        assert_eq!(largest_decompressed(u64::MAX), 8_589_934_592);
    }

    #[test]
    fn of_a_report_that_grows_beyond_its_limit_the_rest_is_left_out_aloud() {
        let packed = |bytes: usize| zstd::encode_all(vec![0; bytes].as_slice(), 1).unwrap();
        let bytes = packed(16_777_217);
        let (out, damage) = plain(&bytes);
        assert_eq!(out.len(), 16_777_216);
        assert!(damage.unwrap().contains("more than 16 MiB"));
        assert_eq!(plain(&packed(1_000)).1, None);
    }

    #[test]
    fn descriptions_of_sessions_are_read_up_to_a_mebibyte() {
        let session = |bytes: usize| {
            let mut padded = SessionDetails {
                versions: vec![Version { provider: vec![b'p'; 1_000_000], ..Version::default() }],
                ..SessionDetails::default()
            };
            // The lengths before it take as many bytes from half a million on.
            let lacks = bytes - padded.encode_to_vec().len();
            padded.versions[0].provider.extend(vec![b'p'; lacks]);
            assert_eq!(padded.encode_to_vec().len(), bytes);
            padded
        };
        let read = |bytes: usize| {
            let small = SessionDetails::default();
            let blocks = [session(bytes), small].map(|each| Block::default().session(&each)).into();
            container(&sample::file(blocks)).sessions.len()
        };
        assert_eq!((read(1_048_576), read(1_048_577)), (1, 0));
    }

    #[test]
    fn a_launch_takes_16_bytes_or_more() {
        let read = |bytes: usize| {
            let header = BlockHeader { results: 1, ..BlockHeader::default() };
            let block = Block { header, entries: vec![vec![0; bytes]] };
            let found = container(&sample::file(vec![block]));
            (found.results.len(), found.damage)
        };
        assert_eq!(read(16), (1, Vec::new()));
        assert_eq!(read(15), (0, vec![damaged_block(1)]));
    }

    #[test]
    fn a_payload_that_is_cut_behind_its_launches_is_damaged() {
        let header = BlockHeader { results: 1, ..BlockHeader::default() };
        let block = Block { header, entries: vec![vec![0; 16], vec![0; 16]] };
        let bytes = sample::file(vec![block]);
        let found = container(&bytes[..bytes.len() - 1]);
        assert_eq!((found.results.len(), found.damage), (1, vec![damaged_block(1)]));
    }

    #[test]
    fn a_process_without_launches_is_not_counted() {
        let processes = |results: u64| {
            let process = Some(Process { id: 7 });
            let header = BlockHeader { results, process, ..BlockHeader::default() };
            let entries = vec![vec![0; 16]; usize::try_from(results).unwrap()];
            container(&sample::file(vec![Block { header, entries }])).processes
        };
        assert!(processes(0).is_empty());
        assert_eq!(processes(1), BTreeSet::from([7]));
    }
}
