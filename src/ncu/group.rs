//! Ending ncu with everything that it started.
//!
//! ncu starts the profiled program, which may start others. All of them are in ncu's process group
//! unless they leave it, and below ncu unless their parents end, so a variable in their environment marks
//! them as well. A polite signal comes first: ncu may have clocks to unlock.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long ncu and its children get to end by themselves.
const GRACE: Duration = Duration::from_secs(2);

/// A process that can't be mistaken for a later one with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: u32,
    parent: u32,
    group: u32,
    /// Clock ticks after boot.
    started: u64,
    dead: bool,
}

/// The variable that marks the processes of a run.
pub(super) const MARKER: &str = "ADOPROF_RUN";

/// A value of [`MARKER`] that no other run has.
pub(super) fn marker() -> String {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    format!("{}{}", own_mark(), RUNS.fetch_add(1, Ordering::Relaxed))
}

/// How the markers of all runs of this process begin.
pub(super) fn own_mark() -> String {
    let own = std::process::id();
    let started = look(own).map_or(0, |process| process.started);
    format!("{own}-{started}-")
}

/// Ends all processes whose marker begins so, with the groups that they are in; returns when they are gone
/// or after [`GRACE`] and a kill signal.
pub(super) fn end_marked(mark: &str) {
    let own = std::process::id();
    let family = || marked_from(mark).into_iter().filter(move |process| process.pid != own);
    let first: Vec<Process> = family().collect();
    let groups: HashSet<u32> = first.iter().map(|process| process.group).collect();
    let all = |number: i32| {
        for &group in &groups {
            signal_group(group, number);
        }
    };
    all(libc::SIGTERM);
    wait_for_end(&first);
    all(libc::SIGKILL);
    for process in first.iter().copied().filter(still_alive).chain(family()) {
        signal(process.pid, libc::SIGKILL);
    }
    wait_for_end(&first);
}

/// Asks process groups to end by themselves. ncu, which a wrapper may have started, then ends the program and
/// writes what it has into its report.
pub(super) fn ask(leaders: &[u32]) {
    for &leader in leaders {
        signal_group(leader, libc::SIGTERM);
    }
}

/// Ends whatever the runs of this process have left.
pub(crate) fn end_all_runs() {
    end_marked(&own_mark());
}

/// Asks processes to end by themselves, each of them alone.
pub(crate) fn ask_to_end(processes: &[u32]) {
    for &process in processes {
        signal(process, libc::SIGTERM);
    }
}

/// True while a group has a process that runs.
pub(super) fn is_alive(leaders: &[u32]) -> bool {
    pids().filter_map(look).any(|process| !process.dead && leaders.contains(&process.group))
}

/// Ends process groups, all descendants of their leaders and all processes with the marker; returns when
/// they are gone or after [`GRACE`] and a kill signal.
pub(super) fn end(leaders: &[u32], marker: &str) {
    let family = || {
        let mut family = marked(marker);
        for &leader in leaders {
            family.extend(descendants(leader));
        }
        family
    };
    let all = |number: i32| {
        for &leader in leaders {
            signal_group(leader, number);
        }
    };
    let first = family();
    all(libc::SIGTERM);
    for process in &first {
        signal(process.pid, libc::SIGTERM);
    }
    wait_for_end(&first);
    all(libc::SIGKILL);
    // With what a survivor started in the meantime.
    for process in first.iter().copied().filter(still_alive).chain(family()) {
        signal(process.pid, libc::SIGKILL);
    }
    // Until they are gone they may still write into the folder that is removed next.
    wait_for_end(&first);
}

/// Lets the system end the process where this one ends without a chance to do it: SIGKILL, or a second
/// Ctrl-C.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the standard library can't tie a child's life to its parent's")]
pub(super) fn end_with_parent(process: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: between fork and exec only prctl(2) is called, which is async-signal-safe, with integers.
    unsafe {
        process.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            Ok(())
        });
    }
}

