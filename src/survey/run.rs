//! Running a program under the survey.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::{Survey, cupti, file, library};
use crate::error::{Error, Result};
use crate::ncu::process::{Ended, Limits, Stderr, not_in_path, stream};
use crate::ncu::{NcuCommand, keep_end, watcher};
use crate::text;
use crate::text::nearest::path_hint;

/// Why there is nothing in a survey that no process wrote to.
pub(crate) const NO_CUDA: &str =
    "no process of the program initialized CUDA, or its driver loads no injected library";

/// A program to survey.
#[derive(Debug, Clone)]
pub struct Program<'a> {
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub args: &'a [OsString],
    /// The folder in which it runs; the present one without.
    pub folder: Option<&'a Path>,
    /// Variables that are set on top of the present environment.
    pub env: Vec<(OsString, OsString)>,
}

/// A surveyed run.
#[derive(Debug, Clone, Default)]
pub struct Surveyed {
    /// What it did.
    pub survey: Survey,
    /// The end of what it printed.
    pub output: String,
    /// True where the program ended with another code than 0 or by a signal.
    pub ended_badly: bool,
    /// Why no kernel was recorded, where none was.
    pub failure: Option<String>,
    /// True where that was for want of a CUPTI that works.
    pub lacks_cupti: bool,
    /// Why the program was ended before its time, where it was.
    pub cut_short: Option<String>,
}

/// Runs the program with the library inside and reads what it leaves. Nothing is serialized and nothing
/// printed.
///
/// # Errors
/// [`Error::Usage`] where there is no such program, [`Error::Environment`] where it does not start or the
/// system has no such library, [`Error::Interrupted`] at a limit.
pub fn run(program: &Program<'_>, limits: Limits<'_>) -> Result<Surveyed> {
    let surveyed = run_until(program, limits)?;
    match surveyed.cut_short {
        Some(reason) => Err(Error::Interrupted(reason)),
        None => Ok(surveyed),
    }
}

/// The same; where a limit ends the program after kernels were recorded, what was recorded until then.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_until(program: &Program<'_>, limits: Limits<'_>) -> Result<Surveyed> {
    refuse_missing(program)?;
    let folder = tempfile::Builder::new().prefix("adoprof-survey-").tempdir();
    let folder =
        folder.map_err(|error| Error::io(std::env::temp_dir(), "make a folder in", &error))?;
    watcher::remove_if_killed(folder.path());
    let start = Instant::now();
    let run = inject(program, folder.path(), &[], limits, "the survey");
    let wall_ns = start.elapsed().as_secs_f64() * 1e9;
    let mut surveyed = read(folder.path())?;
    surveyed.survey.wall_ns = wall_ns;
    let (ended, output) = match run {
        Ok(run) => run,
        // What CUPTI handed over until then is as good as ever.
        Err(Error::Interrupted(reason)) if surveyed.failure.is_none() => {
            surveyed.cut_short = Some(reason);
            return Ok(surveyed);
        }
        Err(error) => return Err(error),
    };
    surveyed.output = output;
    surveyed.ended_badly = !ended.status.success();
    if surveyed.ended_badly {
        surveyed.survey.notices.push(match ended.status.code() {
            Some(code) => format!("the program ended with code {code} in the survey"),
            None => "the program was ended by a signal in the survey".to_owned(),
        });
    }
    Ok(surveyed)
}

/// Refuses a program that is not there.
///
/// # Errors
/// [`Error::Usage`] for such a one.
pub(crate) fn refuse_missing(program: &Program<'_>) -> Result<()> {
    // As ncu has it: a path is tried as it stands, a bare name in PATH.
    if program.program.components().count() > 1 && !program.program.exists() {
        let (path, meant) = (program.program.display(), path_hint(program.program));
        let text = format!("{path} does not exist or can't be run{meant}");
        return Err(Error::Usage(text));
    }
    if program.program.components().count() == 1 && !is_in_path(program) {
        return Err(Error::Usage(not_in_path(program.program)));
    }
    Ok(())
}

/// False where no folder of PATH has a file of the program's name.
fn is_in_path(program: &Program<'_>) -> bool {
    let own = program.env.iter().rev().find(|(name, _)| name == "PATH");
    let path = own.map(|(_, value)| value.clone()).or_else(|| std::env::var_os("PATH"));
    // Without the variable the system has folders of its own.
    path.is_none_or(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program.program).is_file())
    })
}

