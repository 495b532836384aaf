//! What a run of ncu came to. ncu's exit code does not tell: it is the program's where that fails,
//! and 0 where nothing was profiled. The report and ncu's messages do.

use std::path::Path;

use super::locate::REMEDY;
use crate::error::{Error, Result};
use crate::text::printable;

/// A run whose report can be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The profiled program's exit code where ncu says that it was not 0.
    pub program_exit: Option<i32>,
    /// What the user should know, each one sentence.
    pub notices: Vec<String>,
}

/// Judges a collection by its log and by whether it left a report.
///
/// # Errors
/// [`Error::Environment`] where counters are forbidden or taken or there is no driver,
/// [`Error::Kernel`] where the kernel or the program failed, [`Error::Usage`] where there is nothing
/// to profile or ncu does not know what it was asked for, [`Error::Input`] where the report can't be
/// written.
pub fn judge(log: &str, exit: Option<i32>, report_exists: bool, report: &Path) -> Result<Outcome> {
    if let Some(error) = environment(log) {
        return Err(error);
    }
    let program_exit = program_exit(log);
    if let Some(failure) = kernel_failure(log) {
        return Err(Error::Kernel(failure));
    }
    if !report_exists {
        return Err(usage(log, report)
            .or_else(|| nothing_profiled(log, program_exit))
            .unwrap_or_else(|| other(log, exit)));
    }
    let mut notices = Vec::new();
    if let Some(code) = program_exit {
        notices.push(format!(
            "the program ended with code {code}; the profile holds what ran before that"
        ));
    }
    if log.contains("Launching the workload is taking more time than expected") {
        notices.push(
            "ncu found a launch slow; if a run never ends, the kernel may wait for another one, \
             which replaying it alone can't give: use --ncu-args '--replay-mode application' or \
             '--replay-mode range'"
                .to_owned(),
        );
    }
    Ok(Outcome { program_exit, notices })
}

/// Judges an import by its output; `None` where it went well.
#[must_use]
pub fn import_failure(output: &str, report: &Path) -> Option<Error> {
    let errors = messages(output, "==ERROR== ");
    let first = errors.first()?;
    let text = errors.join(" ");
    if first.contains("Could not open report file") {
        return Some(Error::input(report, "there is no such report"));
    }
    if text.contains("not an Nsight Compute profiler report") {
        return Some(Error::input(report, "this is no ncu report; a report comes from `ncu -o`"));
    }
    if first.contains("Failed to load report file") {
        return Some(Error::input(
            report,
            "ncu can't read it: it is cut short, or a newer ncu wrote it, or it is no report; \
             collect it again, or name a newer ncu with --ncu",
        ));
    }
    Some(Error::input(report, format!("ncu can't read the report: {}", printable(&text))))
}

/// What the machine lacks or forbids.
fn environment(log: &str) -> Option<Error> {
    let text = if log.contains("ERR_NVGPUCTRPERM") {
        "this user may not read the GPU's performance counters (ERR_NVGPUCTRPERM): run as root, or \
         load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0, or in a container add \
         the capability SYS_ADMIN; timing works without counters"
            .to_owned()
    } else if log.contains("driver resource was unavailable")
        || log.contains("driver resource unavailable")
    {
        "another program holds the GPU's counters, often DCGM: pause it with `dcgmi profile --pause` \
         (and `--resume` afterwards), or end the other profiler"
            .to_owned()
    } else if log.contains("failed to connect to the CUDA driver") {
        "ncu finds no CUDA driver: install NVIDIA's driver, or run where a GPU is; `adoprof analyze` \
         works without one"
            .to_owned()
    } else if log.contains("Unknown Error on device") {
        "ncu failed with an unknown error on the device: look for Xid messages in `dmesg` and \
         whether the driver is as new as ncu"
            .to_owned()
    } else {
        return None;
    };
    Some(Error::Environment(text))
}

