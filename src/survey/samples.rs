//! Surveys for tests.

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
