//! What was probably meant by a command line that can't be read: the words of ncu and Nsight Systems, a program
//! without `--`, a file in the wrong place, a step without `--kernel`.

mod other_tools;
mod program;

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::ladder::{DEFAULT, Ladder};

/// Words that others call the commands by.
const OTHER_NAMES: &[(&[&str], &str)] = &[
    (&["compare", "cmp", "delta"], "diff"),
    (&["list", "ls", "ladders", "list-ladders"], "ladder list"),
    (
        &["open", "show", "view", "import", "read", "load", "inspect", "diagnose", "details"],
        "analyze",
    ),
    (&["html", "page", "plot", "chart", "charts", "gui", "ui"], "report"),
    (
        &["prof", "start", "launch", "exec", "trace", "nvprof", "ncu", "record", "collect"],
        "profile",
    ),
    (&["gate", "test", "regression"], "check"),
    (&["tune", "autotune", "optimize", "search"], "sweep"),
    (&["why", "rule", "hint"], "explain"),
    (&["metrics", "query-metrics"], "rules metrics"),
    (&["setup", "status", "env", "info", "diagnostics"], "doctor"),
    (&["settings", "configure"], "config"),
    (&["new", "create", "add"], "init"),
    (&["export", "tables", "csv", "parquet"], "frames"),
    (&["serve", "server", "agent"], "mcp"),
    (&["version"], "--version"),
];

/// One sentence with the command that was probably meant; `None` where nobody knows.
#[must_use]
pub fn meant(error: &clap::Error, words: impl Iterator<Item = String>) -> Option<String> {
    if error.kind() == ErrorKind::InvalidValue {
        return of_value(error);
    }
    if error.kind() == ErrorKind::MissingRequiredArgument && lacks_table(error) {
        return Some(NO_TABLE.to_owned());
    }
    let words: Vec<String> = words.skip(1).collect();
    let command = match error.kind() {
        ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument => {
            of_command(error, &words)
        }
        ErrorKind::InvalidSubcommand => of_unknown_command(error, &words),
        _ => None,
    }?;
    let text = error.render().to_string();
    let complaint = text.lines().next().unwrap_or_default();
    let complaint = complaint.strip_prefix("error: ").unwrap_or(complaint);
    let complaint = complaint.strip_suffix(" found").unwrap_or(complaint);
    // A list of what is missing would follow.
    let complaint =
        if complaint.ends_with(':') { "the command is not complete" } else { complaint };
    Some(format!("{complaint}; did you mean `adoprof {command}`?"))
}

/// What `frames` needs beside profiles.
const NO_TABLE: &str = "`frames` needs --table TABLE, which writes one table to stdout, or -o DIR, which writes a file \
                        for each table";

/// True where only the choice between one table and a folder is missing.
fn lacks_table(error: &clap::Error) -> bool {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return false;
    };
    matches!(&missing[..], [one] if one.contains("--table"))
}

/// A word that an option does not take, with those that it takes.
fn of_value(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::Strings(known)) = error.get(ContextKind::ValidValue) else {
        return None;
    };
    let wrong = text_of(error, ContextKind::InvalidValue)?;
    let option = text_of(error, ContextKind::InvalidArg)?;
    let option = option.split(' ').next().unwrap_or(option);
    let nearest = crate::text::nearest(wrong, known.iter().map(String::as_str));
    let meant = nearest.map_or_else(String::new, |word| format!("; did you mean `{word}`?"));
    let known = known.join(", ");
    (!known.is_empty()).then(|| format!("{option} does not take `{wrong}`, but {known}{meant}"))
}

/// Where the command is known and an option or a bare word is not, or something is missing.
fn of_command(error: &clap::Error, words: &[String]) -> Option<String> {
    let Some(at) = words.iter().position(|word| !word.starts_with('-')) else {
        return match words.first()?.as_str() {
            "--query-metrics" => Some("rules metrics".to_owned()),
            "--list-sets" | "--list-sections" | "--list-rules" => Some("explain".to_owned()),
            _ => None,
        };
    };
    let wrong = text_of(error, ContextKind::InvalidArg);
    let (command, rest) = (words[at].as_str(), &words[at + 1..]);
    // Options of ncu before the program: `adoprof --set full ./app`.
    if words[0].starts_with('-') && wrong == Some(words[0].as_str()) {
        return program::line_of("profile", words);
    }
    match command {
        "profile" | "capture" | "init" => program::line_of(command, rest),
        "analyze" | "report" => {
            let at = rest.iter().position(|word| matches!(word.as_str(), "-i" | "--import"))?;
            let others = rest.iter().enumerate().filter(|(place, _)| *place != at);
            Some(line(command, others.map(|(_, word)| word.as_str())))
        }
        "run" => of_run(wrong?, rest),
        "step" | "limiter" | "sweep" | "watch" => of_step(command, wrong, rest),
        "explain" if wrong == Some("--list") => Some("explain".to_owned()),
        "ladder" if rest == ["show"] => Some(format!("ladder show {DEFAULT}")),
        "check" if wrong.is_none() || wrong == Some("--baseline <BASE>") => {
            let [candidate] = rest else { return None };
            Some(line("check --baseline BASE", [candidate.as_str()]))
        }
        _ => None,
    }
}