/// A kernel that faults still gives a report; its numbers are of no use.
fn kernel_failure(log: &str) -> Option<String> {
    let failed = messages(log, "==ERROR== ")
        .into_iter()
        .find(|error| error.contains("LaunchFailed") || error.starts_with("Failed to profile"))?;
    let kernel = messages(log, "==PROF== Profiling \"").pop().and_then(|line| {
        let (kernel, _) = line.rsplit_once("\" - ")?;
        Some(format!(" of {}", printable(kernel)))
    });
    Some(format!(
        "the launch{} failed under the profiler ({}): run the program alone under \
         compute-sanitizer, which names the faulty access",
        kernel.unwrap_or_default(),
        printable(failed)
    ))
}

/// ncu does not know, or can't do, what it was asked.
fn usage(log: &str, report: &Path) -> Option<Error> {
    let errors = messages(log, "==ERROR== ");
    let find = |part: &str| errors.iter().find(|error| error.contains(part));
    let quoted = |text: &str| text.split('\'').nth(1).map(printable).unwrap_or_default();
    if let Some(error) = find("does not exist or is not an executable") {
        return Some(Error::Usage(format!(
            "{} does not exist or is not executable; give the program's path, ./ included",
            quoted(error)
        )));
    }
    if let Some(error) = find("did not match any section") {
        return Some(Error::Usage(format!(
            "{} matches none of ncu's sections: `ncu --list-sections` names them, and none at all \
             means that the package with NVIDIA's section files is not installed",
            quoted(error)
        )));
    }
    if let Some(error) = find("Invalid regex") {
        return Some(Error::Usage(format!("-k is no valid regex: {}", printable(error))));
    }
    if find("Unable to write to file").is_some() || find("already exists").is_some() {
        return Some(Error::input(report, "ncu can't write the report there; choose another -o"));
    }
    let option = ["unrecognised option", "unrecognized option", "specified more than once"]
        .into_iter()
        .chain(["the argument", "the required argument", "is ambiguous"])
        .find_map(find)?;
    Some(Error::Usage(format!("ncu refuses its options: {}", printable(option))))
}

/// The program ran and no kernel was profiled.
fn nothing_profiled(log: &str, program_exit: Option<i32>) -> Option<Error> {
    if !log.contains("No kernels were profiled") {
        return None;
    }
    let kernels: Vec<String> = log
        .lines()
        .skip_while(|line| line.trim() != "Available Kernels:")
        .skip(1)
        .map_while(|line| {
            let (number, kernel) = line.trim().split_once(". ")?;
            number.parse::<u32>().ok().map(|_| printable(kernel))
        })
        .collect();
    if !kernels.is_empty() {
        return Some(Error::Usage(format!(
            "no kernel was profiled: the filter matches none of the program's kernels, which are {}",
            kernels.join(", ")
        )));
    }
    Some(match program_exit {
        Some(code) => Error::Kernel(format!(
            "the program ended with code {code} before it ran a kernel to profile; run it alone to \
             see why"
        )),
        None => Error::Usage(
            "the program ran to its end and launched no kernel that ncu could profile; check its \
             arguments, -k, and the launches to skip"
                .to_owned(),
        ),
    })
}

/// A failure without a known message.
fn other(log: &str, exit: Option<i32>) -> Error {
    let errors = messages(log, "==ERROR== ");
    let said = if errors.is_empty() {
        let last = log.lines().rev().find(|line| !line.trim().is_empty());
        last.map_or_else(|| "nothing".to_owned(), printable)
    } else {
        printable(&errors.join(" "))
    };
    let code = exit.map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"));
    let hint = if log.contains("error while loading shared libraries") || exit == Some(127) {
        format!("; its installation is broken: {REMEDY}")
    } else {
        "; -v shows its whole output".to_owned()
    };
    Error::Environment(format!("ncu ended with {code} and left no report; it said: {said}{hint}"))
}

/// The code in `The application returned an error code (7).`
fn program_exit(log: &str) -> Option<i32> {
    let (_, rest) = log.split_once("The application returned an error code (")?;
    rest.split(')').next()?.parse().ok()
}

/// The lines with a mark, without it; the mark may follow an open line of the program.
fn messages<'a>(log: &'a str, mark: &str) -> Vec<&'a str> {
    log.lines().filter_map(|line| Some(line.split_once(mark)?.1.trim())).collect()
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
