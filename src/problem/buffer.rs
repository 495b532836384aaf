//! Arrays in host memory, one per element type.

use crate::plan::DType;

/// An array in host memory. Halves are kept as their bits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HostBuffer {
    /// 32-bit floating point.
    F32(Vec<f32>),
    /// 64-bit floating point.
    F64(Vec<f64>),
    /// 16-bit floating point, as bits.
    F16(Vec<u16>),
    /// 32-bit signed integers.
    I32(Vec<i32>),
    /// 32-bit unsigned integers.
    U32(Vec<u32>),
    /// 64-bit unsigned integers.
    U64(Vec<u64>),
    /// 8-bit unsigned integers.
    U8(Vec<u8>),
}

/// Runs an expression on whichever vector a [`HostBuffer`] holds.
macro_rules! each {
    ($buffer:expr, $values:ident => $result:expr) => {
        match $buffer {
            HostBuffer::F32($values) => $result,
            HostBuffer::F64($values) => $result,
            HostBuffer::F16($values) => $result,
            HostBuffer::I32($values) => $result,
            HostBuffer::U32($values) => $result,
            HostBuffer::U64($values) => $result,
            HostBuffer::U8($values) => $result,
        }
    };
}

impl HostBuffer {
    /// The number of elements.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        each!(self, values => values.len())
    }

    /// The elements as bytes in the host's order, which is the device's.
    #[must_use]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        each!(self, values => bytemuck::cast_slice(values))
    }

    /// An array from bytes; bytes beyond the last whole element are dropped.
    #[must_use]
    pub(crate) fn from_bytes(dtype: DType, bytes: &[u8]) -> Self {
        match dtype {
            DType::F32 => Self::F32(bytemuck::pod_collect_to_vec(whole::<4>(bytes))),
            DType::F64 => Self::F64(bytemuck::pod_collect_to_vec(whole::<8>(bytes))),
            DType::F16 => Self::F16(bytemuck::pod_collect_to_vec(whole::<2>(bytes))),
            DType::I32 => Self::I32(bytemuck::pod_collect_to_vec(whole::<4>(bytes))),
            DType::U32 => Self::U32(bytemuck::pod_collect_to_vec(whole::<4>(bytes))),
            DType::U64 => Self::U64(bytemuck::pod_collect_to_vec(whole::<8>(bytes))),
            DType::U8 => Self::U8(bytes.to_vec()),
        }
    }

    /// An element as f64 (integers above 2^53 are rounded); `None` past the end.
    #[must_use]
    pub(crate) fn get(&self, index: usize) -> Option<f64> {
        match self {
            Self::F32(values) => values.get(index).map(|value| f64::from(*value)),
            Self::F64(values) => values.get(index).copied(),
            Self::F16(values) => values.get(index).map(|bits| super::half::to_f64(*bits)),
            Self::I32(values) => values.get(index).map(|value| f64::from(*value)),
            Self::U32(values) => values.get(index).map(|value| f64::from(*value)),
            Self::U64(values) => values.get(index).map(|value| *value as f64),
            Self::U8(values) => values.get(index).map(|value| f64::from(*value)),
        }
    }
}

/// The bytes of whole elements of N bytes.
fn whole<const N: usize>(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len() / N * N]
}

/// The byte that poisons a type: all ones is a NaN in every floating-point format, 0xAA an unlikely
/// integer. One byte for a whole element lets the device do it with a memset.
#[must_use]
pub(crate) fn poison_byte(dtype: DType) -> u8 {
    if dtype.is_float() { 0xff } else { 0xaa }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left where a kernel writes nothing.
    fn poisoned(dtype: DType) -> f64 {
        let bytes = vec![poison_byte(dtype); dtype.size() as usize];
        HostBuffer::from_bytes(dtype, &bytes).get(0).unwrap()
    }

    #[test]
    fn poison_is_nan_or_unlikely() {
        for dtype in [DType::F32, DType::F64, DType::F16] {
            assert!(poisoned(dtype).is_nan(), "{dtype:?}");
        }
        assert!((poisoned(DType::U8) - 170.0).abs() < 0.5);
        assert!((poisoned(DType::U32) - f64::from(0xaaaa_aaaa_u32)).abs() < 0.5);
        assert!(poisoned(DType::I32) < 0.0);
    }

    #[test]
    fn bytes_there_and_back() {
        let buffer = HostBuffer::F32(vec![1.0, -2.5]);
        assert_eq!(buffer.as_bytes().len(), 8);
        assert_eq!(HostBuffer::from_bytes(DType::F32, buffer.as_bytes()), buffer);
        assert_eq!(
            HostBuffer::from_bytes(DType::U64, &[1, 0, 0, 0, 0, 0, 0, 0, 9]).get(0),
            Some(1.0)
        );
    }

    #[test]
    fn knows_its_length() {
        let buffer = HostBuffer::U64(vec![0; 3]);
        assert_eq!((buffer.len(), buffer.get(2), buffer.get(3)), (3, Some(0.0), None));
    }
}
