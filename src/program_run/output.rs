//! What a program's output says: its time, and whether its answer is right.

use regex::Regex;

use super::{failed, with_last_lines};
use crate::error::{Error, Result};
use crate::plan::{ProgramPlan, TimeUnit};
use crate::text::printable;

/// The times in an output, ns: one for each place that matches.
///
/// # Errors
/// [`Error::Usage`] where nothing matches, or what matches is no time.
pub(super) fn times_ns(
    plan: &ProgramPlan,
    expression: &str,
    unit: Option<TimeUnit>,
    output: &str,
) -> Result<Vec<f64>> {
    let fails = |problem: String| {
        let text = format!("{}/{}: {problem}", plan.ladder, plan.step);
        Error::Usage(with_last_lines(&text, output))
    };
    let mut times = Vec::new();
    for found in regex(expression)?.captures_iter(output) {
        let group = |at: usize| found.get(at).map(|group| group.as_str().trim());
        let number = group(1).unwrap_or_default();
        let value = number.replace(',', "").parse::<f64>().ok();
        let Some(value) = value.filter(|value| value.is_finite() && *value > 0.0) else {
            return Err(fails(format!(
                "`time` found `{}` in the output, which is not a time above 0",
                printable(number)
            )));
        };
        let Some(unit) = group(2).and_then(TimeUnit::parse).or(unit) else {
            return Err(fails(format!(
                "`time` found the unit `{}` in the output: {} are understood",
                printable(group(2).unwrap_or_default()),
                TimeUnit::WORDS
            )));
        };
        times.push(value * unit.ns());
    }
    if times.is_empty() {
        return Err(fails(format!(
            "nothing in the program's output matches `time`, `{}`",
            printable(expression)
        )));
    }
    Ok(times)
}

/// True where the output says that the answer is right.
///
/// # Errors
/// [`Error::Kernel`] where it does not.
pub(super) fn is_right(plan: &ProgramPlan, expression: &str, output: &str) -> Result<()> {
    if regex(expression)?.is_match(output) {
        return Ok(());
    }
    let problem = format!(
        "wrong answer: the program's output does not match `check`, `{}`",
        printable(expression)
    );
    Err(failed(plan, &problem, output))
}

/// An expression that was checked when the manifest was read; lines have ends of their own.
pub(super) fn regex(text: &str) -> Result<Regex> {
    let built = regex::RegexBuilder::new(text).multi_line(true).build();
    built.map_err(|error| Error::Usage(format!("`{}`: {error}", printable(text))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::{Ladder, Overrides, Tuning};

    fn plan() -> (tempfile::TempDir, ProgramPlan) {
        let folder = tempfile::tempdir().unwrap();
        let text =
            "name = \"t\"\ntitle = \"t\"\n[[steps]]\nname = \"a\"\ntitle = \"a\"\nrun = \"true\"\n";
        std::fs::write(folder.path().join("ladder.toml"), text).unwrap();
        let ladder = Ladder::load(folder.path()).unwrap();
        let plan = ladder.program_plan("a", &Overrides::new(), &Tuning::default()).unwrap();
        (folder, plan)
    }

    #[test]
    fn every_match_is_a_time_in_its_unit() {
        let (_folder, plan) = plan();
        let times = |expression: &str, unit, output: &str| {
            times_ns(&plan, expression, unit, output).map_err(|error| error.to_string())
        };
        let with_unit = "took ([0-9.,]+) *([a-zµ]+)";
        assert_eq!(times(with_unit, None, "took 1.5 ms\ntook 2 s").unwrap(), [1.5e6, 2e9]);
        assert_eq!(times(with_unit, None, "took 1,500us").unwrap(), [1.5e6]);
        assert_eq!(times("^([0-9.]+)$", Some(TimeUnit::Us), "x\n7\ny").unwrap(), [7e3]);
        for (output, words) in [
            ("took 3 fortnights", "the unit `fortnights`"),
            ("took ,. ms", "not a time above 0"),
            ("took 0 ms", "not a time above 0"),
            ("done\nbye", "nothing in the program's output matches"),
        ] {
            let error = times(with_unit, None, output).unwrap_err();
            assert!(error.contains(words) && error.starts_with("t/a: "), "{error}");
        }
        assert!(times(with_unit, None, "one\nlast line").unwrap_err().ends_with("  | last line"));
    }

    #[test]
    fn an_answer_is_right_where_the_output_says_so() {
        let (_folder, plan) = plan();
        assert!(is_right(&plan, "^PASS$", "a\nPASS\nb").is_ok());
        let error = is_right(&plan, "^PASS$", "PASSED not").unwrap_err();
        assert!(matches!(&error, Error::Kernel(text) if text.contains("wrong answer")), "{error}");
    }
}
