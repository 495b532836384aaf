//! `adoprof rules check`: every mistake in files of rules, and the outcome of their tests.

use std::path::{Path, PathBuf};

use crate::cli::FactOutput;
use crate::cmd::shared::facts::show;
use crate::cmd::shared::open;
use crate::cmd::shared::printer::Printer;
use crate::diagnose::diagnose_with;
use crate::document::{RuleTest, RulesCheckDocument, SCHEMA};
use crate::error::{Error, ExitCode, Result};
use crate::evidence::ModeledLaunch;
use crate::frame::Launch;
use crate::ladder::{Ladder, Overrides};
use crate::model::Model;
use crate::profile::{Profile, Reference};
use crate::settings::Settings;
use crate::text::{count_of, printable, printable_lines};
use crate::user_rules::cases::{Case, Seen};
use crate::user_rules::read::{Contents, read};
use crate::user_rules::{self, UserRule};

pub(super) fn run(
    files: &[PathBuf],
    ladder: &str,
    result: FactOutput,
    settings: &Settings,
    printer: &Printer,
) -> Result<ExitCode> {
    let files = if files.is_empty() {
        user_rules::files(settings)?.into_iter().map(|(path, _)| path).collect()
    } else {
        user_rules::of_paths(files)?
    };
    if files.is_empty() {
        return Err(Error::Usage(
            "there are no rules of your own here to check; name a file, or write one with `adoprof rules new NAME`"
                .to_owned(),
        ));
    }
    let mut checked =
        RulesCheckDocument { schema: SCHEMA, files: files.len(), ..RulesCheckDocument::default() };
    let mut names: Vec<&str> = Vec::new();
    for path in &files {
        let text = match user_rules::text(path) {
            Ok(text) => text,
            Err(error) => {
                checked.mistakes.push(error.to_string());
                continue;
            }
        };
        let contents = read(path, &text);
        checked.rules += contents.rules.len();
        for rule in &contents.rules {
            if names.contains(&rule.rule.name) {
                let name = rule.rule.name;
                checked
                    .mistakes
                    .push(format!("{}: the rule `{name}` is in another file too", path.display()));
            }
            names.push(rule.rule.name);
        }
        checked
            .mistakes
            .extend(contents.mistakes.iter().chain(&contents.doubts).map(ToString::to_string));
        let tested =
            |rule: &&UserRule| contents.cases.iter().any(|case| case.rule == rule.rule.name);
        checked
            .untested
            .extend(contents.rules.iter().filter(|rule| !tested(rule)).map(|rule| rule.rule.name));
        checked.tests.extend(tests(path, &contents, ladder));
    }
    show(result, printer, || text(&checked), &checked)?;
    let failed = checked.tests.iter().any(|test| !test.passed);
    Ok(match (checked.mistakes.is_empty(), failed) {
        (false, _) => ExitCode::Usage,
        (true, true) => ExitCode::Regression,
        (true, false) => ExitCode::Success,
    })
}

/// The outcomes of a file's cases. Of a rule that can't be read, or that surely means something else, there are none.
fn tests(path: &Path, contents: &Contents, ladder: &str) -> Vec<RuleTest> {
    // Cases of one profile mostly stand together, and reading it is what takes time.
    let mut last: Option<(String, Result<Vec<Launch>>)> = None;
    let mut outcomes = Vec::new();
    for case in &contents.cases {
        let Some(rule) = contents.rules.iter().find(|rule| rule.rule.name == case.rule) else {
            continue;
        };
        if contents.doubtful.contains(rule.rule.name) {
            continue;
        }
        if last.as_ref().is_none_or(|(name, _)| *name != case.profile) {
            let launches = opened(path, &case.profile, ladder)
                .and_then(|profile| Launch::all(&profile.frames));
            last = Some((case.profile.clone(), launches));
        }
        let judged = match &last {
            Some((_, Ok(launches))) => {
                case.judge(&seen(case, rule, launches, &contents.rules), rule)
            }
            Some((_, Err(error))) => Err(error.to_string()),
            None => continue,
        };
        outcomes.push(RuleTest {
            place: format!("{}:{}", case.path.display(), case.line),
            rule: case.rule.clone(),
            profile: case.profile.clone(),
            passed: judged.is_ok(),
            came_to: judged.unwrap_or_else(|problem| problem),
        });
    }
    outcomes
}

/// What a rule does on the launches of a case.
fn seen(case: &Case, rule: &UserRule, launches: &[Launch], rules: &[UserRule]) -> Seen {
    let mut seen = Seen::default();
    let is_wanted = |launch: &&Launch| {
        case.kernel.as_ref().is_none_or(|kernel| kernel.is_match(&launch.row.kernel))
    };
    for launch in launches.iter().filter(is_wanted) {
        seen.launches += 1;
        if seen.values.is_empty() {
            let model = Model::new(launch);
            seen.values = rule.values(&ModeledLaunch { profile: launch, model: &model });
        }
        let diagnosis = diagnose_with(launch, rules);
        seen.findings.extend(
            diagnosis.findings.into_iter().filter(|finding| finding.rule == rule.rule.name),
        );
        let skipped =
            diagnosis.skipped.into_iter().filter(|skipped| skipped.rule == rule.rule.name);
        for missing in skipped.flat_map(|skipped| skipped.missing) {
            if !seen.missing.contains(&missing) {
                seen.missing.push(missing);
            }
        }
    }
    seen
}

/// A recording as a file of rules names it: a path from the file's folder, else a step's recording that ships.
fn opened(file: &Path, name: &str, ladder: &str) -> Result<Profile> {
    let beside = file.parent().unwrap_or(Path::new(".")).join(name);
    if beside.exists() {
        return open::one(&beside_text(&beside), ladder, None);
    }
    match Reference::parse(name, ladder)? {
        Reference::Step { ladder, step } => open::recording(
            &Ladder::open(&ladder)?,
            &step,
            &Overrides::default(),
            open::Why::NothingElse,
        ),
        Reference::Path(_) => Err(Error::input(&beside, "there is no such file or folder")),
    }
}

/// A path as no step is written.
fn beside_text(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains('/') { text } else { format!("./{text}") }
}

fn text(checked: &RulesCheckDocument) -> String {
    let mut lines: Vec<String> =
        checked.mistakes.iter().map(|mistake| printable_lines(mistake)).collect();
    for test in &checked.tests {
        let word = if test.passed { "ok  " } else { "FAIL" };
        let line =
            format!("{word}  {}  {} on {}: {}", test.place, test.rule, test.profile, test.came_to);
        lines.push(printable(&line));
    }
    lines.extend(
        checked
            .untested
            .iter()
            .map(|rule| format!("{rule} has no [[rule.test]], so nothing shows that it works")),
    );
    let failed = checked.tests.iter().filter(|test| !test.passed).count();
    lines.push(format!(
        "{} in {}: {}, {} of {} failed",
        count_of(checked.rules as f64, "rule"),
        count_of(checked.files as f64, "file"),
        count_of(checked.mistakes.len() as f64, "mistake"),
        failed,
        count_of(checked.tests.len() as f64, "test"),
    ));
    lines.join("\n")
}
