//! A file of settings as its values.

use std::fmt;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::{FILE, KEYS, Value, Whose};
use crate::error::{Error, Result};

/// The file's shape.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    device: Option<Spanned<u32>>,
    ladder: Option<Spanned<String>>,
    ncu: Option<Spanned<String>>,
    ncu_args: Option<Spanned<String>>,
    timeout: Option<Spanned<Time>>,
    format: Option<Spanned<String>>,
    color: Option<Spanned<String>>,
    rules: Option<Spanned<Vec<String>>>,
    mcp: Option<Mcp>,
    check: Option<Check>,
    history: Option<History>,
    slurm: Option<Slurm>,
}

/// A time as the command line takes it: a text, or a plain number of seconds.
#[derive(Debug)]
struct Time(String);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Words;
        impl Visitor<'_> for Words {
            type Value = Time;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a time such as \"90s\", \"10m\" or a number of seconds")
            }

            fn visit_str<E>(self, text: &str) -> std::result::Result<Time, E> {
                Ok(Time(text.to_owned()))
            }

            fn visit_i64<E>(self, seconds: i64) -> std::result::Result<Time, E> {
                Ok(Time(seconds.to_string()))
            }

            fn visit_f64<E>(self, seconds: f64) -> std::result::Result<Time, E> {
                Ok(Time(seconds.to_string()))
            }
        }
        deserializer.deserialize_any(Words)
    }
}

/// Its table of the server for agents.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mcp {
    allow: Option<Spanned<Vec<String>>>,
    programs: Option<Spanned<Vec<String>>>,
}

/// Its table of the gate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Check {
    max_slowdown: Option<Spanned<String>>,
    max_time: Option<Spanned<Time>>,
    fail_on: Option<Spanned<Vec<String>>>,
}

/// Its table of the store of profiles.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct History {
    store: Option<Spanned<String>>,
}

/// Its table of the cluster.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Slurm {
    partition: Option<Spanned<String>>,
    account: Option<Spanned<String>>,
    gpus_per_task: Option<Spanned<u32>>,
    sbatch_args: Option<Spanned<Vec<String>>>,
    retries: Option<Spanned<u32>>,
}

/// What a file says.
///
/// # Errors
/// [`Error::Manifest`] with the line of what it can't say.
pub(super) fn values(path: &Path, text: &str, whose: Whose) -> Result<Vec<Value>> {
    let at = |span: &Range<usize>| text.get(..span.start).unwrap_or(text).matches('\n').count() + 1;
    let fails = |span: &Range<usize>, problem: String| Error::Manifest {
        path: path.to_owned(),
        line: at(span),
        problem,
    };
    let file: File = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        fails(&span, words_of(error.message(), text, &span))
    })?;
    let mut found: Vec<(&str, Vec<String>, Range<usize>)> = Vec::new();
    let mut add = |name, value: Option<Spanned<String>>| {
        if let Some(value) = value {
            let span = value.span();
            found.push((name, vec![value.into_inner()], span));
        }
    };
    let number = |number: Option<Spanned<u32>>| {
        number.map(|number| Spanned::new(number.span(), number.into_inner().to_string()))
    };
    let time = |time: Option<Spanned<Time>>| {
        time.map(|time| Spanned::new(time.span(), time.into_inner().0))
    };
    add("device", number(file.device));
    add("ladder", file.ladder);
    add("ncu", file.ncu);
    add("ncu-args", file.ncu_args);
    add("timeout", time(file.timeout));
    add("format", file.format);
    add("history.store", file.history.and_then(|history| history.store));
    add("color", file.color);
    if let Some(check) = file.check {
        add("check.max-slowdown", check.max_slowdown);
        add("check.max-time", time(check.max_time));
        if let Some(gates) = check.fail_on {
            let span = gates.span();
            found.push(("check.fail-on", gates.into_inner(), span));
        }
    }
    let mcp = file.mcp.map(|mcp| [("mcp.allow", mcp.allow), ("mcp.programs", mcp.programs)]);
    let lists = mcp.into_iter().flatten().chain([("rules", file.rules)]);
    for (name, list) in lists {
        if let Some(list) = list {
            let span = list.span();
            found.push((name, list.into_inner(), span));
        }
    }
    if let Some(slurm) = file.slurm {
        let mut add = |name, value: Option<Spanned<String>>| {
            found.extend(value.map(|value| (name, vec![value.as_ref().clone()], value.span())));
        };
        add("slurm.partition", slurm.partition);
        add("slurm.account", slurm.account);
        add("slurm.gpus-per-task", number(slurm.gpus_per_task));
        add("slurm.retries", number(slurm.retries));
        if let Some(words) = slurm.sbatch_args {
            let span = words.span();
            found.push(("slurm.sbatch-args", words.into_inner(), span));
        }
    }
    let mut values = Vec::new();
    for (name, mut words, span) in found {
        let Some(key) = KEYS.iter().find(|key| key.name == name) else { continue };
        if key.is_users_alone && whose == Whose::Project {
            return Err(fails(
                &span,
                format!(
                    "`{name}` can run programs, and this file comes with the project: put it into your own \
                     {FILE} (`adoprof config` says where that lies), or on the command line"
                ),
            ));
        }
        for word in &mut words {
            match name {
                "ladder" => {
                    *word = ladder(word, path, whose).map_err(|problem| fails(&span, problem))?;
                }
                "history.store" => {
                    *word = store(word, path, whose).map_err(|problem| fails(&span, problem))?;
                }
                "rules" => {
                    *word = from_file(word, "rules", path, whose)
                        .map_err(|problem| fails(&span, problem))?;
                }
                _ => {}
            }
        }
        values.push(Value { key, words, whose, path: path.to_owned(), line: at(&span) });
    }
    Ok(values)
}