/// Elsewhere a child outlives its parent.
#[cfg(not(target_os = "linux"))]
pub fn end_with_parent(_: &mut std::process::Command) {}

/// The processes whose environment has the marker, as far as this user may read it.
fn marked(marker: &str) -> Vec<Process> {
    let entry = format!("{MARKER}={marker}");
    with_variable(|variable| variable == entry.as_bytes())
}

/// The processes whose marker begins so.
fn marked_from(mark: &str) -> Vec<Process> {
    let entry = format!("{MARKER}={mark}");
    with_variable(|variable| variable.starts_with(entry.as_bytes()))
}

fn with_variable(is_it: impl Fn(&[u8]) -> bool) -> Vec<Process> {
    pids()
        .filter(|pid| {
            let variables = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            variables.split(|byte| *byte == 0).any(&is_it)
        })
        .filter_map(look)
        .collect()
}

/// The numbers of all processes.
fn pids() -> impl Iterator<Item = u32> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Waits until all are gone, [`GRACE`] at most.
fn wait_for_end(family: &[Process]) {
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline && family.iter().any(still_alive) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The process and everything below it, as far as `/proc` tells.
fn descendants(root: u32) -> Vec<Process> {
    let all: HashMap<u32, Process> = pids().filter_map(|pid| Some((pid, look(pid)?))).collect();
    let below = |process: &Process| {
        let mut at = *process;
        // Parents form a tree; the bound only guards against a snapshot torn by reused numbers.
        for _ in 0..all.len() {
            if at.pid == root {
                return true;
            }
            match all.get(&at.parent) {
                Some(parent) => at = *parent,
                None => return false,
            }
        }
        false
    };
    all.values().filter(|process| below(process)).copied().collect()
}

fn still_alive(process: &Process) -> bool {
    look(process.pid).is_some_and(|now| now.started == process.started && !now.dead)
}

fn look(pid: u32) -> Option<Process> {
    parse_stat(pid, &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads `/proc/<pid>/stat`: the name in parentheses may hold spaces and parentheses itself.
fn parse_stat(pid: u32, stat: &str) -> Option<Process> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
        // The first thread of a process may be gone while others still give back the device's memory.
        dead: match *fields.first()? {
            "X" => true,
            "Z" => fields.get(17)?.parse::<u32>().ok()? <= 1,
            _ => false,
        },
    })
}

fn signal(pid: u32, number: i32) {
    if let Ok(pid) = i32::try_from(pid)
        && pid > 1
    {
        send(pid, number);
    }
}

fn signal_group(leader: u32, number: i32) {
    if let Ok(pid) = i32::try_from(leader)
        && pid > 1
    {
        send(-pid, number);
    }
}

#[expect(unsafe_code, reason = "the standard library can't signal a process group")]
fn send(target: i32, number: i32) {
    // SAFETY: kill(2) takes two integers and touches no memory of ours. A target that is gone gives
    // ESRCH, which is what we want anyway.
    unsafe { libc::kill(target, number) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_survives_a_hostile_name() {
        let stat = "77 (a) R 1 (b) S 12 77 77 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 9876 1 1";
        let process = parse_stat(77, stat).unwrap();
        assert_eq!((process.parent, process.started, process.dead), (12, 9876, false));
        // A process is there until its last thread is gone.
        for (threads, dead) in [("1", true), ("3", false)] {
            let stat = stat.replace("S 12", "Z 12").replace("20 0 1", &format!("20 0 {threads}"));
            assert_eq!(parse_stat(77, &stat).unwrap().dead, dead, "{threads}");
        }
        assert!(parse_stat(1, "garbage").is_none());
        assert!(parse_stat(1, "1 (x) S").is_none());
    }

    #[test]
    fn our_children_are_our_descendants() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let family = descendants(std::process::id());
        assert!(family.iter().any(|process| process.pid == child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!descendants(std::process::id()).iter().any(|process| process.pid == child.id()));
    }
}
