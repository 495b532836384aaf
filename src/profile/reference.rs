//! Names of profiles as users type them.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::ladder::{Ladder, manifest};

/// A profile's name, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A step of a ladder.
    Step {
        /// The ladder, as `--ladder` takes it.
        ladder: String,
        /// The step.
        step: String,
    },
    /// A file or directory.
    Path(PathBuf),
}

impl Reference {
    /// Understands a name: a bare name is a step of the current ladder, `ladder/step` one of another
    /// where that ladder exists (a built-in one, or a folder with a manifest), anything else with a `/` or an extension a path, and so is a bare name that
    /// no step has and a file or folder does.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name of nothing, with the steps there are.
    pub fn parse(text: &str, ladder: &str) -> Result<Self> {
        if let Some((left, right)) = text.split_once('/')
            && !right.contains('/')
            && Ladder::builtin_names().contains(&left)
            && !Path::new(text).exists()
        {
            Ladder::builtin(left)?.step(right)?;
            return Ok(Self::Step { ladder: left.to_owned(), step: right.to_owned() });
        }
        // A step of a ladder on disk, as `step --kernel` takes it too.
        if let Some((folder, step)) = text.rsplit_once('/')
            && Path::new(step).extension().is_none()
            && Path::new(folder).join(manifest::FILE).is_file()
            && !Path::new(text).exists()
            && !step.is_empty()
        {
            Ladder::open(folder)?.step(step)?;
            return Ok(Self::Step { ladder: folder.to_owned(), step: step.to_owned() });
        }
        if text.contains('/') || matches!(text, "." | "..") || Path::new(text).extension().is_some()
        {
            return Ok(Self::Path(text.into()));
        }
        match Ladder::open(ladder)?.step(text) {
            Ok(_) => Ok(Self::Step { ladder: ladder.to_owned(), step: text.to_owned() }),
            Err(_) if Path::new(text).exists() => Ok(Self::Path(text.into())),
            Err(Error::Usage(problem)) => Err(Error::Usage(format!(
                "{problem}; there is no file or folder of that name either"
            ))),
            Err(error) => Err(error),
        }
    }
}
