//! What `adoprof.toml` says: defaults of options, from the project's file and from the user's.
//!
//! An option on the command line holds before an environment variable, that before the project's file, that before
//! the user's, and that before what is built in. A project's file comes with other people's code, so it may not name
//! programs to run: `ncu` and `ncu-args` are the user's alone, and a ladder must lie in the project's folder.

mod file;
mod key;
mod place;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

pub use key::{KEYS, Key};
pub use place::FILE;

/// The project's folders of that name, from the present folder up to the root of its repository, nearest first.
///
/// # Errors
/// [`Error::Input`] where there is no present folder.
pub(crate) fn project_folders(name: &str) -> Result<Vec<PathBuf>> {
    let here = present_folder()?;
    Ok(place::up(&here).map(|folder| folder.join(name)).filter(|folder| folder.is_dir()).collect())
}

/// The project's file, where there is one.
///
/// # Errors
/// As [`project_folders`].
pub(crate) fn project_file() -> Result<Option<PathBuf>> {
    Ok(place::project(&present_folder()?))
}

/// The folder of the user's configuration; `None` where there is none.
pub(crate) fn user_folder() -> Option<PathBuf> {
    place::user()?.parent().map(Path::to_owned)
}

fn present_folder() -> Result<PathBuf> {
    std::env::current_dir().map_err(|error| Error::io(".", "find the present folder", &error))
}

/// What all files say.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The project's values before the user's.
    values: Vec<Value>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
}

/// A value with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// What it is for.
    pub key: &'static Key,
    /// As it would be typed on the command line; several for a list.
    pub words: Vec<String>,
    /// Whose file it is.
    pub whose: Whose,
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// Whose file says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The project's: it came with the code.
    Project,
    /// The user's own.
    User,
}

impl Settings {
    /// Reads the files that hold in the present folder.
    ///
    /// # Errors
    /// [`Error::Manifest`] with file and line for what they can't say.
    pub fn here() -> Result<Self> {
        Self::of(place::project(&present_folder()?), place::user())
    }

    /// Reads these two files, where they are there.
    fn of(project: Option<PathBuf>, user: Option<PathBuf>) -> Result<Self> {
        let mut settings = Self::default();
        for (path, whose) in [(project, Whose::Project), (user, Whose::User)] {
            let Some(path) = path else { continue };
            let text = match std::fs::read_to_string(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io(&path, "read", &error)),
            };
            settings.values.extend(file::values(&path, &text, whose)?);
            settings.files.push(path);
        }
        Ok(settings)
    }

    /// What holds of a key, if a file says something.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.values.iter().find(|value| value.key.name == key)
    }

    /// What every file says of a key, the project's first: for lists that add up.
    pub(crate) fn every(&self, key: &str) -> impl Iterator<Item = &Value> {
        self.values.iter().filter(move |value| value.key.name == key)
    }

    /// What holds, each key once.
    pub fn all(&self) -> impl Iterator<Item = &Value> {
        KEYS.iter().filter_map(|key| self.get(key.name))
    }
}

impl Value {
    /// An error at its place.
    #[must_use]
    pub fn error(&self, problem: impl Into<String>) -> Error {
        Error::Manifest { path: self.path.clone(), line: self.line, problem: problem.into() }
    }

    /// Its place as people write it: `adoprof.toml:3`.
    #[must_use]
    pub fn place(&self) -> String {
        let here = std::env::current_dir().unwrap_or_default();
        let path = self.path.strip_prefix(&here).unwrap_or(&self.path);
        format!("{}:{}", Path::display(path), self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(project: &str, user: &str) -> Result<Settings> {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            Some(path)
        };
        Settings::of(write("project.toml", project), write("user.toml", user))
    }

    #[test]
    fn the_projects_file_holds_before_the_users() {
        let both = settings("device = 1\n", "device = 2\ntimeout = \"90s\"\n").unwrap();
        let device = both.get("device").unwrap();
        assert_eq!((device.words[0].as_str(), device.whose, device.line), ("1", Whose::Project, 1));
        assert_eq!(both.get("timeout").unwrap().whose, Whose::User);
        assert_eq!(both.get("format"), None);
        assert_eq!(both.all().count(), 2);
    }

    #[test]
    fn a_project_names_no_programs() {
        for line in ["ncu = \"./ncu\"", "ncu-args = \"--section-folder .\""] {
            let error = settings(&format!("device = 0\n{line}\n"), "").unwrap_err().to_string();
            assert!(error.contains("project.toml:2: ") && error.contains("your own"), "{error}");
            assert!(settings("", line).is_ok());
        }
    }

    #[test]
    fn no_file_says_nothing() {
        let none = Settings::of(Some("/no/such/adoprof.toml".into()), None).unwrap();
        assert!(none.files.is_empty() && none.all().next().is_none());
    }
}
