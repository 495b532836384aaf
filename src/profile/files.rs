//! Files from elsewhere: reports and exports, grouped into profiles by their stem and told apart by
//! their content.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::Profile;
use crate::error::{Error, Result};
use crate::export::csv::pages;
use crate::export::report;
use crate::files;
use crate::text::nearest::nearest_path;

/// The files of one profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// What they have in common: `dir/ado_v2` of `dir/ado_v2.raw.csv`, and `dir` of `dir/raw.csv`.
    pub stem: PathBuf,
    /// The files, in the order given.
    pub paths: Vec<PathBuf>,
    /// True where the pages' kinds are their whole names, as in `dir/raw.csv`.
    is_folder: bool,
}

/// The largest file that is read, bytes: 100,000 launches of some 40 KB.
const MOST_BYTES: u64 = 8 << 30;

/// The endings that say which page a file holds; the first that fits counts.
const PAGE_ENDINGS: [&str; 11] = [
    ".raw.csv",
    ".details-all.csv",
    ".details.csv",
    ".source.cuda-sass.csv",
    ".source.sass.csv",
    ".source.csv",
    ".sass.csv",
    ".session.csv",
    ".csv",
    ".ncu-repz",
    ".ncu-rep",
];

/// A path without the ending that names its page, and whether that ending is the whole name.
fn stem(path: &Path) -> (PathBuf, bool) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_page = |ending: &&&str| ***ending != *".csv" && name == ending[1..];
    if PAGE_ENDINGS.iter().find(is_page).is_some() {
        return (path.parent().unwrap_or(Path::new("")).to_owned(), true);
    }
    let text = path.to_string_lossy();
    let stem = PAGE_ENDINGS.iter().find_map(|ending| text.strip_suffix(ending));
    (stem.map_or_else(|| path.to_owned(), PathBuf::from), false)
}

/// Groups paths into profiles: files with one stem are one profile, and a page brings the others
/// beside it along: the raw page is never left out for a mistyped name.
#[must_use]
pub fn group(paths: &[PathBuf]) -> Vec<Files> {
    let mut groups: Vec<Files> = Vec::new();
    let mut known: HashMap<(PathBuf, bool), usize> = HashMap::new();
    let mut seen: HashSet<&PathBuf> = HashSet::new();
    for path in paths.iter().filter(|path| seen.insert(path)) {
        let (stem, is_folder) = stem(path);
        let at = *known.entry((stem.clone(), is_folder)).or_insert_with(|| {
            groups.push(Files { stem, paths: Vec::new(), is_folder });
            groups.len() - 1
        });
        groups[at].paths.push(path.clone());
    }
    for files in &mut groups {
        bring_siblings(files);
    }
    groups
}

/// The reports and exports in a folder, by name; subfolders are left alone.
///
/// # Errors
/// [`Error::Input`] where the folder can't be read.
pub fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, "read", &e))?;
    let is_page = |path: &PathBuf| is_page_of_any_name(path) && path.is_file();
    let mut paths: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(is_page).collect();
    paths.sort();
    Ok(paths)
}

/// True for a name that a report or any table has.
pub(super) fn is_page_of_any_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    PAGE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// True for a name that says that it is a report or one of ncu's pages.
pub(super) fn is_page(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let says_so = |ending: &&str| name.ends_with(*ending) || name == ending[1..];
    PAGE_ENDINGS.iter().filter(|ending| **ending != ".csv").any(says_so)
}

fn bring_siblings(files: &mut Files) {
    let has = |files: &Files, part: &str| {
        let is_page = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.contains(part) || files.is_folder && name.starts_with(&part[1..])
        };
        files.paths.iter().any(is_page)
    };
    if ![".raw.csv", ".details", ".source"].iter().any(|part| has(files, part)) {
        return;
    }
    let sibling = |ending: &str| {
        let path = if files.is_folder {
            files.stem.join(&ending[1..])
        } else {
            let mut name = files.stem.clone().into_os_string();
            name.push(ending);
            PathBuf::from(name)
        };
        Some(path).filter(|path| path.is_file())
    };
    let details = sibling(".details.csv");
    let source =
        [".source.cuda-sass.csv", ".source.csv", ".source.sass.csv"].into_iter().find_map(sibling);
    let raw = sibling(".raw.csv");
    if !has(files, ".raw.csv") {
        files.paths.extend(raw);
    }
    if !has(files, ".details") {
        files.paths.extend(details);
    }
    if !has(files, ".source") {
        files.paths.extend(source);
    }
}

