//! A step at one problem size: everything evaluated, ready to build and launch.

mod program;

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::captured::Replay;

pub(crate) use program::{AnswerCheck, CommandLine, ProgramPlan, TimeSource, TimeUnit};

/// How the notice about a reference goes on behind the step's name. Recordings keep notices, so it stays as it is.
pub(crate) const IS_REFERENCE: &str = "is the reference of the ladder:";

/// A step of a ladder for one problem size.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The ladder's name.
    pub ladder: String,
    /// The step's name.
    pub step: String,
    /// The step in one line.
    pub title: String,
    /// The problem's parameters, the step's own defaults and the user's `--size` applied.
    pub size: BTreeMap<String, u64>,
    /// The memory that the kernels work on.
    pub buffers: Vec<Buffer>,
    /// Kernel launches, in order.
    pub launches: Vec<PlannedLaunch>,
    /// The CUDA source.
    pub source: Source,
    /// Compiler flags beyond the ones that every step gets.
    pub flags: Vec<String>,
    /// The share of an SM's L1 memory to ask for as shared memory, percent; the driver's choice without.
    pub carveout_percent: Option<u32>,
    /// The launch of somebody's program that the plan replays; its memory is the buffers, in their order.
    pub(crate) captured: Option<Replay>,
    /// How the answer is checked.
    pub check: Check,
    /// The library routine that is timed beside the step, by its name.
    pub library: Option<String>,
    /// Bytes that the problem needs to move, each input and output once.
    pub bytes: u64,
    /// Floating-point operations that the problem needs.
    pub flops: u64,
    /// The ladder's figure of merit.
    pub metric: Metric,
    /// Things the user should know about this plan, each one sentence (a smaller default size, say).
    pub notices: Vec<String>,
}

/// A CUDA source file.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The ladder-relative name that findings show: `kernels/ado/v2.cu` or `mine/step.cu`.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Where it lies on disk; `None` for a built-in kernel.
    pub path: Option<PathBuf>,
}

/// Element types that a manifest can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// 32-bit floating point.
    F32,
    /// 64-bit floating point.
    F64,
    /// 16-bit floating point (IEEE half).
    F16,
    /// 32-bit signed integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
    /// 8-bit unsigned integer.
    U8,
}

impl DType {
    /// Bytes per element.
    #[must_use]
    pub fn size(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::F16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::U64 => 8,
        }
    }

    /// The name in a manifest.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::F16 => "f16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::U8 => "u8",
        }
    }

    /// True for the types whose values have a fraction.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64 | Self::F16)
    }

    /// The smallest and the largest value; for integers as far as an f64 holds every integer
    /// (2^53).
    #[must_use]
    pub fn range(self) -> (f64, f64) {
        match self {
            Self::F32 => (f64::from(f32::MIN), f64::from(f32::MAX)),
            Self::F64 => (f64::MIN, f64::MAX),
            Self::F16 => (-65504.0, 65504.0),
            Self::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
            Self::U32 => (0.0, f64::from(u32::MAX)),
            Self::U64 => (0.0, 9_007_199_254_740_992.0),
            Self::U8 => (0.0, f64::from(u8::MAX)),
        }
    }
}

/// What a buffer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Filled before the first launch and copied to the device.
    Input,
    /// Poisoned before each run, checked after it.
    Output,
    /// Uninitialised memory between launches of a step; poisoned before each checked run.
    Scratch,
    /// Memory that the kernels find as the run before left it (a work counter that is put back to
    /// zero): filled before the first run and before each checked one, never poisoned.
    State,
}

impl Role {
    /// The name in a manifest.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Scratch => "scratch",
            Self::State => "state",
        }
    }
}

