//! The ranks of a program, each profiled by an ncu of its own, and their reports as one diagnosis.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::program_meta;
use super::surveyed::Plan;
use crate::cli::{ChosenRanks, ProfileArgs};
use crate::cmd::shared::diagnosed;
use crate::cmd::shared::printer::Printer;
use crate::collect::ranks::launcher::Launcher;
use crate::collect::ranks::{self, RankProfiled, Ranked};
use crate::document::{Document, Ranks, SurveyedProgram};
use crate::error::{Error, ExitCode, Result};
use crate::ncu::{CollectRequest, Ncu, Part, split};
use crate::profile::ranks::{RankedProfiles, Saved, folder_name};
use crate::profile::{self, Profile};
use crate::progress::Progress;
use crate::store::{Saved as SavedProfile, Target};

/// What to do where a run in lockstep hung.
const HUNG: &str = "a run in lockstep that does not end waits for a rank that never came to its launch, or for memory that \
                    ncu can't save: run it again without --lockstep, which leaves out the kernels that wait for other \
                    ranks, or give it more time with --timeout";

/// The launcher that starts the program's ranks, where they can be profiled each by itself.
pub(super) fn launcher(args: &ProfileArgs, plan: Option<&Plan>) -> Option<Launcher> {
    // A survey that finds one rank knows better than the launcher's name.
    let has_ranks = plan.is_none_or(|plan| plan.ranks.is_some());
    Launcher::of(&args.program).filter(|_| has_ranks)
}

/// Profiles the ranks, saves their reports side by side and diagnoses them as one.
///
/// # Errors
/// Those of [`ranks::collect`]; the first rank's where no rank has a report that can be read.
pub(super) fn collect(
    args: &ProfileArgs,
    (ncu, request, timeout): (&Ncu, &mut CollectRequest, Duration),
    (name, target): (&str, Target),
    (launcher, plan): (&Launcher, Option<&Plan>),
    progress: &Progress,
) -> Result<Document> {
    if let Some(invocations) = plan.and_then(|plan| plan.invocations.clone()) {
        request.invocations = Some(invocations);
        request.launch_count = None;
    }
    let of_survey = plan.and_then(|plan| plan.ranks.as_ref());
    let mut chosen = chosen(&args.survey.ranks, of_survey)?;
    let (parts, said) = parts(args, (ncu, request), of_survey, &mut chosen);
    let lockstep = plan.and_then(|plan| plan.lockstep);
    let folder = target.staging().join("ranks");
    std::fs::create_dir_all(&folder)
        .map_err(|error| Error::io(&folder, "make the folder", &error))?;
    let folder = std::path::absolute(&folder)
        .map_err(|error| Error::io(&folder, "find the folder", &error))?;
    let what = Ranked {
        request,
        launcher,
        ranks: chosen.clone(),
        devices: devices(of_survey),
        lockstep: lockstep.map(|lockstep| (lockstep.options, lockstep.peers)),
        parts,
        timeout,
        folder: &folder,
    };
    let collected = ranks::collect(ncu, &what, name, progress)?;
    let (mut good, mut problems, mut first) = (Vec::new(), BTreeMap::new(), None);
    let mut was_late = false;
    for (rank, outcome) in collected {
        match outcome {
            Ok(profiled) => {
                was_late |= profiled.cut_short;
                good.push(profiled);
            }
            Err(error) => {
                was_late |= matches!(error, Error::Interrupted(_));
                problems.insert(rank, error.to_string());
                first.get_or_insert(error);
            }
        }
    }
    for rank in chosen.iter().flatten() {
        if !problems.contains_key(rank) && !good.iter().any(|profiled| profiled.rank == *rank) {
            problems.insert(*rank, "the launcher started no such rank".to_owned());
        }
    }
    let hung = (lockstep.is_some() && was_late).then_some(HUNG);
    if let (true, Some(error)) = (good.is_empty(), first) {
        return Err(match hung {
            Some(advice) => Error::Interrupted(format!("{error}; {advice}")),
            None => error,
        });
    }
    let mut notices = plan.map_or_else(Vec::new, |plan| plan.notices.clone());
    notices.extend(said);
    notices.extend(hung.map(str::to_owned));
    if !what.parts.is_empty()
        && let Some(joined) = ranks::joined(std::mem::take(&mut good), &what.parts)
    {
        notices.extend(joined.notices);
        keep_reports(&target, &joined.others)?;
        good.push(joined.whole);
        notices.extend(unprofiled(&problems));
    } else {
        notices.extend(sentence(&good, &problems, of_survey));
    }
    let saved = Saved {
        schema: profile::ranks::SCHEMA.to_owned(),
        ranks: of_survey.cloned(),
        problems,
        notices,
    };
    save(&good, saved, (name, target), (ncu, request), plan, &folder)?.diagnose()
}

