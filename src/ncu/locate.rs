//! Where ncu is on this machine.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::NcuCommand;
use super::process::{Limits, Stderr, stream};
use super::program::Ncu;
use super::version::Version;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::text::duration;

/// What to do where there is no usable ncu.
pub const REMEDY: &str = "install Nsight Compute (it comes with the CUDA toolkit, and separately \
    from developer.nvidia.com/nsight-compute), or name it with --ncu PATH or ADOPROF_NCU. `adoprof \
    analyze` reads existing reports without it";

/// ncu answers in a tenth of a second; a network file system may take longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Finds ncu: `explicit` (`--ncu`), then `ADOPROF_NCU`, then `PATH`, then the usual install folders. It has
/// to answer within `timeout`, where that is shorter than it is given anyway.
///
/// # Errors
/// [`Error::Environment`] where there is none, where the named one is not ncu, or where it is older
/// than [`Version::OLDEST`], or where it does not answer; [`Error::Interrupted`] at Ctrl-C.
pub fn locate(explicit: Option<&Path>, timeout: Option<Duration>) -> Result<Ncu> {
    let search = Search {
        explicit: explicit.map(Path::to_owned),
        variable: std::env::var_os("ADOPROF_NCU").filter(|value| !value.is_empty()),
        path: std::env::var_os("PATH"),
        root: PathBuf::from("/"),
        patience: timeout.unwrap_or(PATIENCE).min(PATIENCE),
    };
    search.run()
}

/// Everything that decides where ncu is looked for.
#[derive(Debug, Clone, Default)]
struct Search {
    explicit: Option<PathBuf>,
    variable: Option<OsString>,
    path: Option<OsString>,
    /// The root under which install folders lie; another one in tests.
    root: PathBuf,
    /// How long ncu may take to answer.
    patience: Duration,
}

impl Search {
    fn run(&self) -> Result<Ncu> {
        let named = self
            .explicit
            .as_ref()
            .map(|path| ("--ncu", path.clone()))
            .or_else(|| Some(("ADOPROF_NCU", PathBuf::from(self.variable.as_ref()?))));
        if let Some((source, name)) = named {
            let program = self.resolve(&name).ok_or_else(|| {
                Error::Environment(format!(
                    "{source} names {}, which is not an executable program; {REMEDY}",
                    name.display()
                ))
            })?;
            return self.examine(program);
        }
        let found = self.in_path(OsStr::new("ncu")).or_else(|| self.installed().into_iter().next());
        match found {
            Some(program) => self.examine(program),
            None => Err(Error::Environment(format!(
                "ncu is neither in PATH nor in /usr/local/cuda* or /opt/nvidia/nsight-compute; {REMEDY}"
            ))),
        }
    }

    /// A path as it is; a bare name through PATH.
    fn resolve(&self, name: &Path) -> Option<PathBuf> {
        if name.components().count() == 1 && !runnable(name) {
            return self.in_path(name.as_os_str());
        }
        runnable(name).then(|| name.to_owned())
    }

    fn in_path(&self, name: &OsStr) -> Option<PathBuf> {
        std::env::split_paths(self.path.as_ref()?)
            .map(|folder| folder.join(name))
            .find(|file| runnable(file))
    }