/// How an input is filled. All fills are deterministic: element i of buffer b depends on the seed,
/// on b's name and on i alone, so threads and sizes don't change it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Fill {
    /// One of these values, chosen uniformly.
    Choice(Vec<f64>),
    /// Uniform in [low, high).
    Uniform {
        /// Lower end, included.
        low: f64,
        /// Upper end, excluded.
        high: f64,
    },
    /// The same value everywhere.
    Constant(f64),
    /// A compressed copy of another input: each of its values converted to this buffer's type. For
    /// an integer type the value becomes a code, 0 for `low` and the type's largest for `high`.
    Encode {
        /// The input that is compressed.
        of: String,
        /// What code 0 stands for; integer types only.
        low: Option<f64>,
        /// What the largest code stands for; integer types only.
        high: Option<f64>,
    },
    /// The element's index, modulo the number of integers from 0 that the type holds without gaps
    /// (256 for u8, 2048 for f16, 2^24 for f32, …).
    Index,
}

/// What a variant of a step leaves out, so that its time tells what the rest costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VariantKind {
    /// All of the step's accesses to global memory and as little else as possible.
    MemoryOnly,
    /// Its stores alone.
    StoreOnly,
    /// Everything but the accesses to global memory.
    ArithmeticOnly,
    /// The step without one thing, whether its answer is right or not.
    WhatIf,
}

impl VariantKind {
    /// The name in a manifest.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::MemoryOnly => "memory-only",
            Self::StoreOnly => "store-only",
            Self::ArithmeticOnly => "arithmetic-only",
            Self::WhatIf => "what-if",
        }
    }
}

/// Memory that the kernels work on.
#[derive(Debug, Clone, PartialEq)]
pub struct Buffer {
    /// Its name in the manifest.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Extent of each dimension, slowest first.
    pub shape: Vec<u64>,
    /// What it is for.
    pub role: Role,
    /// How it is filled; [`Fill::Constant`] 0 for outputs and scratch.
    pub fill: Fill,
    /// Where it lies.
    pub place: Place,
}

/// Whose memory a buffer lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The device's own.
    Device,
    /// The host's, pinned, which the device reads over the bus.
    Host,
    /// Another device's that this one can reach.
    Peer,
}

impl Buffer {
    /// Number of elements.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.elements() * self.dtype.size()
    }
}

/// One kernel launch.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedLaunch {
    /// The kernel's name in the source (`extern "C"`).
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory per block, bytes.
    pub shared_bytes: u32,
    /// The kernel's arguments in order.
    pub arguments: Vec<Argument>,
}

/// One kernel argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// A pointer to the start of a buffer: index into [`Plan::buffers`].
    Buffer(usize),
    /// A texture object over a buffer.
    Texture(Texture),
    /// A scalar of a type, its value exactly representable there.
    Scalar(DType, f64),
}

impl Argument {
    /// The buffer that the kernel reaches through it: index into [`Plan::buffers`].
    #[must_use]
    pub fn buffer(&self) -> Option<usize> {
        match self {
            Self::Buffer(buffer) | Self::Texture(Texture { buffer, .. }) => Some(*buffer),
            Self::Scalar(..) => None,
        }
    }

    /// The same for the argument to be moved to another list of buffers.
    pub fn buffer_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Buffer(buffer) | Self::Texture(Texture { buffer, .. }) => Some(buffer),
            Self::Scalar(..) => None,
        }
    }
}

/// A buffer seen through the texture units: one dimension, elements as they are, no filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Texture {
    /// Index into [`Plan::buffers`].
    pub buffer: usize,
    /// Numbers per element: 1, 2 or 4.
    pub channels: u32,
}

/// How the answer is checked.
#[derive(Debug, Clone, PartialEq)]
pub enum Check {
    /// Against a CPU reference that the program carries, by its name.
    Builtin(String),
    /// Against the output of another step of the ladder, run on the device first.
    Step {
        /// The step's plan.
        plan: Box<Plan>,
        /// Largest allowed |got − expected| / max(|expected|, tiny); 0 demands equality.
        relative: f64,
    },
    /// Not at all: this step is the one that the ladder's others are compared with.
    Reference,
}

/// The ladder's figure of merit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metric {
    /// The unit: `GB/s`, `GFLOP/s`, `Gelements/s`.
    pub unit: String,
    /// Units of work a run: rate = work / seconds / 1e9.
    pub work: f64,
}