/// `run` takes a whole ladder: of a step, `step` was meant, and of a program, `profile`.
fn of_run(wrong: &str, rest: &[String]) -> Option<String> {
    if let Some(program) = rest.iter().position(|word| word == "--") {
        return program::line_of("profile", &rest[program + 1..]);
    }
    if matches!(wrong, "--kernel" | "-k" | "--step") {
        let spelled = |word: &String| {
            let rest = word.strip_prefix(wrong)?;
            (rest.is_empty() || rest.starts_with('=')).then(|| format!("--kernel{rest}"))
        };
        let rest: Vec<String> =
            rest.iter().map(|word| spelled(word).unwrap_or_else(|| word.clone())).collect();
        return Some(line("step", rest.iter().map(String::as_str)));
    }
    if wrong.starts_with('-') {
        return None;
    }
    if is_step(wrong) {
        return replaced("step", "--kernel", wrong, rest);
    }
    if Path::new(wrong).is_file() {
        return program::line_of("profile", rest);
    }
    replaced("run", "--ladder", wrong, rest)
}

/// A step is named with `--kernel`.
fn of_step(command: &str, wrong: Option<&str>, rest: &[String]) -> Option<String> {
    match wrong {
        Some("--step" | "-k") => {
            let words = rest.iter().map(|word| match word.as_str() {
                "--step" | "-k" => "--kernel",
                other => other,
            });
            Some(line(command, words))
        }
        Some(word) if word.starts_with('-') => None,
        Some(word) if extension(word) == Some("cu") => Some(line("init", [word])),
        Some(word) => replaced(command, "--kernel", word, rest),
        // Nothing but the command: the step that the help and the README begin with.
        None if rest.is_empty() && command != "sweep" => Some(format!("{command} --kernel v2")),
        None => {
            let [word] = rest else { return None };
            (!word.starts_with('-')).then(|| line(command, ["--kernel", word]))
        }
    }
}

/// The words with an option before one of them.
fn replaced(command: &str, option: &str, word: &str, rest: &[String]) -> Option<String> {
    let at = rest.iter().position(|other| other == word)?;
    let mut words: Vec<&str> = rest.iter().map(String::as_str).collect();
    words.insert(at, option);
    Some(line(command, words))
}

/// Where the command is not known: another tool's word, a file, or a step.
fn of_unknown_command(error: &clap::Error, words: &[String]) -> Option<String> {
    let wrong = text_of(error, ContextKind::InvalidSubcommand)?;
    let at = words.iter().position(|word| word == wrong)?;
    let rest = &words[at + 1..];
    if at > 0 {
        return match words[at - 1].as_str() {
            "ladder" if Ladder::open(wrong).is_ok() => Some(line("ladder show", [wrong])),
            _ => None,
        };
    }
    if wrong == "nsys" {
        return match rest.first().map(String::as_str) {
            Some("profile") => program::line_of("profile", &rest[1..]),
            _ => None,
        };
    }
    let known = OTHER_NAMES.iter().find(|(others, _)| others.contains(&wrong));
    if let Some((_, command)) = known {
        return match *command {
            "profile" => program::line_of("profile", rest),
            command => Some(line(command, rest.iter().map(String::as_str))),
        };
    }
    let path = Path::new(wrong);
    match extension(wrong) {
        Some("ncu-rep" | "csv") => Some(line("analyze", words.iter().map(String::as_str))),
        Some("cu") => Some(line("init", [wrong])),
        _ if path.is_dir() => Some(line("analyze", words.iter().map(String::as_str))),
        _ if path.is_file() || wrong.contains('/') => program::line_of("profile", words),
        _ if is_step(wrong) => replaced("step", "--kernel", wrong, words),
        _ => None,
    }
}

/// True for a step of a ladder that is built in.
fn is_step(word: &str) -> bool {
    let (ladder, step) = word.split_once('/').unwrap_or((DEFAULT, word));
    Ladder::builtin(ladder).is_ok_and(|ladder| ladder.step(step).is_ok())
}

fn extension(word: &str) -> Option<&str> {
    Path::new(word).extension()?.to_str()
}

/// A command line as it is typed.
fn line<'a>(command: &str, words: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = command.to_owned();
    for word in words {
        line.push(' ');
        // The library quotes `=` too, which needs no quotes behind a letter.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+%@".contains(c);
        if !word.is_empty() && word.chars().all(is_plain) {
            line.push_str(word);
        } else {
            line.push_str(&shell_words::quote(word));
        }
    }
    line
}

