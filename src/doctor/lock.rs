//! The file on which ncu's runs wait for one another.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{CheckResult, Status};

const NAME: &str = "ncu's lock";
/// Its name in the folder for temporary files.
const FILE: &str = "nsight-compute-lock";

/// Who has a lock on a file now, if anybody does.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Holder {
    /// The process; 0 where it lies in another container.
    process: u32,
}

/// Whether ncu can take its lock in the folder for temporary files.
pub(super) fn check(temporary: &Path) -> CheckResult {
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let path = temporary.join(FILE);
    if !path.exists() {
        return CheckResult::minor(NAME, "free");
    }
    let owner = std::fs::metadata(&path).map(|file| file.uid()).ok();
    match open(&path) {
        // As ncu opens it: in a folder that all may write to, the kernel refuses files of others.
        Err(ErrorKind::PermissionDenied) => foreign(&path, owner),
        Err(_) => CheckResult::minor(NAME, "unknown"),
        Ok(file) => {
            let inode = file.metadata().map(|file| file.ino()).unwrap_or_default();
            held(&path, holder(&locks, inode).as_ref())
        }
    }
}

fn open(path: &Path) -> Result<File, ErrorKind> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).map_err(|error| error.kind())
}

/// The file of another user.
fn foreign(path: &Path, owner: Option<u32>) -> CheckResult {
    let owner = owner.map_or_else(String::new, |owner| format!(" (number {owner})"));
    CheckResult::not_ok(
        NAME,
        Status::Missing,
        format!("{} belongs to another user{owner}, so ncu can't take it", path.display()),
        format!(
            "use a folder of your own, `export TMPDIR=$(mktemp -d)`, or, if nobody is profiling, `sudo rm \
             {}`",
            path.display()
        ),
    )
}

fn held(path: &Path, holder: Option<&Holder>) -> CheckResult {
    let Some(Holder { process }) = holder else { return CheckResult::minor(NAME, "free") };
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    let (who, end) = match (process, name.trim_end()) {
        (0, _) => ("a process of another container".to_owned(), String::new()),
        (_, "") => (format!("process {process}"), format!(", `kill {process}` where it hangs")),
        (_, name) => (
            format!("process {process} ({})", crate::text::printable(name)),
            format!(", `kill {process}` where it hangs"),
        ),
    };
    CheckResult::not_ok(
        NAME,
        Status::Warn,
        format!("{who} holds {}: ncu waits until it ends", path.display()),
        format!(
            "let it finish{end}; with another TMPDIR both would profile at once and disturb each other"
        ),
    )
}

/// Who holds a lock on a file, from the text of `/proc/locks`.
fn holder(locks: &str, inode: u64) -> Option<Holder> {
    locks.lines().find_map(|line| {
        // `1: POSIX  ADVISORY  WRITE 4711 08:01:1234 0 EOF`; a process that waits has an arrow.
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "POSIX" | "FLOCK" | "OFDLCK", _, _, process, file, ..] = words[..] else {
            return None;
        };
        let of_file = file.rsplit(':').next()?.parse::<u64>().ok()?;
        // An open file's lock has no process.
        (of_file == inode).then(|| Holder { process: process.parse().unwrap_or(0) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_found_and_who_waits_is_not() {
        let locks = "1: POSIX  ADVISORY  READ 12 00:1a:77 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 4712 08:01:1234 0 EOF\n\
                     3: OFDLCK ADVISORY  WRITE -1 08:01:99 0 EOF\n";
        assert_eq!(holder(locks, 1234), Some(Holder { process: 4711 }));
        assert_eq!(holder(locks, 99), Some(Holder { process: 0 }));
        assert_eq!(holder(locks, 7), None);
        assert_eq!(holder("nonsense\n", 7), None);
    }

    #[test]
    fn a_lock_is_held_only_while_somebody_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(check(folder.path()).status, Status::Ok);
        assert!(!folder.path().join(FILE).exists(), "looking makes none");
        let file = File::create(folder.path().join(FILE)).unwrap();
        assert_eq!(check(folder.path()).status, Status::Ok, "one that is left over does no harm");
        file.lock().unwrap();
        let taken = check(folder.path());
        // Some sandboxes have no list of locks.
        if std::fs::read_to_string("/proc/locks").is_ok_and(|locks| !locks.is_empty()) {
            assert_eq!(taken.status, Status::Warn, "{taken:?}");
            assert!(taken.found.contains(&std::process::id().to_string()), "{taken:?}");
        }
    }

    #[test]
    fn another_users_file_has_its_remedy() {
        let check = foreign(Path::new("/tmp/nsight-compute-lock"), Some(1001));
        assert_eq!(check.status, Status::Missing);
        assert!(check.found.contains("1001"), "{check:?}");
        assert!(check.remedy.unwrap().contains("TMPDIR="));
    }
}
