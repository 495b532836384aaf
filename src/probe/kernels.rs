//! The kernels that are run, with their sizes.

use std::collections::BTreeMap;

use crate::plan::{
    Argument, Buffer, Check, DType, Fill, Metric, Place, Plan, PlannedLaunch, Role, Source,
};

/// Runs before the first that counts: clocks rise within the first tenth of a second of work.
pub(crate) const WARM_UP_RUNS: usize = 30;

/// Bytes that a kernel reads to tell the rate of DRAM, at most: the rate has settled by then.
const MOST_READ: u64 = 1 << 32;
/// Threads of a block, of the kernels that fill the device.
const THREADS: u32 = 256;
/// Blocks per SM for which every device has room: 1024 threads.
const BLOCKS: u32 = 4;
/// Blocks per SM that fill the largest SMs: 2048 threads.
const FULL_BLOCKS: u32 = 8;
/// Multiply-adds per turn of the kernel's loop.
const PER_TURN: u32 = 512;
/// Turns: some 10 ms at 128 lanes per cycle and 2 GHz.
const TURNS: u32 = 5000;
/// Cycles for which the clock is compared with the time: some 10 ms.
const SPIN_CYCLES: u64 = 20_000_000;
/// Steps of a chain of loads: enough that the clock's own cost does not show.
const STEPS: u32 = 16_384;

/// The device, as far as its probes are sized by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Multiprocessors.
    pub sm_count: u32,
    /// L2 cache, bytes.
    pub l2_bytes: u64,
    /// Device memory that is free, bytes.
    pub free_bytes: u64,
}

/// A plan with how much work it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Probe {
    /// What is run.
    pub plan: Plan,
    /// Bytes, blocks, operations, steps, or multiply-adds per thread, whatever the probe counts.
    pub work: f64,
    /// The buffer with what the kernel says; the last one.
    pub answer: usize,
}

impl Probe {
    /// Two kernels that only read device memory: a loop of as many threads as the device holds, and a
    /// grid of short-lived blocks. Which is faster depends on the device. Work: bytes.
    #[must_use]
    pub(crate) fn dram_reads(of: Sizes) -> [Self; 2] {
        let threads = u64::from(of.sm_count * FULL_BLOCKS * THREADS);
        let wanted = MOST_READ.min(of.free_bytes / 4);
        let quads = (wanted / 16 / (4 * threads)).max(1) * 4 * threads;
        let looped = Self::new(
            "read_quads",
            &[("from", 16 * quads), ("out", 4)],
            vec![launch(
                "read_quads",
                of.sm_count * FULL_BLOCKS,
                THREADS,
                vec![Argument::Buffer(0), u64_of(quads), u32_of(1), Argument::Buffer(1)],
            )],
            16.0 * quads as f64,
        );
        let per_block = 8 * u64::from(THREADS);
        let blocks = (wanted / 16 / per_block).max(1);
        let bytes = 16 * blocks * per_block;
        let tiled = Self::new(
            "read_tiles",
            &[("from", bytes), ("out", 4)],
            vec![launch(
                "read_tiles",
                blocks as u32,
                THREADS,
                vec![Argument::Buffer(0), Argument::Buffer(1)],
            )],
            bytes as f64,
        );
        [looped, tiled]
    }

    /// All SMs read the same part of L2 again and again. Work: bytes.
    #[must_use]
    pub(crate) fn l2_reads(of: Sizes) -> Self {
        let turn = 4 * u64::from(of.sm_count * BLOCKS * THREADS);
        // An L2 in two halves may hold what is read in both.
        let quads = (of.l2_bytes / 4 / 16 / turn).max(1) * turn;
        let rounds = (1_u64 << 33).div_ceil(16 * quads);
        Self::new(
            "read_quads",
            &[("from", 16 * quads), ("out", 4)],
            vec![launch(
                "read_quads",
                of.sm_count * BLOCKS,
                THREADS,
                vec![
                    Argument::Buffer(0),
                    u64_of(quads),
                    u32_of(rounds as u32),
                    Argument::Buffer(1),
                ],
            )],
            16.0 * (quads * rounds) as f64,
        )
    }

    /// Multiply-adds on all SMs. Work: multiply-adds per thread; answers with the cycles of each block.
    #[must_use]
    pub(crate) fn multiply_adds(of: Sizes) -> Self {
        let blocks = of.sm_count * BLOCKS;
        let arguments = vec![
            u32_of(TURNS),
            Argument::Scalar(DType::F32, 0.5),
            Argument::Scalar(DType::F32, 1.0),
            Argument::Buffer(1),
            Argument::Buffer(0),
        ];
        Self::new(
            "multiply_add",
            &[("out", 4), ("cycles", 8 * u64::from(blocks))],
            vec![launch("multiply_add", blocks, THREADS, arguments)],
            f64::from(PER_TURN) * f64::from(TURNS),
        )
    }

