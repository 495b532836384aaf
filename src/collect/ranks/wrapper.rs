//! What the launcher starts in the program's place: it looks which rank it is, and becomes the program itself or an ncu
//! that profiles it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::launcher::Launcher;
use crate::error::{Error, Result};
use crate::launch::device_folder;
use crate::ncu::NcuCommand;
use crate::rank::Rank;

/// The hidden subcommand.
pub(crate) const SUBCOMMAND: &str = "__rank";

/// The file in the ranks' folder that says what to do.
const PLAN: &str = "plan.json";

/// What the ranks are to do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// ncu.
    pub ncu: PathBuf,
    /// Its arguments, without the program; each rank has a report of its own behind `-o`.
    pub args: Vec<String>,
    /// Variables for it.
    pub env: Vec<(String, String)>,
    /// The ranks to profile; all without.
    pub ranks: Option<Vec<u32>>,
    /// The device of each rank, where a survey told.
    pub devices: BTreeMap<u32, String>,
    /// True where the ranks' ncus go in lockstep, and put a number behind the names of their reports.
    pub in_lockstep: bool,
    /// Other arguments for some ranks, where the ranks share what is collected.
    pub parts: BTreeMap<u32, Vec<String>>,
}

impl Plan {
    /// The plan of an ncu command line whose last word stands for the program.
    pub(crate) fn new(command: &NcuCommand) -> Self {
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        let mut args: Vec<String> = command.args.iter().map(text).collect();
        args.pop();
        let env = command.env.iter().map(|(name, value)| (text(name), text(value))).collect();
        Self { ncu: command.program.clone(), args, env, ..Self::default() }
    }

    /// Writes it into the ranks' folder.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(PLAN);
        let text = serde_json::to_string(self)
            .map_err(|error| Error::input(&path, format!("cannot be written: {error}")))?;
        std::fs::write(&path, text).map_err(|error| Error::io(&path, "write", &error))
    }

    fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(PLAN);
        let bytes = std::fs::read(&path).map_err(|error| Error::io(&path, "read", &error))?;
        serde_json::from_slice(&bytes).map_err(|error| Error::input(&path, error.to_string()))
    }
}

/// A rank's file of a kind: `rank-0003.log`.
pub(crate) fn file(folder: &Path, rank: u32, kind: &str) -> PathBuf {
    folder.join(format!("rank-{rank:04}.{kind}"))
}

/// A rank's report in lockstep, without what ncu puts behind it: a number of its own, and the extension.
fn in_lockstep(folder: &Path, rank: u32) -> PathBuf {
    folder.join(format!("rank-{rank:04}-report"))
}

/// A rank's report, if there is one with something in it.
pub(super) fn report(folder: &Path, rank: u32, is_in_lockstep: bool) -> Option<PathBuf> {
    let kinds = ["ncu-rep", "ncu-repz"];
    let has_something = |path: &PathBuf| path.metadata().is_ok_and(|meta| meta.len() > 0);
    if !is_in_lockstep {
        return kinds.map(|kind| file(folder, rank, kind)).into_iter().find(has_something);
    }
    let beginning = in_lockstep(folder, rank).file_name()?.to_string_lossy().into_owned();
    let is_its = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_report =
            path.extension().is_some_and(|kind| kinds.iter().any(|known| kind == *known));
        is_report && name.starts_with(&beginning)
    };
    let paths = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    paths.filter(is_its).find(has_something)
}

/// The numbers of the ranks that came.
pub(super) fn came(folder: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut ranks: Vec<u32> = entries
        .filter_map(|entry| {
            let name = entry.file_name();
            name.to_str()?.strip_prefix("rank-")?.strip_suffix(".log")?.parse().ok()
        })
        .collect();
    ranks.sort_unstable();
    ranks
}

/// The process numbers of the ranks' ncus.
pub(super) fn collectors(folder: &Path) -> Vec<u32> {
    came(folder)
        .into_iter()
        .filter_map(|rank| {
            std::fs::read_to_string(file(folder, rank, "pid")).ok()?.trim().parse().ok()
        })
        .collect()
}

/// Becomes the program, or an ncu that profiles it. Returns only where neither can be started.
///
/// # Errors
/// Where the plan can't be read, the rank's files can't be written, or the program does not start.
pub(crate) fn become_rank(folder: &Path, program: &[OsString]) -> Result<std::convert::Infallible> {
    let plan = Plan::read(folder)?;
    let is_chosen =
        |rank: &Rank| plan.ranks.as_ref().is_none_or(|ranks| ranks.contains(&rank.number));
    let Some((first, rest)) = program.split_first() else {
        return Err(Error::Usage("name a program behind `--`".to_owned()));
    };
    let mut command = if let Some(rank) = Rank::current().filter(is_chosen) {
        profiled(&plan, folder, rank, program)?
    } else {
        let mut command = Command::new(first);
        command.args(rest);
        command
    };
    let error = command.exec();
    Err(Error::Environment(format!("{} does not run: {error}", command.get_program().display())))
}

