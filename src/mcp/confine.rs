//! The folder that an agent may read and run in.

use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::text::printable;

/// The most entries of a folder that are looked at, with those of its folders.
const MOST_ENTRIES: usize = 20_000;
/// The longest path, bytes.
const LONGEST: usize = 1000;

/// The folder, without links on the way to it.
#[derive(Debug, Clone)]
pub(crate) struct Root(PathBuf);

impl Root {
    /// A folder as the root.
    ///
    /// # Errors
    /// [`Error::Input`] for what is no folder.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        let found =
            path.canonicalize().map_err(|error| Error::io(path, "find this folder", &error))?;
        if found.is_dir() {
            Ok(Self(found))
        } else {
            Err(Error::input(path, "the root is not a folder"))
        }
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A profile as an agent names it: a step of a built-in ladder, or a path under the root. What is given back stands
    /// on a command line that runs in the root.
    ///
    /// # Errors
    /// Why it may not be read, in a sentence.
    pub(super) fn profile(&self, name: &str) -> std::result::Result<String, String> {
        if is_step(name) && !self.0.join(name).exists() {
            let (ladder, step) = name.split_once('/').unwrap_or((crate::ladder::DEFAULT, name));
            // A step's newest local profile lies here.
            self.without_links(&self.0.join(".adoprof").join(ladder).join(step))?;
            return Ok(name.to_owned());
        }
        let path = self.path_of(name)?;
        self.beside(&path)?;
        Ok(self.shown(&path))
    }

    /// A folder with a ladder, or the name of a built-in one.
    ///
    /// # Errors
    /// As [`profile`](Self::profile).
    pub(super) fn ladder(&self, name: &str) -> std::result::Result<String, String> {
        if is_word(name) && !self.0.join(name).exists() {
            return Ok(name.to_owned());
        }
        let path = self.path_of(name)?;
        Ok(self.shown(&path))
    }

    /// A program as an agent names it: one that the configuration names, or a file under the root.
    ///
    /// # Errors
    /// As [`profile`](Self::profile).
    pub(super) fn program(
        &self,
        name: &str,
        named: &[String],
    ) -> std::result::Result<String, String> {
        if named.iter().any(|known| known == name) {
            return Ok(name.to_owned());
        }
        let path = self.path_of(name).map_err(|why| {
            format!(
                "{why}; other programs are named by `mcp.programs` of the user's own adoprof.toml"
            )
        })?;
        Ok(self.shown(&path))
    }

    /// A path under the root that is there and has no link in it, nor below it.
    fn path_of(&self, name: &str) -> std::result::Result<PathBuf, String> {
        let shown: String = printable(name).chars().take(100).collect();
        if name.is_empty() || name.len() > LONGEST || name.contains('\0') {
            return Err(format!(
                "`{shown}` is not a path: it is empty, has a zero byte, or more than {LONGEST} bytes"
            ));
        }
        let given = Path::new(name);
        let relative = given.strip_prefix(&self.0).unwrap_or(given);
        let mut path = self.0.clone();
        for part in relative.components() {
            match part {
                Component::CurDir => continue,
                Component::Normal(word) => path.push(word),
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(format!(
                        "`{shown}` leaves the root; name a path within it, without `..`"
                    ));
                }
            }
            match path.symlink_metadata() {
                Ok(meta) if meta.is_symlink() => {
                    return Err(format!(
                        "`{shown}` goes through a symbolic link, which may lead out of the root"
                    ));
                }
                Ok(_) => {}
                Err(_) => return Err(format!("there is no `{shown}` under the root")),
            }
        }
        self.without_links(&path)?;
        Ok(path)
    }

    /// Refuses a folder with a link anywhere in it; what is not there has none.
    fn without_links(&self, path: &Path) -> std::result::Result<(), String> {
        let mut left = vec![path.to_owned()];
        let mut seen = 0;
        while let Some(path) = left.pop() {
            let Ok(meta) = path.symlink_metadata() else { continue };
            if meta.is_symlink() {
                let shown = printable(&self.shown(&path));
                return Err(format!(
                    "`{shown}` is a symbolic link, which may lead out of the root"
                ));
            }
            // The root itself holds everything: it is no profile.
            if !meta.is_dir() || path == self.0 {
                continue;
            }
            for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
                seen += 1;
                if seen > MOST_ENTRIES {
                    return Err(format!(
                        "the folder has more than {MOST_ENTRIES} entries; name one profile"
                    ));
                }
                left.push(entry.path());
            }
        }
        Ok(())
    }

    /// Refuses a file beside which a link has its stem: `X.raw.csv` brings `X.details.csv` along.
    fn beside(&self, path: &Path) -> std::result::Result<(), String> {
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default();
        let Some(folder) = path.parent().filter(|_| path.is_file()) else { return Ok(()) };
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(stem) {
                self.without_links(&entry.path())?;
            }
        }
        Ok(())
    }

    /// A path from the root, as a path and not as a step or an option.
    fn shown(&self, path: &Path) -> String {
        let relative = path.strip_prefix(&self.0).unwrap_or(path);
        format!("./{}", relative.display())
    }
}

