//! Settings as the defaults of options.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, ColorChoice, Command, ValueEnum};

use super::check::slowdown;
use super::profiling::duration;
use crate::error::Result;
use crate::gate::FailOn;
use crate::report::Format;
use crate::settings::{Settings, Value, Whose};

/// Commands whose results are tables, which not every form has a place for.
const TABLES: [&str; 13] = [
    "bench", "capture", "config", "doctor", "explain", "history", "init", "ladder", "ledger",
    "limiter", "report", "rules", "sweep",
];

/// A command line whose options have the settings as their defaults.
///
/// # Errors
/// [`Error::Manifest`](crate::error::Error::Manifest) with the place of a value that its option would refuse.
pub(super) fn apply(mut command: Command, settings: &Settings) -> Result<Command> {
    for value in settings.all() {
        refuse_wrong(value)?;
        // An option of all commands.
        command = with_default(command, value);
        let names: Vec<String> = command
            .get_subcommands()
            .map(|one| one.get_name().to_owned())
            .filter(|name| takes(value, name))
            .collect();
        for name in names {
            command = command.mut_subcommand(name, |one| with_default(one, value));
        }
    }
    Ok(command)
}

/// True where a command may take the value. Commands that adoprof runs itself get every option from it.
fn takes(value: &Value, command: &str) -> bool {
    let is_own = command.starts_with("__");
    let is_for = value.key.command.is_empty() || value.key.command == command;
    // Without a ladder, a page is of the profiles that it is given.
    let is_of_page = value.key.option == "ladder" && command == "report";
    let is_of_table = value.key.option == "format" && TABLES.contains(&command);
    is_for && !(is_own || is_of_page || is_of_table)
}

/// True where the ladder was named by the project's file and not on the command line.
pub(super) fn ladder_is_projects(matches: &ArgMatches, settings: &Settings) -> bool {
    let of_project = settings.get("ladder").is_some_and(|value| value.whose == Whose::Project);
    let Some((_, of_command)) = matches.subcommand() else { return false };
    let has_ladder = of_command.ids().any(|id| id == "ladder");
    of_project && has_ladder && of_command.value_source("ladder") == Some(ValueSource::DefaultValue)
}

fn with_default(command: Command, value: &Value) -> Command {
    let option = value.key.option;
    let Some(known) = command.get_arguments().find(|known| known.get_id() == option) else {
        return command;
    };
    // A form of one command need not be one of another.
    let words: Vec<String> =
        known.get_possible_values().iter().map(|word| word.get_name().to_owned()).collect();
    if !words.is_empty() && !value.words.iter().all(|word| words.contains(word)) {
        return command;
    }
    command.mut_arg(option, |arg: Arg| arg.default_values(value.words.clone()))
}

/// Refuses what the option would refuse, at the place where it is said.
fn refuse_wrong(value: &Value) -> Result<()> {
    let problem = |word: &String| match value.key.option {
        "timeout" | "max_time" => duration(word).err(),
        "max_slowdown" => slowdown(word).err(),
        "fail_on" => word.parse::<FailOn>().err(),
        "color" => <ColorChoice as ValueEnum>::from_str(word, false)
            .err()
            .map(|_| format!("there is no choice `{word}`; choices are auto, always, never")),
        "format" => <Format as ValueEnum>::from_str(word, false).err().map(|_| {
            let names: Vec<&str> =
                Format::value_variants().iter().map(|form| form.name()).collect();
            format!("there is no form `{word}`; forms are {}", names.join(", "))
        }),
        _ => None,
    };
    match value.words.iter().find_map(problem) {
        Some(problem) => Err(value.error(format!("`{}`: {problem}", value.key.name))),
        None => Ok(()),
    }
}
