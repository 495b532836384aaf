//! Names of profiles as users type them.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::ladder::Ladder;

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
    /// where that ladder exists, anything else with a `/` or an extension a path.
    ///
    /// # Errors
    /// [`Error::Usage`] for a bare name that is no step, with the steps there are.
    pub fn parse(text: &str, ladder: &str) -> Result<Self> {
        if let Some((left, right)) = text.split_once('/')
            && !right.contains('/')
            && Ladder::builtin_names().contains(&left)
            && !Path::new(text).exists()
        {
            Ladder::builtin(left)?.step(right)?;
            return Ok(Self::Step { ladder: left.to_owned(), step: right.to_owned() });
        }
        if text.contains('/') || matches!(text, "." | "..") || Path::new(text).extension().is_some()
        {
            return Ok(Self::Path(text.into()));
        }
        match Ladder::open(ladder)?.step(text) {
            Ok(_) => Ok(Self::Step { ladder: ladder.to_owned(), step: text.to_owned() }),
            Err(_) if Path::new(text).exists() => Err(Error::Usage(format!(
                "ladder `{ladder}` has no step `{text}`; to read the file or folder of that name, write ./{text}"
            ))),
            Err(Error::Usage(problem)) => Err(Error::Usage(format!(
                "{problem}; there is no file or folder of that name either"
            ))),
            Err(error) => Err(error),
        }
    }
}
