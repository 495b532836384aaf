//! Inputs. Element i of a buffer depends on the seed, the buffer's name and i alone, so neither the
//! number of threads nor the size of the problem changes it.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{HostBuffer, half};
use crate::error::{Error, Result};
use crate::plan::{Buffer, DType, Fill, Plan, Role};

/// Filled arrays by the buffer's name.
pub(crate) type Inputs = BTreeMap<String, HostBuffer>;

/// Elements that one task writes: large enough to hide its cost, small enough to share out.
const CHUNK: usize = 1 << 16;

/// Fills everything of a plan that has content before the first launch: inputs and state.
///
/// # Errors
/// [`Error::Environment`] where the host has too little memory.
pub(crate) fn inputs(plan: &Plan, seed: u64) -> Result<Inputs> {
    let with_content =
        || plan.buffers.iter().filter(|buffer| matches!(buffer.role, Role::Input | Role::State));
    let mut inputs = with_content()
        .filter(|buffer| encoded_from(buffer).is_none())
        .map(|buffer| Ok((buffer.name.clone(), fill(buffer, seed)?)))
        .collect::<Result<Inputs>>()?;
    for copy in with_content() {
        let Some(of) = encoded_from(copy) else { continue };
        let source = match inputs.get(of) {
            Some(HostBuffer::F32(values)) => values,
            _ => &Vec::new(),
        };
        let values = encode(copy, source)?;
        inputs.insert(copy.name.clone(), values);
    }
    Ok(inputs)
}

/// The input that a buffer is a compressed copy of.
fn encoded_from(buffer: &Buffer) -> Option<&str> {
    match &buffer.fill {
        Fill::Encode { of, .. } => Some(of),
        _ => None,
    }
}

/// Fills one buffer, with all threads of the current rayon pool. A compressed copy comes from
/// [`encode`] instead.
///
/// # Errors
/// [`Error::Environment`] where the host has too little memory, [`Error::Usage`] for a compressed
/// copy.
pub(crate) fn fill(buffer: &Buffer, seed: u64) -> Result<HostBuffer> {
    make(&Maker { stream: Stream::new(&buffer.name, seed), buffer, source: &[] })
}

/// A compressed copy of an input.
///
/// # Errors
/// [`Error::Environment`] where the host has too little memory, [`Error::Usage`] where the input has
/// another length.
pub(crate) fn encode(copy: &Buffer, source: &[f32]) -> Result<HostBuffer> {
    make(&Maker { stream: Stream::new(&copy.name, 0), buffer: copy, source })
}

fn make(make: &Maker) -> Result<HostBuffer> {
    let buffer = make.buffer;
    Ok(match buffer.dtype {
        DType::F32 => HostBuffer::F32(make.array(|value| value as f32)?),
        DType::F64 => HostBuffer::F64(make.array(|value| value)?),
        DType::F16 => HostBuffer::F16(make.array(half::from_f64)?),
        DType::I32 => HostBuffer::I32(make.array(|value| value as i32)?),
        DType::U32 => HostBuffer::U32(make.array(|value| value as u32)?),
        DType::U64 => HostBuffer::U64(make.array(|value| value as u64)?),
        DType::U8 => HostBuffer::U8(make.array(|value| value as u8)?),
    })
}

/// A random number for every index, from splitmix64 (Steele, Lea, Flood: "Fast splittable
/// pseudorandom number generators", OOPSLA 2014) with the index as its counter.
#[derive(Debug, Clone, Copy)]
struct Stream {
    key: u64,
}

impl Stream {
    fn new(name: &str, seed: u64) -> Self {
        // FNV-1a: any hash that never changes will do.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // Mixed once, or seeds 0 and 1 would give nearly the same numbers in another order.
        Self { key: mix(mix(seed) ^ hash) }
    }

