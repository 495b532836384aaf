//! ncu's command lines as values.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::arguments::{is_option, take_values};
use super::level::Selection;
use super::program::Ncu;
use super::section;

/// The environment of every ncu run: numbers with points, and no warnings about copying section
/// files to a home that may not exist.
const ENVIRONMENT: [(&str, &str); 2] =
    [("LC_ALL", "C"), ("NV_COMPUTE_PROFILER_DISABLE_STOCK_FILE_DEPLOYMENT", "1")];

/// A command before it runs. `Display` prints a line that a POSIX shell runs the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NcuCommand {
    /// ncu.
    pub program: PathBuf,
    /// Its arguments; for a collection the profiled program and its arguments come last.
    pub args: Vec<OsString>,
    /// Variables that are set on top of the present environment.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory, the present one if `None`.
    pub cwd: Option<PathBuf>,
}

impl NcuCommand {
    fn new(ncu: &Ncu) -> Self {
        let env = ENVIRONMENT.map(|(name, value)| (name.into(), value.into())).to_vec();
        Self { program: ncu.program.clone(), args: Vec::new(), env, cwd: None }
    }

    fn push(&mut self, args: impl IntoIterator<Item = impl Into<OsString>>) {
        self.args.extend(args.into_iter().map(Into::into));
    }

    /// Where the report goes, without ncu's extension; `None` for an import.
    #[must_use]
    pub fn output(&self) -> Option<&Path> {
        let at = self.args.iter().position(|arg| arg == "-o")?;
        self.args.get(at + 1).map(Path::new)
    }

    /// The same command with another place for the report.
    #[must_use]
    pub fn with_output(&self, output: &Path) -> Self {
        let mut command = self.clone();
        if let Some(at) = command.args.iter().position(|arg| arg == "-o")
            && let Some(place) = command.args.get_mut(at + 1)
        {
            output.as_os_str().clone_into(place);
        }
        command
    }
}

impl fmt::Display for NcuCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(cwd) = &self.cwd {
            write!(f, "cd {} && ", quoted(cwd.as_os_str()))?;
        }
        for (name, value) in &self.env {
            write!(f, "{}={} ", name.to_string_lossy(), quoted(value))?;
        }
        write!(f, "{}", quoted(self.program.as_os_str()))?;
        for arg in &self.args {
            write!(f, " {}", quoted(arg))?;
        }
        Ok(())
    }
}

/// A word as a shell needs it.
fn quoted(word: &OsStr) -> String {
    shell_words::quote(&word.to_string_lossy()).into_owned()
}

/// Which launches of the program are profiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All kernels of the program and of the processes that it starts.
    Program,
    /// Those between `cuProfilerStart` and `cuProfilerStop` in the program itself: how adoprof
    /// profiles its own launcher, after the unprofiled launch that verifies the answer.
    ProfilerRange,
}

/// Launches by their kernels and by how often each kernel was launched before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocations {
    /// The kernels' names.
    pub kernels: Vec<String>,
    /// True where these are C++ (demangled), as ncu prints them; false where they are as the compiler
    /// spells them (mangled), as CUPTI has them.
    pub are_demangled: bool,
    /// Launches of each kernel by number, from 0.
    pub numbers: Vec<u32>,
}

impl Invocations {
    /// Longer names are told by their beginning: an argument has at most 128 KiB.
    const LONGEST_NAME: usize = 1000;

    /// `--kernel-id`'s value: context, stream, name and number, the first two left open. ncu counts from 1.
    fn kernel_id(&self) -> String {
        let name = |name: &String| {
            let is_boundary = |at: &usize| name.is_char_boundary(*at);
            let longest = name.len().min(Self::LONGEST_NAME);
            let end = (0..=longest).rev().find(is_boundary).unwrap_or(0);
            // The value's own separator can't be escaped.
            let part = regex::escape(&name[..end]).replace(':', ".");
            if end < name.len() { part + ".*" } else { part }
        };
        let names: Vec<String> = self.kernels.iter().map(name).collect();
        let numbers: Vec<String> =
            self.numbers.iter().map(|number| (number + 1).to_string()).collect();
        format!("::regex:^({})$:^({})$", names.join("|"), numbers.join("|"))
    }
}