/// Runs the program with the library inside, which writes into the folder and is told what the variables say.
/// Returns how it ended, and the end of what it printed.
///
/// # Errors
/// As [`run`].
pub(crate) fn inject(
    program: &Program<'_>,
    folder: &Path,
    variables: &[(&str, OsString)],
    limits: Limits<'_>,
    what: &str,
) -> Result<(Ended, String)> {
    let mut command = command(program, folder)?;
    let more = variables.iter().map(|(name, value)| (OsString::from(name), value.clone()));
    command.env.extend(more);
    let mut output = Vec::new();
    let ended = stream(&command, Stderr::Merged, limits, what, |piece| {
        keep_end(&mut output, piece);
    })?;
    Ok((ended, String::from_utf8_lossy(&output).into_owned()))
}

/// The command that runs the program with the library inside.
fn command(program: &Program<'_>, folder: &Path) -> Result<NcuCommand> {
    let library = library::deploy(folder)?;
    let candidates = std::env::join_paths(cupti::candidates(program.program)).unwrap_or_default();
    let variable = |name: &str, value: OsString| (OsString::from(name), value);
    let mut env = program.env.clone();
    env.extend([
        variable("CUDA_INJECTION64_PATH", library.into_os_string()),
        variable("ADOPROF_SURVEY_DIR", folder.as_os_str().to_owned()),
        variable("ADOPROF_SURVEY_CUPTI", candidates),
    ]);
    Ok(NcuCommand {
        program: program.program.to_owned(),
        args: program.args.to_vec(),
        env,
        cwd: program.folder.map(Path::to_owned),
    })
}

/// Reads the files of all processes in a folder. One that can't be read is left out with a notice.
///
/// # Errors
/// [`Error::Input`] where the folder can't be read.
pub fn read(folder: &Path) -> Result<Surveyed> {
    let mut surveyed = Surveyed::default();
    let entries = std::fs::read_dir(folder).map_err(|error| Error::io(folder, "read", &error))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut reasons = Vec::new();
    for path in paths {
        let kind = path.extension().and_then(|extension| extension.to_str());
        match kind {
            Some("survey" | "part") => match file::read(&path) {
                Ok(process) => surveyed.survey.processes.push(process),
                Err(error) => surveyed.survey.notices.push(error.to_string()),
            },
            Some("reason") => {
                let reason = std::fs::read_to_string(&path).unwrap_or_default();
                reasons.push(text::printable(reason.trim()));
            }
            _ => {}
        }
    }
    surveyed.survey.processes.sort_by_key(|process| process.start);
    surveyed.survey.notices.extend(remarks(&surveyed.survey));
    surveyed.lacks_cupti = surveyed.survey.processes.is_empty() && !reasons.is_empty();
    if surveyed.survey.launches() == 0 {
        surveyed.failure = Some(reasons.first().cloned().unwrap_or_else(|| {
            if surveyed.survey.processes.is_empty() {
                NO_CUDA.to_owned()
            } else {
                "the program launched no kernel".to_owned()
            }
        }));
    } else if let Some(reason) = reasons.first() {
        let number = text::count_of(reasons.len() as f64, "process");
        surveyed
            .survey
            .notices
            .push(format!("{number} of the program could not be surveyed: {reason}"));
    }
    Ok(surveyed)
}

/// What a survey lacks.
fn remarks(survey: &Survey) -> Vec<String> {
    let mut remarks = Vec::new();
    let dropped: f64 = survey.processes.iter().map(|process| process.dropped as f64).sum();
    if dropped > 0.0 {
        let number = text::count_of(dropped, "record");
        remarks.push(format!("CUPTI lost {number}: counts and times of the survey are too low"));
    }
    let unfinished: f64 = survey.processes.iter().map(|process| process.unfinished as f64).sum();
    if unfinished > 0.0 {
        remarks.push(format!(
            "the survey ended before {} of the launches and copies had finished; they are left out",
            text::count(unfinished)
        ));
    }
    let is_cut = |process: &&super::record::Process| process.end.is_none();
    if survey.processes.iter().any(|process| is_cut(&process)) {
        let text = "a process did not end in an orderly way: the survey may lack what it did in its last \
                    second";
        remarks.push(text.to_owned());
    }
    remarks
}
