//! What ncu says on stdout besides data: recognised, put in our words, and classed.
//!
//! ncu writes its errors to stdout, and its exit code does not tell success from failure: it is 0
//! when nothing was profiled, and the program's own when a good report was written. Only the text
//! tells what happened. The wordings are those of ncu 2019 to 2025.3, matched by their fixed parts.

mod table;

use crate::error::Error;
use crate::text::listed;
use crate::text::printable;

/// What a message is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NcuMessageKind {
    /// The user may not read the GPU's performance counters (ERR_NVGPUCTRPERM).
    CountersForbidden,
    /// Another tool holds the counters: DCGM, another profiler.
    CountersBusy,
    /// No device, or no driver.
    NoDevice,
    /// This ncu can't profile this device: too old or too new, WSL, MIG, virtual.
    UnsupportedDevice,
    /// The driver is too old for this ncu.
    DriverTooOld,
    /// Clocks can't be locked here.
    ClocksNotLockable,
    /// The program to profile does not exist or can't be run.
    MissingProgram,
    /// A section that this ncu does not have.
    UnknownSection,
    /// No section files, or no metrics in them.
    NothingToCollect,
    /// A metric that the device does not have, where ncu says so.
    UnknownMetric,
    /// A command-line option that this ncu does not have, or a wrong value.
    BadOption,
    /// The report exists and `-f` was not given.
    ReportExists,
    /// The report can't be written.
    ReportNotWritable,
    /// The report to read does not exist.
    ReportMissing,
    /// The file to read is no report at all.
    ReportForeign,
    /// The report to read is damaged, or of a newer version.
    ReportDamaged,
    /// The kernel failed while it ran: an illegal address, a trap, a failed launch.
    KernelFault,
    /// ncu could not profile a kernel.
    ProfilingFailed,
    /// The program ended with a non-zero code; the report may be good all the same.
    ProgramFailed,
    /// Nothing was profiled.
    NoKernels,
    /// Some metrics do not exist on this device; the others were collected.
    MetricsMissing,
    /// A launch takes long. Also said of kernels that are merely slow.
    SlowLaunch,
    /// Clocks were not controlled.
    ClocksNotControlled,
    /// Device memory is saved to host memory between passes.
    SlowReplay,
    /// An error that is not in the table.
    OtherError,
    /// A warning that is not in the table.
    OtherWarning,
}

/// How a message ends the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The command line or a file is wrong.
    Usage,
    /// The machine lacks something.
    Environment,
    /// The kernel or its program failed.
    Kernel,
    /// Nothing failed.
    Notice,
}

/// One thing that ncu said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NcuMessage {
    /// What it is about.
    pub kind: NcuMessageKind,
    /// How it ends the work.
    pub class: Class,
    /// True where ncu itself calls it an error; the program and the driver may say the same words.
    pub is_error: bool,
    /// What happened, in our words, with the names that ncu gave; no full stop.
    pub meaning: String,
    /// What to do about it; empty where there is nothing to do.
    pub remedy: &'static str,
    /// ncu's own line without its `==ERROR==`, safe to print.
    pub said: String,
}

impl NcuMessage {
    /// Meaning and remedy as one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        if self.remedy.is_empty() {
            self.meaning.clone()
        } else {
            format!("{}; {}", self.meaning, self.remedy)
        }
    }

    /// True where a report that was written all the same is of no use: its counters are missing, or
    /// its numbers are those of a kernel that failed.
    #[must_use]
    pub fn spoils_report(&self) -> bool {
        self.is_error
            && matches!(
                self.kind,
                NcuMessageKind::CountersForbidden
                    | NcuMessageKind::CountersBusy
                    | NcuMessageKind::NoDevice
                    | NcuMessageKind::UnsupportedDevice
                    | NcuMessageKind::DriverTooOld
                    | NcuMessageKind::KernelFault
                    | NcuMessageKind::ProfilingFailed
            )
    }

    /// The failure that this message reports, with what the whole output tells of it: the kernel that
    /// failed, the kernels that there are. `None` for notices.
    #[must_use]
    pub fn error(&self, output: &str) -> Option<Error> {
        let sentence = match self.kind {
            NcuMessageKind::KernelFault => match last_kernel(output) {
                Some(kernel) => format!("{kernel}: {}", self.sentence()),
                None => self.sentence(),
            },
            NcuMessageKind::ProgramFailed if output.contains(NO_KERNELS) => {
                format!("{} before it ran a kernel to profile; {}", self.meaning, self.remedy)
            }
            NcuMessageKind::NoKernels => {
                let kernels = available_kernels(output);
                if kernels.is_empty() {
                    self.sentence()
                } else {
                    format!(
                        "no kernel was profiled: the filter matches none of the program's kernels, \
                         which are {}",
                        listed(kernels)
                    )
                }
            }
            _ => self.sentence(),
        };
        match self.class {
            Class::Usage => Some(Error::Usage(sentence)),
            Class::Environment => Some(Error::Environment(sentence)),
            Class::Kernel => Some(Error::Kernel(sentence)),
            Class::Notice => None,
        }
    }
}

/// True where ncu says that it profiled nothing, and not because a filter matched none of the program's kernels: the
/// program launched none.
#[must_use]
pub fn launched_nothing(output: &str) -> bool {
    let is_none = |message: &NcuMessage| message.kind == NcuMessageKind::NoKernels;
    available_kernels(output).is_empty() && classify(output).iter().any(is_none)
}

