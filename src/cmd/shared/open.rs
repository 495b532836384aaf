//! Finding the profile behind a name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::ladder::{Ladder, Overrides};
use crate::profile::{Files, Profile, Reference, group, in_folder, read_files};
use crate::store;
use crate::text::assignments;

/// Opens everything that the paths name: each step and saved profile is a profile, files are grouped by
/// their stem, and a folder of reports, exports, or saved profiles stands for all of them. What of several can't be read is
/// left out, and the second list says so.
///
/// # Errors
/// Whatever the first unreadable one gives, where nothing else can be read.
pub(crate) fn all(paths: &[String], ladder: &str) -> Result<(Vec<Profile>, Vec<String>)> {
    let references: Vec<Reference> =
        paths.iter().map(|text| Reference::parse(text, ladder)).collect::<Result<_>>()?;
    let files: Vec<PathBuf> = references
        .iter()
        .filter_map(|reference| match reference {
            Reference::Path(path) if !path.is_dir() => Some(path.clone()),
            _ => None,
        })
        .collect();
    let mut groups: Vec<Option<Files>> = group(&files).into_iter().map(Some).collect();
    let places: HashMap<PathBuf, usize> = groups
        .iter()
        .enumerate()
        .flat_map(|(at, files)| {
            files.iter().flat_map(move |f| f.paths.iter().map(move |p| (p.clone(), at)))
        })
        .collect();
    let mut read: Vec<Result<Profile>> = Vec::new();
    for reference in references {
        match reference {
            Reference::Step { ladder, step } => read.push(saved_step(&ladder, &step, None)),
            Reference::Path(path) if path.is_dir() => match directory(&path) {
                Ok(several) => read.extend(several.iter().map(Found::read)),
                Err(error) => read.push(Err(error)),
            },
            // A group stands where its first file stands.
            Reference::Path(path) => {
                let files = places.get(&path).and_then(|&at| groups[at].take());
                read.extend(files.map(|files| read_files(&files)));
            }
        }
    }
    let count = read.len();
    let (mut profiles, mut left_out) = (Vec::new(), Vec::new());
    for profile in read {
        match profile {
            Ok(profile) => profiles.push(profile),
            Err(error) if count == 1 => return Err(error),
            Err(error) => left_out.push(error),
        }
    }
    if profiles.is_empty() && !left_out.is_empty() {
        return Err(left_out.swap_remove(0));
    }
    let notices = left_out.iter().map(|error| format!("left out: {error}")).collect();
    Ok((profiles, notices))
}

/// Opens the one profile that a name stands for.
///
/// # Errors
/// As [`all`]; [`Error::Input`] for a folder that holds several profiles.
pub(crate) fn one(text: &str, ladder: &str, size: Option<&Overrides>) -> Result<Profile> {
    match Reference::parse(text, ladder)? {
        Reference::Step { ladder, step } => saved_step(&ladder, &step, size),
        Reference::Path(path) if path.is_dir() => match directory(&path)?.as_slice() {
            [profile] => profile.read(),
            several => Err(Error::input(
                &path,
                format!("the folder holds {} profiles; name one of them", several.len()),
            )),
        },
        Reference::Path(path) => {
            let groups = group(&[path]);
            read_files(&groups[0])
        }
    }
}

/// A profile in a folder, not yet read.
enum Found {
    /// A saved profile's folder.
    Saved(PathBuf),
    /// Reports or exports of one stem.
    Files(Files),
}

impl Found {
    fn read(&self) -> Result<Profile> {
        match self {
            Self::Saved(folder) => saved(folder),
            Self::Files(files) => read_files(files),
        }
    }
}

/// What a folder stands for: itself where it is a saved profile; otherwise the reports and exports in it, or where there
/// are none, the saved profiles in its subfolders.
///
/// # Errors
/// [`Error::Input`] where it can't be read.
fn directory(path: &Path) -> Result<Vec<Found>> {
    if store::is_saved(path) {
        return Ok(vec![Found::Saved(path.to_owned())]);
    }
    let groups = group(&in_folder(path)?);
    if !groups.is_empty() {
        return Ok(groups.into_iter().map(Found::Files).collect());
    }
    let entries = std::fs::read_dir(path).map_err(|e| Error::io(path, "read", &e))?;
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| store::is_saved(path)).collect();
    folders.sort();
    if folders.is_empty() {
        // Reading it says why it is none, and what to do.
        folders.push(path.to_owned());
    }
    Ok(folders.into_iter().map(Found::Saved).collect())
}

fn saved(path: &Path) -> Result<Profile> {
    Profile::from_saved(path.display().to_string(), store::read(path)?, Some(path.to_owned()))
}

/// A step's newest local profile, or the recording that ships with adoprof.
///
/// # Errors
/// [`Error::Usage`] where there is neither, with the sizes that were recorded.
pub(crate) fn saved_step(ladder: &str, step: &str, size: Option<&Overrides>) -> Result<Profile> {
    let ladder = Ladder::open(ladder)?;
    let none = Overrides::default();
    let wanted = ladder.size(ladder.step(step)?, size.unwrap_or(&none))?;
    let local = store::newest_local(ladder.name(), step, |meta| meta.size() == wanted);
    match local {
        Some(folder) => saved(&folder),
        None => recording(&ladder, step, size.unwrap_or(&none)),
    }
}

/// The recording of a step that ships with adoprof.
///
/// # Errors
/// [`Error::Usage`] where the step was not recorded at that size.
pub(crate) fn recording(ladder: &Ladder, step: &str, size: &Overrides) -> Result<Profile> {
    let wanted = ladder.size(ladder.step(step)?, size)?;
    if let Some(saved) = store::recording(ladder.name(), step, &wanted)? {
        return Profile::from_saved(format!("{}/{step}", ladder.name()), saved, None);
    }
    if ladder.step(step)?.is_program() {
        return Err(Error::Usage(format!(
            "there is no profile of {}/{step} at {} yet; `adoprof step` runs and profiles it",
            ladder.name(),
            assignments(&wanted, ",")
        )));
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