    /// Programs in the usual install folders, newest release first.
    fn installed(&self) -> Vec<PathBuf> {
        let mut found: Vec<(Option<Version>, PathBuf)> = Vec::new();
        for (parent, prefix, below) in
            [("opt/nvidia/nsight-compute", "", "ncu"), ("usr/local", "cuda", "bin/ncu")]
        {
            let Ok(entries) = std::fs::read_dir(self.root.join(parent)) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                let Some(rest) = name.strip_prefix(prefix) else { continue };
                let program = entry.path().join(below);
                if runnable(&program) {
                    // `cuda-13.0` sorts among the toolkits, `2025.3.1` above them.
                    found.push((Version::parse(rest.trim_start_matches('-')), program));
                }
            }
        }
        found.sort_by(|a, b| b.cmp(a));
        found.into_iter().map(|(_, program)| program).collect()
    }

    fn examine(&self, program: PathBuf) -> Result<Ncu> {
        let banner = answer(&program, "--version", self.patience)?;
        let version = Version::from_banner(&banner).ok_or_else(|| {
            let said = banner.lines().next().unwrap_or("nothing");
            Error::Environment(format!(
                "{} is not Nsight Compute's ncu: its answer to --version is \"{}\"; {REMEDY}",
                program.display(),
                crate::text::printable(said)
            ))
        })?;
        if version < Version::OLDEST {
            return Err(Error::Environment(format!(
                "{} is {version}, adoprof needs {} or newer; {REMEDY}",
                program.display(),
                Version::OLDEST
            )));
        }
        let stock_sections = self.stock_sections(&program, version);
        Ok(Ncu { program, version, stock_sections })
    }

    /// The folder with NVIDIA's section files: beside the program or above it (the program is often
    /// a link or a small script), in a `nsight-compute-*` folder of the toolkit, or under /opt.
    fn stock_sections(&self, program: &Path, version: Version) -> Option<PathBuf> {
        let real = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
        let beside = real.ancestors().skip(1).take(4).flat_map(|folder| {
            let mut candidates = vec![folder.join("sections")];
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if let Some(rest) = name.to_string_lossy().strip_prefix("nsight-compute-")
                    && Version::parse(rest) == Some(version)
                {
                    candidates.push(entry.path().join("sections"));
                }
            }
            candidates
        });
        let under_opt = self.root.join(format!("opt/nvidia/nsight-compute/{version}/sections"));
        beside
            .chain([under_opt, self.root.join("usr/lib/nsight-compute/sections")])
            .find(|folder| folder.join("SpeedOfLight.section").is_file())
    }
}

/// What a program prints for an option such as `--version` within so long; more than a page is not read.
///
/// # Errors
/// [`Error::Environment`] where it does not answer.
pub(super) fn answer(program: &Path, option: &str, patience: Duration) -> Result<String> {
    const PAGE: usize = 1 << 17;
    let command = NcuCommand {
        program: program.to_owned(),
        args: vec![option.into()],
        env: vec![("LC_ALL".into(), "C".into())],
        cwd: None,
    };
    let interrupted = interrupt::flag();
    let limits = Limits {
        timeout: Some(patience.into()),
        interrupted: &interrupted,
        write_up: Duration::ZERO,
    };
    let mut output = Vec::new();
    let ended = stream(&command, Stderr::Merged, limits, &format!("ncu {option}"), |piece| {
        output.extend_from_slice(&piece[..piece.len().min(PAGE.saturating_sub(output.len()))]);
    });
    match ended {
        Err(Error::Interrupted(_)) if !interrupt::requested() => Err(Error::Environment(format!(
            "{} does not answer {option} within {}; {REMEDY}",
            program.display(),
            duration(patience.as_secs_f64() * 1e9)
        ))),
        ended => ended.map(|_| String::from_utf8_lossy(&output).into_owned()),
    }
}

