//! Files read within bounds, and written whole or not at all.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read};
use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result};

/// How often a lock is tried, and how long each try waits for the next.
const LOCK_TRIES: u32 = 20;
const LOCK_WAIT: Duration = Duration::from_millis(10);

/// Locks a file; false where somebody else holds it. A process that this one is starting holds whatever is held here until its own
/// program runs, so that a lock which was just released can seem taken for a moment.
pub(crate) fn lock(file: &File) -> bool {
    (0..LOCK_TRIES).any(|tried| {
        if tried > 0 {
            std::thread::sleep(LOCK_WAIT);
        }
        file.try_lock().is_ok()
    })
}

/// The most of a text that a person wrote, or that adoprof writes for itself, bytes.
pub(crate) const MOST_TEXT: u64 = 16 << 20;

/// The most of a table of a store, bytes.
pub(crate) const MOST_TABLE: u64 = 4 << 30;

/// Reads a regular file of at most `most` bytes. A pipe or a device may never end, and opening one may
/// block for ever.
///
/// # Errors
/// The system's, [`ErrorKind::InvalidInput`] for what is no regular file, and [`ErrorKind::FileTooLarge`].
pub(crate) fn read(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    let meta = std::fs::metadata(path)?;
    if !meta.is_file() && !meta.is_dir() {
        let problem = "it is a pipe or a device, and only regular files are read; write what it gives into \
                       a file";
        return Err(IoError::new(ErrorKind::InvalidInput, problem));
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    if meta.len() <= most {
        File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    }
    if meta.len().max(bytes.len() as u64) > most {
        let problem =
            format!("it has {} MiB, and at most {} are read", meta.len() >> 20, most >> 20);
        return Err(IoError::new(ErrorKind::FileTooLarge, problem));
    }
    Ok(bytes)
}

/// Reads a text as [`read`] does, of at most [`MOST_TEXT`] bytes.
///
/// # Errors
/// As [`read`], and [`ErrorKind::InvalidData`] for what is not UTF-8.
pub(crate) fn read_text(path: &Path) -> std::io::Result<String> {
    String::from_utf8(read(path, MOST_TEXT)?)
        .map_err(|_| IoError::new(ErrorKind::InvalidData, "it is not a text in UTF-8"))
}

/// Writes a file whole or not at all: to a temporary file beside it, then renamed into place.
///
/// # Errors
/// [`Error::Input`] where the folder can't be created or written.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create this folder", &e))?;
    let mut builder = tempfile::Builder::new();
    // A temporary file is its owner's alone; one that stays is as open as the user's other files.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder).map_err(|e| Error::io(folder, "write here", &e))?;
    std::io::Write::write_all(&mut file, bytes).map_err(|e| Error::io(path, "write", &e))?;
    file.persist(path).map_err(|e| Error::io(path, "write", &e.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_is_released_soon_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = File::create(&path).unwrap();
        held.lock().unwrap();
        let other = File::open(&path).unwrap();
        assert!(!lock(&other), "held throughout");
        let release = std::thread::spawn(move || {
            std::thread::sleep(LOCK_WAIT);
            drop(held);
        });
        assert!(lock(&other), "released after the first try");
        release.join().unwrap();
    }

    #[test]
    fn only_regular_files_within_bounds_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"four");
        assert_eq!(read(&path, 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
        // Sparse: nothing of it is read.
        File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        let error = read_text(&path).unwrap_err();
        assert!(error.to_string().contains("has 1048576 MiB, and at most 16 are read"), "{error}");
        assert_eq!(read(&folder.path().join("b"), 4).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn a_written_file_is_as_open_as_others() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (ours, other) = (folder.path().join("ours"), folder.path().join("other"));
        write_atomically(&ours, b"1").unwrap();
        File::create(&other).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&other));
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            let error = read(path, 1 << 20).unwrap_err();
            assert!(error.to_string().contains("a pipe or a device"), "{error}");
        }
    }
}
