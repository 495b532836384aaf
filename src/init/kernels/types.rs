//! The manifest's type of a C++ type.

use std::collections::BTreeSet;

use crate::plan::DType;

/// The type of a number.
pub(super) fn dtype(kind: &str) -> Option<DType> {
    let words: BTreeSet<&str> = kind.split_whitespace().collect();
    let name = kind.rsplit("::").next().unwrap_or(kind);
    Some(match name {
        "float" => DType::F32,
        "double" => DType::F64,
        "half" | "__half" => DType::F16,
        "int" | "signed" | "signed int" | "int32_t" => DType::I32,
        "unsigned" | "unsigned int" | "uint" | "uint32_t" => DType::U32,
        "size_t" | "uint64_t" | "int64_t" | "ptrdiff_t" => DType::U64,
        "char" | "unsigned char" | "uchar" | "uint8_t" | "bool" | "std::byte" => DType::U8,
        // 8 bytes on every system that has CUDA's tools and Linux.
        _ if words.contains("long") && !words.contains("double") => DType::U64,
        _ => return None,
    })
}

/// The number and type of a built-in vector's elements.
pub(super) fn vector(kind: &str) -> Option<(DType, u64)> {
    let (name, width) = kind.split_at_checked(kind.len().checked_sub(1)?)?;
    let width = width.parse().ok().filter(|width| (2..=4).contains(width))?;
    let dtype = match name {
        "float" => DType::F32,
        "double" => DType::F64,
        "int" => DType::I32,
        "uint" => DType::U32,
        "uchar" => DType::U8,
        "ulonglong" => DType::U64,
        _ => return None,
    };
    Some((dtype, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_that_a_manifest_has() {
        for (kind, known) in [
            ("std::uint32_t", Some(DType::U32)),
            ("unsigned long long", Some(DType::U64)),
            ("long double", None),
            ("Params", None),
            ("__half", Some(DType::F16)),
        ] {
            assert_eq!(dtype(kind), known, "{kind}");
        }
        assert_eq!(vector("float4"), Some((DType::F32, 4)));
        assert_eq!((vector("float1"), vector("x4"), vector("")), (None, None, None));
    }
}
