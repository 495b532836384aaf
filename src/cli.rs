//! The command line: types, and what was meant where it can't be read.

mod bench;
mod check;
mod frames;
mod init;
mod profiling;
mod report;
mod settings;
pub mod shell;
mod survey;
mod sweep;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::ladder::{self, Tuning};
use crate::ncu::watcher;
use crate::report::Format;
use crate::settings::Settings;

use profiling::duration;

pub use init::InitArgs;

pub use check::CheckArgs;

pub use bench::{BenchArgs, Calibrate, LedgerArgs, LedgerSource};
pub use frames::FramesArgs;
pub use profiling::{DEFAULT_TIMEOUT, ProfilingArgs};
pub use report::{ReportArgs, ReportFormat};
pub use shell::{CompletionsArgs, ManArgs};
pub use survey::SurveyArgs;
pub use sweep::{PointArgs, SweepArgs};
pub use watch::WatchArgs;

/// Analysis-driven optimization of CUDA kernels: what limits a kernel now, where, what to change,
/// and how much it should give.
#[derive(Debug, Parser)]
#[command(name = "adoprof", version)]
#[command(after_help = "\
Start with `adoprof step --kernel v2`: it profiles a kernel of the built-in ladder, or, without a \
GPU, shows the profile that was recorded on one. `adoprof profile -- ./program` does the same for \
your own program.")]
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
    /// Colours: on a terminal, always, or never.
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
    /// Take one step of a ladder: build, launch, verify, time, profile, diagnose, say what comes next.
    Step(StepArgs),
    /// Take every step of a ladder in order: one table, and what each change gained.
    Run(RunArgs),
    /// Diagnose any CUDA program, unmodified.
    Profile(ProfileArgs),
    /// Diagnose from files, without a GPU: .ncu-rep, ncu's CSV exports, saved profiles.
    Analyze(AnalyzeArgs),
    /// Compare two profiles: what moved, which findings are gone and which are new.
    Diff(DiffArgs),
    /// Write one self-contained page with pictures: launches, a ladder, a diff, a program.
    Report(ReportArgs),
    /// Fail where a candidate is slower than its baseline, or where a metric or a finding says so: the gate for CI.
    Check(CheckArgs),
    /// Time a step over a grid of sizes, tunables, compiler flags and launch settings.
    Sweep(SweepArgs),
    /// Take a step again at every edit of its sources, and compare with the last good run.
    Watch(WatchArgs),
    /// Write a profile's tables for other tools: CSV or Parquet.
    Frames(FramesArgs),
    /// List the rules, or explain one: what it checks, its thresholds and their sources.
    Explain(ExplainArgs),
    /// List the ladders, show one with its steps, or check a manifest of your own.
    Ladder(LadderArgs),
    /// Write a first manifest for kernels or a program that you have.
    Init(InitArgs),
    /// Say what limits a step, by timing it with parts left out.
    Limiter(LimiterArgs),
    /// Say how often findings are right, on kernels with planted faults and on the ladders.
    Bench(BenchArgs),
    /// Compare predicted with measured speed-ups, per rule.
    Ledger(LedgerArgs),
    /// Say what is missing on this machine, and how to get it.
    Doctor(DoctorArgs),
    /// Print the script that completes the command line in a shell.
    Completions(CompletionsArgs),
    /// Writes the manual pages to a folder.
    #[command(hide = true)]
    Man(ManArgs),
    /// Show what holds where no option says otherwise, and from where: adoprof.toml, environment, built in.
    Config(ConfigArgs),
    /// Launches a step once inside the profiler's range; ncu runs this.
    #[command(name = "__launch", hide = true)]
    Launch(LauncherArgs),
    /// Verifies, times and profiles one point; sweep runs this.
    #[command(name = "__point", hide = true)]
    Point(PointArgs),
    /// Ends what is left running where the adoprof that started this is killed.
    #[command(name = watcher::SUBCOMMAND, hide = true)]
    Watcher(WatcherArgs),
}

