//! The shared libraries that a program is linked with, found as the loader finds them. Nothing is run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ReadCache};

/// Libraries that are followed: programs have some hundred.
const MOST: usize = 1000;

/// Folders in which the loader looks last.
const USUAL: [&str; 8] = [
    "/lib64",
    "/usr/lib64",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/lib",
    "/usr/lib",
];

/// The libraries that a program needs, and those that they need, each once, the program's own first.
pub(super) fn libraries(program: &Path) -> Vec<PathBuf> {
    let usual = usual();
    let mut seen = BTreeSet::from([real(program)]);
    let mut found = vec![real(program)];
    let mut next = 0;
    while let Some(file) = found.get(next).cloned() {
        next += 1;
        let Some(needs) = needs(&file) else { continue };
        for name in &needs.libraries {
            let place = needs.folders.iter().chain(&usual).map(|folder| folder.join(name));
            let Some(library) = place.map(|path| real(&path)).find(|path| path.is_file()) else {
                continue;
            };
            if found.len() < MOST && seen.insert(library.clone()) {
                found.push(library);
            }
        }
    }
    found.split_off(1)
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// What a file says of the libraries that it needs.
#[derive(Debug, Default, PartialEq, Eq)]
struct Needs {
    libraries: Vec<PathBuf>,
    /// Where it says that they lie.
    folders: Vec<PathBuf>,
}

fn needs(path: &Path) -> Option<Needs> {
    const NEEDED: u64 = 1;
    const RPATH: u64 = 15;
    const RUNPATH: u64 = 29;
    let file = File::open(path).ok()?;
    let cache = ReadCache::new(file);
    let elf = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
    let data = |name: &str| elf.section_by_name(name)?.data().ok();
    let (entries, names) = (data(".dynamic")?, data(".dynstr")?);
    let name = |at: u64| -> Option<&OsStr> {
        let rest = names.get(usize::try_from(at).ok()?..)?;
        rest.split(|&byte| byte == 0).next().map(OsStr::from_bytes)
    };
    let number =
        |bytes: &[u8]| bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    let mut needs = Needs::default();
    for entry in entries.chunks_exact(16) {
        let (tag, value) = entry.split_at(8);
        let Some(text) = name(number(value)) else { continue };
        match number(tag) {
            NEEDED => needs.libraries.push(PathBuf::from(text)),
            RPATH | RUNPATH => {
                let own = path.parent().unwrap_or(Path::new("/")).to_string_lossy();
                let text = text.to_string_lossy();
                let text = text.replace("${ORIGIN}", &own).replace("$ORIGIN", &own);
                needs.folders.extend(std::env::split_paths(&text));
            }
            _ => {}
        }
    }
    Some(needs)
}

/// Folders that hold for all files: those of the environment, of the loader's configuration, and the usual ones.
fn usual() -> Vec<PathBuf> {
    let named = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> =
        std::env::split_paths(&named).filter(|folder| folder.is_absolute()).collect();
    let mut files = vec![PathBuf::from("/etc/ld.so.conf")];
    let more = std::fs::read_dir("/etc/ld.so.conf.d");
    files.extend(more.into_iter().flatten().flatten().map(|entry| entry.path()));
    files.sort();
    for text in files.iter().filter_map(|file| std::fs::read_to_string(file).ok()) {
        let lines = text.lines().map(str::trim);
        folders.extend(lines.filter(|line| line.starts_with('/')).map(PathBuf::from));
    }
    folders.extend(USUAL.map(PathBuf::from));
    folders
}

#[cfg(test)]
mod tests {
    use super::super::sample::elf;
    use super::*;

    /// A file that needs these, in folders that it names.
    fn file(needed: &[&str], folders: &str) -> Vec<u8> {
        let mut names = b"\0".to_vec();
        let mut entries = Vec::new();
        let all = needed.iter().map(|name| (1_u64, *name)).chain([(29, folders)]);
        for (tag, text) in all {
            entries.extend(tag.to_le_bytes());
            entries.extend((names.len() as u64).to_le_bytes());
            names.extend(text.as_bytes());
            names.push(0);
        }
        entries.extend([0; 16]);
        elf(&[(".dynamic", &entries), (".dynstr", &names)])
    }

    #[test]
    fn libraries_are_followed_from_one_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().canonicalize().unwrap().join(name);
        std::fs::create_dir(place("lib")).unwrap();
        std::fs::write(place("program"), file(&["liba.so", "libnowhere.so"], "$ORIGIN/lib"))
            .unwrap();
        std::fs::write(place("lib/liba.so"), file(&["libb.so"], "$ORIGIN")).unwrap();
        // Two that need each other.
        std::fs::write(place("lib/libb.so"), file(&["liba.so"], "${ORIGIN}")).unwrap();
        assert_eq!(libraries(&place("program")), [place("lib/liba.so"), place("lib/libb.so")]);
        std::fs::write(place("script"), "#!/bin/sh\n").unwrap();
        assert!(libraries(&place("script")).is_empty());
    }
}
