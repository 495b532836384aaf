//! The profiles of a program's ranks as one: a folder that `profile` saved, or one of reports that are named by their
//! ranks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Profile, group, in_folder, program, read_files};
use crate::document::{Document, LaunchReport, RankTime, RankedKernel, Ranks, SurveyedProgram};
use crate::error::{Error, Result};
use crate::frame::Launch;
use crate::kernel_name;
use crate::{files, store};

/// The file that makes a folder one of ranks.
const FILE: &str = "ranks.json";

/// What the file says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// The version of its shape.
    pub schema: String,
    /// The ranks, where a survey told of them.
    pub ranks: Option<Ranks>,
    /// Why nothing of a rank was profiled, by rank.
    pub problems: BTreeMap<u32, String>,
    /// Things noticed while collecting.
    pub notices: Vec<String>,
}

/// The version of [`Saved`]'s shape.
pub const SCHEMA: &str = "adoprof-ranks/1";

/// The ranks' profiles.
#[derive(Debug, Clone)]
pub struct RankedProfiles {
    /// As the user would name it.
    pub name: String,
    /// Each rank's profile, by rank.
    pub profiles: Vec<(u32, Profile)>,
    /// The survey that they began with.
    pub surveyed: Option<SurveyedProgram>,
    /// What the file beside them says.
    pub saved: Saved,
    /// The folder of a saved one.
    pub folder: Option<PathBuf>,
}

/// The folder of a rank's profile: `rank-0003`.
#[must_use]
pub fn folder_name(rank: u32) -> String {
    format!("rank-{rank:04}")
}

/// Writes what is said of the ranks into a folder that is being made.
///
/// # Errors
/// [`Error::Input`] where it can't be written.
pub fn write(folder: &Path, saved: &Saved) -> Result<()> {
    let path = folder.join(FILE);
    let text = serde_json::to_string(saved)
        .map_err(|error| Error::input(&path, format!("cannot be written: {error}")))?;
    std::fs::write(&path, text + "\n").map_err(|error| Error::io(&path, "write", &error))
}

/// The profiles of ranks that a folder holds; `None` where it holds none: no folder or report is named by a rank, or
/// only one is.
///
/// # Errors
/// [`Error::Input`] where `ranks.json` is damaged, or where no profile beside it can be read.
pub fn read(folder: &Path) -> Result<Option<RankedProfiles>> {
    let path = folder.join(FILE);
    let saved = match files::read_text(&path) {
        Ok(text) => Some(serde_json::from_str::<Saved>(&text).map_err(|error| {
            Error::input(&path, format!("is damaged ({error}); collect the profiles again"))
        })?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(Error::io(&path, "read", &error)),
    };
    let is_ours = saved.is_some();
    let mut found = folders(folder)?;
    if found.is_empty() {
        found = reports(folder)?;
    }
    if found.len() < 2 && !is_ours {
        return Ok(None);
    }
    let mut saved = saved.unwrap_or_default();
    let mut profiles = Vec::new();
    for (rank, place) in found {
        match open(&place) {
            Ok(profile) => profiles.push((rank, profile)),
            Err(error) => {
                saved.problems.insert(rank, error.to_string());
            }
        }
    }
    if let (true, Some((_, problem))) = (profiles.is_empty(), saved.problems.iter().next()) {
        return Err(Error::input(folder, format!("no rank's profile can be read: {problem}")));
    }
    let surveyed = program::read(folder)?;
    let (name, folder) = (folder.display().to_string(), is_ours.then(|| folder.to_owned()));
    Ok(Some(RankedProfiles { name, profiles, surveyed, saved, folder }))
}

fn open(place: &Path) -> Result<Profile> {
    if place.is_dir() {
        let name = place.display().to_string();
        return Profile::from_saved(name, store::read(place)?, Some(place.to_owned()));
    }
    let groups = group(&[place.to_owned()]);
    groups.first().map_or_else(|| Err(Error::input(place, "is not a report")), read_files)
}

/// Saved profiles in folders that are named by a rank.
fn folders(folder: &Path) -> Result<BTreeMap<u32, PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, "read", &e))?;
    let rank = |path: &Path| path.file_name()?.to_str()?.strip_prefix("rank-")?.parse().ok();
    let saved = entries.flatten().map(|entry| entry.path()).filter(|path| store::is_saved(path));
    Ok(saved.filter_map(|path| Some((rank(&path)?, path))).collect())
}