/// True for letters, digits, hyphens and underscores, the first a letter or digit.
fn is_word(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    text.len() <= 100
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(is_letter)
}

/// True for `v2` and `ado/v2`.
fn is_step(text: &str) -> bool {
    match text.split_once('/') {
        Some((ladder, step)) => is_word(ladder) && is_word(step),
        None => is_word(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn nothing_outside_of_the_root_can_be_named() {
        let base = tempfile::tempdir().unwrap();
        let at = |path: &str| base.path().join(path);
        std::fs::create_dir_all(at("root/folder/deep")).unwrap();
        std::fs::write(at("root/a.raw.csv"), "").unwrap();
        std::fs::write(at("root/folder/b.csv"), "").unwrap();
        std::fs::write(at("secret"), "").unwrap();
        let root = Root::new(&at("root")).unwrap();
        assert_eq!(root.profile("a.raw.csv").as_deref(), Ok("./a.raw.csv"));
        assert_eq!(root.profile("./folder").as_deref(), Ok("./folder"));
        let whole = root.path().join("a.raw.csv").display().to_string();
        assert_eq!(root.profile(&whole).as_deref(), Ok("./a.raw.csv"));
        assert_eq!(root.profile("ado/v2").as_deref(), Ok("ado/v2"));
        for name in [
            "../secret",
            "folder/../../secret",
            "/etc/passwd",
            "..",
            "",
            "a\0b",
            &"x".repeat(2000),
            "-o",
            "--live",
        ] {
            assert!(root.profile(name).is_err(), "{name}");
        }
        std::os::unix::fs::symlink(at("secret"), at("root/link")).unwrap();
        assert!(root.profile("link").unwrap_err().contains("symbolic link"));
        // A link deep in a folder, and one beside a file that it would be read with.
        std::os::unix::fs::symlink(at("secret"), at("root/folder/deep/raw.csv")).unwrap();
        assert!(root.profile("folder").unwrap_err().contains("symbolic link"));
        assert!(root.profile("folder/deep/raw.csv").is_err());
        std::os::unix::fs::symlink(at("secret"), at("root/a.details.csv")).unwrap();
        assert!(root.profile("a.raw.csv").unwrap_err().contains("symbolic link"));
        // A step whose local profile is a link.
        std::fs::create_dir_all(at("root/.adoprof/ado")).unwrap();
        std::os::unix::fs::symlink(at("."), at("root/.adoprof/ado/v2")).unwrap();
        assert!(root.profile("v2").is_err());
    }

    #[test]
    fn programs_lie_in_the_root_or_are_named() {
        let base = tempfile::tempdir().unwrap();
        std::fs::write(base.path().join("app"), "").unwrap();
        let root = Root::new(base.path()).unwrap();
        let named = ["python3".to_owned()];
        assert_eq!(root.program("./app", &named).as_deref(), Ok("./app"));
        assert_eq!(root.program("python3", &named).as_deref(), Ok("python3"));
        for name in ["sh", "/bin/sh", "../app", "python"] {
            assert!(root.program(name, &named).unwrap_err().contains("mcp.programs"), "{name}");
        }
    }
}