    /// 64 random bits.
    fn bits(self, index: u64) -> u64 {
        mix(self.key.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}

/// splitmix64's finalizer.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

struct Maker<'a> {
    stream: Stream,
    buffer: &'a Buffer,
    /// What a compressed copy is a copy of.
    source: &'a [f32],
}

impl Maker<'_> {
    /// The filled array. Each kind of fill has its own loop, so that none decides per element.
    fn array<T>(&self, convert: impl Fn(f64) -> T + Sync) -> Result<Vec<T>>
    where
        T: Copy + Default + Send + Sync,
    {
        let stream = self.stream;
        match &self.buffer.fill {
            Fill::Constant(value) => {
                let value = convert(*value);
                self.generate(|_| value)
            }
            Fill::Choice(values) => {
                let values: Vec<T> = values.iter().map(|value| convert(*value)).collect();
                match values.as_slice() {
                    [] => self.generate(|_| T::default()),
                    // The highest bit is what the general case below computes for two values.
                    &[first, second] => {
                        self.generate(
                            |index| if stream.bits(index) >> 63 == 0 { first } else { second },
                        )
                    }
                    values => self.generate(|index| {
                        // The high 32 bits as a fraction of 2^32, times the number of values.
                        let place = ((stream.bits(index) >> 32) * values.len() as u64) >> 32;
                        values[place as usize]
                    }),
                }
            }
            Fill::Uniform { low, high } => {
                let (low, high) = (*low, *high);
                // Rounding to a short type could reach `high`, which is excluded.
                let last = largest_below(self.buffer.dtype, high);
                let whole = !self.buffer.dtype.is_float();
                self.generate(move |index| {
                    let fraction = (stream.bits(index) >> 11) as f64 * 2.0_f64.powi(-53);
                    let value = (low + (high - low) * fraction).min(last).max(low);
                    convert(if whole { value.floor() } else { value })
                })
            }
            Fill::Encode { of, low, high } => {
                let source = self.source;
                if source.len() as u64 != self.buffer.elements() {
                    return Err(Error::Usage(format!(
                        "`{}` is a compressed copy of `{of}`, so it must have as many elements; give \
                         both the same `shape`",
                        self.buffer.name
                    )));
                }
                match (low, high) {
                    (Some(low), Some(high)) => {
                        let (low, most) = (*low, self.buffer.dtype.range().1);
                        let steps = most / (high - low);
                        self.generate(|index| {
                            let code = (f64::from(source[index as usize]) - low) * steps;
                            convert(code.round_ties_even().clamp(0.0, most))
                        })
                    }
                    _ => self.generate(|index| convert(f64::from(source[index as usize]))),
                }
            }
            Fill::Index => {
                let count = integers(self.buffer.dtype);
                self.generate(|index| convert((index % count) as f64))
            }
        }
    }

    /// Writes every element once, in parallel. Zeroed memory comes from the operating system
    /// untouched, so the first write to a page is the one here.
    fn generate<T>(&self, element: impl Fn(u64) -> T + Sync) -> Result<Vec<T>>
    where
        T: Copy + Default + Send + Sync,
    {
        let len = self.len::<T>()?;
        let mut values = vec![T::default(); len];
        values.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, values)| {
            let first = (chunk * CHUNK) as u64;
            for (offset, value) in values.iter_mut().enumerate() {
                *value = element(first + offset as u64);
            }
        });
        Ok(values)
    }

    /// The number of elements, if memory for them can be had.
    fn len<T>(&self) -> Result<usize> {
        let elements = usize::try_from(self.buffer.elements()).ok();
        elements.filter(|elements| Vec::<T>::new().try_reserve_exact(*elements).is_ok()).ok_or_else(
            || {
                Error::Environment(format!(
                    "the host has no memory for `{}` ({}); choose a smaller --size",
                    self.buffer.name,
                    crate::text::bytes(self.buffer.bytes() as f64)
                ))
            },
        )
    }
}

/// The largest value of a type below a limit.
fn largest_below(dtype: DType, limit: f64) -> f64 {
    match dtype {
        DType::F64 => limit.next_down(),
        DType::F32 => {
            let near = limit as f32;
            f64::from(if f64::from(near) < limit { near } else { near.next_down() })
        }
        DType::F16 => {
            let near = half::from_f64(limit);
            half::to_f64(if half::to_f64(near) < limit { near } else { half::next_down(near) })
        }
        DType::I32 | DType::U32 | DType::U64 | DType::U8 => limit - 1.0,
    }
}