/// Which ranks are profiled; `None` for all.
///
/// # Errors
/// [`Error::Usage`] where the survey shows that there is no such rank.
fn chosen(asked: &ChosenRanks, of_survey: Option<&Ranks>) -> Result<Option<Vec<u32>>> {
    let known: Option<Vec<u32>> =
        of_survey.map(|ranks| ranks.ranks.iter().map(|rank| rank.rank).collect());
    match (asked, of_survey) {
        (ChosenRanks::All, _) | (ChosenRanks::Sample(_), None) => Ok(None),
        (ChosenRanks::Named(ranks), _) => {
            let unknown =
                ranks.iter().find(|rank| known.as_ref().is_some_and(|known| !known.contains(rank)));
            match unknown.zip(known.as_ref()) {
                Some((rank, known)) => Err(Error::Usage(format!(
                    "--ranks names rank {rank}, and the program has {} ranks with work for a device: {}",
                    known.len(),
                    listed(known)
                ))),
                None => Ok(Some(ranks.clone())),
            }
        }
        (ChosenRanks::Sample(count), Some(ranks)) => Ok(Some(sample(ranks, *count))),
    }
}

/// So many ranks: the one with the most work, the one with the least, and others spread evenly between them.
fn sample(ranks: &Ranks, count: usize) -> Vec<u32> {
    let mut by_work: Vec<(f64, u32)> =
        ranks.ranks.iter().map(|rank| (rank.work_ns, rank.rank)).collect();
    by_work.sort_by(|a, b| b.0.total_cmp(&a.0));
    let last = by_work.len().saturating_sub(1);
    let mut chosen: Vec<u32> = match count.min(by_work.len()) {
        0 => Vec::new(),
        1 => vec![by_work[0].1],
        count => (0..count).map(|at| by_work[at * last / (count - 1)].1).collect(),
    };
    chosen.sort_unstable();
    chosen
}

/// The device of each rank, by its UUID.
fn devices(of_survey: Option<&Ranks>) -> BTreeMap<u32, String> {
    let ranks = of_survey.iter().flat_map(|ranks| &ranks.ranks);
    ranks.filter_map(|rank| Some((rank.rank, rank.device_uuid.clone()?))).collect()
}

fn listed(ranks: &[u32]) -> String {
    ranks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// Which ranks were profiled, and which not.
fn sentence(
    good: &[RankProfiled],
    problems: &BTreeMap<u32, String>,
    of_survey: Option<&Ranks>,
) -> Vec<String> {
    let profiled: Vec<u32> = good.iter().map(|profiled| profiled.rank).collect();
    let mut notices = Vec::new();
    if let Some(all) = of_survey.map(|ranks| ranks.ranks.len()).filter(|all| *all > profiled.len())
    {
        notices.push(format!(
            "{} of {all} ranks {} profiled: {}; --ranks names others",
            profiled.len(),
            if profiled.len() == 1 { "was" } else { "were" },
            listed(&profiled)
        ));
    }
    notices.extend(unprofiled(problems));
    notices
}

fn unprofiled(problems: &BTreeMap<u32, String>) -> impl Iterator<Item = String> {
    problems.iter().map(|(rank, why)| format!("rank {rank} was not profiled: {why}"))
}

/// What each rank collects where they share the work, and a sentence where they can't although it was asked for. Ranks
/// for which there is no part are no longer chosen.
fn parts(
    args: &ProfileArgs,
    (ncu, request): (&Ncu, &CollectRequest),
    of_survey: Option<&Ranks>,
    chosen: &mut Option<Vec<u32>>,
) -> (BTreeMap<u32, Part>, Option<String>) {
    if !args.survey.split_ranks {
        return (BTreeMap::new(), None);
    }
    let shared = || {
        let known = of_survey.ok_or("the survey did not find the ranks")?;
        let all = || known.ranks.iter().map(|rank| rank.rank).collect();
        let ranks: Vec<u32> = chosen.clone().unwrap_or_else(all);
        known.differ(&ranks).map_or(Ok(()), Err)?;
        let parts = split(&request.selection, ncu.version, ranks.len());
        let parts =
            parts.ok_or("what is collected can't be split, or one rank alone is profiled")?;
        Ok::<_, String>(ranks.into_iter().zip(parts).collect::<BTreeMap<u32, Part>>())
    };
    match shared() {
        Ok(parts) => {
            *chosen = Some(parts.keys().copied().collect());
            (parts, None)
        }
        Err(reason) => {
            let text =
                format!("--split-ranks changes nothing, and each rank collects all: {reason}");
            (BTreeMap::new(), Some(text))
        }
    }
}

/// Keeps the reports of ranks that gave a part, for people who open them in Nsight Compute.
fn keep_reports(target: &Target, reports: &[(u32, PathBuf)]) -> Result<()> {
    let folder = target.staging().join("parts");
    for (rank, report) in reports {
        let extension = report.extension().unwrap_or_default().to_string_lossy();
        let place = folder.join(format!("{}.{extension}", folder_name(*rank)));
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::copy(report, &place))
            .map_err(|error| Error::io(&place, "write", &error))?;
    }
    Ok(())
}