    /// Threads per SM of [`multiply_adds`](Self::multiply_adds).
    pub(crate) const MULTIPLYING_THREADS_PER_SM: u32 = BLOCKS * THREADS;

    /// So many blocks that do nothing. Work: blocks.
    #[must_use]
    pub(crate) fn nothing(blocks: u32, threads: u32) -> Self {
        let launches = vec![launch("nothing", blocks, threads, Vec::new())];
        Self::new("nothing", &[("out", 4)], launches, f64::from(blocks))
    }

    /// One thread that watches the clock. Work: cycles at least; answers with cycles and ns.
    #[must_use]
    pub(crate) fn spin() -> Self {
        let arguments = vec![u64_of(SPIN_CYCLES), Argument::Buffer(0)];
        let launches = vec![launch("spin", 1, 1, arguments)];
        Self::new("spin", &[("out", 16)], launches, SPIN_CYCLES as f64)
    }

    /// One lane of each warp adds to one address so many times. Work: additions.
    #[must_use]
    pub(crate) fn atomics(of: Sizes, is_float: bool, times: u32) -> Self {
        let kernel = if is_float { "add_floats" } else { "add_integers" };
        let blocks = of.sm_count * BLOCKS;
        let arguments = vec![Argument::Buffer(0), u32_of(times)];
        let warps = f64::from(blocks) * f64::from(THREADS / 32);
        let launches = vec![launch(kernel, blocks, THREADS, arguments)];
        Self::new(kernel, &[("word", 4)], launches, warps * f64::from(times))
    }

    /// A chain of loads from L1: 8 KiB, all of which were read before. Work: steps; answers with the
    /// cycles.
    #[must_use]
    pub(crate) fn l1_chain() -> Self {
        Self::chain("chase_l1", 64, 16, 64, STEPS, None)
    }

    /// The same from L2, over 4 MiB.
    #[must_use]
    pub(crate) fn l2_chain() -> Self {
        Self::chain("chase_past_l1", 1 << 15, 16, 1 << 15, STEPS, None)
    }

    /// The same from DRAM: 16 MiB, which few pages map, and each place read once after L2 was
    /// overwritten several times.
    #[must_use]
    pub(crate) fn dram_chain(of: Sizes) -> Self {
        let swept = (8 * of.l2_bytes).min(of.free_bytes / 4);
        Self::chain("chase_past_l1", 1 << 15, 64, 0, STEPS, Some((of, swept)))
    }

    /// The same from shared memory.
    #[must_use]
    pub(crate) fn shared_chain() -> Self {
        let arguments = vec![u32_of(STEPS), Argument::Buffer(0)];
        let launches = vec![launch("chase_shared", 1, 1, arguments)];
        Self::new("chase_shared", &[("out", 16)], launches, f64::from(STEPS))
    }

    /// A circle of `count` places, `stride` words of 8 bytes apart, that one thread follows.
    fn chain(
        kernel: &str,
        count: u32,
        stride: u32,
        warm: u32,
        steps: u32,
        sweep: Option<(Sizes, u64)>,
    ) -> Self {
        let circle = 8 * u64::from(count) * u64::from(stride);
        let mut buffers = vec![("circle", circle)];
        let mut launches = vec![launch(
            "link",
            count.div_ceil(THREADS),
            THREADS,
            vec![Argument::Buffer(0), u32_of(count), u32_of(stride)],
        )];
        if let Some((of, swept)) = sweep {
            let quads = (swept / 16).max(1);
            let arguments = vec![Argument::Buffer(1), u64_of(quads)];
            launches.push(launch("overwrite", of.sm_count * FULL_BLOCKS, THREADS, arguments));
            buffers.push(("swept", 16 * quads));
        }
        buffers.push(("out", 16));
        let arguments = vec![
            Argument::Buffer(0),
            u32_of(warm),
            u32_of(steps),
            Argument::Buffer(buffers.len() - 1),
        ];
        launches.push(launch(kernel, 1, 1, arguments));
        Self::new(kernel, &buffers, launches, f64::from(steps))
    }

