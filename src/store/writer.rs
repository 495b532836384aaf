//! Writing a profile: whole or not at all, and never two at once in one directory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{META_FILE, Meta, REPORT_FILE, Saved};
use crate::error::{Error, Result};
use crate::files;

/// How hard the pages are compressed: 230 KB of CSV become 20 KB in 50 ms.
const ZSTD_LEVEL: i32 = 12;

/// A directory that is being written: locked against others, filled under a temporary name, renamed
/// into place at the end. Dropped before that, it leaves nothing.
#[derive(Debug)]
pub struct Target {
    folder: PathBuf,
    staging: tempfile::TempDir,
    /// Tells other runs that the staging folder is in use.
    _in_use: Option<File>,
    lock: Lock,
}

/// How a folder that is being written is called until it is whole.
const STAGING: &str = ".adoprof-writing-";
/// So many runs of one step may start in one second; the next one is told that it can't write.
const MOST_AT_ONCE: u32 = 1000;
/// A staging folder of which no run is known is left alone for so long: it may have been made this moment.
const FRESH: Duration = Duration::from_secs(60);

/// A lock file that is removed with its holder.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Target {
    /// Prepares to write a profile to `folder`.
    ///
    /// # Errors
    /// [`Error::Input`] where the folder holds something already, another run is writing it, or its
    /// parent can't be written.
    pub fn new(folder: &Path) -> Result<Self> {
        let parent = match folder.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(parent).map_err(|e| unwritable(parent, &e))?;
        refuse_occupied(folder)?;
        let lock = Lock::take(folder)?;
        // Whoever held the lock before may just have moved its profile here.
        refuse_occupied(folder)?;
        clear_abandoned(parent);
        let staging = tempfile::Builder::new()
            .prefix(STAGING)
            .tempdir_in(parent)
            .map_err(|e| unwritable(parent, &e))?;
        let in_use = File::open(staging.path()).ok().filter(|folder| folder.try_lock().is_ok());
        Ok(Self { folder: folder.to_owned(), staging, _in_use: in_use, lock })
    }

    /// `.adoprof/<ladder>/<step>/<time>` under the current folder, with a number behind the time
    /// where two runs start in the same second.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn default_for(ladder: &str, step: &str) -> Result<Self> {
        let base = local_folder(ladder, step);
        let time = jiff::Zoned::now().strftime("%Y-%m-%d_%H-%M-%S").to_string();
        let taken = |folder: &Path| folder.exists() || lock_path(folder).exists();
        let mut folder = base.join(&time);
        for number in 2..=MOST_AT_ONCE {
            if !taken(&folder) {
                match Self::new(&folder) {
                    // Another run was faster. It may have ended since, and left nothing: then this is the
                    // last time that it was in the way.
                    Err(Error::Input { .. }) if base.is_dir() => {}
                    result => return result,
                }
            }
            folder = base.join(format!("{time}_{number}"));
        }
        Self::new(&folder)
    }

    /// Where files may be put before [`finish`](Self::finish); ncu writes its report here.
    #[must_use]
    pub fn staging(&self) -> &Path {
        self.staging.path()
    }

    /// Writes what was collected and moves everything into place. Returns the final directory.
    ///
    /// # Errors
    /// [`Error::Input`] where writing fails; then nothing is left.
    pub fn finish(self, saved: &Saved, report: Option<&Path>) -> Result<PathBuf> {
        write(self.staging.path(), saved, report)?;
        self.finish_as_it_is()
    }

    /// Writes one of several profiles into a folder of this one.
    ///
    /// # Errors
    /// [`Error::Input`] where writing fails.
    pub fn add(&self, name: &str, saved: &Saved, report: Option<&Path>) -> Result<()> {
        let at = self.staging.path().join(name);
        std::fs::create_dir_all(&at).map_err(|e| unwritable(&at, &e))?;
        write(&at, saved, report)
    }

    /// Moves what was written into place. Returns the final directory.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_as_it_is(self) -> Result<PathBuf> {
        refuse_occupied(&self.folder)?;
        // An empty folder that the user made beforehand is theirs to fill.
        let _ = std::fs::remove_dir(&self.folder);
        let at = self.staging.keep();
        std::fs::rename(&at, &self.folder).map_err(|e| {
            let _ = std::fs::remove_dir_all(&at);
            Error::io(&self.folder, "move the finished profile here", &e)
        })?;
        drop(self.lock);
        Ok(self.folder)
    }

    /// Keeps a report beside the place of a profile that can't be saved: under its folder's name. Returns
    /// the report's new path.
    ///
    /// # Errors
    /// [`Error::Input`] where it can't be moved there.
    pub fn keep_report(self, report: &Path) -> Result<PathBuf> {
        let mut name = self.folder.clone().into_os_string();
        name.push(".");
        name.push(report.extension().unwrap_or("ncu-rep".as_ref()));
        let kept = PathBuf::from(name);
        std::fs::rename(report, &kept).map_err(|e| Error::io(&kept, "keep the report", &e))?;
        Ok(kept)
    }
}

