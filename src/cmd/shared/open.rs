//! Finding the profile behind a name.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::ladder::{Ladder, Overrides};
use crate::profile::{Profile, Reference, group, read_files};
use crate::store;
use crate::text::assignments;

/// Opens everything that the paths name: each step and directory is a profile, files are grouped by
/// their stem.
///
/// # Errors
/// Whatever the first unreadable one gives.
pub fn all(paths: &[String], ladder: &str) -> Result<Vec<Profile>> {
    let references: Vec<Reference> =
        paths.iter().map(|text| Reference::parse(text, ladder)).collect::<Result<_>>()?;
    let files: Vec<PathBuf> = references
        .iter()
        .filter_map(|reference| match reference {
            Reference::Path(path) if !path.is_dir() => Some(path.clone()),
            _ => None,
        })
        .collect();
    let mut groups = group(&files);
    let mut profiles = Vec::new();
    for reference in references {
        match reference {
            Reference::Step { ladder, step } => profiles.push(saved_step(&ladder, &step, None)?),
            Reference::Path(path) if path.is_dir() => profiles.push(directory(&path)?),
            // A group stands where its first file stands.
            Reference::Path(path) => {
                if let Some(at) = groups.iter().position(|files| files.paths.contains(&path)) {
                    profiles.push(read_files(&groups.remove(at))?);
                }
            }
        }
    }
    Ok(profiles)
}

/// Opens the one profile that a name stands for.
///
/// # Errors
/// As [`all`].
pub fn one(text: &str, ladder: &str, size: Option<&Overrides>) -> Result<Profile> {
    match Reference::parse(text, ladder)? {
        Reference::Step { ladder, step } => saved_step(&ladder, &step, size),
        Reference::Path(path) if path.is_dir() => directory(&path),
        Reference::Path(path) => {
            let groups = group(&[path]);
            read_files(&groups[0])
        }
    }
}

fn directory(path: &Path) -> Result<Profile> {
    Profile::from_saved(path.display().to_string(), store::read(path)?, Some(path.to_owned()))
}

/// A step's newest local profile, or the recording that ships with adoprof.
///
/// # Errors
/// [`Error::Usage`] where there is neither, with the sizes that were recorded.
pub fn saved_step(ladder: &str, step: &str, size: Option<&Overrides>) -> Result<Profile> {
    let ladder = Ladder::open(ladder)?;
    let none = Overrides::default();
    let wanted = ladder.size(ladder.step(step)?, size.unwrap_or(&none))?;
    let local = store::newest_local(ladder.name(), step, |meta| meta.size() == wanted);
    match local {
        Some(folder) => directory(&folder),
        None => recording(&ladder, step, size.unwrap_or(&none)),
    }
}

/// The recording of a step that ships with adoprof.
///
/// # Errors
/// [`Error::Usage`] where the step was not recorded at that size.
pub fn recording(ladder: &Ladder, step: &str, size: &Overrides) -> Result<Profile> {
    let wanted = ladder.size(ladder.step(step)?, size)?;
    if let Some(saved) = store::recording(ladder.name(), step, &wanted)? {
        return Profile::from_saved(format!("{}/{step}", ladder.name()), saved, None);
    }
    // A size that no device could hold is refused for that; any number of SMs will do.
    ladder.plan(step, size, 1)?;
    let show = |size: &Overrides| assignments(size, ",");
    let recorded: Vec<String> =
        store::recorded_sizes(ladder.name(), step)?.iter().map(show).collect();
    let there = if recorded.is_empty() {
        "no recording of this step ships with adoprof".to_owned()
    } else {
        format!("it was recorded at {}", recorded.join(" and at "))
    };
    Err(Error::Usage(format!(
        "there is no recording of {}/{step} at {}: {there}; on a machine with a GPU, the same command \
         with --live instead of --recorded profiles it",
        ladder.name(),
        show(&wanted)
    )))
}
