//! The end of what a command printed.

/// So many bytes of what a command printed are kept from the end, and up to twice as many, so that few pieces
/// move all that is kept.
const MOST_OUTPUT: usize = 64 * 1024;

/// Adds a piece to what is kept.
pub(crate) fn keep_end(kept: &mut Vec<u8>, piece: &[u8]) {
    kept.extend_from_slice(piece);
    if kept.len() > 2 * MOST_OUTPUT {
        kept.drain(..kept.len() - MOST_OUTPUT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_more_than_twice_64_kib_the_last_64_kib_are_kept() {
        let mut kept = Vec::new();
        keep_end(&mut kept, &vec![b'a'; 131_071]);
        keep_end(&mut kept, b"b");
        assert_eq!(kept.len(), 131_072);
        keep_end(&mut kept, b"c");
        assert_eq!((kept.len(), &kept[65_533..]), (65_536, &b"abc"[..]));
    }
}