/// Everything that ncu said in an output, the most telling first: a cause (counters forbidden)
/// before its consequences (the program failed, nothing was profiled). A kind stands once, with the
/// first message of it.
///
/// [`NcuMessageKind::ProgramFailed`] is of class [`Class::Kernel`], except where the report holds
/// launches it is only worth a notice: ncu passes on any non-zero exit code of the program.
#[must_use]
pub fn classify(output: &str) -> Vec<NcuMessage> {
    let mut found: Vec<(usize, NcuMessage)> = Vec::new();
    for line in output.lines() {
        let line = line.trim();
        let (level, said) = level(line);
        let known = table::TABLE
            .iter()
            .enumerate()
            .find(|(_, entry)| entry.may_come_from(level) && entry.matches(said));
        let (rank, message) = match (known, level) {
            (Some((rank, entry)), _) => (rank, entry.message(level, said)),
            (None, Level::Error) => (table::TABLE.len(), other(NcuMessageKind::OtherError, said)),
            (None, Level::Warning) => {
                (table::TABLE.len() + 1, other(NcuMessageKind::OtherWarning, said))
            }
            (None, _) => continue,
        };
        if !found.iter().any(|(_, other)| {
            other.kind == message.kind
                && (other.kind != NcuMessageKind::OtherError || other.said == message.said)
        }) {
            found.push((rank, message));
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, message)| message).collect()
}

/// The failure that an output reports, by its most telling message; `None` where it reports none. A
/// program that failed after its kernels were profiled is no failure of the profile.
#[must_use]
pub fn first_error(output: &str) -> Option<Error> {
    let has_report = report(output).is_some();
    classify(output)
        .iter()
        .filter(|message| !(has_report && message.kind == NcuMessageKind::ProgramFailed))
        .find_map(|message| message.error(output))
}

/// The report that ncu says it wrote.
#[must_use]
pub fn report(output: &str) -> Option<String> {
    output.lines().find_map(|line| Some(printable(line.split_once("==PROF== Report: ")?.1.trim())))
}

/// The program's exit code where ncu says that it was not 0.
#[must_use]
pub fn program_exit(output: &str) -> Option<i32> {
    let (_, rest) = output.split_once("The application returned an error code (")?;
    rest.split(')').next()?.parse().ok()
}

/// The kernel that was profiled last.
fn last_kernel(output: &str) -> Option<String> {
    let line = output.lines().rfind(|line| line.contains("==PROF== Profiling \""))?;
    let (_, rest) = line.split_once("==PROF== Profiling \"")?;
    Some(printable(rest.rsplit_once("\" - ")?.0))
}

/// The numbers of the launches that ncu says it profiles, in order.
pub fn launches(output: &str) -> impl Iterator<Item = u32> {
    output.lines().filter_map(|line| {
        let (_, rest) = line.split_once("==PROF== Profiling \"")?;
        let (_, number) = rest.rsplit_once("\" - ")?;
        // Newer releases print the number with its total: `0 (1/3)`.
        number.split([':', ' ']).next()?.parse().ok()
    })
}

/// What ncu says where it profiled nothing.
const NO_KERNELS: &str = "No kernels were profiled";

/// The kernels that ncu lists where a filter matched none of them.
#[must_use]
pub fn available_kernels(output: &str) -> Vec<String> {
    output
        .lines()
        .skip_while(|line| line.trim() != "Available Kernels:")
        .skip(1)
        .map_while(|line| {
            let (number, kernel) = line.trim().split_once(". ")?;
            number.parse::<u32>().is_ok().then(|| printable(kernel))
        })
        .collect()
}

/// Who says a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
    Progress,
    /// Not marked as ncu's: the program's own output, or a continued message.
    Program,
}

/// The mark may follow an open line of the program, or the progress of a kernel.
fn level(line: &str) -> (Level, &str) {
    let first = MARKS.iter().filter_map(|(mark, level)| Some((line.find(mark)?, mark, *level)));
    let Some((at, mark, level)) = first.min_by_key(|(at, _, _)| *at) else {
        return (Level::Program, line);
    };
    let said = line[at + mark.len()..].trim();
    if level == Level::Progress {
        // Behind the kernel's name, which may hold anything.
        let rest = said.rsplit_once('"').map_or(said, |(_, rest)| rest);
        if MARKS.iter().any(|(mark, _)| rest.contains(mark)) {
            return self::level(rest);
        }
    }
    (level, said)
}

const MARKS: [(&str, Level); 3] =
    [("==ERROR==", Level::Error), ("==WARNING==", Level::Warning), ("==PROF==", Level::Progress)];

fn other(kind: NcuMessageKind, said: &str) -> NcuMessage {
    let said = printable(said);
    let is_error = kind == NcuMessageKind::OtherError;
    let meaning = format!("ncu {}: {said}", if is_error { "failed" } else { "warns" });
    NcuMessage {
        kind,
        class: if is_error { Class::Environment } else { Class::Notice },
        is_error,
        meaning: meaning.trim_end_matches('.').to_owned(),
        remedy: if is_error { "run `adoprof doctor` to check ncu and the device" } else { "" },
        said,
    }
}

#[cfg(test)]
mod tests;
