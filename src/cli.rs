//! The command line: types, and what was meant where it can't be read.

mod bench;
mod capture;
mod check;
mod common;
mod frames;
mod helpers;
mod history;
mod init;
mod machine;
mod meant;
mod profiles;
mod profiling;
mod report;
mod rules;
mod settings;
pub mod shell;
mod slurm;
mod steps;
mod survey;
mod sweep;
mod watch;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::ncu::watcher;
use crate::settings::Settings;

pub use bench::{BenchArgs, Calibrate, LedgerArgs, LedgerSource};
pub use capture::CaptureArgs;
pub use check::CheckArgs;
pub use common::{FactFormat, FactOutput, Origin, Output, Problem};
pub use frames::FramesArgs;
pub use helpers::{LauncherArgs, RankArgs, WatcherArgs};
pub use history::{HistoryArgs, HistoryCommand, HistoryFormat, ShowArgs};
pub use init::InitArgs;
pub use machine::{ConfigArgs, DoctorArgs, ExplainArgs, McpArgs};
pub use meant::meant;
pub use profiles::{AnalyzeArgs, DiffArgs, ProfileArgs};
pub use profiling::{DEFAULT_TIMEOUT, ProfilingArgs};
pub use report::{ReportArgs, ReportFormat};
pub use rules::{RulesArgs, RulesCommand};
pub use shell::{CompletionsArgs, ManArgs};
pub use slurm::{Engine, OnArgs};
pub use steps::{LadderArgs, LadderCommand, LimiterArgs, RunArgs, StepArgs};
pub use survey::{ChosenRanks, SurveyArgs};
pub use sweep::{ChosenDevices, PointArgs, SweepArgs};
pub use watch::WatchArgs;

/// Analysis-driven optimization of CUDA kernels: what limits a kernel now, where, what to change,
/// and how much it should give.
#[derive(Debug, Parser)]
#[command(name = "adoprof", version)]
#[command(after_help = "\
Start with `adoprof step --kernel v2`: it profiles a kernel of the built-in ladder or, without a GPU, shows \
the recorded profile of one. `adoprof profile -- ./program` diagnoses your own program.")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line of its own"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print only results and errors, and only the verdict of a report.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print more: every finding with its evidence, ncu's own rules, rules that were not checked, all
    /// metrics that moved.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// When to use colour.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true
    )]
    pub color: ColorChoice,
    /// Show long texts without a pager (ADOPROF_PAGER, PAGER, less).
    #[arg(long, global = true)]
    pub no_pager: bool,
    /// What adoprof.toml says.
    #[arg(skip)]
    pub settings: Settings,
    /// True where the ladder was named by the project's adoprof.toml alone.
    #[arg(skip)]
    pub ladder_is_projects: bool,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Take one step of a ladder: build, launch, verify, time, profile, diagnose, and name the next step.
    Step(StepArgs),
    /// Take every step of a ladder in order: one table, and what each change gained.
    Run(RunArgs),
    /// Diagnose any CUDA program, unmodified.
    Profile(ProfileArgs),
    /// Diagnose existing profiles without a GPU: .ncu-rep files, ncu's CSV exports, saved profiles.
    Analyze(AnalyzeArgs),
    /// Compare two profiles: what moved, which findings are gone and which are new.
    Diff(DiffArgs),
    /// Write one self-contained HTML page with charts: launches, a ladder, a diff, a program.
    Report(ReportArgs),
    /// The gate for CI: fail if a candidate is slower than its baseline, or if a metric or finding crosses a
    /// limit.
    Check(CheckArgs),
    /// Time a step over a grid of sizes, tunables, compiler flags and launch settings.
    Sweep(SweepArgs),
    /// Run a step again whenever its sources change, and compare it with the last good run.
    Watch(WatchArgs),
    /// Write a profile's tables for other tools: CSV or Parquet.
    Frames(FramesArgs),
    /// Show a metric or a kernel's time over commits, and name the commit where it jumped.
    History(HistoryArgs),
    /// List the rules, or explain one: what it checks, its thresholds and their sources.
    Explain(ExplainArgs),
    /// Write, check and test rules of your own.
    Rules(RulesArgs),
    /// List the ladders, show one with its steps, or check a manifest of your own.
    Ladder(LadderArgs),
    /// Write a first ladder.toml for your own kernels or program.
    Init(InitArgs),
    /// Make a ladder of one launch of any program, with the memory that it reaches.
    Capture(CaptureArgs),
    /// Find what limits a step by timing it with parts left out.
    Limiter(LimiterArgs),
    /// Measure how often findings are right, on kernels with planted faults and on the ladders.
    Bench(BenchArgs),
    /// Compare predicted with measured speed-ups, per rule.
    Ledger(LedgerArgs),
    /// Check what this machine lacks, and say how to get it.
    Doctor(DoctorArgs),
    /// Let an agent use adoprof, by the Model Context Protocol over standard input and output.
    Mcp(McpArgs),
    /// Print a shell's completion script.
    Completions(CompletionsArgs),
    /// Writes the manual pages to a folder.
    #[command(hide = true)]
    Man(ManArgs),
    /// Show the settings in force, and where each comes from: adoprof.toml, the environment, or built in.
    Config(ConfigArgs),
    /// Launches a step once inside the profiler's range; ncu runs this.
    #[command(name = "__launch", hide = true)]
    Launch(LauncherArgs),
    /// Verifies, times and profiles one point; sweep runs this.
    #[command(name = "__point", hide = true)]
    Point(PointArgs),
    /// Runs one step of a ladder and prints its document; `run --devices` runs this.
    #[command(name = "__step", hide = true)]
    StepOfRun(StepArgs),
    /// Becomes one rank of several, or an ncu that profiles it; launchers run this.
    #[command(name = "__rank", hide = true)]
    Rank(RankArgs),
    /// Ends what is left running where the adoprof that started this is killed.
    #[command(name = watcher::SUBCOMMAND, hide = true)]
    Watcher(WatcherArgs),
}

