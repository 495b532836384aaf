//! ncu's binary report, `.ncu-rep`, and the same compressed with zstd, `.ncu-repz`.
//!
//! Read here it takes milliseconds where `ncu --import` takes seconds, gives every value in full
//! where the CSV has two decimals, and needs no ncu. The format is described in the documentation
//! of Nsight Compute ("Report File Format"), which also says that it may change: what can't be
//! read ends in a notice or an error, never in a wrong number.

mod code;
mod container;
mod counters;
mod launch_metric;
mod lines;
mod messages;
mod metrics;
mod rules;
#[cfg(test)]
pub(crate) mod sample;
mod stored;
#[cfg(test)]
mod tests;
mod wire;

use std::fs::File;
use std::path::Path;

use container::{Container, EncodedResult, Workload, damaged_block, plain};
use counters::Modules;
use launch_metric::LaunchMetric;
use messages::{ClockStatus, GraphClocks, ProfileResult, RangeClocks, SessionDetails};
use stored::Stored;

use super::limits::{self, Limits};
use super::plausible::Impossible;
use super::{Collected, Export, LaunchRow, NcuRuleRow, SourceRow, WORKLOADS};
use crate::error::{Error, Result};
use crate::text::count_of;

pub use container::{MAGIC, is_report};

/// What made a report. Hosts, users, command lines and environments are not read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// ncu's version, as it writes it (`2025.3.1.0 (build …)`).
    pub ncu: Option<String>,
    /// The CUDA version of the driver (`13.0`).
    pub cuda: Option<String>,
    /// The display driver's version.
    pub driver: Option<String>,
}

/// Reads a report; `name` stands in the error messages.
///
/// A file whose end is missing gives the launches before the gap, with a notice. Of thousands of launches
/// only the metrics that adoprof knows are kept, with a notice too.
///
/// # Errors
/// [`Error::Input`] where the bytes are no report, or one without a whole kernel launch.
pub fn read(bytes: &[u8], name: &Path) -> Result<Export> {
    let (bytes, damage) = plain(bytes);
    whole(Stored::Held(&bytes), damage, name, false).map(|(export, _)| export)
}

/// Reads a report of so many bytes that is not compressed from its file, a launch at a time, where holding all of it
/// would take more memory than what it turns into.
///
/// # Errors
/// As [`read`].
pub fn read_stored(file: &File, size: u64, name: &Path) -> Result<Export> {
    let stored = Stored::OnDisk(file, size);
    whole(stored, None, name, false).map(|(export, _)| export)
}

/// Reads such a report in parts of so many launches, which are handed on one by one; what is returned has no launches,
/// and all that was noticed.
///
/// # Errors
/// As [`read`], and whatever `take` gives.
pub fn read_in_parts(
    file: &File,
    size: u64,
    name: &Path,
    launches: usize,
    take: &mut dyn FnMut(Export) -> Result<()>,
) -> Result<Export> {
    let container = open(Stored::OnDisk(file, size), None, name)?;
    reading(&container, Stored::OnDisk(file, size), name, false, launches, take)
        .map(|(export, _)| export)
}

/// The launches of such a report by name and shape alone, without their metrics: none where that can't be read.
///
/// # Errors
/// As [`read`].
pub fn shapes(file: &File, size: u64, name: &Path) -> Result<Vec<LaunchRow>> {
    let bytes = Stored::OnDisk(file, size);
    let container = open(bytes, None, name)?;
    let shape = |(id, encoded): (u32, &EncodedResult)| {
        let message = bytes.get(encoded.message)?;
        if encoded.workload != Workload::Kernel {
            return None;
        }
        let result = wire::decode::<ProfileResult>(&message, &[&[19]], 144)?;
        Some(metrics::launch(&result, id, &[], &[]))
    };
    Ok((0..).zip(&container.results).filter_map(shape).collect())
}

/// Reads a report of which nothing may be missing.
///
/// # Errors
/// As [`read`], and [`Error::Input`] where the report is damaged, of a version that is not known, or holds
/// what is not read.
pub fn read_whole(bytes: &[u8], name: &Path) -> Result<Export> {
    let (bytes, damage) = plain(bytes);
    match whole(Stored::Held(&bytes), damage, name, true)? {
        (_, Some(problem)) => Err(Error::input(name, problem)),
        (export, None) => Ok(export),
    }
}

