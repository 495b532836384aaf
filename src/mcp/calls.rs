//! A call as a run of adoprof, and how its result is shown.

use std::time::Duration;

use serde_json::Value;

use super::answer::Wanted;
use super::arguments::Arguments;
use super::confine::Root;
use super::tools::Tool;

/// What a run that reads may take.
const READING: Duration = Duration::from_secs(120);
/// What a run of a program may take where nothing is said, s.
const RUNNING_S: u64 = 300;
/// The most that may be asked for, s.
const MOST_RUNNING_S: u64 = 600;
/// A survey, two runs of ncu, and building what is built.
const RUNS: u64 = 4;
/// The lines of source that are shown where nothing is said.
const LINES: u64 = 20;

/// A run that answers a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// The words of adoprof's command line.
    pub words: Vec<String>,
    /// What it may take.
    pub limit: Duration,
    /// What of its result is shown.
    pub shown: Shown,
    /// Which part of the answer.
    pub wanted: Wanted,
}

/// How a result is shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Launches with their findings; all, or one of them.
    Launches(Option<usize>),
    /// A program's survey.
    Program,
    /// What changes gave, then the launches.
    Tried,
    /// Two profiles side by side.
    Diff,
    /// Source lines of a launch.
    Source { launch: Option<usize>, lines: usize },
    /// Rules with how they held; all, or one.
    Ledger(Option<String>),
    /// The text as it is, by paragraphs.
    Text,
}

/// What calls go by.
#[derive(Debug)]
pub(super) struct Site<'a> {
    pub root: &'a Root,
    /// Programs that may be run though they lie elsewhere.
    pub programs: &'a [String],
}

/// The run that answers a call.
///
/// # Errors
/// What is wrong with the arguments, in a sentence.
pub(super) fn of(tool: &Tool, arguments: Value, site: &Site) -> Result<Call, String> {
    let mut given = Arguments::new(arguments, &tool.names())?;
    let page = given.number("page", 1, 1_000_000)?.unwrap_or(1) as usize;
    let wanted = Wanted { page, detail: given.flag("detail")? };
    let reads = |words: Vec<String>, shown: Shown| Call { words, limit: READING, shown, wanted };
    let json = || vec!["--format".to_owned(), "json".to_owned()];
    let command = |name: &str| [vec![name.to_owned()], json()].concat();
    let launch = |given: &mut Arguments| {
        let number = given.number("launch", 0, 1_000_000)?;
        Ok::<_, String>(number.map(|number| number as usize))
    };
    Ok(match tool.name {
        "analyze" => {
            let mut words = command("analyze");
            words.extend(kernel(&mut given)?);
            words.extend(["--".to_owned(), site.root.profile(&given.needed("path")?)?]);
            reads(words, Shown::Launches(launch(&mut given)?))
        }
        "diff" => {
            let mut words = command("diff");
            words.extend(["--".to_owned(), site.root.profile(&given.needed("base")?)?]);
            words.push(site.root.profile(&given.needed("new")?)?);
            reads(words, Shown::Diff)
        }
        "source" => {
            let mut words: Vec<String> =
                ["frames", "--table", "lines", "--format", "csv"].map(str::to_owned).into();
            words.extend(kernel(&mut given)?);
            words.extend(["--".to_owned(), site.root.profile(&given.needed("path")?)?]);
            let lines = given.number("lines", 1, 200)?.unwrap_or(LINES) as usize;
            reads(words, Shown::Source { launch: launch(&mut given)?, lines })
        }
        "explain" => {
            let mut words = vec!["explain".to_owned(), "--no-pager".to_owned()];
            if let Some(rule) = given.text("rule")? {
                words.extend(["--".to_owned(), rule]);
            }
            reads(words, Shown::Text)
        }
        "ledger" => reads(command("ledger"), Shown::Ledger(given.text("rule")?)),
        name => {
            let timeout = given.number("timeout_s", 1, MOST_RUNNING_S)?.unwrap_or(RUNNING_S);
            let limit = Duration::from_secs(RUNS * timeout);
            let (mut words, shown) = match name {
                "try" => (command("step"), Shown::Tried),
                "survey" => (command("profile"), Shown::Program),
                _ => (command("profile"), Shown::Launches(None)),
            };
            words.push(format!("--timeout={timeout}s"));
            if name == "try" {
                words.extend(["--try".to_owned(), "--live".to_owned()]);
                words.push(format!("--kernel={}", given.needed("step")?));
                if let Some(ladder) = given.text("ladder")? {
                    words.push(format!("--ladder={}", site.root.ladder(&ladder)?));
                }
            } else {
                if name == "survey" {
                    words.push("--survey".to_owned());
                } else {
                    words.extend(kernel(&mut given)?);
                    words.extend(given.number("top", 1, 50)?.map(|top| format!("--top={top}")));
                }
                let mut program = given.words("command")?;
                program[0] = site.root.program(&program[0], site.programs)?;
                words.push("--".to_owned());
                words.extend(program);
            }
            Call { words, limit, shown, wanted }
        }
    })
}

/// The option with a pattern of kernels.
fn kernel(given: &mut Arguments) -> Result<Option<String>, String> {
    Ok(given.text("kernel")?.map(|pattern| format!("--kernel={pattern}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::tools;
    use serde_json::json;

    fn words(tool: &str, arguments: Value) -> Result<String, String> {
        let base = tempfile::tempdir().unwrap();
        std::fs::write(base.path().join("app"), "").unwrap();
        let root = Root::new(base.path()).unwrap();
        let site = Site { root: &root, programs: &["python3".to_owned()] };
        of(tools::find(tool).unwrap(), arguments, &site).map(|call| call.words.join(" "))
    }

    #[test]
    fn calls_are_command_lines_without_options_of_the_client() {
        for (tool, arguments, line) in [
            (
                "analyze",
                json!({ "path": "ado/v2", "kernel": "-o x" }),
                "analyze --format json --kernel=-o x -- ado/v2",
            ),
            ("diff", json!({ "base": "v1", "new": "v2" }), "diff --format json -- v1 v2"),
            ("explain", json!({ "rule": "--help" }), "explain --no-pager -- --help"),
            (
                "survey",
                json!({ "command": ["./app", "-n"] }),
                "profile --format json --timeout=300s --survey -- ./app -n",
            ),
            (
                "profile",
                json!({ "command": ["python3", "a.py"], "top": 3, "timeout_s": 5 }),
                "profile --format json --timeout=5s --top=3 -- python3 a.py",
            ),
            (
                "try",
                json!({ "step": "v2" }),
                "step --format json --timeout=300s --try --live --kernel=v2",
            ),
        ] {
            assert_eq!(words(tool, arguments).as_deref(), Ok(line));
        }
    }

    #[test]
    fn what_is_not_allowed_is_refused() {
        for (tool, arguments) in [
            ("analyze", json!({ "path": "/etc/passwd" })),
            ("analyze", json!({ "path": "../x" })),
            ("analyze", json!({ "path": "ado/v2", "page": 0 })),
            ("analyze", json!({})),
            ("diff", json!({ "base": "v1", "new": "/" })),
            ("survey", json!({ "command": ["sh", "-c", "true"] })),
            ("survey", json!({ "command": "./app" })),
            ("profile", json!({ "command": ["./app"], "timeout_s": 100_000 })),
            ("try", json!({ "step": "v2", "ladder": "../ladder" })),
        ] {
            let shown = arguments.to_string();
            assert!(words(tool, arguments).is_err(), "{tool} {shown}");
        }
    }
}