/// How the pages of a report are had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Via {
    /// adoprof reads the report itself; ncu exports what adoprof can't read.
    #[default]
    Report,
    /// ncu exports them as CSV, which takes seconds; a notice says whether the report itself gives the
    /// same findings.
    Csv,
}

/// What to profile and how.
#[derive(Debug, Clone)]
pub struct CollectRequest {
    /// What to collect.
    pub selection: Selection,
    /// Where the report goes; the extension `.ncu-rep` may stand or be left out.
    pub report: PathBuf,
    /// The program to profile.
    pub program: PathBuf,
    /// Its arguments.
    pub program_args: Vec<OsString>,
    /// Variables for the program (and ncu).
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
    /// Which launches.
    pub scope: Scope,
    /// Keep the CUDA source inside the report (shipped recordings don't).
    pub import_source: bool,
    /// Only kernels whose name (without template and parameter text) matches this regex.
    pub kernel: Option<String>,
    /// Only launches within this NVTX range, in ncu's notation.
    pub nvtx: Option<String>,
    /// Matching launches to pass over first.
    pub launch_skip: Option<u64>,
    /// How many matching launches to profile at most.
    pub launch_count: Option<u64>,
    /// Only some invocations of some kernels, instead of the filters above.
    pub invocations: Option<Invocations>,
    /// How many launches that is likely to be, where a survey says so: for the time that is left.
    pub expected_launches: Option<usize>,
    /// Only this device, by CUDA's ordinal.
    pub device: Option<u32>,
    /// The folder of our own sections ([`section::deploy`]); unused where ncu's own sections were
    /// not found, because naming one folder makes ncu forget the other.
    pub section_folder: Option<PathBuf>,
    /// Where a time limit or Ctrl-C ends the run, keep what was finished before: launches of a program
    /// stand for themselves, those of a step don't.
    pub keep_partial: bool,
    /// How its pages are had.
    pub via: Via,
    /// The user's own options, split and checked by [`super::arguments::split`]. An option that
    /// adoprof would set itself is then left to the user.
    pub ncu_args: Vec<String>,
}

impl CollectRequest {
    /// A request with nothing but what is needed: every launch, no source, no filter.
    #[must_use]
    pub fn new(selection: Selection, report: PathBuf, program: PathBuf) -> Self {
        Self {
            selection,
            report,
            program,
            program_args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            scope: Scope::Program,
            import_source: true,
            kernel: None,
            nvtx: None,
            launch_skip: None,
            launch_count: None,
            invocations: None,
            expected_launches: None,
            device: None,
            section_folder: None,
            keep_partial: false,
            via: Via::default(),
            ncu_args: Vec::new(),
        }
    }
}