/// True for a file that may be executed.
fn runnable(path: &Path) -> bool {
    let Ok(meta) = std::fs::metadata(path) else { return false };
    #[cfg(unix)]
    let executable = std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let executable = true;
    meta.is_file() && executable
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A script that answers `--version` with a release.
    fn fake(path: &Path, version: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let script =
            format!("#!/bin/sh\necho 'Nsight Compute'\necho 'Version {version}.0 (build 1)'\n");
        // Another program puts it in place: a file that a test thread had open for writing while
        // another one forked is busy, and can't be run.
        let draft = path.with_extension("draft");
        std::fs::write(&draft, script).unwrap();
        let install =
            std::process::Command::new("install").args(["-m", "755"]).args([&draft, path]).status();
        assert!(install.unwrap().success());
    }

    fn search(root: &Path) -> Search {
        Search { root: root.to_owned(), patience: PATIENCE, ..Search::default() }
    }

    #[test]
    fn the_command_line_wins_over_the_variable_and_the_path() {
        let dir = tempfile::tempdir().unwrap();
        for (name, version) in [("a", "2025.1.0"), ("b", "2025.2.0"), ("c", "2025.3.0")] {
            fake(&dir.path().join(name).join("ncu"), version);
        }
        let mut search = search(dir.path());
        search.path = Some(dir.path().join("c").into());
        assert_eq!(search.run().unwrap().version, Version::new(2025, 3, 0));
        search.variable = Some(dir.path().join("b/ncu").into());
        assert_eq!(search.run().unwrap().version, Version::new(2025, 2, 0));
        search.explicit = Some(dir.path().join("a/ncu"));
        assert_eq!(search.run().unwrap().version, Version::new(2025, 1, 0));
    }

    #[test]
    fn the_newest_installed_release_is_taken_with_its_sections() {
        let dir = tempfile::tempdir().unwrap();
        let opt = dir.path().join("opt/nvidia/nsight-compute");
        fake(&opt.join("2024.3.2/ncu"), "2024.3.2");
        fake(&opt.join("2025.3.1/ncu"), "2025.3.1");
        fake(&dir.path().join("usr/local/cuda-12.4/bin/ncu"), "2024.1.1");
        let sections = opt.join("2025.3.1/sections");
        std::fs::create_dir_all(&sections).unwrap();
        std::fs::write(sections.join("SpeedOfLight.section"), "").unwrap();
        let ncu = search(dir.path()).run().unwrap();
        assert_eq!(ncu.program, opt.join("2025.3.1/ncu"));
        assert_eq!(
            ncu.stock_sections.map(|path| path.canonicalize().unwrap()),
            Some(sections.canonicalize().unwrap())
        );
    }

    #[test]
    fn one_that_does_not_answer_is_ended_with_what_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("ncu");
        fake(&program, "2025.3.1");
        let told = dir.path().join("pid");
        let script = format!("#!/bin/sh\nsleep 300 &\necho $! > {}\nwait\n", told.display());
        std::fs::write(dir.path().join("slow"), script).unwrap();
        let slow = ["-m", "755"].map(std::ffi::OsString::from).into_iter();
        let slow = slow.chain([dir.path().join("slow").into(), program.clone().into()]);
        assert!(std::process::Command::new("install").args(slow).status().unwrap().success());
        let mut search = search(dir.path());
        search.explicit = Some(program);
        search.patience = Duration::from_millis(300);
        let message = search.run().unwrap_err().to_string();
        assert!(message.contains("does not answer --version within 300 ms"), "{message}");
        let child = std::fs::read_to_string(told).unwrap();
        let state = std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
        assert!(state.is_err() || state.unwrap().contains(") Z "), "its child is gone");
    }

    #[test]
    fn failures_say_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let nothing = search(dir.path()).run().unwrap_err();
        assert!(matches!(nothing, Error::Environment(_)));
        assert!(nothing.to_string().contains("--ncu PATH"), "{nothing}");

        let mut old = search(dir.path());
        fake(&dir.path().join("old/ncu"), "2021.3.1");
        old.explicit = Some(dir.path().join("old/ncu"));
        let message = old.run().unwrap_err().to_string();
        assert!(message.contains("2021.3.1") && message.contains("2022.3.0"), "{message}");

        let mut wrong = search(dir.path());
        wrong.explicit = Some("/bin/sh".into());
        assert!(wrong.run().unwrap_err().to_string().contains("is not Nsight Compute"));

        let mut missing = search(dir.path());
        missing.variable = Some("/nowhere/ncu".into());
        assert!(missing.run().unwrap_err().to_string().contains("ADOPROF_NCU names /nowhere/ncu"));
    }
}
