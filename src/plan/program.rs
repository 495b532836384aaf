//! A step that is a program, at one problem size.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Metric;

/// A step that is a program for one problem size: its launches come from the program.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramPlan {
    /// The ladder's name.
    pub ladder: String,
    /// The step's name.
    pub step: String,
    /// The step in one line.
    pub title: String,
    /// The problem's parameters, the step's own defaults and the user's `--size` applied.
    pub size: BTreeMap<String, u64>,
    /// The ladder's folder, in which every command runs.
    pub folder: PathBuf,
    /// The command that builds the program.
    pub build: Option<CommandLine>,
    /// The command that runs it.
    pub run: CommandLine,
    /// An expression that matches the names of the kernels that count; all do without.
    pub kernels: Option<String>,
    /// What says whether the answer is right.
    pub check: Option<AnswerCheck>,
    /// Where the time comes from.
    pub time: TimeSource,
    /// How often the program is run to be timed.
    pub runs: u32,
    /// Bytes that the problem needs to move; 0 where the ladder does not say.
    pub bytes: u64,
    /// Floating-point operations that the problem needs; 0 where the ladder does not say.
    pub flops: u64,
    /// The ladder's figure of merit.
    pub metric: Option<Metric>,
    /// Things the user should know about this plan, each one sentence.
    pub notices: Vec<String>,
}

/// A command, split into words: no shell reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
}

impl CommandLine {
    /// The command as a line that a shell would read the same way.
    #[must_use]
    pub fn text(&self) -> String {
        shell_words::join(std::iter::once(&self.program).chain(&self.args))
    }
}

/// What says whether a program's answer is right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerCheck {
    /// Its output matches this expression.
    Output(String),
    /// This command, run after it, ends with 0.
    Command(CommandLine),
}

/// Where a program's time comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeSource {
    /// The time of the matching launches together, as a survey records them.
    Survey,
    /// The program's output.
    Output {
        /// The first group is the number, the second, if there is one, its unit.
        expression: String,
        /// The unit where the output has none.
        unit: Option<TimeUnit>,
    },
}

/// A unit of time in a program's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl TimeUnit {
    /// The units that are understood.
    pub const WORDS: &str = "ns, us, ms or s";

    /// Reads a unit.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "ns" | "nsec" | "nanoseconds" => Some(Self::Ns),
            "us" | "µs" | "μs" | "usec" | "microseconds" => Some(Self::Us),
            "ms" | "msec" | "milliseconds" => Some(Self::Ms),
            "s" | "sec" | "secs" | "second" | "seconds" => Some(Self::S),
            _ => None,
        }
    }

    /// Nanoseconds in it.
    #[must_use]
    pub fn ns(self) -> f64 {
        match self {
            Self::Ns => 1.0,
            Self::Us => 1e3,
            Self::Ms => 1e6,
            Self::S => 1e9,
        }
    }
}
