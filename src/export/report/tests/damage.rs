//! Reports that are cut, changed, made up or of a newer version: what is whole is kept, and nothing panics.

use proptest::prelude::*;

use super::{open, problem};
use crate::export::report::messages::*;
use crate::export::report::sample::{self, Block, double, kernel, metric};
use crate::export::report::session;

#[test]
fn sizes_beyond_the_file_allocate_nothing() {
    let mut bytes = sample::file(vec![]);
    bytes.extend(u32::MAX.to_le_bytes());
    assert!(problem(&bytes).contains("block 1"));

    let huge = BlockHeader { sources: u64::MAX, results: u64::MAX, ..BlockHeader::default() };
    assert!(
        problem(&sample::file(vec![Block { header: huge, entries: vec![] }])).contains("block 1")
    );

    // Zeros are entries of no bytes: not one launch each.
    let zeros = BlockHeader { results: u64::MAX, ..BlockHeader::default() };
    let zeros = Block { header: zeros, entries: vec![vec![]; 1000] };
    assert!(problem(&sample::file(vec![zeros])).contains("block 1"));
}

#[test]
fn whole_launches_before_the_damage_are_kept() {
    let strings = || Block::strings(&["gpu__time_duration.sum"]);
    let result = || kernel("k(float *)", vec![metric(0, Some(double(5.0)))]);
    let blocks = || vec![strings().result(&result()), strings().result(&result())];
    let bytes = sample::file(blocks());
    let export = open(&bytes[..bytes.len() - 1]).unwrap();
    assert_eq!((export.launches.len(), export.metrics.len()), (1, 1));
    assert!(export.notices[0].contains("block 2") && export.notices[0].contains("one whole"));

    // A launch that makes no sense between two that do: those keep their numbers.
    let mut three = blocks();
    let mut odd = strings().result(&result());
    odd.entries[0] = vec![0xff; 30];
    three.insert(1, odd);
    let export = open(&sample::file(three)).unwrap();
    assert_eq!(export.launches.iter().map(|launch| launch.id).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(export.notices.len(), 1);
}

#[test]
fn values_without_a_name_are_left_out_aloud() {
    let result = kernel("k(float *)", vec![metric(0, Some(double(1.0))), metric(8, None)]);
    let export = open(&sample::file(vec![Block::strings(&["a"]).result(&result)])).unwrap();
    assert_eq!(export.metrics.len(), 1);
    assert!(export.notices[0].starts_with("1 metric values"), "{:?}", export.notices);
}

#[test]
fn newer_formats_are_read_with_a_notice() {
    let result = kernel("k(float *)", vec![]);
    let mut bytes = sample::file(vec![Block::default().result(&result)]);
    // Magic, size 2, tag of the version, version.
    assert_eq!(bytes[8..10], [8, 7]);
    bytes[9] = 8;
    let export = open(&bytes).unwrap();
    assert!(export.notices[0].contains("version 8"));
}

#[test]
fn no_cut_panics() {
    let bytes = sample::report();
    for end in 0..bytes.len() {
        match open(&bytes[..end]) {
            // A cut between two blocks is no damage that anyone could see, elsewhere it is told.
            Ok(export) => assert!(!export.launches.is_empty()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    let packed = zstd::encode_all(bytes.as_slice(), 3).unwrap();
    for end in 0..packed.len() {
        let _ = open(&packed[..end]);
    }
}

proptest! {
    #[test]
    fn no_flipped_bytes_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = sample::report();
        for (index, byte) in flips {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = open(&bytes);
        let _ = session(&bytes);
    }

    #[test]
    fn no_flipped_bytes_in_the_cubin_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = sample::cubin();
        for (index, byte) in flips {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        let table = crate::export::report::lines::LineTable::read(&bytes);
        let _ = table.locate("k", 0x10).count();
    }

    #[test]
    fn no_random_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        let _ = open(&bytes);
        let _ = open(&[b"NVR\0".as_slice(), &bytes].concat());
        let _ = open(&[b"NVR\0\x02\0\0\0\x08\x07".as_slice(), &bytes].concat());
    }
}
