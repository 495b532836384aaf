//! What is said of a survey.

use std::collections::{BTreeMap, BTreeSet};

use crate::cli::ProfileArgs;
use crate::cmd::shared::profiling;
use crate::document::Program;
use crate::kernel_name;
use crate::survey::Survey;
use crate::survey::choose::Choice;
use crate::survey::group::{Group, Launch, most_reached};
use crate::survey::waits::Peer;
use crate::text::{self, count_of, duration, percent, printable};

/// Lines of the program's output that are shown where it failed.
const LAST_LINES: usize = 10;

/// Says why the wait in a collective is not known.
pub(super) fn unmatched(kernel: &str) -> String {
    const LONGEST_NAME: usize = 60;
    format!(
        "ranks launched {} a different number of times, so how much of its time is waiting for others is unknown",
        kernel_name::short(kernel, LONGEST_NAME)
    )
}

/// Says which kernels are not profiled because they wait for others.
pub(super) fn left_out(groups: &[Group], waiting: &BTreeMap<String, Peer>) -> Option<String> {
    /// Names in full, then a number.
    const MOST_NAMES: usize = 3;
    const LONGEST_NAME: usize = 60;
    let mut shares: BTreeMap<&String, f64> = BTreeMap::new();
    for group in groups.iter().filter(|group| waiting.contains_key(&group.shape.kernel)) {
        *shares.entry(&group.shape.kernel).or_default() += group.share;
    }
    let mut kernels: Vec<(&String, f64)> = shares.into_iter().collect();
    kernels.sort_by(|a, b| b.1.total_cmp(&a.1));
    let peers: BTreeSet<Peer> = waiting.values().copied().collect();
    let peers: Vec<&str> = peers.into_iter().map(Peer::words).collect();
    let share: f64 = kernels.iter().map(|(_, share)| share).sum();
    let number = count_of(kernels.len() as f64, "kernel");
    let mut names: Vec<String> =
        kernels.iter().map(|(name, _)| kernel_name::short(name, LONGEST_NAME)).collect();
    let more = names.len().saturating_sub(MOST_NAMES);
    names.truncate(MOST_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let other_way = if waiting.values().any(|peer| *peer == Peer::Ranks) {
        "--lockstep profiles them with all ranks at once where ncu can, and --include-communication profiles them anyway"
    } else {
        "--include-communication profiles them anyway"
    };
    (!kernels.is_empty()).then(|| {
        format!(
            "{number} with {} of the kernels' time not profiled, because replayed alone they would wait for {} \
             forever: {}{more}; {other_way}",
            percent(share),
            peers.join(" and "),
            names.join(", ")
        )
    })
}

/// `3.20 s, the GPU busy for 61% of it, 10,000 launches of 23 kinds`.
pub(super) fn sentence(program: &Program) -> String {
    let busy = percent(program.gpu_busy_ns / program.wall_ns.max(1.0));
    let launches = count_of(program.launches() as f64, "launch");
    let kinds = count_of(program.groups.len() as f64, "kind");
    let time = duration(program.wall_ns);
    format!("{time}, the GPU busy for {busy} of it, {launches} of {kinds}")
}

/// What the full collection takes.
pub(super) fn price(
    args: &ProfileArgs,
    survey: &Survey,
    groups: &[Group],
    choice: &Choice,
) -> String {
    let share: f64 = choice.groups.iter().map(|&group| groups[group].share).sum();
    let kinds = count_of(choice.groups.len() as f64, "kind");
    let launches = count_of(choice.launches.len() as f64, "launch");
    let take = if choice.launches.len() == 1 { "takes" } else { "take" };
    let selection = profiling::selection(&args.profiling);
    let passes = selection.expected_passes().map_or_else(String::new, |passes| {
        // Each pass runs the launch once more; saving and restoring memory comes on top.
        let ns: f64 = choice
            .launches
            .iter()
            .map(|chosen| {
                let launch = chosen.launch;
                survey.processes[launch.process as usize].kernels[launch.index as usize].span.ns()
            })
            .sum();
        let passes_of_each = count_of(f64::from(passes), "pass");
        let time = duration(ns * f64::from(passes));
        format!(", {passes_of_each} each, {time} of kernels in all")
    });
    let memory = saved(survey, choice, selection.expected_passes()).unwrap_or_default();
    format!(
        "profiling {launches} of {kinds}, which {take} {} of the kernels' time{passes}{memory}",
        percent(share)
    )
}

/// What ncu saves and restores of the program's memory; `None` where that is not known, or where one pass needs nothing
/// saved.
fn saved(survey: &Survey, choice: &Choice, passes: Option<u32>) -> Option<String> {
    let launches = || choice.launches.iter().map(|chosen| chosen.launch);
    let bytes = most_reached(survey, launches())?.bytes();
    if bytes == 0 || passes == Some(1) {
        return None;
    }
    // The program's own memory and a copy of it.
    let is_too_small = |launch: &Launch| {
        let process = survey.processes.get(launch.process as usize)?;
        let device = process.kernels.get(launch.index as usize)?.place.device;
        let total = process.devices.get(&device)?.memory_bytes;
        let used = most_reached(survey, std::iter::once(*launch))?.device;
        (total > 0 && used.saturating_mul(2) > total).then_some(total)
    };
    let too_small = launches().find_map(|launch| is_too_small(&launch)).map(|total| {
        format!(
            "; where the copy does not fit beside the program in the GPU's {}, ncu keeps it in host memory or in a \
             file, which is slower",
            text::bytes(total as f64)
        )
    });
    Some(format!(
        "; ncu saves up to {} of memory per launch, and restores before each further pass what the launch changed{}",
        text::bytes(bytes as f64),
        too_small.unwrap_or_default()
    ))
}

/// The last lines that the program printed.
pub(super) fn last_lines(output: &str) -> Option<String> {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(LAST_LINES)..)?;
    if last.is_empty() {
        return None;
    }
    let last: Vec<String> = last.iter().map(|line| printable(line)).collect();
    Some(format!("the program's last lines: {}", last.join(" | ")))
}
