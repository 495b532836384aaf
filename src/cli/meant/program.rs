//! A program without `--` before it, with options of other tools.

use std::path::Path;

use clap::CommandFactory;

use super::other_tools::{self, Here};
use super::{extension, line};
use crate::cli::Cli;

/// The line of a command that takes a program behind `--`; `None` where an option is nobody's, or there is no
/// program.
pub(super) fn line_of(command: &str, words: &[String]) -> Option<String> {
    let mut options: Vec<String> = Vec::new();
    let mut for_ncu: Vec<String> = Vec::new();
    let mut words = words.iter();
    let mut program: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        if !word.starts_with('-') || word == "--" {
            program.extend(Some(word.as_str()).filter(|word| *word != "--"));
            program.extend(words.by_ref().map(String::as_str));
            break;
        }
        let (name, joined) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        if let Some(takes_value) = own(command, name) {
            options.push(word.clone());
            if takes_value && joined.is_none() {
                options.push(words.next()?.clone());
            }
            continue;
        }
        let (here, takes_value) = other_tools::find(name).filter(|_| command == "profile")?;
        let value = match joined {
            Some(value) => Some(value),
            None if takes_value => Some(words.next()?.clone()),
            None => None,
        };
        match (here, value) {
            (Here::Report, Some(report)) => return Some(line("analyze", [report.as_str()])),
            (Here::Option(option), Some(value)) => options.extend([option.to_owned(), value]),
            (Here::Level, Some(level)) if level == "full" => {
                options.extend(["--collect".to_owned(), level]);
            }
            (Here::Ncu, Some(value)) => for_ncu.extend([name.to_owned(), value]),
            _ => {}
        }
    }
    if !for_ncu.is_empty() {
        options.extend(["--ncu-args".to_owned(), shell_words::join(&for_ncu)]);
    }
    let first = *program.first()?;
    match extension(first) {
        Some("ncu-rep") => return Some(line("analyze", [first])),
        Some("cu") => return Some(line("init", [first])),
        Some("py") => program.insert(0, "python3"),
        _ => {}
    }
    // A bare name is looked up in PATH.
    let here = format!("./{first}");
    if !first.contains('/') && program[0] == first && Path::new(first).is_file() {
        program[0] = &here;
    }
    let options = options.iter().map(String::as_str);
    Some(line(command, options.chain(["--"]).chain(program)))
}

/// Whether a value follows an option of the command's own; `None` where it has no such option.
fn own(command: &str, name: &str) -> Option<bool> {
    let mut all = Cli::command();
    all.build();
    let command = all.find_subcommand(command)?;
    let arg = command.get_arguments().find(|arg| {
        let long = arg.get_long().is_some_and(|long| name.strip_prefix("--") == Some(long));
        let mut letters = name.strip_prefix('-').unwrap_or_default().chars();
        long || arg.get_short().is_some()
            && arg.get_short() == letters.next()
            && letters.next().is_none()
    })?;
    Some(arg.get_action().takes_values())
}
