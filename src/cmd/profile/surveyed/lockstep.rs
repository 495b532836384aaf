//! Whether kernels that wait for other ranks are profiled in lockstep.

use std::collections::BTreeMap;

use crate::cli::ProfileArgs;
use crate::collect::ranks::launcher::Launcher;
use crate::ncu::Lockstep;
use crate::survey::Survey;
use crate::survey::alike;
use crate::survey::choose::Choice;
use crate::survey::waits::Peer;
use crate::text::count_of;

/// What an ncu can do towards lockstep, or why it can't.
pub(crate) type Support = Result<Lockstep, String>;

/// A run in lockstep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InLockstep {
    /// ncu's options for it.
    pub options: Lockstep,
    /// How many ranks take part: all.
    pub peers: u32,
}

/// Whether kernels are profiled in lockstep, and a sentence about it where it was asked for. Those that then may be
/// profiled are taken from `waiting`.
pub(super) fn decide(
    args: &ProfileArgs,
    support: Option<&Support>,
    survey: &Survey,
    waiting: &mut BTreeMap<String, Peer>,
    choose: impl Fn(&BTreeMap<String, Peer>) -> Choice,
) -> (Option<InLockstep>, Option<String>) {
    let Some(support) = support else { return (None, None) };
    let others: BTreeMap<String, Peer> = waiting
        .iter()
        .filter(|(_, peer)| **peer != Peer::Ranks)
        .map(|(k, v)| (k.clone(), *v))
        .collect();
    if others.len() == waiting.len() {
        let none = "no kernel waits for other ranks, so --lockstep changes nothing".to_owned();
        return (None, Some(none));
    }
    let decided = support.clone().and_then(|options| {
        if Launcher::of(&args.program).is_none() {
            return Err("adoprof knows no launcher of ranks in the command line".to_owned());
        }
        Ok(InLockstep { options, peers: alike::peers(survey, &choose(&others))? })
    });
    match decided {
        Ok(lockstep) => {
            *waiting = others;
            let ranks = count_of(f64::from(lockstep.peers), "rank");
            let text = format!(
                "kernels that wait for other ranks are profiled on all {ranks} in lockstep, which adoprof's authors have \
                 not tried on several GPUs"
            );
            (Some(lockstep), Some(text))
        }
        Err(reason) => (None, Some(format!("--lockstep is not possible here: {reason}"))),
    }
}
