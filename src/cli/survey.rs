//! The command line of a program's survey.

use clap::Args;

use crate::survey::phase::Phase;

/// What is surveyed, and how much of it is profiled.
#[derive(Debug, Clone, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line of its own"
)]
pub struct SurveyArgs {
    /// Only survey the program: its launches, copies and waits, without ncu.
    #[arg(
        long,
        conflicts_with_all = ["no_survey", "kernel", "launch_skip", "launch_count", "baseline", "nvtx"]
    )]
    pub survey: bool,
    /// Skip the survey and profile the first launches.
    #[arg(long)]
    pub no_survey: bool,
    /// Profile one launch of each kind until the profiled kinds cover this share of the kernels' time.
    #[arg(
        long,
        default_value = "90%",
        value_parser = share,
        value_name = "PERCENT",
        conflicts_with_all = ["no_survey", "kernel", "launch_skip", "launch_count", "nvtx"]
    )]
    pub coverage: f64,
    /// Profile at most this many kinds of launches.
    #[arg(
        long,
        default_value = "10",
        value_parser = at_least_one,
        value_name = "N",
        conflicts_with_all = ["no_survey", "kernel", "launch_skip", "launch_count", "nvtx"]
    )]
    pub top: usize,
    /// Choose only launches that start in this part of the run, counted from the GPU's first work: 2s..5s,
    /// 500ms.., ..1s.
    #[arg(
        long,
        value_parser = phase,
        value_name = "FROM..TO",
        conflicts_with_all = ["no_survey", "kernel", "launch_skip", "launch_count", "nvtx"]
    )]
    pub phase: Option<Phase>,
    /// Which ranks to profile of a program that a launcher starts in several (mpirun, mpiexec, srun, torchrun): a
    /// list such as 0,7, all, or sample:N, which takes N ranks with the busiest and the idlest among them.
    #[arg(
        long,
        default_value = "sample:8",
        default_value_if("lockstep", "true", "all"),
        value_parser = ranks,
        value_name = "LIST|all|sample:N"
    )]
    pub ranks: ChosenRanks,
    /// Also profile kernels that wait for other ranks or devices (NCCL, NVSHMEM), which may never end.
    #[arg(long)]
    pub include_communication: bool,
    /// Also profile kernels that wait for other ranks, with all ranks in lockstep; needs an ncu that has
    /// --lockstep-kernel-launch (2026.1 or later), and all ranks on one machine.
    #[arg(
        long,
        conflicts_with_all = [
            "survey", "no_survey", "kernel", "launch_skip", "launch_count", "nvtx", "include_communication"
        ]
    )]
    pub lockstep: bool,
    /// Let each rank collect a part of the metrics, if all do the same work, and join the parts: fewer passes per
    /// rank.
    #[arg(
        long,
        conflicts_with_all = [
            "survey", "no_survey", "kernel", "launch_skip", "launch_count", "nvtx", "lockstep"
        ]
    )]
    pub split_ranks: bool,
}

/// The ranks to profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChosenRanks {
    /// Every one.
    All,
    /// So many of them.
    Sample(usize),
    /// These.
    Named(Vec<u32>),
}

fn ranks(text: &str) -> Result<ChosenRanks, String> {
    let wrong = || "expected ranks such as 0,7, `all`, or a sample such as sample:4".to_owned();
    if text == "all" {
        return Ok(ChosenRanks::All);
    }
    if let Some(count) = text.strip_prefix("sample:") {
        return at_least_one(count).map(ChosenRanks::Sample).map_err(|_| wrong());
    }
    let mut ranks = text
        .split(',')
        .map(|rank| rank.trim().parse())
        .collect::<Result<Vec<u32>, _>>()
        .map_err(|_| wrong())?;
    ranks.sort_unstable();
    ranks.dedup();
    Ok(ChosenRanks::Named(ranks))
}

/// A part of a run: `2s..5s`, each end of which may be left out.
fn phase(text: &str) -> Result<Phase, String> {
    let wrong = || "expected a part of the run such as 2s..5s, 500ms.. or ..1s".to_owned();
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let from_ns = if from.is_empty() { Some(0.0) } else { time_ns(from) };
    let to_ns = if to.is_empty() { None } else { Some(time_ns(to).ok_or_else(wrong)?) };
    let from_ns = from_ns.ok_or_else(wrong)?;
    if to_ns.is_some_and(|to| to <= from_ns) {
        return Err("the end must come after the beginning".to_owned());
    }
    Ok(Phase { from_ns, to_ns })
}

/// Nanoseconds, of a number with `ns`, `us`, `ms`, `s` or `m` behind it.
fn time_ns(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit_ns = match &text[number.len()..] {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 6e10,
        _ => return None,
    };
    let value = number.parse::<f64>().ok().filter(|value| (0.0..1e9).contains(value))?;
    Some(value * unit_ns)
}

/// A share from 0 to 1, from a percentage with or without its sign.
fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let percent = number.parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
    percent.map(|percent| percent / 100.0).ok_or_else(|| "expected 0% to 100%".to_owned())
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| "expected a number from 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_have_two_ends_of_which_each_may_be_open() {
        let of = |from_ns, to_ns| Ok(Phase { from_ns, to_ns });
        assert_eq!(phase("2s..5s"), of(2e9, Some(5e9)));
        assert_eq!(phase("..500ms"), of(0.0, Some(5e8)));
        assert_eq!(phase("1.5m.."), of(9e10, None));
        for text in ["", "2s", "5s..2s", "1..2", "-1s..", "1s..x", "nans..", "1s...3s"] {
            assert!(phase(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ranks_are_named_counted_or_all() {
        assert_eq!(ranks("7, 0,7"), Ok(ChosenRanks::Named(vec![0, 7])));
        assert_eq!(
            (ranks("all"), ranks("sample:3")),
            (Ok(ChosenRanks::All), Ok(ChosenRanks::Sample(3)))
        );
        for text in ["", "0-3", "-1", "sample:0", "sample:", "every"] {
            assert!(ranks(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!((share("90%"), share("12.5"), share("100%")), (Ok(0.9), Ok(0.125), Ok(1.0)));
        for text in ["", "%", "101%", "-1", "nan", "all"] {
            assert!(share(text).is_err(), "{text}");
        }
        assert!(at_least_one("0").is_err() && at_least_one("3") == Ok(3));
    }
}
