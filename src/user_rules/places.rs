//! Where files of rules lie: in the project, in the user's configuration, and in folders that settings name.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::settings::{FILE, Settings, project_folders, user_folder};

/// The folder beside the project's `adoprof.toml`, and the environment variable that names more.
pub(crate) const FOLDER: &str = "adoprof-rules";
pub(crate) const VARIABLE: &str = "ADOPROF_RULES";
/// The folder in the user's configuration.
const USER_FOLDER: &str = "rules";
/// The most files of one folder.
const MOST_FILES: usize = 200;

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The project's folder.
    Project,
    /// The user's configuration.
    User,
    /// A setting or the environment named it.
    Named,
}

impl Place {
    /// In words.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Named => "named",
        }
    }
}

/// All files, each once: the project's, the user's, those that settings name, those of the environment.
pub(super) fn files(settings: &Settings) -> Result<Vec<(PathBuf, Place)>> {
    let mut files = Vec::new();
    for folder in project_folders(FOLDER)? {
        add(&folder, Place::Project, &mut files)?;
    }
    let users = user_folder().map(|folder| folder.join(USER_FOLDER));
    if let Some(folder) = users.filter(|folder| folder.is_dir()) {
        add(&folder, Place::User, &mut files)?;
    }
    for value in settings.every("rules") {
        for word in &value.words {
            let path = Path::new(word);
            if !path.exists() {
                return Err(value.error(format!("`rules`: there is no file or folder `{word}`")));
            }
            add(path, Place::Named, &mut files)?;
        }
    }
    if let Some(named) = std::env::var_os(VARIABLE) {
        for path in std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()) {
            if !path.exists() {
                return Err(Error::input(
                    &path,
                    format!("{VARIABLE} names it, and it is not there"),
                ));
            }
            add(&path, Place::Named, &mut files)?;
        }
    }
    Ok(files)
}

/// The files of these files and folders, each once.
pub(super) fn of_paths(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        add(path, Place::Named, &mut files)?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

/// Adds a file, or the TOML files of a folder in the order of their names; settings beside them are none.
fn add(path: &Path, place: Place, files: &mut Vec<(PathBuf, Place)>) -> Result<()> {
    let mut found = Vec::new();
    if path.is_dir() {
        let entries =
            std::fs::read_dir(path).map_err(|error| Error::io(path, "read this folder", &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| Error::io(path, "read this folder", &error))?.path();
            let is_settings = entry.file_name().is_some_and(|name| name == FILE);
            if !is_settings && entry.extension().is_some_and(|extension| extension == "toml") {
                found.push(entry);
            }
            if found.len() > MOST_FILES {
                return Err(Error::input(
                    path,
                    format!("the folder has more than {MOST_FILES} files of rules"),
                ));
            }
        }
        found.sort();
    } else {
        found.push(path.to_owned());
    }
    for file in found {
        let same = |known: &PathBuf| match (known.canonicalize(), file.canonicalize()) {
            (Ok(one), Ok(other)) => one == other,
            _ => *known == file,
        };
        if !files.iter().any(|(known, _)| same(known)) {
            files.push((file, place));
        }
    }
    Ok(())
}