/// Saves each rank's profile in a folder of its own, and beside them what the survey says.
fn save(
    good: &[RankProfiled],
    saved: Saved,
    (name, target): (&str, Target),
    (ncu, request): (&Ncu, &CollectRequest),
    plan: Option<&Plan>,
    scratch: &Path,
) -> Result<RankedProfiles> {
    let mut profiles = Vec::new();
    for profiled in good {
        let mut meta = program_meta(ncu, request, profiled.passes, name);
        meta.notices.clone_from(&profiled.notices);
        let whole = SavedProfile { meta, pages: profiled.pages.clone() };
        target.add(&folder_name(profiled.rank), &whole, Some(&profiled.report))?;
        let profile =
            Profile::from_pages(name, whole.meta.clone(), &whole.pages, &profiled.report)?;
        profiles.push((profiled.rank, profile));
    }
    // Of each rank alone nobody knows which of its launches the survey meant; their shapes and times tell.
    let surveyed = plan.filter(|plan| plan.invocations.is_some()).map(|plan| SurveyedProgram {
        program: plan.surveyed.program.clone(),
        ..SurveyedProgram::default()
    });
    if let Some(surveyed) = &surveyed {
        profile::program::write(target.staging(), surveyed)?;
    }
    profile::ranks::write(target.staging(), &saved)?;
    std::fs::remove_dir_all(scratch)
        .map_err(|error| Error::io(scratch, "remove the folder", &error))?;
    let folder = Some(target.finish_as_it_is()?);
    Ok(RankedProfiles { name: name.to_owned(), profiles, surveyed, saved, folder })
}

/// Shows the merged diagnosis.
///
/// # Errors
/// Where stdout can't be written.
pub(super) fn show(document: &Document, args: &ProfileArgs, printer: &Printer) -> Result<ExitCode> {
    diagnosed::show(document, args.output.format, printer)?;
    Ok(ExitCode::Success)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::RankTime;

    fn ranks(work_ns: &[f64]) -> Ranks {
        let of = |(rank, &work_ns): (usize, &f64)| RankTime {
            rank: rank as u32,
            work_ns,
            ..RankTime::default()
        };
        Ranks { ranks: work_ns.iter().enumerate().map(of).collect(), ..Ranks::default() }
    }

    #[test]
    fn a_sample_has_the_busiest_and_the_idlest_rank() {
        let ranks = ranks(&[5.0, 9.0, 4.0, 6.0, 1.0, 7.0]);
        assert_eq!(sample(&ranks, 1), [1]);
        assert_eq!(sample(&ranks, 2), [1, 4]);
        assert_eq!(sample(&ranks, 3), [1, 3, 4]);
        assert_eq!(sample(&ranks, 9), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_rank_that_is_not_there_is_refused() {
        let known = ranks(&[1.0, 2.0]);
        let named = |ranks: &[u32]| chosen(&ChosenRanks::Named(ranks.to_vec()), Some(&known));
        assert_eq!(named(&[1]).unwrap(), Some(vec![1]));
        let error = named(&[0, 7]).unwrap_err().to_string();
        assert!(error.contains("rank 7") && error.contains("0, 1"), "{error}");
        let unknown = chosen(&ChosenRanks::Named(vec![7]), None).unwrap();
        assert_eq!(unknown, Some(vec![7]), "without a survey nobody knows");
    }
}
