//! Values over commits: one series per GPU, program, size and kernel.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::change_point::{Sample, changes};
use super::scan::{Key, Observation, median};

/// One thing on one GPU, commit by commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// The GPU's name.
    pub device: String,
    /// The program, or `ladder/step`.
    pub program: String,
    /// The problem's parameters, `L=512,M=512`; empty for programs.
    pub size: String,
    /// The kernel; `None` for the time of a whole step.
    pub kernel: Option<String>,
    /// Commit by commit, the oldest first.
    pub points: Vec<Point>,
    /// Where it jumped, by more than the noise.
    pub jumps: Vec<Jump>,
}

/// What a commit's profiles say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// The commit's hash or label; `None` where the profile came without one.
    pub commit: Option<String>,
    /// When it was committed, s since 1970.
    pub committed: Option<u64>,
    /// The date of its first profile.
    pub date: String,
    /// The median of its profiles.
    pub value: f64,
    /// The least of them.
    pub low: f64,
    /// The most.
    pub high: f64,
    /// How many there are.
    pub profiles: usize,
}

/// A jump.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Jump {
    /// The place of the first point after it.
    pub at: usize,
    /// That point's commit.
    pub commit: Option<String>,
    /// That of the point before: the change came between the two.
    pub after: Option<String>,
    /// The mean of the points before, from the jump before or the first.
    pub from: f64,
    /// The mean from here to the next jump or the last.
    pub to: f64,
    /// How often noise alone would look like this.
    pub p_value: f64,
    /// The deviation of single profiles around the two means; a share where all values are positive.
    pub noise: f64,
    /// True where it is worse now, false where it is better, `None` where that depends.
    pub worse: Option<bool>,
    /// What else changed between the two commits: versions of CUDA and ncu.
    pub also: Vec<String>,
}

impl Jump {
    /// How far it goes, whatever its direction; infinite from or to nothing.
    #[must_use]
    pub fn size(&self) -> f64 {
        let ratio = self.to / self.from;
        if ratio > 0.0 { ratio.ln().abs() } else { f64::INFINITY }
    }
}

/// Puts what was observed in order and looks for jumps of at least `least`.
pub(crate) fn series(
    observations: Vec<Observation>,
    least: f64,
    more_is_worse: Option<bool>,
) -> Vec<Series> {
    let mut by_key: BTreeMap<Key, Vec<Observation>> = BTreeMap::new();
    for observation in observations {
        by_key.entry(observation.key.clone()).or_default().push(observation);
    }
    by_key.into_iter().map(|(key, of_key)| one(key, of_key, least, more_is_worse)).collect()
}

fn one(
    key: Key,
    observations: Vec<Observation>,
    least: f64,
    more_is_worse: Option<bool>,
) -> Series {
    let commits = in_order(observations);
    let values: Vec<Sample> = commits
        .iter()
        .enumerate()
        .flat_map(|(commit, of_commit)| {
            of_commit.iter().map(move |it| Sample { commit, value: it.value, error: it.error })
        })
        .collect();
    let jumps = changes(&values, least)
        .into_iter()
        .map(|change| {
            let (before, first) = (&commits[change.commit - 1], &commits[change.commit]);
            let worse = more_is_worse.map(|more| more == (change.to > change.from));
            Jump {
                at: change.commit,
                commit: first[0].commit.clone(),
                after: before[0].commit.clone(),
                from: change.from,
                to: change.to,
                p_value: change.p_value,
                noise: change.noise,
                worse,
                also: also(before, first),
            }
        })
        .collect();
    let points = commits.iter().map(|of_commit| point(of_commit)).collect();
    let Key { device, program, size, kernel } = key;
    Series { device, program, size, kernel, points, jumps }
}

/// The observations of each commit, the oldest commit first: by the time of the commit, or where it is not known by
/// the date of its first profile, then by when that came into the store.
fn in_order(observations: Vec<Observation>) -> Vec<Vec<Observation>> {
    let mut by_commit: BTreeMap<String, Vec<Observation>> = BTreeMap::new();
    for observation in observations {
        // Without a commit, the profiles of a day are one point.
        let name = observation.commit.clone().unwrap_or_else(|| format!(" {}", observation.date));
        by_commit.entry(name).or_default().push(observation);
    }
    let mut commits: Vec<Vec<Observation>> = by_commit.into_values().collect();
    for of_commit in &mut commits {
        of_commit.sort_by(|a, b| (&a.date, &a.profile).cmp(&(&b.date, &b.profile)));
    }
    commits.sort_by_cached_key(|of_commit| {
        let time =
            of_commit.iter().filter_map(|it| it.committed.or_else(|| midnight(&it.date))).min();
        let added = of_commit.iter().map(|it| it.added).min();
        (time, added, of_commit[0].commit.clone())
    });
    commits
}

