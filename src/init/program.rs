//! The manifest of a ladder whose first step is a program.

use std::sync::LazyLock;

use regex::Regex;

use super::lines::Lines;
use super::signature::kernels;
use super::{GUESS, Source, quoted};
use crate::text::{count, duration, percent, printable};

/// A kernel as a survey saw it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SeenKernel {
    /// The function's own name.
    pub name: String,
    /// Its launches.
    pub launches: u64,
    /// Their time together, ns.
    pub total_ns: f64,
    /// Their share of the time of all kernels, 0 to 1.
    pub share: f64,
}

/// What a run of the program showed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Seen {
    /// Its kernels, the one with the most time first; empty where no survey was possible.
    pub kernels: Vec<SeenKernel>,
    /// The end of what it printed.
    pub output: String,
}

/// Kernels that are listed at most.
const MOST_KERNELS: usize = 10;
/// Lines of the output that are proposed as times at most.
const MOST_TIMES: usize = 3;
/// Characters of such a line at most.
const LONGEST_LINE: usize = 200;

/// A number with a unit of time behind it.
static TIME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"([0-9][0-9.,]*)\s*(ns|us|µs|ms|s|sec|seconds)\b").ok());

/// A manifest for a command.
pub(crate) fn manifest(ladder: &str, command: &[String], seen: &Seen) -> String {
    let line = braced(&shell_words::join(command));
    let mut lines = Lines::default();
    head(&mut lines, ladder, &format!("A ladder for `{}`", printable(&shell_words::join(command))));
    step(&mut lines, &line, None);
    kernels_seen(&mut lines, seen);
    answer(&mut lines);
    times(&mut lines, &seen.output);
    next(&mut lines, &line);
    lines.finish()
}

/// A manifest for a source that is a program: it has a `main` of its own.
pub(crate) fn of_source(ladder: &str, file: &str, source: &Source) -> String {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let run = braced(&shell_words::quote(&format!("./{stem}")));
    let words = ["nvcc", "-O3", "-arch=native", "-lineinfo", "-o", stem, file];
    let build = braced(&shell_words::join(words));
    let mut lines = Lines::default();
    head(&mut lines, ladder, &format!("A ladder for {file}, a program with a `main` of its own"));
    step(&mut lines, &run, Some((&build, file)));
    let names: Vec<String> =
        kernels(source).into_iter().map(|kernel| regex::escape(&kernel.name)).collect();
    if !names.is_empty() {
        let expression = quoted(&format!("^({})$", names.join("|")));
        let comment = format!("{GUESS}: the kernels of the source; those that match are timed");
        lines.entry("match", &expression, &comment);
    }
    answer(&mut lines);
    times(&mut lines, "");
    next(&mut lines, &run);
    lines.finish()
}

fn head(lines: &mut Lines, ladder: &str, what: &str) {
    lines.comment(&format!(
        "{what}: its steps are programs. What is marked {GUESS} is yours to correct, and lines that are \
         comments are yours to complete. `adoprof ladder check` finds what does not fit, and \
         docs/ladder-manifest.md has every key."
    ));
    lines.gap();
    lines.entry("name", &quoted(ladder), "");
    lines.entry("title", &quoted(&format!("what {ladder} computes")), GUESS);
    lines.comment(
        "The figure of merit, work / seconds / 10^9, and a size that commands take as {N}:",
    );
    lines.line("# metric = { unit = \"GB/s\", work = \"8 * N\" }");
    lines.line("# [parameters]");
    lines.line("# N = 1048576");
}

fn step(lines: &mut Lines, run: &str, build: Option<(&str, &str)>) {
    lines.gap();
    lines.line("[[steps]]");
    lines.entry("name", "\"base\"", "");
    lines.entry("title", "\"the program as it is\"", "");
    if let Some((build, file)) = build {
        lines.entry("build", &quoted(build), &format!("{GUESS}: in this folder, without a shell"));
        lines.entry("file", &quoted(file), "");
    } else {
        lines.line("# build = \"make\"");
    }
    lines.entry("run", &quoted(run), "in this folder, without a shell");
}

/// Braces of a command that stand for themselves.
fn braced(command: &str) -> String {
    command.replace('{', "{{").replace('}', "}}")
}

fn kernels_seen(lines: &mut Lines, seen: &Seen) {
    let Some(first) = seen.kernels.first() else {
        lines.comment(
            "No survey saw the program's kernels. `match` is a regular expression on the names of those that \
             count, all without it:",
        );
        lines.line("# match = \"^my_kernel$\"");
        return;
    };
    lines.comment(
        "Its kernels in the survey; those that `match` are timed and profiled, all without it:",
    );
    for kernel in seen.kernels.iter().take(MOST_KERNELS) {
        lines.line(&format!(
            "#   {}: {} in {} launches, {} of the kernels' time",
            printable(&kernel.name),
            duration(kernel.total_ns),
            count(kernel.launches as f64),
            percent(kernel.share)
        ));
    }
    let more = seen.kernels.len().saturating_sub(MOST_KERNELS);
    if more > 0 {
        lines.line(&format!("#   and {more} more"));
    }
    let expression = quoted(&format!("^{}$", regex::escape(&first.name)));
    lines.line(&format!("# match = {expression}"));
}

