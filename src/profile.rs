//! Whatever a user names as a profile, found and read: a step, a saved directory, a report, exports.

#[cfg(test)]
mod both_ways;
mod files;
mod folder;
mod large;
mod next_step;
mod other_run;
mod packed;
pub mod program;
pub mod ranks;
mod recorded_ladders;
mod reference;

use std::path::{Path, PathBuf};

use crate::diagnose::{Remarks, diagnose, settle};
use crate::document::{Document, LaunchReport, SurveyedProgram};
use crate::error::{Error, Result};
use crate::export::csv::Pages;
use crate::export::{Collected, Export};
use crate::frame::{Frames, Launch};
use crate::handed_on::Sequence;
use crate::ladder::Ladder;
use crate::side_by_side::{self, LONG_CODE};
use crate::store::{Meta, Saved};
use crate::timing::StepInfo;

pub use files::{Files, group, in_folder, read_files};
pub use folder::{InFolder, below};
pub use large::diagnose_large;
pub use next_step::find_next_step;
pub use packed::read_packed;
pub use recorded_ladders::{Listing, RecordedLadder, recorded_ladders};
pub use reference::Reference;

/// A profile in memory, wherever it came from.
#[derive(Debug, Clone)]
pub struct Profile {
    /// As the user would name it.
    pub name: String,
    /// Launches, metrics, ncu's rules, source lines and instructions.
    pub frames: Frames,
    /// What the reader noticed that a user should know, each one sentence.
    pub notices: Vec<String>,
    /// How it was collected, where a report tells.
    pub collected: Collected,
    /// What a saved profile says of itself; `None` for reports and exports from elsewhere.
    pub meta: Option<Meta>,
    /// The directory it lies in, for saved profiles.
    pub folder: Option<PathBuf>,
    /// True where launches were left out because of their kernels.
    lacks_kernels: bool,
}

impl Profile {
    /// A saved profile as a profile.
    ///
    /// # Errors
    /// [`Error::Input`] where its pages are gone, or where none of them can be read.
    pub fn from_saved(
        name: impl Into<String>,
        saved: Saved,
        folder: Option<PathBuf>,
    ) -> Result<Self> {
        let name = name.into();
        let place = folder.clone().unwrap_or_else(|| PathBuf::from(&name));
        let Saved { meta, pages } = saved;
        // A run whose counters were forbidden has its timing alone.
        if pages.is_empty() && (meta.step.is_none() || meta.environment.passes.is_some()) {
            return Err(Error::input(
                place,
                "the saved profile has lost its pages (raw.csv.zst and its neighbours), so there is \
                 nothing to diagnose; profile again, or analyze the report beside it",
            ));
        }
        Ok(Self { folder, ..Self::from_pages(name, meta, &pages, &place)? })
    }

    /// What was just collected as a profile that lies nowhere yet; `place` stands for it in messages.
    ///
    /// # Errors
    /// [`Error::Input`] where no page can be read.
    pub fn from_pages(
        name: impl Into<String>,
        meta: Meta,
        pages: &Pages,
        place: &Path,
    ) -> Result<Self> {
        let mut export = pages.export(place)?;
        // Pages that were made smaller may lack the attribute with the device's name.
        let device = &meta.environment.device;
        for launch in export.launches.iter_mut().filter(|_| !device.is_empty()) {
            launch.device.get_or_insert_with(|| device.clone());
        }
        Ok(Self { meta: Some(meta), ..Self::from_export(name, export)? })
    }

    /// What a reader made of files from elsewhere, as a profile.
    ///
    /// # Errors
    /// [`crate::error::Error::Frames`] where the export makes no frames.
    pub fn from_export(name: impl Into<String>, mut export: Export) -> Result<Self> {
        let notices = std::mem::take(&mut export.notices);
        Ok(Self {
            name: name.into(),
            collected: std::mem::take(&mut export.collected),
            frames: Frames::new(export)?,
            notices,
            meta: None,
            folder: None,
            lacks_kernels: false,
        })
    }

    /// The ladder's step that was profiled, if it was one.
    #[must_use]
    pub fn step(&self) -> Option<&StepInfo> {
        self.meta.as_ref()?.step.as_ref()
    }

    /// True where one launch is all there was: of a step that adoprof launches itself, the profile has every launch.
    /// Of a program or of a report from elsewhere, others may not have been collected.
    fn has_one_launch(&self) -> bool {
        let is_whole = self.step().is_some_and(|step| step.program.is_none());
        is_whole && !self.lacks_kernels && self.frames.launches.height() == 1
    }

    /// Keeps only the launches whose kernel matches.
    ///
    /// # Errors
    /// [`crate::error::Error::Frames`] where a frame lacks its columns.
    pub fn retain_kernels(&mut self, matches: impl Fn(&str) -> bool) -> Result<()> {
        let all = self.frames.launches.height();
        self.frames = self.frames.of_kernels(matches)?;
        self.lacks_kernels |= self.frames.launches.height() < all;
        Ok(())
    }

