//! The parts that ranks collected, as one rank's profile.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::run::RankProfiled;
use crate::error::Result;
use crate::export::csv::raw;
use crate::ncu::Part;
use crate::survey::ranks::STRAGGLES;
use crate::text::significant;

/// The parts of several ranks, as what the first of them collected.
pub(crate) struct Joined {
    /// The whole, as the first rank's.
    pub whole: RankProfiled,
    /// The other ranks whose parts are in it, with their reports.
    pub others: Vec<(u32, PathBuf)>,
    /// Which rank gave what, and what does not fit, each one sentence.
    pub notices: Vec<String>,
}

/// Launches of the same work whose durations under the profiler differ by such a factor were not alike after all. It is
/// the one from which on a rank counts as a straggler.
const ALIKE: f64 = STRAGGLES;

/// Joins the parts; `None` where no rank left one.
pub(crate) fn joined(profiled: Vec<RankProfiled>, parts: &BTreeMap<u32, Part>) -> Option<Joined> {
    let mut profiled = profiled.into_iter();
    let mut whole = profiled.next()?;
    let (mut others, mut notices) = (Vec::new(), Vec::new());
    let mut gave = vec![whole.rank];
    let times = durations(&whole).unwrap_or_default();
    for other in profiled {
        let RankProfiled { rank, report, pages, passes, notices: own, cut_short } = other;
        notices.extend(own.into_iter().map(|notice| format!("rank {rank}: {notice}")));
        if let Err(error) = whole.pages.add_part(&pages) {
            notices.push(format!(
                "what rank {rank} collected is not part of the profile, because it profiled other launches than rank {}: \
                 {error}",
                whole.rank
            ));
            continue;
        }
        let theirs = raw_durations(&pages.raw).unwrap_or_default();
        notices.extend(unlike(&times, &theirs, (whole.rank, rank)));
        whole.passes = whole.passes.max(passes);
        whole.cut_short |= cut_short;
        gave.push(rank);
        others.push((rank, report));
    }
    let of = |rank: &u32| Some(format!("rank {rank} {}", parts.get(rank)?.names.join(", ")));
    let said: Vec<String> = gave.iter().filter_map(of).collect();
    notices.insert(
        0,
        format!(
            "the ranks do the same work and shared the collection; durations and cycles are those of rank {}, and of the \
             rest collected {}",
            whole.rank,
            said.join("; ")
        ),
    );
    Some(Joined { whole, others, notices })
}

fn durations(profiled: &RankProfiled) -> Result<Vec<f64>> {
    raw_durations(&profiled.pages.raw)
}

/// The launches' durations, ns.
fn raw_durations(page: &str) -> Result<Vec<f64>> {
    let export = raw::read(page, Path::new("a rank's raw page"))?;
    let time = |row: &&crate::export::MetricRow| *row.metric == *"gpu__time_duration.sum";
    Ok(export.metrics.iter().filter(time).filter_map(|row| row.value).collect())
}

/// That a launch took much longer on one rank than on another, in a sentence.
fn unlike(ones: &[f64], others: &[f64], (one, other): (u32, u32)) -> Option<String> {
    let ratio = |(a, b): (&f64, &f64)| (a / b).max(b / a);
    let most = ones.iter().zip(others).map(ratio).filter(|ratio| ratio.is_finite());
    let most = most.fold(1.0, f64::max);
    (most >= ALIKE).then(|| {
        format!(
            "under the profiler a launch differs by {}× between ranks {one} and {other}, so their metrics may not fit \
             together; leave --split-ranks out to be sure",
            significant(most, 3)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::csv::Pages;
    use crate::ncu::Selection;

    fn profiled(rank: u32, kernel: &str, ns: u32, metric: &str) -> RankProfiled {
        let raw = format!(
            "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\",\"{metric}\"\n\
             \"\",\"\",\"\",\"\",\"ns\",\"\"\n\
             \"0\",\"{kernel}\",\"(32, 1, 1)\",\"(4, 1, 1)\",\"{ns}\",\"7\"\n"
        );
        let (pages, report) = (Pages { raw, ..Pages::default() }, PathBuf::from(format!("{rank}")));
        let (passes, notices) = (Some(rank + 5), vec!["odd".to_owned()]);
        RankProfiled { rank, report, pages, passes, notices, cut_short: false }
    }

    fn parts() -> BTreeMap<u32, Part> {
        let selection = Selection::Explicit { sections: Vec::new(), metrics: Vec::new() };
        let part = |name: &str| Part { selection: selection.clone(), names: vec![name.to_owned()] };
        BTreeMap::from([(0, part("terms")), (2, part("traffic"))])
    }

    #[test]
    fn parts_are_one_launchs_profile() {
        let ranks = vec![profiled(0, "f", 1000, "a.sum"), profiled(2, "f", 1050, "b.sum")];
        let joined = joined(ranks, &parts()).unwrap();
        let export = raw::read(&joined.whole.pages.raw, Path::new("x")).unwrap();
        let names: Vec<&str> = export.metrics.iter().map(|row| &*row.metric).collect();
        assert!(names.contains(&"a.sum") && names.contains(&"b.sum"), "{names:?}");
        assert_eq!(durations(&joined.whole).unwrap(), [1000.0], "the first rank's");
        assert_eq!((joined.whole.rank, joined.whole.passes), (0, Some(7)));
        assert_eq!(joined.others, [(2, PathBuf::from("2"))]);
        let said = &joined.notices;
        assert!(said[0].ends_with("collected rank 0 terms; rank 2 traffic"), "{said:?}");
        assert_eq!(said[1..], ["rank 2: odd"]);
    }

    #[test]
    fn parts_of_other_launches_are_left_out_and_unlike_times_told() {
        let ranks = vec![profiled(0, "f", 1000, "a.sum"), profiled(2, "g", 1000, "b.sum")];
        let other = joined(ranks, &parts()).unwrap();
        assert!(other.others.is_empty() && !other.whole.pages.raw.contains("b.sum"));
        assert!(other.notices.iter().any(|it| it.contains("other launches than rank 0")));
        let ranks = vec![profiled(0, "f", 1000, "a.sum"), profiled(2, "f", 1300, "b.sum")];
        let unlike = joined(ranks, &parts()).unwrap().notices;
        assert!(
            unlike.iter().any(|it| it.contains("differs by 1.30× between ranks 0 and 2")),
            "{unlike:?}"
        );
        assert!(joined(Vec::new(), &parts()).is_none());
    }
}