/// A report's export, and the first thing that is missing in it; `in_full` where all metrics are wanted
/// however many launches there are.
fn whole(
    bytes: Stored<'_>,
    damage: Option<String>,
    name: &Path,
    in_full: bool,
) -> Result<(Export, Option<String>)> {
    let mut rows = Export::default();
    let container = open(bytes, damage, name)?;
    let (rest, missing) = reading(&container, bytes, name, in_full, usize::MAX, &mut |part| {
        rows = part;
        Ok(())
    })?;
    Ok((Export { collected: rest.collected, notices: rest.notices, ..rows }, missing))
}

/// Reads the results of a report and hands them on in parts of so many launches. What is returned is the rest of the
/// export, and the first thing that is missing.
fn reading(
    container: &Container,
    bytes: Stored<'_>,
    name: &Path,
    in_full: bool,
    launches: usize,
    take: &mut dyn FnMut(Export) -> Result<()>,
) -> Result<(Export, Option<String>)> {
    let mut export = Export::default();
    let modules = Modules::new(&container.sources, &container.strings);
    let mut damaged = Vec::new();
    let mut nameless = 0;
    let mut are_known_only = None;
    let mut clock_control = None;
    let mut impossible = Impossible::default();
    let (mut read, mut values, mut rows) = (0, 0, 0);
    let mut within = Limits::of_report(usize::try_from(bytes.len()).unwrap_or(usize::MAX));
    for (id, encoded) in (0..).zip(&container.results) {
        if !within.allow_launch(read, values) {
            break;
        }
        // A launch that can't be decoded keeps its number, as the others keep theirs.
        let takes_source = within.allow_source(rows);
        let message = bytes.get(encoded.message).unwrap_or_default();
        let decoded = decoded(encoded, &message, id, &modules, takes_source);
        let Some((result, metrics, source)) = decoded else {
            let damage = damaged_block(encoded.block);
            if container.damage.iter().chain(&damaged).last() != Some(&damage) {
                damaged.push(damage);
            }
            continue;
        };
        let (mut metrics, unnamed) = metrics::rows(&metrics, id, &container.strings);
        nameless += unnamed;
        clock_control = clock_control.or_else(|| result.clocks.as_ref().map(clocks));
        let count = container.results.len();
        if !in_full && are_known_only.is_none() && limits::are_many(count, metrics.len()) {
            are_known_only = Some(limits::known_only(count, metrics.len()));
        }
        let mut launch = metrics::launch(&result, id, &metrics, &container.sessions);
        if let Some(name) = workload_name(encoded.workload) {
            launch.name_workload(name);
        }
        export.launches.push(launch);
        if are_known_only.is_some() {
            metrics.retain(|row| limits::is_known(&row.metric));
        }
        let rules: Vec<NcuRuleRow> =
            result.rules.iter().flat_map(|rule| rules::rows(rule, id)).collect();
        read += 1;
        values += metrics.len() + rules.len();
        rows += source.len();
        export.metrics.extend(metrics);
        export.rules.extend(rules);
        export.source.extend(source);
        if export.launches.len() >= launches {
            export.leave_out(&mut impossible);
            take(std::mem::take(&mut export))?;
        }
    }
    if !export.launches.is_empty() {
        export.leave_out(&mut impossible);
        take(std::mem::take(&mut export))?;
    }
    let damage = container.damage.iter().chain(&damaged).next();
    if read == 0 {
        return Err(Error::input(name, nothing_in(container, damage)));
    }
    export.notices = notices(container, damage, read);
    export.notices.extend(within.notices(read, container.results.len()));
    export.notices.extend(are_known_only);
    if nameless > 0 {
        export.notices.push(format!(
            "{nameless} metric values of the report have no name, because its string table is \
             incomplete; they are left out."
        ));
    }
    let missing = export.notices.first().cloned();
    let Session { ncu, cuda, .. } = versions(&container.sessions);
    let ncu = ncu.map(|version| numbers(&version));
    export.collected = Collected { ncu, cuda, clock_control };
    if let processes @ 2.. = container.processes.len() {
        export.notices.push(format!(
            "The report holds launches of {processes} processes, one after another in the order in which \
             they were stored; where processes ran side by side, their times overlap."
        ));
    }
    export.notices.extend(impossible.notice());
    Ok((export, missing))
}

/// What a workload of several kernels is called; ncu's pages name it so too. `None` for one kernel.
fn workload_name(workload: Workload) -> Option<&'static str> {
    match workload {
        Workload::Kernel => None,
        Workload::Range => Some(WORKLOADS[0]),
        Workload::CommandList => Some(WORKLOADS[1]),
        Workload::Graph => Some(WORKLOADS[2]),
    }
}

