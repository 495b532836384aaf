//! Kinds of executed instructions that a rule can count by name.

use crate::sass::{Family as F, Space};

/// A kind of instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SassCount {
    /// Its name after `sass.`.
    pub name: &'static str,
    /// What is counted.
    pub title: &'static str,
    /// True for the families that belong to it.
    pub picks: fn(F) -> bool,
}

/// All kinds.
pub(crate) const SASS_COUNTS: [SassCount; 28] = [
    count("total", "all instructions", |_| true),
    count("global_loads", "loads from global memory", |f| is_load(f, Space::Global)),
    count("global_stores", "stores to global memory", |f| is_store(f, Space::Global)),
    count("shared_loads", "loads from shared memory", |f| is_load(f, Space::Shared)),
    count("shared_stores", "stores to shared memory", |f| is_store(f, Space::Shared)),
    count("local_loads", "loads from local memory", |f| is_load(f, Space::Local)),
    count("local_stores", "stores to local memory", |f| is_store(f, Space::Local)),
    count("generic_loads", "loads by generic addresses", |f| is_load(f, Space::Generic)),
    count("generic_stores", "stores by generic addresses", |f| is_store(f, Space::Generic)),
    count("global_atomics", "atomics and reductions in global memory", |f| {
        matches!(
            f,
            F::Atomic(Space::Global | Space::Generic)
                | F::Reduction(Space::Global | Space::Generic)
        )
    }),
    count("shared_atomics", "atomics and reductions in shared memory", |f| {
        matches!(f, F::Atomic(Space::Shared) | F::Reduction(Space::Shared))
    }),
    count("async_copies", "copies from global to shared memory past the registers", |f| {
        f == F::AsyncCopy
    }),
    count("texture", "texture and surface accesses", |f| f == F::Texture),
    count("constant_loads", "loads from constant banks", |f| f == F::Constant),
    count("fp32_fma", "single-precision multiply-adds", |f| f == F::Fp32Fma),
    count("fp32", "single-precision arithmetic of every kind", |f| {
        matches!(f, F::Fp32Fma | F::Fp32Mul | F::Fp32Add | F::Fp32Other)
    }),
    count("fp64", "double-precision arithmetic", |f| f == F::Fp64),
    count("half_packed", "16-bit arithmetic, two values at a time", |f| f == F::HalfPacked),
    count("half_scalar", "16-bit arithmetic, one value at a time", |f| f == F::HalfScalar),
    count("conversions", "conversions between number formats", |f| {
        matches!(f, F::HalfConvert | F::Convert | F::ConvertFp64)
    }),
    count("special_functions", "reciprocals, roots, sines, exponentials, logarithms", |f| {
        f == F::SpecialFunction
    }),
    count("integer", "integer arithmetic, multiplications included", |f| {
        matches!(f, F::Integer | F::IntegerMultiply)
    }),
    count("tensor", "matrix instructions", |f| f == F::Tensor),
    count("shuffles", "exchanges between lanes", |f| f == F::Shuffle),
    count("votes", "votes, matches and reductions over lanes", |f| f == F::Vote),
    count("barriers", "barriers and waits for copies", |f| f == F::Barrier),
    count("fences", "memory fences", |f| f == F::Fence),
    count("control", "branches, calls and returns", |f| f == F::Control),
];

const fn count(name: &'static str, title: &'static str, picks: fn(F) -> bool) -> SassCount {
    SassCount { name, title, picks }
}

fn is_load(family: F, space: Space) -> bool {
    family == F::Load(space)
}

fn is_store(family: F, space: Space) -> bool {
    family == F::Store(space)
}
