//! What the command-line tests share: adoprof in a folder of its own, and profiles to give it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::survey::STAND_INS;

/// An empty folder in which adoprof runs.
pub(super) struct Bench {
    folder: tempfile::TempDir,
}

/// How a run ended, as text.
#[derive(Debug)]
pub(super) struct Ran {
    /// The exit code.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    /// The result as JSON.
    pub(super) fn json(&self) -> serde_json::Value {
        assert_eq!(self.code, Some(0), "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Asserts a failure: its code, one sentence on stderr that holds these parts, no result.
    pub(super) fn fails(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.out, "", "a failure has no result: {self:?}");
        let lines: Vec<&str> =
            self.err.lines().filter(|line| !line.starts_with("adoprof: profiling ")).collect();
        assert!(matches!(lines[..], [line] if line.starts_with("adoprof: ")), "{self:?}");
        for part in parts {
            assert!(self.err.contains(part), "no `{part}`: {self:?}");
        }
    }
}

/// A file under `tests/`.
pub(super) fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)
}

/// The stand-in for ncu.
pub(super) fn stand_in() -> String {
    file("stand_in/ncu").display().to_string()
}

impl Bench {
    /// A fresh one.
    pub(super) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A path in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder.
    pub(super) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Copies a fixture into the folder.
    pub(super) fn copy(&self, fixture: &str, name: &str) {
        self.write(name, std::fs::read(file("fixtures").join(fixture)).unwrap());
    }

    /// Copies the files of a folder, without those of folders in it, to where they may be built.
    pub(super) fn copy_files(&self, from: &Path, to: &str) {
        for entry in std::fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_file() {
                self.write(&format!("{to}/{name}"), std::fs::read(&path).unwrap());
            }
        }
    }

    /// Writes a script that can be run.
    pub(super) fn script(&self, name: &str, text: &str) {
        self.write(name, text);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path(name), mode).unwrap();
    }

    /// Lets a command of adoprof find the stand-ins for CUPTI and for an ncu that succeeds with one raw page, and
    /// none of the others.
    pub(super) fn stand_ins<'a>(&self, command: &'a mut Command, raw: &str) -> &'a mut Command {
        self.write("raw.csv", raw);
        self.write("none.csv", "");
        self.stand_ins_with(command, ["raw.csv", "none.csv", "none.csv"])
    }

    /// The same with these files of the folder as the raw, details, and source page.
    pub(super) fn stand_ins_with<'a>(
        &self,
        command: &'a mut Command,
        [raw, details, source]: [&str; 3],
    ) -> &'a mut Command {
        command
            .env("ADOPROF_NCU", stand_in())
            .env("ADOPROF_CUPTI", STAND_INS.cupti())
            .env("STAND_IN_CUPTI_PATH", STAND_INS.cupti())
            .env("STAND_IN_CASE", "success")
            .env("STAND_IN_RAW", self.path(raw))
            .env("STAND_IN_DETAILS", self.path(details))
            .env("STAND_IN_SOURCE", self.path(source))
    }

    /// Step v2 on an H200 as raw, details and source page of one stem.
    pub(super) fn v2(&self, stem: &str) {
        self.copy("rules/ado_v2.raw.csv", &format!("{stem}.raw.csv"));
        self.copy("cli/v2.details.csv", &format!("{stem}.details.csv"));
        self.copy("rules/ado_v2.source.cuda-sass.csv", &format!("{stem}.source.cuda-sass.csv"));
    }

    /// adoprof without a device, a terminal or an ncu of this machine.
    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adoprof"));
        command
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path().join("home"))
            .env("ADOPROF_CACHE", self.folder.path().join("cache"))
            .env("CUDA_VISIBLE_DEVICES", "")
            .env_remove("ADOPROF_NCU")
            .env_remove("COLUMNS")
            .env_remove("NO_COLOR")
            .env_remove("FORCE_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .env_remove("CLICOLOR")
            .args(args);
        command
    }

    /// Runs it to its end.
    pub(super) fn run(&self, args: &[&str]) -> Ran {
        ran(&mut self.command(args))
    }

    /// `profile` of a program with the stand-in ncu, which gives v2's pages.
    pub(super) fn profile(&self, case: &str, args: &[&str]) -> Ran {
        ran(&mut self.profiling(case, args))
    }

    /// The same before it runs.
    pub(super) fn profiling(&self, case: &str, args: &[&str]) -> Command {
        self.v2("pages/v2");
        let mut command = self.command(&["profile", "--no-survey", "--ncu", &stand_in()]);
        command
            .args(args)
            .args(["--", "./program", "an argument"])
            .env("STAND_IN_CASE", case)
            .env("STAND_IN_PIDS", self.path("pids"))
            .env("STAND_IN_ARGV", self.path("argv"))
            .env("STAND_IN_RAW", self.path("pages/v2.raw.csv"))
            .env("STAND_IN_DETAILS", self.path("pages/v2.details.csv"))
            .env("STAND_IN_SOURCE", self.path("pages/v2.source.cuda-sass.csv"));
        command
    }

    /// Saved and half-written profiles under a folder.
    pub(super) fn left(&self, name: &str) -> Vec<PathBuf> {
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    walk(&path, found);
                } else {
                    found.push(path);
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.path(name), &mut found);
        found
    }
}

/// A run that takes longer than this hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// Runs a command to its end, or to a failure of the test at [`LIMIT`].
pub(super) fn ran(command: &mut Command) -> Ran {
    let mut expression = duct::cmd(command.get_program(), command.get_args());
    for (name, value) in command.get_envs() {
        expression = match value {
            Some(value) => expression.env(name, value),
            None => expression.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        expression = expression.dir(folder);
    }
    let streams = expression.stdin_null().stdout_capture().stderr_capture();
    let running = streams.unchecked().start().unwrap();
    let Some(output) = running.wait_timeout(LIMIT).unwrap() else {
        running.kill().unwrap();
        panic!("{command:?} did not end within {LIMIT:?}");
    };
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
    Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}
