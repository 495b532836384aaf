//! The run: the launcher with a wrapper in the ranks' place, ended at a limit, each rank judged by what its own ncu left.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::clock::{self, End, LAUNCHER_ENDS, LEAVING};
use super::launcher::Launcher;
use super::port;
use super::wrapper::{self, Plan, came};
use crate::collect::{WRITE_UP, reading};
use crate::error::{Error, Result};
use crate::export::csv::Pages;
use crate::ncu::outcome::judge;
use crate::ncu::process::{Stderr, stream};
use crate::ncu::progress::Follower;
use crate::ncu::run::has_written_up;
use crate::ncu::{self, CollectRequest, Limits, Lockstep, Ncu, NcuCommand, Part};
use crate::progress::Progress;
use crate::text::duration;
use crate::{interrupt, text};

/// What of the launcher's output is kept, bytes.
const MOST_OUTPUT: usize = 64 * 1024;

/// What to collect, and from whom.
pub(crate) struct Ranked<'a> {
    /// What is profiled and how; its program is the launcher with its arguments.
    pub request: &'a CollectRequest,
    /// The launcher.
    pub launcher: &'a Launcher,
    /// The ranks to profile; all without.
    pub ranks: Option<Vec<u32>>,
    /// The device of each rank, where a survey told.
    pub devices: BTreeMap<u32, String>,
    /// How all ranks are kept in lockstep, and how many there are.
    pub lockstep: Option<(Lockstep, u32)>,
    /// What each rank collects, where the ranks share what the request says.
    pub parts: BTreeMap<u32, Part>,
    /// How long the run may take.
    pub timeout: Duration,
    /// A folder for the ranks' files, which all machines of the run see.
    pub folder: &'a Path,
}

/// What one rank left.
pub(crate) struct RankProfiled {
    /// The rank.
    pub rank: u32,
    /// Its report.
    pub report: PathBuf,
    /// The report's pages.
    pub pages: Pages,
    /// Replays of the launch that took most.
    pub passes: Option<u32>,
    /// What the user should know, each one sentence.
    pub notices: Vec<String>,
    /// True where the time limit ended it.
    pub cut_short: bool,
}

/// Profiles the ranks of a run, each by an ncu of its own. A rank without a report that can be used has its error in
/// the place of one.
///
/// # Errors
/// [`Error::Interrupted`] after Ctrl-C; [`Error::Environment`] where the launcher does not start, or where none of its
/// ranks came.
pub(crate) fn collect(
    ncu: &Ncu,
    what: &Ranked<'_>,
    name: &str,
    progress: &Progress,
) -> Result<Vec<(u32, Result<RankProfiled>)>> {
    let command = prepare(ncu, what)?;
    progress.note(&format!("adoprof: profiling the ranks of {name} with ncu {}", ncu.version));
    progress.stage(format!("profiling the ranks of {name}"));
    let (ended, output, end) = run(&command, what)?;
    let at_limit = end == End::AtLimit;
    if progress.verbose() {
        for line in output.lines() {
            progress.note(&format!("  {}", text::printable(line)));
        }
    }
    let ranks = came(what.folder);
    if ranks.is_empty() {
        let last = ncu::last_lines(&output);
        let said = if last.is_empty() { String::new() } else { format!(":\n{last}") };
        return Err(Error::Environment(format!(
            "no rank that was to be profiled was started by the launcher, which {ended}{said}"
        )));
    }
    progress.stage("reading the reports");
    Ok(ranks
        .into_iter()
        .map(|rank| {
            let of_rank = judged(ncu, what, rank, at_limit);
            if let Err(error) = &of_rank {
                progress.note(&format!("adoprof: rank {rank} was not profiled: {error}"));
            }
            (rank, of_rank)
        })
        .collect())
}

/// Writes what the ranks are to do, and says what to run.
fn prepare(ncu: &Ncu, what: &Ranked<'_>) -> Result<NcuCommand> {
    let placeholder = CollectRequest {
        program: PathBuf::from("program"),
        program_args: Vec::new(),
        env: Vec::new(),
        ..what.request.clone()
    };
    let mut plan = Plan {
        ranks: what.ranks.clone(),
        devices: what.devices.clone(),
        in_lockstep: what.lockstep.is_some(),
        ..Plan::new(&ncu::profile(ncu, &placeholder))
    };
    if let Some((lockstep, peers)) = what.lockstep {
        let port = port::free().ok_or_else(|| {
            Error::Environment("the system gives no free port for ncu's lockstep".to_owned())
        })?;
        plan.args.extend(lockstep.args(peers, port));
    }
    for (rank, part) in &what.parts {
        let request = CollectRequest { selection: part.selection.clone(), ..placeholder.clone() };
        plan.parts.insert(*rank, Plan::new(&ncu::profile(ncu, &request)).args);
    }
    plan.write(what.folder)?;
    let mut words: Vec<OsString> = vec![what.request.program.clone().into()];
    words.extend(what.request.program_args.iter().cloned());
    let (mut words, mut env) = wrapper::wrapped(what.launcher, &words, what.folder)?;
    env.extend(port::variables());
    let program = PathBuf::from(words.remove(0));
    Ok(NcuCommand { program, args: words, env, cwd: what.request.cwd.clone() })
}