/// Reports whose names differ in one number alone, as `ncu -o report_%q{RANK}` names them, and say `rank`, `proc` or
/// nothing else beside it.
fn reports(folder: &Path) -> Result<BTreeMap<u32, PathBuf>> {
    let is_report = |path: &PathBuf| {
        path.extension().is_some_and(|kind| kind == "ncu-rep" || kind == "ncu-repz")
    };
    let paths: Vec<PathBuf> = in_folder(folder)?.into_iter().filter(is_report).collect();
    let mut names = BTreeSet::new();
    let mut found = BTreeMap::new();
    for path in paths {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Some((name, rank)) = numbered(&stem) else { return Ok(BTreeMap::new()) };
        names.insert(name);
        found.insert(rank, path);
    }
    let says_so = |name: &String| {
        let name = name.to_lowercase();
        ["rank", "proc"].iter().any(|word| name.contains(word))
    };
    let are_ranks = names.len() == 1 && names.iter().all(says_so);
    Ok(if are_ranks { found } else { BTreeMap::new() })
}

/// A name's last number, and the name with a sign in its place.
fn numbered(stem: &str) -> Option<(String, u32)> {
    let end = stem.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = stem[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    Some((format!("{}#{}", &stem[..start], &stem[end..]), stem[start..end].parse().ok()?))
}

/// A rank's launch with its diagnosis, and the group of the survey that it belongs to.
struct OfRank {
    rank: u32,
    launch: LaunchReport,
    group: Option<usize>,
}

impl RankedProfiles {
    /// One diagnosis of all ranks: of each kind of launch that of the rank in the middle by duration, with the ranks
    /// side by side.
    ///
    /// # Errors
    /// [`Error::Frames`] where a frame lacks its columns.
    pub fn diagnose(&self) -> Result<Document> {
        let launches = self.launches()?;
        let ranks = self.ranks(&launches);
        let differing = differing(&launches);
        let (chosen, groups, of): (Vec<_>, Vec<_>, Vec<_>) = in_the_middle(launches);
        let mut document = Document::new(chosen);
        for (launch, rank) in document.launches.iter_mut().zip(of) {
            launch.rank = Some(rank);
        }
        if let Some(surveyed) = &self.surveyed {
            document.attach(surveyed.program.clone(), &groups);
        } else {
            let ns = |launch: &LaunchReport| launch.duration_ns.unwrap_or(0.0);
            document.launches.sort_by(|a, b| ns(b).total_cmp(&ns(a)));
            document.find_verdict();
        }
        document.notices.clone_from(&self.saved.notices);
        for (rank, profile) in &self.profiles {
            let meta = profile.meta.iter().flat_map(|meta| &meta.notices);
            for notice in meta.chain(&profile.notices) {
                document.notices.push(format!("rank {rank}: {notice}"));
            }
        }
        document.notices.extend(differing);
        document.ranks = Some(ranks);
        document.saved = self.folder.as_ref().map(|folder| folder.display().to_string());
        Ok(document)
    }

    fn launches(&self) -> Result<Vec<OfRank>> {
        let mut all = Vec::new();
        for (rank, profile) in &self.profiles {
            let launches = super::diagnose_all(Launch::all(&profile.frames)?);
            let groups = match &self.surveyed {
                Some(surveyed) => surveyed.groups_of(&launches),
                None => vec![None; launches.len()],
            };
            let of_rank = |(launch, group)| OfRank { rank: *rank, launch, group };
            all.extend(launches.into_iter().zip(groups).map(of_rank));
        }
        Ok(all)
    }

    /// The ranks side by side: by the survey, or by what they took under the profiler.
    fn ranks(&self, launches: &[OfRank]) -> Ranks {
        let mut ranks = self.saved.ranks.clone().unwrap_or_else(|| self.by_profile(launches));
        for rank in &mut ranks.ranks {
            rank.profiled = launches.iter().filter(|launch| launch.rank == rank.rank).count();
            rank.problem = self.saved.problems.get(&rank.rank).cloned();
        }
        ranks
    }

    fn by_profile(&self, launches: &[OfRank]) -> Ranks {
        let numbers: BTreeSet<u32> = self.profiles.iter().map(|(rank, _)| *rank).collect();
        let numbers: Vec<u32> =
            numbers.into_iter().chain(self.saved.problems.keys().copied()).collect();
        let of_rank = |rank: &u32| {
            let own = || launches.iter().filter(|launch| launch.rank == *rank);
            let work_ns = own().filter_map(|launch| launch.launch.duration_ns).sum();
            let device = own().find_map(|launch| launch.launch.device.clone());
            RankTime { rank: *rank, device, work_ns, ..RankTime::default() }
        };
        let mut kernels: BTreeMap<Kind, RankedKernel> = BTreeMap::new();
        for one in launches {
            let row = &one.launch;
            let kernel = kernels.entry(one.kind()).or_insert_with(|| RankedKernel {
                kernel: row.kernel.clone(),
                grid: row.grid,
                block: row.block,
                launches: vec![0; numbers.len()],
                total_ns: vec![0.0; numbers.len()],
                waiting_ns: vec![0.0; numbers.len()],
                ..RankedKernel::default()
            });
            if let Some(at) = numbers.iter().position(|rank| *rank == one.rank) {
                kernel.launches[at] += 1;
                kernel.total_ns[at] += one.launch.duration_ns.unwrap_or(0.0);
            }
        }
        let mut kernels: Vec<RankedKernel> = kernels.into_values().collect();
        for kernel in &mut kernels {
            kernel.compare(&numbers);
        }
        let total = |kernel: &RankedKernel| kernel.total_ns.iter().sum::<f64>();
        kernels.sort_by(|a, b| total(b).total_cmp(&total(a)));
        let ranks = numbers.iter().map(of_rank).collect();
        Ranks { world: None, profiled_times: true, ranks, kernels }
    }
}

/// What launches of different ranks have in common that do the same.
type Kind = (String, [u32; 3], [u32; 3]);

impl OfRank {
    fn kind(&self) -> Kind {
        let row = &self.launch;
        (row.kernel.clone(), row.grid, row.block)
    }
}

/// Diagnosed launches, the group of each, and the rank of each.
type Chosen = (Vec<LaunchReport>, Vec<Option<usize>>, Vec<u32>);

/// Of each kind of launch the one in the middle by duration, with its group and its rank: kinds in the order in which
/// the first rank launched them.
fn in_the_middle(launches: Vec<OfRank>) -> Chosen {
    // A kind, its group, and the how manieth of its rank it is.
    type Key = (Kind, Option<usize>, usize);
    let mut kinds: Vec<(Key, Vec<OfRank>)> = Vec::new();
    let mut so_far: BTreeMap<(u32, Kind), usize> = BTreeMap::new();
    for one in launches {
        // Where no survey says which launches are alike, the nth of one rank goes with the nth of another.
        let count = so_far.entry((one.rank, one.kind())).or_default();
        let nth = if one.group.is_some() { 0 } else { *count };
        *count += 1;
        let key = (one.kind(), one.group, nth);
        match kinds.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(one),
            None => kinds.push((key, vec![one])),
        }
    }
    let mut result = (Vec::new(), Vec::new(), Vec::new());
    for (_, mut members) in kinds {
        let ns = |one: &OfRank| one.launch.duration_ns.unwrap_or(0.0);
        members.sort_by(|a, b| ns(a).total_cmp(&ns(b)));
        let middle = members.swap_remove((members.len() - 1) / 2);
        result.0.push(middle.launch);
        result.1.push(middle.group);
        result.2.push(middle.rank);
    }
    result
}

