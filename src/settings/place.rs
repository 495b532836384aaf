//! Where settings lie.

use std::path::{Path, PathBuf};

/// The file's name, the project's and the user's.
pub const FILE: &str = "adoprof.toml";

/// The project's file: the nearest from the present folder up to the root of its repository. Outside of a
/// repository only the present folder counts: a folder above may be anyone's.
pub(super) fn project(folder: &Path) -> Option<PathBuf> {
    within(folder, FILE, Path::is_file)
}

/// The nearest path of that name from the present folder up to the root of its repository.
fn within(folder: &Path, name: &str, is_it: fn(&Path) -> bool) -> Option<PathBuf> {
    up(folder).map(|folder| folder.join(name)).find(|path| is_it(path))
}

/// The folders from the present one up to the root of its repository; outside of one only the present folder.
pub(super) fn up(folder: &Path) -> impl Iterator<Item = &Path> {
    let is_root = |folder: &&Path| folder.join(".git").exists();
    let above = folder.ancestors().position(|folder| is_root(&folder)).unwrap_or(0);
    folder.ancestors().take(above + 1)
}

/// The user's file: what `ADOPROF_CONFIG` names, none where that is empty, else `adoprof/adoprof.toml` in the
/// configuration's folder.
pub(super) fn user() -> Option<PathBuf> {
    if let Some(own) = std::env::var_os("ADOPROF_CONFIG") {
        return (!own.is_empty()).then(|| own.into());
    }
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    from("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| from("HOME").map(|home| Path::new(&home).join(".config")))
        .map(|folder| folder.join("adoprof").join(FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_file_up_to_the_repositorys_root_holds() {
        let base = tempfile::tempdir().unwrap();
        let at = |path: &str| base.path().join(path);
        std::fs::create_dir_all(at("repository/a/b")).unwrap();
        std::fs::create_dir_all(at("repository/.git")).unwrap();
        // Above the repository: someone else's.
        std::fs::write(at(FILE), "").unwrap();
        assert_eq!(project(&at("repository/a/b")), None);
        std::fs::write(at("repository/adoprof.toml"), "").unwrap();
        assert_eq!(project(&at("repository/a/b")), Some(at("repository/adoprof.toml")));
        std::fs::write(at("repository/a/adoprof.toml"), "").unwrap();
        assert_eq!(project(&at("repository/a/b")), Some(at("repository/a/adoprof.toml")));
        assert_eq!(project(&at("repository")), Some(at("repository/adoprof.toml")));
    }

    #[test]
    fn without_a_repository_only_this_folder_counts() {
        let base = tempfile::tempdir().unwrap();
        let inner = base.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(base.path().join(FILE), "").unwrap();
        // Temporary folders lie in no repository.
        assert_eq!(project(&inner), None);
        assert_eq!(project(base.path()), Some(base.path().join(FILE)));
    }
}