/// Whom to look after; its standard input ends with them.
#[derive(Debug, Args)]
pub struct WatcherArgs {
    /// How the marks of its runs begin.
    pub mark: String,
}

/// Where a step comes from and how large it is.
#[derive(Debug, Clone, Args)]
pub struct Problem {
    /// A built-in ladder, or a directory with a ladder.toml (write ./NAME for a directory).
    #[arg(long, default_value = ladder::DEFAULT, value_name = "NAME|DIR")]
    pub ladder: String,
    /// Problem parameters, such as N=512,M=512,L=512.
    #[arg(long, value_name = "P=VALUE,…", value_delimiter = None)]
    pub size: Option<String>,
}

/// Live or recorded.
#[derive(Debug, Clone, Args)]
pub struct Origin {
    /// Run on the device, and fail where there is none.
    #[arg(long, conflicts_with = "recorded")]
    pub live: bool,
    /// Show the recording that ships with adoprof, even where there is a device.
    #[arg(long)]
    pub recorded: bool,
}

/// How results are printed.
#[derive(Debug, Clone, Args)]
pub struct Output {
    /// Format of the result.
    #[arg(long, value_enum, default_value_t = Format::TEXT)]
    pub format: Format,
    /// Also say what would limit the kernel once each fault is gone.
    #[arg(long)]
    pub explain_ranking: bool,
}

/// `adoprof step`.
#[derive(Debug, Args)]
pub struct StepArgs {
    /// The step, such as v2 or ado/v2.
    #[arg(long, value_name = "STEP")]
    pub kernel: String,
    /// Ladder and size.
    #[command(flatten)]
    pub problem: Problem,
    /// Live or recorded.
    #[command(flatten)]
    pub origin: Origin,
    /// Compare with this step, saved profile, report or CSV export.
    #[arg(long, value_name = "BASE")]
    pub baseline: Option<String>,
    /// Also time the CPU references, with one thread and with all.
    #[arg(long)]
    pub cpu: bool,
    /// Verify and time, but do not profile.
    #[arg(long)]
    pub time_only: bool,
    /// Also make the changes that need no new code for what was found, and time each: compiler flags, a cap on
    /// registers, carve-out, the step's tunables halved and doubled.
    #[arg(long = "try", conflicts_with = "time_only")]
    pub tries: bool,
    /// Profiling.
    #[command(flatten)]
    pub profiling: ProfilingArgs,
    /// Correction of estimates.
    #[command(flatten)]
    pub calibrate: Calibrate,
    /// Format of the result.
    #[command(flatten)]
    pub output: Output,
}

/// `adoprof run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Ladder and size.
    #[command(flatten)]
    pub problem: Problem,
    /// Live or recorded.
    #[command(flatten)]
    pub origin: Origin,
    /// Only the main steps: leave out the side steps, each of which removes one fault alone.
    #[arg(long)]
    pub main_only: bool,
    /// Also time the CPU references, with one thread and with all.
    #[arg(long)]
    pub cpu: bool,
    /// Profiling.
    #[command(flatten)]
    pub profiling: ProfilingArgs,
    /// Correction of estimates.
    #[command(flatten)]
    pub calibrate: Calibrate,
    /// Format of the result.
    #[command(flatten)]
    pub output: Output,
}

