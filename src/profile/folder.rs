//! The profiles in a folder and in the folders below it.

use std::path::{Path, PathBuf};

use super::files::{Files, group, is_page, is_page_of_any_name};
use super::{Profile, read_files};
use crate::error::{Error, Result};
use crate::store;
use crate::text::count;

/// Folders below one another that are looked into: `.adoprof` has four, a sweep on a cluster some more.
const DEEPEST: usize = 12;
/// Files and folders that are looked at: some seconds on a shared file system.
const MOST_ENTRIES: usize = 100_000;

/// A profile in a folder, not yet read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InFolder {
    /// A saved profile's folder.
    Saved(PathBuf),
    /// Reports or exports of one stem.
    Files(Files),
}

impl InFolder {
    /// Reads it.
    ///
    /// # Errors
    /// [`Error::Input`] where it is damaged.
    pub fn read(&self) -> Result<Profile> {
        match self {
            Self::Saved(folder) => {
                let name = folder.display().to_string();
                Profile::from_saved(name, store::read(folder)?, Some(folder.clone()))
            }
            Self::Files(files) => read_files(files),
        }
    }
}

/// The profiles in a folder and below, a folder's own before those in its folders, each by name; and what of the folder
/// was not looked at, in one sentence. A saved profile is one, whatever lies in its folder. Of tables whose names do not
/// say that they are ncu's pages only those in the folder itself count.
///
/// # Errors
/// [`Error::Input`] where the folder can't be read.
pub fn below(folder: &Path) -> Result<(Vec<InFolder>, Option<String>)> {
    let mut walk = Walk::default();
    walk.folder(folder, 0).map_err(|e| Error::io(folder, "read", &e))?;
    let left_out = walk.left_out(folder);
    Ok((walk.found, left_out))
}

#[derive(Default)]
struct Walk {
    found: Vec<InFolder>,
    entries: usize,
    /// Whose names begin with a point: git's, and profiles that a run in this folder saved.
    hidden: Vec<PathBuf>,
    /// Links to folders: they may lead out of the folder, or back into it.
    links: Vec<PathBuf>,
    deep: Vec<PathBuf>,
    unreadable: Vec<PathBuf>,
    /// The folders in which the limit was met.
    cut: Vec<PathBuf>,
}

impl Walk {
    fn folder(&mut self, folder: &Path, depth: usize) -> std::io::Result<()> {
        if store::is_saved(folder) {
            self.found.push(InFolder::Saved(folder.to_owned()));
            return Ok(());
        }
        let (mut pages, mut folders) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir(folder)?.flatten() {
            if self.entries == MOST_ENTRIES {
                self.cut.push(folder.to_owned());
                break;
            }
            self.entries += 1;
            let path = entry.path();
            let is_named = if depth == 0 { is_page_of_any_name(&path) } else { is_page(&path) };
            if path.is_dir() {
                let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
                let list = match (is_link, is_hidden) {
                    (true, _) => &mut self.links,
                    (false, true) => &mut self.hidden,
                    _ if depth == DEEPEST => &mut self.deep,
                    _ => &mut folders,
                };
                list.push(path);
            } else if is_named && path.is_file() {
                pages.push(path);
            }
        }
        pages.sort();
        folders.sort();
        self.found.extend(group(&pages).into_iter().map(InFolder::Files));
        for below in folders {
            if self.folder(&below, depth + 1).is_err() {
                self.unreadable.push(below);
            }
        }
        Ok(())
    }

    fn left_out(&mut self, root: &Path) -> Option<String> {
        let deep = format!("folders below {DEEPEST} others");
        let cut = format!("the rest after {} files", count(MOST_ENTRIES as f64));
        let mut parts = Vec::new();
        for (paths, what) in [
            (&mut self.hidden, "hidden folders"),
            (&mut self.links, "links to folders"),
            (&mut self.deep, &deep),
            (&mut self.unreadable, "folders that cannot be read"),
            (&mut self.cut, &cut),
        ] {
            paths.sort();
            let name = |path: &PathBuf| {
                let below = path.strip_prefix(root).ok().filter(|rest| rest.parent().is_some());
                below.unwrap_or(root).display().to_string()
            };
            if !paths.is_empty() {
                parts.push(counted(what, &paths.iter().map(name).collect::<Vec<_>>()));
            }
        }
        (!parts.is_empty()).then(|| {
            let what = parts.join(", ");
            format!("not looked at in {}: {what}; name one to see what is in it", root.display())
        })
    }
}

/// What was left out of a folder, by name where there is little of it, else counted with some examples.
fn counted(what: &str, names: &[String]) -> String {
    /// So many are named.
    const MOST: usize = 3;
    let n = names.len();
    if n <= MOST {
        return format!("{what} ({})", names.join(", "));
    }
    format!("{} {what} ({}, …)", count(n as f64), names[..MOST].join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }

    /// What was found, as paths below the folder.
    fn names(folder: &Path) -> Vec<String> {
        let path = |one: &InFolder| match one {
            InFolder::Saved(path) => path.clone(),
            InFolder::Files(files) => files.paths[0].clone(),
        };
        let short = |one| path(one).strip_prefix(folder).unwrap().display().to_string();
        below(folder).unwrap().0.iter().map(short).collect()
    }

    #[test]
    fn profiles_are_found_at_any_depth_and_a_saved_one_is_one() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "b.ncu-rep",
            "a.csv",
            "notes.txt",
            "x/y/z/c.ncu-repz",
            "x/data.csv",
            "x/k.raw.csv",
            "x/k.details.csv",
            "ado/v2/one/profile.json",
            "ado/v2/one/report.ncu-rep",
            "ado/v2/one/raw.csv",
        ] {
            write(folder.path(), name);
        }
        let expected = ["a.csv", "b.ncu-rep", "ado/v2/one", "x/k.details.csv", "x/y/z/c.ncu-repz"];
        assert_eq!(names(folder.path()), expected);
        assert_eq!(below(folder.path()).unwrap().1, None);
    }

    #[test]
    fn what_is_left_out_often_is_counted() {
        let said = |n: usize| {
            let names: Vec<String> = (0..n).map(|at| format!(".{at}")).collect();
            counted("hidden folders", &names)
        };
        assert_eq!(said(3), "hidden folders (.0, .1, .2)");
        assert_eq!(said(40), "40 hidden folders (.0, .1, .2, …)");
    }

    #[cfg(unix)]
    #[test]
    fn links_hidden_folders_and_deep_ones_are_named_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let deep = |folders: usize| "d/".repeat(folders) + "a.ncu-rep";
        write(folder.path(), &deep(DEEPEST));
        write(folder.path(), ".git/a.ncu-rep");
        std::os::unix::fs::symlink(folder.path(), folder.path().join("round")).unwrap();
        assert_eq!(names(folder.path()), [deep(DEEPEST)]);
        let (_, left_out) = below(folder.path()).unwrap();
        let said = left_out.unwrap();
        assert!(said.contains(": hidden folders (.git), links to folders (round); "), "{said}");
        write(folder.path(), &deep(DEEPEST + 1));
        assert_eq!(names(folder.path()), [deep(DEEPEST)]);
        let (_, left_out) = below(folder.path()).unwrap();
        let twelve = "d/".repeat(DEEPEST);
        assert!(left_out.unwrap().contains(&format!("folders below 12 others ({twelve}d)")));
    }
}
