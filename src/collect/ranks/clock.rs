//! When a run of ranks is asked to end.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::wrapper;
use crate::ncu;
use crate::ncu::run::has_written_up;

/// How long the launcher may take to end once all its ranks have been asked to.
pub(super) const LAUNCHER_ENDS: Duration = Duration::from_secs(10);

/// How often the ranks' logs are looked at.
const TICK: Duration = Duration::from_millis(500);

/// What a rank in lockstep may take to end once all have written their reports. ncu is known to stay then, which a
/// report of its use on several GPUs says; what it wrote is good.
pub(super) const LEAVING: Duration = Duration::from_secs(30);

/// What ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It ended itself.
    ByItself,
    /// All ranks had written their reports, and did not leave.
    Done,
    /// The time limit.
    AtLimit,
}

/// Waits until the run has ended, which the other end of `is_done` tells by going away, or asks the ranks' ncus to end:
/// at the limit or, of so many ranks in lockstep, `leaving` after all have written their reports. A launcher that then
/// stays is ended with all that it started.
pub(super) fn attend(
    is_done: &Receiver<()>,
    folder: &Path,
    timeout: Duration,
    lockstep: Option<u32>,
    leaving: Duration,
) -> End {
    let start = Instant::now();
    let mut written: Option<Instant> = None;
    loop {
        let left = timeout.saturating_sub(start.elapsed());
        let wait = if lockstep.is_some() { left.min(TICK) } else { left };
        if is_done.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
            return End::ByItself;
        }
        if lockstep.is_some_and(|peers| have_written(folder, peers)) {
            let since = *written.get_or_insert_with(Instant::now);
            if since.elapsed() >= leaving {
                ncu::ask_to_end(&wrapper::collectors(folder));
                if is_done.recv_timeout(LAUNCHER_ENDS) == Err(RecvTimeoutError::Timeout) {
                    ncu::end_all_runs();
                }
                return End::Done;
            }
        }
        if start.elapsed() >= timeout {
            ncu::ask_to_end(&wrapper::collectors(folder));
            return End::AtLimit;
        }
    }
}

/// True where so many ranks say that they have written their reports.
fn have_written(folder: &Path, peers: u32) -> bool {
    let says_so = |rank: &u32| {
        let log = std::fs::read(wrapper::file(folder, *rank, "log")).unwrap_or_default();
        has_written_up(&String::from_utf8_lossy(&log))
    };
    wrapper::came(folder).iter().filter(|rank| says_so(rank)).count() >= peers as usize
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;
    use std::sync::mpsc::channel;

    use super::*;

    /// What ended the run of one rank that never ends by itself and says this in its log.
    fn ended(log: &str, lockstep: Option<u32>, timeout: Duration) -> End {
        let folder = tempfile::tempdir().unwrap();
        let mut rank = Command::new("sleep").arg("60").spawn().unwrap();
        let file = |kind| wrapper::file(folder.path(), 0, kind);
        std::fs::write(file("pid"), rank.id().to_string()).unwrap();
        std::fs::write(file("log"), log).unwrap();
        let (done, is_done) = channel::<()>();
        let waits = std::thread::spawn(move || {
            rank.wait().unwrap();
            drop(done);
        });
        let end = attend(&is_done, folder.path(), timeout, lockstep, Duration::ZERO);
        waits.join().unwrap();
        end
    }

    #[test]
    fn ranks_that_stay_after_their_reports_are_sent_home() {
        let (long, short) = (Duration::from_secs(50), Duration::from_millis(700));
        let written = "==PROF== Report: /x/rank-0000-report0.ncu-rep\n";
        assert_eq!(ended(written, Some(1), long), End::Done);
        // Others are waited for, and ranks that do not go in lockstep leave by themselves.
        assert_eq!(ended(written, Some(2), short), End::AtLimit);
        assert_eq!(ended(written, None, short), End::AtLimit);
        assert_eq!(ended("==PROF== Connected\n", Some(1), short), End::AtLimit);
    }
}