/// `adoprof profile`.
#[derive(Debug, Args)]
pub struct ProfileArgs {
    /// Only kernels whose name matches this regular expression.
    #[arg(short, long, value_name = "REGEX")]
    pub kernel: Option<String>,
    /// Skip this many matching launches first.
    #[arg(long, value_name = "N")]
    pub launch_skip: Option<u64>,
    /// Profile at most this many launches (10 where there is no survey).
    #[arg(long, value_name = "N")]
    pub launch_count: Option<u64>,
    /// Only launches within this NVTX range, as ncu's --nvtx-include has it: `step/` is the range that a thread
    /// pushed as `step`. There is no survey then.
    #[arg(long, value_name = "RANGE", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub nvtx: Option<String>,
    /// The survey.
    #[command(flatten)]
    pub survey: SurveyArgs,
    /// Compare with this step, saved profile, report or CSV export.
    #[arg(long, value_name = "BASE")]
    pub baseline: Option<String>,
    /// Profiling.
    #[command(flatten)]
    pub profiling: ProfilingArgs,
    /// Correction of estimates.
    #[command(flatten)]
    pub calibrate: Calibrate,
    /// Format of the result.
    #[command(flatten)]
    pub output: Output,
    /// The program and its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// `adoprof analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// Steps, saved profiles, .ncu-rep reports, CSV exports.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// The ladder that bare step names belong to.
    #[arg(long, default_value = ladder::DEFAULT, value_name = "NAME|DIR")]
    pub ladder: String,
    /// Only kernels whose name matches this regular expression.
    #[arg(short, long, value_name = "REGEX")]
    pub kernel: Option<String>,
    /// Compare with this step, saved profile, report or CSV export.
    #[arg(long, value_name = "BASE")]
    pub baseline: Option<String>,
    /// Correction of estimates.
    #[command(flatten)]
    pub calibrate: Calibrate,
    /// Format of the result.
    #[command(flatten)]
    pub output: Output,
}

/// `adoprof diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The base: a step, a saved profile, a report or an export.
    pub base: String,
    /// What to compare with the base: a step, a saved profile, a report or an export.
    pub new: String,
    /// The ladder that bare step names belong to.
    #[arg(long, default_value = ladder::DEFAULT, value_name = "NAME|DIR")]
    pub ladder: String,
    /// Format of the result.
    #[command(flatten)]
    pub output: Output,
}

/// `adoprof explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The rule to explain, or `numbers` for those that decide beside the rules' own; without one,
    /// all rules are listed.
    pub rule: Option<String>,
}

/// `adoprof ladder`.
#[derive(Debug, Args)]
pub struct LadderArgs {
    /// What to show: the list of ladders by default.
    #[command(subcommand)]
    pub command: Option<LadderCommand>,
}

/// What to say of ladders.
#[derive(Debug, Subcommand)]
pub enum LadderCommand {
    /// The built-in ladders.
    List {
        /// The kernels with planted faults instead, which `adoprof bench` judges.
        #[arg(long)]
        faults: bool,
    },
    /// One ladder: its problem, its steps, what each changes, published figures.
    Show {
        /// A built-in ladder, or a directory with a ladder.toml.
        name: String,
    },
    /// Write a built-in ladder's manifest and kernels to a folder, to change and run them there.
    Copy {
        /// A built-in ladder.
        name: String,
        /// Where to: a folder that is empty or not there yet.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Report every mistake in a manifest of your own at once: with NVRTC, what does not fit its kernels too.
    ///
    /// Nothing is launched and no command of a program is run. Ends with 0 where nothing is wrong, with 2 where the
    /// manifest has a mistake, and with 4 where only a source does not compile.
    Check {
        /// The directory with the ladder.toml.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Problem parameters to check it at, such as N=512,M=512,L=512.
        #[arg(long, value_name = "P=VALUE,…")]
        size: Option<String>,
    },
}

/// `adoprof limiter`.
#[derive(Debug, Args)]
pub struct LimiterArgs {
    /// The step, such as v2 or ado/v2.
    #[arg(long, value_name = "STEP")]
    pub kernel: String,
    /// Ladder and size.
    #[command(flatten)]
    pub problem: Problem,
    /// Live or recorded.
    #[command(flatten)]
    pub origin: Origin,
    /// Number of the device, from 0.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub device: usize,
    /// Count each variant's global loads and stores with ncu and compare them with the step's.
    #[arg(long)]
    pub check_counts: bool,
    /// The ncu program to use with --check-counts.
    #[arg(long, env = "ADOPROF_NCU", value_name = "PATH")]
    pub ncu: Option<PathBuf>,
    /// Give up after this time, such as 90s or 10m.
    #[arg(long, default_value = "10m", value_parser = duration)]
    pub timeout: Duration,
    /// Also save the result as JSON.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the result.
    #[arg(long, value_enum, default_value_t = Format::TEXT)]
    pub format: Format,
}

/// `adoprof doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Number of the device, from 0.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub device: usize,
    /// The ncu program to use.
    #[arg(long, env = "ADOPROF_NCU", value_name = "PATH")]
    pub ncu: Option<PathBuf>,
    /// Measure the device's rates and latencies (less than a minute) and write them to your configuration.
    #[arg(long)]
    pub measure: bool,
    /// With --measure: print what was measured and write nothing.
    #[arg(long, requires = "measure")]
    pub dry_run: bool,
    /// With --measure: write to this file instead.
    #[arg(short, long, requires = "measure", conflicts_with = "dry_run", value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `adoprof config`.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Format of the result.
    #[arg(long, value_enum, default_value_t = Format::TEXT)]
    pub format: Format,
}

