//! The launchers of ranks that adoprof knows: where in their command lines the program stands, so that something else
//! can be started in its place.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Launchers that start whatever program follows their options.
const OF_PROGRAMS: [&str; 9] = [
    "mpirun",
    "mpiexec",
    "mpiexec.hydra",
    "mpirun.openmpi",
    "mpirun.mpich",
    "orterun",
    "prterun",
    "srun",
    "jsrun",
];

/// Launchers that start Python scripts with the interpreter that `PYTHON_EXEC` names.
const OF_SCRIPTS: [&str; 2] = ["torchrun", "accelerate"];

/// The same as modules behind `python -m`.
const MODULES: [&str; 2] = ["torch.distributed.run", "torch.distributed.launch"];

/// What may stand before a launcher.
const BEFORE: [&str; 6] = ["env", "numactl", "timeout", "nice", "time", "stdbuf"];

/// Options of the launchers of programs whose next word is theirs, although it may be the name of a program too
/// (`--map-by node`); those behind `--mca` are two.
const WITH_VALUE: [&str; 30] = [
    "-n",
    "-np",
    "-c",
    "-N",
    "-x",
    "-H",
    "-host",
    "--host",
    "-hostfile",
    "--hostfile",
    "-machinefile",
    "--map-by",
    "-map-by",
    "--bind-to",
    "-bind-to",
    "--rank-by",
    "-rank-by",
    "-wdir",
    "--wdir",
    "-p",
    "-A",
    "-w",
    "-t",
    "-J",
    "-G",
    "-D",
    "--ntasks",
    "--partition",
    "--account",
    "--gres",
];
const WITH_TWO_VALUES: [&str; 5] = ["--mca", "-mca", "--prtemca", "-genv", "-env"];

/// Where something else can be started in the ranks' place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Launcher {
    /// The program is this word of the command line.
    Word(usize),
    /// The launcher starts this interpreter, unless `PYTHON_EXEC` names another.
    Python(PathBuf),
}

impl Launcher {
    /// The launcher that a command line begins with, if it is one of those known here.
    pub(crate) fn of(words: &[OsString]) -> Option<Self> {
        let at = first_launcher(words)?;
        let name = file_name(&words[at]);
        let rest = &words[at + 1..];
        if OF_PROGRAMS.contains(&name.as_str()) {
            // Several programs, each with ranks of its own.
            let is_one = !rest.iter().any(|word| word == ":");
            return program(rest).filter(|_| is_one).map(|place| Self::Word(at + 1 + place));
        }
        if rest.iter().any(|word| word == "--no-python" || word == "--no_python") {
            return program(rest).map(|place| Self::Word(at + 1 + place));
        }
        let given = std::env::var_os("PYTHON_EXEC").map(PathBuf::from);
        let python = if name.starts_with("python") {
            resolved(&words[at])
        } else {
            resolved(&words[at]).and_then(|path| interpreter(&path))
        };
        given.or(python).map(Self::Python)
    }
}

/// The place of the launcher: the first word, or behind what may stand before it.
fn first_launcher(words: &[OsString]) -> Option<usize> {
    let is_launcher = |at: &usize| {
        let name = file_name(&words[*at]);
        let word = |ahead: usize| words.get(at + ahead).map(|word| word.to_string_lossy());
        let is_module = name.starts_with("python")
            && word(1).is_some_and(|option| option == "-m")
            && word(2).is_some_and(|module| MODULES.contains(&&*module));
        let is_script = OF_SCRIPTS.contains(&name.as_str())
            && (name != "accelerate" || word(1).is_some_and(|command| command == "launch"));
        OF_PROGRAMS.contains(&name.as_str()) || is_script || is_module
    };
    let first = file_name(words.first()?);
    let most = if BEFORE.contains(&first.as_str()) { words.len() } else { 1 };
    (0..most).find(is_launcher)
}

/// The first word that is a program and no option's value.
fn program(words: &[OsString]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.to_string_lossy();
        at += if WITH_TWO_VALUES.contains(&&*text) {
            3
        } else if WITH_VALUE.contains(&&*text) {
            2
        } else if text.starts_with('-') || resolved(word).is_none() {
            1
        } else {
            return Some(at);
        };
    }
    None
}

fn file_name(word: &OsStr) -> String {
    Path::new(word).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The program that a word names: a path as it stands, a bare name in `PATH`.
fn resolved(word: &OsStr) -> Option<PathBuf> {
    let can_run = |path: &Path| {
        let meta = path.metadata();
        meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    let path = Path::new(word);
    if path.components().count() > 1 {
        return can_run(path).then(|| path.to_owned());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|path| can_run(path))
}

/// The interpreter that a script's first line names.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let bytes = std::fs::read(script).ok()?;
    let line = bytes.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line).into_owned();
    let mut words = line.split_whitespace();
    let first = words.next()?;
    // `#!/usr/bin/env python3`
    let name =
        if first.ends_with("/env") { words.find(|word| !word.starts_with('-'))? } else { first };
    resolved(OsStr::new(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<Launcher> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Launcher::of(&words)
    }

    #[test]
    fn the_program_stands_behind_the_launchers_options() {
        for (line, place) in [
            ("mpirun -np 4 sh run.sh", 3),
            ("/opt/mpi/bin/mpiexec -n 2 --mca btl self /bin/sh", 6),
            ("mpirun --map-by sh -x sh -n 2 sh", 7),
            ("srun --ntasks=2 --gpus-per-task=1 sh -c true", 3),
            ("env A=b srun sh", 3),
        ] {
            assert_eq!(of(line), Some(Launcher::Word(place)), "{line}");
        }
    }

    #[test]
    fn other_command_lines_have_none() {
        for line in [
            "sh -c true",
            "./mpirun-like -n 2 sh",
            "mpirun -n 2 no-such-program-anywhere",
            "mpirun -n 1 sh : -n 1 sh",
            "python3 train.py",
            "python3 -m torch.utils.bottleneck x.py",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn scripts_are_started_by_the_launchers_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("torchrun");
        std::fs::write(&script, "#!/bin/sh -e\nexit 1\n").unwrap();
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
        let line = format!("{} --nproc-per-node 2 train.py", script.display());
        assert_eq!(of(&line), Some(Launcher::Python("/bin/sh".into())));
        let line = format!("{} --no-python --nproc-per-node 2 sh train.sh", script.display());
        assert_eq!(of(&line), Some(Launcher::Word(4)));
        let python = folder.path().join("python3");
        std::fs::rename(script, &python).unwrap();
        let line = format!("{} -m torch.distributed.run train.py", python.display());
        assert_eq!(of(&line), Some(Launcher::Python(python)));
    }
}