/// Columns of help at most: longer lines are hard to read.
const WIDEST_HELP: usize = 100;

/// Reads the command line; help is as wide as `COLUMNS` says, otherwise as the terminal. What the settings say is
/// the default of options.
///
/// # Errors
/// What clap says of a mistake, and the texts of `--help` and `--version`; in the outer result a setting that its
/// option would refuse.
pub fn parse(settings: Settings) -> crate::error::Result<Result<Cli, clap::Error>> {
    let command = settings::apply(sized(), &settings)?;
    let parsed = command.try_get_matches_from(words()).and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        let ladder_is_projects = settings::ladder_is_projects(&matches, &settings);
        Ok(Cli { settings, ladder_is_projects, ..cli })
    });
    Ok(parsed.map_err(without_own))
}

/// The error without suggestions of commands that only adoprof itself runs.
fn without_own(mut error: clap::Error) -> clap::Error {
    let kind = ContextKind::SuggestedSubcommand;
    if let Some(ContextValue::Strings(names)) = error.get(kind) {
        let theirs: Vec<String> =
            names.iter().filter(|name| !name.starts_with(OWN)).cloned().collect();
        if theirs.is_empty() {
            error.remove(kind);
        } else {
            error.insert(kind, ContextValue::Strings(theirs));
        }
    }
    error
}

/// How the names of commands begin that only adoprof itself runs.
const OWN: &str = "__";

/// The same without settings.
///
/// # Errors
/// What clap says of a mistake, and the texts of `--help` and `--version`.
pub fn parse_alone() -> Result<Cli, clap::Error> {
    sized()
        .try_get_matches_from(words())
        .and_then(|matches| Cli::from_arg_matches(&matches))
        .map_err(without_own)
}

/// The words of the command line, as clap understands them.
fn words() -> Vec<OsString> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    ask_for_help(&mut words);
    words
}

/// `help --help` asks for what clap has under `help help` alone, and `help step --help` for `help step`.
fn ask_for_help(words: &mut Vec<OsString>) {
    if words.get(1).is_some_and(|word| word == "help") {
        let count = words.len();
        words.retain(|word| word != "--help" && word != "-h");
        if words.len() == 2 && count > 2 {
            words.push("help".into());
        }
    }
}

/// The command line with the width of its help.
fn sized() -> clap::Command {
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse::<usize>().ok());
    match columns {
        Some(columns) => Cli::command().term_width(columns.clamp(40, WIDEST_HELP)),
        None => Cli::command().max_term_width(WIDEST_HELP),
    }
}

/// The settings that hold here; none for commands that adoprof runs itself, which get every option from it.
///
/// # Errors
/// As [`Settings::here`].
pub fn settings() -> crate::error::Result<Settings> {
    let is_own =
        std::env::args_os().nth(1).is_some_and(|word| word.to_string_lossy().starts_with(OWN));
    if is_own { Ok(Settings::default()) } else { Settings::here() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_can_be_asked_about_itself() {
        let asked = |text: &str| {
            let mut words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
            ask_for_help(&mut words);
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            words.join(" ")
        };
        assert_eq!(asked("adoprof help --help"), "adoprof help help");
        assert_eq!(asked("adoprof help -h"), "adoprof help help");
        assert_eq!(asked("adoprof help ladder list --help"), "adoprof help ladder list");
        for unchanged in ["adoprof help", "adoprof --help", "adoprof profile -- help --help"] {
            assert_eq!(asked(unchanged), unchanged);
        }
    }

    #[test]
    fn commands_of_adoprofs_own_are_not_suggested() {
        for wrong in ["stepp", "__stepp"] {
            let error = Cli::try_parse_from(["adoprof", wrong]).unwrap_err();
            let text = without_own(error).render().to_string();
            assert!(!text.contains("'__step'") && text.contains("'step'"), "{text}");
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