    fn new(name: &str, buffers: &[(&str, u64)], launches: Vec<PlannedLaunch>, work: f64) -> Self {
        let buffers: Vec<Buffer> = buffers
            .iter()
            .map(|&(name, bytes)| Buffer {
                name: name.to_owned(),
                dtype: DType::U8,
                shape: vec![bytes],
                role: Role::Scratch,
                fill: Fill::Constant(0.0),
                place: Place::Device,
            })
            .collect();
        let answer = buffers.len() - 1;
        let plan = Plan {
            ladder: "measure".to_owned(),
            step: name.to_owned(),
            title: "a probe of the device".to_owned(),
            size: BTreeMap::new(),
            buffers,
            launches,
            source: Source {
                name: "kernels/measure.cu".to_owned(),
                text: include_str!("../../kernels/measure.cu").to_owned(),
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
        };
        Self { plan, work, answer }
    }
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

fn u64_of(value: u64) -> Argument {
    Argument::Scalar(DType::U64, value as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const H200: Sizes = Sizes { sm_count: 132, l2_bytes: 60 << 20, free_bytes: 139 << 30 };
    const T4: Sizes = Sizes { sm_count: 40, l2_bytes: 4 << 20, free_bytes: 1 << 30 };

    fn number(argument: &Argument) -> u64 {
        let Argument::Scalar(_, value) = argument else { panic!("{argument:?}") };
        *value as u64
    }

    #[test]
    fn kernels_read_all_of_their_buffer_and_no_more() {
        for of in [H200, T4] {
            let [looped, tiled] = Probe::dram_reads(of);
            let again = Probe::l2_reads(of);
            for probe in [&looped, &again] {
                let launch = &probe.plan.launches[0];
                let (quads, rounds) = (number(&launch.arguments[1]), number(&launch.arguments[2]));
                let threads = u64::from(launch.grid[0] * launch.block[0]);
                assert_eq!(quads % (4 * threads), 0);
                assert_eq!(probe.plan.buffers[0].bytes(), 16 * quads);
                assert!((probe.work - 16.0 * (quads * rounds) as f64).abs() < 1.0);
            }
            let launch = &tiled.plan.launches[0];
            let bytes = 16 * 8 * u64::from(launch.grid[0]) * u64::from(launch.block[0]);
            assert_eq!(tiled.plan.buffers[0].bytes(), bytes);
            // What tells the rate of DRAM does not fit L2, what tells L2's does.
            let fits = |probe: &Probe| probe.plan.buffers[0].bytes() <= of.l2_bytes;
            assert!(!fits(&looped) && !fits(&tiled) && fits(&again));
            assert!(looped.plan.buffers[0].bytes() <= of.free_bytes / 4);
        }
        let bytes = Probe::dram_reads(H200)[1].plan.buffers[0].bytes();
        assert_eq!(bytes, 1 << 32);
    }

    #[test]
    fn chains_are_circles_in_buffers_of_their_size() {
        for (probe, bytes) in [
            (Probe::l1_chain(), 8 << 10),
            (Probe::l2_chain(), 4 << 20),
            (Probe::dram_chain(H200), 16 << 20),
        ] {
            let link = &probe.plan.launches[0];
            let (count, stride) = (number(&link.arguments[1]), number(&link.arguments[2]));
            assert!(count.is_power_of_two() && 8 * count * stride == bytes);
            assert_eq!(probe.plan.buffers[0].bytes(), bytes);
            let chase = probe.plan.launches.last().unwrap();
            let (warm, steps) = (number(&chase.arguments[1]), number(&chase.arguments[2]));
            assert!(warm % 16 == 0 && steps % 16 == 0);
            assert_eq!(chase.arguments[3], Argument::Buffer(probe.answer));
            // The rule that the kernel follows meets every place once.
            let mut at = 0;
            let mut met = vec![false; count as usize];
            for _ in 0..count {
                met[at as usize] = true;
                at = (1_664_525 * at + 1_013_904_223) % count;
            }
            assert!(at == 0 && met.iter().all(|&each| each));
        }
        // From DRAM no place comes twice, and what L2 may still hold is overwritten.
        let dram = Probe::dram_chain(H200);
        assert!(dram.work < f64::from(1 << 15));
        assert_eq!(dram.plan.buffers[1].bytes(), 8 * H200.l2_bytes);
    }

    #[test]
    fn every_launch_names_a_kernel_of_the_source() {
        let [a, b] = Probe::dram_reads(T4);
        let probes = [
            a,
            b,
            Probe::l2_reads(T4),
            Probe::multiply_adds(T4),
            Probe::nothing(1, 32),
            Probe::spin(),
            Probe::atomics(T4, true, 16),
            Probe::atomics(T4, false, 16),
            Probe::l1_chain(),
            Probe::dram_chain(T4),
            Probe::shared_chain(),
        ];
        for launch in probes.iter().flat_map(|probe| &probe.plan.launches) {
            let text = &probes[0].plan.source.text;
            let defined = text.contains(&format!("void {}(", launch.kernel))
                || text.contains(&format!("CHASE({},", launch.kernel));
            assert!(defined, "{}", launch.kernel);
        }
        // 160 blocks of 8 warps.
        assert!((Probe::atomics(T4, true, 16).work - 160.0 * 8.0 * 16.0).abs() < 1e-9);
        assert!((Probe::multiply_adds(T4).work - 512.0 * 5000.0).abs() < 1e-9);
    }
}