/// ncu with a report and a log of this rank's own.
fn profiled(plan: &Plan, folder: &Path, rank: Rank, program: &[OsString]) -> Result<Command> {
    let log = file(folder, rank.number, "log");
    let fails = |error: &std::io::Error| Error::io(&log, "write", error);
    let output = File::create(&log).map_err(|error| fails(&error))?;
    let errors = output.try_clone().map_err(|error| fails(&error))?;
    // An ncu that is started here keeps this process's number.
    let pid = file(folder, rank.number, "pid");
    std::fs::write(&pid, std::process::id().to_string())
        .map_err(|error| Error::io(&pid, "write", &error))?;
    let args = plan.parts.get(&rank.number).unwrap_or(&plan.args);
    let mut args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let place = args.iter().position(|word| word == "-o").and_then(|at| args.get_mut(at + 1));
    if let Some(place) = place {
        *place = if plan.in_lockstep {
            in_lockstep(folder, rank.number).into()
        } else {
            file(folder, rank.number, "report").with_extension("").into()
        };
    }
    let mut command = Command::new(&plan.ncu);
    command
        .args(args)
        .args(program)
        .envs(plan.env.iter().map(|(name, value)| (name, value)))
        .env("TMPDIR", lock_folder(plan, rank)?)
        .stdout(output)
        .stderr(errors);
    Ok(command)
}

/// The folder of ncu's lock: one per device. ncu lets one process at a time profile whatever the device; where a rank
/// waits for that, and the one that profiles waits for a collective of the first, neither goes on.
fn lock_folder(plan: &Plan, rank: Rank) -> Result<PathBuf> {
    let place = plan.devices.get(&rank.number).cloned();
    let place = place.unwrap_or_else(|| format!("rank-{}", rank.local.unwrap_or(rank.number)));
    device_folder(&place)
}

/// Variables of the environment, with their values.
pub(crate) type Variables = Vec<(OsString, OsString)>;

/// The launcher's command line with this program's wrapper in the ranks' place, and the variables that it takes.
///
/// # Errors
/// [`Error::Input`] where the folder can't be written, [`Error::Environment`] where nobody knows where adoprof is.
pub(crate) fn wrapped(
    launcher: &Launcher,
    words: &[OsString],
    folder: &Path,
) -> Result<(Vec<OsString>, Variables)> {
    let own = std::env::current_exe()
        .map_err(|error| Error::Environment(format!("adoprof does not find itself: {error}")))?;
    let wrapper: [OsString; 4] =
        [own.clone().into(), SUBCOMMAND.into(), folder.into(), "--".into()];
    match launcher {
        Launcher::Word(at) => {
            let mut words = words.to_vec();
            words.splice(*at..*at, wrapper);
            Ok((words, Vec::new()))
        }
        Launcher::Python(python) => {
            let script = folder.join("python");
            let quoted = |path: &Path| shell_words::quote(&path.to_string_lossy()).into_owned();
            let text = format!(
                "#!/bin/sh\nexec {} {SUBCOMMAND} {} -- {} \"$@\"\n",
                quoted(&own),
                quoted(folder),
                quoted(python)
            );
            std::fs::write(&script, text)
                .and_then(|()| {
                    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))
                })
                .map_err(|error| Error::io(&script, "write", &error))?;
            Ok((words.to_vec(), vec![("PYTHON_EXEC".into(), script.into())]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_all_but_the_program() {
        let args = ["-f", "-o", "x", "--set", "full", "program"].map(OsString::from).to_vec();
        let env = vec![("LC_ALL".into(), "C".into())];
        let command = NcuCommand { program: "ncu".into(), args, env, cwd: None };
        let plan = Plan::new(&command);
        assert_eq!(plan.args, ["-f", "-o", "x", "--set", "full"]);
        let folder = tempfile::tempdir().unwrap();
        plan.write(folder.path()).unwrap();
        assert_eq!(Plan::read(folder.path()).unwrap(), plan);
    }

    #[test]
    fn the_wrapper_stands_before_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let words = ["mpirun", "-n", "2", "./a", "b"].map(OsString::from);
        let (line, env) = wrapped(&Launcher::Word(3), &words, folder.path()).unwrap();
        assert_eq!(line[4], SUBCOMMAND);
        assert_eq!(
            (&line[..3], &line[6..]),
            (&words[..3], &["--", "./a", "b"].map(OsString::from)[..])
        );
        assert!(env.is_empty());
        let (line, env) =
            wrapped(&Launcher::Python("/a b/python".into()), &words, folder.path()).unwrap();
        assert_eq!(line, words);
        let script = std::fs::read_to_string(&env[0].1).unwrap();
        assert!(script.ends_with("-- '/a b/python' \"$@\"\n"), "{script}");
    }
}
