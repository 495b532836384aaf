//! What a process's streams do, in the order in which they do it.

use super::record::{Kernel, Place, Process};

/// A device's stream: the numbers of the device, of its context, and of the stream.
pub(super) type Stream = (u32, u32, u32);

/// One piece of work: its stream, when it began, and the kernel with its place among the process's; `None` for a copy or a fill.
pub(super) type Work<'a> = (Stream, u64, Option<(u32, &'a Kernel)>);

/// All that the streams do, one stream after the other, each in its order.
pub(super) fn in_order(process: &Process) -> Vec<Work<'_>> {
    let stream = |place: &Place| (place.device, place.context, place.stream);
    let kernels = process
        .kernels
        .iter()
        .zip(0..)
        .map(|(kernel, at)| (stream(&kernel.place), kernel.span.start, Some((at, kernel))));
    let copies = process.copies.iter().map(|copy| (stream(&copy.place), copy.span.start, None));
    let fills = process.fills.iter().map(|fill| (stream(&fill.place), fill.span.start, None));
    let mut order: Vec<Work> = kernels.chain(copies).chain(fills).collect();
    order.sort_by_key(|(stream, start, _)| (*stream, *start));
    order
}
