//! Bytes and addresses as people read them in a file.

/// Bytes in their order, two digits each.
pub(super) mod bytes {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(in crate::captured) fn serialize<S: Serializer>(
        bytes: &[u8],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        use std::fmt::Write;
        let mut text = String::with_capacity(2 * bytes.len());
        for byte in bytes {
            // A string takes everything.
            let _ = write!(text, "{byte:02x}");
        }
        to.serialize_str(&text)
    }

    pub(in crate::captured) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        let pairs = text.as_bytes().chunks(2).map(|pair| {
            let pair = str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
            u8::from_str_radix(pair, 16).ok()
        });
        pairs
            .collect::<Option<_>>()
            .ok_or_else(|| D::Error::custom("expected pairs of hexadecimal digits"))
    }
}

/// An address: `0x7f0010000000`.
pub(super) mod address {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    pub(in crate::captured) fn serialize<S: Serializer>(
        address: &u64,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{address:#x}"))
    }

    pub(in crate::captured) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<u64, D::Error> {
        let text = String::deserialize(from)?;
        let digits =
            text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        digits.ok_or_else(|| D::Error::custom("expected an address such as 0x7f0010000000"))
    }
}