fn text_of(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    /// What is proposed for a line.
    fn proposed(line: &str) -> Option<String> {
        let words = || line.split(' ').map(str::to_owned);
        let sentence = meant(&Cli::try_parse_from(words()).unwrap_err(), words())?;
        let (_, command) = sentence.split_once("did you mean `").unwrap();
        Some(command.strip_suffix("`?").unwrap().to_owned())
    }

    #[test]
    fn newcomers_lines_lead_to_ones_that_can_be_read() {
        for (line, command) in [
            ("adoprof step v2", "adoprof step --kernel v2"),
            ("adoprof step v2 --recorded", "adoprof step --kernel v2 --recorded"),
            ("adoprof step --step v2", "adoprof step --kernel v2"),
            ("adoprof step", "adoprof step --kernel v2"),
            ("adoprof ladder show", "adoprof ladder show ado"),
            ("adoprof watch v3", "adoprof watch --kernel v3"),
            ("adoprof v2", "adoprof step --kernel v2"),
            ("adoprof -q run reduce", "adoprof run --ladder reduce"),
            ("adoprof run --kernel v2", "adoprof step --kernel v2"),
            ("adoprof run --kernel=v2 --recorded", "adoprof step --kernel=v2 --recorded"),
            ("adoprof run v2", "adoprof step --kernel v2"),
            ("adoprof run -- ./app 1", "adoprof profile -- ./app 1"),
            ("adoprof profile ./program", "adoprof profile -- ./program"),
            ("adoprof profile python3 train.py -e 3", "adoprof profile -- python3 train.py -e 3"),
            ("adoprof profile --top 3 ./app", "adoprof profile --top 3 -- ./app"),
            ("adoprof profile train.py", "adoprof profile -- python3 train.py"),
            ("adoprof ./app 1 2", "adoprof profile -- ./app 1 2"),
            ("adoprof ncu --set full ./app", "adoprof profile --collect full -- ./app"),
            ("adoprof nsys profile -t cuda ./app", "adoprof profile -- ./app"),
            ("adoprof capture -k foo ./app", "adoprof capture -k foo -- ./app"),
            ("adoprof init python3 x.py", "adoprof init -- python3 x.py"),
            ("adoprof my.ncu-rep", "adoprof analyze my.ncu-rep"),
            ("adoprof analyze -i my.ncu-rep", "adoprof analyze my.ncu-rep"),
            ("adoprof profile -i my.ncu-rep", "adoprof analyze my.ncu-rep"),
            ("adoprof profile my.ncu-rep", "adoprof analyze my.ncu-rep"),
            ("adoprof open my.ncu-rep", "adoprof analyze my.ncu-rep"),
            ("adoprof profile prog.cu", "adoprof init prog.cu"),
            ("adoprof compare v1 v2", "adoprof diff v1 v2"),
            ("adoprof list", "adoprof ladder list"),
            ("adoprof ladder reduce", "adoprof ladder show reduce"),
            ("adoprof check v2", "adoprof check --baseline BASE v2"),
            ("adoprof explain --list", "adoprof explain"),
            ("adoprof --query-metrics", "adoprof rules metrics"),
        ] {
            assert_eq!(proposed(line).as_deref(), Some(command), "{line}");
            let words = shell_words::split(command).unwrap();
            assert!(Cli::try_parse_from(words).is_ok(), "{command} can't be read itself");
        }
    }

    #[test]
    fn an_option_says_what_it_takes() {
        let said = |line: &str| {
            let words = || line.split(' ').map(str::to_owned);
            meant(&Cli::try_parse_from(words()).unwrap_err(), words())
        };
        assert_eq!(
            said("adoprof config --format jsn").as_deref(),
            Some("--format does not take `jsn`, but text, json; did you mean `json`?")
        );
        assert_eq!(said("adoprof step --kernel v2 --timeout soon"), None);
    }

    #[test]
    fn frames_says_what_it_needs_beside_a_profile() {
        let said = |line: &str| {
            let words = || line.split(' ').map(str::to_owned);
            meant(&Cli::try_parse_from(words()).unwrap_err(), words())
        };
        assert_eq!(said("adoprof frames v2").as_deref(), Some(NO_TABLE));
        assert_eq!(said("adoprof frames"), None);
        for line in ["adoprof frames v2 -o x", "adoprof frames v2 --table metrics -o x"] {
            assert!(Cli::try_parse_from(line.split(' ')).is_ok(), "{line}");
        }
    }

    #[test]
    fn where_nobody_knows_nothing_is_proposed() {
        for line in [
            "adoprof step --nonsense",
            "adoprof diff a b c",
            "adoprof profile --nonsense ./app",
            "adoprof nonsense",
        ] {
            assert_eq!(proposed(line), None, "{line}");
        }
    }
}
