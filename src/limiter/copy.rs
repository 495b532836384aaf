//! A plain copy as a plan: what memory gives at a kernel's occupancy.

use std::collections::BTreeMap;

use crate::plan::{
    Argument, Buffer, Check, DType, Fill, Metric, Place, Plan, PlannedLaunch, Role, Source,
};

/// A copy of nearly so many bytes, 4 or 16 of them a thread, in blocks of `threads` threads.
#[must_use]
pub(crate) fn copy_plan(bytes_per_thread: u32, threads: u32, bytes: u64) -> Plan {
    let threads = threads.clamp(1, 1024);
    let (kernel, each) =
        if bytes_per_thread == 16 { ("copy_quads", 16) } else { ("copy_words", 4) };
    // As many as the kernel's 32-bit index and a grid's x extent can count.
    let elements = (bytes / each).clamp(1, 1 << 30);
    let moved = elements * each;
    let buffer = |name: &str, role| Buffer {
        name: name.to_owned(),
        dtype: DType::F32,
        shape: vec![moved / 4],
        role,
        fill: Fill::Constant(0.0),
        place: Place::Device,
    };
    Plan {
        ladder: "copy".to_owned(),
        step: kernel.to_owned(),
        title: "a plain copy".to_owned(),
        size: BTreeMap::from([("N".to_owned(), elements)]),
        buffers: vec![buffer("from", Role::Scratch), buffer("to", Role::Output)],
        launches: vec![PlannedLaunch {
            kernel: kernel.to_owned(),
            grid: [elements.div_ceil(u64::from(threads)) as u32, 1, 1],
            block: [threads, 1, 1],
            shared_bytes: 0,
            arguments: vec![
                Argument::Buffer(0),
                Argument::Buffer(1),
                Argument::Scalar(DType::U32, elements as f64),
            ],
        }],
        source: Source {
            name: "kernels/copy.cu".to_owned(),
            text: include_str!("../../kernels/copy.cu").to_owned(),
            path: None,
        },
        flags: Vec::new(),
        carveout_percent: None,
        captured: None,
        check: Check::Reference,
        library: None,
        bytes: 2 * moved,
        flops: 0,
        metric: Metric { unit: "GB/s".to_owned(), work: 2.0 * moved as f64 },
        notices: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_covers_its_bytes() {
        for (each, bytes, elements, kernel) in
            [(4, 4096, 1024, "copy_words"), (16, 4100, 256, "copy_quads")]
        {
            let plan = copy_plan(each, 96, bytes);
            let launch = &plan.launches[0];
            assert_eq!((launch.kernel.as_str(), launch.block[0]), (kernel, 96));
            assert_eq!(launch.grid[0], u32::div_ceil(elements, 96));
            assert_eq!(launch.arguments[2], Argument::Scalar(DType::U32, f64::from(elements)));
            // Read once, written once.
            assert_eq!((plan.bytes, plan.buffers[0].bytes()), (8192, 4096));
            assert!(plan.source.text.contains(kernel));
        }
    }
}
