//! What the file systems of adoprof's folders have left and allow.

use std::path::Path;

use rustix::fs::{StatVfsMountFlags, statvfs};

use super::machine::nearest;
use super::{CheckResult, Status};
use crate::text::bytes;

/// ncu's reports of large programs take some hundred megabytes, and ncu writes them to a temporary file first.
const LEAST_FREE_BYTES: u64 = 1 << 30;

/// Whether the folders hold a profile; each file system is told once.
pub(super) fn free(folders: &[(&'static str, &Path)]) -> CheckResult {
    let mut tight: Vec<String> = Vec::new();
    for (name, folder) in folders {
        let Some(free) = nearest(folder).and_then(free_bytes) else { continue };
        tight.extend(too_little(name, folder, free));
    }
    if tight.is_empty() {
        return CheckResult::minor("disk", "enough space");
    }
    CheckResult::not_ok(
        "disk",
        Status::Warn,
        tight.join("; "),
        "a report of a large program takes some 100 MB: make room, or name other folders with -o DIR and TMPDIR=DIR",
    )
}

/// `profiles (.adoprof) has 12 MB left` where that is too little.
fn too_little(name: &str, folder: &Path, free: u64) -> Option<String> {
    (free < LEAST_FREE_BYTES)
        .then(|| format!("{name} ({}) has {} left", folder.display(), bytes(free as f64)))
}

fn free_bytes(folder: std::path::PathBuf) -> Option<u64> {
    let system = statvfs(folder).ok()?;
    system.f_bavail.checked_mul(system.f_frsize)
}

/// Whether code may run from the folder for temporary files: the survey's library is loaded from there.
pub(super) fn executable(temporary: &Path) -> CheckResult {
    let flags = statvfs(temporary).map(|system| system.f_flag);
    if flags.is_ok_and(|flags| flags.contains(StatVfsMountFlags::NOEXEC)) {
        return CheckResult::not_ok(
            "survey",
            Status::Warn,
            format!(
                "{} is mounted noexec, so a program can't load the survey's library",
                temporary.display()
            ),
            "name a folder from which code may run: TMPDIR=DIR",
        );
    }
    CheckResult::minor("survey", "its library can be loaded")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_space_is_told_with_its_folder() {
        let folder = Path::new("x/y");
        assert_eq!(too_little("profiles", folder, LEAST_FREE_BYTES), None);
        let told = too_little("profiles", folder, 12_000_000).unwrap();
        assert!(told.starts_with("profiles (x/y) has 12") && told.ends_with("left"), "{told}");
    }

    #[test]
    fn a_full_file_system_has_nothing_free() {
        // What /proc holds takes no room and has none.
        assert_eq!(free_bytes("/proc".into()), Some(0));
        assert_eq!(free(&[("x", Path::new("/proc"))]).status, Status::Warn);
        assert_eq!(free(&[("x", Path::new("/nowhere/at/all"))]).name, "disk");
    }

    #[test]
    fn code_does_not_run_from_proc() {
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        let is_noexec = mounts
            .lines()
            .rfind(|line| line.split(' ').nth(1) == Some("/proc"))
            .is_some_and(|line| line.contains("noexec"));
        let expected = if is_noexec { Status::Warn } else { Status::Ok };
        assert_eq!(executable(Path::new("/proc")).status, expected);
    }
}