fn answer(lines: &mut Lines) {
    lines.comment("What says that the answer is right: the output, or a command that ends with 0.");
    lines.line("# check = { output = \"^PASS\" }");
    lines.line("# check = { run = \"python3 check.py\" }");
}

fn times(lines: &mut Lines, output: &str) {
    lines.comment(
        "The time is that of the launches together, as a survey records them. The program's own instead, if \
         it prints one:",
    );
    let proposed: Vec<String> = output.lines().filter_map(time).take(MOST_TIMES).collect();
    if proposed.is_empty() {
        lines.line("# time = { output = \"took ([0-9.]+) (ms)\" }");
    }
    for expression in proposed {
        lines.line(&format!("# time = {{ output = {} }}", quoted(&expression)));
    }
    lines.line("# runs = 3");
}

/// An expression that finds the time which a line of the output has.
fn time(line: &str) -> Option<String> {
    let line = line.trim();
    let found = TIME.as_ref()?.captures(line)?;
    let (number, unit) = (found.get(1)?, found.get(2)?);
    if line.chars().count() > LONGEST_LINE || line.chars().any(char::is_control) {
        return None;
    }
    // The words before the number, without other numbers, which differ from run to run.
    let before = &line[..number.start()];
    let words = before.rsplit(|c: char| c.is_ascii_digit()).next().unwrap_or_default().trim_start();
    let between = if unit.start() == number.end() { "" } else { " *" };
    let words = regex::escape(words);
    Some(format!("{words}([0-9.,]+){between}({})", regex::escape(unit.as_str())))
}

fn next(lines: &mut Lines, run: &str) {
    lines.gap();
    lines.comment(
        "The next version of the program, and the fault that it takes away (`adoprof explain`):",
    );
    lines.line("# [[steps]]");
    lines.line("# name = \"faster\"");
    lines.line("# title = \"what it does otherwise\"");
    lines.line(&format!("# run = {}", quoted(run)));
    lines.line("# answers = [\"uncoalesced-global-access\"]");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::{Ladder, Overrides, Tuning};

    fn load(text: &str) -> Ladder {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ladder.toml"), text).unwrap();
        std::fs::write(dir.path().join("my sim.cu"), "").unwrap();
        Ladder::load(dir.path()).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn a_command_comes_back_word_by_word() {
        let command = ["./a b".to_owned(), "--x={1}".to_owned(), "it's \"so\"".to_owned()];
        let text = manifest("mine", &command, &Seen::default());
        let plan = load(&text).program_plan("base", &Overrides::new(), &Tuning::default()).unwrap();
        assert_eq!((plan.run.program.as_str(), &plan.run.args[..]), ("./a b", &command[1..]));
        assert!(text.contains("No survey saw"), "{text}");
    }

    #[test]
    fn comments_hold_what_was_seen_and_are_valid_once_they_count() {
        let kernel = |name: &str, share| SeenKernel {
            name: name.to_owned(),
            launches: 1000,
            total_ns: share * 1e6,
            share,
        };
        let seen = Seen {
            kernels: vec![kernel("scale", 0.75), kernel("add", 0.25)],
            output: "step 7: kernel time (avg): 1.25 ms\n3 fortnights\n\u{1b}[1m2 ms".to_owned(),
        };
        let text = manifest("mine", &["./a".to_owned()], &seen);
        assert!(
            text.contains("#   scale: 750 µs in 1,000 launches, 75% of the kernels' time"),
            "{text}"
        );
        let text = text.replace("# match = ", "match = ").replace("# time = ", "time = ");
        let plan = load(&text).program_plan("base", &Overrides::new(), &Tuning::default()).unwrap();
        assert_eq!(plan.kernels.as_deref(), Some("^scale$"));
        let crate::plan::TimeSource::Output { expression, .. } = plan.time else {
            panic!("{text}")
        };
        let found = Regex::new(&expression).unwrap();
        let found = found.captures("step 12: kernel time (avg): 13.5 ms").unwrap();
        assert_eq!((&found[1], &found[2]), ("13.5", "ms"));
    }

    #[test]
    fn a_source_with_a_main_is_built_and_run() {
        let source = Source::new("__global__ void k(float* x) {}\nint main() { k<<<1, 1>>>(0); }");
        let text = of_source("mine", "my sim.cu", &source);
        let plan = load(&text).program_plan("base", &Overrides::new(), &Tuning::default()).unwrap();
        assert_eq!(plan.run.program, "./my sim");
        assert_eq!(plan.build.unwrap().args.last().unwrap(), "my sim.cu");
        assert_eq!(plan.kernels.as_deref(), Some("^(k)$"));
    }
}