/// Reads the files of one profile, told apart by their content.
///
/// # Errors
/// [`Error::Input`] where a file is missing, of no known kind, or damaged; what ncu itself
/// complained of where the file holds its messages.
pub fn read_files(files: &Files) -> Result<Profile> {
    let mut pages: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    let mut left_out: Vec<Error> = Vec::new();
    for path in &files.paths {
        if let Some((file, size)) = large_report(path, MOST_BYTES) {
            let export = report::read_stored(&file, size, path)?;
            return Profile::from_export(path.display().to_string(), export);
        }
        let bytes = match read(path) {
            // An empty page costs no more than itself: ncu writes one where it has nothing to say.
            Err(error) if files.paths.len() > 1 && is_empty(path) => {
                left_out.push(error);
                continue;
            }
            bytes => bytes?,
        };
        // A report has all that its exports have, and every value in full.
        if report::is_report(&bytes) {
            let export = report::read(&bytes, path)?;
            let name = path.display().to_string();
            return Profile::from_export(name, export);
        }
        if is_named_report(path) {
            return Err(Error::input(
                path,
                "is not an Nsight Compute report, despite its name; copy it again, or collect it again",
            ));
        }
        if let Some(what) = no_profile(path, &bytes) {
            return Err(Error::input(path, what));
        }
        pages.push((path.clone(), bytes));
    }
    if pages.is_empty() && !left_out.is_empty() {
        return Err(left_out.swap_remove(0));
    }
    let mut export = pages::read(&pages)?;
    export.notices.extend(left_out.iter().map(|error| format!("one page was left out: {error}")));
    // Of a large page this is as much as all that was read from it.
    drop(pages);
    Profile::from_export(files.stem.display().to_string(), export)
}

/// True for a file without a byte.
fn is_empty(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() == 0)
}

/// What a file is that is no profile, and the command that takes it.
fn no_profile(path: &Path, bytes: &[u8]) -> Option<String> {
    let word = path.to_string_lossy();
    let shown = shell_words::quote(&word);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("cu" | "cuh") => Some(format!(
            "is a source, not a profile; `adoprof init {shown}` makes a ladder of its kernels, and `adoprof \
             profile -- PROGRAM` profiles the program that is built from it"
        )),
        Some("nsys-rep" | "qdrep") => Some(
            "is a report of Nsight Systems, which holds no counters; `adoprof profile -- PROGRAM` surveys the \
             program and profiles its kernels"
                .to_owned(),
        ),
        _ if bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"#!") => Some(format!(
            "is a program, not a profile; `adoprof profile -- {shown}` profiles it"
        )),
        _ => None,
    }
}

/// Reports from this size on are read from their file a launch at a time, bytes: less than what the diagnosis of so
/// many launches takes anyway.
const LARGE_BYTES: u64 = 64 << 20;

/// A report that is large, though of `most` bytes at most, and not compressed; and its size.
pub(super) fn large_report(path: &Path, most: u64) -> Option<(File, u64)> {
    let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    if !(LARGE_BYTES..=most).contains(&meta.len()) {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let mut head = [0; report::MAGIC.len()];
    file.read_exact(&mut head).ok()?;
    (head == *report::MAGIC).then_some((file, meta.len()))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let bytes = files::read(path, MOST_BYTES).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            let meant = match nearest_path(path) {
                Some(meant) => format!("did you mean {}?", meant.display()),
                None => "name a step, an .ncu-rep, ncu's CSV exports or a saved profile".to_owned(),
            };
            Error::input(path, format!("there is no such file; {meant}"))
        }
        _ => Error::io(path, "read", &e),
    })?;
    if bytes.is_empty() {
        let again = if is_named_report(path) {
            "is empty; copy the report again, or collect it again"
        } else {
            "is empty; export it again (ncu --import … --csv)"
        };
        return Err(Error::input(path, again));
    }
    Ok(bytes)
}

/// True for a file whose name says that it is a report.
fn is_named_report(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "ncu-rep" || extension == "ncu-repz")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_stem_are_one_profile() {
        let paths: Vec<PathBuf> =
            ["a/x.raw.csv", "a/y.raw.csv", "a/x.details.csv"].map(PathBuf::from).into();
        let groups = group(&paths);
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].stem, PathBuf::from("a/x"));
        assert_eq!(groups[0].paths.len(), 2);
    }

    #[test]
    fn pages_named_by_their_kind_are_one_profile() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["raw.csv", "details.csv", "source.csv", "other.raw.csv"] {
            std::fs::write(at(name), "x").unwrap();
        }
        let groups = group(&[at("raw.csv")]);
        assert_eq!(groups[0].paths, ["raw.csv", "details.csv", "source.csv"].map(at));
        assert_eq!(groups[0].stem, folder.path());
        assert_eq!(group(&in_folder(folder.path()).unwrap()).len(), 2);
    }

    #[test]
    fn a_details_page_brings_the_raw_page() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["x.details.csv", "x.raw.csv"].map(|name| folder.path().join(name));
        std::fs::write(&paths[0], "x").unwrap();
        assert_eq!(group(&paths[..1])[0].paths, &paths[..1], "there is none yet");
        std::fs::write(&paths[1], "x").unwrap();
        assert_eq!(group(&paths[..1])[0].paths, paths);
    }

    #[test]
    fn a_raw_page_brings_its_siblings() {
        let folder = tempfile::tempdir().unwrap();
        for ending in ["raw", "details", "source.sass", "source.cuda-sass"] {
            std::fs::write(folder.path().join(format!("x.{ending}.csv")), "x").unwrap();
        }
        let groups = group(&[folder.path().join("x.raw.csv")]);
        let names: Vec<_> = groups[0]
            .paths
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, ["x.raw.csv", "x.details.csv", "x.source.cuda-sass.csv"]);
    }
}