/// Writes a profile's files into a folder.
fn write(at: &Path, saved: &Saved, report: Option<&Path>) -> Result<()> {
    let path = at.join(META_FILE);
    let text = serde_json::to_string_pretty(&saved.meta)
        .map_err(|e| Error::input(&path, format!("cannot be written: {e}")))?;
    std::fs::write(&path, text + "\n").map_err(|e| Error::io(&path, "write", &e))?;
    for (name, text) in saved.pages.named() {
        if text.is_empty() {
            continue;
        }
        let path = at.join(format!("{name}.csv.zst"));
        zstd::encode_all(text.as_bytes(), ZSTD_LEVEL)
            .and_then(|bytes| std::fs::write(&path, bytes))
            .map_err(|e| Error::io(&path, "write", &e))?;
    }
    let Some(report) = report else { return Ok(()) };
    let kept = at.join(REPORT_FILE);
    if report != kept {
        std::fs::rename(report, &kept)
            .or_else(|_| std::fs::copy(report, &kept).map(|_| ()))
            .map_err(|e| Error::io(&kept, "keep the report", &e))?;
    }
    Ok(())
}

/// Removes what runs left that were killed: staging folders and locks that no process holds. A folder of
/// another user or system, which can't be locked or removed, stays.
fn clear_abandoned(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let name = name.to_string_lossy();
        let is_staging = name.starts_with(STAGING) && path.is_dir();
        if !is_staging && !is_lock_of_time(&name) {
            continue;
        }
        let meta = entry.metadata().and_then(|meta| meta.modified());
        let is_old = meta.is_ok_and(|changed| changed.elapsed().is_ok_and(|passed| passed > FRESH));
        // As long as it is held here, no other run takes it for its own.
        let held = File::open(&path).ok().filter(|file| is_old && file.try_lock().is_ok());
        if held.is_some_and(|file| is_same_file(&file, &path)) {
            let _ = if is_staging {
                std::fs::remove_dir_all(&path)
            } else {
                std::fs::remove_file(&path)
            };
        }
    }
}

/// True for the lock of a folder that is named by its time: other files may end in `.lock` too.
fn is_lock_of_time(name: &str) -> bool {
    name.strip_suffix(".lock").is_some_and(|stem| {
        stem.len() >= "2026-11-20_10-00-00".len()
            && stem.bytes().all(|byte| byte.is_ascii_digit() || b"-_".contains(&byte))
    })
}

fn refuse_occupied(folder: &Path) -> Result<()> {
    let occupied = match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => folder.exists(),
    };
    if occupied {
        return Err(Error::input(
            folder,
            "is not empty and is not overwritten; remove it or name another folder with -o",
        ));
    }
    Ok(())
}

fn lock_path(folder: &Path) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    folder.with_file_name(name)
}

impl Lock {
    fn take(folder: &Path) -> Result<Self> {
        let path = lock_path(folder);
        loop {
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&path)
                .map_err(|e| unwritable(path.parent().unwrap_or(&path), &e))?;
            if !files::lock(&file) {
                return Err(Error::input(
                    folder,
                    "another adoprof run is writing here; wait for it or name another folder with -o",
                ));
            }
            // The holder before may have removed the file between its opening and its locking here.
            if is_same_file(&file, &path) {
                return Ok(Self { path, _file: file });
            }
        }
    }
}