/// A ladder as `--ladder` takes it from any folder: a path counts from the file's folder, and a project's stays
/// within that.
fn ladder(word: &str, file: &Path, whose: Whose) -> std::result::Result<String, String> {
    if !word.contains('/') && !matches!(word, "." | "..") {
        return Ok(word.to_owned());
    }
    from_file(word, "ladder", file, whose)
        .map_err(|problem| format!("{problem}; name it with --ladder"))
}

/// A store as `--store` takes it from any folder. A bucket is the user's to name: profiles are sent there, with the
/// user's keys.
fn store(word: &str, file: &Path, whose: Whose) -> std::result::Result<String, String> {
    match (word.contains("://"), whose) {
        (true, Whose::User) => Ok(word.to_owned()),
        (true, Whose::Project) => Err(format!(
            "profiles would be sent to `{word}`, and this file comes with the project: put it into your own {FILE}, into \
             ADOPROF_STORE, or on the command line"
        )),
        (false, _) => from_file(word, "store", file, whose),
    }
}

/// A path that counts from the file's folder; a project's stays within that.
fn from_file(
    word: &str,
    what: &str,
    file: &Path,
    whose: Whose,
) -> std::result::Result<String, String> {
    let relative: PathBuf =
        Path::new(word).components().filter(|part| *part != Component::CurDir).collect();
    let leaves =
        relative.is_absolute() || relative.components().any(|part| part == Component::ParentDir);
    if leaves && whose == Whose::Project {
        return Err(format!("the {what} `{word}` lies outside the project"));
    }
    let folder = file.parent().unwrap_or(Path::new("."));
    Ok(folder.join(relative).display().to_string())
}

/// serde's message with what there is instead, and with the key whose value it is about.
fn words_of(message: &str, text: &str, span: &Range<usize>) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match quoted.as_slice() {
        [unknown, known @ ..] if message.starts_with("unknown field") => {
            let nearest = crate::text::nearest(unknown, known.iter().copied());
            let meant = nearest.map_or(".".to_owned(), |name| format!("; did you mean `{name}`?"));
            format!("there is no setting `{unknown}`{meant} Settings here are {}", known.join(", "))
        }
        _ => {
            let message = message.lines().next().unwrap_or_default();
            match message
                .strip_prefix("invalid type: ")
                .and_then(|rest| rest.split_once(", expected "))
            {
                Some((found, expected)) => of_type(found, expected, text, span),
                None => message.to_owned(),
            }
        }
    }
}