/// The command that collects a report.
///
/// Everything that changed its default between releases is said outright: clocks, caches, processes,
/// replay, units.
#[must_use]
pub fn profile(ncu: &Ncu, request: &CollectRequest) -> NcuCommand {
    let mut command = NcuCommand::new(ncu);
    command.env.extend(request.env.iter().cloned());
    command.cwd.clone_from(&request.cwd);
    // First, so that no value further on can be taken for it.
    command.push(["-f".as_ref(), "-o".as_ref(), stem(&request.report).as_os_str()]);
    let (user_metrics, user_args) = take_values(&request.ncu_args, "--metrics");

    let processes = match request.scope {
        Scope::Program => "all",
        Scope::ProfilerRange => "application-only",
    };
    let source = if request.import_source { "yes" } else { "no" };
    let mut settings = vec![
        ("--target-processes", processes.to_owned()),
        ("--replay-mode", "kernel".to_owned()),
        ("--clock-control", "none".to_owned()),
        ("--cache-control", "all".to_owned()),
        ("--print-units", "base".to_owned()),
        ("--import-source", source.to_owned()),
    ];
    if request.scope == Scope::ProfilerRange {
        settings.push(("--profile-from-start", "off".to_owned()));
    }
    if let Some(device) = request.device {
        settings.push(("--devices", device.to_string()));
    }
    if let Some(skip) = request.launch_skip {
        settings.push(("--launch-skip", skip.to_string()));
    }
    if let Some(count) = request.launch_count {
        settings.push(("--launch-count", count.to_string()));
    }
    for (option, value) in settings {
        // ncu refuses to hear an option twice.
        if !user_args.iter().any(|word| is_option(word, option)) {
            command.push([option, &value]);
        }
    }
    if let Some(kernel) = &request.kernel {
        command.push(["-k", &format!("regex:{kernel}")]);
    }
    if let Some(range) = &request.nvtx {
        if !user_args.iter().any(|word| word == "--nvtx") {
            command.push(["--nvtx"]);
        }
        command.push(["--nvtx-include", range]);
    }
    if let Some(invocations) = &request.invocations {
        let base = if invocations.are_demangled { "demangled" } else { "mangled" };
        command.push(["--kernel-name-base", base, "--kernel-id", &invocations.kernel_id()]);
    }
    select(&mut command, ncu, request, user_metrics);
    command.push(user_args);
    command.push([request.program.as_os_str()]);
    command.push(&request.program_args);
    command
}

/// The options that say what is collected.
fn select(
    command: &mut NcuCommand,
    ncu: &Ncu,
    request: &CollectRequest,
    user_metrics: Vec<String>,
) {
    let mut metrics: Vec<String> = Vec::new();
    match &request.selection {
        Selection::Level(level) => {
            if let Some(set) = level.set() {
                command.push(["--set", set]);
            }
            for section in level.sections(ncu.version) {
                command.push(["--section", section]);
            }
            if let (Some(ours), Some(stock)) = (&request.section_folder, &ncu.stock_sections) {
                command.push(["--section", section::IDENTIFIER]);
                for folder in [stock, ours] {
                    command.push(["--section-folder".as_ref(), folder.as_os_str()]);
                }
            }
            metrics.extend(level.counters().map(str::to_owned));
        }
        Selection::Explicit { sections, metrics: named } => {
            for section in sections {
                command.push(["--section", section]);
            }
            metrics.push("gpu__time_duration.sum".to_owned());
            metrics.extend(named.iter().filter(|name| *name != "gpu__time_duration.sum").cloned());
        }
    }
    metrics.extend(user_metrics);
    command.push(["--metrics", &metrics.join(",")]);
}

/// A page of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// All metrics, a row per launch.
    Raw,
    /// Sections with their header metrics, and the results of ncu's rules.
    Details,
    /// Counters by source line and by instruction.
    Source,
    /// Counters by instruction alone: kernels without line information have nothing on the other view.
    Sass,
}

/// The command that prints a page of a report as CSV on standard output.
#[must_use]
pub fn import(ncu: &Ncu, report: &Path, page: Page) -> NcuCommand {
    let mut command = NcuCommand::new(ncu);
    command.push(["--import".as_ref(), report.as_os_str()]);
    let name = match page {
        Page::Raw => "raw",
        Page::Details => "details",
        Page::Source | Page::Sass => "source",
    };
    command.push(["--page", name, "--csv", "--print-units", "base"]);
    match page {
        Page::Source => command.push(["--print-source", "cuda,sass"]),
        Page::Sass => command.push(["--print-source", "sass"]),
        Page::Raw | Page::Details => {}
    }
    command
}

/// A report's path without ncu's extension, which ncu adds.
fn stem(report: &Path) -> PathBuf {
    if report.extension().is_some_and(|extension| extension == "ncu-rep") {
        report.with_extension("")
    } else {
        report.to_owned()
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
