//! Where ladders come from: the program itself, or a directory.

use std::cell::Cell;
use std::path::Path;
use std::sync::LazyLock;

use include_dir::{Dir, File, include_dir};

use super::manifest::{FILE, Origin};
use super::{Ladder, check};
use crate::error::{Error, Result};
use crate::files;
use crate::plan::Source;
use crate::text::nearest;

/// The ladder that a bare step's name belongs to.
pub const DEFAULT: &str = "ado";

/// The ladders that the program carries, each file packed by `build/kernels.rs`.
static BUILTIN: Dir = include_dir!("$OUT_DIR/kernels");

/// The most that the sources of a ladder's steps take together, bytes.
const MOST_SOURCES: usize = 256 << 20;

/// The folder of the fault bench's ladders among them, which has a folder for each fault.
const FAULTS: &str = "faults";

/// The ladders that the program carries, by name, with their folders. A ladder is called like its
/// folder; one of the fault bench like `fault-` and its folder.
fn carried() -> Vec<(&'static str, &'static Dir<'static>)> {
    static CARRIED: LazyLock<Vec<(String, &'static Dir<'static>)>> = LazyLock::new(|| {
        let named = |dir: &'static Dir<'static>, prefix: &str| {
            // `Dir::get_file` compares whole paths, which takes longer than all else here.
            let is_manifest = |file: &File| file.path().ends_with(FILE);
            dir.files().find(|file| is_manifest(file))?;
            Some((format!("{prefix}{}", dir.path().file_name()?.to_str()?), dir))
        };
        let mut plain: Vec<_> = BUILTIN.dirs().filter_map(|dir| named(dir, "")).collect();
        let faults = BUILTIN.get_dir(FAULTS).into_iter().flat_map(Dir::dirs).flat_map(Dir::dirs);
        let mut faults: Vec<_> = faults.filter_map(|dir| named(dir, "fault-")).collect();
        plain.sort_by(|a, b| a.0.cmp(&b.0));
        faults.sort_by(|a, b| a.0.cmp(&b.0));
        plain.extend(faults);
        plain
    });
    CARRIED.iter().map(|(name, dir)| (name.as_str(), *dir)).collect()
}

/// The text of a file that the program carries.
fn text_of(file: &File) -> Option<String> {
    String::from_utf8(zstd::decode_all(file.contents()).ok()?).ok()
}

/// The files of a ladder that the program carries, from the folder of the ladders, with their text.
pub(super) fn embedded(name: &str) -> Vec<(&'static Path, String)> {
    let carried = carried();
    let dir = carried.iter().find(|(known, _)| *known == name).map(|(_, dir)| *dir);
    let files = dir.into_iter().flat_map(Dir::files);
    files.filter_map(|file| Some((file.path(), text_of(file)?))).collect()
}

/// The text of a file that the program carries: `reduce/r0.cu`.
pub(super) fn embedded_file(path: &str) -> Option<String> {
    text_of(BUILTIN.get_file(path)?)
}

