//! Kernels that do a part of their work twice, by which the gate itself is measured, and the one that reads clocks.

use std::collections::BTreeMap;

use crate::launch::MOST_READINGS;
use crate::plan::{
    Argument, Buffer, Check, DType, Fill, Metric, Place, Plan, PlannedLaunch, Role, Source,
};

/// Threads of a block.
const THREADS: u32 = 256;
/// Quads that a block of `scale_tiles` scales.
const QUADS: u64 = 1024;
/// Blocks of it that are no copies: 256 MiB read and as many written.
const TILES: u32 = 1 << 14;
/// Words of the table that is gathered from: 4 MiB, which any L2 of today holds.
const WORDS: u64 = 1 << 20;

/// A kernel whose work can be made more by a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Planted {
    /// Bound by device memory, 0.13 ms on an H200.
    Memory,
    /// Bound by the FMA pipes, 0.2 ms.
    Arithmetic,
    /// Bound by L2 and its latency, 0.2 ms.
    Gather,
    /// Arithmetic of a few microseconds on a grid of less than a wave.
    Short,
}

impl Planted {
    /// All of them.
    pub(crate) const ALL: [Self; 4] = [Self::Memory, Self::Arithmetic, Self::Gather, Self::Short];

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Arithmetic => "arithmetic",
            Self::Gather => "gather",
            Self::Short => "short",
        }
    }

    /// The kernel with this share of its work done twice.
    pub(crate) fn plan(self, extra: f64, sms: u32) -> Plan {
        let more = |work: u32| u32_of((f64::from(work) * (1.0 + extra)).round() as u32);
        let out = ("out", 4);
        match self {
            Self::Memory => {
                let bytes = 16 * QUADS * u64::from(TILES);
                let blocks = (f64::from(TILES) * (1.0 + extra)).round() as u32;
                let arguments = vec![Argument::Buffer(0), Argument::Buffer(1), u32_of(TILES)];
                plan(
                    &[("from", bytes), ("to", bytes)],
                    launch("scale_tiles", blocks, THREADS, arguments),
                )
            }
            Self::Arithmetic => plan(&[out], turns(8 * sms, more(400))),
            Self::Gather => {
                let mask = u32_of(WORDS as u32 - 1);
                let arguments = vec![Argument::Buffer(0), mask, more(200), Argument::Buffer(1)];
                plan(&[("table", 4 * WORDS), out], launch("gather_steps", 16 * sms, 64, arguments))
            }
            Self::Short => plan(&[out], turns(sms, more(100))),
        }
    }
}

/// The kernel that reads the clock: its one buffer holds cycles and nanoseconds of each reading.
pub(crate) fn clock_reader() -> Plan {
    let arguments = vec![u32_of(0), u32_of(0), Argument::Buffer(0)];
    plan(&[("readings", 16 * u64::from(MOST_READINGS))], launch("read_clock", 1, 1, arguments))
}

fn turns(blocks: u32, turns: Argument) -> PlannedLaunch {
    let (factor, addend) = (Argument::Scalar(DType::F32, 0.5), Argument::Scalar(DType::F32, 1.0));
    launch("multiply_add_turns", blocks, THREADS, vec![turns, factor, addend, Argument::Buffer(0)])
}

fn launch(kernel: &str, blocks: u32, threads: u32, arguments: Vec<Argument>) -> PlannedLaunch {
    PlannedLaunch {
        kernel: kernel.to_owned(),
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        shared_bytes: 0,
        arguments,
    }
}

fn u32_of(value: u32) -> Argument {
    Argument::Scalar(DType::U32, f64::from(value))
}

fn plan(buffers: &[(&str, u64)], launch: PlannedLaunch) -> Plan {
    let buffers = buffers.iter().map(|&(name, bytes)| Buffer {
        name: name.to_owned(),
        dtype: DType::U8,
        shape: vec![bytes],
        role: Role::Scratch,
        fill: Fill::Constant(0.0),
        place: Place::Device,
    });
    Plan {
        ladder: "gate".to_owned(),
        step: launch.kernel.clone(),
        title: "a kernel of the gate's own".to_owned(),
        size: BTreeMap::new(),
        buffers: buffers.collect(),
        launches: vec![launch],
        source: Source {
            name: "kernels/gate.cu".to_owned(),
            text: include_str!("../../kernels/gate.cu").to_owned(),
            path: None,
        },
        flags: Vec::new(),
        carveout_percent: None,
        captured: None,
        check: Check::Reference,
        library: None,
        bytes: 0,
        flops: 0,
        metric: Metric { unit: "GB/s".to_owned(), work: 0.0 },
        notices: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(argument: &Argument) -> f64 {
        let Argument::Scalar(_, value) = argument else { panic!("{argument:?}") };
        *value
    }

    #[test]
    fn work_grows_by_the_share_that_is_planted() {
        for (planted, work) in [
            (Planted::Arithmetic, [400.0, 408.0, 420.0, 440.0]),
            (Planted::Gather, [200.0, 204.0, 210.0, 220.0]),
            (Planted::Short, [100.0, 102.0, 105.0, 110.0]),
        ] {
            let at = if planted == Planted::Gather { 2 } else { 0 };
            let of = |extra| number(&planted.plan(extra, 132).launches[0].arguments[at]);
            for (extra, expected) in [0.0, 0.02, 0.05, 0.1].into_iter().zip(work) {
                assert!((of(extra) - expected).abs() < 1e-9, "{planted:?} {extra}: {}", of(extra));
            }
        }
        let blocks = |extra| Planted::Memory.plan(extra, 132).launches[0].grid[0];
        // 2% of 16,384 are 327.68.
        assert_eq!([blocks(0.0), blocks(0.02)], [16_384, 16_712]);
    }

    #[test]
    fn no_kernel_leaves_its_buffers() {
        let memory = Planted::Memory.plan(0.1, 132);
        // Blocks beyond the tiles wrap around.
        let quads = number(&memory.launches[0].arguments[2]) as u64 * QUADS;
        assert!(memory.buffers.iter().all(|buffer| buffer.bytes() == 16 * quads));
        let gather = Planted::Gather.plan(0.1, 132);
        assert_eq!(
            gather.buffers[0].bytes(),
            4 * (number(&gather.launches[0].arguments[1]) as u64 + 1)
        );
        assert_eq!(clock_reader().buffers[0].bytes(), 2 * 8 * u64::from(MOST_READINGS));
    }
}
