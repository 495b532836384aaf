//! `--attachable` and `--pid`: a process is surveyed while it runs.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::surveyed;
use crate::cli::ProfileArgs;
use crate::cmd::shared::printer::Printer;
use crate::error::{Error, ExitCode, Result};
use crate::ncu::{self, Version, watcher};
use crate::survey::window;
use crate::{interrupt, text};

/// The first ncu that attaches to a process by its number.
const ATTACHES: Version = Version::new(2026, 2, 1);

/// A process that the user names.
struct Process {
    id: u32,
    /// Its command line as a shell takes it.
    command: String,
    /// It runs as the user who asks.
    is_ours: bool,
    /// The driver's library is loaded.
    uses_cuda: bool,
}

impl Process {
    fn of(id: u32) -> Option<Self> {
        let folder = Path::new("/proc").join(id.to_string());
        let user = |path: &Path| path.metadata().map(|found| found.uid()).ok();
        let is_ours = user(&folder)? == user(Path::new("/proc/self"))?;
        let command = std::fs::read(folder.join("cmdline")).ok()?;
        let words = command.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        let words: Vec<String> =
            words.map(|word| text::printable(&String::from_utf8_lossy(word))).collect();
        // Maps that can't be read get the benefit of the doubt.
        let maps = std::fs::read_to_string(folder.join("maps"));
        let uses_cuda = maps.map_or(true, |maps| maps.contains("/libcuda.so"));
        Some(Self { id, command: shell_words::join(words), is_ours, uses_cuda })
    }
}

/// Starts the program with the library waiting inside, in this process's place, so that signals, streams and the
/// process's number are the program's own.
///
/// # Errors
/// Where it can't be started.
pub(super) fn start(args: &ProfileArgs, printer: &Printer) -> Result<ExitCode> {
    let Some((program, rest)) = args.program.split_first() else {
        return Err(Error::Usage("name a program after `--`".to_owned()));
    };
    let variables = window::environment(Path::new(program))?;
    if args.profiling.dry_run {
        for (name, value) in &variables {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            printer.text(&format!("{name}={}\n", shell_words::quote(&value)))?;
        }
        printer.text(&format!("# set for: {}\n", surveyed::command(args)))?;
        return Ok(ExitCode::Success);
    }
    printer.notice(&format!(
        "`adoprof profile --pid {}` surveys this program while it runs",
        std::process::id()
    ));
    watcher::dismiss();
    let error = Command::new(program).args(rest).envs(variables).exec();
    let program = text::printable(&program.to_string_lossy());
    Err(Error::Usage(format!("{program} can't be started: {error}")))
}

/// Surveys some seconds of a running process.
///
/// # Errors
/// [`Error::Usage`] where there is no such process; [`Error::Environment`] where it can't be surveyed or launches no
/// kernel meanwhile.
pub(super) fn diagnose(id: u32, args: &ProfileArgs, printer: &Printer) -> Result<ExitCode> {
    let Some(process) = Process::of(id) else {
        return Err(Error::Usage(format!("there is no process {id}")));
    };
    if !process.is_ours {
        return Err(Error::Usage(format!(
            "process {id} belongs to another user; only that user's adoprof can survey it"
        )));
    }
    let waiting = window::waiting(id);
    if waiting.is_empty() {
        if let Some(parent) = window::waiting_parent(id) {
            return Err(Error::Usage(format!(
                "process {id} ({}) was forked from process {parent} and uses no CUDA itself; survey that one: \
                 `adoprof profile --pid {parent}`",
                process.command
            )));
        }
        let ncu = ncu::locate(args.profiling.ncu.as_deref(), Some(args.profiling.timeout));
        return Err(why(&process, ncu.ok().map(|ncu| ncu.version)));
    }
    let progress = printer.progress();
    let length = text::duration(args.length.as_secs_f64() * 1e9);
    progress.stage(format!("surveying process {id} for {length}"));
    let surveyed = window::record(&waiting, args.length, &interrupt::flag())?;
    if let Some(failure) = surveyed.failure {
        // Where nothing was recorded, the reason is no lack of work.
        let advice = if surveyed.survey.processes.is_empty() {
            String::new()
        } else {
            format!(" in these {length}; survey it while it works, or for longer with --for")
        };
        return Err(Error::Environment(format!(
            "process {id} could not be diagnosed: {failure}{advice}"
        )));
    }
    let name = format!("process {id}");
    let mut plan =
        surveyed::of_survey(args, (&name, process.command), &surveyed.survey, None, &progress)?;
    drop(progress);
    plan.surveyed.program.is_window = true;
    plan.notices.splice(0..0, surveyed.survey.notices);
    plan.notices.insert(
        0,
        format!(
            "these are {length} of a running process, without hardware counters and without the host's calls; `adoprof \
             capture` and `adoprof profile` run its program anew and say what limits a kernel"
        ),
    );
    surveyed::show(plan, args, printer)?;
    Ok(ExitCode::Success)
}

/// Why a running process is not surveyed, and what to do instead, with this ncu at hand.
fn why(process: &Process, ncu: Option<Version>) -> Error {
    let Process { id, command, uses_cuda, .. } = process;
    if !uses_cuda {
        return Error::Usage(format!(
            "process {id} ({command}) does not use CUDA, or does not yet; name the one that does"
        ));
    }
    let instead = format!(
        "start it with `adoprof profile --attachable -- {command}`, which costs nothing until --pid surveys it"
    );
    let start = format!("process {id} was not started to be surveyed");
    Error::Environment(match ncu {
        None => format!("{start}; {instead}"),
        Some(version) if version < ATTACHES => format!(
            "{start}, and ncu {version} can't attach to it, which takes {ATTACHES} or later; {instead}"
        ),
        Some(_) => format!(
            "{start}. If ncu's library is inside, `ncu --mode attach --process-id {id} -o report` collects from it, and \
             `adoprof analyze report.ncu-rep` diagnoses that; else {instead}"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(uses_cuda: bool) -> Process {
        Process { id: 77, command: "python serve.py --port 80".into(), is_ours: true, uses_cuda }
    }

    #[test]
    fn an_older_ncu_is_named_with_what_to_do_instead() {
        let text = why(&process(true), Some(Version::new(2026, 2, 0))).to_string();
        assert!(text.contains("ncu 2026.2.0 can't attach"), "{text}");
        assert!(
            text.contains("`adoprof profile --attachable -- python serve.py --port 80`"),
            "{text}"
        );
        let text = why(&process(true), Some(Version::new(2026, 2, 1))).to_string();
        assert!(text.contains("ncu --mode attach --process-id 77"), "{text}");
        assert!(why(&process(true), None).to_string().contains("surveyed; start it with"));
        assert!(why(&process(false), Some(ATTACHES)).to_string().contains("does not use CUDA"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_is_known_by_its_number() {
        let own = Process::of(std::process::id()).unwrap();
        assert!(!own.command.is_empty() && own.is_ours && !own.uses_cuda, "{}", own.command);
        // No kernel gives out such a number.
        assert!(Process::of(u32::MAX).is_none());
    }
}