/// A launch with its metrics and, where they are wanted, its source rows; `None` where its message is damaged.
fn decoded<'a>(
    &EncodedResult { workload, process, .. }: &EncodedResult,
    message: &'a [u8],
    id: u32,
    modules: &Modules,
    takes_source: bool,
) -> Option<(ProfileResult, Vec<LaunchMetric<'a>>, Vec<SourceRow>)> {
    if workload != Workload::Kernel {
        // Other kinds have the same metrics under other numbers, the clocks too, and no code of their own.
        let is_range = workload == Workload::Range;
        let clocks = if is_range {
            wire::decode::<RangeClocks>(message, &[&[launch_metric::OF_SEVERAL]], 144)?.clocks
        } else {
            wire::decode::<GraphClocks>(message, &[&[launch_metric::OF_SEVERAL]], 144)?.clocks
        };
        let metrics = launch_metric::read(message, launch_metric::OF_SEVERAL)?;
        return Some((ProfileResult { clocks, ..ProfileResult::default() }, metrics, Vec::new()));
    }
    let result: ProfileResult = wire::decode(message, &[&[launch_metric::METRICS], &[19]], 144)?;
    let metrics = launch_metric::read(message, launch_metric::METRICS)?;
    let source =
        if takes_source { modules.rows((process, &result), &metrics, id)? } else { Vec::new() };
    Some((result, metrics, source))
}

/// What made a report: the versions of ncu, CUDA and the driver, where the report has them.
#[must_use]
pub fn session(bytes: &[u8]) -> Session {
    let (bytes, _) = plain(bytes);
    Container::read(Stored::Held(&bytes), None)
        .map_or_else(Session::default, |container| versions(&container.sessions))
}

fn versions(sessions: &[SessionDetails]) -> Session {
    let version = |provider: &str| {
        let mut versions = sessions.iter().flat_map(|session| &session.versions);
        let version = versions.find(|version| version.provider == provider.as_bytes())?;
        Some(messages::text(&version.version))
    };
    Session {
        ncu: version("Nsight Compute Target"),
        cuda: version("CUDA Version"),
        driver: version("Display Driver Version"),
    }
}

/// The first three numbers of a version as ncu writes it.
fn numbers(version: &str) -> String {
    let numbers = version.split_whitespace().next().unwrap_or_default();
    numbers.split('.').take(3).collect::<Vec<_>>().join(".")
}

/// The clock control of a launch: 0 and 1 are those of reports collected with `none` and with `base`, which was
/// the default up to 2025.
fn clocks(clocks: &ClockStatus) -> String {
    match clocks.requested {
        0 => "none".to_owned(),
        1 => "base".to_owned(),
        kind => format!("clocks held by ncu (its kind {kind})"),
    }
}

fn open(bytes: Stored<'_>, damage: Option<String>, name: &Path) -> Result<Container> {
    Container::read(bytes, damage).ok_or_else(|| {
        let problem = if bytes.len() == 0 {
            "the file is empty; collect the report again"
        } else {
            "this is not an ncu report (it does not begin like one); give an .ncu-rep or .ncu-repz \
             file that ncu wrote with -o"
        };
        Error::input(name, problem)
    })
}

/// Why a report without a launch has none.
fn nothing_in(container: &Container, damage: Option<&String>) -> String {
    if let Some(damage) = damage {
        format!(
            "the report is damaged ({damage}) and holds no whole kernel launch before that; \
             collect or copy it again"
        )
    } else if container.other_results > 0 {
        "the report holds only results of a kind that adoprof does not know; collect it with \
         --replay-mode kernel"
            .to_owned()
    } else {
        "the report holds no kernel launch; check the kernel filter it was collected with"
            .to_owned()
    }
}

/// What a user should know of a report that can be read.
fn notices(container: &Container, damage: Option<&String>, whole: usize) -> Vec<String> {
    let mut notices = Vec::new();
    if let Some(damage) = damage {
        let used = match whole {
            1 => "one whole kernel launch of it is used".to_owned(),
            _ => format!("{whole} whole kernel launches of it are used"),
        };
        notices.push(format!("The report is damaged ({damage}); {used}."));
    }
    if let Some(version) = container.newer_version {
        notices.push(format!(
            "The report's format has version {version}, which is newer than adoprof knows; if \
             something is missing, export it as CSV with ncu --import."
        ));
    }
    if container.other_results > 0 {
        notices.push(format!(
            "The report also holds {} of a kind that adoprof does not know, which {} not read.",
            count_of(container.other_results as f64, "result"),
            if container.other_results == 1 { "is" } else { "are" }
        ));
    }
    notices
}
