//! Which headers a CUDA or C++ source includes, as far as they lie here as files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::files;

/// Headers of one source that are looked at; a source with more of its own is not known.
const MOST: usize = 1000;

/// The folders that a compiler's flags name for headers: `-I DIR`, `-IDIR`, `--include-path=DIR`, `-isystem DIR`.
pub(crate) fn folders<'a>(flags: impl IntoIterator<Item = &'a str>) -> Vec<PathBuf> {
    let mut flags = flags.into_iter();
    let mut folders = Vec::new();
    while let Some(flag) = flags.next() {
        let named = match flag {
            "-I" | "--include-path" | "-isystem" => flags.next(),
            _ => ["-I", "--include-path=", "-isystem="]
                .iter()
                .find_map(|name| flag.strip_prefix(name)),
        };
        folders.extend(named.map(PathBuf::from));
    }
    folders
}

/// The headers that a source includes, and those that they include, each once. A header in quotes is looked for
/// beside the file that names it and then in `folders`, one in angle brackets in `folders` alone; what is not
/// found is left out, as the compiler's own headers are.
pub(crate) fn headers(source: &Path, text: &str, folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut known: HashSet<PathBuf> = source.canonicalize().into_iter().collect();
    add(source, text, folders, &mut known, &mut found);
    let mut at = 0;
    while let Some(header) = found.get(at).cloned() {
        if let Ok(text) = files::read_text(&header) {
            add(&header, &text, folders, &mut known, &mut found);
        }
        at += 1;
    }
    found
}

/// Adds the headers that a text names itself.
fn add(
    of: &Path,
    text: &str,
    folders: &[PathBuf],
    known: &mut HashSet<PathBuf>,
    found: &mut Vec<PathBuf>,
) {
    for (name, is_quoted) in text.lines().filter_map(included) {
        let beside = of.parent().filter(|_| is_quoted);
        let places = beside.into_iter().chain(folders.iter().map(PathBuf::as_path));
        let header = places.map(|folder| folder.join(name)).find(|path| path.is_file());
        let Some(header) = header.and_then(|path| path.canonicalize().ok()) else { continue };
        if found.len() < MOST && known.insert(header.clone()) {
            found.push(header);
        }
    }
}

/// The header that a line includes, and whether it stands in quotes.
fn included(line: &str) -> Option<(&str, bool)> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    let name = directive.strip_prefix("include")?.trim_start();
    if let Some(name) = name.strip_prefix('"') {
        return Some((name.split_once('"')?.0, true));
    }
    Some((name.strip_prefix('<')?.split_once('>')?.0, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_include_are_known() {
        assert_eq!(included("#include \"a.h\" // why"), Some(("a.h", true)));
        assert_eq!(included("  #  include <cub/cub.cuh>"), Some(("cub/cub.cuh", false)));
        for other in
            ["// #include \"a.h\"", "#define include \"a.h\"", "#include A", "#include \"a.h"]
        {
            assert_eq!(included(other), None, "{other}");
        }
    }

    #[test]
    fn flags_name_folders() {
        let flags = ["-O3", "-I", "a", "-Ib/c", "--include-path=d", "-isystem", "e", "-I"];
        assert_eq!(folders(flags), ["a", "b/c", "d", "e"].map(PathBuf::from));
    }

    #[test]
    fn headers_of_headers_are_found_once_and_in_circles() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        std::fs::create_dir(at("lib")).unwrap();
        for (name, text) in [
            ("tile.cuh", "#pragma once\n#include \"lib/load.cuh\"\n"),
            ("lib/load.cuh", "#include \"../tile.cuh\"\n#include <far.h>\n#include \"gone.h\"\n"),
            ("lib/far.h", ""),
            // Beside the header that names it, not found; a folder has no text.
            ("far.h", ""),
        ] {
            std::fs::write(at(name), text).unwrap();
        }
        let text =
            "#include \"tile.cuh\"\n#include <cstdio>\n#include \"lib\"\n#include \"tile.cuh\"\n";
        let all = headers(&at("k.cu"), text, &[at("lib")]);
        assert_eq!(all, [at("tile.cuh"), at("lib/load.cuh"), at("lib/far.h")]);
        assert_eq!(headers(&at("k.cu"), text, &[]), [at("tile.cuh"), at("lib/load.cuh")]);
    }
}
