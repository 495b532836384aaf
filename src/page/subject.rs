//! A profile as a page shows it: its document with the launches behind it.

use std::collections::BTreeMap;

use super::metrics::{self, Metrics};
use crate::document::{Document, LaunchReport};
use crate::error::Result;
use crate::frame::Launch;
use crate::profile::Profile;

/// A profile to show.
pub(crate) struct Subject {
    /// As the user named it.
    pub name: String,
    /// Its diagnosis.
    pub document: Document,
    /// What stands behind each of the document's launches; `None` where that was not found.
    pub(super) launches: Vec<Option<Launch>>,
    /// The metrics of each launch by its number.
    metrics: BTreeMap<u32, Metrics>,
    /// Texts of source files by the names that the profile has for them.
    pub(super) sources: BTreeMap<String, String>,
}

impl Subject {
    /// A profile with its diagnosis and the source files that are at hand.
    ///
    /// # Errors
    /// [`Error::Frames`](crate::error::Error::Frames) where a frame of the profile lacks its columns.
    pub(crate) fn new(
        profile: &Profile,
        document: Document,
        sources: BTreeMap<String, String>,
    ) -> Result<Self> {
        let mut all: Vec<Option<Launch>> =
            Launch::all(&profile.frames)?.into_iter().map(Some).collect();
        let launches = document.launches.iter().map(|report| take(&mut all, report)).collect();
        let metrics = metrics::by_launch(&profile.frames)?;
        Ok(Self { name: profile.name.clone(), document, launches, metrics, sources })
    }

    /// The metrics of a launch.
    pub(super) fn metrics(&self, launch: &Launch) -> Option<&Metrics> {
        self.metrics.get(&launch.row.id)
    }

    /// The index of the launch that matters most: the verdict's, else the one with most time.
    pub(super) fn main(&self) -> Option<usize> {
        let longest = || {
            let shares = self.document.launches.iter().map(|launch| launch.time_share);
            shares.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
        };
        self.document.verdict.as_ref().and_then(|verdict| verdict.launch).or_else(longest)
    }

    /// A short name: the step's, else the profile's.
    pub(super) fn short(&self) -> &str {
        self.document.step.as_ref().map_or(&self.name, |step| &step.name)
    }
}

/// Takes out the launch that a report is of: a document orders launches by their time, and has one for each group of
/// a program.
fn take(all: &mut [Option<Launch>], report: &LaunchReport) -> Option<Launch> {
    let is_it = |launch: &Launch| {
        launch.row.kernel == report.kernel
            && launch.row.grid == report.grid
            && launch.row.block == report.block
            && launch.duration_ns() == report.duration_ns
    };
    all.iter_mut().find(|launch| launch.as_ref().is_some_and(is_it)).and_then(Option::take)
}

/// The main launch of each profile with the profile's short name.
pub(super) fn walk(subjects: &[Subject]) -> Vec<(&str, &Launch)> {
    subjects
        .iter()
        .filter_map(|subject| {
            let at = subject.main()?;
            Some((subject.short(), subject.launches.get(at)?.as_ref()?))
        })
        .collect()
}

/// All launches of each of the named steps.
pub(super) fn steps<'a>(
    subjects: &'a [Subject],
    names: &[&str],
) -> Vec<(&'a str, Vec<&'a Launch>)> {
    let launches = |subject: &'a Subject| subject.launches.iter().flatten().collect();
    let chosen = subjects.iter().filter(|subject| names.contains(&subject.short()));
    chosen.map(|subject| (subject.short(), launches(subject))).collect()
}
