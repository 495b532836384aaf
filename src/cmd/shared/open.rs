//! Finding the profile behind a name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::chosen_step::step_command;
use crate::cli::Origin;
use crate::error::{Error, ExitCode, Result};
use crate::ladder::{Ladder, Overrides, Step};
use crate::launch::Device;
use crate::profile::{Files, InFolder, Profile, Reference, below, group, read_files};
use crate::store;
use crate::text::{assignments, count_of};

/// A profile that a name stands for, not yet read: of a folder of thousands, one is in memory at a time.
pub(crate) enum Named {
    /// A step's newest local profile or its recording.
    Step {
        /// The ladder.
        ladder: String,
        /// The step.
        step: String,
    },
    /// A saved profile, or files.
    Found(InFolder),
    /// The same in a folder that was named, where it may be one of thousands.
    Below(InFolder),
    /// Nothing that can be read, and why.
    Not(Error),
}

impl Named {
    /// Reads it.
    ///
    /// # Errors
    /// [`Error::Input`] where it is none, or damaged; [`Error::Usage`] for a step without a profile.
    pub(crate) fn read(self) -> Result<Profile> {
        match self {
            Self::Step { ladder, step } => saved_step(&ladder, &step, None),
            Self::Found(found) | Self::Below(found) => found.read(),
            Self::Not(error) => Err(error),
        }
    }

    /// True for what the user named, and not one of a folder's.
    pub(crate) fn is_named(&self) -> bool {
        !matches!(self, Self::Below(_))
    }

