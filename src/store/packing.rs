//! How pages are packed: with zstd, those of the shipped recordings with a dictionary for each kind.
//!
//! Hundreds of small pages repeat the same metric names and rule texts. A page packed with a
//! dictionary leaves out what the dictionary holds: of the fault bench's raw pages a fifth of the size is
//! left, of its details pages a tenth. `scripts/slim-recordings` packs them; by hand, `zstd -D
//! profiles/raw.dictionary`.

use std::io::Read;

use zstd::stream::read::Decoder;
use zstd::zstd_safe::get_dict_id_from_frame;

use super::embedded::dictionaries;

/// The largest page that is read, bytes: that of a kernel of 100,000 instructions has some 60 MB, that of
/// 100,000 launches with all metrics 900 MB.
pub(super) const LARGEST: u64 = 4 << 30;
/// Pages shrink ten- to fiftyfold; what grows far beyond that is no page but a bomb.
const LARGEST_EXPANSION: u64 = 500;
/// Small pages may grow to this whatever their ratio, bytes.
const ALWAYS_ALLOWED: u64 = 16 << 20;

/// A page as it was before it was packed.
///
/// # Errors
/// Where it is damaged, was packed with a dictionary that is not shipped, or is larger than pages are.
pub(crate) fn unpack(packed: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let dictionary = match get_dict_id_from_frame(packed) {
        Some(wanted) => dictionaries()
            .find(|dictionary| id(dictionary) == Some(wanted.get()))
            .ok_or_else(|| std::io::Error::other("it was packed with an unknown dictionary"))?,
        None => &[],
    };
    let most = (packed.len() as u64).saturating_mul(LARGEST_EXPANSION);
    let most = most.clamp(ALWAYS_ALLOWED, LARGEST);
    Decoder::with_dictionary(packed, dictionary)?.take(most + 1).read_to_end(&mut page)?;
    if page.len() as u64 > most {
        return Err(std::io::Error::other(format!(
            "it grows beyond {} MiB, which no page of this size does; collect the profile again",
            most >> 20
        )));
    }
    Ok(page)
}

/// A dictionary's number: four bytes after four of a magic number (RFC 8878, section 5).
fn id(dictionary: &[u8]) -> Option<u32> {
    dictionary.get(4..8)?.try_into().ok().map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_packed_with_a_shipped_dictionary_is_unpacked_with_the_same() {
        let page = "\"ID\",\"Kernel Name\"\n\"0\",\"saxpy\"\n";
        let mut tried = 0;
        for dictionary in dictionaries() {
            let mut writer = zstd::bulk::Compressor::with_dictionary(19, dictionary).unwrap();
            let packed = writer.compress(page.as_bytes()).unwrap();
            assert_eq!(get_dict_id_from_frame(&packed).map(std::num::NonZero::get), id(dictionary));
            assert_eq!(unpack(&packed).unwrap(), page.as_bytes());
            tried += 1;
        }
        assert_eq!(tried, 5, "for each page of the fault bench, and two for the other ladders");
    }

    #[test]
    fn a_plain_page_needs_no_dictionary_and_an_unknown_one_is_named() {
        let plain = zstd::encode_all(&b"a page"[..], 3).unwrap();
        assert_eq!(unpack(&plain).unwrap(), b"a page");
        let shipped = dictionaries().next().unwrap();
        let mut foreign = shipped.to_vec();
        foreign[4..8].copy_from_slice(&0x1234_5678_u32.to_le_bytes());
        let mut writer = zstd::bulk::Compressor::with_dictionary(19, &foreign).unwrap();
        let error = unpack(&writer.compress(b"a page").unwrap()).unwrap_err();
        assert!(error.to_string().contains("unknown dictionary"), "{error}");
    }
}