/// The beginning of a day, s since 1970.
fn midnight(date: &str) -> Option<u64> {
    let date: jiff::civil::Date = date.parse().ok()?;
    let instant = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    u64::try_from(instant.as_second()).ok()
}

fn point(of_commit: &[Observation]) -> Point {
    let mut values: Vec<f64> = of_commit.iter().map(|it| it.value).collect();
    values.sort_by(f64::total_cmp);
    Point {
        commit: of_commit[0].commit.clone(),
        committed: of_commit[0].committed,
        date: of_commit[0].date.clone(),
        value: median(&values),
        low: values[0],
        high: values[values.len() - 1],
        profiles: values.len(),
    }
}

/// What else is not the same in the profiles on both sides of a jump.
fn also(before: &[Observation], after: &[Observation]) -> Vec<String> {
    let changed = |what: &str, of: fn(&Observation) -> &Option<String>| {
        let last = before.iter().rev().find_map(|it| of(it).clone())?;
        let first = after.iter().find_map(|it| of(it).clone())?;
        (last != first).then(|| format!("{what} {last} → {first}"))
    };
    [changed("CUDA", |it| &it.cuda), changed("ncu", |it| &it.ncu)].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(commit: &str, committed: Option<u64>, value: f64) -> Observation {
        Observation {
            commit: (!commit.is_empty()).then(|| commit.to_owned()),
            committed,
            date: "2026-11-20".to_owned(),
            value,
            ..Observation::default()
        }
    }

    #[test]
    fn commits_stand_in_their_order_and_profiles_of_one_together() {
        let observations = vec![
            seen("c", Some(300), 4.0),
            seen("a", Some(100), 1.0),
            seen("b", Some(200), 2.0),
            seen("a", Some(100), 3.0),
        ];
        let [series] = &series(observations, 0.01, None)[..] else { panic!("one series") };
        let names: Vec<_> =
            series.points.iter().map(|point| point.commit.as_deref().unwrap()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        let first = &series.points[0];
        assert_eq!((first.low, first.value, first.high, first.profiles), (1.0, 2.0, 3.0, 2));
    }

    #[test]
    fn without_times_of_commits_dates_decide_then_the_order_of_adding() {
        // 2026-11-20 began 1,795,132,800 s after 1970 (by `date -u -d 2026-11-20 +%s`).
        assert_eq!(midnight("2026-11-20"), Some(1_795_132_800));
        assert_eq!(midnight("yesterday"), None);
        let mut second = seen("second", None, 2.0);
        second.added = 20;
        let mut first = seen("zeroth", None, 1.0);
        first.added = 10;
        let later = seen("dated", Some(1_795_132_801), 3.0);
        let [series] = &series(vec![later, second, first], 0.01, None)[..] else { panic!("one") };
        let names: Vec<_> =
            series.points.iter().map(|point| point.commit.as_deref().unwrap()).collect();
        assert_eq!(names, ["zeroth", "second", "dated"]);
    }

    #[test]
    fn a_jump_names_its_commit_and_what_else_changed() {
        let mut all: Vec<Observation> = (0..8)
            .map(|n| seen(&format!("c{n}"), Some(n), if n < 5 { 10.0 } else { 13.0 }))
            .collect();
        for (n, it) in all.iter_mut().enumerate() {
            it.cuda = Some(if n < 5 { "12.9" } else { "13.0" }.to_owned());
        }
        let [series] = &series(all, 0.01, Some(true))[..] else { panic!("one") };
        let [jump] = &series.jumps[..] else { panic!("one jump: {series:?}") };
        assert_eq!((jump.commit.as_deref(), jump.after.as_deref()), (Some("c5"), Some("c4")));
        assert_eq!((jump.at, jump.worse), (5, Some(true)));
        assert_eq!(jump.also, ["CUDA 12.9 → 13.0"]);
    }

    #[test]
    fn kernels_and_devices_are_series_of_their_own() {
        let of = |kernel: &str, device: &str| {
            let key = Key { kernel: Some(kernel.into()), device: device.into(), ..Key::default() };
            Observation { key, ..seen("a", None, 1.0) }
        };
        assert_eq!(
            series(vec![of("k", "A"), of("k", "B"), of("l", "A"), of("k", "A")], 0.01, None).len(),
            3
        );
    }
}
