//! The subcommands: the only place that wires parts together and touches stdout.

mod analyze;
mod bench;
mod capture;
mod check;
mod config;
mod diff;
mod doctor;
mod explain;
mod frames;
mod history;
mod init;
mod ladder;
mod launch;
mod ledger;
mod limiter;
mod mcp;
mod point;
mod profile;
mod rank;
mod report;
mod rules;
mod run;
mod shared;
mod shell;
mod step;
mod sweep;
mod watch;

use crate::cli::{Cli, Command};
use crate::device;
use crate::error::{ExitCode, Result};
use crate::ladder::Ladder;
use crate::ncu::watcher;
use crate::settings::Settings;
use crate::user_rules;

use shared::printer::Printer;

pub use shared::colour::{honour_colour, honour_colour_setting};

/// True for commands that end what they run, or finish what they write, at the first Ctrl-C. The others only
/// read, and leave at once.
#[must_use]
pub fn notices_interrupts(cli: &Cli) -> bool {
    !matches!(
        cli.command,
        Command::Analyze(_)
            | Command::Diff(_)
            | Command::Report(_)
            | Command::Explain(_)
            | Command::Rules(_)
            | Command::Frames(_)
            | Command::History(_)
            | Command::Completions(_)
            | Command::Man(_)
            | Command::Ladder(_)
            | Command::Bench(_)
            | Command::Ledger(_)
            | Command::Config(_)
            | Command::Rank(_)
            | Command::Watcher(_)
    )
}

/// True for commands whose result a person reads on a terminal, once.
fn shows_reports(command: &Command) -> bool {
    !matches!(
        command,
        Command::Completions(_)
            | Command::Frames(_)
            | Command::Capture(_)
            | Command::Init(_)
            | Command::Launch(_)
            | Command::Mcp(_)
            | Command::Point(_)
            | Command::StepOfRun(_)
            | Command::Rank(_)
            | Command::Watcher(_)
    )
}

/// True for commands whose findings the user's rules take part in. `bench` judges the rules that ship, and `rules`
/// reads files itself, to tell all that is wrong with them.
fn takes_user_rules(command: &Command) -> bool {
    matches!(
        command,
        Command::Step(_)
            | Command::Run(_)
            | Command::Profile(_)
            | Command::Analyze(_)
            | Command::Check(_)
            | Command::Diff(_)
            | Command::Report(_)
            | Command::Sweep(_)
            | Command::Watch(_)
            | Command::Explain(_)
            | Command::Ledger(_)
            | Command::Limiter(_)
    )
}

/// Runs the command line.
///
/// # Errors
/// Whatever the subcommand can't do, with its exit code.
pub fn run(cli: &Cli) -> Result<ExitCode> {
    let printer =
        Printer::new(cli.quiet, cli.verbose).paging(!cli.no_pager && shows_reports(&cli.command));
    // What a user's file of a device says must hold, or be reported; doctor says so in its table.
    if !matches!(
        cli.command,
        Command::Doctor(_)
            | Command::Rank(_)
            | Command::Watcher(_)
            | Command::Completions(_)
            | Command::Man(_)
    ) {
        device::check()?;
    }
    refuse_programs_of_project(cli)?;
    match &cli.command {
        // Of a point's sweep or a step's run, which has read the settings for its own options.
        Command::Point(_) | Command::StepOfRun(_) => user_rules::install(&Settings::here()?)?,
        command if takes_user_rules(command) => user_rules::install(&cli.settings)?,
        _ => {}
    }
    match &cli.command {
        Command::Step(args) => step::run(args, &printer),
        Command::Run(args) => run::run(args, &printer),
        Command::Profile(args) => profile::run(args, &printer),
        Command::Analyze(args) => analyze::run(args, &printer),
        Command::Check(args) => check::run(args, &printer),
        Command::Diff(args) => diff::run(args, &printer),
        Command::Report(args) => report::run(args, &printer),
        Command::Sweep(args) => sweep::run(args, &printer),
        Command::Watch(args) => watch::run(args, &printer),
        Command::Explain(args) => explain::run(args, &printer),
        Command::Rules(args) => rules::run(args, &cli.settings, &printer),
        Command::Frames(args) => frames::run(args, &printer),
        Command::History(args) => history::run(args, &printer),
        Command::Completions(args) => shell::completions(args, &printer),
        Command::Man(args) => shell::man(args, &printer),
        Command::Init(args) => init::run(args, &printer),
        Command::Capture(args) => capture::run(args, &printer),
        Command::Ladder(args) => ladder::run(args, &printer),
        Command::Bench(args) => bench::run(args, &printer),
        Command::Ledger(args) => ledger::run(args, &printer),
        Command::Doctor(args) => doctor::run(args, &printer),
        Command::Config(args) => config::run(args, cli, &printer),
        Command::Mcp(args) => mcp::run(args, &cli.settings),
        Command::Limiter(args) => limiter::run(args, &printer),
        Command::Launch(args) => launch::run(args),
        Command::Rank(args) => rank::run(args),
        Command::Point(args) => point::run(args, &printer),
        Command::StepOfRun(args) => step::of_run(args, &printer),
        Command::Watcher(args) => {
            watcher::watch(std::io::stdin(), &args.mark);
            Ok(ExitCode::Success)
        }
    }
}

/// Refuses to run the programs of a ladder that nobody but the project's `adoprof.toml` has named: a file that comes
/// with other people's code starts nothing unasked.
fn refuse_programs_of_project(cli: &Cli) -> Result<()> {
    let runs = matches!(
        cli.command,
        Command::Step(_)
            | Command::Run(_)
            | Command::Sweep(_)
            | Command::Check(_)
            | Command::Watch(_)
    );
    let Some(named) = cli.settings.get("ladder").filter(|_| runs && cli.ladder_is_projects) else {
        return Ok(());
    };
    let word = named.words.first().map_or("", String::as_str);
    let ladder = Ladder::open(word)?;
    match ladder.steps().iter().find(|step| step.is_program()) {
        None => Ok(()),
        Some(step) => Err(named.error(format!(
            "step `{}` of this ladder runs a program, which a file that comes with the project must not start by \
             itself; name the ladder on the command line, --ladder {word}",
            step.name()
        ))),
    }
}
