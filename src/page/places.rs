//! Names of source lines on the page: what links to a line and what it is linked by.

use std::collections::BTreeMap;

use crate::export::csv::source::is_toolkit;
use crate::frame::Launch;

/// Files shown, those with most samples.
const MOST_FILES: usize = 6;

/// The source files of a launch in the order in which they stand, its own before CUDA's.
pub(super) struct Places {
    files: Vec<String>,
}

impl Places {
    /// The files of a launch, those with most samples first.
    pub(super) fn of(launch: &Launch) -> Self {
        let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
        for row in &launch.lines {
            if let Some(file) = row.file.as_deref() {
                *weights.entry(file).or_default() += row.counters.samples.max(0.0);
            }
        }
        let mut files: Vec<(&str, f64)> = weights.into_iter().collect();
        files.sort_by(|a, b| is_toolkit(a.0).cmp(&is_toolkit(b.0)).then(b.1.total_cmp(&a.1)));
        Self {
            files: files.into_iter().take(MOST_FILES).map(|(file, _)| file.to_owned()).collect(),
        }
    }

    /// The files in their order.
    pub(super) fn files(&self) -> &[String] {
        &self.files
    }

    /// A line's name, `0.21`: the file's place and the number; `None` for a file that is not shown.
    pub(super) fn name(&self, file: &str, line: u32) -> Option<String> {
        let at = self.files.iter().position(|known| known == file)?;
        Some(format!("{at}.{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{SourceCounters, SourceRow};

    #[test]
    fn files_stand_by_their_samples_and_cudas_own_last() {
        let row = |file: &str, samples| SourceRow {
            file: Some(file.into()),
            line: Some(7),
            counters: SourceCounters { samples, ..SourceCounters::default() },
            ..SourceRow::default()
        };
        let mut launch = Launch::default();
        let header = "/tmp/__nv_nvrtc_builtin_header.h";
        launch.lines = vec![row("a.cu", 1.0), row(header, 9.0), row("b.cu", 2.0)];
        let places = Places::of(&launch);
        assert_eq!(places.files(), ["b.cu", "a.cu", header]);
        assert_eq!(places.name("a.cu", 7).as_deref(), Some("1.7"));
        assert_eq!(places.name("c.cu", 7), None);
    }
}
