//! Surveys for tests.

use super::memory::{Change, Memory, kind};
use super::record::{Argument, Kernel, Place, Process, Shape, Span};

/// A shape of a kernel with this grid.
pub(crate) fn shape(kernel: &str, grid: u32) -> Shape {
    Shape {
        kernel: kernel.to_owned(),
        grid: [grid, 1, 1],
        block: [128, 1, 1],
        registers: 32,
        static_shared: 0,
        dynamic_shared: 0,
        local: 0,
    }
}

/// Words as a launch's parameters, of 8 bytes each.
pub(crate) fn arguments(words: impl IntoIterator<Item = u64>) -> Vec<Argument> {
    let at = |(parameter, word)| Argument { parameter, offset: 8 * parameter, word };
    (0..).zip(words).map(at).collect()
}

/// A process that launches kernels, given as indices of shapes and durations, one after another without
/// gaps.
pub(crate) fn process(shapes: &[Shape], launches: &[(u32, u64)]) -> Process {
    let mut process = Process { shapes: shapes.to_vec(), ..Process::default() };
    let mut start = 1000;
    for (number, &(shape, ns)) in launches.iter().enumerate() {
        let correlation = number as u32 + 1;
        let place = Place { device: 0, context: 1, stream: 7, correlation, graph: 0 };
        let span = Span { start, end: start + ns };
        process.kernels.push(Kernel { span, place, shape });
        start += ns;
    }
    process
}

/// The same, each of 100 ns and given buffers of 256 bytes, by their numbers.
pub(crate) fn given(shapes: &[Shape], launches: &[(u32, &[u64])]) -> Process {
    const POOL: u64 = 0x1_0000_0000;
    let timed: Vec<(u32, u64)> = launches.iter().map(|(shape, _)| (*shape, 100)).collect();
    let mut process = process(shapes, &timed);
    let pool = Change::new(1, POOL, 0x10_0000, 0, 1, kind::DEVICE);
    process.memory = Memory::new(pool.into_iter().collect());
    for (number, (_, buffers)) in (1..).zip(launches) {
        let words = buffers.iter().map(|buffer| POOL + buffer * 0x100);
        process.arguments.insert(number, arguments(words));
    }
    process
}
