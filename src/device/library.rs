//! Where devices' files lie: inside the binary, and in the user's configuration.

use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};

use super::file::DeviceFile;
use super::{DeviceFacts, slug};
use crate::error::{Error, Result};

static SHIPPED: Dir = include_dir!("$CARGO_MANIFEST_DIR/devices");

/// The file that every other one inherits from in the end.
const ANY: &str = "any";

/// More files than this behind one another can only be a circle.
const LONGEST_CHAIN: usize = 8;

/// The user's folder of devices' files: `ADOPROF_DEVICES`, else `adoprof/devices` under
/// `$XDG_CONFIG_HOME` or `~/.config`. `None` where `ADOPROF_DEVICES` is empty, or without a home.
#[must_use]
pub(crate) fn user_folder() -> Option<PathBuf> {
    if let Some(own) = std::env::var_os("ADOPROF_DEVICES") {
        return (!own.is_empty()).then(|| own.into());
    }
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    from("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| from("HOME").map(|home| Path::new(&home).join(".config")))
        .map(|folder| folder.join("adoprof").join("devices"))
}

/// The files that ship, and the user's.
pub(super) struct Library {
    /// The user's folder; need not exist.
    pub user: Option<PathBuf>,
}

impl Library {
    /// What is known of a device by its name and its compute capability. Reads only the files that it
    /// needs.
    ///
    /// # Errors
    /// [`Error::Manifest`] for a mistake in a file, [`Error::Input`] where one can't be read or names a
    /// file that is not there.
    pub(super) fn facts(
        &self,
        name: Option<&str>,
        compute_capability: Option<(u32, u32)>,
    ) -> Result<DeviceFacts> {
        let mut facts = DeviceFacts::default();
        let architecture = compute_capability.map(|(major, minor)| format!("sm_{major}{minor}"));
        let own = name.map(slug).filter(|stem| !stem.is_empty());
        let mut next = [own, architecture].into_iter().flatten().find(|stem| self.has(stem));
        let mut last = false;
        for _ in 0..LONGEST_CHAIN {
            let stem = next.take().unwrap_or_else(|| ANY.to_owned());
            last = last || stem == ANY;
            for file in self.files(&stem)? {
                next = next.or(file.inherits);
                for (quantity, fact) in file.facts {
                    facts.values[quantity as usize].get_or_insert(fact);
                }
            }
            if let Some(parent) = next.as_ref().filter(|parent| !self.has(parent)) {
                return Err(Error::input(
                    format!("{stem}.toml"),
                    format!("it inherits from `{parent}`, and there is no {parent}.toml"),
                ));
            }
            if last {
                return Ok(facts);
            }
        }
        Err(Error::input(
            format!("{}.toml", next.unwrap_or_default()),
            "devices' files inherit from each other in a circle",
        ))
    }

    /// True where there is a file of this name.
    pub(super) fn has(&self, stem: &str) -> bool {
        SHIPPED.contains(format!("{stem}.toml"))
            || self.user_file(stem).is_some_and(|path| path.exists())
    }

    fn user_file(&self, stem: &str) -> Option<PathBuf> {
        self.user.as_ref().map(|folder| folder.join(format!("{stem}.toml")))
    }

    /// The files of a name, the user's first.
    fn files(&self, stem: &str) -> Result<Vec<DeviceFile>> {
        let mut files = Vec::new();
        if let Some(path) = self.user_file(stem).filter(|path| path.exists()) {
            files.push(read(&path)?);
        }
        let name = format!("{stem}.toml");
        if let Some(text) = SHIPPED.get_file(&name).and_then(include_dir::File::contents_utf8) {
            files.push(DeviceFile::parse(text, &Path::new("devices").join(name))?);
        }
        Ok(files)
    }

    /// Reads every file of the user's folder.
    ///
    /// # Errors
    /// That of the first file with a mistake.
    pub(super) fn check(&self) -> Result<()> {
        let Some(folder) = &self.user else { return Ok(()) };
        let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
        paths.sort();
        for path in paths {
            read(&path)?;
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            self.facts(stem, None)?;
        }
        Ok(())
    }
}

/// Reads a file.
///
/// # Errors
/// As [`Library::facts`].
pub(super) fn read(path: &Path) -> Result<DeviceFile> {
    let text = crate::files::read_text(path).map_err(|e| Error::io(path, "read", &e))?;
    DeviceFile::parse(&text, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Quantity;

    const NOBODY: Library = Library { user: None };

    #[test]
    fn every_shipped_file_is_right_and_is_found_by_its_name() {
        for file in SHIPPED.files().filter(|file| file.path().extension().unwrap() == "toml") {
            let stem = file.path().file_stem().unwrap().to_str().unwrap();
            let [read] = NOBODY.files(stem).unwrap().try_into().unwrap();
            match stem.strip_prefix("sm_") {
                Some(_) | None if stem == ANY => assert_eq!(read.inherits, None),
                Some(digits) => {
                    let (major, minor) = digits.split_at(digits.len() - 1);
                    let compute_capability = (major.parse().unwrap(), minor.parse().unwrap());
                    NOBODY.facts(None, Some(compute_capability)).unwrap();
                    let words = format!("(compute capability {major}.{minor})");
                    assert!(read.name.ends_with(&words), "{}", read.name);
                }
                None => {
                    assert_eq!(slug(&read.name), stem);
                    assert!(read.inherits.unwrap().starts_with("sm_"));
                    NOBODY.facts(Some(&read.name), None).unwrap();
                }
            }
        }
    }

    #[test]
    fn a_device_inherits_from_its_architecture_and_that_from_any() {
        let of = |name, capability| {
            let facts = NOBODY.facts(name, capability).unwrap();
            [Quantity::DramReadRate, Quantity::FmaRate, Quantity::Schedulers]
                .map(|quantity| facts.get(quantity))
        };
        assert_eq!(of(Some("NVIDIA H200"), None), [Some(4.55e12), Some(128.0), Some(4.0)]);
        assert_eq!(of(Some("NVIDIA H100"), Some((9, 0))), [None, Some(128.0), Some(4.0)]);
        assert_eq!(of(Some("NVIDIA GB10"), Some((12, 1))), [None, Some(128.0), Some(4.0)]);
        assert_eq!(of(None, Some((99, 0))), [None, None, Some(4.0)]);
        assert_eq!(of(None, None), [None, None, Some(4.0)]);
    }

    fn user(files: &[(&str, &str)]) -> (tempfile::TempDir, Library) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let library = Library { user: Some(folder.path().to_owned()) };
        (folder, library)
    }

    #[test]
    fn the_users_values_come_first_and_leave_the_others() {
        let own = "name = \"NVIDIA H200\"\n[facts]\n\
                   dram_read_rate = { value = 1e12, unit = \"byte/s\", from = \"measured here\" }\n";
        let (_folder, library) = user(&[("nvidia-h200.toml", own)]);
        library.check().unwrap();
        let facts = library.facts(Some("NVIDIA H200"), None).unwrap();
        assert_eq!(facts.get(Quantity::DramReadRate), Some(1e12));
        assert_eq!(facts.get(Quantity::DramCopyRate), Some(4.29e12));
        assert_eq!(facts.source(Quantity::DramReadRate), Some("measured here"));
    }

    #[test]
    fn circles_and_missing_parents_are_errors() {
        let text = |parent| format!("name = \"x\"\ninherits = \"{parent}\"\n");
        let (_folder, library) = user(&[("a.toml", &text("b")), ("b.toml", &text("a"))]);
        let error = library.check().unwrap_err().to_string();
        assert!(error.contains("circle"), "{error}");
        let (_folder, library) = user(&[("a.toml", &text("sm_00"))]);
        let error = library.check().unwrap_err().to_string();
        assert!(error.contains("there is no sm_00.toml"), "{error}");
    }
}
