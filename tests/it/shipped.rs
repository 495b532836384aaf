//! The launches of the recordings that ship, read once a test program, on all cores.

use std::path::Path;
use std::sync::LazyLock;

use adoprof::frame::{Frames, Launch};
use adoprof::store;
use rayon::prelude::*;

/// A recorded launch.
pub(crate) struct Shipped {
    /// The recording's folder and the launch's number in it: `ado/v2 0`.
    pub name: String,
    /// Everything that was collected.
    pub launch: Launch,
}

/// Every recorded launch, by name.
pub(crate) static LAUNCHES: LazyLock<Vec<Shipped>> = LazyLock::new(|| {
    let recordings = store::recordings().unwrap();
    recordings
        .into_par_iter()
        .flat_map_iter(|(folder, meta)| {
            let step = meta.step.unwrap();
            let saved = store::recording(&step.ladder, &step.name, &step.size).unwrap().unwrap();
            let frames = Frames::new(saved.pages.export(Path::new(&folder)).unwrap()).unwrap();
            Launch::all(&frames)
                .unwrap()
                .into_iter()
                .map(move |launch| Shipped { name: format!("{folder} {}", launch.row.id), launch })
        })
        .collect()
});