/// How many integers from 0 on a type holds without a gap.
fn integers(dtype: DType) -> u64 {
    match dtype {
        DType::U8 => 1 << 8,
        DType::F16 => 1 << 11,
        DType::F32 => 1 << 24,
        DType::I32 => 1 << 31,
        DType::U32 => 1 << 32,
        DType::F64 | DType::U64 => 1 << 53,
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
mod tests {
    use super::*;
    use crate::plan::Place;

    fn buffer(dtype: DType, elements: u64, fill: Fill) -> Buffer {
        Buffer {
            name: "input".into(),
            dtype,
            shape: vec![elements],
            role: Role::Input,
            fill,
            place: Place::Device,
        }
    }

    fn values(buffer: &Buffer, seed: u64) -> Vec<f64> {
        let filled = fill(buffer, seed).unwrap();
        (0..filled.len()).map(|index| filled.get(index).unwrap()).collect()
    }

    #[test]
    fn size_and_threads_change_no_element() {
        let fill_of = |elements| buffer(DType::F32, elements, Fill::Choice(vec![1.0, 2.0]));
        let long = values(&fill_of(200_000), 7);
        assert_eq!(values(&fill_of(70_001), 7), long[..70_001]);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(|| values(&fill_of(200_000), 7)), long);
    }

    #[test]
    fn seed_and_name_change_the_numbers() {
        let one = buffer(DType::U64, 100, Fill::Uniform { low: 0.0, high: 1e15 });
        let other = Buffer { name: "matrix".into(), ..one.clone() };
        assert_ne!(values(&one, 0), values(&one, 1));
        assert_ne!(values(&one, 0), values(&other, 0));
        // No element of one seed turns up under the other, as it would if they shared a counter.
        let zero = values(&one, 0);
        assert!(values(&one, 1).iter().all(|value| !zero.contains(value)));
    }

    #[test]
    fn choices_come_about_equally_often() {
        // 3 values, 30000 draws: 10000 each with a standard deviation of 82.
        let drawn = values(&buffer(DType::I32, 30_000, Fill::Choice(vec![-1.0, 0.0, 5.0])), 1);
        for choice in [-1.0, 0.0, 5.0] {
            let count = drawn.iter().filter(|value| **value == choice).count();
            assert!((9_600..10_400).contains(&count), "{choice}: {count}");
        }
        let drawn = values(&buffer(DType::F16, 10_000, Fill::Choice(vec![1.0, 2.0])), 1);
        let ones = drawn.iter().filter(|value| **value == 1.0).count();
        assert!((4_700..5_300).contains(&ones), "{ones}");
    }

    #[test]
    fn uniform_stays_below_its_end() {
        for dtype in [DType::F16, DType::F32, DType::F64] {
            let drawn = values(&buffer(dtype, 50_000, Fill::Uniform { low: -1.0, high: 1.0 }), 3);
            assert!(drawn.iter().all(|value| (-1.0..1.0).contains(value)), "{dtype:?}");
            let mean = drawn.iter().sum::<f64>() / 50_000.0;
            assert!(mean.abs() < 0.02, "{dtype:?}: {mean}");
        }
        let drawn = values(&buffer(DType::U8, 50_000, Fill::Uniform { low: 0.0, high: 256.0 }), 3);
        assert!(drawn.contains(&0.0) && drawn.contains(&255.0));
    }

    #[test]
    fn index_wraps_where_the_type_would_round() {
        let drawn = values(&buffer(DType::U8, 258, Fill::Index), 0);
        assert_eq!(drawn[254..], [254.0, 255.0, 0.0, 1.0]);
        let drawn = values(&buffer(DType::F16, 2050, Fill::Index), 0);
        assert_eq!(drawn[2047..], [2047.0, 0.0, 1.0]);
    }

    #[test]
    fn a_copy_is_rounded_or_coded() {
        let copy = |dtype, low, high| buffer(dtype, 4, Fill::Encode { of: "x".into(), low, high });
        let source = [-1.0, 0.3, 0.996, 1.0];
        let all = |buffer: &HostBuffer| (0..4).map(|i| buffer.get(i).unwrap()).collect::<Vec<_>>();
        // 255 steps of 2/255 from -1: 0.3 is 165.75 of them, 0.996 is 254.49.
        let codes = encode(&copy(DType::U8, Some(-1.0), Some(1.0)), &source).unwrap();
        assert_eq!(all(&codes), [0.0, 166.0, 254.0, 255.0]);
        // Halves from 1/4 to 1/2 are 2^-12 apart: 0.3 is 1228.8 of them. From 1/2 on it is 2^-11, and
        // 0.996 is 2039.8 of those.
        let halves = encode(&copy(DType::F16, None, None), &source).unwrap();
        assert_eq!(all(&halves), [-1.0, 1229.0 / 4096.0, 2040.0 / 2048.0, 1.0]);
        assert!(encode(&copy(DType::F16, None, None), &source[1..]).is_err());
        assert!(fill(&copy(DType::F16, None, None), 1).is_err());
    }

    #[test]
    fn a_size_beyond_memory_is_an_error() {
        let huge = buffer(DType::F64, u64::MAX / 16, Fill::Constant(0.0));
        assert!(matches!(fill(&huge, 0), Err(Error::Environment(_))));
    }
}