/// That a value is of another kind than its key has, with an example of one that is not.
fn of_type(found: &str, expected: &str, text: &str, span: &Range<usize>) -> String {
    let (before, value) = (text.get(..span.start).unwrap_or(""), text.get(span.clone()));
    let key = before.rsplit('\n').next().unwrap_or("").split('=').next().unwrap_or("").trim();
    let found = found.replace('`', "");
    let (expected, example) = match (expected, value) {
        ("a string", Some(value)) if !value.contains(['"', '\'', '[', '{', '\n']) => {
            ("a text in quotes", format!(": {key} = \"{value}\""))
        }
        ("a string", _) => ("a text in quotes", String::new()),
        ("u32", _) => ("a whole number without quotes", format!(": {key} = 1")),
        ("a sequence", _) => ("a list", format!(": {key} = [\"…\"]")),
        (other, _) => (other, String::new()),
    };
    format!("`{key}` is {found} here and must be {expected}{example}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Value>> {
        values(Path::new("/p/adoprof.toml"), text, Whose::Project)
    }

    #[test]
    fn every_key_can_be_said() {
        let text = "device = 1\nladder = \"./kernels\"\nncu = \"/opt/ncu\"\nncu-args = \"-v\"\ntimeout = \"90s\"\n\
                    format = \"json\"\ncolor = \"never\"\nrules = [\"team\"]\n[check]\nmax-slowdown = \"2%\"\nmax-time = \"10s\"\n\
                    fail-on = [\"rule:partial-wave\", \"metric:x>1\"]\n\
                    [mcp]\nallow = [\"try\"]\nprograms = [\"python3\"]\n\n[slurm]\npartition = \"gpu\"\n\
                    account = \"lab\"\ngpus-per-task = 2\nretries = 5\nsbatch-args = [\"--time=10\", \"--qos=x\"]\n[history]\nstore = \"kept\"\n";
        let found = values(Path::new("/p/adoprof.toml"), text, Whose::User).unwrap();
        assert_eq!(found.len(), KEYS.len());
        let of = |name: &str| found.iter().find(|value| value.key.name == name).unwrap();
        assert_eq!(
            (of("check.max-time").words[0].as_str(), of("check.max-time").line),
            ("10s", 11)
        );
        assert_eq!(of("check.fail-on").words, ["rule:partial-wave", "metric:x>1"]);
        assert_eq!(of("ladder").words, ["/p/kernels"], "from the file's folder");
        assert_eq!(of("rules").words, ["/p/team"], "from the file's folder");
        assert_eq!(of("history.store").words, ["/p/kept"], "from the file's folder");
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, line, words) in [
            ("device = 0\ndevise = 1\n", 2, "no setting `devise`; did you mean `device`?"),
            ("[check]\n\nmax-slow = \"1%\"\n", 3, "no setting `max-slow`"),
            (
                "timeout = true\n",
                1,
                "`timeout` is boolean true here and must be a time such as \"90s\"",
            ),
            (
                "format = 5\n",
                1,
                "`format` is integer 5 here and must be a text in quotes: format = \"5\"",
            ),
            ("device = \"one\"\n", 1, "`device` is string \"one\" here and must be a whole number"),
            ("rules = \"team\"\n", 1, "must be a list: rules = ["),
            ("device = \n", 1, ""),
        ] {
            let Err(Error::Manifest { line: found, problem, .. }) = read(text) else {
                panic!("{text}")
            };
            assert_eq!(found, line, "{text}: {problem}");
            assert!(problem.contains(words), "{text}: {problem}");
        }
    }

    #[test]
    fn times_are_taken_as_on_the_command_line() {
        let found = read("timeout = 5\n[check]\nmax-time = 2.5\n").unwrap();
        let words: Vec<&str> = found.iter().map(|value| value.words[0].as_str()).collect();
        assert_eq!(words, ["5", "2.5"]);
    }

    #[test]
    fn a_projects_store_stays_in_the_project_and_a_bucket_is_the_users_to_name() {
        let said = |store: &str| format!("[history]\nstore = \"{store}\"\n");
        for outside in ["../kept", "s3://bucket/x"] {
            assert!(read(&said(outside)).is_err(), "{outside}");
        }
        let users = values(Path::new("/u/adoprof.toml"), &said("s3://bucket/x"), Whose::User);
        assert_eq!(users.unwrap()[0].words, ["s3://bucket/x"]);
    }

    #[test]
    fn a_projects_ladder_stays_in_the_project() {
        for outside in ["../kernels", "/kernels", "./a/../../b"] {
            let error = read(&format!("ladder = \"{outside}\"")).unwrap_err().to_string();
            assert!(error.contains("outside the project"), "{error}");
        }
        assert_eq!(read("ladder = \"reduce\"").unwrap()[0].words, ["reduce"]);
        let user =
            values(Path::new("/c/adoprof.toml"), "ladder = \"/kernels\"", Whose::User).unwrap();
        assert_eq!(user[0].words, ["/kernels"]);
    }
}