impl Ladder {
    /// The names of the ladders that the program carries: those of the literature, then those of the
    /// fault bench.
    #[must_use]
    pub fn builtin_names() -> Vec<&'static str> {
        carried().into_iter().map(|(name, _)| name).collect()
    }

    /// A ladder that the program carries.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown name, with those that there are.
    pub fn builtin(name: &str) -> Result<Self> {
        let carried = carried();
        let Some((_, dir)) = carried.iter().find(|(known, _)| *known == name) else {
            // The bench's hundred names would bury the others.
            let meant = |known: &str| name.starts_with("fault") || !known.starts_with("fault-");
            let names: Vec<&str> =
                carried.iter().map(|(known, _)| *known).filter(|known| meant(known)).collect();
            return Err(Error::Usage(format!(
                "no built-in ladder is called `{}`{}; a ladder of your own is named by its \
                 directory, such as `./{0}`",
                crate::text::printable(name),
                nearest::hint(name, &names)
            )));
        };
        let folder = dir.path();
        let text = BUILTIN.get_file(folder.join(FILE)).and_then(text_of).unwrap_or_default();
        let path = Path::new("kernels").join(folder).join(FILE);
        let read = |file: &str| {
            let place = place(&folder.to_string_lossy(), file);
            let text = BUILTIN
                .get_file(&place)
                .and_then(text_of)
                .ok_or_else(|| "it is not among the built-in kernels".to_owned())?;
            let name = format!("kernels/{place}");
            Ok(Source { name, text, path: None })
        };
        check::ladder(Origin { path: &path, text: &text }, None, &read)
    }

    /// The ladder that `--ladder` names: a built-in one, or a directory (anything with a `/`, and any
    /// directory that is there under a name that no built-in ladder has).
    ///
    /// # Errors
    /// As [`builtin`](Self::builtin) and [`load`](Self::load).
    pub fn open(name: &str) -> Result<Self> {
        let path = Path::new(name);
        let known = Self::builtin_names().contains(&name);
        if !known && (name.contains('/') || path.join(FILE).is_file() || path.is_file()) {
            Self::load(path)
        } else {
            Self::builtin(name)
        }
    }

    /// The ladder in a directory (or with that `ladder.toml`).
    ///
    /// # Errors
    /// [`Error::Input`] where the manifest can't be read, [`Error::Manifest`] where it says something
    /// that can't be.
    pub fn load(dir: &Path) -> Result<Self> {
        with_manifest(dir, |origin, folder, read| check::ladder(origin, Some(folder), read))?
    }

    /// All mistakes of the manifest in a directory by their lines, and the ladder where there is none.
    ///
    /// # Errors
    /// [`Error::Input`] where the manifest can't be read.
    pub fn mistakes(dir: &Path) -> Result<(Option<Self>, Vec<Error>)> {
        with_manifest(dir, |origin, folder, read| check::all(origin, Some(folder), read))
    }
}

/// Does something with the manifest in a directory (or with that `ladder.toml`): its text, its folder, and what
/// reads its sources.
fn with_manifest<T>(
    dir: &Path,
    work: impl FnOnce(Origin, &Path, check::ReadSource) -> T,
) -> Result<T> {
    let dir = match dir.file_name() {
        Some(name) if name == FILE => dir.parent().unwrap_or(dir),
        _ => dir,
    };
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let path = dir.join(FILE);
    let text = files::read_text(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Error::input(
            dir,
            format!("there is no {FILE} in it; name a ladder's directory (`adoprof ladder show ado` shows what one holds)"),
        ),
        _ => Error::io(&path, "read the manifest", &error),
    })?;
    let absolute = dir.canonicalize().map_err(|error| Error::io(dir, "open", &error))?;
    within(&absolute, &path).map_err(|error| Error::io(&path, "read the manifest", &error))?;
    let folder = absolute.file_name().map(|name| name.to_string_lossy().into_owned());
    let left = Cell::new(MOST_SOURCES);
    let read = |file: &str| {
        let path = absolute.join(file);
        let text = within(&absolute, &path).and_then(|()| files::read_text(&path));
        let text = text.map_err(|error| error.to_string())?;
        // Each step has its source for itself, also where thousands name one file.
        left.set(left.get().checked_sub(text.len()).ok_or_else(|| {
            format!("the steps' sources have more than {} MiB together", MOST_SOURCES >> 20)
        })?);
        let name = match &folder {
            Some(folder) => place(folder, file),
            None => file.to_owned(),
        };
        Ok(Source { name, text, path: Some(path) })
    };
    Ok(work(Origin { path: &path, text: &text }, &absolute, &read))
}

impl Ladder {
    /// The ladder of a manifest alone, whose sources are empty.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub(crate) fn of_text(text: &str) -> Result<Self> {
        let read =
            |file: &str| Ok(Source { name: file.to_owned(), text: String::new(), path: None });
        check::ladder(Origin { path: Path::new(FILE), text }, None, &read)
    }
}

/// Refuses a file that a symbolic link leads to from elsewhere: of the ladder's folder, and the ladders
/// beside it, a user knows what is in them.
fn within(folder: &Path, path: &Path) -> std::io::Result<()> {
    let real = path.canonicalize()?;
    if real.starts_with(folder.parent().unwrap_or(folder)) {
        return Ok(());
    }
    Err(std::io::Error::other(
        "it is a symbolic link that leads out of the ladder's folder; put a copy of the file there",
    ))
}

/// Where a file of a ladder's manifest lies, from the folder of the ladders: `ado/v2.cu`; one of the
/// ladder beside it, `../reduce/r0.cu`, is `reduce/r0.cu`.
fn place(folder: &str, file: &str) -> String {
    match file.strip_prefix("../") {
        Some(beside) => beside.to_owned(),
        None => format!("{folder}/{file}"),
    }
}
