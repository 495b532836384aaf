//! Where CUPTI may lie. The library that is loaded into the program tries these in turn.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Places of CUPTI in a Python installation, below a folder that modules are found in: the packages of
/// CUDA 13, and those of CUDA 11 and 12.
const IN_PYTHON: [&str; 2] = ["nvidia/cu13/lib", "nvidia/cuda_cupti/lib"];

/// Places of CUPTI in a toolkit.
const IN_TOOLKIT: [&str; 4] =
    ["extras/CUPTI/lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib64"];

/// CUPTI's libraries that may serve a program, the likeliest first: those of the program's Python, whose
/// own CUDA code may load the same one, then those of toolkits. The loader's own path comes after all.
#[must_use]
pub fn candidates(program: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for modules in python_of(program).iter().flat_map(|python| module_folders(python)) {
        folders.extend(IN_PYTHON.iter().map(|place| modules.join(place)));
    }
    for toolkit in toolkits() {
        folders.extend(IN_TOOLKIT.iter().map(|place| toolkit.join(place)));
    }
    let mut found: Vec<PathBuf> = Vec::new();
    for library in folders.iter().filter_map(|folder| library_in(folder)) {
        if !found.contains(&library) {
            found.push(library);
        }
    }
    found
}

/// A CUPTI that programs of this machine find: the one that `ADOPROF_CUPTI` names, one for `python3`, or one
/// where the loader looks.
pub(crate) fn anywhere() -> Option<PathBuf> {
    let named = std::env::var_os("ADOPROF_CUPTI").map(PathBuf::from).filter(|path| path.is_file());
    let path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let usual = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"];
    named.or_else(|| candidates(Path::new("python3")).into_iter().next()).or_else(|| {
        let folders = std::env::split_paths(&path).chain(usual.map(PathBuf::from));
        folders.into_iter().find_map(|folder| library_in(&folder))
    })
}

/// CUPTI in a folder: `libcupti.so.12` rather than the longer names that it may be a link to.
fn library_in(folder: &Path) -> Option<PathBuf> {
    let names = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.file_name());
    let name = names
        .filter(|name| name.to_string_lossy().starts_with("libcupti.so"))
        .min_by_key(|name| (name == "libcupti.so", name.len()))?;
    Some(folder.join(name))
}

/// Toolkits: the one that the environment names, then those in the usual places, the newest first.
fn toolkits() -> Vec<PathBuf> {
    let named = ["CUDA_HOME", "CUDA_PATH"].iter().filter_map(std::env::var_os).map(PathBuf::from);
    let mut usual: Vec<PathBuf> = std::fs::read_dir("/usr/local")
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    usual.retain(|path| is_named(path, "cuda-"));
    usual.sort_by_key(|path| std::cmp::Reverse(version(path)));
    let fixed = ["/usr/local/cuda", "/opt/cuda"].map(PathBuf::from);
    named.chain(fixed).chain(usual).filter(|path| path.is_dir()).collect()
}

fn is_named(path: &Path, start: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
}

/// `cuda-12.4` as numbers.
fn version(path: &Path) -> Vec<u32> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split(['-', '.']).filter_map(|part| part.parse().ok()).collect()
}

/// The Python that runs the program, if one does: the program itself, or the one that its first line names.
fn python_of(program: &Path) -> Option<PathBuf> {
    let is_python = |path: &Path| is_named(path, "python") || is_named(path, "pypy");
    if is_python(program) {
        return Some(program.to_owned());
    }
    let beginning = beginning(&in_path(program)?)?;
    let line = beginning.strip_prefix("#!")?.lines().next()?;
    line.split_whitespace().map(PathBuf::from).find(|word| is_python(word))
}

/// The first bytes of a file, which for a script are text.
fn beginning(file: &Path) -> Option<String> {
    let mut bytes = [0; 256];
    let length = std::io::Read::read(&mut std::fs::File::open(file).ok()?, &mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

/// The file that a program's name means.
pub(super) fn in_path(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.is_file().then(|| program.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// The folders in which a Python finds modules, as it says itself.
fn module_folders(python: &Path) -> Vec<PathBuf> {
    let output = Command::new(python)
        .args([OsStr::new("-c"), OsStr::new("import sys; print('\\n'.join(sys.path))")])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().filter(|line| !line.is_empty()).map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_names_its_python() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("train");
        for (line, python) in [
            ("#!/usr/bin/env python3\n", Some("python3")),
            ("#!/opt/conda/bin/python3.11 -u\n", Some("/opt/conda/bin/python3.11")),
            ("#!/bin/sh\npython3 x.py\n", None),
            ("\u{7f}ELF", None),
        ] {
            std::fs::write(&script, line).unwrap();
            assert_eq!(python_of(&script), python.map(PathBuf::from), "{line}");
        }
        assert_eq!(python_of(Path::new("python3.12")), Some(PathBuf::from("python3.12")));
    }

    #[test]
    fn the_version_that_programs_link_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(library_in(folder.path()), None);
        for name in ["libcupti.so", "libcupti.so.2025.1.1", "libcupti.so.12", "libcuptiutil.a"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        assert_eq!(library_in(folder.path()), Some(folder.path().join("libcupti.so.12")));
    }

    #[test]
    fn newer_toolkits_come_first() {
        let mut paths = ["cuda-9.2", "cuda-12.4", "cuda-11.8"].map(PathBuf::from);
        paths.sort_by_key(|path| std::cmp::Reverse(version(path)));
        assert_eq!(paths, ["cuda-12.4", "cuda-11.8", "cuda-9.2"].map(PathBuf::from));
    }
}