/// True where an open file is still the one that lies at a path.
pub(crate) fn is_same_file(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |meta: std::fs::Metadata| (meta.dev(), meta.ino());
        file.metadata().map(identity).ok() == std::fs::metadata(path).map(identity).ok()
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

/// A folder in which nothing can be made.
fn unwritable(folder: &Path, error: &std::io::Error) -> Error {
    Error::input(folder, format!("cannot be written ({error}); name another folder with -o"))
}

/// A folder that no run of the step has written to yet: `.adoprof/<ladder>/<step>/<time>`.
#[must_use]
pub fn next_local_folder(ladder: &str, step: &str) -> PathBuf {
    let base = local_folder(ladder, step);
    let time = jiff::Zoned::now().strftime("%Y-%m-%d_%H-%M-%S").to_string();
    let first = base.join(&time);
    let numbered = (2..).map(|number| base.join(format!("{time}_{number}")));
    let is_free = |folder: &PathBuf| !folder.exists() && !lock_path(folder).exists();
    std::iter::once(first).chain(numbered).find(is_free).unwrap_or_default()
}

fn local_folder(ladder: &str, step: &str) -> PathBuf {
    Path::new(".adoprof").join(ladder).join(step)
}

/// The newest local profile of a step that `suits` (same GPU, same size, say).
#[must_use]
pub fn newest_local(ladder: &str, step: &str, suits: impl Fn(&Meta) -> bool) -> Option<PathBuf> {
    let entries = std::fs::read_dir(local_folder(ladder, step)).ok()?;
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| super::is_saved(path)).collect();
    // The names are times, so the last by name is the newest.
    folders.sort();
    folders.into_iter().rev().find(|folder| {
        let path = folder.join(META_FILE);
        std::fs::read_to_string(&path)
            .ok()
            .and_then(|text| Meta::parse(&text, &path).ok())
            .is_some_and(|meta| suits(&meta))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::csv::Pages;
    use crate::store::{META_SCHEMA, read};

    fn saved() -> Saved {
        let meta = Meta { schema: META_SCHEMA.to_owned(), ..Meta::default() };
        let pages = Pages { raw: "\"ID\"\n".to_owned(), ..Pages::default() };
        Saved { meta, pages }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("a/b");
        let target = Target::new(&folder).unwrap();
        assert_eq!(target.finish(&saved(), None).unwrap(), folder);
        let back = read(&folder).unwrap();
        assert_eq!((back.meta, back.pages), (saved().meta, saved().pages));
    }

    #[test]
    fn an_abandoned_target_leaves_nothing() {
        let base = tempfile::tempdir().unwrap();
        drop(Target::new(&base.path().join("x")).unwrap());
        assert_eq!(std::fs::read_dir(base.path()).unwrap().count(), 0);
    }

    /// A run that found the folder free, waited for its lock, and got it when the other run had finished:
    /// it must learn so at once, and not when its own collection is over.
    #[test]
    fn runs_that_begin_while_others_end_get_folders_of_their_own() {
        let base = tempfile::tempdir().unwrap();
        for turn in 0..50 {
            let folder = base.path().join(turn.to_string());
            let written = std::thread::scope(|scope| {
                let runs: Vec<_> = (0..4)
                    .map(|_| {
                        scope.spawn(|| {
                            let target = Target::new(&folder).ok()?;
                            // What was accepted at the beginning is accepted at the end.
                            Some(target.finish(&saved(), None).unwrap())
                        })
                    })
                    .collect();
                runs.into_iter().filter_map(|run| run.join().unwrap()).count()
            });
            assert_eq!(written, 1);
        }
    }

    #[test]
    fn what_killed_runs_left_is_cleared_and_what_runs_hold_is_not() {
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        let old = std::time::SystemTime::now() - 2 * FRESH;
        let running = Target::new(&at("2026-11-20_10-00-00")).unwrap();
        std::fs::create_dir(at(".adoprof-writing-dead")).unwrap();
        std::fs::create_dir(at(".adoprof-writing-new")).unwrap();
        for name in ["2026-11-20_09-00-00.lock", "Cargo.lock"] {
            std::fs::write(at(name), "").unwrap();
        }
        let aged = [".adoprof-writing-dead", "2026-11-20_09-00-00.lock", "Cargo.lock"].map(at);
        let staging = running.staging().to_owned();
        for path in aged.iter().chain([&staging, &running.lock.path]) {
            File::open(path).unwrap().set_modified(old).unwrap();
        }
        clear_abandoned(base.path());
        assert!(!aged[0].exists() && !aged[1].exists(), "nobody holds these");
        assert!(aged[2].exists() && at(".adoprof-writing-new").exists());
        assert!(staging.exists() && running.lock.path.exists());
        running.finish(&saved(), None).unwrap();
    }

    #[test]
    fn two_runs_at_once_and_occupied_folders_are_refused() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("x");
        let first = Target::new(&folder).unwrap();
        let second = Target::new(&folder).unwrap_err();
        assert!(second.to_string().contains("another adoprof run"), "{second}");
        first.finish(&saved(), None).unwrap();
        let third = Target::new(&folder).unwrap_err();
        assert!(third.to_string().contains("is not empty"), "{third}");
    }
}