    /// Diagnoses every launch, the longest first unless it is a ladder's step, whose launches stay
    /// in order. `ladder` is where the next step is looked for.
    ///
    /// # Errors
    /// [`crate::error::Error::Frames`] where a frame lacks its columns, and [`Error::Input`] where the survey that the profile began
    /// with is damaged.
    pub fn diagnose(&self, ladder: Option<&Ladder>) -> Result<Document> {
        let mut said = Remarks::default();
        let is_alone = self.has_one_launch();
        let surveyed = self.folder.as_deref().map(program::read).transpose()?.flatten();
        let sequences = surveyed.as_ref().map_or(&[][..], |program| &program.sequences);
        let launches = diagnosed(&self.frames, &mut said, sequences, |launch| {
            launch.is_alone = is_alone;
            let Some(program) = &surveyed else { return };
            let row = program.in_a_row(&launch.row);
            (launch.in_a_row, launch.turn) = (row.launches, row.turn);
            launch.if_only_read = row.only_read;
            launch.neighbours = program.neighbours(&launch.row);
        })?;
        Ok(self.document(launches, said, surveyed, ladder))
    }

    /// The document of this profile's launches; what was said of them is given.
    fn document(
        &self,
        mut launches: Vec<LaunchReport>,
        said: Remarks,
        surveyed: Option<SurveyedProgram>,
        ladder: Option<&Ladder>,
    ) -> Document {
        let of_program = surveyed.map(|surveyed| {
            let groups = surveyed.groups_of(&launches);
            (surveyed.program, groups)
        });
        if self.step().is_none() && of_program.is_none() {
            let ns = |launch: &LaunchReport| launch.duration_ns.unwrap_or(0.0);
            launches.sort_by(|a, b| ns(b).total_cmp(&ns(a)));
        }
        let first = said.first();
        let others = said.others(self.meta.is_some() && self.step().is_none());
        let mut document = Document::new(launches);
        if let Some((program, groups)) = of_program {
            match self.step() {
                Some(_) => document.attach_step(program, &groups),
                None => document.attach(program, &groups),
            }
        }
        document.step = self.step().cloned();
        document.notices.clone_from(&self.notices);
        if let Some(meta) = &self.meta {
            document.notices.splice(0..0, meta.notices.iter().cloned());
        }
        document.notices.extend(other_run::notices(&document));
        document.notices.extend(others);
        document.notices.splice(0..0, first);
        if let Some(ladder) = ladder {
            find_next_step(&mut document, ladder);
        }
        document.saved = self.folder.as_ref().map(|folder| folder.display().to_string());
        document
    }
}

/// The launches of frames, diagnosed in their order; `prepare` may change each before. The sequences are those in which a survey
/// saw them launched.
fn diagnosed(
    frames: &Frames,
    said: &mut Remarks,
    sequences: &[Sequence],
    prepare: impl Fn(&mut Launch),
) -> Result<Vec<LaunchReport>> {
    let mut launches = Launch::all(frames)?;
    launches.iter_mut().for_each(prepare);
    settle(&mut launches, sequences);
    for launch in &launches {
        said.note(launch);
    }
    Ok(diagnose_all(launches))
}

/// Diagnoses launches, several at once where that saves time, in their order.
fn diagnose_all(launches: Vec<Launch>) -> Vec<LaunchReport> {
    let instructions: usize = launches.iter().map(|launch| launch.instructions.len()).sum();
    side_by_side::map(launches, instructions >= LONG_CODE, |launch| {
        LaunchReport::new(&launch, diagnose(&launch))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occupancy_without_counters_is_what_ncu_says() {
        use crate::device::residency::residency;
        use crate::survey::record::{Device, Shape};
        let (mut compared, mut others) = (0, Vec::new());
        for (name, meta) in crate::store::recordings().unwrap() {
            let Some(step) = meta.step else { continue };
            let saved =
                crate::store::recording(&step.ladder, &step.name, &step.size).unwrap().unwrap();
            let profile = Profile::from_saved(name, saved, None).unwrap();
            for launch in Launch::all(&profile.frames).unwrap() {
                let get = |name| launch.get(name).map(|value| value as u32);
                let Some(registers) = get("launch__registers_per_thread") else { continue };
                let (Some(shared), Some(expected)) = (
                    get("launch__shared_mem_per_block_static"),
                    launch.get("sm__maximum_warps_per_active_cycle_pct"),
                ) else {
                    continue;
                };
                let dynamic = get("launch__shared_mem_per_block_dynamic").unwrap_or(0);
                let shape = Shape {
                    kernel: String::new(),
                    grid: launch.row.grid,
                    block: launch.row.block,
                    registers,
                    static_shared: shared,
                    dynamic_shared: dynamic,
                    local: 0,
                };
                let name = "NVIDIA H200".to_owned();
                let device = Device {
                    name,
                    multiprocessors: 132,
                    capability: [9, 0],
                    uuid: None,
                    memory_bytes: 0,
                    memory_bytes_per_s: 0,
                };
                let found = residency(&shape, &device).unwrap();
                if (found.occupancy * 100.0 - expected).abs() > 0.01 {
                    others.push(format!("{shape:?}: {:.1}, {expected}", found.occupancy * 100.0));
                }
                compared += 1;
            }
        }
        assert!(compared > 800, "{compared}");
        assert!(others.is_empty(), "{} of {compared}: {others:#?}", others.len());
    }
}