    /// The file, where it is a single one.
    pub(crate) fn single_file(&self) -> Option<&Path> {
        match self {
            Self::Found(InFolder::Files(files)) | Self::Below(InFolder::Files(files)) => {
                match files.paths.as_slice() {
                    [path] => Some(path),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// What paths stand for: each step and saved profile is a profile, files are grouped by their stem, and a folder stands
/// for all reports, exports, and saved profiles in it and below. The second list says what was not looked at.
///
/// # Errors
/// [`Error::Usage`] for names of no ladder or step.
pub(crate) fn named(paths: &[String], ladder: &str) -> Result<(Vec<Named>, Vec<String>)> {
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
    let (mut all, mut left_out) = (Vec::new(), Vec::new());
    for reference in references {
        match reference {
            Reference::Step { ladder, step } => all.push(Named::Step { ladder, step }),
            Reference::Path(path) if path.is_dir() => match directory(&path) {
                Ok((several, notice)) => {
                    // A saved profile is its own folder.
                    let is_it = |one: &InFolder| matches!(one, InFolder::Saved(at) if *at == path);
                    let named =
                        |one| if is_it(&one) { Named::Found(one) } else { Named::Below(one) };
                    all.extend(several.into_iter().map(named));
                    left_out.extend(notice);
                }
                Err(error) => all.push(Named::Not(error)),
            },
            // A group stands where its first file stands.
            Reference::Path(path) => {
                let files = places.get(&path).and_then(|&at| groups[at].take());
                all.extend(files.map(|files| Named::Found(InFolder::Files(files))));
            }
        }
    }
    Ok((all, left_out))
}

/// What could not be read of several profiles.
#[derive(Default)]
pub(crate) struct Unread {
    first: Option<Error>,
    shown: Vec<String>,
    more: usize,
    has_named: bool,
    lacks_device: bool,
}

impl Unread {
    /// So many are named one by one.
    const MOST: usize = 10;

    /// Adds one; `is_named` where it is what the user named, and not one of a folder's.
    pub(crate) fn push(&mut self, error: Error, is_named: bool) {
        // A profile without the kernel that was asked for could be read all the same.
        self.has_named |= is_named && matches!(error, Error::Input { .. });
        self.lacks_device |= is_named && matches!(error, Error::Environment(_));
        if self.shown.len() < Self::MOST {
            self.shown.push(format!("left out: {error}"));
        } else {
            self.more += 1;
        }
        self.first.get_or_insert(error);
    }

    /// What the command ends with where the rest went well: a path that was named and that can't be read is a mistake
    /// of the command line, one in a folder is not.
    pub(crate) fn code(&self) -> ExitCode {
        match (self.has_named, self.lacks_device) {
            (true, _) => ExitCode::Usage,
            (false, true) => ExitCode::Environment,
            (false, false) => ExitCode::Success,
        }
    }

    /// One sentence for each of the first ones, and one for all others; `read` is how many could be read.
    ///
    /// # Errors
    /// The first one, where nothing could be read.
    pub(crate) fn notices(self, read: usize) -> Result<Vec<String>> {
        let Self { first, shown: mut notices, more, .. } = self;
        if let (0, Some(first)) = (read, first) {
            return Err(first);
        }
        if more > 0 {
            let profiles = count_of(more as f64, "profile");
            notices.push(format!("left out: {profiles} more; name one to see why"));
        }
        Ok(notices)
    }
}

/// What several paths stand for.
pub(crate) struct Opened {
    /// What could be read.
    pub profiles: Vec<Profile>,
    /// What could not be read, and what was not looked at, each one sentence.
    pub notices: Vec<String>,
    /// What the command ends with where the rest goes well.
    pub code: ExitCode,
}

/// Opens everything that the paths name, as [`named`]. What of several can't be read is left out.
///
/// # Errors
/// Whatever the first unreadable one gives, where nothing else can be read.
pub(crate) fn all(paths: &[String], ladder: &str) -> Result<Opened> {
    let (named, mut notices) = named(paths, ladder)?;
    let (mut profiles, mut unread) = (Vec::new(), Unread::default());
    for one in named {
        let is_named = one.is_named();
        match one.read() {
            Ok(profile) => profiles.push(profile),
            Err(error) => unread.push(error, is_named),
        }
    }
    let code = unread.code();
    notices.extend(unread.notices(profiles.len())?);
    Ok(Opened { profiles, notices, code })
}

/// Opens the one profile that a name stands for.
///
/// # Errors
/// As [`all`]; [`Error::Input`] for a folder that holds several profiles.
pub(crate) fn one(text: &str, ladder: &str, size: Option<&Overrides>) -> Result<Profile> {
    match Reference::parse(text, ladder)? {
        Reference::Step { ladder, step } => saved_step(&ladder, &step, size),
        Reference::Path(path) if path.is_dir() => match directory(&path)?.0.as_slice() {
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

/// What a folder stands for, and what in it was not looked at.
///
/// # Errors
/// [`Error::Input`] where it can't be read, and where there is nothing in it.
fn directory(path: &Path) -> Result<(Vec<InFolder>, Option<String>)> {
    let (found, left_out) = below(path)?;
    if !found.is_empty() {
        return Ok((found, left_out));
    }
    let what =
        "there is no report (.ncu-rep), no export (.csv) and no saved profile in this folder";
    let left_out = left_out.map(|text| format!("; {text}")).unwrap_or_default();
    Err(Error::input(path, format!("{what}; {}{left_out}", store::instead(path))))
}

/// A step's newest local profile, or the recording that ships with adoprof.
///
/// # Errors
/// As [`recording`], where there is neither.
pub(crate) fn saved_step(ladder: &str, step: &str, size: Option<&Overrides>) -> Result<Profile> {
    let ladder = Ladder::open(ladder)?;
    let none = Overrides::default();
    let wanted = ladder.size(ladder.step(step)?, size.unwrap_or(&none))?;
    let local = store::newest_local(ladder.name(), step, |meta| meta.size() == wanted);
    match local {
        Some(folder) => InFolder::Saved(folder).read(),
        None => recording(&ladder, step, size.unwrap_or(&none), Why::NothingElse),
    }
}

/// Why a recording is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// The user asked for it.
    Asked,
    /// There is no profile of the step, or no device to make one on.
    NothingElse,
}

impl Why {
    /// What the options say.
    pub(crate) fn of(origin: &Origin) -> Self {
        if origin.recorded { Self::Asked } else { Self::NothingElse }
    }

    /// Where there is no recording: the user asked for what is not there, or the machine lacks a device.
    fn error(self, problem: String) -> Error {
        if self == Self::Asked || Device::is_present() {
            Error::Usage(problem)
        } else {
            Error::Environment(problem)
        }
    }
}

/// The recording of a step that ships with adoprof.
///
/// # Errors
/// Where the step was not recorded at that size, or is another one than the recorded: [`Error::Environment`] where a
/// device is all that is missing, else [`Error::Usage`].
pub(crate) fn recording(
    ladder: &Ladder,
    step: &str,
    size: &Overrides,
    why: Why,
) -> Result<Profile> {
    let declared = ladder.step(step)?;
    let wanted = ladder.size(declared, size)?;
    let command = step_command(ladder, step, size);
    if declared.is_program() {
        let name = ladder.name();
        return Err(Error::Usage(format!(
            "there is no profile of {name}/{step} at {} yet; `{command}` runs and profiles it",
            assignments(&wanted, ",")
        )));
    }
    if let Some(problem) = edited(ladder, declared) {
        let problem = format!("{problem}; on a machine with a GPU, `{command}` profiles it");
        return Err(why.error(problem));
    }
    if let Some(saved) = store::recording(ladder.name(), step, &wanted)? {
        return Profile::from_saved(format!("{}/{step}", ladder.name()), saved, None);
    }
    // A size that no device could hold is refused for that; any number of SMs will do.
    ladder.plan(step, size, 1)?;
    let show = |size: &Overrides| assignments(size, ",");
    let recorded: Vec<String> =
        store::recorded_sizes(ladder.name(), step)?.iter().map(show).collect();
    let what = if recorded.is_empty() {
        format!("there is no recording of {}/{step}", ladder.name())
    } else {
        format!(
            "there is no recording of {}/{step} at {}, but at {}",
            ladder.name(),
            show(&wanted),
            recorded.join(" and at ")
        )
    };
    Err(why.error(format!("{what}; on a machine with a GPU, `{command}` profiles it")))
}

/// What of a step on disk is no longer as it was recorded, in one sentence.
pub(crate) fn edited(ladder: &Ladder, step: &Step) -> Option<String> {
    let file = ladder.edited_file(step)?;
    Some(format!(
        "the recording of {}/{} that ships with adoprof does not hold for this step: {file} differs from what was \
         recorded",
        ladder.name(),
        step.name()
    ))
}