/// Kernels whose first finding is another on some ranks, each one sentence.
fn differing(launches: &[OfRank]) -> Vec<String> {
    const LONGEST_NAME: usize = 60;
    let mut firsts: BTreeMap<Kind, BTreeMap<&str, BTreeSet<u32>>> = BTreeMap::new();
    for one in launches {
        let first = one.launch.findings.first().map_or("nothing", |first| &first.rule);
        firsts.entry(one.kind()).or_default().entry(first).or_default().insert(one.rank);
    }
    // One rank's launches may differ among themselves: that is no difference between ranks.
    let is_between = |rules: &BTreeMap<&str, BTreeSet<u32>>| {
        let sets: BTreeSet<&BTreeSet<u32>> = rules.values().collect();
        sets.len() > 1
    };
    let differing = firsts.iter().filter(|(_, rules)| rules.len() > 1 && is_between(rules));
    differing
        .map(|((kernel, ..), rules)| {
            let named: Vec<String> = rules
                .iter()
                .map(|(rule, ranks)| {
                    let ranks: Vec<String> = ranks.iter().map(u32::to_string).collect();
                    format!("{rule} on rank {}", ranks.join(", "))
                })
                .collect();
            let kernel = kernel_name::short(kernel, LONGEST_NAME);
            format!("the first finding of {kernel} differs between ranks: {}", named.join("; "))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_names_last_number_is_the_rank() {
        let of = |stem: &str| numbered(stem).map(|(name, rank)| format!("{name} {rank}"));
        assert_eq!(of("train2_rank_0007").as_deref(), Some("train2_rank_# 7"));
        assert_eq!(of("rank3.full").as_deref(), Some("rank#.full 3"));
        assert_eq!(of("11").as_deref(), Some("# 11"));
        assert_eq!(of("train"), None);
    }

    #[test]
    fn reports_of_other_runs_are_no_ranks() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(folder.path().join(name), "x").unwrap();
        let found = || reports(folder.path()).unwrap().into_keys().collect::<Vec<u32>>();
        write("run_1.ncu-rep");
        write("run_2.ncu-rep");
        assert_eq!(found(), [0; 0], "runs, by their name");
        for name in ["run_1.ncu-rep", "run_2.ncu-rep"] {
            let path = folder.path().join(name);
            std::fs::rename(&path, folder.path().join(name.replace("run", "rank"))).unwrap();
        }
        assert_eq!(found(), [1, 2]);
        write("other_rank_3.ncu-rep");
        assert_eq!(found(), [0; 0], "two names");
    }
}