/// The hidden launcher.
#[derive(Debug, Args)]
pub struct LauncherArgs {
    /// Ladder and size.
    #[command(flatten)]
    pub problem: Problem,
    /// The step.
    #[arg(long)]
    pub kernel: String,
    /// Tunables, flags, block and carve-out, as JSON.
    #[arg(long, value_parser = tuning)]
    pub tuning: Option<Tuning>,
    /// Which device.
    #[arg(long, default_value_t = 0)]
    pub device: usize,
    /// A variant of it in its place.
    #[arg(long)]
    pub variant: Option<String>,
    /// The longest that one run may take, seconds.
    #[arg(long)]
    pub limit_s: u64,
}

/// A tuning as JSON.
fn tuning(text: &str) -> Result<Tuning, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
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
    let parsed = command.try_get_matches().and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        let ladder_is_projects = settings::ladder_is_projects(&matches, &settings);
        Ok(Cli { settings, ladder_is_projects, ..cli })
    });
    Ok(parsed)
}

/// The same without settings.
///
/// # Errors
/// What clap says of a mistake, and the texts of `--help` and `--version`.
pub fn parse_alone() -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&sized().try_get_matches()?)
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
        std::env::args_os().nth(1).is_some_and(|word| word.to_string_lossy().starts_with("__"));
    if is_own { Ok(Settings::default()) } else { Settings::here() }
}

/// What was probably meant where a word has no place on the command line: `step v2`, `profile ./x`.
#[must_use]
pub fn tip(error: &clap::Error, mut words: impl Iterator<Item = String>) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument || word.starts_with('-') {
        return None;
    }
    // Options of all commands may stand before the command.
    let command = words.nth(1).into_iter().chain(words).find(|word| !word.starts_with('-'))?;
    let meant = match command.as_str() {
        "step" | "limiter" | "sweep" => format!("--kernel {word}"),
        "run" => format!("--ladder {word}"),
        "profile" => format!("-- {word}"),
        _ => return None,
    };
    Some(format!("did you mean `adoprof {command} {meant}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_word_is_guessed_at() {
        let tip_of = |line: &str| {
            let words = || line.split(' ').map(str::to_owned);
            tip(&Cli::try_parse_from(words()).unwrap_err(), words())
        };
        for (line, meant) in [
            ("adoprof step v2", "did you mean `adoprof step --kernel v2`?"),
            ("adoprof -q run reduce", "did you mean `adoprof run --ladder reduce`?"),
            ("adoprof profile ./program", "did you mean `adoprof profile -- ./program`?"),
        ] {
            assert_eq!(tip_of(line).as_deref(), Some(meant), "{line}");
        }
        assert_eq!(tip_of("adoprof step --nonsense"), None);
        assert_eq!(tip_of("adoprof diff a b c"), None);
    }

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
