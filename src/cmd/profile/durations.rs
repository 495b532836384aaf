//! The durations of a program's kernels where CUPTI can't be had: a run of ncu with that one metric.

use std::collections::HashMap;
use std::path::Path;

use crate::collect;
use crate::error::{Error, Result};
use crate::frame::{Frames, Launch};
use crate::ncu::arguments::take_values;
use crate::ncu::{CollectRequest, Ncu, Selection, TimeLimit};
use crate::progress::Progress;
use crate::survey::record::{Kernel, Place, Process, Shape, Span};

/// Launches at most: each costs ncu some ms, also with one metric.
pub(super) const MOST_LAUNCHES: u64 = 2000;

/// The program's kernels as one process, one after another.
///
/// # Errors
/// Those of [`collect::collect`], and where its pages can't be read.
pub(super) fn process(
    ncu: &Ncu,
    request: &CollectRequest,
    timeout: TimeLimit,
    name: &str,
    progress: &Progress,
) -> Result<Process> {
    let folder = tempfile::tempdir()
        .map_err(|error| Error::io(std::env::temp_dir(), "make a folder in", &error))?;
    let ncu_args = ["--metrics", "--section", "--set"]
        .iter()
        .fold(request.ncu_args.clone(), |words, option| take_values(&words, option).1);
    let request = CollectRequest {
        selection: Selection::Explicit { sections: Vec::new(), metrics: Vec::new() },
        report: folder.path().join("durations"),
        section_folder: None,
        import_source: false,
        launch_count: Some(MOST_LAUNCHES),
        ncu_args,
        ..request.clone()
    };
    let collected = collect::collect(ncu, &request, timeout, name, progress)?;
    let frames = Frames::new(collected.pages.export(Path::new(""))?)?;
    Ok(in_a_row(&Launch::all(&frames)?))
}

fn in_a_row(launches: &[Launch]) -> Process {
    let mut process = Process::default();
    let mut shapes: HashMap<Shape, u32> = HashMap::new();
    let mut start = 0;
    for (launch, correlation) in launches.iter().zip(1..) {
        let shape = Shape {
            kernel: launch.row.kernel.clone(),
            grid: launch.row.grid,
            block: launch.row.block,
            registers: 0,
            static_shared: 0,
            dynamic_shared: 0,
            local: 0,
        };
        let next = shapes.len() as u32;
        let shape = *shapes.entry(shape).or_insert(next);
        let span = Span { start, end: start + launch.duration_ns().unwrap_or(0.0) as u64 };
        start = span.end;
        let place = Place { device: 0, context: 0, stream: 0, correlation, graph: 0 };
        process.kernels.push(Kernel { span, place, shape });
    }
    let mut shapes: Vec<(Shape, u32)> = shapes.into_iter().collect();
    shapes.sort_by_key(|(_, number)| *number);
    process.shapes = shapes.into_iter().map(|(shape, _)| shape).collect();
    process
}
