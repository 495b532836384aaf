//! The options by which several ncus, one for each rank, launch and replay their kernels in lockstep. Only newer ones
//! have them, and under names that changed: an ncu's own help tells.

use std::time::Duration;

use super::locate::answer;
use super::program::Ncu;

/// How long ncu may take to print its help.
const PATIENCE: Duration = Duration::from_secs(20);

/// The names of the option for the number of ncus, the newest first.
const PEERS: [&str; 2] = ["--communicator-tcp-num-peers", "--communicator-num-peers"];

/// The options of an ncu that can do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lockstep {
    peers: &'static str,
}

impl Lockstep {
    /// Those of an ncu.
    ///
    /// # Errors
    /// Why it can't, as a part of a sentence.
    pub(crate) fn of(ncu: &Ncu) -> Result<Self, String> {
        let help = answer(&ncu.program, "--help", PATIENCE).map_err(|error| error.to_string())?;
        Self::in_help(&help).ok_or_else(|| {
            format!(
                "ncu {} has no --lockstep-kernel-launch with a TCP communicator; releases from 2026.1 on have it",
                ncu.version
            )
        })
    }

    fn in_help(help: &str) -> Option<Self> {
        let words: Vec<&str> = help.split_whitespace().collect();
        let has = |option: &&str| words.contains(option);
        let all = ["--communicator", "--communicator-tcp-port", "--lockstep-kernel-launch"];
        let peers = PEERS.into_iter().find(has)?;
        all.iter().all(has).then_some(Self { peers })
    }

    /// The options of a run of so many ncus on this machine, which meet at this port.
    pub(crate) fn args(self, peers: u32, port: u16) -> Vec<String> {
        let words = ["--communicator", "tcp", self.peers, &peers.to_string()].map(str::to_owned);
        let port = ["--communicator-tcp-port".to_owned(), port.to_string()];
        let words = words.into_iter().chain(port);
        words.chain(["--lockstep-kernel-launch".to_owned()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "  --communicator arg (=none)   Enable …\n  --communicator-tcp-num-peers arg (=2)\n  \
                        --communicator-tcp-port arg (=49217)\n  --lockstep-kernel-launch   Launch kernels in lockstep";

    #[test]
    fn the_help_tells_the_options() {
        let newest = Lockstep::in_help(HELP).unwrap();
        assert_eq!(
            newest.args(4, 5000).join(" "),
            "--communicator tcp --communicator-tcp-num-peers 4 --communicator-tcp-port 5000 --lockstep-kernel-launch"
        );
        let older = HELP.replace("tcp-num", "num");
        assert_eq!(Lockstep::in_help(&older).unwrap().args(2, 1)[2], "--communicator-num-peers");
        for missing in ["--communicator ", "--communicator-tcp-port", "--lockstep-kernel-launch"] {
            assert_eq!(Lockstep::in_help(&HELP.replace(missing, "")), None, "{missing}");
        }
        assert_eq!(Lockstep::in_help("  --set arg"), None);
    }
}