/// Runs the launcher to its end or to the limit: how it ended, what it printed, and what ended it.
fn run(command: &NcuCommand, what: &Ranked<'_>) -> Result<(String, String, End)> {
    let interrupted = interrupt::flag();
    // Where the ranks do not end when they are asked to, all of it is ended.
    let timeout = Some((what.timeout + WRITE_UP + LAUNCHER_ENDS).into());
    let limits = Limits { timeout, interrupted: &interrupted, write_up: Duration::ZERO };
    let mut output = Vec::new();
    let (done, is_done) = channel::<()>();
    let (ended, end) = std::thread::scope(|scope| {
        // Each ncu is asked by itself: a launcher that is asked may end its ranks before they have written a report.
        let peers = what.lockstep.map(|(_, peers)| peers);
        let clock =
            scope.spawn(move || clock::attend(&is_done, what.folder, what.timeout, peers, LEAVING));
        let ended = stream(command, Stderr::Merged, limits, "the ranks' run", |piece| {
            output.extend_from_slice(piece);
            if output.len() > 2 * MOST_OUTPUT {
                output.drain(..output.len() - MOST_OUTPUT);
            }
        });
        drop(done);
        (ended, clock.join().unwrap_or(End::ByItself))
    });
    // What a rank had started may have stayed when its ncu ended.
    if end != End::ByItself {
        ncu::end_all_runs();
    }
    let output = String::from_utf8_lossy(&output).into_owned();
    let how = match ended {
        Ok(ended) => match ended.status.code() {
            Some(code) => format!("ended with code {code}"),
            None => "was ended by a signal".to_owned(),
        },
        Err(Error::Interrupted(_)) if end != End::ByItself => {
            format!("did not end within {} and was ended", seconds(what.timeout))
        }
        Err(error) => return Err(error),
    };
    Ok((how, output, end))
}

fn seconds(time: Duration) -> String {
    duration(time.as_secs_f64() * 1e9)
}

/// What a rank's log and report come to.
fn judged(ncu: &Ncu, what: &Ranked<'_>, rank: u32, at_limit: bool) -> Result<RankProfiled> {
    let path = wrapper::file(what.folder, rank, "log");
    let bytes = std::fs::read(&path).map_err(|error| Error::io(&path, "read", &error))?;
    let (mut follower, mut passes) = (Follower::default(), None);
    follower.feed(&bytes, &mut |step| passes = passes.max(step.passes));
    let (log, _) = follower.finish();
    let report = wrapper::report(what.folder, rank, what.lockstep.is_some());
    let limit = format!("the limit of {} ended it", seconds(what.timeout));
    if at_limit && (report.is_none() || !has_written_up(&log)) {
        let hint =
            ncu::outcome::hang_hint(&log).map_or_else(String::new, |hint| format!("; {hint}"));
        return Err(Error::Interrupted(format!("{limit} before it had a report{hint}")));
    }
    let is_there = report.is_some();
    let place = report.unwrap_or_else(|| wrapper::file(what.folder, rank, "ncu-rep"));
    let outcome = judge(&log, Some(0), is_there, &place)?;
    let mut notices = outcome.notices;
    // It may have ended long before the others.
    let cut_short = at_limit && log.contains("==PROF== Trying to shutdown");
    if cut_short {
        notices.push(format!("{limit}; what was profiled before that follows"));
    }
    let again = AtomicBool::new(false);
    let (timeout, write_up) = (Some(what.timeout.into()), Duration::ZERO);
    let limits = Limits { timeout, interrupted: &again, write_up };
    let (pages, more) =
        reading::pages(ncu, &place, what.request.via, outcome.failed_launch, limits)?;
    notices.extend(more);
    Ok(RankProfiled { rank, report: place, pages, passes, notices, cut_short })
}
